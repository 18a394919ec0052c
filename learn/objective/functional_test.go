package objective

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/logrank"
)

func newFunctional(t testing.TB, d *dataset.Dataset, l loss.Loss, workers int) *Functional {
	t.Helper()
	f, err := NewFunctional(d, l, 7, workers, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// diagonals are losses with second derivatives; LambdaRank's ties and XE-NDCG's
// targets are drawn.
func diagonals(t testing.TB) map[string]loss.Loss {
	t.Helper()
	ndcg, err := measure.Parse("ndcg@5", measure.Convention{}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]loss.Loss{
		"ranknet": loss.RankNet{}, "lambdarank": loss.LambdaRank{Measure: ndcg},
		"listnet": loss.ListNet{}, "xendcg": loss.XENDCG{}, "mle": logrank.MLE{},
	}
}

func notNumbers(n int) []float64 { return slices.Repeat([]float64{math.NaN()}, n) }

// TestFunctionalIsItsQueries: value, λ and second derivatives are those of every query
// bound by itself, rows in the order of the data, and 0 where the loss is Nothing.
func TestFunctionalIsItsQueries(t *testing.T) {
	d := randomData(t, 40, 2)
	s := randomPoint(d.Docs(), 2)
	for name, l := range diagonals(t) {
		f := newFunctional(t, d, l, 3)
		if err := f.Diagonal(); err != nil {
			t.Fatal(name, err)
		}
		var want float64
		bound := 0
		wantLambda, wantSecond := make([]float64, d.Docs()), make([]float64, d.Docs())
		row := 0
		for i := range d.Queries {
			q := &d.Queries[i]
			b, err := l.Bind(q.Grades, random.Stream(7, "bind", q.Content()))
			if err != nil {
				t.Fatal(err)
			}
			if b != loss.Nothing {
				bound++
			}
			to := row + q.Len()
			want += b.(loss.Diagonal).EvalSecond(s[row:to], wantLambda[row:to], wantSecond[row:to], new(loss.Scratch))
			row = to
		}
		if f.Rows() != d.Docs() || f.Queries() != bound || bound > 32 {
			t.Errorf("%s: %d rows and %d queries, want %d and %d, at most 32", name, f.Rows(), f.Queries(), d.Docs(), bound)
		}
		lambda, second := notNumbers(d.Docs()), notNumbers(d.Docs())
		if got := f.EvalSecond(s, lambda, second); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("%s: value %v, want %v", name, got, want)
		}
		if !slices.Equal(lambda, wantLambda) || !slices.Equal(second, wantSecond) {
			t.Errorf("%s: derivatives are not the queries'", name)
		}
		value := f.EvalSecond(s, lambda, second)
		lambda = notNumbers(d.Docs())
		if got := f.Eval(s, lambda); got != value || !slices.Equal(lambda, wantLambda) {
			t.Errorf("%s: value %v and other λ without second derivatives, %v with", name, got, value)
		}
		if got := f.Eval(s, nil); got != value {
			t.Errorf("%s: value %v without λ, %v with", name, got, value)
		}
	}
}

// TestRiskIsFunctionalOfScores: a Risk at w is the Functional at the scores w·x, and
// its gradient −Xᵀλ.
func TestRiskIsFunctionalOfScores(t *testing.T) {
	d := randomData(t, 30, 4)
	w, grad := randomPoint(4, 1), make([]float64, 4)
	value := newRisk(t, d, loss.XENDCG{}, Options{Seed: 7}).Eval(w, grad)
	s, lambda, want := make([]float64, d.Docs()), make([]float64, d.Docs()), make([]float64, 4)
	for i := range s {
		for j, v := range d.X()[4*i : 4*i+4] {
			s[i] += w[j] * float64(v)
		}
	}
	if got := newFunctional(t, d, loss.XENDCG{}, 0).Eval(s, lambda); math.Abs(got-value) > 1e-12*value {
		t.Errorf("the functional is %v, the risk %v", got, value)
	}
	for i, l := range lambda {
		for j, v := range d.X()[4*i : 4*i+4] {
			want[j] -= l * float64(v)
		}
	}
	for j := range want {
		if math.Abs(grad[j]-want[j]) > 1e-12 {
			t.Errorf("derivative %d is %v, want %v", j, grad[j], want[j])
		}
	}
}

// TestFunctionalSameBits: for any number of workers, and in every round of draws.
func TestFunctionalSameBits(t *testing.T) {
	d := randomData(t, 200, 1)
	s := randomPoint(d.Docs(), 2)
	for name, l := range diagonals(t) {
		one := newFunctional(t, d, l, 1)
		for _, workers := range []int{2, 5, 16} {
			many := newFunctional(t, d, l, workers)
			for _, round := range []int{0, 3, 0} {
				a, b := notNumbers(d.Docs()), notNumbers(d.Docs())
				c, e := notNumbers(d.Docs()), notNumbers(d.Docs())
				if err := errors.Join(one.Redraw(round), many.Redraw(round)); err != nil {
					t.Fatal(err)
				}
				if x, y := one.EvalSecond(s, a, b), many.EvalSecond(s, c, e); x != y || !slices.Equal(a, c) || !slices.Equal(b, e) {
					t.Errorf("%s, round %d: %d workers give other numbers than one", name, round, workers)
				}
			}
		}
	}
}

// TestFunctionalErrors: losses that do not bind or have no second derivatives, a
// context that ended, and slices of another length.
func TestFunctionalErrors(t *testing.T) {
	d := randomData(t, 10, 1)
	if _, err := NewFunctional(d, refusing{}, 1, 0, nil); !errors.Is(err, errRefused) || !strings.Contains(err.Error(), `query "q0"`) {
		t.Errorf("a loss that does not bind: %v", err)
	}
	if err := newFunctional(t, d, loss.RankCosine{}, 0).Diagonal(); err == nil {
		t.Error("RankCosine has second derivatives")
	}
	done := make(chan struct{})
	f, err := NewFunctional(d, loss.RankNet{}, 1, 2, done)
	if err != nil {
		t.Fatal(err)
	}
	marks := make([]float64, d.Docs())
	f.Mark(marks)
	for i := range d.Queries {
		q := &d.Queries[i]
		bound, err := loss.RankNet{}.Bind(q.Grades, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k := range q.Len() {
			if taught := marks[q.Start+k] == 1; taught == (bound == loss.Nothing) {
				t.Errorf("query %d: document %d is marked %v, the loss is %T", i, k, marks[q.Start+k], bound)
			}
		}
	}
	close(done)
	if v := f.Eval(make([]float64, d.Docs()), nil); !math.IsNaN(v) {
		t.Errorf("interrupted, the value is %v", v)
	}
	if _, err := NewFunctional(d, loss.RankNet{}, 1, 2, done); !errors.Is(err, ErrInterrupted) {
		t.Errorf("interrupted: error %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("scores of another number of rows pass")
		}
	}()
	f.Eval(make([]float64, d.Docs()-1), nil)
}

// TestFunctionalAllocatesNothing, once its memory has grown.
func TestFunctionalAllocatesNothing(t *testing.T) {
	d := randomData(t, 20, 1)
	f := newFunctional(t, d, loss.RankNet{}, 2)
	s, lambda, second := make([]float64, d.Docs()), make([]float64, d.Docs()), make([]float64, d.Docs())
	f.EvalSecond(s, lambda, second)
	if n := testing.AllocsPerRun(10, func() {
		f.Eval(s, lambda)
		f.EvalSecond(s, lambda, second)
	}); n != 0 {
		t.Errorf("evaluations allocate %v times", n)
	}
}

// BenchmarkFunctional evaluates 1000 queries of 120 documents in the shares of web
// collections' grades, with one worker, and reports the time a document. Of its 30
// pairs a document, RankNet's vector loop takes some 30 ns; second derivatives are a
// loop of their own with a division a pair, and take 60 ns more.
func BenchmarkFunctional(b *testing.B) {
	const queries, docs = 1000, 120
	rng := rand.New(rand.NewPCG(1, 2))
	var builder dataset.Builder
	for q := range queries {
		grades := make([]float64, docs)
		for i := range grades {
			grades[i] = math.Floor(min(4, -0.9*math.Log(rng.Float64())))
		}
		if err := builder.Add(string(rune('a'+q%26))+strings.Repeat("x", q/26), grades, make([]float32, docs), nil); err != nil {
			b.Fatal(err)
		}
	}
	d := builder.Dataset()
	s, lambda, second := randomPoint(d.Docs(), 1), make([]float64, d.Docs()), make([]float64, d.Docs())
	losses := diagonals(b)
	for _, name := range slices.Sorted(maps.Keys(losses)) {
		f := newFunctional(b, d, losses[name], 1)
		perDocument := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(d.Docs()), "ns/doc")
		}
		b.Run(name+"/first", func(b *testing.B) {
			for b.Loop() {
				f.Eval(s, lambda)
			}
			perDocument(b)
		})
		b.Run(name+"/second", func(b *testing.B) {
			for b.Loop() {
				f.EvalSecond(s, lambda, second)
			}
			perDocument(b)
		})
	}
}
