package objective

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
)

// Functional is a loss over the queries of a data set as a function of the
// documents' scores,
//
//	L(s) = Σ_q w_q loss_q(s_q),   λ = −∂L/∂s,
//
// with the query weights w (default 1). Learners that set the scores directly use it, such as boosted
// trees. A [Risk] computes the scores by a scorer with parameters. Scores and derivatives are slices of
// Rows() numbers, one for each document in the order of the data set.
//
// Values and derivatives have the same bits for any number of workers. After the first evaluation, no
// memory is allocated. A Functional must not be used by several goroutines at once.
type Functional struct {
	loss    loss.Loss
	seed    uint64
	content func() func(query int) string // content of all queries, computed when the loss first draws random numbers
	queries []boundQuery
	weights loss.PairWeights // of pairs times those of documents, one for each row; or the zero value
	rows    int
	done    <-chan struct{}

	sums    *parallel.Sums // sums of values, without vectors
	workers int
	scratch []loss.Scratch // one for each worker
	plain   rangeFunc      // for Eval
	second  rangeFunc      // for EvalSecond
	costs   rangeFunc      // for PairCosts
	at      point
}

// rangeFunc sums the values of the queries from ≤ i < to, in the form that [parallel.Sums] calls. down
// is the vector of the sum, to which it adds the vectors of the queries.
type rangeFunc func(worker, from, to int, down []float64) float64

// point has the scores at which a Functional is evaluated, and the slices to fill with derivatives or costs. A slice
// is nil if its derivatives are not needed.
type point struct{ scores, lambda, second []float64 }

// boundQuery is a query whose loss is not [loss.Nothing].
type boundQuery struct {
	id     string
	number int       // index in the data set
	x      []float32 // features; nil if the data are streamed
	grades []float64
	row    int // row of its first document
	docs   int // number of documents
	loss   loss.QueryLoss

	weight  float64   // positive
	weights []float64 // weights of the documents; nil if all are 1
}

// NewFunctional binds the loss to every query of d, which must not change afterwards. Queries whose
// loss is [loss.Nothing] or whose weight is 0 are left out: their λ is 0.
//
// Random numbers of the loss depend only on the seed and the content of the query
// ([dataset.Query.Content]). workers is the number of goroutines; 0 means GOMAXPROCS.
//
// done is the channel of a context, or nil. If it is closed, NewFunctional returns ErrInterrupted. A
// later evaluation stops before its next query and returns NaN.
//
// It is an error if the loss cannot be bound to a query, or if documents have weights and the loss is no
// [loss.DocumentWeighted].
func NewFunctional(
	d *dataset.Dataset, l loss.Loss, seed uint64, workers int, done <-chan struct{},
) (*Functional, error) {
	return functionalOf(d, l, nil, seed, workers, done)
}

// functionalOf does what NewFunctional does. It reuses losses in bindings, which may be nil.
func functionalOf(
	d *dataset.Dataset, l loss.Loss, bindings *Bindings, seed uint64, workers int, done <-chan struct{},
) (*Functional, error) {
	f, err := bindAll(d, l, bindings, seed, workers, done)
	if err != nil {
		return nil, err
	}
	f.sums = f.newSums(0)
	f.workers = parallel.Workers(workers, f.sums.Blocks())
	f.scratch = make([]loss.Scratch, f.workers)
	f.plain, f.second, f.costs = f.each(f.evalQuery), f.each(f.secondOfQuery), f.each(f.costsOfQuery)
	return f, nil
}

// bindAll binds the loss to the queries in parallel. The random stream of a query is keyed by its
// content. Only queries with a positive weight whose loss is not [loss.Nothing] are kept.
func bindAll(d *dataset.Dataset, l loss.Loss, bindings *Bindings, seed uint64, workers int, done <-chan struct{}) (*Functional, error) {
	if d.Weights() != nil && !loss.WeighsDocuments(l) {
		return nil, fmt.Errorf("found weights of documents, expected none: the loss %T does not take them", l)
	}
	f := &Functional{loss: l, seed: seed, queries: make([]boundQuery, len(d.Queries)), done: done, content: sync.OnceValue(d.Contents)}
	for i := range d.Queries {
		q := &d.Queries[i]
		f.queries[i] = boundQuery{id: q.ID, number: i, x: q.X, grades: q.Grades, row: f.rows, docs: q.Len(), weight: q.Weight(), weights: q.Weights()}
		f.rows += q.Len()
	}
	if i, err := f.bindFrom(bindings, d, workers, done); err != nil {
		if errors.Is(err, ErrInterrupted) {
			return nil, ErrInterrupted
		}
		return nil, fmt.Errorf("query %q: %w", f.queries[i].id, err)
	}
	kept := f.queries[:0]
	for _, q := range f.queries {
		if q.loss != loss.Nothing && q.weight > 0 {
			kept = append(kept, q)
		}
	}
	f.queries = kept
	return f, nil
}

