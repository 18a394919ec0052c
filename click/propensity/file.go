package propensity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
)

const (
	// FormatName is the value of "format" in a file of propensities.
	FormatName = "listwise propensities"
	// FormatVersion is the version of the format that Write writes.
	FormatVersion = 1
)

// file is the form of an estimate in a file.
type file struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Estimate
}

// Save writes the estimate to a file.
func (e *Estimate) Save(path string) error { return atomicfile.Write(path, e.Write) }

// Write writes the estimate as JSON. The numbers read back with the same bits.
func (e *Estimate) Write(w io.Writer) error {
	text, err := strictjson.Marshal(file{FormatName, FormatVersion, *e})
	if err != nil {
		return err
	}
	return strictjson.Indent(w, text)
}

// Load reads a file of propensities. If the content is invalid, the error names the file and the line.
func Load(path string) (*Estimate, error) {
	text, err := model.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Decode(path, text)
}

// Decode reads an estimate from the text of a file. All its errors name the path, and the line if they are about
// a part of the text.
func Decode(path string, text []byte) (*Estimate, error) {
	e, err := decode(text)
	if err != nil {
		return nil, model.Locate(path, text, err)
	}
	return e, nil
}

func decode(text []byte) (*Estimate, error) {
	if err := strictjson.Check(text); err != nil {
		return nil, err
	}
	o, err := strictjson.Members(strictjson.Whole(text))
	if err != nil {
		return nil, err
	}
	var f file
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := o.Decode(&head); err != nil {
		return nil, err
	}
	if err := o.Decode(&f.Estimate); err != nil {
		return nil, err
	}
	known := json.NewDecoder(bytes.NewReader(text))
	known.DisallowUnknownFields()
	if err := known.Decode(&file{}); err != nil {
		return nil, fmt.Errorf("found the key %s, which propensities do not have", strings.TrimPrefix(err.Error(), "json: unknown field "))
	}
	switch {
	case head.Format != FormatName:
		return nil, fmt.Errorf(`found "format": %q, expected %q`, head.Format, FormatName)
	case head.Version != FormatVersion:
		return nil, fmt.Errorf("found format version %d, expected %d", head.Version, FormatVersion)
	}
	if err := checkSlots(f.Slots); err != nil {
		return nil, err
	}
	if err := checkCovariance(f.Covariance, len(f.Slots)); err != nil {
		return nil, err
	}
	for _, p := range f.Parts {
		if len(p.Slots) != len(f.Slots) {
			return nil, fmt.Errorf("found %d slots in part %q, expected %d", len(p.Slots), p.Value, len(f.Slots))
		}
		if err := checkSlots(p.Slots); err != nil {
			return nil, fmt.Errorf("part %q: %w", p.Value, err)
		}
	}
	return &f.Estimate, nil
}

func checkSlots(slots []Slot) error {
	seen := map[string]bool{}
	if len(slots) < 2 {
		return fmt.Errorf("found %d slots, expected two or more", len(slots))
	}
	for i, s := range slots {
		switch {
		case seen[s.Slot] || s.Slot == "":
			return fmt.Errorf("found slot %q twice or without a name, expected each slot once", s.Slot)
		case !(s.Theta > 0) || math.IsInf(s.Theta, 0):
			return fmt.Errorf("found propensity %v of slot %q, expected a positive number", s.Theta, s.Slot)
		case i == 0 && s.Theta != 1:
			return fmt.Errorf("found propensity %v of the first slot, expected 1", s.Theta)
		case s.SE != nil && *s.SE < 0:
			return fmt.Errorf("found standard error %v of slot %q, expected 0 or more", *s.SE, s.Slot)
		case s.Impressions < 0 || s.Clicks < 0 || s.Clicks > s.Impressions || s.Interventions < 0:
			return fmt.Errorf("found %v clicks and %v interventions in %v impressions of slot %q, expected counts", s.Clicks, s.Interventions, s.Impressions, s.Slot)
		}
		seen[s.Slot] = true
	}
	return nil
}

func checkCovariance(c [][]float64, slots int) error {
	if c != nil && len(c) != slots {
		return fmt.Errorf("found covariances of %d slots, expected %d", len(c), slots)
	}
	for i, row := range c {
		if len(row) != i+1 || row[i] < 0 {
			return fmt.Errorf("found %d covariances in row %d, expected %d and a variance of 0 or more", len(row), i+1, i+1)
		}
	}
	return nil
}

// Of returns the propensities by the names of the slots.
func (e *Estimate) Of() map[string]float64 {
	of := make(map[string]float64, len(e.Slots))
	for _, s := range e.Slots {
		of[s.Slot] = s.Theta
	}
	return of
}
