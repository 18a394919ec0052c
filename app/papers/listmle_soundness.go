package papers

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/optimize"
)

func soundnessExperiment() Experiment {
	return Experiment{
		Name:   "listmle-soundness",
		Paper:  "ListMLE",
		Title:  "Likelihood, cross entropy and cosine as functions of the scores: soundness, convexity, smoothness, cost",
		Shows:  "which of the three losses can be large for a right ranking and small for a wrong one",
		Data:   "none but random scores",
		Scales: "the number of random scores",
		Run:    soundness{lists: []int{2, 3, 5}, draws: 2000}.run,
	}
}

// soundness looks at the losses in the space of the scores of one list.
type soundness struct {
	lists []int // numbers of documents
	draws int   // of scores, for each
}

// soundFinding is what was seen of a loss on lists of n documents.
type soundFinding struct {
	surrogate
	n int

	misplaced float64 // share of scores for which a permutation of them has a lower loss than their right order
	widened   float64 // share of gaps of right rankings whose widening raises the loss
	inverted  float64 // share of pairs of a right and a wrong ranking in which the right one has the higher loss
	wrong     float64 // infimum of the loss over wrong rankings
	right     float64 // highest loss of a right ranking that was drawn

	bent       float64 // share of segments whose middle is above the mean of the ends
	eigenvalue float64 // smallest of the second derivatives

	jump, kink [len(soundPlaces)]float64 // see looks
}

// soundPlaces are where continuity and slopes are looked at.
var soundPlaces = [...]string{"random", "all tied", "all zero"}

// What counts as continuous, as a slope and as convex, given rounding.
const (
	soundStep   = 1e-7 // relative to the length of the scores
	jumpZero    = 1e-4
	kinkZero    = 1e-2
	bentZero    = 1e-9
	convexZero  = -1e-6
	soundSpread = 10.0 // scores are as large as from 1/10 to 10
)

func (f *soundFinding) continuous(at int) bool { return f.jump[at] < jumpZero }
func (f *soundFinding) smooth(at int) bool     { return f.continuous(at) && f.kink[at] < kinkZero }
func (f *soundFinding) convex() bool           { return f.bent == 0 && f.eigenvalue > convexZero }

