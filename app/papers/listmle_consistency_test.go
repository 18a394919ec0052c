package papers

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/internal/random"
)

// minimumOf is that of a surrogate's expected loss.
func minimumOf(t *testing.T, name string, l permutationLaw) []float64 {
	t.Helper()
	all := surrogates()
	at := slices.IndexFunc(all, func(s surrogate) bool { return s.name == name })
	e, err := newExpectedLoss(all[at], l.space)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := e.minimum(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

// Minima that are known: the likelihood's under a Plackett–Luce law are its parameters; the
// cosine's point where the mean of the permutations' ψ does; a cross entropy of two
// documents is least at the mean of the laws that ψ makes.
func TestExpectedMinima(t *testing.T) {
	rng := random.Stream(1, "test", "consistency")
	for n := 2; n <= 4; n++ {
		s := newPermutationSpace(n)
		logs := make([]float64, n)
		gaussian(logs, rng)
		scores := minimumOf(t, "ListMLE", s.plackettLuce(logs))
		for i := range scores {
			if d := (scores[i] - mean(scores)) - (logs[i] - mean(logs)); math.Abs(d) > 1e-5 {
				t.Errorf("likelihood, document %d of %d: %v off its parameter", i, n, d)
			}
		}
		l := drawAny(s, rng)
		target := make([]float64, n)
		for i, order := range s.orders {
			for r, d := range order {
				target[d] += l.p[i] * float64(n-r) * float64(n-r)
			}
		}
		scores = minimumOf(t, "RankCosine-q", l)
		dot := 0.0
		for i := range scores {
			dot += scores[i] * target[i]
		}
		if c := dot / norm(scores) / norm(target); c < 1-1e-9 {
			t.Errorf("cosine, %d documents: %v between the minimum and the mean of ψ", n, c)
		}
	}
	s := newPermutationSpace(2)
	p := 1 / (1 + math.Exp(1-4)) // of the better document under ψ = (4, 1)
	first := 0.7*p + 0.3*(1-p)
	scores := minimumOf(t, "ListNet-q", permutationLaw{s, []float64{0.7, 0.3}})
	if got := scores[0] - scores[1]; math.Abs(got-math.Log(first/(1-first))) > 1e-6 {
		t.Errorf("cross entropy: the gap is %v, expected %v", got, math.Log(first/(1-first)))
	}
}

// A space has (n−1)·n!/2 pairs, each of two orders that differ in two documents next to
// each other in the ranking.
func TestPermutationPairs(t *testing.T) {
	for n, want := range map[int]int{2: 1, 3: 6, 4: 36, 5: 240} {
		s := newPermutationSpace(n)
		if len(s.pairs) != want {
			t.Errorf("%d documents: %d pairs, expected %d", n, len(s.pairs), want)
		}
		for _, pair := range s.pairs {
			a, b := s.orders[pair[0]], s.orders[pair[1]]
			var differ []int
			for i := range a {
				if a[i] != b[i] {
					differ = append(differ, i)
				}
			}
			if len(differ) != 2 || a[differ[1]] != a[differ[0]]+1 || b[differ[0]] != a[differ[1]] || b[differ[1]] != a[differ[0]] {
				t.Errorf("%v is paired with %v", a, b)
			}
			if inversions(a) >= inversions(b) {
				t.Errorf("%v comes before %v", a, b)
			}
		}
	}
}

// Laws of the families that preserve an order do, and their most probable order is that
// one; another ranking's order they do not preserve; others do not in general.
func TestLawFamilies(t *testing.T) {
	rng := random.Stream(2, "test", "laws")
	s := newPermutationSpace(4)
	for _, f := range lawFamilies() {
		preserved := 0
		for range 50 {
			l := f.draw(s, rng)
			sum := 0.0
			for _, p := range l.p {
				sum += p
			}
			if math.Abs(sum-1) > 1e-12 || slices.Min(l.p) < 0 {
				t.Fatalf("%s: probabilities sum to %v", f.name, sum)
			}
			best, _ := l.best()
			if l.violated(best) == 0 {
				preserved++
				if f.preserves && !slices.Equal(best, identity(4)) {
					t.Errorf("%s: the most probable order is %v", f.name, best)
				}
			}
			if f.preserves && l.violated([]int{1, 0, 2, 3}) == 0 {
				t.Errorf("%s preserves another order too", f.name)
			}
		}
		if f.preserves != (preserved == 50) {
			t.Errorf("%s: %d of 50 preserve their order", f.name, preserved)
		}
	}
	// One pair the wrong way round is seen.
	l := s.plackettLuce([]float64{3, 2, 1, 0})
	l.p[0], l.p[1] = l.p[1], l.p[0] // 0 1 2 3 and 0 1 3 2
	if v := l.violated(identity(4)); v < 1./36 || v > 0.2 {
		t.Errorf("%v of the pairs are called violated", v)
	}
	// And relabelled laws are judged by their own order.
	if v := s.plackettLuce([]float64{0, 3, 1, 2}).violated([]int{1, 3, 2, 0}); v != 0 {
		t.Errorf("a Plackett–Luce law violates %v of the pairs of its own order", v)
	}
}

// A sample's shares come near the law's as it grows.
func TestSampledLaw(t *testing.T) {
	s := newPermutationSpace(3)
	l := s.plackettLuce([]float64{1, 0.5, 0})
	for i, p := range l.sampled(200_000, random.Stream(3, "test", "sample")).p {
		if math.Abs(p-l.p[i]) > 0.005 {
			t.Errorf("order %v: %v of the sample, probability %v", s.orders[i], p, l.p[i])
		}
	}
}

// The theorem holds for other draws; without its condition minima fail, as in the example,
// where the second document is first with probability .6; and samples get better.
func TestConsistencyVerdicts(t *testing.T) {
	small := consistency{documents: []int{3, 4}, laws: 15, curves: 3, shares: []float64{0, 1}, samples: []int{5, 3000}}
	for seed := range uint64(2) {
		r, err := small.run(context.Background(), Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.findings() {
			if f.Verdict != ClaimHeld {
				t.Errorf("%+v", f)
			}
		}
		for _, row := range r.Sheets[0].Rows {
			if row[0] != "any" && (row[6] != 15 || row[7] != 15 || row[8] != 0.0) {
				t.Errorf("%v", row)
			}
		}
		if v := cell(t, r.Sheets[0], "right", "any", 4).(int); v > 12 {
			t.Errorf("without its condition the theorem holds for %d of 15 laws", v)
		}
		for _, row := range r.Tables[2].Rows {
			if !strings.HasPrefix(row[1], "b > ") {
				t.Errorf("the example: %v", row)
			}
		}
		few, many := cell(t, r.Sheets[2], "right", 5.0).(int), cell(t, r.Sheets[2], "right", 3000.0).(int)
		if few >= many {
			t.Errorf("%v right after 5 permutations, %v after 3000", few, many)
		}
	}
}

// Same options, same bytes, with any number of jobs.
func TestConsistencyIsDeterministic(t *testing.T) {
	small := consistency{documents: []int{3}, laws: 6, curves: 3, shares: []float64{0.5}, samples: []int{20}}
	var texts []string
	for _, jobs := range []int{1, 4} {
		r, err := small.run(context.Background(), Options{Seed: 7, Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, everything(t, r))
	}
	if texts[0] != texts[1] {
		t.Error("the report depends on the number of jobs")
	}
}
