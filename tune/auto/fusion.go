package auto

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/tune"
)

// mostFused is the largest number of trials from which fusions are chosen. mostOfFamily is the largest number of them
// that are of the same family.
const (
	mostFused    = 16
	mostOfFamily = 4
)

// pool has the validation queries of all parts. The scores of a trial for the queries of a part come from the trial's
// model for this part, which was trained on the other parts.
type pool struct {
	measure measure.Measure
	queries []pooled
	docs    int
	fixed   bool  // votes are scores divided by one number for all queries, instead of scores standardised within each query
	outer   []int // for each query, its outer part: the part of the nested validation in which it is held out from the choice of a fusion
}

type pooled struct {
	grades []float64
	weight float64
	start  int // index of the first document's score among the scores of all documents
}

// outerParts is the number of outer parts. Nested validation chooses weights without the queries of one outer part and
// measures the fusion on these queries, for each outer part in turn.
const outerParts = 5

func newPool(c *tune.Config, fixed bool) *pool {
	p := &pool{measure: c.Select, fixed: fixed}
	for k := range c.Folds {
		d := c.Folds[k].Valid
		for i := range d.Queries {
			q := &d.Queries[i]
			p.queries = append(p.queries, pooled{q.Grades, q.Weight(), p.docs + q.Start})
		}
		p.docs += d.Docs()
	}
	p.outer = make([]int, len(p.queries))
	for place, i := range random.Stream(c.Seed, "outer parts", "").Perm(len(p.queries)) {
		p.outer[i] = place % min(outerParts, len(p.queries))
	}
	return p
}

func (p *pool) all() []int {
	all := make([]int, len(p.queries))
	for i := range all {
		all[i] = i
	}
	return all
}

// inner returns the queries in an outer part if in is set, and otherwise all other queries. With a single outer part,
// it returns all queries.
func (p *pool) inner(part int, in bool) (list []int) {
	if p.parts() == 1 {
		return p.all()
	}
	for i, o := range p.outer {
		if (o == part) == in {
			list = append(list, i)
		}
	}
	return list
}

func (q *pooled) of(scores []float64) []float64 { return scores[q.start : q.start+len(q.grades)] }

// Rule is the rule of fusions: the mean of the members' scores, each standardised over the query's documents.
func Rule() fuse.Rule { return fuse.Rule{Kind: fuse.CombSUM, Scale: fuse.ZScore} }

// votes returns the vote of each document, given its score. A fusion is the weighted sum of the votes of its trials.
// The vote is the score standardised within the query or, if p.fixed is set, divided by the standard deviation of all
// scores.
func (p *pool) votes(scores []float64) []float64 {
	votes := slices.Clone(scores)
	if p.fixed {
		deviation := deviationOf(scores)
		for i := range votes {
			votes[i] /= deviation
		}
		return votes
	}
	for i := range p.queries {
		Rule().Votes([][]float64{p.queries[i].of(votes)})
	}
	return votes
}

// deviationOf returns the standard deviation of scores, or 1 if it is 0.
func deviationOf(scores []float64) float64 {
	mean, square := 0.0, 0.0
	for _, s := range scores {
		mean += s / float64(len(scores))
	}
	for _, s := range scores {
		square += float64((s - mean) * (s - mean))
	}
	if square > 0 {
		return math.Sqrt(square / float64(len(scores)))
	}
	return 1
}

// values returns the measure of each query, where tied documents contribute their expected value. The value is NaN if
// the measure is not defined for the query or the query has the weight 0.
func (p *pool) values(scores []float64) []float64 { return p.valuesOf(scores, p.all()) }

// valuesOf returns the result of values for the given queries, and NaN for all other queries.
func (p *pool) valuesOf(scores []float64, queries []int) []float64 {
	values := make([]float64, len(p.queries))
	for i := range values {
		values[i] = math.NaN()
	}
	const chunk = 64
	rankers := make([]measure.Ranker, parallel.Workers(0, len(queries)/chunk+1))
	for i := range rankers {
		rankers[i].Ties = measure.TiesAverage
	}
	parallel.For((len(queries)+chunk-1)/chunk, len(rankers), func(worker, c int) {
		for _, i := range queries[c*chunk : min(len(queries), (c+1)*chunk)] {
			if q := &p.queries[i]; q.weight > 0 {
				if v, ok := rankers[worker].Value(p.measure, q.grades, q.of(scores)); ok {
					values[i] = v
				}
			}
		}
	})
	return values
}

// mean returns the weighted mean of the values of the given queries, ignoring NaN.
func (p *pool) mean(values []float64, queries []int) float64 {
	sum, weight := 0.0, 0.0
	for _, i := range queries {
		if v := values[i]; v == v {
			sum += float64(v * p.queries[i].weight)
			weight += p.queries[i].weight
		}
	}
	return sum / max(weight, math.SmallestNonzeroFloat64)
}

