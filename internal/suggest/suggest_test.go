package suggest

import (
	"slices"
	"testing"
)

// The distance against its definition by recursion, on all pairs of short words over
// three letters.
func TestDistance(t *testing.T) {
	words := []string{""}
	for i := 0; len(words) < 121; i++ { // all of up to 4 letters
		for _, c := range "abc" {
			words = append(words, words[i]+string(c))
		}
	}
	for _, a := range words {
		for _, b := range words {
			if got, want := distance(a, b), defined(a, b); got != want {
				t.Fatalf("distance of %q and %q is %d, want %d", a, b, got, want)
			}
		}
	}
	if d := distance("größe", "größ"); d != 1 {
		t.Errorf("a character of two bytes counts %d", d)
	}
}

// defined is the distance by its definition: the cheapest last step.
func defined(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	n, m := len(a)-1, len(b)-1
	cost := 1
	if a[n] == b[m] {
		cost = 0
	}
	d := min(defined(a[:n], b)+1, defined(a, b[:m])+1, defined(a[:n], b[:m])+cost)
	if n > 0 && m > 0 && a[n] == b[m-1] && a[n-1] == b[m] {
		d = min(d, defined(a[:n-1], b[:m-1])+1)
	}
	return d
}

func TestNearest(t *testing.T) {
	known := []string{"train", "tune", "eval", "score", "compare", "l2", "l3", "fig1", "fig2", "fig3", "fig4"}
	for _, c := range []struct {
		word string
		want []string
	}{
		{"trian", []string{"train"}},
		{"TRAIN", []string{"train"}},
		{"comp", []string{"compare"}}, // a part
		{"l4", nil},                   // too short to guess
		{"L2", []string{"l2"}},
		{"frobnicate", nil},
		{"fig9", nil}, // like too many
		{"", nil},
	} {
		if got := Nearest(c.word, known); !slices.Equal(got, c.want) {
			t.Errorf("nearest to %q is %v, want %v", c.word, got, c.want)
		}
	}
	if got := Or("letor", []string{"letor3", "letor4", "trec"}, "no"); got != `: did you mean "letor3" or "letor4"?` {
		t.Error(got)
	}
	if got := Unknown("tool", "x", known[:2]).Error(); got != `unknown tool "x"; known are train, tune` {
		t.Error(got)
	}
}
