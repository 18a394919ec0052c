package train

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model/scorer"
)

// Trees learns a sum of regression trees, round by round. The loss is a function of the documents' scores, and a round
// takes a step of the scores that lowers the loss. A tree approximates the step as a function of the features
// (Friedman, Greedy Function Approximation, Annals of Statistics 2001). If the loss has second derivatives by score
// (loss.Diagonal), and Steps allows it, the step is a Newton step (Chen and Guestrin, XGBoost, KDD 2016). Otherwise the
// step goes along λ, with a line search if λ is the gradient of the loss. The model has the trees up to the best round
// on the validation data, or all trees without validation data. Trees writes checkpoints. The zero value has the
// defaults of the catalogue's methods (package method).
type Trees struct {
	Rounds   int     // number of trees at most; 0 means 300
	Patience int     // rounds without a better validation value before training stops; 0 means 100, negative never
	Rate     float64 // learning rate; 0 means 0.05
	Bins     int     // number of bins per feature, 2 to 255; 0 means 255

	// QueryFraction is the share of queries sampled for each tree, and DocumentFraction is the share of their
	// documents. FeatureFraction is the share of features that a tree may split on. At least one query, document and
	// feature is sampled. 0 means all.
	QueryFraction, FeatureFraction, DocumentFraction float64

	// GOSSTop and GOSSRest configure gradient-based one-side sampling (Ke et al., LightGBM, NIPS 2017, Algorithm 2).
	// GOSSTop is the share of documents that are always used, those with the largest |λ|·second. GOSSRest is the
	// share sampled from the other documents. The λ and second derivatives of the sample are scaled up to represent
	// all of them. A tree is fitted to at least one document. Sampling is off if both are 0 or if GOSSTop is 1.
	GOSSTop, GOSSRest float64

	Exact           bool   // consider every value as a threshold, with floating-point sums: slower; excludes bins and categories
	Categorical     []bool // marks the features whose values are categories; nil means none
	BinsByCurvature bool   // bins have equal sums of the initial second derivatives instead of equal numbers of documents

	Redraw bool // repeat the random draws of the loss before every tree

	Sum     TreeSum // how trees are fitted and weighted
	Dropout Dropout // for DARTTrees
	Bag     int     // number of independent sums to average, each with its own random draws; 0 means 1

	Refit bool    // keep the structure of the initial model's trees and learn new leaf values
	Decay float64 // weight of the old leaf values in the new ones, from 0 to 1, for Refit

	Debias Debias // correction of clicks for the slots of documents

	// Steps selects Newton steps or steps along λ. The default is Newton steps if the loss has second derivatives.
	Steps Steps

	// Options of 0 have other meanings than in package tree: Leaves means 15, LeafDocuments 20, LeafCurvature 1e-3 and
	// CategorySmoothing 10. A negative LeafCurvature or CategorySmoothing means 0. Learn sets Workers.
	tree.Options
}

// Streams implements Streamer. Histograms need only the codes of the features, which are in memory. Exact splits need
// every feature value, and DART and forests need the leaves of every tree.
func (l Trees) Streams() bool { return !l.Exact && l.Sum == GradientTrees }

// LearnsMissing implements MissingLearner. Every split has a side for missing values.
func (Trees) LearnsMissing() bool { return true }

// Learn implements Learner.
func (l Trees) Learn(ctx context.Context, t *Task) (*Learned, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := l.checkSigns(t.Inputs()); err != nil {
		return nil, err
	}
	l.warnOfViolations(t)
	if l.Refit {
		l.complete(t)
		return l.refit(ctx, t)
	}
	return Boosting{Rounds: l.Rounds, Patience: l.patience(), Start: l.start, setting: "trees"}.Learn(ctx, t)
}

// checkSigns returns a *ProblemError if the number of monotone signs is neither 0 nor the number of features.
func (l *Trees) checkSigns(features int) error {
	if n := len(l.Monotone); n != 0 && n != features {
		return BadProblem("found %d signs of monotone features, expected one for each of %d, or none", n, features)
	}
	return nil
}

