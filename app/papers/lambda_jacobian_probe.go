package papers

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
)

// lambdaFinding is what was seen of a λ function, the worst over all lists.
type lambdaFinding struct {
	field lambdaField

	// Inside a cell, that is where the order of the documents does not change.
	asymmetry  float64 // of the Jacobian J of −λ, relative to its size
	eigenvalue float64 // the smallest of (J + Jᵀ)/2
	net        float64 // |Σλ|

	// |∮ λ·ds| by the circle's radius, around points in a cell, where two
	// documents tie, and where three do.
	work [3]float64

	triple   float64 // ∮ λ·ds around the tie of three documents graded 0, 1 and 2
	backward float64 // share of pairs of points between which −λ is not monotone

	pulls  []float64 // by such pair the α that ends it, see jacobian.backward
	across []float64 // by lambdaGaps, the α that ends the worst step over a tie, 0 if none goes backward
}

// The places of lambdaFinding.work, less 1 the numbers of tied documents.
const (
	inCell = iota
	atPair
	atTriple
)

// Up to these sizes a number is 0: rounding of differences and, around circles,
// the jumps of a field that the midpoint rule meets too early or too late.
const (
	jacobianStep     = 1e-5
	jacobianZero     = 1e-6
	netZero          = 1e-12
	circulationZero  = 2e-3
	circulationRound = 0.1 // radius of the small circles
)

func (f *lambdaFinding) symmetric() bool { return f.asymmetry < jacobianZero }
func (f *lambdaFinding) positive() bool  { return f.eigenvalue > -jacobianZero }
func (f *lambdaFinding) balanced() bool  { return f.net < netZero }

// closedInside and closedAcross report whether no circle showed work, within a cell
// and around ties.
func (f *lambdaFinding) closedInside() bool { return f.work[inCell] < circulationZero }
func (f *lambdaFinding) closedAcross() bool {
	return max(f.work[atPair], f.work[atTriple], math.Abs(f.triple)) < circulationZero
}

// potential says where λ is the gradient of a cost.
func (f *lambdaFinding) potential() string {
	switch {
	case !f.symmetric() || !f.closedInside():
		return "no"
	case f.closedAcross():
		return "yes"
	}
	return "in a cell"
}

// convex says where that cost is convex.
func (f *lambdaFinding) convex() string {
	switch where := f.potential(); {
	case where == "no" || !f.positive():
		return "no"
	case where == "yes" && f.backward > 0:
		return "in a cell"
	default:
		return where
	}
}

// look measures a field on the lists of a seed.
func (j jacobian) look(f lambdaField, seed uint64) (lambdaFinding, error) {
	var err error
	finding := lambdaFinding{field: f, eigenvalue: math.Inf(1)}
	for i := range j.lists {
		rng := random.Stream(seed, "lambda jacobian", strconv.Itoa(i))
		l := drawList(rng)
		b, err := f.loss.Bind(l.grades, rng)
		if err != nil {
			return finding, err
		}
		d := loss.DiagnoseField(b, l.scores, jacobianStep)
		finding.asymmetry = max(finding.asymmetry, d.Asymmetry)
		finding.eigenvalue = min(finding.eigenvalue, d.SmallestEigenvalue)
		finding.net = max(finding.net, math.Abs(d.LambdaSum))
		for tied := range finding.work {
			c := loss.RandomCircle(l.tie(tied+1, rng), circulationRound, rng)
			finding.work[tied] = max(finding.work[tied], math.Abs(loss.Circulation(b, c, j.steps))/c.Radius)
		}
		finding.pulls = append(finding.pulls, j.backward(b, len(l.scores), rng)...)
	}
	finding.backward = float64(len(finding.pulls)) / float64(j.lists*j.pairs)
	if finding.across, err = j.acrossTies(f, seed); err != nil {
		return finding, err
	}
	b, err := f.loss.Bind([]float64{0, 1, 2}, random.Stream(seed, "lambda jacobian", "triple"))
	if err != nil {
		return finding, err
	}
	finding.triple = loss.Circulation(b, tripleTie(1), j.steps)
	return finding, nil
}

