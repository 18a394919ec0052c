package train

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/random"
)

// TreeSum says what trees are fitted to, and with which weights they are added.
type TreeSum int

const (
	// GradientTrees are each fitted to what all before it left: gradient boosting.
	GradientTrees TreeSum = iota

	// DARTTrees are each fitted to what a random part of those before it left, and take a part
	// of the weight of the others: K. V. Rashmi, R. Gilad-Bachrach, DART: Dropouts meet
	// Multiple Additive Regression Trees, AISTATS 2015.
	DARTTrees

	// ForestTrees are each fitted to the same, on queries drawn with replacement, and their sum
	// is their mean: L. Breiman, Random Forests, Machine Learning 45, 2001.
	ForestTrees
)

// Dropout says which trees DARTTrees leave out in a round, and what becomes of their weights.
type Dropout struct {
	Rate float64 // probability with which a tree is left out; 0 means 0.1
	Skip float64 // probability with which a round leaves none out
	Most int     // trees left out at most; 0: any number

	// EqualWeight gives the new tree as much weight as all that were left out together:
	// with a rate η and k trees left out, the new tree's factor is η/(1+η) and theirs is
	// multiplied by 1/(1+η). Otherwise it has the weight of one of them: η/(k+η) and k/(k+η),
	// which for η = 1 is the paper's. (XGBoost's normalize_type forest and tree.)
	EqualWeight bool
}

// checkSum returns an error for settings of the sum that are out of range.
func (l *Trees) checkSum() error {
	d := &l.Dropout
	switch {
	case l.Sum < GradientTrees || l.Sum > ForestTrees:
		return BadProblem("found the sum of trees %d, expected %d to %d", l.Sum, GradientTrees, ForestTrees)
	case !(d.Rate >= 0 && d.Rate <= 1):
		return BadProblem("found the dropout %v, expected a probability from 0 to 1", d.Rate)
	case !(d.Skip >= 0 && d.Skip <= 1):
		return BadProblem("found the probability %v of a round without dropout, expected one from 0 to 1", d.Skip)
	case d.Most < 0:
		return BadProblem("found %d trees left out at most, expected a positive number, or 0 for any", d.Most)
	case l.Sum != GradientTrees && l.Leaves > mostTableLeaves:
		return BadProblem("found %d leaves, expected at most %d for trees whose weights change", l.Leaves, mostTableLeaves)
	case l.Sum == ForestTrees && l.gradientSampled():
		return BadProblem("found documents sampled by their gradients (GOSS) in a forest, expected them drawn by query_fraction and document_fraction")
	}
	return nil
}

// gradientSampled reports whether documents are sampled by their gradients.
func (l *Trees) gradientSampled() bool { return 0 < l.GOSSTop && l.GOSSTop < 1 || l.GOSSRest > 0 }

// reweighed are the parts of a sum of trees whose weights change.
type reweighed struct {
	table   leafTable // of the training data
	valid   leafTable // of the validation data, once there are scores of them
	dropped []bool    // trees left out this round
	drops   int       // their number
	target  []float64 // scores that the next tree is fitted at
}

// aim returns the scores that the next tree is fitted at, and brings λ and second derivatives
// up to date with them; redrawn says that the loss has changed.
func (r *treeRounds) aim(draw string, redrawn bool) []float64 {
	at := r.scores
	switch r.Sum {
	case DARTTrees:
		r.drop(draw)
		at = r.target
		if r.drops == 0 {
			copy(at, r.scores)
		} else {
			r.setScores(at, r.dropped)
		}
	case ForestTrees:
		at = r.target
		r.setScores(at, slices.Repeat([]bool{true}, len(r.trees)))
	case GradientTrees:
		if !redrawn {
			return at
		}
	}
	r.step.moved()
	r.step.eval(at, r.lambda, r.second)
	return at
}