// check returns an error if a setting is out of range or contradicts another one.
func (l *Trees) check() error {
	for _, f := range []struct {
		what  string
		value float64
	}{
		{"fraction of queries", l.QueryFraction}, {"fraction of features", l.FeatureFraction}, {"fraction of documents", l.DocumentFraction},
		{"fraction of top documents", l.GOSSTop}, {"fraction of the rest", l.GOSSRest}, {"rate", l.Rate},
	} {
		if !(f.value >= 0 && f.value <= 1) {
			return BadProblem("found the %s %v, expected a number from 0 to 1", f.what, f.value)
		}
	}
	switch {
	case l.GOSSTop+l.GOSSRest > 1:
		return BadProblem("found the fractions %v of top documents and %v of the rest, expected a sum of at most 1", l.GOSSTop, l.GOSSRest)
	case l.gradientSampled() && 0 < l.DocumentFraction && l.DocumentFraction < 1:
		return BadProblem("found a fraction of documents, %v, and one of top documents, %v, expected one of them: both draw documents", l.DocumentFraction, l.GOSSTop)
	}
	if err := l.checkSum(); err != nil {
		return err
	}
	if err := l.checkDebias(); err != nil {
		return err
	}
	if l.Bag < 0 {
		return BadProblem("found a bag of %d, expected a positive number, or 0 for 1", l.Bag)
	}
	if l.Bag > 1 {
		if err := l.randomized(); err != nil {
			return &ProblemError{err}
		}
	}
	return nil
}

// start creates the members of the bag. They share one grower.
func (l Trees) start(t *Task) (Booster, error) {
	l.complete(t)
	m, base := l.begin(t)
	var err error
	if m.grower, err = l.newGrower(t, base); err != nil {
		return nil, err
	}
	return m, m.grow(t, base)
}

// begin returns a bag without members, and the scores of the initial model on the training data. base is nil if there
// is no initial model.
func (l Trees) begin(t *Task) (m *treeMean, base []float64) {
	d := t.Normalized()
	m = &treeMean{Trees: l, data: d}
	if t.Initial != nil {
		m.initial = &initialTrees{t.Initial.Scorer.(*scorer.Trees), t.Initial.Params}
		base = make([]float64, d.Docs())
		eachQuery(d, l.Workers, func(_ int, q *dataset.Query, x []float32) {
			m.initial.score(base[q.Start:q.Start+q.Len()], x, d.Features)
		})
	}
	return m, base
}

// grow starts the sums of trees of the members. It learns no tree yet.
func (m *treeMean) grow(t *Task, base []float64) error {
	for member := range max(1, m.Bag) {
		r, err := m.Trees.grow(t, m.grower, memberSeed(t.Seed, member), base)
		if err != nil {
			return err
		}
		r.draws = m.initial.number() // continue the numbering of the draws of the initial trees
		m.sums = append(m.sums, r)
	}
	return nil
}

// patience returns Patience as Boosting has it, where 0 means never.
func (l *Trees) patience() int { return max(0, cmp.Or(l.Patience, 100)) }

// complete replaces settings of 0 by their defaults, and negative settings by 0. A second call would change the latter.
func (l *Trees) complete(t *Task) {
	l.Rate, l.Bins, l.Leaves = cmp.Or(l.Rate, 0.05), cmp.Or(l.Bins, tree.MaxBins), cmp.Or(l.Leaves, 15)
	l.LeafDocuments, l.LeafCurvature = cmp.Or(l.LeafDocuments, 20), max(0, cmp.Or(l.LeafCurvature, 1e-3))
	l.CategorySmoothing = max(0, cmp.Or(l.CategorySmoothing, 10))
	l.QueryFraction, l.FeatureFraction = cmp.Or(l.QueryFraction, 1), cmp.Or(l.FeatureFraction, 1)
	l.DocumentFraction = cmp.Or(l.DocumentFraction, 1)
	l.Dropout.Rate, l.Dropout.Skip = cmp.Or(l.Dropout.Rate, 0.1), max(0, cmp.Or(l.Dropout.Skip, 0.5))
	l.Dropout.Most = max(0, cmp.Or(l.Dropout.Most, 50))
	if l.GOSSRest == 0 {
		l.GOSSTop = cmp.Or(l.GOSSTop, 1)
	}
	l.Workers = t.Workers
}

// grow starts a sum of trees at the scores base, nil for 0. It learns no tree yet.
func (l Trees) grow(t *Task, g grower, seed uint64, base []float64) (*treeRounds, error) {
	step, err := l.step(t, seed)
	if err != nil {
		return nil, err
	}
	d := t.Normalized()
	n := d.Docs()
	r := &treeRounds{
		Trees: l, seed: seed, data: d, base: base, loss: step.loss, step: step, grower: g,
		reweighed:  reweighed{table: leafTable{rows: rowsOf(d), workers: l.Workers}, valid: leafTable{workers: l.Workers}},
		treesState: treesState{scores: make([]float64, n)}, lambda: make([]float64, n), second: make([]float64, n),
	}
	copy(r.scores, base)
	if l.Sum != GradientTrees {
		r.target = make([]float64, n)
	}
	r.slots = t.slotFactors(l.Debias, l.Rate)
	if err := r.slots.start(step); err != nil {
		return nil, err
	}
	r.eval()
	return r, nil
}

