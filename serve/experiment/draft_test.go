package experiment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset/datatest"
)

// outcomes are all interleavings of two rankings with their probabilities, by the paper's
// words: "while both have documents left, whichever team has fewer, or a fair coin, adds its
// highest ranked document that is not there yet". The key is documents and teams in order.
func outcomes(a, b, shown []int, sizes [2]int, text string, p float64, all map[string]float64) {
	first := func(ranking []int) (int, bool) {
		for _, doc := range ranking {
			if !slices.Contains(shown, doc) {
				return doc, true
			}
		}
		return 0, false
	}
	docA, okA := first(a)
	docB, okB := first(b)
	if !okA || !okB {
		all[text] += p
		return
	}
	pick := func(team, doc int, p float64) {
		next := sizes
		next[team]++
		outcomes(a, b, append(slices.Clone(shown), doc), next, text+fmt.Sprintf("%d%c ", doc, 'A'+team), p, all)
	}
	switch {
	case sizes[0] < sizes[1]:
		pick(0, docA, p)
	case sizes[1] < sizes[0]:
		pick(1, docB, p)
	default:
		pick(0, docA, p/2)
		pick(1, docB, p/2)
	}
}

func text(places []Place) string {
	var s strings.Builder
	for _, p := range places {
		fmt.Fprintf(&s, "%d%c ", p.Doc, 'A'+p.Team)
	}
	return s.String()
}

// Claim: over many ids, interleavings come as often as an enumeration of all coins says.
func TestDraftLikeEnumeration(t *testing.T) {
	rng := datatest.Rand()
	var d Drafter
	const n = 20_000
	for range 5 {
		docs := 2 + rng.IntN(4)
		a, b := rng.Perm(docs), rng.Perm(docs)
		want, got := map[string]float64{}, map[string]int{}
		outcomes(a, b, nil, [2]int{}, "", 1, want)
		for i := range n {
			got[text(d.Draft(nil, a, b, "s", []byte(strconv.Itoa(i)), 0))]++
		}
		var counts []int
		var expected []float64
		for key, p := range want {
			counts, expected = append(counts, got[key]), append(expected, n*p)
			delete(got, key)
		}
		if len(got) > 0 {
			t.Errorf("%v and %v: impossible interleavings %v", a, b, got)
		}
		if p := chiSquare(counts, expected); p < 0.001 {
			t.Errorf("%v and %v: counts %v, expected %v, p %v", a, b, counts, expected, p)
		}
	}
}

// Claim: a user who clicks without regard to the teams favours neither: whatever ranks are
// clicked, the clicks that each team gets have the same mean, and the teams' sizes differ by at most one.
func TestDraftIsFair(t *testing.T) {
	rng := datatest.Rand()
	var d Drafter
	const n = 20_000
	for range 5 {
		docs := 3 + rng.IntN(20)
		a, b := rng.Perm(docs), rng.Perm(docs)
		rank := rng.IntN(docs)
		teams, fixed := [2]int{}, [2]int{}
		for i := range n {
			places := d.Draft(nil, a, b, "fair", []byte(strconv.Itoa(i)), 0)
			teams[places[rank].Team]++
			sizes := [2]int{}
			var shown []int
			for k, p := range places {
				sizes[p.Team]++
				shown = append(shown, p.Doc)
				if k%2 == 1 && sizes[0] != sizes[1] {
					t.Fatalf("teams of %v after %d documents", sizes, k+1)
				}
			}
			if slices.Sort(shown); !slices.Equal(shown, slices.Sorted(slices.Values(a))) {
				t.Fatalf("%v and %v: shows %v", a, b, shown)
			}
			same := d.Draft(nil, a, a, "fair", []byte(strconv.Itoa(i)), 0)
			fixed[same[rank].Team]++
			if same[rank].Doc != a[rank] {
				t.Fatal("a ranking with itself is another one")
			}
		}
		if p := chiSquare(fixed[:], []float64{n / 2, n / 2}); p < 0.001 {
			t.Errorf("of a ranking with itself rank %d belongs to teams as %v, p %v", rank, fixed, p)
		}
		if p := chiSquare(teams[:], []float64{n / 2, n / 2}); p < 0.001 {
			t.Errorf("rank %d belongs to teams as %v, p %v", rank, teams, p)
		}
	}
}

// Claim: the same id sees the same, the first documents are those of the whole, and long
// rankings do not run out of coins.
func TestDraftIsStable(t *testing.T) {
	rng := datatest.Rand()
	a, b := rng.Perm(2000), rng.Perm(2000)
	var d, e Drafter
	whole := d.Draft(nil, a, b, "s", []byte("u"), 0)
	if !slices.Equal(whole, e.Draft(nil, a, b, "s", []byte("u"), 5000)) || !slices.Equal(whole[:7], d.Draft(nil, a, b, "s", []byte("u"), 7)) {
		t.Error("the same draft twice differs")
	}
	if slices.Equal(whole, d.Draft(nil, a, b, "t", []byte("u"), 0)) || slices.Equal(whole, d.Draft(nil, a, b, "s", []byte("v"), 0)) {
		t.Error("another salt or id does not matter")
	}
}