// bind binds the loss to all queries. purpose is part of the key of the queries' random streams. If losses cannot be
// bound, bind returns the first error in the order of the queries, and the index of its query. It stops if done is
// closed.
func (f *Functional) bind(purpose string, workers int, done <-chan struct{}) (query int, err error) {
	errs := make([]error, len(f.queries))
	parallel.For(len(f.queries), workers, func(_, i int) {
		if closed(done) {
			errs[i] = ErrInterrupted
			return
		}
		q := &f.queries[i]
		number := q.number
		rng := random.Deferred(f.seed, purpose, func() string { return f.content()(number) })
		switch {
		case !f.weights.IsZero():
			q.loss, errs[i] = f.loss.(loss.PairWeighted).BindWeighted(q.grades, f.weights.Part(q.row, q.row+q.docs), rng)
		case q.weights != nil:
			q.loss, errs[i] = f.loss.(loss.DocumentWeighted).BindDocuments(q.grades, q.weights, rng)
		default:
			q.loss, errs[i] = f.loss.Bind(q.grades, rng)
		}
		if q.loss == nil && errs[i] == nil {
			errs[i] = fmt.Errorf("the loss %T made nothing of the query, expected a QueryLoss, loss.Nothing among them", f.loss)
		}
	})
	for i, err := range errs {
		if err != nil {
			return i, err
		}
	}
	return 0, nil
}

// newSums returns the memory for a parallel sum over the queries, of values and vectors of dim elements.
func (f *Functional) newSums(dim int) *parallel.Sums {
	docs := make([]int, len(f.queries))
	for i, q := range f.queries {
		docs[i] = q.docs
	}
	return parallel.NewSums(dim, parallel.Split(docs, parallel.DefaultBlocks))
}

// each returns a function that calls term for each query of a range, in order, and returns the sum of
// the values. If f.done is closed, the function stops and returns NaN. This is the only loop over queries
// in the package.
func (f *Functional) each(term func(worker, query int, down []float64) float64) rangeFunc {
	return func(worker, from, to int, down []float64) float64 {
		var value float64
		for i := from; i < to; i++ {
			if closed(f.done) {
				return math.NaN()
			}
			value += term(worker, i, down)
		}
		return value
	}
}

// Weigh sets the weights of documents in pairs and binds the loss again. w has one weight for each row.
// It is an error if the loss is no [loss.PairWeighted] or the weights do not fit the data. After an error f
// must not be used.
func (f *Functional) Weigh(w loss.PairWeights) error {
	if _, ok := f.loss.(loss.PairWeighted); !ok {
		return fmt.Errorf("the loss %T takes no weights of documents in pairs, expected a loss.PairWeighted", f.loss)
	}
	f.weights = loss.PairWeights{Better: make([]float64, f.rows), Worse: make([]float64, f.rows)}
	if err := f.setWeights(w); err != nil {
		return err
	}
	if i, err := f.bind("bind", f.workers, f.done); err != nil {
		return fmt.Errorf("query %q: %w", f.queries[i].id, err)
	}
	return nil
}

// Reweigh changes the weights that [Functional.Weigh] set, without binding the loss again. Costs must return
// nil.
func (f *Functional) Reweigh(w loss.PairWeights) error { return f.setWeights(w) }

// setWeights sets the elements of f.weights.
func (f *Functional) setWeights(w loss.PairWeights) error {
	if err := w.Validate(f.rows); err != nil {
		return err
	}
	for i := range f.queries {
		q := &f.queries[i]
		pairs := w.Part(q.row, q.row+q.docs).Times(q.weights)
		copyOrOnes(q.of(f.weights.Better), pairs.Better)
		copyOrOnes(q.of(f.weights.Worse), pairs.Worse)
	}
	return nil
}

// copyOrOnes copies src to dst, which has the same length. If src is nil, it sets dst to ones.
func copyOrOnes(dst, src []float64) {
	if src == nil {
		for i := range dst {
			dst[i] = 1
		}
		return
	}
	copy(dst, src)
}

// Costs returns an error if the loss does not compute the costs of pairs. PairCosts and Reweigh must then not
// be called.
func (f *Functional) Costs() error {
	for i := range f.queries {
		if _, ok := f.queries[i].loss.(loss.PairCosts); !ok {
			return fmt.Errorf("the loss %T does not tell the costs of pairs", f.loss)
		}
	}
	return nil
}