// step binds the loss to the training data. It returns the treeStep that computes what trees are fitted to.
func (l *Trees) step(t *Task, seed uint64) (*treeStep, error) {
	if t.Loss == nil {
		return nil, errors.New("found no loss, expected one: this learner minimises a loss")
	}
	coster, _ := t.Loss.(loss.Coster)
	if err := t.CheckWork(nil, coster); err != nil {
		return nil, err
	}
	f, err := objective.NewFunctional(t.Normalized(), t.Loss, seed, t.Workers, t.done)
	if err != nil {
		return nil, err
	}
	if f.Queries() == 0 {
		return nil, t.nothingToLearn()
	}
	if !t.Weights.IsZero() {
		if err := f.Weigh(t.Weights); err != nil {
			return nil, err
		}
	}
	return newTreeStep(f, t.Loss.Traits(), l.Steps)
}

// grower grows trees. [tree.Grower] splits by histograms, and [tree.Exact] considers every value.
type grower interface {
	Bar(features []bool)
	Seed(seed uint64)
	Grow(lambda, second []float64, rows []uint32) *tree.Tree
	Values(lambda, second []float64) []float64
	Visit(visit func(leaf int, rows []uint32))
	Add(scores, values []float64)
}

// checkBins returns a *ProblemError if the settings of bins and categories contradict each other or the problem.
func (l *Trees) checkBins(t *Task) error {
	categorical := slices.Contains(l.Categorical, true)
	for j, is := range l.Categorical {
		if is && t.pipeline.Chain(j) != nil && !onlyFills(t.pipeline.Chain(j)) {
			return BadProblem("found a transform (%s) of the categorical feature %d, expected none: categories are told apart by their values, not measured", t.pipeline.Chain(j)[0].Name(), j+1)
		}
	}
	switch {
	case categorical && t.Normalization != dataset.NoNormalization:
		return BadProblem("found categorical features with the normalization %s, which makes other values of them for each query; expected none", t.Normalization)
	case categorical && !t.Views.Raw():
		return BadProblem("found categorical features with the views %s, expected raw alone: categories have no ranks", t.Views)
	case l.Exact && (categorical || l.BinsByCurvature || l.Bins != 0 && l.Bins != tree.MaxBins):
		return BadProblem("found exact splits with categorical features, bins by curvature or less than %d bins, expected none of these, or splits by histograms", tree.MaxBins)
	}
	return nil
}

// onlyFills reports whether a chain does nothing except fill missing values.
func onlyFills(c transform.Chain) bool {
	return !slices.ContainsFunc(c, func(s transform.Step) bool { _, fill := s.(transform.Fill); return !fill })
}

// newGrower returns a grower. base holds the scores at the start, nil for 0. All members of a bag, and several bags,
// may share the grower, because they use the result of one tree before they grow the next. No tree depends on earlier
// trees.
func (l *Trees) newGrower(t *Task, base []float64) (g grower, err error) {
	if err := l.checkBins(t); err != nil {
		return nil, err
	}
	if l.Exact {
		d := t.Normalized()
		return tree.NewExact(d.X(), d.Features, l.Options)
	}
	o := tree.BinOptions{Most: l.Bins, Categorical: l.Categorical, Workers: l.Workers}
	if l.BinsByCurvature {
		if o.Weights, err = l.curvature(t, base); err != nil {
			return nil, err
		}
	}
	matrix, err := l.matrix(t, o)
	if err != nil {
		return nil, err
	}
	return tree.NewGrower(matrix, l.Options)
}

// matrix returns the training data, coded by bins.
func (l *Trees) matrix(t *Task, o tree.BinOptions) (*tree.Matrix, error) {
	d := t.Normalized()
	if d.Streamed() {
		return l.streamedMatrix(t, o)
	}
	bins, err := tree.NewBins(d.X(), d.Features, o)
	if err != nil {
		return nil, err
	}
	return tree.NewMatrix(d.X(), bins, l.Workers), nil
}

// curvature returns the second derivatives at the scores base.
func (l *Trees) curvature(t *Task, base []float64) ([]float64, error) {
	step, err := l.step(t, t.Seed)
	if err != nil {
		return nil, err
	}
	d := step.loss.Rows()
	scores, lambda, second := make([]float64, d), make([]float64, d), make([]float64, d)
	copy(scores, base)
	step.eval(scores, lambda, second)
	return second, nil
}

