package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/binarystate"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model/scorer"
)

// // treeRounds is a sum of trees that grows by one tree a round.
type treeRounds struct {
	Trees

	seed   uint64
	data   *dataset.Dataset
	base   []float64 // scores of the training data to which trees are added; nil means 0
	loss   *objective.Functional
	step   *treeStep
	grower grower

	treesState
	reweighed
	slots          slotFactors
	lambda, second []float64
	starts         []int // starts[t] is the index in leaves of the first leaf of tree t

	last   *tree.Tree
	values []float64 // leaf values of last
	err    error     // the error that ended the rounds

	weighted struct{ lambda, second []float64 } // copies of lambda and second, scaled for documents with a multiplicity or sampling factor
}

// next grows a tree, adds it to the sum and evaluates the objective. It returns false if no tree could be grown.
func (r *treeRounds) next() bool {
	if !r.grow() {
		return false
	}
	nodes := make([]scorer.TreeNode, len(r.last.Nodes))
	for i, n := range r.last.Nodes {
		nodes[i] = scorer.TreeNode{Feature: n.Feature, Threshold: n.Threshold, MissingLeft: n.MissingLeft, Categories: n.Categories, Left: n.Left, Right: n.Right}
	}
	r.starts = append(r.starts, len(r.leaves))
	if r.Sum != GradientTrees {
		r.table.fill(r.trees) // catch up with trees read from a checkpoint
		r.table.grown(r.grower, len(nodes)+1)
	}
	r.trees, r.leaves = append(r.trees, nodes), append(r.leaves, r.values...)
	r.reweigh()
	if r.err = r.slots.update(r.loss, r.scores, r.lambda, r.second); r.err != nil {
		return false
	}
	if r.slots.By != NoDebias {
		r.step.moved()
	}
	r.eval()
	return true
}

// eval sets the objective, λ and the second derivatives to their values at the scores.
func (r *treeRounds) eval() {
	r.objective = r.step.eval(r.slots.at(r.scores), r.lambda, r.second)
}

// keep marks the present sum as the one that Kept returns.
func (r *treeRounds) keep() { r.rounds, r.keptWeights = len(r.trees), slices.Clone(r.weights) }

// drawsOfATree is the largest number of attempts to grow one tree. Each attempt repeats the random choices that the
// settings ask for: of queries, documents, features and thresholds, and the random numbers of the loss. An attempt
// fails if the tree has no split, or if the step cannot lower the loss.
const drawsOfATree = 10

// grow grows a tree into last and sets its leaf values. Under gradient boosting it also adds the tree to the scores. It
// returns false if all attempts fail.
func (r *treeRounds) grow() bool {
	for range drawsOfATree {
		r.draws++
		draw := strconv.Itoa(r.draws)
		if r.Redraw && r.draws > 1 {
			if r.err = r.step.redraw(r.draws - 1); r.err != nil {
				return false
			}
		}
		at := r.aim(draw, r.Redraw && r.draws > 1)
		rows, lambda, second := r.sample(draw)
		barred := r.barred(draw)
		r.grower.Bar(barred)
		r.grower.Seed(random.Stream(r.seed, "thresholds of a tree", draw).Uint64())
		r.last = r.grower.Grow(lambda, second, rows)
		if r.last.Leaves > 1 {
			r.values = r.grower.Values(lambda, second)
			if rate, _ := r.factors(); r.step.take(r.grower, rate, at, r.lambda, r.values) {
				return true
			}
		}
		if rows == nil && barred == nil && r.Sum != DARTTrees && !r.Redraw && !r.RandomThresholds {
			break
		}
	}
	return false
}

// TreeSum selects how the trees of a sum are fitted and weighted.
type TreeSum int

const (
	// GradientTrees is gradient boosting: each tree is fitted to the λ of the sum before it.
	GradientTrees TreeSum = iota

	// DARTTrees fits each tree to the sum without a random subset of the earlier trees, whose weights then shrink: K.
	// V. Rashmi, R. Gilad-Bachrach, DART: Dropouts meet Multiple Additive Regression Trees, AISTATS 2015.
	DARTTrees

	// ForestTrees fits each tree to the same target, on queries drawn with replacement. The sum is the mean of the
	// trees: L. Breiman, Random Forests, Machine Learning 45, 2001.
	ForestTrees
)

