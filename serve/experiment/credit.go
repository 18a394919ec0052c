package experiment

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"time"

	"github.com/listwise/listwise/internal/strictjson"
)

// mostLine is the largest length of a line of a log or of clicks.
const mostLine = 16 << 20

// Click is a click on a document that was shown.
type Click struct {
	Time       time.Time `json:"time"`       // zero if unknown
	Page       string    `json:"page"`       // if not empty, it alone decides which ranking was clicked
	Experiment string    `json:"experiment"` // empty means any
	User       string    `json:"user"`
	Query      string    `json:"query"`
	ID         string    `json:"id"`
}

// Outcome counts the rankings of an experiment in which users preferred either team.
type Outcome struct {
	Experiment string
	Models     [2]string // the teams
	Shown      int       // rankings shown
	Clicked    int       // rankings with clicks on documents of a team
	Wins       [2]int    // clicked rankings with more clicked documents of this team
	Ties       int       // clicked rankings with equally many for both teams
	Clicks     [2]int    // documents clicked, each counted once per ranking
}

// shownKey identifies the rankings to which a click may belong.
type shownKey struct{ experiment, user, query string }

// impression is a ranking shown to a user.
type impression struct {
	time    time.Time
	models  [2]string
	single  bool           // one model ranked, so clicks express no preference
	teams   map[string]int // team of each document
	clicked map[string]bool
}

// Credits collects the rankings of a log and assigns clicks to them.
type Credits struct {
	shown       map[shownKey][]*impression // in the order of time if sorted
	pages       map[string]*impression     // by id
	sorted      bool
	all         []*impression
	names       []string // the experiment of each element of all
	experiments map[string]bool
	seen        map[[sha256.Size]byte]bool // hashes of the lines read

	Damaged   int // lines of the log that are not JSON, such as half a line
	Repeated  int // lines that were skipped because an identical line was read before
	Single    int // clicks on rankings of one model: of splits, explorations and outside experiments
	Unmatched int // clicks on documents that were not shown
}

// NewCredits returns Credits without rankings.
func NewCredits() *Credits {
	return &Credits{shown: make(map[shownKey][]*impression), pages: make(map[string]*impression), experiments: make(map[string]bool), seen: make(map[[sha256.Size]byte]bool)}
}

// repeated reports whether an identical line of this kind was read before, and counts it if so.
func (c *Credits) repeated(kind string, line []byte) bool {
	sum := sha256.Sum256(append([]byte(kind), line...))
	if c.seen[sum] {
		c.Repeated++
		return true
	}
	c.seen[sum] = true
	return false
}

// ReadLog adds the rankings in a log. Identical lines count once, since log delivery may repeat
// lines. Its errors name the line.
func (c *Credits) ReadLog(r io.Reader) error {
	c.sorted = false
	return lines(r, func(line []byte) error {
		if !json.Valid(line) {
			c.Damaged++
			return nil
		}
		var record Record
		if err := decode(line, &record); err != nil {
			return err
		}
		if !slices.Contains([]string{Interleave, Split, Explore, Page}, record.Kind) || c.repeated("log", line) {
			return nil
		}
		shown := &impression{time: record.Time, single: record.Kind != Interleave, teams: make(map[string]int, len(record.Ranking)), clicked: make(map[string]bool)}
		if !shown.single {
			if len(record.Models) != 2 {
				return fmt.Errorf("found %d models, expected 2 of an interleaving", len(record.Models))
			}
			for k, m := range record.Models {
				shown.models[k] = m.Model
			}
		}
		for _, doc := range record.Ranking {
			if doc.Team < 0 || doc.Team > 1 {
				return fmt.Errorf("found the team %d, expected 0 or 1", doc.Team)
			}
			shown.teams[doc.ID] = doc.Team
		}
		if record.Page != "" {
			if c.pages[record.Page] != nil {
				return fmt.Errorf("found the page %q a second time, expected different ids", record.Page)
			}
			c.pages[record.Page] = shown
		}
		key := shownKey{record.Experiment, record.User, record.Query}
		c.shown[key] = append(c.shown[key], shown)
		c.experiments[record.Experiment] = true
		if !shown.single {
			c.all, c.names = append(c.all, shown), append(c.names, record.Experiment)
		}
		return nil
	})
}

