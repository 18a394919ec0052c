package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const tuningLines = `{"method":"mle","settings":{"C":0.1,"form":"factored"},"validation":[0.2,0.4],"best":0.3}
{"method":"mle","settings":{"C":1,"form":"factored"},"validation":[0.4,0.6],"best":0.5}
{"method":"mle","settings":{"C":10,"form":"factored"},"validation":[0.9,null],"best":0.5}
{"method":"one","settings":{"C":1},"validation":[0.4,0.6],"best":0.5}
`

// Claim: a method's settings have their mean over the folds, what they differ in and a mark at the
// best; one that was dropped is left out, and so is a method with one setting.
func TestReadTunings(t *testing.T) {
	got, err := ReadTunings(strings.NewReader(tuningLines))
	want := []Tuning{{Name: "mle", Points: []Setting{{Number: 1, Validation: 0.3, Text: "C=0.1"}, {Number: 2, Validation: 0.5, Text: "C=1", Best: true}}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, bad := range []string{"x\n", `{"method":"mle"}` + "\n", tuningLines + `{"validation":[1]}`} {
		if _, err := ReadTunings(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Claim: the page draws a line a method, with a ring at the best setting.
func TestPageDrawsTuning(t *testing.T) {
	s := *small(t)
	var err error
	if s.config.Tunings, err = ReadTunings(strings.NewReader(tuningLines)); err != nil {
		t.Fatal(err)
	}
	s.curves = nil
	_, page := s.build(t)
	b := open(t, page, 900)
	if got := eval[string](b, `[...document.querySelectorAll('#curves h3')].map(e => e.textContent).join()`); got != "Tuning" {
		t.Errorf("the section of curves has %q, want that of tuning alone", got)
	}
	if got := eval[int](b, `document.querySelectorAll('#curves-plots .ring').length`); got != 1 {
		t.Errorf("%d rings, want one", got)
	}
	b.Quiet()
}