// tripleTie is the circle on which three documents come by all their orders, as
// the scores of the first two go around the third's.
func tripleTie(radius float64) loss.Circle {
	return loss.TieCircle(make([]float64, 3), [3]int{0, 1, 2}, radius)
}

// backward draws pairs of points x and y, near each other and far apart, and returns for
// each between which −λ is not monotone, (λ(x) − λ(y))·(x − y) > 0, that number over |x − y|²:
// the α with which λ − αs would be. The gradient of a convex cost has no such pair.
func (j jacobian) backward(b loss.QueryLoss, n int, rng *rand.Rand) (pulls []float64) {
	x, y := make([]float64, n), make([]float64, n)
	for k := range j.pairs {
		apart := elementary.Exp2(float64(1 - k%5))
		for i := range x {
			x[i] = 2 * random.Normal(rng)
			y[i] = x[i] + float64(apart*random.Normal(rng))
		}
		if along, square := alongStep(b, x, y); along > netZero {
			pulls = append(pulls, along/square)
		}
	}
	return pulls
}

// alongStep returns (λ(x) − λ(y))·(x − y) and |x − y|².
func alongStep(b loss.QueryLoss, x, y []float64) (along, square float64) {
	at, there := make([]float64, len(x)), make([]float64, len(x))
	var scratch loss.Scratch
	b.Eval(x, at, &scratch)
	b.Eval(y, there, &scratch)
	for i := range x {
		along += float64((at[i] - there[i]) * (x[i] - y[i]))
		square += float64((x[i] - y[i]) * (x[i] - y[i]))
	}
	return along, square
}

// gradedList is a list of documents. Scores lie at least listGap apart.
type gradedList struct {
	grades []float64
	scores []float64
	order  []int // the documents by descending score
}

const (
	listGap = 0.3  // leaves room for small circles
	topGap  = 1.01 // small circles meet the rules' distance 1, steps of jacobianStep do not
)

// drawList draws eight documents of four grades. Of the first three the first or
// the last is relevant, and those two are so far apart that rules which look as far
// as 1 change their minds near by.
func drawList(rng *rand.Rand) gradedList {
	ranked := []float64{0, 0, 1, 0, 1, 2, 2, 3}
	if rng.IntN(2) == 0 {
		ranked[0], ranked[2] = 1, 0
	}
	rng.Shuffle(len(ranked)-3, func(i, k int) { ranked[3+i], ranked[3+k] = ranked[3+k], ranked[3+i] })
	n := len(ranked)
	l := gradedList{make([]float64, n), make([]float64, n), rng.Perm(n)}
	first := listGap + float64((topGap-2*listGap)*rng.Float64())
	at := 0.5 * listGap * float64(n)
	for rank, d := range l.order {
		l.grades[d], l.scores[d] = ranked[rank], at
		switch rank {
		case 0:
			at -= first
		case 1:
			at -= topGap - first
		default:
			at -= listGap + float64(0.3*rng.Float64())
		}
	}
	return l
}

// tie returns the scores with as many neighbours moved to their mean, of which at
// least two have different grades; for one they are as they were.
func (l *gradedList) tie(count int, rng *rand.Rand) []float64 {
	scores := slices.Clone(l.scores)
	if count == 1 {
		return scores
	}
	var starts []int
	for from := range len(l.order) - count + 1 {
		if tied := l.order[from : from+count]; !l.sameGrade(tied) {
			starts = append(starts, from)
		}
	}
	from := starts[rng.IntN(len(starts))]
	tied := l.order[from : from+count]
	sum := 0.0
	for _, d := range tied {
		sum += l.scores[d]
	}
	for _, d := range tied {
		scores[d] = sum / float64(count)
	}
	return scores
}

func (l *gradedList) sameGrade(docs []int) bool {
	return !slices.ContainsFunc(docs, func(d int) bool { return l.grades[d] != l.grades[docs[0]] })
}
