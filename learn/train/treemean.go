package train

import (
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/model/scorer"
)

// treeMean is the Booster of trees: the mean of growing sums of trees, the members of a bag,
// which is usually one, added to what training began with. Its trees are in the order of the
// rounds, and in a round of the members, so that scores have the bits that the model gives.
type treeMean struct {
	Trees

	data    *dataset.Dataset
	initial *initialTrees // nil: none
	sums    []*treeRounds
	grower  grower
	params  []float64 // of the scorer at present; nil: not known
	err     error     // that ended the rounds

	wide struct { // the data scored last, with all features
		of *dataset.Dataset
		x  []float32

		streamed *dataset.Dataset
	}
}

// memberSeed returns the seed of a member of a bag; that of the first is the bag's.
func memberSeed(seed uint64, member int) uint64 {
	if member == 0 {
		return seed
	}
	return random.Stream(seed, "member of a bag", strconv.Itoa(member)).Uint64()
}

// share is what each member's values are multiplied with.
func (m *treeMean) share() float64 { return 1 / float64(len(m.sums)) }

// rounds returns how many were made: a member that has no further tree stays as it is.
func (m *treeMean) rounds() int {
	n := 0
	for _, r := range m.sums {
		n = max(n, len(r.trees))
	}
	return n
}

// startObjective implements starter.
func (m *treeMean) startObjective() float64 { return m.objective() }

// objective is the mean of the members' at their scores.
func (m *treeMean) objective() float64 {
	var objective float64
	for _, r := range m.sums {
		objective += r.objective
	}
	return float64(objective * m.share())
}

// Next implements Booster. The objective is the mean of the members', each that of its sum with
// the new tree.
func (m *treeMean) Next() (Round, bool) {
	grown := false
	for _, r := range m.sums {
		if !r.ended {
			r.ended = !r.next()
			grown = grown || !r.ended
		}
		if r.err != nil {
			m.err = r.err
			return Round{}, false
		}
	}
	if !grown {
		return Round{}, false
	}
	if m.Sum == GradientTrees && m.params != nil {
		m.params = m.appendRound(m.params, m.rounds()-1)
	}
	weight := m.Rate
	if m.Sum == ForestTrees {
		weight = 1 / float64(m.rounds())
	}
	return Round{Weight: weight, Objective: m.objective()}, true
}

// appendRound appends the values of the trees of a round.
func (m *treeMean) appendRound(params []float64, round int) []float64 {
	for _, r := range m.sums {
		if round < len(r.trees) {
			params = append(params, r.valuesOf(round, r.weights, m.share())...)
		}
	}
	return params
}

// Add implements Booster.
func (m *treeMean) Add(dst []float64, d *dataset.Dataset) {
	if m.Sum != GradientTrees {
		m.setScores(dst, d)
		return
	}
	if d.Streamed() {
		m.addStreamed(dst, d)
		return
	}
	x, last := m.widened(d), m.rounds()-1
	if last == 0 {
		m.initial.score(dst, x, m.data.Features)
	}
	for _, r := range m.sums {
		if len(r.trees) <= last {
			continue
		}
		values, features := r.valuesOf(last, nil, m.share()), m.data.Features
		parallel.For((len(dst)+tableChunk-1)/tableChunk, m.Workers, func(_, c int) {
			for i := c * tableChunk; i < min(len(dst), (c+1)*tableChunk); i++ {
				dst[i] += values[r.last.Leaf(x[i*features:(i+1)*features])]
			}
		})
	}
}

// setScores sets the scores of validation data to those of all trees with their present weights.
func (m *treeMean) setScores(dst []float64, d *dataset.Dataset) {
	rows := m.rowsOf(d)
	clear(dst)
	if m.initial != nil {
		rows.each(m.Workers, func(_, row int, x []float32) {
			m.initial.score(dst[row:row+len(x)/rows.features], x, rows.features)
		})
	}
	for _, r := range m.sums {
		r.valid.rows = rows
		r.valid.fill(r.trees)
	}
	var terms []treeTerm
	for round := range m.rounds() {
		for _, r := range m.sums {
			if round < len(r.trees) {
				terms = append(terms, treeTerm{&r.valid, round, r.valuesOf(round, r.weights, m.share())})
			}
		}
	}
	addTerms(dst, terms, m.Workers)
}

// rowsOf returns the documents of d, which may lack the last features: they count as 0.
func (m *treeMean) rowsOf(d *dataset.Dataset) treeRows {
	if d.Streamed() {
		return rowsOf(m.widenedStreamed(d))
	}
	return treeRows{features: m.data.Features, docs: d.Docs(), x: m.widened(d)}
}

// widenedStreamed is d with as many features as the training data.
func (m *treeMean) widenedStreamed(d *dataset.Dataset) *dataset.Dataset {
	if d.Features == m.data.Features {
		return d
	}
	if m.wide.of != d {
		m.wide.of, m.wide.streamed = d, d.Widen(m.data.Features)
	}
	return m.wide.streamed
}

// widened returns the features of d, which may lack the last: they count as 0.
func (m *treeMean) widened(d *dataset.Dataset) []float32 {
	if d.Features == m.data.Features {
		return d.X()
	}
	if m.wide.of != d {
		m.wide.of, m.wide.x = d, make([]float32, d.Docs()*m.data.Features)
		for i := range d.Docs() {
			copy(m.wide.x[i*m.data.Features:], d.X()[i*d.Features:(i+1)*d.Features])
		}
	}
	return m.wide.x
}

// Keep implements Booster.
func (m *treeMean) Keep() {
	for _, r := range m.sums {
		r.keep()
	}
}

// Kept implements Booster.
func (m *treeMean) Kept() (scorer.Scorer, []float64, error) {
	if m.err != nil {
		return nil, nil, m.err
	}
	trees, params := m.initial.parts()
	for round := range m.rounds() {
		for _, r := range m.sums {
			if round < r.rounds {
				trees, params = append(trees, r.trees[round]), append(params, r.valuesOf(round, r.keptWeights, m.share())...)
			}
		}
	}
	s, err := scorer.NewTrees(m.data.Features, trees)
	if err != nil {
		return nil, nil, err
	}
	return s, params, nil
}

// Weights implements Booster: the values of all leaves.
func (m *treeMean) Weights() []float64 {
	if m.Sum != GradientTrees || m.params == nil {
		_, m.params = m.initial.parts()
		for round := range m.rounds() {
			m.params = m.appendRound(m.params, round)
		}
	}
	return m.params
}

// Queries implements Booster.
func (m *treeMean) Queries() int { return m.sums[0].loss.Queries() }

func (m *treeMean) members() []*treeRounds { return m.sums }