// drop draws the trees that are left out.
func (r *treeRounds) drop(draw string) {
	r.dropped, r.drops = make([]bool, len(r.trees)), 0
	rng := random.Stream(r.seed, "dropout", draw)
	if rng.Float64() < r.Dropout.Skip {
		return
	}
	var out []int
	for t := range r.trees {
		if rng.Float64() < r.Dropout.Rate {
			out = append(out, t)
		}
	}
	if most := r.Dropout.Most; most > 0 && len(out) > most {
		rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		out = out[:most]
	}
	for _, t := range out {
		r.dropped[t] = true
	}
	r.drops = len(out)
}

// factors returns what the values of the next tree are multiplied with, and the weights of
// those that were left out.
func (r *treeRounds) factors() (next, dropped float64) {
	k := float64(r.drops)
	switch {
	case r.Sum == ForestTrees:
		return 1, 1
	case r.Sum == GradientTrees || r.drops == 0:
		return r.Rate, 1
	case r.Dropout.EqualWeight:
		return r.Rate / (1 + r.Rate), 1 / (1 + r.Rate)
	}
	return r.Rate / (k + r.Rate), k / (k + r.Rate)
}

// reweigh gives all trees, the last included, their weights, and brings the scores up to date.
func (r *treeRounds) reweigh() {
	switch r.Sum {
	case DARTTrees:
		_, factor := r.factors()
		for t, out := range r.dropped {
			if out {
				r.weights[t] *= factor
			}
		}
		r.weights = append(r.weights, 1)
	case ForestTrees:
		r.weights = slices.Repeat([]float64{1 / float64(len(r.trees))}, len(r.trees))
	case GradientTrees:
		return
	}
	r.setScores(r.scores, nil)
	r.step.moved()
}

// setScores sets scores of the training data to those of the trees but those marked.
func (r *treeRounds) setScores(scores []float64, without []bool) {
	clear(scores)
	copy(scores, r.base)
	r.table.fill(r.trees)
	var terms []treeTerm
	for t := range r.trees {
		if without == nil || !without[t] {
			terms = append(terms, treeTerm{&r.table, t, r.valuesOf(t, r.weights, 1)})
		}
	}
	addTerms(scores, terms, r.Workers)
}

// valuesOf returns the values of a tree's leaves with its weight, none if weights is nil, and
// a factor.
func (r *treeRounds) valuesOf(t int, weights []float64, factor float64) []float64 {
	from := r.starts[t]
	values := r.leaves[from : from+len(r.trees[t])+1]
	if weights == nil && factor == 1 {
		return values
	}
	values = slices.Clone(values)
	for i := range values {
		if weights != nil {
			values[i] *= weights[t]
		}
		values[i] *= factor
	}
	return values
}

// bootstrap draws queries with replacement, as many as are to teach a tree, and returns the
// documents of those drawn with their λ and second derivatives as often as these.
func (r *treeRounds) bootstrap(draw string) (rows []uint32, lambda, second []float64) {
	rng := random.Stream(r.seed, "queries of a tree", draw)
	times := make([]float64, len(r.queries))
	for range max(1, int(math.Round(r.QueryFraction*float64(len(times))))) {
		times[rng.IntN(len(times))]++
	}
	w := &r.weighted
	if w.lambda == nil {
		w.lambda, w.second = make([]float64, len(r.scores)), make([]float64, len(r.scores))
	}
	for q := range r.data.Queries {
		query := &r.data.Queries[q]
		for i := query.Start; i < query.Start+query.Len() && times[q] > 0; i++ {
			rows = append(rows, uint32(i))
			w.lambda[i], w.second[i] = times[q]*r.lambda[i], times[q]*r.second[i]
		}
	}
	return rows, w.lambda, w.second
}

// randomized returns an error if trainings with other seeds would be the same.
func (l *Trees) randomized() error {
	below := func(fraction float64) bool { return 0 < fraction && fraction < 1 }
	if below(l.QueryFraction) || below(l.FeatureFraction) || below(l.DocumentFraction) || l.gradientSampled() ||
		l.RandomThresholds || l.Redraw || l.Sum != GradientTrees {
		return nil
	}
	return fmt.Errorf("found bag=%d with nothing that is drawn for each tree, so that all members would be the same; expected a query_fraction or feature_fraction below 1, or another random part", l.Bag)
}