// sort sorts the rankings of every user and query by time.
func (c *Credits) sort() {
	if c.sorted {
		return
	}
	for _, list := range c.shown {
		slices.SortStableFunc(list, func(a, b *impression) int { return a.time.Compare(b.time) })
	}
	c.sorted = true
}

// lines calls do with every line that is not blank. Its errors name the line.
func lines(r io.Reader, do func(line []byte) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(nil, mostLine)
	n := 0
	for s.Scan() {
		n++
		if line := bytes.TrimSpace(s.Bytes()); len(line) > 0 {
			if err := do(line); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d: found more than %d bytes, expected a record", n+1, mostLine)
	}
	return s.Err()
}

// ReadClicks reads clicks, one JSON object per line, and assigns them to rankings of earlier calls
// of ReadLog. A click belongs to the ranking whose page it names. Without a page, it belongs to the
// last ranking that its user saw for its query. If the click has a time, it belongs to the last such
// ranking that is not after that time. Repeated clicks on a document of a ranking count once.
func (c *Credits) ReadClicks(r io.Reader) error {
	c.sort()
	return lines(r, func(line []byte) error {
		var click Click
		if err := decode(line, &click); err != nil {
			return err
		}
		if click.ID == "" {
			return errors.New(`found no "id", expected that of the document`)
		}
		if c.repeated("click", line) {
			return nil
		}
		switch credited, single := c.credit(click); {
		case credited:
		case single:
			c.Single++
		default:
			c.Unmatched++
		}
		return nil
	})
}

// decode reads the JSON of a line.
func decode(line []byte, into any) error {
	_, err := strictjson.Plain(json.Unmarshal(line, into))
	return err
}

// credit assigns a click to rankings. credited is true if an interleaved ranking showed the
// document, and single is true if a ranking of one model did.
func (c *Credits) credit(click Click) (credited, single bool) {
	if click.Page != "" {
		return c.pages[click.Page].click(click.ID)
	}
	names := map[string]bool{click.Experiment: true}
	if click.Experiment == "" {
		names = c.experiments
	}
	for name := range names {
		list := c.shown[shownKey{name, click.User, click.Query}]
		n := len(list)
		if !click.Time.IsZero() {
			n = sort.Search(n, func(i int) bool { return list[i].time.After(click.Time) })
		}
		if n == 0 {
			continue
		}
		ofTwo, ofOne := list[n-1].click(click.ID)
		credited, single = credited || ofTwo, single || ofOne
	}
	return credited, single
}

// click assigns a click to a ranking, which may be nil. It returns what credit does.
func (shown *impression) click(id string) (credited, single bool) {
	if shown == nil {
		return false, false
	}
	if _, ok := shown.teams[id]; !ok {
		return false, false
	}
	if !shown.single {
		shown.clicked[id] = true
	}
	return !shown.single, shown.single
}

// Outcomes returns an outcome for every experiment and pair of models, in the order of their first
// ranking in the log.
func (c *Credits) Outcomes() []Outcome {
	var all []Outcome
	at := make(map[string]int)
	for i, shown := range c.all {
		key := c.names[i] + "\x00" + shown.models[0] + "\x00" + shown.models[1]
		k, known := at[key]
		if !known {
			k, at[key] = len(all), len(all)
			all = append(all, Outcome{Experiment: c.names[i], Models: shown.models})
		}
		var clicks [2]int
		for id := range shown.clicked {
			clicks[shown.teams[id]]++
		}
		all[k].add(clicks)
	}
	return all
}

// add adds a ranking with the given clicks on documents of each team.
func (o *Outcome) add(clicks [2]int) {
	o.Shown++
	o.Clicks[0] += clicks[0]
	o.Clicks[1] += clicks[1]
	switch {
	case clicks == [2]int{}:
		return
	case clicks[0] > clicks[1]:
		o.Wins[0]++
	case clicks[1] > clicks[0]:
		o.Wins[1]++
	default:
		o.Ties++
	}
	o.Clicked++
}
