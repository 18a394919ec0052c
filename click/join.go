package click

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/suggest"
)

// Join makes pages of rankings that were shown and of clicks, which another program logged. Its files are
// regular files of JSON lines, which may be compressed.
//
// A click that names a ranking belongs to it. If several rankings have the name, it belongs to the last
// that shows the document and was shown no later, or else to the first that shows it. Any other click belongs to
// the last ranking of its user and query that was shown no later and at most Within before. Without a time it belongs
// to the last of all. It counts only if that ranking shows the document.
//
// Rankings are read twice. Clicks are in memory, with some 250 bytes each. Every ranking takes 50 bytes, and 30
// more if clicks without a name are on its user and query.
type Join struct {
	Shown  []string // files with rankings
	Clicks []string // files with clicks; may be those with rankings
	Format Format

	Within    time.Duration // 0: any time
	KeepFirst bool          // leave out other rankings with a known id, which are an error otherwise
	Mem       *memory.Account
	Observe   func(done, total int64) // if not nil, is called with the bytes read of a file and their total

	JoinTally

	clicks []joinClick
	named  map[hash][]int32 // clicks by the name of their ranking
	asked  map[hash]*asked  // by user and query
	seen   map[hash]sighting
	order  []int32 // clicks that have a ranking, in the order of rankings
	ends   []int   // number of lines of each file
}

// JoinTally counts what was joined and what was left out.
type JoinTally struct {
	Pages   int // written
	Clicked int // of them, with a click
	Used    int // clicks on them

	// Rankings that were left out:
	Shadows     int // scored and not shown
	Unasked     int // without a query
	Empty       int // without documents
	Repeated    int // lines that repeat a ranking
	Conflicting int // other rankings with a known id

	// Clicks that were left out:
	NotShown       int // on documents that their ranking does not show
	Unmatched      int // without a ranking in the log
	Late           int // more than Within after the ranking
	Unnamed        int // that name no ranking, in formats that need a name
	RepeatedClicks int // lines that repeat a click

	Before int           // clicks earlier than the ranking that they name; they are used
	Lead   time.Duration // by which these are earlier, in the mean
	Early  int           // of Unmatched, clicks whose user and query have rankings later

	Ambiguous  int // clicks without a time whose user and query have several rankings; they are used
	Others     int // events that are neither rankings nor clicks
	Damaged    int // lines of serve's log that are not JSON
	Incomplete int // last lines that were cut off
}

// Format reads the lines of a log.
type Format interface {
	// Shown reads a line of a file of rankings, and Click one of a file of clicks. Both may be called concurrently.
	Shown(line []byte, e *event) error
	Click(line []byte, e *event) error
	// lenient reports whether lines of rankings that are not JSON are counted and not an error.
	lenient() bool
}

// event is a line of a log.
type event struct {
	kind eventKind
	page Page   // of a ranking
	name string // of the ranking, empty if it has none; for clicks, too

	click joinClick
	user  string // of a click
	query string
}

type eventKind uint8

// The kinds of lines.
const (
	nothing     eventKind = iota // such as a blank line
	ranking                      // that was shown
	click                        // on a document
	shadow                       // ranking that was not shown
	other                        // event
	unnamed                      // click without a name in a format that needs it
	damagedLine                  // that is not JSON
)

// joinClick is a click.
type joinClick struct {
	doc        string // empty if ordinal is given
	ordinal    int32  // rank counted from 1
	timed      bool
	experiment string
	time       int64 // nanoseconds

	found bool  // a ranking belongs to it
	known bool  // a ranking with its name exists
	early bool  // that ranking was shown no later
	page  int64 // line of the ranking, counted through all files
	shown int64 // time of the ranking
}

const (
	clickBytes = 250
	pageBytes  = 50
	askedBytes = 30
)

// hash identifies a text. Texts with equal hashes do not occur.
type hash [16]byte

func hashOf(parts ...string) (h hash) {
	room := make([]byte, 0, 512)
	for _, p := range parts {
		room = append(binary.LittleEndian.AppendUint64(room, uint64(len(p))), p...)
	}
	sum := sha256.Sum256(room)
	copy(h[:], sum[:])
	return h
}

