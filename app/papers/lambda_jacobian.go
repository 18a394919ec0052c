package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
)

func jacobianExperiment() Experiment {
	return Experiment{
		Name:      "lambda-jacobian",
		Paper:     "LambdaRank",
		Title:     "LambdaRank, section 4: which λ functions have a potential, and which of those are convex",
		Shows:     "that λ functions scaled by a measure are gradients inside each order of the documents, but of no cost across orders",
		Data:      "none but a few random lists",
		Untrained: "λ functions are looked at",
		Run:       jacobian{lists: 12, steps: 4000, pairs: 400}.run,
	}
}

// jacobian examines λ functions in the space of the scores of a few lists.
type jacobian struct {
	lists int // number of random lists of documents
	steps int // number of steps of the integral around a circle
	pairs int // number of random pairs of points per list, for testing monotonicity
}

// lambdaField is a loss to examine.
type lambdaField struct {
	name    string // name of the λ function
	measure string // measure that scales λ; "" for none
	loss    loss.Loss
}

func (f *lambdaField) title() string {
	if f.measure == "" {
		return f.name
	}
	return f.name + " × Δ" + title(f.measure)
}

// lambdaMeasures are the measures that scale the forces.
var lambdaMeasures = []string{"ndcg", "map", "mrr", "err"}

// lambdaFields returns RankNet, and every λ function with every measure. The λ function
// "difference" is included twice: with steps of the mean gap between scores, and with steps of
// fixed length.
func lambdaFields() ([]lambdaField, error) {
	fields := []lambdaField{{name: "RankNet", loss: loss.RankNet{}}}
	for _, name := range lambdaMeasures {
		m, err := measure.Parse(name, standard, measure.Options{})
		if err != nil {
			return nil, err
		}
		for _, info := range loss.Lambdas() {
			kind, err := loss.ParseLambda(info.Name)
			if err != nil {
				return nil, err
			}
			fields = append(fields, lambdaField{info.Name, name, loss.LambdaRank{Measure: m, Kind: kind}})
			if kind == loss.LambdaDifference {
				fields = append(fields, lambdaField{info.Name + ", ε = 1", name, loss.LambdaRank{Measure: m, Kind: kind, Margin: 1}})
			}
		}
	}
	return fields, nil
}

