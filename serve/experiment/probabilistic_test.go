package experiment

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/trial"
	"github.com/listwise/listwise/dataset/datatest"
)

// weights returns the softmax probabilities over a ranking's documents that are not shown.
func softmax(ranking, shown []int) map[int]float64 {
	p, total := map[int]float64{}, 0.0
	for r, doc := range ranking {
		if !slices.Contains(shown, doc) {
			p[doc] = math.Pow(float64(r+1), -3)
			total += p[doc]
		}
	}
	for doc := range p {
		p[doc] /= total
	}
	return p
}

// Claim: over many ids, probabilistic interleavings come as often as an enumeration of all coins and draws
// says, and each place has the softmax probabilities of both rankings.
func TestSoftmaxLikeEnumeration(t *testing.T) {
	rng := datatest.Rand()
	var s Softmax
	const n = 20_000
	for range 4 {
		docs := 2 + rng.IntN(3)
		a, b := rng.Perm(docs), rng.Perm(docs)
		want, got := map[string]float64{}, map[string]int{}
		var enumerate func(shown []int, text string, p float64)
		enumerate = func(shown []int, text string, p float64) {
			if len(shown) == docs {
				want[text] += p
				return
			}
			for team, ranking := range [2][]int{a, b} {
				for doc, q := range softmax(ranking, shown) {
					enumerate(append(slices.Clone(shown), doc), text+fmt.Sprintf("%d%c ", doc, 'A'+team), p/2*q)
				}
			}
		}
		enumerate(nil, "", 1)
		for i := range n {
			places := s.Draw(nil, a, b, "s", []byte(strconv.Itoa(i)), 0)
			got[text(places)]++
			var shown []int
			for _, p := range places {
				for k, ranking := range [2][]int{a, b} {
					if q := softmax(ranking, shown)[p.Doc]; math.Abs(p.Softmax[k]-q) > 1e-12 {
						t.Fatalf("found the probability %v, expected %v", p.Softmax[k], q)
					}
				}
				shown = append(shown, p.Doc)
			}
		}
		var counts []int
		var expected []float64
		rare, rareExpected := 0, 0.0
		for key, p := range want {
			if n*p < 5 { // χ² needs 5
				rare, rareExpected = rare+got[key], rareExpected+n*p
			} else {
				counts, expected = append(counts, got[key]), append(expected, n*p)
			}
			delete(got, key)
		}
		if rareExpected > 0 {
			counts, expected = append(counts, rare), append(expected, rareExpected)
		}
		if len(got) > 0 {
			t.Errorf("%v and %v: impossible interleavings %v", a, b, got)
		}
		if p := chiSquare(counts, expected); p < 0.001 {
			t.Errorf("%v and %v: counts %v, expected %v, p %v", a, b, counts, expected, p)
		}
	}
}

// Claim: users who click without regard to the documents favour neither model, however different the
// rankings: the mean credit of 100,000 rankings is within three standard errors of 0, by team draft and by
// probabilistic interleaving. If they click documents that the second model ranks first, it is far above.
func TestInterleavingsAreUnbiased(t *testing.T) {
	const n = 100_000
	a, b := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, []int{9, 2, 0, 7, 5, 3, 1, 4, 8, 6}
	var d Drafter
	var s Softmax
	for name, draw := range map[string]func(dst []Place, a, b []int, salt string, id []byte, most int) []Place{"team draft": d.Draft, "probabilistic": s.Draw} {
		rng := rand.New(rand.NewPCG(9, 9))
		for _, random := range []bool{true, false} {
			credits := make([]float64, n)
			for i := range credits {
				places := draw(nil, a, b, "unbiased", []byte(strconv.Itoa(i)), 6)
				p := &click.Page{Weight: 1}
				for r, place := range places {
					chance := 0.5 / float64(r+1)
					if !random {
						chance /= float64(1 + slices.Index(b, place.Doc))
					}
					clicked := 0
					if rng.Float64() < chance {
						clicked = 1
					}
					p.Docs = append(p.Docs, strconv.Itoa(place.Doc))
					p.Clicks = append(p.Clicks, clicked)
					p.Team = append(p.Team, place.Team)
					if name == "probabilistic" {
						p.Softmax = append(p.Softmax, place.Softmax)
					}
				}
				var err error
				if credits[i], err = trial.Credit(p, trial.All); err != nil {
					t.Fatal(err)
				}
			}
			mean, sd := stat.MeanStdDev(credits, nil)
			z := mean / sd * math.Sqrt(n)
			t.Logf("%s, random %v: mean %+.5f, %.2f standard errors", name, random, mean, z)
			if random && math.Abs(z) > 3 || !random && z < 30 {
				t.Errorf("%s, random %v: the mean credit is %v, %v standard errors", name, random, mean, z)
			}
		}
	}
}

// Claim: the draws are those of the documented hashes, the first documents are those of the whole, and the
// probabilities of the last of 2,000 documents are exact.
func TestSoftmaxIsDocumented(t *testing.T) {
	rng := datatest.Rand()
	a, b := rng.Perm(2000), rng.Perm(2000)
	var s, other Softmax
	whole := s.Draw(nil, a, b, "s", []byte("u"), 0)
	if !slices.Equal(whole[:7], other.Draw(nil, a, b, "s", []byte("u"), 7)) || slices.Equal(whole, s.Draw(nil, a, b, "t", []byte("u"), 0)) {
		t.Error("a part is not that of the whole, or the salt does not matter")
	}
	shown := []int{}
	for turn, place := range whole {
		sum := sha256.Sum256([]byte("s\x00u" + string([]byte{0, 0, 0, 0, 0, 0, byte(turn >> 8), byte(turn)})))
		if want := int(sum[0] >> 7); place.Team != want {
			t.Fatalf("turn %d: found team %d, expected %d", turn, place.Team, want)
		}
		if turn < 20 || turn > 1990 {
			u := 0.0
			for _, x := range sum[8:16] {
				u = u*256 + float64(x)
			}
			u /= math.Exp2(64)
			p := softmax([][]int{a, b}[place.Team], shown)
			below := 0.0
			for _, doc := range [][]int{a, b}[place.Team] {
				if doc == place.Doc {
					break
				}
				below += p[doc]
			}
			if u < below-1e-9 || u > below+p[place.Doc]+1e-9 || math.Abs(place.Softmax[place.Team]-p[place.Doc]) > 1e-12 {
				t.Errorf("turn %d: u is %v, the document's length begins at %v and is %v; it reports %v", turn, u, below, p[place.Doc], place.Softmax)
			}
		}
		shown = append(shown, place.Doc)
	}
}
