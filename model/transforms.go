package model

import (
	"errors"
	"fmt"
	"slices"

	"github.com/listwise/listwise/dataset/transform"
)

// chainFile contains the transforms of one feature in a model file. Feature is counted from 1, as in
// LETOR text.
type chainFile struct {
	Feature int        `json:"feature"`
	Steps   []stepFile `json:"steps"`
}

// stepFile contains the name of a step and its parameters. The step clip has low and high, standard has
// mean and deviation, fill has value, and log1p has no parameters.
type stepFile struct {
	Step      string   `json:"step"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	Mean      *float64 `json:"mean,omitempty"`
	Deviation *float64 `json:"deviation,omitempty"`
	Value     *float64 `json:"value,omitempty"`
}

// version returns the lowest format version that represents the model.
func (m *Model) version() int {
	if slices.ContainsFunc(m.Members(), func(m *Model) bool { return m.Categories != nil }) {
		return 3
	}
	if f, ok := m.Scorer.(*Fusion); ok && f.columns != nil || m.Transforms != nil || !m.Views.Raw() || m.AbsentMissing {
		return 2
	}
	return 1
}

// encodeTransforms returns the transforms of the features, in the order of the features.
func (m *Model) encodeTransforms() ([]chainFile, error) {
	var chains []chainFile
	for _, feature := range m.Transforms.Features() {
		if n := m.NumFeatures(); feature >= n {
			return nil, fmt.Errorf("transforms: found feature %d, expected one from 1 to %d", feature+1, n)
		}
		c := chainFile{Feature: feature + 1}
		for _, step := range m.Transforms.Chain(feature) {
			f := stepFile{Step: step.Name()}
			switch s := step.(type) {
			case transform.Clip:
				f.Low, f.High = &s.Low, &s.High
			case transform.Standard:
				f.Mean, f.Deviation = &s.Mean, &s.Deviation
			case transform.Fill:
				f.Value = &s.Value
			}
			c.Steps = append(c.Steps, f)
		}
		chains = append(chains, c)
	}
	return chains, nil
}

// pipeline checks the transforms of a file and returns them, nil if there are none.
func (f *featuresFile) pipeline() (*transform.Pipeline, error) {
	chains := make(map[int]transform.Chain, len(f.Transforms))
	last := 0
	for _, c := range f.Transforms {
		switch {
		case c.Feature < 1 || c.Feature > f.Count:
			return nil, fmt.Errorf("found feature %d, expected one from 1 to %d", c.Feature, f.Count)
		case c.Feature <= last:
			return nil, fmt.Errorf("found feature %d after feature %d, expected ascending ones", c.Feature, last)
		case len(c.Steps) == 0:
			return nil, fmt.Errorf("feature %d: found no steps, expected at least one", c.Feature)
		}
		last = c.Feature
		var chain transform.Chain
		for i, s := range c.Steps {
			step, err := s.step()
			if err != nil {
				return nil, fmt.Errorf("feature %d: step %d: %w", c.Feature, i+1, err)
			}
			chain = append(chain, step)
		}
		chains[c.Feature-1] = chain
	}
	return transform.New(chains)
}

// step returns the step that f describes. It does not check the values of the parameters.
func (f *stepFile) step() (transform.Step, error) {
	lacks := func(numbers ...*float64) bool {
		for _, n := range numbers {
			if n == nil {
				return true
			}
		}
		return false
	}
	switch f.Step {
	case transform.Clip{}.Name():
		if lacks(f.Low, f.High) {
			return nil, errors.New(`found "clip" without "low" or "high", expected both`)
		}
		return transform.Clip{Low: *f.Low, High: *f.High}, nil
	case transform.Log1p{}.Name():
		return transform.Log1p{}, nil
	case transform.Standard{}.Name():
		if lacks(f.Mean, f.Deviation) {
			return nil, errors.New(`found "standard" without "mean" or "deviation", expected both`)
		}
		return transform.Standard{Mean: *f.Mean, Deviation: *f.Deviation}, nil
	case transform.Fill{}.Name():
		if lacks(f.Value) {
			return nil, errors.New(`found "fill" without "value", expected it`)
		}
		return transform.Fill{Value: *f.Value}, nil
	}
	return nil, fmt.Errorf("found the step %q, expected clip, log1p, standard or fill", f.Step)
}
