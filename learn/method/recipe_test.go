package method_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/method"
)

// Claim: a wrong word is an *OptionError that begins with the option's name.
func TestWrongWords(t *testing.T) {
	for option, change := range map[string]func(*method.Recipe){
		"scorer tree":   func(r *method.Recipe) { r.Scorer = "tree" },
		"measure":       func(r *method.Recipe) { r.Measure = "ndgc" },
		"convention":    func(r *method.Recipe) { r.Convention = "letor9" },
		"threshold -1":  func(r *method.Recipe) { r.Threshold = "-1" },
		"normalize":     func(r *method.Recipe) { r.Normalize = "max" },
		"views":         func(r *method.Recipe) { r.Views = "raw,square" },
		"missing":       func(r *method.Recipe) { r.Missing = "drop" },
		"transform log": func(r *method.Recipe) { r.Transform = []string{"log"} },
	} {
		r := method.DefaultRecipe()
		change(&r)
		_, _, err := r.Problem("convexloss", nil)
		if e, ok := errors.AsType[*method.OptionError](err); !ok || !strings.HasPrefix(e.Error(), option) {
			t.Errorf("found the error %v, expected an OptionError that begins with %q", err, option)
		}
	}
}

// Claim: a learned fill is the first transform, and data keep what is missing until then.
func TestLearnedFill(t *testing.T) {
	r := method.DefaultRecipe()
	r.Missing, r.Transform = "median", []string{"standard"}
	missing, err := r.ReadMissing()
	if err != nil || missing != dataset.MissingKeep {
		t.Errorf("found %v, %v, expected missing values to be kept", missing, err)
	}
	specs, err := r.Transforms()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, s := range specs {
		texts = append(texts, s.String())
	}
	if want := []string{"fill=median", "standard"}; !slices.Equal(texts, want) {
		t.Errorf("found the transforms %q, expected %q", texts, want)
	}
}
