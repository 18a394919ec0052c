package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Tuning is what the settings of a method that were tried gave on validation data.
type Tuning struct {
	Name   string    `json:"name"`
	Points []Setting `json:"points"`
}

// Setting is a setting that was tried: its number, from 1, the mean over the folds' validation data
// and the hyperparameters in which the settings differ.
type Setting struct {
	Number     int     `json:"e"`
	Validation float64 `json:"v"`
	Text       string  `json:"t,omitempty"`
	Best       bool    `json:"b,omitempty"` // of all
}

// mostSettings is how many settings of a method a page shows; the best of more are kept.
const mostSettings = 300

// ReadTunings reads what tune writes of the settings it tried, a JSON object a line. Settings
// without a value on some fold's validation data are left out.
func ReadTunings(r io.Reader) ([]Tuning, error) {
	type line struct {
		Method     string         `json:"method"`
		Settings   map[string]any `json:"settings"`
		Validation []*float64     `json:"validation"`
	}
	var names []string
	of := make(map[string][]line)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil || l.Method == "" || len(l.Validation) == 0 {
			return nil, fmt.Errorf("line %d: found no method with validation values, expected a line of tune's tuning.jsonl", n)
		}
		if of[l.Method] == nil {
			names = append(names, l.Method)
		}
		of[l.Method] = append(of[l.Method], l)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	var all []Tuning
	for _, name := range names {
		t := Tuning{Name: name}
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

// varied returns the hyperparameters, in order, that are not the same in all settings.
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

// mark marks the best setting, the first of several, and leaves only the best where there are
// too many.
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