// counted returns, for each of lists, the values of the given queries, without queries whose value in the first list is
// NaN. It also returns the weights of these queries, or nil if they are equal.
func (p *pool) counted(queries []int, lists ...[]float64) (counted [][]float64, weights []float64) {
	counted = make([][]float64, len(lists))
	equal := true
	for _, i := range queries {
		if lists[0][i] != lists[0][i] {
			continue
		}
		for k, values := range lists {
			counted[k] = append(counted[k], values[i])
		}
		weights = append(weights, p.queries[i].weight)
		equal = equal && p.queries[i].weight == weights[0]
	}
	if equal {
		weights = nil
	}
	return counted, weights
}

// standardError returns the standard error of the mean difference between a and b, which have a value per query, over
// the given queries. It returns 0 for fewer than two queries.
func (p *pool) standardError(a, b []float64, queries []int) float64 {
	values, weights := p.counted(queries, a, b)
	if len(values[0]) < 2 {
		return 0
	}
	d, err := stats.Paired(values[0], values[1], weights)
	if err != nil {
		return 0
	}
	return d.Error
}

// recipe is a way to choose the weights of a fusion.
type recipe struct {
	name string
	// weights returns the weight of each trial, chosen by the given queries. At most members weights are not 0.
	weights func(p *pool, trials []*Trial, queries []int, members int) []float64
}

// recipes returns the recipes for at most c.Members members, the simplest first.
func (c *Config) recipes() []recipe {
	list := []recipe{{"best single", equal(1)}}
	for _, n := range []int{2, 3, 5, 8, 12, 20} {
		if n <= c.Members {
			list = append(list, recipe{fmt.Sprintf("equal weights, best %d", n), equal(n)})
		}
	}
	if c.Members > 1 {
		list = append(list, recipe{"greedy selection, bagged", (*pool).bagged}, recipe{"stacking", (*pool).stacked})
	}
	return list
}

// equal returns the function weights of a recipe: equal weights for the best trial of each of the n best families.
func equal(n int) func(p *pool, trials []*Trial, queries []int, members int) []float64 {
	return func(p *pool, trials []*Trial, queries []int, _ int) []float64 {
		weights := make([]float64, len(trials))
		chosen := 0
		seen := make(map[*family]bool)
		for _, i := range p.order(trials, queries) {
			if f := trials[i].family; chosen < n && !seen[f] {
				weights[i], seen[f] = 1, true
				chosen++
			}
		}
		return normalised(weights)
	}
}

// ranked returns the trials in descending order of their mean over the given queries.
func (p *pool) ranked(trials []*Trial, queries []int) (list []*Trial) {
	for _, i := range p.order(trials, queries) {
		list = append(list, trials[i])
	}
	return list
}

// order returns the indices of the trials in descending order of their mean over the given queries.
func (p *pool) order(trials []*Trial, queries []int) []int {
	means := make([]float64, len(trials))
	order := make([]int, len(trials))
	for i, t := range trials {
		means[i], order[i] = p.mean(t.values, queries), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(means[b], means[a]) })
	return order
}

func normalised(weights []float64) []float64 {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for i := range weights {
		weights[i] /= sum
	}
	return weights
}

// greedy returns the weights of forward selection with replacement (Caruana et al., Ensemble Selection from Libraries
// of Models, ICML 2004). It starts with the best trial. In each step it adds the trial that raises the mean of the
// measure most, until no trial raises it. It selects from the trials with the indices in from; nil means all trials.
func (p *pool) greedy(trials []*Trial, queries, from []int, members int) []float64 {
	if from == nil {
		for i := range trials {
			from = append(from, i)
		}
	}
	counts := make([]float64, len(trials))
	sum := make([]float64, p.docs)
	best, used := math.Inf(-1), 0
	for range 2 * members {
		add, value := -1, best
		for _, i := range from {
			if counts[i] == 0 && used == members {
				continue
			}
			v := p.meanOf(sum, trials[i].votes, queries)
			if v > value {
				add, value = i, v
			}
		}
		if add < 0 {
			break
		}
		if counts[add]++; counts[add] == 1 {
			used++
		}
		best = value
		for d, v := range trials[add].votes {
			sum[d] += v
		}
	}
	return normalised(counts)
}

// meanOf returns the mean of the measure over the given queries, for scores that are the sum of sum and votes.
func (p *pool) meanOf(sum, votes []float64, queries []int) float64 {
	scores := make([]float64, p.docs)
	for _, i := range queries {
		q := &p.queries[i]
		own, a, b := q.of(scores), q.of(sum), q.of(votes)
		for d := range own {
			own[d] = a[d] + b[d]
		}
	}
	return p.mean(p.valuesOf(scores, queries), queries)
}