func (s soundness) run(ctx context.Context, o Options) (*Report, error) {
	s.draws = o.scaled(s.draws)
	all := surrogates()
	findings := make([]soundFinding, len(all)*len(s.lists))
	errs, ended := make([]error, len(findings)), o.counter("losses", len(findings))
	parallel.For(len(findings), o.Jobs, func(_, i int) {
		if errs[i] = ctx.Err(); errs[i] != nil {
			return
		}
		findings[i], errs[i] = s.look(ctx, all[i/len(s.lists)], s.lists[i%len(s.lists)], o.Seed)
		ended()
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	return s.report(o, findings)
}

// look draws scores and sees what a loss makes of them.
func (s soundness) look(ctx context.Context, of surrogate, n int, seed uint64) (soundFinding, error) {
	f := soundFinding{surrogate: of, n: n, eigenvalue: math.Inf(1)}
	l, err := of.onOrder(identity(n))
	if err != nil {
		return f, err
	}
	rng := random.Stream(seed, "soundness", strconv.Itoa(n)) // the same scores for every loss
	for range s.draws {
		f.rankings(l, n, rng, 1/float64(s.draws))
		f.shape(l, n, rng, 1/float64(s.draws))
		f.looks(l, n, rng)
	}
	f.wrong, err = leastWrong(ctx, l, n)
	return f, err
}

// drawScores draws scores of any size, about any mean.
func drawScores(n int, rng *rand.Rand) []float64 {
	size := elementary.Pow(soundSpread, float64(2*rng.Float64())-1)
	mean := random.Normal(rng)
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = float64(size * (mean + random.Normal(rng)))
	}
	return scores
}

// drawRight draws scores of the right order, drawWrong of another.
func drawRight(n int, rng *rand.Rand) []float64 {
	scores := drawScores(n, rng)
	slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	return scores
}

func drawWrong(n int, rng *rand.Rand) []float64 {
	for {
		if scores := drawScores(n, rng); !strictlyRanked(scores, identity(n)) {
			return scores
		}
	}
}

// rankings compares right and wrong rankings.
func (f *soundFinding) rankings(l rankingLoss, n int, rng *rand.Rand, share float64) {
	right, wrong, lambda := drawRight(n, rng), drawWrong(n, rng), make([]float64, n)
	value := l.value(right, lambda)
	f.right = max(f.right, value)
	if value >= l.value(wrong, nil) {
		f.inverted += share
	}
	sum := 0.0
	for i := range n - 1 { // the gap below document i widens as those down to it rise together
		if sum += lambda[i]; sum < -1e-12 {
			f.widened += share / float64(n-1)
		}
	}
	other := slices.Clone(right)
	for {
		rng.Shuffle(n, func(a, b int) { other[a], other[b] = other[b], other[a] })
		if !slices.Equal(other, right) {
			break
		}
	}
	if l.value(other, nil) < value {
		f.misplaced += share
	}
}

// shape looks for what a convex function has not.
func (f *soundFinding) shape(l rankingLoss, n int, rng *rand.Rand, share float64) {
	a, b, middle := drawScores(n, rng), drawScores(n, rng), make([]float64, n)
	for i := range middle {
		middle[i] = float64((a[i] + b[i]) / 2)
	}
	ends := float64((l.value(a, nil) + l.value(b, nil)) / 2)
	if l.value(middle, nil) > ends+float64(bentZero*max(1, ends)) {
		f.bent += share
	}
	f.eigenvalue = min(f.eigenvalue, loss.DiagnoseField(l.query, a, 1e-5).SmallestEigenvalue)
}

// looks takes the largest change of the loss on a short step across a point, and the
// largest difference of its slopes on both sides.
func (f *soundFinding) looks(l rankingLoss, n int, rng *rand.Rand) {
	points := [len(soundPlaces)][]float64{drawScores(n, rng), slices.Repeat([]float64{1 + rng.Float64()}, n), make([]float64, n)}
	for at, x := range points {
		ahead, behind, direction := slices.Clone(x), slices.Clone(x), make([]float64, n)
		gaussian(direction, rng)
		step := soundStep
		if size := norm(x); size > 0 {
			step *= size
		}
		for i, d := range direction {
			ahead[i] += step * d / norm(direction)
			behind[i] -= step * d / norm(direction)
		}
		up, here, down := l.value(ahead, nil), l.value(x, nil), l.value(behind, nil)
		f.jump[at] = max(f.jump[at], math.Abs(up-here), math.Abs(here-down))
		f.kink[at] = max(f.kink[at], math.Abs(up-float64(2*here)+down)/step)
	}
}

func norm(x []float64) float64 {
	squares := 0.0
	for _, v := range x {
		squares += float64(v * v)
	}
	return math.Sqrt(squares)
}

// leastWrong returns the infimum of the loss over the rankings that are not right. The
// losses fall towards the right order, so it is approached where two neighbours tie.
func leastWrong(ctx context.Context, l rankingLoss, n int) (float64, error) {
	least := math.Inf(1)
	for i := range n - 1 {
		t := tiedLoss{l, i, make([]float64, n), make([]float64, n)}
		start := make([]float64, n-1)
		for k := range start {
			start[k] = float64(n-k) / float64(n)
		}
		best, err := optimize.LBFGS{FunctionTolerance: 1e-12}.Minimize(ctx, t, start)
		if err != nil {
			return 0, err
		}
		least = min(least, best.F)
	}
	return least, nil
}

// tiedLoss is a loss as a function of scores of which documents i and i+1 share one.
type tiedLoss struct {
	rankingLoss
	tied           int
	scores, lambda []float64
}

func (t tiedLoss) Dim() int { return len(t.scores) - 1 }

func (t tiedLoss) Eval(x, grad []float64) float64 {
	for i := range t.scores {
		t.scores[i] = x[t.at(i)]
	}
	value := t.value(t.scores, t.lambda)
	clear(grad)
	for i, v := range t.lambda {
		grad[t.at(i)] -= v
	}
	return value
}

// at is the place in x of a document's score.
func (t tiedLoss) at(document int) int {
	if document > t.tied {
		return document - 1
	}
	return document
}