// eachQuery calls visit for every query, on several goroutines. x has the query's row-major features and is valid
// during the call only.
func eachQuery(d *dataset.Dataset, workers int, visit func(worker int, q *dataset.Query, x []float32)) {
	readers := make([]*dataset.RowReader, parallel.Workers(workers, len(d.Queries)))
	for w := range readers {
		readers[w] = d.Reader()
	}
	parallel.For(len(d.Queries), workers, func(worker, i int) {
		visit(worker, &d.Queries[i], readers[worker].At(i))
	})
}

// Estimates of the bytes per document, in addition to the codes. A grower has row numbers and sums. Each sum of trees
// has scores, λ, second derivatives and the scores of a line search. DART and forests have a second vector of scores,
// and sampling with replacement has scaled copies of λ and the second derivatives. Corrections for slots have the
// slots and weights of documents, and shifted scores or the weights and costs of their pairs.
const (
	growerBytes    = 20
	sumBytes       = 60
	reweighedBytes = 10
	drawnBytes     = 20
	slotBytes      = 64
)

// exactBytes is the size of a feature value in exact splits.
const exactBytes = 8

// leafBytes is the size of a document's leaf number in a tree with more than 256 leaves.
const leafBytes = 2

// classBytes is the size of a validation document's score for one class.
const classBytes = 8

// streamedMatrix codes data that are read query by query. It passes over the data once for each group of features to
// choose their bins, and once more to code the values.
func (l *Trees) streamedMatrix(t *Task, o tree.BinOptions) (*tree.Matrix, error) {
	d := t.Normalized()
	n, step := d.Docs(), tree.Step(d.Docs())
	together := max(loadedTogether, int(min(float64(d.Features), t.memoryLeft()/float64(loadedBytes*n/step))))
	bins, err := tree.NewBinsOf(n, d.Features, together, o, func(sample []float32, from, to int) {
		eachQuery(d, l.Workers, func(_ int, q *dataset.Query, x []float32) {
			for row := (q.Start + step - 1) / step * step; row < q.Start+q.Len(); row += step {
				copy(sample[row/step*(to-from):][:to-from], x[(row-q.Start)*d.Features+from:])
			}
		})
	})
	if err != nil {
		return nil, err
	}
	c := tree.NewCoder(bins, n, parallel.Workers(l.Workers, len(d.Queries)))
	eachQuery(d, l.Workers, func(worker int, q *dataset.Query, x []float32) { c.Code(worker, q.Start, x) })
	return c.Matrix(), nil
}

// Bins of streamed data are chosen for groups of features: at least loadedTogether features, and more if memory
// allows. loadedBytes is the memory per value, for the value and a sorted copy.
const (
	loadedTogether = 8
	loadedBytes    = 3 * 4
)

// Memory implements Estimator.
func (l Trees) Memory(p *Problem) float64 { return l.memory(p, 1) }

// memory estimates the bytes of the given number of bags. Each bag has its own grower if bins depend on the loss.
func (l Trees) memory(p *Problem, bags int) float64 {
	l.complete(&Task{Problem: p})
	n, features := float64(p.Data.Docs()), float64(p.Inputs())
	sums, growers, cell := float64(bags*max(1, l.Bag)), 1.0, 2.0
	if l.BinsByCurvature {
		growers = float64(bags)
	}
	if l.Exact {
		cell = exactBytes
	} else if p.Data.Streamed() {
		cell = 1 // tree.NewCoder stores one byte per value
	}
	each := sumBytes
	if l.Sum != GradientTrees {
		each += reweighedBytes
	}
	if l.Sum == ForestTrees {
		each += drawnBytes
	}
	if l.Debias.By != NoDebias {
		each += slotBytes
	}
	bytes := float64(n * (float64(growers*(growerBytes+float64(cell*features))) + float64(float64(each)*sums)))
	if !l.Exact {
		bytes += float64(growers * float64(l.FeatureBytes()) * features)
	}
	if l.Sum != GradientTrees {
		docs := n
		if p.Valid != nil {
			docs += float64(p.Valid.Docs())
		}
		leaf := 1
		if l.Leaves > byteLeaves {
			leaf = leafBytes
		}
		bytes += float64(sums * docs * float64(leaf*cmp.Or(l.Rounds, defaultRounds)))
	}
	if bags > 1 && p.Valid != nil {
		bytes += float64(classBytes * float64(p.Valid.Docs()) * float64(bags))
	}
	return bytes + float64(p.lossBytes()*sums)
}
