package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Curve is a learning curve.
type Curve struct {
	Name   string  `json:"name"`
	Fold   string  `json:"fold,omitempty"` // "" if the training was not for a fold
	Points []Point `json:"points"`
}

// Point is an epoch of descent, or an iteration of another optimizer.
type Point struct {
	Epoch      int      `json:"e"`
	Restart    int      `json:"r,omitempty"`
	Cost       float64  `json:"c"`           // the training objective
	Validation *float64 `json:"v,omitempty"` // nil without validation data
	Best       bool     `json:"b,omitempty"` // better than all points before it
}

// ReadCurve reads a learning curve of "train --curve", which has a JSON object in each line. After
// a crash, an epoch may occur twice. The last occurrence counts.
func ReadCurve(r io.Reader, name string) (Curve, error) {
	c := Curve{Name: name}
	lines := bufio.NewScanner(r)
	place := make(map[[2]int]int)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		p, err := ReadPoint(lines.Bytes())
		if err != nil {
			return c, fmt.Errorf("line %d: %w, expected a line of train --curve", n, err)
		}
		at, again := place[[2]int{p.Restart, p.Epoch}]
		if again {
			c.Points[at] = p
			continue
		}
		place[[2]int{p.Restart, p.Epoch}] = len(c.Points)
		c.Points = append(c.Points, p)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return c, fmt.Errorf("found a line longer than %d bytes, expected a line of train --curve", bufio.MaxScanTokenSize)
	} else if err != nil {
		return c, err
	}
	if len(c.Points) == 0 {
		return c, fmt.Errorf("found no epochs, expected the lines of train --curve")
	}
	return c, nil
}

// ReadPoint parses a line of a learning curve.
func ReadPoint(text []byte) (Point, error) {
	var line struct {
		Epoch      *int     `json:"epoch"`
		Restart    int      `json:"restart"`
		Cost       *float64 `json:"training_cost"`
		Validation *float64 `json:"validation"`
		Best       bool     `json:"best"`
	}
	if err := json.Unmarshal(text, &line); err != nil || line.Epoch == nil || line.Cost == nil {
		return Point{}, errors.New("found no epoch with a training_cost")
	}
	return Point{Epoch: *line.Epoch, Restart: line.Restart, Cost: *line.Cost, Validation: line.Validation, Best: line.Best}, nil
}

// curvePoints is the largest number of points that a plot shows of a curve.
const curvePoints = 200

// thinned returns the curves with about curvePoints points or fewer. It keeps the first, the last
// and the best point.
func thinned(curves []Curve) []Curve {
	all := make([]Curve, 0, len(curves))
	for _, c := range curves {
		step := max(1, int(math.Ceil(float64(len(c.Points))/curvePoints)))
		best := -1
		for i, p := range c.Points {
			if p.Best {
				best = i
			}
		}
		t := Curve{Name: c.Name, Fold: c.Fold}
		for i, p := range c.Points {
			p.Best = i == best
			if i%step != 0 && i != best && i != len(c.Points)-1 {
				continue
			}
			p.Cost = rounded(p.Cost, 6)
			if p.Validation != nil {
				v := rounded(*p.Validation, 5)
				p.Validation = &v
			}
			t.Points = append(t.Points, p)
		}
		all = append(all, t)
	}
	return all
}

// Tuning contains the validation results of a method's settings.
type Tuning struct {
	Name   string    `json:"name"`
	Seed   *uint64   `json:"-"` // random seed; nil if tune had a single one
	Points []Setting `json:"points"`
}

// Setting is a setting that was tried. Number counts from 1. Validation is the mean of its
// validation values over the folds. Text contains the hyperparameters that vary.
type Setting struct {
	Number     int     `json:"e"`
	Validation float64 `json:"v"`
	Text       string  `json:"t,omitempty"`
	Best       bool    `json:"b,omitempty"` // best of all settings
}

// mostSettings is the largest number of settings of a method on a page. The best settings are kept.
const mostSettings = 300

// ReadTunings reads tuning.jsonl of tune, which has a JSON object in each line. It skips settings
// without a validation value in some fold. The settings of each method and seed are one Tuning.
func ReadTunings(r io.Reader) ([]Tuning, error) {
	type line struct {
		Method     string         `json:"method"`
		Seed       *uint64        `json:"seed"`
		Settings   map[string]any `json:"settings"`
		Validation []*float64     `json:"validation"`
	}
	var names []string
	of := make(map[string][]line) // by method and seed
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil || l.Method == "" || len(l.Validation) == 0 {
			return nil, fmt.Errorf("line %d: found no method with validation values, expected a line of tune's tuning.jsonl", n)
		}
		name := l.Method
		if l.Seed != nil {
			name += "\x00" + strconv.FormatUint(*l.Seed, 10)
		}
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], l)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	var all []Tuning
	for _, name := range names {
		t := Tuning{Name: of[name][0].Method, Seed: of[name][0].Seed}
		var settings []map[string]any
		for _, l := range of[name] {
			settings = append(settings, l.Settings)
		}
		varied := varied(settings)
		for i, l := range of[name] {
			if slices.Contains(l.Validation, nil) {
				continue
			}
			s := Setting{Number: i + 1}
			for _, v := range l.Validation {
				s.Validation += *v / float64(len(l.Validation))
			}
			s.Validation = rounded(s.Validation, 5)
			var words []string
			for _, key := range varied {
				words = append(words, fmt.Sprintf("%s=%v", key, l.Settings[key]))
			}
			s.Text = strings.Join(words, " ")
			t.Points = append(t.Points, s)
		}
		if t.mark(); len(t.Points) > 1 {
			all = append(all, t)
		}
	}
	return all, nil
}

// varied returns the names of hyperparameters that differ between settings, in alphabetical order.
func varied(settings []map[string]any) []string {
	var keys []string
	for key, first := range settings[0] {
		for _, s := range settings {
			if fmt.Sprint(s[key]) != fmt.Sprint(first) {
				keys = append(keys, key)
				break
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// mark marks the best setting, and removes the worst settings if there are too many.
func (t *Tuning) mark() {
	if len(t.Points) == 0 {
		return
	}
	best := 0
	for i, s := range t.Points {
		if s.Validation > t.Points[best].Validation {
			best = i
		}
	}
	t.Points[best].Best = true
	if len(t.Points) <= mostSettings {
		return
	}
	values := make([]float64, 0, len(t.Points))
	for _, s := range t.Points {
		values = append(values, s.Validation)
	}
	slices.Sort(values)
	least := values[len(values)-mostSettings]
	t.Points = slices.DeleteFunc(t.Points, func(s Setting) bool { return s.Validation < least })
}
