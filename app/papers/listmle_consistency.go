package papers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/optimize"
)

func consistencyExperiment() Experiment {
	return Experiment{
		Name:   "listmle-consistency",
		Paper:  "ListMLE",
		Title:  "Consistency of likelihood, cross entropy and cosine with the 0–1 loss of whole permutations",
		Shows:  "whether the minimum of the expected loss ranks like the most probable permutation, where the theorem says so and where it does not",
		Data:   "none but random laws of permutations of 3 to 5 documents",
		Scales: "the number of laws",
		Run: consistency{
			documents: []int{3, 4, 5}, laws: 200, curves: 4,
			shares:  []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1},
			samples: []int{10, 30, 100, 300, 1000, 3000, 10000, 30000},
		}.run,
	}
}

// consistency is the experiment with its sizes.
type consistency struct {
	documents []int
	laws      int // drawn of each family
	curves    int // documents of the two curves
	shares    []float64
	samples   []int
}

// agreement is how often the losses' minima rank like the most probable order, over some
// laws.
type agreement struct {
	family    string
	n, laws   int
	preserved int       // laws that are order preserving with respect to their most probable order
	violated  float64   // mean share of pairs that are not
	right     []int     // by loss, laws
	kept      []int     // by loss, laws that are order preserving
	excess    []float64 // by loss, mean of the expected 0–1 loss above the least
	frequent  int       // laws whose most frequent order in the sample is right, for the learning curve
}

// expectedLoss is the mean of a surrogate over the orders of a law, a function of the
// scores. It is not safe for concurrent use.
type expectedLoss struct {
	losses []rankingLoss // by order
	p      []float64
	lambda []float64
}

func newExpectedLoss(of surrogate, s *permutationSpace) (*expectedLoss, error) {
	e := &expectedLoss{lambda: make([]float64, s.n)}
	for _, order := range s.orders {
		l, err := of.onOrder(order)
		if err != nil {
			return nil, err
		}
		e.losses = append(e.losses, l)
	}
	return e, nil
}

func (e *expectedLoss) Dim() int { return len(e.lambda) }

func (e *expectedLoss) Eval(x, grad []float64) float64 {
	clear(grad)
	value := 0.0
	for i, p := range e.p {
		if p == 0 {
			continue
		}
		value += float64(p * e.losses[i].value(x, e.lambda))
		for k, v := range e.lambda {
			grad[k] -= float64(p * v)
		}
	}
	return value
}

// minimum returns scores at which the expected loss under a law is least.
func (e *expectedLoss) minimum(ctx context.Context, l permutationLaw) ([]float64, error) {
	e.p = l.p
	start := make([]float64, l.space.n)
	gaussian(start, random.Stream(1, "consistency", "start"))
	best, err := optimize.LBFGS{GradientTolerance: 1e-9, FunctionTolerance: 1e-14}.Minimize(ctx, e, start)
	if err != nil {
		return nil, err
	}
	return best.X, nil
}

// problem is a law to be ranked for, by the minimum under another, which the loss sees.
type problem struct{ law, seen permutationLaw }

func (c consistency) run(ctx context.Context, o Options) (*Report, error) {
	c.laws = o.scaled(c.laws)
	all := surrogates()
	var table []agreement
	for _, f := range lawFamilies() {
		for _, n := range c.documents {
			a, err := c.agree(ctx, o, fmt.Sprintf("%s, %d documents", f.name, n), all, n, func(s *permutationSpace, k int) problem {
				law := f.draw(s, random.Stream(o.Seed, "consistency "+f.name, fmt.Sprintf("%d, %d", n, k)))
				return problem{law, law}
			})
			if err != nil {
				return nil, err
			}
			a.family = f.name
			table = append(table, a)
		}
	}
	few := slices.DeleteFunc(slices.Clone(all), func(s surrogate) bool { return !slices.Contains(curvedLosses, s.name) })
	mixed, err := c.mixtures(ctx, o, few)
	if err != nil {
		return nil, err
	}
	learned, err := c.learning(ctx, o, few)
	if err != nil {
		return nil, err
	}
	return c.report(ctx, o, table, mixed, learned)
}