// sighting is where a ranking was read.
type sighting struct {
	content hash
	line    int64 // counted through all files
}

// asked are the rankings and clicks of a user and query.
type asked struct {
	clicks []int32
	pages  []askedPage
}

type askedPage struct {
	time       int64
	line       int64
	experiment string
}

// Run calls use for each page in the order of the rankings. The page is valid until use returns.
func (j *Join) Run(ctx context.Context, use func(*Page) error) error {
	if j.Mem == nil {
		j.Mem = memory.New("the log", dataset.Options{})
	}
	j.named, j.asked = map[hash][]int32{}, map[hash]*asked{}
	if err := j.readClicks(ctx); err != nil {
		return err
	}
	j.seen = map[hash]sighting{}
	if err := j.eachShown(ctx, true, j.match); err != nil {
		return err
	}
	j.settle()
	clear(j.seen)
	next := 0
	return j.eachShown(ctx, false, func(line int64, e *event) error {
		from := next
		for next < len(j.order) && j.clicks[j.order[next]].page == line {
			next++
		}
		j.assign(&e.page, j.order[from:next])
		j.Pages++
		return use(&e.page)
	})
}

// readClicks reads all clicks.
func (j *Join) readClicks(ctx context.Context) error {
	seen := map[hash]bool{}
	for _, path := range j.Clicks {
		_, err := j.eachEvent(ctx, path, 0, false, j.Format.Click, func(_ int, line []byte, e *event) error {
			switch e.kind {
			case other:
				j.Others++
			case unnamed:
				j.Unnamed++
			case click:
				h := hashOf(string(line))
				if seen[h] {
					j.RepeatedClicks++
					return nil
				}
				if err := j.Mem.Take(clickBytes+int64(len(e.click.doc)), "clicks"); err != nil {
					return err
				}
				seen[h] = true
				n := int32(len(j.clicks))
				j.clicks = append(j.clicks, e.click)
				if e.name != "" {
					h := hashOf(e.name)
					j.named[h] = append(j.named[h], n)
					return nil
				}
				h = hashOf(e.user, e.query)
				if j.asked[h] == nil {
					j.asked[h] = new(asked)
				}
				j.asked[h].clicks = append(j.asked[h].clicks, n)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachShown calls use for all rankings, with their lines counted through all files. The first pass sets count: it
// counts omissions and finds the ends of the files.
func (j *Join) eachShown(ctx context.Context, count bool, use func(line int64, e *event) error) error {
	before := int64(0)
	tally := j.JoinTally
	for i, path := range j.Shown {
		end := 0
		if !count {
			if end = j.ends[i]; end == 0 {
				continue
			}
		}
		n, err := j.eachEvent(ctx, path, end, j.Format.lenient(), j.Format.Shown, func(at int, text []byte, e *event) error {
			fresh, err := j.fresh(before+int64(at), text, e)
			if err != nil || !fresh {
				return err
			}
			return use(before+int64(at), e)
		})
		if err != nil {
			return err
		}
		if count {
			j.ends = append(j.ends, n)
		}
		before += int64(n)
	}
	if !count { // the first pass has counted
		tally.Pages, tally.Clicked, tally.Used, tally.NotShown = j.Pages, j.Clicked, j.Used, j.NotShown
		j.JoinTally = tally
	}
	return nil
}

// fresh reports whether a line is a ranking to use, and counts other lines.
func (j *Join) fresh(line int64, text []byte, e *event) (bool, error) {
	switch e.kind {
	case shadow:
		j.Shadows++
	case other:
		j.Others++
	case damagedLine:
		j.Damaged++
	}
	if e.kind != ranking {
		return false, nil
	}
	p := &e.page
	content := hashOf(string(text))
	key := content
	if p.ID != "" {
		key = hashOf(p.ID)
	}
	if first, ok := j.seen[key]; ok {
		switch {
		case first.content == content:
			j.Repeated++
		case j.KeepFirst:
			j.Conflicting++
		default:
			return false, bad("another ranking "+suggest.Quote([]byte(p.ID))+" than in "+j.place(first.line), "one ranking with this id")
		}
		return false, nil
	}
	if err := j.Mem.Take(pageBytes, "ids of rankings"); err != nil {
		return false, err
	}
	j.seen[key] = sighting{content, line}
	switch {
	case p.Query == "":
		j.Unasked++
		return false, nil
	case len(p.Docs) == 0:
		j.Empty++
		return false, nil
	}
	return true, p.Check()
}

// place names a line.
func (j *Join) place(line int64) string {
	for i, path := range j.Shown {
		if i >= len(j.ends) || line <= int64(j.ends[i]) {
			return fmt.Sprintf("%s:%d", path, line)
		}
		line -= int64(j.ends[i])
	}
	return "an earlier line"
}

// match notes a ranking as that of the clicks that name it, and as one of its user and query.
func (j *Join) match(line int64, e *event) error {
	p := &e.page
	if e.name != "" {
		for _, n := range j.named[hashOf(e.name)] {
			c := &j.clicks[n]
			c.known = true
			if c.rankIn(p.Docs) < 0 {
				continue
			}
			shown := nanoseconds(p.Time)
			early := !c.timed || shown <= c.time
			if !c.found || early && (!c.early || shown > c.shown) {
				c.found, c.early, c.page, c.shown = true, early, line, shown
			}
		}
	}
	if a := j.asked[hashOf(p.User, p.Query)]; a != nil {
		if err := j.Mem.Take(askedBytes, "rankings with clicks"); err != nil {
			return err
		}
		a.pages = append(a.pages, askedPage{nanoseconds(p.Time), line, p.Experiment})
	}
	return nil
}

// noTime is the time of rankings without one. It is before all others.
const noTime = -1 << 62

// nanoseconds returns a time as a number.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return noTime
	}
	return t.UnixNano()
}

// rankIn returns the rank of the clicked document, -1 if it was not shown.
func (c *joinClick) rankIn(docs []string) int {
	if c.doc != "" {
		return slices.Index(docs, c.doc)
	}
	if r := int(c.ordinal) - 1; r < len(docs) {
		return r
	}
	return -1
}

// settle decides about the clicks that name no ranking, and orders clicks by their rankings.
func (j *Join) settle() {
	lead := 0.0
	for i := range j.clicks { // in order, for the sum
		if c := &j.clicks[i]; c.known && c.found && !c.early && c.shown != noTime {
			j.Before++
			lead += float64(c.shown - c.time)
		}
	}
	j.Lead = time.Duration(lead / float64(max(1, j.Before)))
	for _, list := range j.named {
		for _, n := range list {
			switch c := &j.clicks[n]; {
			case c.found:
			case c.known:
				j.NotShown++
			default:
				j.Unmatched++
			}
		}
	}
	for _, a := range j.asked {
		slices.SortStableFunc(a.pages, func(a, b askedPage) int { return cmp.Compare(a.time, b.time) })
		for _, n := range a.clicks {
			j.last(&j.clicks[n], a.pages)
		}
	}
	for n := range j.clicks {
		if j.clicks[n].found {
			j.order = append(j.order, int32(n))
		}
	}
	slices.SortFunc(j.order, func(a, b int32) int {
		x, y := &j.clicks[a], &j.clicks[b]
		return cmp.Or(cmp.Compare(x.page, y.page), cmp.Compare(x.time, y.time), cmp.Compare(a, b))
	})
}

// last finds the ranking of a click that names none. pages are the rankings of its user and query, sorted by time.
func (j *Join) last(c *joinClick, pages []askedPage) {
	end := len(pages)
	if c.timed {
		end = sort.Search(end, func(i int) bool { return pages[i].time > c.time })
	}
	candidates := 0
	for i := end - 1; i >= 0; i-- {
		if p := pages[i]; c.experiment == "" || c.experiment == p.experiment {
			if candidates++; candidates == 1 {
				c.found, c.page, c.shown = true, p.line, p.time
			}
			if c.timed || candidates > 1 {
				break
			}
		}
	}
	switch {
	case !c.found:
		j.Unmatched++
		if slices.ContainsFunc(pages[end:], func(p askedPage) bool { return c.experiment == "" || c.experiment == p.experiment }) {
			j.Early++
		}
	case c.timed && c.shown != noTime && j.Within > 0 && c.time-c.shown > int64(j.Within):
		c.found = false
		j.Late++
	case candidates > 1:
		j.Ambiguous++
	}
}

// assign sets the clicks of a page.
func (j *Join) assign(p *Page, clicks []int32) {
	p.Clicks = make([]int, len(p.Docs))
	for _, n := range clicks {
		r := j.clicks[n].rankIn(p.Docs)
		if r < 0 {
			j.NotShown++
			continue
		}
		p.Clicks[r]++
		p.Order = append(p.Order, r)
		j.Used++
	}
	if p.Order != nil {
		j.Clicked++
	}
}

// The lines of a batch are parsed concurrently.
const (
	batchLines = 1024
	batchBytes = 4 << 20
	mostLine   = 16 << 20
)

// eachEvent parses the lines of a file and calls use with them in order, up to line end unless it is 0. It returns
// the number of lines. lenient counts lines that are not JSON.
func (j *Join) eachEvent(ctx context.Context, path string, end int, lenient bool, parse func([]byte, *event) error, use func(n int, line []byte, e *event) error) (lines int, err error) {
	text, err := j.openLog(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = text.Close() }() // it was only read
	in := bufio.NewReaderSize(text, 1<<16)
	var batch [][]byte
	var events []event
	var faults []error
	for last := false; !last; {
		if err := ctx.Err(); err != nil {
			return lines, err
		}
		batch = batch[:0]
		ended := true // by a line feed
		for size := 0; len(batch) < batchLines && size < batchBytes && (end <= 0 || lines+len(batch) != end); {
			line, err := readLine(in)
			if err != nil && !errors.Is(err, io.EOF) {
				return lines, located(err, path, lines+len(batch)+1)
			}
			if last = err != nil; last && len(line) == 0 {
				break
			}
			if lines+len(batch) == 0 {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			ended = !last
			batch, size = append(batch, bytes.TrimSpace(line)), size+len(line)
		}
		last = last || end > 0 && lines+len(batch) == end
		events, faults = slices.Grow(events[:0], len(batch))[:len(batch)], slices.Grow(faults[:0], len(batch))[:len(batch)]
		parallel.For(len(batch), 0, func(_, i int) {
			events[i], faults[i] = event{}, nil
			if len(batch[i]) > 0 {
				faults[i] = parse(batch[i], &events[i])
			}
		})
		for i, line := range batch {
			err := faults[i]
			if damage := notJSON(err); damage && !ended && last && i == len(batch)-1 {
				j.Incomplete++
				return lines, nil
			} else if damage && lenient {
				events[i], err = event{kind: damagedLine}, nil
			} else if damage {
				err = bad("what is not JSON ("+err.Error()+")", "a JSON object")
			}
			lines++
			if err == nil {
				err = use(lines, line, &events[i])
			}
			if err != nil {
				return lines, located(err, path, lines)
			}
		}
	}
	return lines, nil
}

// readLine reads a line with its line feed.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > mostLine {
			return nil, bad("a line of more than 16 MiB", "JSON lines")
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// openLog opens a regular file.
func (j *Join) openLog(path string) (*source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &dataset.SyntaxError{File: path, Found: "no regular file", Expected: "one, since it is read twice"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &source{Reader: f, close: []io.Closer{f}}
	if j.Observe != nil {
		s.Reader = &observed{Reader: f, size: info.Size(), observe: j.Observe}
	}
	raw := bufio.NewReaderSize(s.Reader, 1<<16)
	s.Reader = raw
	first, err := raw.Peek(compress.HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, f.Close())
	}
	if kind := compress.Detect(first, path); kind != compress.Plain {
		z, err := compress.Reader(raw, kind, j.Mem.Limit())
		if err != nil {
			_ = f.Close() // it was only read
			return nil, located(err, path, 0)
		}
		s.Reader, s.close = z, []io.Closer{z, f}
	}
	return s, nil
}
