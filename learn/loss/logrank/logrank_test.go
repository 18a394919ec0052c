package logrank

import (
	"math"
	"strings"
	"testing"

	"github.com/listwise/listwise/learn/loss"
)

// TestParseForm: names are read back, and an error names what is possible.
func TestParseForm(t *testing.T) {
	for f := Factored; f <= Shell; f++ {
		if got, err := ParseForm(f.String()); got != f || err != nil {
			t.Errorf("ParseForm(%q) = %v, %v", f.String(), got, err)
		}
	}
	_, err := ParseForm("exact")
	wantError(t, "ParseForm", err, `form "exact"`, "factored, sampled, lattice or shell")
}

func wantError(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if err == nil || !strings.Contains(err.Error(), p) {
			t.Errorf("%s: error %v does not say %q", what, err, p)
		}
	}
}

// TestValidate: options out of range are refused before any query is bound.
func TestValidate(t *testing.T) {
	auc := additive(t, "auc")
	for want, c := range map[string]Options{
		"beta -1":            {Beta: -1},
		"beta NaN":           {Beta: math.NaN()},
		"from 0 to 500":      {Beta: 501},
		"form 9":             {Form: 9},
		"kappa -1":           {Kappa: -1},
		"threshold +Inf":     {Threshold: math.Inf(1)},
		"measure to train":   {Form: Sampled},
		"expected a finite ": {Threshold: math.NaN(), Gain: auc},
	} {
		wantError(t, want, c.Validate(), want)
		if _, err := (MLE{c}).Bind([]float64{0, 1}, nil); err == nil {
			t.Errorf("%s: Bind accepts the options", want)
		}
	}
	if err := (Options{Gain: auc}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestBindRefuses: combinations that do not exist for a query are errors that say
// what to do.
func TestBindRefuses(t *testing.T) {
	grades := []float64{1, 0, 1, 0, 0}
	_, err := ConvexLoss{Options{Gain: additive(t, "ndcg@10")}}.Bind(grades, nil)
	wantError(t, "factored ConvexLoss", err, "2 and 3", "lattice", "sampled")
	_, err = L2{}.Bind(grades, nil)
	wantError(t, "L2 without a measure", err, "no measure")
	_, err = L2{Options{Gain: additive(t, "dcg@10")}}.Bind(grades, nil)
	wantError(t, "a gain above 1", err, "dcg@10", "at most 1")
	if b, err := (MLE{}).Bind(grades, nil); err != nil || b == nil {
		t.Errorf("MLE without a measure: %v, %v", b, err)
	}
}

// TestThreshold: grades are made binary at the threshold.
func TestThreshold(t *testing.T) {
	grades, scores := []float64{2, 0, 1, 0, 2, 1}, []float64{0.3, -1, 0.7, 0.1, -0.4, 2}
	binary := []float64{1, 0, 0, 0, 1, 0}
	var scratch loss.Scratch
	for _, form := range []Form{Factored, Lattice, Shell} {
		c := Options{Form: form, Gain: additive(t, "map")}
		want, err := L3{c}.Bind(binary, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Threshold = 2
		got, err := L3{c}.Bind(grades, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := got.Eval(scores, nil, &scratch), want.Eval(scores, nil, &scratch); a != b {
			t.Errorf("%v: loss %v at threshold 2, %v of binary grades", form, a, b)
		}
	}
}