// curvedLosses are those of the two curves.
var curvedLosses = []string{"ListMLE", "ListNet-l", "ListNet-exp", "RankCosine-l", "RankCosine-exp"}

// mixtures mixes order-preserving laws with others.
func (c consistency) mixtures(ctx context.Context, o Options, few []surrogate) ([]agreement, error) {
	var all []agreement
	for _, share := range c.shares {
		a, err := c.agree(ctx, o, fmt.Sprintf("mixtures, share %g", share), few, c.curves, func(s *permutationSpace, k int) problem {
			rng := random.Stream(o.Seed, "consistency mixture", strconv.Itoa(k))
			law := drawPreserving(s, rng).mixed(drawAny(s, rng), share)
			return problem{law, law}
		})
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// learning minimises on samples of order-preserving laws.
func (c consistency) learning(ctx context.Context, o Options, few []surrogate) ([]agreement, error) {
	var all []agreement
	for _, draws := range c.samples {
		a, err := c.agree(ctx, o, fmt.Sprintf("samples of %d", draws), few, c.curves, func(s *permutationSpace, k int) problem {
			law := drawPreserving(s, random.Stream(o.Seed, "consistency law", strconv.Itoa(k)))
			return problem{law, law.sampled(draws, random.Stream(o.Seed, "consistency sample", fmt.Sprintf("%d, %d", k, draws)))}
		})
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// agree minimises the expected losses for a number of laws.
func (c consistency) agree(ctx context.Context, o Options, stage string, losses []surrogate, n int, draw func(s *permutationSpace, k int) problem) (agreement, error) {
	space := newPermutationSpace(n)
	found, errs, ended := make([]agreement, c.laws), make([]error, c.laws), o.counter(stage, c.laws)
	workers := parallel.Workers(o.Jobs, c.laws)
	expected := make([][]*expectedLoss, workers)
	for w := range expected {
		for _, l := range losses {
			e, err := newExpectedLoss(l, space)
			if err != nil {
				return agreement{}, err
			}
			expected[w] = append(expected[w], e)
		}
	}
	parallel.For(c.laws, workers, func(w, k int) {
		found[k], errs[k] = agreeOn(ctx, draw(space, k), expected[w])
		ended()
	})
	if err := cmp.Or(errs...); err != nil {
		return agreement{}, err
	}
	sum := agreement{n: n, laws: c.laws, right: make([]int, len(losses)), kept: make([]int, len(losses)), excess: make([]float64, len(losses))}
	for i := range found {
		sum.preserved += found[i].preserved
		sum.violated += found[i].violated / float64(c.laws)
		sum.frequent += found[i].frequent
		for k := range losses {
			sum.right[k] += found[i].right[k]
			sum.kept[k] += found[i].right[k] * found[i].preserved
			sum.excess[k] += found[i].excess[k] / float64(c.laws)
		}
	}
	return sum, nil
}

// agreeOn minimises the expected losses for one law.
func agreeOn(ctx context.Context, p problem, losses []*expectedLoss) (agreement, error) {
	best, highest := p.law.best()
	a := agreement{violated: p.law.violated(best)}
	if a.violated == 0 {
		a.preserved = 1
	}
	if seen, _ := p.seen.best(); slices.Equal(seen, best) {
		a.frequent = 1
	}
	for _, e := range losses {
		scores, err := e.minimum(ctx, p.seen)
		if err != nil {
			return a, err
		}
		right := 0
		if strictlyRanked(scores, best) {
			right = 1
		}
		a.right = append(a.right, right)
		a.excess = append(a.excess, highest-p.law.of(byScore(scores)))
	}
	return a, nil
}

// byScore ranks documents by their scores, the highest first.
func byScore(scores []float64) []int {
	order := identity(len(scores))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}