// PairCosts overwrites better and worse with the costs of the pairs of each document ([loss.PairCosts]), times
// the weight of the query. Queries that are left out have costs of 0. PairCosts panics if Costs returns an
// error.
func (f *Functional) PairCosts(scores, better, worse []float64) {
	f.mustHaveRows("scores", scores)
	f.mustHaveRows("better", better)
	f.mustHaveRows("worse", worse)
	clear(better)
	clear(worse)
	f.run(f.costs, point{scores, better, worse})
}

// Queries returns the number of queries that are not left out.
func (f *Functional) Queries() int { return len(f.queries) }

// Rows returns the number of documents of the data set, including queries that are left out.
func (f *Functional) Rows() int { return f.rows }

// Eval returns L(scores). If lambda is not nil, Eval overwrites it with λ.
func (f *Functional) Eval(scores, lambda []float64) float64 {
	f.mustHaveRows("scores", scores)
	if lambda != nil {
		f.mustHaveRows("lambda", lambda)
		clear(lambda) // queries that are left out have λ = 0
	}
	return f.run(f.plain, point{scores: scores, lambda: lambda})
}

// Diagonal returns an error if the loss has no second derivatives. EvalSecond must then not be called.
func (f *Functional) Diagonal() error {
	for i := range f.queries {
		if _, ok := f.queries[i].loss.(loss.Diagonal); !ok {
			return errors.New("the loss has no second derivatives by score")
		}
	}
	return nil
}

// EvalSecond returns L(scores) and overwrites lambda with λ. It overwrites second with the second
// derivatives ∂²L/∂s_i² ([loss.Diagonal]). Neither slice may be nil. EvalSecond panics if Diagonal
// returns an error.
func (f *Functional) EvalSecond(scores, lambda, second []float64) float64 {
	f.mustHaveRows("scores", scores)
	f.mustHaveRows("lambda", lambda)
	f.mustHaveRows("second", second)
	clear(lambda)
	clear(second)
	return f.run(f.second, point{scores, lambda, second})
}

// Mark sets each element of rows to the weight of the query times the weight of the document. Documents
// of queries that are left out get 0.
func (f *Functional) Mark(rows []float64) {
	f.mustHaveRows("marks", rows)
	clear(rows)
	for i := range f.queries {
		for d := range f.queries[i].docs {
			rows[f.queries[i].row+d] = f.queries[i].weight
			if w := f.queries[i].weights; w != nil {
				rows[f.queries[i].row+d] *= w[d]
			}
		}
	}
}

func (f *Functional) mustHaveRows(what string, x []float64) {
	if len(x) != f.rows {
		panic(fmt.Sprintf("objective: %d %s for %d rows", len(x), what, f.rows))
	}
}

func (f *Functional) run(sum rangeFunc, at point) float64 {
	f.at = at
	value := f.sums.Run(f.workers, sum)
	f.at = point{}
	return value
}

func (f *Functional) evalQuery(worker, i int, _ []float64) float64 {
	q := &f.queries[i]
	var lambda []float64
	if f.at.lambda != nil {
		lambda = q.of(f.at.lambda)
	}
	value := q.loss.Eval(q.of(f.at.scores), lambda, &f.scratch[worker])
	if q.weight != 1 {
		kernel.Scale(q.weight, lambda)
	}
	return q.weight * value
}

func (f *Functional) secondOfQuery(worker, i int, _ []float64) float64 {
	q := &f.queries[i]
	diagonal := q.loss.(loss.Diagonal)
	lambda, second := q.of(f.at.lambda), q.of(f.at.second)
	value := diagonal.EvalSecond(q.of(f.at.scores), lambda, second, &f.scratch[worker])
	if q.weight != 1 {
		kernel.Scale(q.weight, lambda)
		kernel.Scale(q.weight, second)
	}
	return q.weight * value
}

func (f *Functional) costsOfQuery(worker, i int, _ []float64) float64 {
	q := &f.queries[i]
	better, worse := q.of(f.at.lambda), q.of(f.at.second)
	q.loss.(loss.PairCosts).PairCosts(q.of(f.at.scores), better, worse, &f.scratch[worker])
	if q.weight != 1 {
		kernel.Scale(q.weight, better)
		kernel.Scale(q.weight, worse)
	}
	return 0
}

// of returns the elements of a query in a slice with one number for each row.
func (q *boundQuery) of(rows []float64) []float64 {
	return rows[q.row : q.row+q.docs : q.row+q.docs]
}

// Redraw binds the loss again with new random numbers, which depend only on the seed, the round and the content of
// the query. Round 0 repeats the numbers of [NewFunctional]. The error names the query. After an error, f must not be
// used.
func (f *Functional) Redraw(round int) error {
	purpose := "bind"
	if round != 0 {
		purpose += " " + strconv.Itoa(round)
	}
	if i, err := f.bind(purpose, f.workers, nil); err != nil {
		return fmt.Errorf("query %q, draws of round %d: %w", f.queries[i].id, round, err)
	}
	return nil
}