// bagged returns the mean of the weights that greedy selects from several random halves of the trials. It keeps only
// the largest weights, at most members.
func (p *pool) bagged(trials []*Trial, queries []int, members int) []float64 {
	const bags = 8
	weights := make([]float64, len(trials))
	for bag := range bags {
		from := random.Stream(0, "bag", strconv.Itoa(bag)).Perm(len(trials))[:(len(trials)+1)/2]
		slices.Sort(from)
		for i, w := range p.greedy(trials, queries, from, members) {
			weights[i] += float64(w / bags)
		}
	}
	return largest(weights, members)
}

// largest sets all weights except the n largest to 0 and normalises the sum of the weights to 1.
func largest(weights []float64, n int) []float64 {
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	for _, i := range order[min(n, len(order)):] {
		weights[i] = 0
	}
	return normalised(weights)
}

// stacked returns weights by non-negative least squares, in which the weighted sum of the votes predicts the grades,
// standardised within each query. Each query counts by its weight, independent of its number of documents.
func (p *pool) stacked(trials []*Trial, queries []int, members int) []float64 {
	n := len(trials)
	gram, to := make([][]float64, n), make([]float64, n)
	for i := range gram {
		gram[i] = make([]float64, n)
	}
	for _, k := range queries {
		q := &p.queries[k]
		target := [][]float64{slices.Clone(q.grades)}
		Rule().Votes(target)
		share := q.weight / float64(len(q.grades))
		for i, t := range trials {
			own := q.of(t.votes)
			for d, v := range own {
				to[i] += float64(share * float64(v*target[0][d]))
			}
			for j, other := range trials[:i+1] {
				dot := 0.0
				for d, v := range q.of(other.votes) {
					dot += float64(v * own[d])
				}
				gram[i][j] += float64(share * dot)
			}
		}
	}
	for i := range gram {
		for j := range i {
			gram[j][i] = gram[i][j]
		}
	}
	weights := nonNegative(gram, to)
	if !slices.ContainsFunc(weights, func(w float64) bool { return w > 0 }) {
		return equal(1)(p, trials, queries, members)
	}
	return largest(weights, members)
}

// nonNegative minimises ½·wᵀ(G+ridge)w − toᵀw over w ≥ 0 by coordinate descent.
func nonNegative(gram [][]float64, to []float64) []float64 {
	const sweeps, tolerance, ridge = 1000, 1e-9, 1e-3 // the ridge is relative to the largest diagonal element
	w := make([]float64, len(to))
	largest := 0.0
	for i := range gram {
		largest = max(largest, gram[i][i])
	}
	for range sweeps {
		moved := 0.0
		for i := range w {
			slope := to[i]
			for j, g := range gram[i] {
				slope -= float64(g * w[j])
			}
			curvature := gram[i][i] + float64(ridge*largest)
			if curvature == 0 {
				continue
			}
			slope -= float64(ridge * largest * w[i])
			next := max(0, w[i]+slope/curvature)
			moved = max(moved, math.Abs(next-w[i]))
			w[i] = next
		}
		if moved < tolerance {
			break
		}
	}
	return w
}

// Candidate is a recipe with its nested validation. For each outer part, the trials and weights are chosen without the
// queries of the part. The fusion is then measured on these queries. So every value comes from a fusion whose choice did
// not use the query.
type Candidate struct {
	Name     string
	Mean     float64          // mean of the measure by nested validation
	Interval stats.Interval   // 95 % interval of Mean for other queries, which allows for parts that share training data
	Members  int              // number of members of the fusion chosen on all validation queries
	Weights  []float64        // weights of Result.Ranked, chosen on all validation queries
	Scores   [][]float64      // for each part, scores of its validation data by nested validation
	Gain     stats.Difference // Mean minus the mean of the first candidate
	Chosen   bool

	scores []float64 // scores of all documents of the pool by nested validation
	values []float64 // measure of each query of the pool for scores
}

// chooser returns the trials from which fusions are chosen if only the given queries decide, best first.
type chooser func(queries []int) []*Trial