// Dropout configures the dropout of DARTTrees.
type Dropout struct {
	Rate float64 // probability that a tree is dropped in a round; 0 means 0.1
	Skip float64 // probability that a round drops no tree; 0 means 0.5, and a negative number means 0
	Most int     // largest number of trees dropped in a round; 0 means 50, and a negative number means no limit

	// EqualWeight gives the new tree the weight of all dropped trees together. With a rate η and k dropped trees, the
	// new tree's factor is η/(1+η), and the weights of the dropped trees are multiplied by 1/(1+η). Otherwise the new
	// tree has the weight of one dropped tree: the factors are η/(k+η) and k/(k+η), which are the paper's for η = 1.
	// XGBoost names the two rules normalize_type forest and tree.
	EqualWeight bool
}

// checkSum returns a *ProblemError if Sum, Dropout or a setting that depends on them is out of range.
func (l *Trees) checkSum() error {
	d := &l.Dropout
	switch {
	case l.Sum < GradientTrees || l.Sum > ForestTrees:
		return BadProblem("found the sum of trees %d, expected %d to %d", l.Sum, GradientTrees, ForestTrees)
	case !(d.Rate >= 0 && d.Rate <= 1):
		return BadProblem("found the dropout %v, expected a probability from 0 to 1", d.Rate)
	case !(d.Skip <= 1):
		return BadProblem("found the probability %v of a round without dropout, expected one up to 1", d.Skip)
	case l.Sum != GradientTrees && l.Leaves > mostTableLeaves:
		return BadProblem("found %d leaves, expected at most %d for trees whose weights change", l.Leaves, mostTableLeaves)
	case l.Sum == ForestTrees && l.gradientSampled():
		return BadProblem("found documents sampled by their gradients (GOSS) in a forest, expected them drawn by query_fraction and document_fraction")
	}
	return nil
}

// gradientSampled reports whether documents are sampled by their gradients.
func (l *Trees) gradientSampled() bool { return 0 < l.GOSSTop && l.GOSSTop < 1 || l.GOSSRest > 0 }

// reweighed is the state for sums whose trees change their weights (DART and forests).
type reweighed struct {
	table   leafTable // leaves of the training documents
	valid   leafTable // leaves of the validation documents; empty until they are scored
	dropped []bool    // dropped[t] reports whether tree t is left out this round
	drops   int       // number of dropped trees
	target  []float64 // scores at which the next tree is fitted
}

// aim returns the scores at which the next tree is fitted, and sets λ and the second derivatives to their values
// there. redrawn reports whether the loss was drawn again since the last tree.
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
	r.step.eval(r.slots.at(at), r.lambda, r.second)
	return at
}

// drop draws the trees to leave out this round.
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

// factors returns the factor of the new tree's values, and the factor by which the weights of the dropped trees
// change.
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

// reweigh updates the weights of all trees, the new one included, and recomputes the scores of the training data. It
// does nothing under gradient boosting, where weights are fixed.
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

// setScores sets scores to the base scores plus the weighted trees, except those marked in without. A nil without
// excludes none.
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

// valuesOf returns the leaf values of tree t, multiplied by its weight and by factor. A nil weights means weight 1.
// The caller must not change the result.
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

