package papers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/tune"
)

// progress is the accuracy of w on a fold's test queries while it is trained, and that of systems
// that prove nothing: MAP, query by query.
type progress struct {
	precision measure.Measure
	fold      tune.Fold
	at        [][]float64 // by iteration
	trivial   map[string][]float64
}

func newProgress(ctx context.Context, fold tune.Fold) (*progress, error) {
	m, err := measure.Parse("map", letor3, measure.Options{})
	if err != nil {
		return nil, err
	}
	p := &progress{precision: m, fold: fold, trivial: make(map[string][]float64)}
	features, err := bestFeatures(ctx, []tune.Fold{fold})
	if err != nil {
		return nil, err
	}
	scores, err := features[0].Score(fold.Test)
	if err != nil {
		return nil, err
	}
	if p.trivial["the best single feature"], err = p.measured(scores); err != nil {
		return nil, err
	}
	p.trivial["the order of the file"], err = p.measured(make([]float64, fold.Test.Docs()))
	return p, err
}

// measured returns MAP's values on the test queries.
func (p *progress) measured(scores []float64) ([]float64, error) {
	r, err := measure.Evaluate(p.fold.Test, scores, []measure.Measure{p.precision}, measure.TiesInput)
	if err != nil {
		return nil, err
	}
	return slices.Clone(r.PerQuery(p.precision)), nil
}

// see adds the accuracy of w.
func (p *progress) see(w []float64) error {
	scores := make([]float64, p.fold.Test.Docs())
	linearScores(scores, p.fold.Test, w)
	each, err := p.measured(scores)
	p.at = append(p.at, each)
	return err
}

// early is the number of iterations that the paper's Figure 8 averages over.
const early = 10

// quick says whether w is good after few iterations: significantly better than every system that
// proves nothing, and alike to w in the end. A last w that is significantly better fails it.
func (p *progress) quick(data string, r *Report) {
	last := len(p.at) - 1
	then := min(early, last)
	text := []string{fmt.Sprintf("%s, %s: MAP %.4f after %d iterations and %.4f where L-BFGS ended, after %d", data, p.fold.Name, mean(p.at[then]), then, mean(p.at[last]), last)}
	verdict := ClaimHeld
	names := []string{"the best single feature", "the order of the file"}
	for _, name := range names {
		d, err := stats.Between([][]float64{p.at[then]}, [][]float64{p.trivial[name]})
		if err != nil || !(d.Mean > 0 && d.P < stats.Alpha/float64(len(names))) {
			verdict = ClaimUndecided
		}
		text = append(text, fmt.Sprintf("%s %.4f", name, mean(p.trivial[name])))
	}
	rest, err := stats.Between([][]float64{p.at[last]}, [][]float64{p.at[then]})
	switch {
	case err != nil || math.IsNaN(rest.Mean):
		verdict = ClaimUndecided
	case rest.Mean > 0 && rest.P < stats.Alpha:
		verdict = ClaimFailed
	case !(rest.Interval.Low > -alikeMargin && rest.Interval.High < alikeMargin):
		verdict = ClaimUndecided
	}
	r.found(verdict, "w quickly evolves to a reasonably good model (5.3.4)", "%s; alike are what lies within ±%v", strings.Join(text, "; "), alikeMargin)
}

// trumps says whether rankings of small Δ have large w·φ: within the queries, by a sign test over
// their rank correlations.
func trumps(data string, rankings []watched, r *Report) {
	byQuery := make(map[string][2][]float64)
	for _, w := range rankings {
		x := byQuery[w.query]
		byQuery[w.query] = [2][]float64{append(x[0], w.delta), append(x[1], mean(w.dot))}
	}
	negative, n := 0, 0
	for _, x := range byQuery {
		if c := rankCorrelation(x[0], x[1]); c != 0 && !math.IsNaN(c) {
			n++
			if c < 0 {
				negative++
			}
		}
	}
	verdict := ClaimUndecided
	if signTest(negative, n) < stats.Alpha {
		verdict = holdsIf(2*negative > n)
	}
	r.found(verdict, "for any y with small Δ(y), w·φ(y) is large (5.3.4)", "%s: their rank correlation is negative in %d of %d queries", data, negative, n)
}

// signTest is the two-sided p value of k of n signs.
func signTest(k, n int) float64 {
	tail, choose := 0.0, 1.0
	for i := 0; i <= min(k, n-k); i++ {
		tail += choose
		choose *= float64(n-i) / float64(i+1)
	}
	return min(1, 2*tail/math.Ldexp(1, n))
}