// candidates returns a candidate for each recipe, the simplest first, and sets Chosen of one candidate. It omits a
// candidate with the same weights as the candidate before it. whole is the nested validation of the choice between
// candidates: on each outer part, it has the scores of the candidate that [pool.simplest] chooses on the other parts.
func (s *search) candidates(from chooser) (all []Candidate, whole *Candidate, err error) {
	p := s.pool
	for _, rc := range s.recipes() {
		c, err := s.candidate(from, rc)
		if err != nil {
			return nil, nil, err
		}
		if n := len(all); n > 0 && slices.Equal(all[n-1].Weights, c.Weights) {
			continue // there are no more families
		}
		all = append(all, c)
		if err := p.gain(&all[len(all)-1], &all[0]); err != nil {
			return nil, nil, err
		}
	}
	chosen := p.simplest(all, p.all())
	all[chosen].Chosen = true
	nested := make([]float64, p.docs)
	for part := range p.parts() {
		best := &all[p.simplest(all, p.inner(part, false))]
		for _, i := range p.inner(part, true) {
			copy(p.queries[i].of(nested), p.queries[i].of(best.scores))
		}
	}
	whole = &Candidate{Name: "auto", Members: all[chosen].Members, scores: nested}
	if err := s.measure(whole); err != nil {
		return nil, nil, err
	}
	return all, whole, p.gain(whole, &all[0])
}

// simplest returns the index of the first candidate whose mean over the given queries is within one standard error of
// the largest mean.
func (p *pool) simplest(all []Candidate, queries []int) int {
	best := 0
	means := make([]float64, len(all))
	for i := range all {
		if means[i] = p.mean(all[i].values, queries); means[i] > means[best] {
			best = i
		}
	}
	for i := range all {
		if means[i] >= means[best]-p.standardError(all[best].values, all[i].values, queries) {
			return i
		}
	}
	return best
}

// parts returns the number of outer parts, which is smaller than outerParts if there are fewer queries.
func (p *pool) parts() int { return min(outerParts, len(p.queries)) }

// gain sets the Gain of c relative to the candidate over.
func (p *pool) gain(c, over *Candidate) (err error) {
	if values, weights := p.counted(p.all(), c.values, over.values); len(values[0]) > 1 {
		c.Gain, err = stats.Paired(values[0], values[1], weights)
	}
	return err
}

func (s *search) candidate(from chooser, rc recipe) (c Candidate, err error) {
	p := s.pool
	c = Candidate{Name: rc.name, Weights: rc.weights(p, from(p.all()), p.all(), s.Members), scores: make([]float64, p.docs)}
	for part := range p.parts() {
		inner := p.inner(part, false)
		trials := from(inner)
		scores := p.sum(trials, rc.weights(p, trials, inner, s.Members))
		for _, i := range p.inner(part, true) {
			copy(p.queries[i].of(c.scores), p.queries[i].of(scores))
		}
	}
	for _, w := range c.Weights {
		if w > 0 {
			c.Members++
		}
	}
	return c, s.measure(&c)
}

// interval returns the interval of the mean of values for other queries, NaN for fewer than two queries. If several
// parts validate, their means depend on each other, because their models share training data. So the bootstrap
// interval is multiplied by √(1 + J·n₂/n₁), for J parts with n₁ training queries and n₂ validation queries each. The
// factor is that of Nadeau and Bengio (Inference for the Generalization Error, Machine Learning 52, 2003) for random
// divisions, and a rule of thumb here. The model of a single part is deployed as it was measured: the factor is 1.
func (s *search) interval(values []float64) (stats.Interval, error) {
	counted, weights := s.pool.counted(s.pool.all(), values)
	if len(counted[0]) < 2 {
		return stats.Interval{Low: math.NaN(), High: math.NaN()}, nil
	}
	mean, err := stats.MeanOf(counted[0], stats.Config{Weights: weights, Resamples: 2000, Seed: s.config.Seed})
	wider := 1.0
	if parts := s.config.Folds; len(parts) > 1 {
		wider = math.Sqrt(1 + float64(len(s.pool.queries))/float64(len(parts[0].Train.Queries)))
	}
	low, high := mean.Mean-mean.Interval.Low, mean.Interval.High-mean.Mean
	return stats.Interval{Low: mean.Mean - float64(wider*low), High: mean.Mean + float64(wider*high)}.Within(measure.RangeOf(s.pool.measure)), err
}

// measure sets the fields of c that follow from c.scores: values, Mean, Interval and Scores.
func (s *search) measure(c *Candidate) (err error) {
	p := s.pool
	c.values = p.values(c.scores)
	c.Mean = p.mean(c.values, p.all())
	if c.Interval, err = s.interval(c.values); err != nil {
		return err
	}
	rest := c.scores
	for k := range s.config.Folds {
		n := s.config.Folds[k].Valid.Docs()
		c.Scores, rest = append(c.Scores, rest[:n]), rest[n:]
	}
	return nil
}

// sum returns the sum of the trials' votes, multiplied by the weights.
func (p *pool) sum(trials []*Trial, weights []float64) []float64 {
	sum := make([]float64, p.docs)
	for i, w := range weights {
		if w > 0 {
			for d, v := range trials[i].votes {
				sum[d] += float64(w * v)
			}
		}
	}
	return sum
}
