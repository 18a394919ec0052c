package papers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Claim: a verdict has one colour on the page, in the bar and in the scatter: blue, green and orange for
// reproduced, better and worse, whichever of them there are.
func TestScatterHasTheVerdictsColours(t *testing.T) {
	colours := map[Verdict]string{Reproduced: "#0072b2", Better: "#009e73", Worse: "#d55e00"}
	for _, verdicts := range [][]Verdict{{Reproduced, Better, Worse}, {Better, NotComparable}, {Worse}} {
		r := &Report{}
		for i, v := range verdicts {
			r.Claims = append(r.Claims, Claim{Row: "A", Published: 0.4, Ours: 0.4 + float64(i)/10, Verdict: v})
		}
		all := &All{Outcomes: []Outcome{{Report: r}}}
		drawn, err := all.scatter()
		if err != nil {
			t.Fatal(err)
		}
		for v, want := range colours {
			at := slices.Index(scatterOrder, v)
			if !strings.Contains(strings.ToLower(string(drawn)), fmt.Sprintf(".lw-%d{color:%s}", at, want)) {
				t.Errorf("%s is not %s in %.900s", v, want, drawn)
			}
			if got, want := hasMarks(string(drawn), at), slices.Contains(verdicts, v); got != want {
				t.Errorf("of %v there are marks in the colour of %s: %v", verdicts, v, got)
			}
			if got, want := strings.Contains(string(drawn), ">"+string(v)+"<"), slices.Contains(verdicts, v); got != want {
				t.Errorf("of %v the legend has %s: %v", verdicts, v, got)
			}
		}
	}
}

// hasMarks reports whether a drawing has marks in the colour of a place.
func hasMarks(drawn string, place int) bool {
	return regexp.MustCompile(fmt.Sprintf(`<g class="lw-%d"[^>]*>\s*<path class="lw-mark" d="[^"]`, place)).MatchString(drawn)
}