// bootstrap draws queries with replacement. It returns the rows of their documents, each once, with λ and second
// derivatives multiplied by the number of times the query was drawn.
func (r *treeRounds) bootstrap(draw string) (rows []uint32, lambda, second []float64) {
	rng := random.Stream(r.seed, "queries of a tree", draw)
	times := make([]float64, len(r.data.Queries))
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

// randomized returns an error if no random choice distinguishes the members of a bag.
func (l *Trees) randomized() error {
	below := func(fraction float64) bool { return 0 < fraction && fraction < 1 }
	if below(l.QueryFraction) || below(l.FeatureFraction) || below(l.DocumentFraction) || l.gradientSampled() ||
		l.RandomThresholds || l.Redraw || l.Sum != GradientTrees {
		return nil
	}
	return fmt.Errorf("found bag=%d with nothing that is drawn for each tree, so that all members would be the same; expected a query_fraction or feature_fraction below 1, or another random part", l.Bag)
}

// sample draws the documents to which a tree is fitted. It returns their rows, nil for all documents, and the λ and
// second derivatives to fit, indexed by row.
func (r *treeRounds) sample(draw string) (rows []uint32, lambda, second []float64) {
	switch {
	case r.Sum == ForestTrees:
		rows, lambda, second = r.bootstrap(draw)
		return r.documents(draw, rows), lambda, second
	case r.GOSSTop < 1:
		return r.goss(draw, r.bag(draw))
	}
	return r.documents(draw, r.bag(draw)), r.lambda, r.second
}

// bag draws QueryFraction of the queries without replacement. It returns the rows of their documents, nil for all.
func (r *treeRounds) bag(round string) []uint32 {
	all := len(r.data.Queries)
	n := max(1, int(math.Round(r.QueryFraction*float64(all))))
	if n == all {
		return nil
	}
	in := make([]bool, all)
	for _, q := range random.Stream(r.seed, "queries of a tree", round).Perm(all)[:n] {
		in[q] = true
	}
	var rows []uint32
	for q := range r.data.Queries {
		query := &r.data.Queries[q]
		for i := query.Start; i < query.Start+query.Len() && in[q]; i++ {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}

// barred draws the features that a tree may not split on, one mark each. It returns nil if all are allowed.
func (r *treeRounds) barred(round string) []bool {
	features := r.data.Features
	n := max(1, int(math.Round(r.FeatureFraction*float64(features))))
	if n == features {
		return nil
	}
	barred := make([]bool, features)
	for _, f := range random.Stream(r.seed, "features of a tree", round).Perm(features)[n:] {
		barred[f] = true
	}
	return barred
}

// documents draws DocumentFraction of the given rows without replacement. A nil rows, as argument or result, means
// all documents.
func (r *treeRounds) documents(round string, rows []uint32) []uint32 {
	all := len(r.scores)
	if rows != nil {
		all = len(rows)
	}
	n := max(1, int(math.Round(r.DocumentFraction*float64(all))))
	if n == all {
		return rows
	}
	rng := random.Stream(r.seed, "documents of a tree", round)
	drawn := make([]uint32, 0, n)
	for i := range all {
		// Knuth, The Art of Computer Programming, vol. 2, Algorithm 3.4.2 S.
		if rng.IntN(all-i) >= n-len(drawn) {
			continue
		}
		if rows == nil {
			drawn = append(drawn, uint32(i))
		} else {
			drawn = append(drawn, rows[i])
		}
	}
	return drawn
}

// goss samples documents by their gradients (GOSS) from rows, or from all documents if rows is nil. It keeps the
// documents with the largest |λ|·second, the first ones among ties. The others are sampled, and their λ and second
// derivatives are scaled up to represent all others.
func (r *treeRounds) goss(round string, rows []uint32) (drawn []uint32, lambda, second []float64) {
	if rows == nil {
		rows = make([]uint32, len(r.scores))
		for i := range rows {
			rows[i] = uint32(i)
		}
	}
	w := &r.weighted
	if w.lambda == nil {
		w.lambda, w.second = make([]float64, len(r.scores)), make([]float64, len(r.scores))
	}
	strengths := make([]float64, len(rows))
	for i, row := range rows {
		strengths[i] = math.Abs(r.lambda[row]) * r.second[row]
	}
	all := len(rows)
	top, rest := int(math.Round(r.GOSSTop*float64(all))), int(math.Round(r.GOSSRest*float64(all)))
	if top+rest == 0 {
		top = 1
	}
	rest = min(rest, all-top)
	least, alike := math.Inf(1), 0
	if top > 0 {
		least, alike = kthLargest(strengths, top)
	}
	rng := random.Stream(r.seed, "documents of a tree", round)
	others, factor := all-top, float64(all-top)/float64(rest)
	for i, row := range rows {
		w.lambda[row], w.second[row] = r.lambda[row], r.second[row]
		switch {
		case strengths[i] > least:
		case strengths[i] == least && alike > 0:
			alike--
		default:
			in := rng.IntN(others) < rest // Algorithm S again
			if others--; !in {
				continue
			}
			rest--
			w.lambda[row] *= factor
			w.second[row] *= factor
		}
		drawn = append(drawn, row)
	}
	return drawn, w.lambda, w.second
}

// kthLargest returns the k-th largest of values, counted from 1, and how many of the k largest are equal to it. The
// values must not be negative. It is a radix search over the bits of the numbers.
func kthLargest(values []float64, k int) (value float64, alike int) {
	var prefix uint64
	for shift := 56; shift >= 0; shift -= 8 {
		var counts [256]int
		for _, v := range values {
			if b := math.Float64bits(v); b>>(shift+8) == prefix {
				counts[byte(b>>shift)]++
			}
		}
		c := 255
		for ; k > counts[c]; c-- {
			k -= counts[c]
		}
		prefix = prefix<<8 | uint64(c)
	}
	return math.Float64frombits(prefix), k
}

// treesState is the part of treeRounds that a checkpoint stores. Further rounds depend on it, the data and the
// settings alone.
type treesState struct {
	trees  [][]scorer.TreeNode
	leaves []float64 // leaf values of all trees, one tree after the other
	scores []float64 // of the training data
	rounds int       // number of trees kept
	draws  int       // number of random draws so far; it names the random streams
	factor float64   // factor at which the next line search begins

	weights, keptWeights []float64 // weights of the trees if they change, otherwise nil
	objective            float64   // objective at scores
	ended                bool      // no further tree can be grown

	bySlot slotState // factors of slots, empty without a correction
}

// state returns the state to checkpoint.
func (r *treeRounds) state() treesState {
	s := r.treesState
	s.factor, s.bySlot = r.step.factor, r.slots.slotState
	return s
}

func (s *treesState) code(c *binarystate.Codec) {
	trees, leaves, scores, weights, kept, ended := len(s.trees), len(s.leaves), len(s.scores), len(s.weights), len(s.keptWeights), 0
	if s.ended {
		ended = 1
	}
	c.Ints(&trees, &leaves, &scores, &s.rounds, &s.draws, &weights, &kept, &ended)
	c.Floats(&s.factor, &s.objective)
	c.Vectors(leaves, &s.leaves)
	c.Vectors(scores, &s.scores)
	c.Vectors(weights, &s.weights)
	c.Vectors(kept, &s.keptWeights)
	if c.Reading() && weights == 0 {
		s.weights = nil
	}
	if c.Reading() && kept == 0 {
		s.keptWeights = nil
	}
	s.bySlot.code(c)
	s.ended = ended == 1
	if c.Reading() && ended != 0 && ended != 1 {
		c.Fail(fmt.Errorf("found the end %d of the trees, expected 0 or 1", ended))
	}
	if c.Reading() && c.Fits(trees) {
		s.trees = make([][]scorer.TreeNode, trees)
	}
	for i := range s.trees {
		codeTree(c, &s.trees[i])
	}
}

// codeTree reads or writes a tree. Child references are shifted to be nonnegative: the leaves come first, in
// descending order, then the nodes.
func codeTree(c *binarystate.Codec, tree *[]scorer.TreeNode) {
	nodes := len(*tree)
	c.Ints(&nodes)
	if c.Reading() && c.Fits(nodes) {
		*tree = make([]scorer.TreeNode, nodes)
	}
	for i := range *tree {
		n := &(*tree)[i]
		missing, threshold := 0, float64(n.Threshold)
		if n.MissingLeft {
			missing = 1
		}
		left, right := n.Left+nodes+1, n.Right+nodes+1
		c.Ints(&n.Feature, &missing, &left, &right)
		c.Floats(&threshold)
		codeCategories(c, n)
		if !c.Reading() {
			continue
		}
		n.Threshold, n.MissingLeft, n.Left, n.Right = float32(threshold), missing == 1, left-nodes-1, right-nodes-1
		if min(n.Feature, left, right) < 0 || missing != 0 && missing != 1 || float64(n.Threshold) != threshold {
			c.Fail(fmt.Errorf("found node %+v with the threshold %v, expected one of a tree", *n, threshold))
		}
	}
}

// codeCategories reads or writes a node's categories after their number plus 1. The number 0 means that the node
// splits by a threshold.
func codeCategories(c *binarystate.Codec, n *scorer.TreeNode) {
	number := 0
	if n.Categories != nil {
		number = len(n.Categories) + 1
	}
	c.Ints(&number)
	if c.Reading() && number > 0 && c.Fits(number-1) {
		n.Categories = make([]float32, number-1)
	}
	for i := range n.Categories {
		category := float64(n.Categories[i])
		c.Floats(&category)
		n.Categories[i] = float32(category)
		if float64(n.Categories[i]) != category {
			c.Fail(fmt.Errorf("found the category %v, expected a number of single precision", category))
		}
	}
	if number < 0 {
		c.Fail(fmt.Errorf("found %d categories, expected a number of them", number-1))
	}
}

// validate returns an error if the state cannot be one after the given number of rounds.
func (s *treesState) validate(rounds int) error {
	leaves := 0
	for _, nodes := range s.trees {
		leaves += len(nodes) + 1
	}
	switch {
	case len(s.trees) > rounds || s.rounds < 0 || s.rounds > len(s.trees):
		return fmt.Errorf("%d trees, %d of them kept, after %d rounds, expected no more than rounds", len(s.trees), s.rounds, rounds)
	case leaves != len(s.leaves):
		return fmt.Errorf("%d leaves with %d values, expected as many", leaves, len(s.leaves))
	case s.draws < len(s.trees) || notFinite(s.factor) || s.factor <= 0:
		return fmt.Errorf("%d draws for %d trees and the factor %v, expected one a tree at least and a positive number", s.draws, len(s.trees), s.factor)
	case s.weights != nil && len(s.weights) != len(s.trees) || s.keptWeights != nil && len(s.keptWeights) != s.rounds:
		return fmt.Errorf("%d weights of %d trees and %d of %d kept ones, expected as many", len(s.weights), len(s.trees), len(s.keptWeights), s.rounds)
	case anyNotFinite(s.leaves) || anyNotFinite(s.scores) || anyNotFinite(s.weights) || anyNotFinite(s.keptWeights) || notFinite(s.objective):
		return errors.New("values or scores that are not finite, expected finite numbers")
	}
	return s.bySlot.validate()
}

func anyNotFinite(values []float64) bool { return slices.ContainsFunc(values, notFinite) }

// goOnFrom continues from a state. It returns an error if the state does not fit the data or the settings.
func (r *treeRounds) goOnFrom(s *treesState) error {
	if len(s.scores) != len(r.scores) {
		return fmt.Errorf("found a state of %d documents, expected %d", len(s.scores), len(r.scores))
	}
	if _, err := scorer.NewTrees(r.data.Features, s.trees); err != nil {
		return err
	}
	if weighed := r.Sum != GradientTrees; weighed != (s.weights != nil) || weighed != (s.keptWeights != nil) && s.rounds > 0 {
		return fmt.Errorf("found a state with %d weights of trees, expected those of another kind of sum", len(s.weights))
	}
	for _, nodes := range s.trees {
		if r.Sum != GradientTrees && len(nodes) >= r.Leaves {
			return fmt.Errorf("found a tree of %d leaves, expected at most %d", len(nodes)+1, r.Leaves)
		}
	}
	r.treesState, r.step.factor = *s, s.factor
	leaves := 0
	for _, nodes := range r.trees {
		r.starts = append(r.starts, leaves)
		leaves += len(nodes) + 1
	}
	if r.Redraw && r.draws > 1 {
		if err := r.step.redraw(r.draws - 1); err != nil {
			return err
		}
	}
	if err := r.slots.goOnFrom(s.bySlot, r.loss); err != nil {
		return err
	}
	r.step.eval(r.slots.at(r.scores), r.lambda, r.second)
	return nil
}