func (j jacobian) run(ctx context.Context, o Options) (*Report, error) {
	fields, err := lambdaFields()
	if err != nil {
		return nil, err
	}
	findings := make([]lambdaFinding, len(fields))
	err = o.sideBySide(ctx, "λ functions", len(fields), func(_, i int) error {
		var err error
		if findings[i], err = j.look(fields[i], o.Seed); err != nil {
			return fmt.Errorf("%s: %w", fields[i].title(), err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return j.report(ctx, o, findings)
}

// lambdaFinding contains the observations of a λ function. Each value is the worst over all lists.
type lambdaFinding struct {
	field lambdaField

	// These are measured inside a cell, where the order of documents does not change.
	asymmetry  float64 // asymmetry of the Jacobian J of −λ, relative to its size
	eigenvalue float64 // smallest eigenvalue of (J + Jᵀ)/2
	net        float64 // |Σλ|

	// work is the largest |∮ λ·ds| divided by the circle's radius: around points in a cell, around ties of
	// two documents, and around ties of three documents.
	work [3]float64

	triple   float64 // ∮ λ·ds around the tie of three documents graded 0, 1 and 2
	backward float64 // share of pairs of points between which −λ is not monotone

	pulls  []float64 // for each such pair the α that makes it monotone; see jacobian.backward
	across []float64 // for each of lambdaGaps the α that makes the worst step over a tie monotone; 0 if no step goes backward
}

// The indices of lambdaFinding.work. An index is one less than the number of tied documents.
const (
	inCell = iota
	atPair
	atTriple
)

// Absolute values below these limits count as 0. They allow for rounding and, around circles, for
// jumps that the midpoint rule places inexactly.
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

// closedInside and closedAcross report whether no circle within a cell, or around ties, shows work.
func (f *lambdaFinding) closedInside() bool { return f.work[inCell] < circulationZero }
func (f *lambdaFinding) closedAcross() bool {
	return max(f.work[atPair], f.work[atTriple], math.Abs(f.triple)) < circulationZero
}

// potential returns where λ is the gradient of a cost: "yes", "in a cell" or "no".
func (f *lambdaFinding) potential() string {
	switch {
	case !f.symmetric() || !f.closedInside():
		return "no"
	case f.closedAcross():
		return "yes"
	}
	return "in a cell"
}

// convex returns where this cost is convex: "yes", "in a cell" or "no".
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

// look examines a λ function on the random lists of a seed.
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

// tripleTie returns a circle around a tie of three documents. The scores of the first two documents
// rotate around the third's, so that all orders occur.
func tripleTie(radius float64) loss.Circle {
	return loss.TieCircle(make([]float64, 3), [3]int{0, 1, 2}, radius)
}

// backward draws pairs of points x and y, near each other and far apart. −λ is not monotone if
// (λ(x) − λ(y))·(x − y) > 0. For each such pair it returns this product divided by |x − y|². The
// quotient is the α for which λ − αs is monotone. The gradient of a convex cost has no such pair.
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

// alongStep returns the product (λ(x) − λ(y))·(x − y) and the square |x − y|².
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

// gradedList is a list of documents. Their scores differ by at least listGap.
type gradedList struct {
	grades []float64
	scores []float64
	order  []int // indices of documents by descending score
}

const (
	listGap = 0.3  // leaves space for small circles
	topGap  = 1.01 // small circles cross the distance 1 at which rules change; steps of jacobianStep do not
)

// drawList draws eight documents of four grades. Of the first three, either the first or the third
// is relevant. The scores of these two documents differ by slightly more than 1, the distance at
// which some rules change.
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

// tie returns the scores after moving count neighbors to their mean. At least two of them have
// different grades. If count is 1, it returns the scores unchanged.
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

// The regularization of the paper's section 4. If the Jacobian J of −λ is symmetric but not
// positive definite, the Jacobian of −(λ − αs) is positive definite for a large enough α.

var (
	lambdaAlphas = []float64{0, 0.01, 0.1, 1}              // values of α for counting backward steps
	lambdaGaps   = []float64{1e-1, 1e-2, 1e-3}             // lengths of steps over a tie
	alphaShown   = map[string]bool{"": true, "ndcg": true} // measures in the table
)

// acrossTies moves two neighbors of each list over their tie, by steps of several lengths. For each
// length it returns the largest α that a list needs for no step to go backward.
func (j jacobian) acrossTies(f lambdaField, seed uint64) ([]float64, error) {
	most := make([]float64, len(lambdaGaps))
	for i := range j.lists {
		rng := random.Stream(seed, "lambda jacobian alpha", strconv.Itoa(i))
		l := drawList(rng)
		b, err := f.loss.Bind(l.grades, rng)
		if err != nil {
			return nil, err
		}
		x := l.tie(2, rng)
		first, second := tiedPair(x)
		y := append([]float64(nil), x...)
		middle := x[first]
		for k, gap := range lambdaGaps {
			x[first], x[second] = middle+float64(gap/2), middle-float64(gap/2)
			y[first], y[second] = x[second], x[first]
			if along, square := alongStep(b, x, y); along > netZero {
				most[k] = max(most[k], along/square)
			}
		}
	}
	return most, nil
}

// tiedPair returns the indices of two documents with equal scores.
func tiedPair(scores []float64) (first, second int) {
	for i, s := range scores {
		for k := range i {
			if scores[k] == s {
				return k, i
			}
		}
	}
	panic("paper: no two documents tie")
}

// leastAlpha returns the smallest α for which J is positive semidefinite in every examined cell.
func (f *lambdaFinding) leastAlpha() float64 {
	if f.positive() {
		return 0
	}
	return -f.eigenvalue
}

// backwardUnder returns the share of steps that go backward under λ − αs.
func (f *lambdaFinding) backwardUnder(alpha float64) float64 {
	if len(f.pulls) == 0 {
		return 0
	}
	left := 0
	for _, pull := range f.pulls {
		if pull > alpha {
			left++
		}
	}
	return f.backward * (float64(left) / float64(len(f.pulls)))
}

// alphaTable returns a table with the measures in alphaShown, and a sheet with all measures.
func alphaTable(findings []lambdaFinding) (Table, Sheet) {
	s := Sheet{Name: "alpha", Columns: []string{"lambda", "measure", "smallest_eigenvalue", "least_alpha_cell"}}
	t := Table{
		Title:   "λ − αs: the least α for J ≥ 0 in a cell, steps backward by α, and the least α for steps over a tie",
		Columns: []string{"λ function", "scaled by", "least α in a cell"},
		Left:    2,
	}
	for _, a := range lambdaAlphas {
		t.Columns = append(t.Columns, fmt.Sprintf("backward, α = %g", a))
		s.Columns = append(s.Columns, fmt.Sprintf("backward_alpha_%g", a))
	}
	for _, gap := range lambdaGaps {
		t.Columns = append(t.Columns, fmt.Sprintf("over a tie, step %g", gap))
		s.Columns = append(s.Columns, fmt.Sprintf("least_alpha_step_%g", gap))
	}
	for _, f := range findings {
		line, cells := []string{f.field.name, f.field.scaledBy(), zeroBelow(f.leastAlpha(), jacobianZero)}, []any{f.field.name, f.field.measure, f.eigenvalue, f.leastAlpha()}
		for _, a := range lambdaAlphas {
			share := f.backwardUnder(a)
			line, cells = append(line, fmt.Sprintf("%.2f %%", 100*share)), append(cells, share)
		}
		for _, least := range f.across {
			line, cells = append(line, fmt.Sprintf("%.3g", least)), append(cells, least)
		}
		if s.Rows = append(s.Rows, cells); alphaShown[f.field.measure] {
			t.Rows = append(t.Rows, line)
		}
	}
	return t, s
}

// alphaNote compares the result with the paper's statement.
func alphaNote(r *Report, findings []lambdaFinding) {
	symmetric, atOnce, jump := 0, 0, 0
	worst := 0.0
	for i := range findings {
		f := &findings[i]
		if f.symmetric() {
			symmetric++
			if f.leastAlpha() == 0 {
				atOnce++
			}
		} else {
			worst = max(worst, f.leastAlpha())
		}
		if n := len(f.across); f.across[n-1] > 5*f.across[n-2] {
			jump++
		}
	}
	verdict := holdsIf(symmetric > 0 && atOnce == symmetric)
	if verdict == ClaimHeld && jump > 0 {
		verdict = ClaimMixed
	}
	r.found(verdict, "diagonal terms α_j s_j make a symmetric Jacobian positive definite (section 4)",
		"inside an order of the documents: any α > 0 for %d of %d symmetric ones; across ties of %d of %d λ functions no α", atOnce, symmetric, jump, len(findings)).Rule = fmt.Sprintf("eigenvalues above −%g; across ties an α that grows less than fivefold as the step gets ten times shorter", jacobianZero)
	r.note("The paper: of a symmetric J positive definiteness can be imposed by diagonal terms, λ_j ↦ λ_j + α_j s_j (here λ − αs, as λ is minus the gradient). J is symmetric in a cell for %d of %d λ functions, and for %d of these positive semidefinite with α = 0: the zero eigenvalue is that of a constant added to all scores, and any α > 0 makes it positive. Of the others, which are no gradient, J + Jᵀ becomes so from α = %.4f at most.",
		symmetric, len(findings), atOnce, worst)
	r.note("Convex everywhere no α makes them: for %d of %d, at one tie of two neighbours of each list, the α that a step over the tie needs grows tenfold as the step gets ten times shorter, because λ jumps there by an amount that does not depend on the step. And with α > 0 forces no longer sum to zero, which the same section asks: Σλ = −αΣs.",
		jump, len(findings))
}
