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
// with the weights w of the queries (default 1). Learners without parameters use it, such as boosted
// trees; a [Risk] puts a scorer before it. Scores and derivatives are slices of Rows() numbers, one for
// each document in the order of the data set.
//
// Values and derivatives have the same bits for any number of workers. Evaluations allocate nothing after
// the first. Calls must not overlap.
type Functional struct {
	loss    loss.Loss
	seed    uint64
	content func() func(query int) string // of all queries, read when the loss first draws
	queries []boundQuery
	weights loss.PairWeights // zero, or one a row
	rows    int
	done    <-chan struct{}

	sums    *parallel.Sums // of values only
	workers int
	scratch []loss.Scratch // one a worker
	plain   rangeFunc      // of Eval
	second  rangeFunc      // of EvalSecond
	at      point
}

// rangeFunc adds up the queries from ≤ i < to, as [parallel.Sums] asks for.
type rangeFunc func(worker, from, to int, down []float64) float64

// point is where a Functional is being evaluated, and what is wanted.
type point struct{ scores, lambda, second []float64 }

// boundQuery is a query whose loss is not [loss.Nothing].
type boundQuery struct {
	id     string
	number int       // in the data set
	x      []float32 // nil of streamed data
	grades []float64
	row    int // of its first document
	docs   int
	loss   loss.QueryLoss

	weight  float64   // above 0
	weights []float64 // of the documents; nil: all 1
}

// NewFunctional binds the loss to every query of d, which must not change
// afterwards. Queries whose loss is [loss.Nothing], or whose weight is 0, are left out: their λ
// is 0. Weights of documents, all above 0, are an error unless the loss is a
// [loss.DocumentWeighted] that takes them.
// What the loss draws depends on the seed and the query's content alone ([dataset.Query.Content]). There are as many
// goroutines as workers, GOMAXPROCS if that is 0. Once done, a context's channel or nil,
// is closed, NewFunctional returns ErrInterrupted, and evaluations end before their next
// query and return NaN. It is an error if the loss does not fit a query.
func NewFunctional(
	d *dataset.Dataset, l loss.Loss, seed uint64, workers int, done <-chan struct{},
) (*Functional, error) {
	return functionalOf(d, l, nil, seed, workers, done)
}

// functionalOf is NewFunctional with losses that were bound before, nil for none.
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
	f.plain, f.second = f.each(f.evalQuery), f.each(f.secondOfQuery)
	return f, nil
}

// bindAll binds the loss to the queries in parallel, each with a random stream keyed by its content. It
// keeps the queries whose loss is not Nothing.
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

// bind binds the loss to all queries with the random streams of a purpose. It returns the first error and
// the number of its query. Closing done ends it.
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
			pairs := f.weights.Part(q.row, q.row+q.docs).Times(q.weights)
			q.loss, errs[i] = f.loss.(loss.PairWeighted).BindWeighted(q.grades, pairs, rng)
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

// newSums returns sums over the queries of values and of vectors of dim elements.
func (f *Functional) newSums(dim int) *parallel.Sums {
	docs := make([]int, len(f.queries))
	for i, q := range f.queries {
		docs[i] = q.docs
	}
	return parallel.NewSums(dim, parallel.Split(docs, parallel.DefaultBlocks))
}

// each returns a function that adds up the terms of a range of queries in order, or returns NaN once done
// is closed. It is the only loop over queries in this package.
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

// Weigh sets the weights of documents in pairs, one for each row, which must not change afterwards. The
// error says that the loss is no [loss.PairWeighted] or that the weights do not fit; f must then not be
// used.
func (f *Functional) Weigh(w loss.PairWeights) error {
	if _, ok := f.loss.(loss.PairWeighted); !ok {
		return fmt.Errorf("the loss %T takes no weights of documents in pairs, expected a loss.PairWeighted", f.loss)
	}
	if err := w.Validate(f.rows); err != nil {
		return err
	}
	f.weights = w
	if i, err := f.bind("bind", f.workers, f.done); err != nil {
		return fmt.Errorf("query %q: %w", f.queries[i].id, err)
	}
	return nil
}

// Queries returns the number of queries whose loss is not [loss.Nothing].
func (f *Functional) Queries() int { return len(f.queries) }

// Rows returns the number of documents of the data set, including queries that are left out.
func (f *Functional) Rows() int { return f.rows }

// Eval returns L(scores), and overwrites lambda, if it is not nil, with λ.
func (f *Functional) Eval(scores, lambda []float64) float64 {
	f.mustHaveRows("scores", scores)
	if lambda != nil {
		f.mustHaveRows("lambda", lambda)
		clear(lambda) // of queries that are left out
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

// EvalSecond is Eval, and overwrites second with the second derivative of the loss by each score,
// ∂²L/∂s_i² ([loss.Diagonal]). Neither slice may be nil. It panics if Diagonal returns an error.
func (f *Functional) EvalSecond(scores, lambda, second []float64) float64 {
	f.mustHaveRows("scores", scores)
	f.mustHaveRows("lambda", lambda)
	f.mustHaveRows("second", second)
	clear(lambda)
	clear(second)
	return f.run(f.second, point{scores, lambda, second})
}

// Mark sets rows to the weight of the query times the weight of the document. It sets 0 for queries whose
// loss is [loss.Nothing].
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

// of returns a query's part of a slice of one number a row.
func (q *boundQuery) of(rows []float64) []float64 {
	return rows[q.row : q.row+q.docs : q.row+q.docs]
}

// Redraw binds the loss again with new random numbers. They depend only on the seed, the round and the
// query's content; round 0 has those of [NewFunctional]. After an error, which names the query, f must not
// be used.
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
