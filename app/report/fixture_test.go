package report

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune/ensemble"
)

// hostile is a name that would run a script, or break out of one, if any place of
// the page took it for markup.
const hostile = `</script><script>window.stolen=1</script><img src=x onerror="window.stolen=2">'"&\`

// generated returns data of OHSUMED's kind, but small.
func generated(t testing.TB, queries, docs, features int, seed uint64) *dataset.Dataset {
	t.Helper()
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		t.Fatal(err)
	}
	o := shape.Defaults
	o.Queries, o.Docs, o.Features, o.Seed = queries, docs, features, seed
	o.Relevant = docs / 4
	d, err := shape.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// renamed returns d with query ids of the test's choice.
func renamed(t testing.TB, d *dataset.Dataset, id func(i int) string) *dataset.Dataset {
	t.Helper()
	var b dataset.Builder
	for i := range d.Queries {
		q := &d.Queries[i]
		docs := make([]string, q.Len())
		for j := range docs {
			docs[j] = q.DocID(j)
			if i == 0 {
				docs[j] = fmt.Sprint(hostile, j)
			}
		}
		if err := b.Add(id(i), q.Grades, q.X, docs); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// trained learns by a method with some settings.
func trained(t testing.TB, d *dataset.Dataset, name string, set map[string]string) *model.Model {
	t.Helper()
	m, err := method.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	p := &method.Problem{Problem: train.Problem{Data: d, Seed: 1}}
	if p.Values, err = m.Values(set); err != nil {
		t.Fatal(err)
	}
	if _, ok := set["hidden"]; ok {
		p.Scorer = "net"
	}
	if m.UsesMeasure {
		if p.Measure, err = measure.Parse("ndcg@10", measure.Convention{}, measure.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	trained, err := m.Train(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return trained
}

// system makes a system of a model.
func system(t testing.TB, name string, m *model.Model, d *dataset.Dataset) ensemble.System {
	t.Helper()
	scores, err := m.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	return ensemble.System{Name: name, Model: m, Test: scores}
}

func mustMeasures(t testing.TB, names, convention string) []measure.Measure {
	t.Helper()
	c, err := measure.ParseConvention(convention)
	if err != nil {
		t.Fatal(err)
	}
	list, err := measure.ParseList(names, c, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// scenario is the input of a report: two folds, a linear scorer, one by sampling, a
// network, and scores alone; hostile names, and curves.
type scenario struct {
	config    Config
	divisions []ensemble.Division
	curves    []Curve
}

var small = sync.OnceValue(func() func(t testing.TB) *scenario {
	var once sync.Once
	var s *scenario
	return func(t testing.TB) *scenario {
		once.Do(func() { s = newScenario(t) })
		if s == nil {
			t.Fatal("the scenario could not be made")
		}
		return s
	}
})()

func newScenario(t testing.TB) *scenario {
	d := renamed(t, generated(t, 24, 40, 8, 5), func(i int) string {
		if i == 0 {
			return hostile
		}
		return fmt.Sprintf("q%d", i)
	})
	s := &scenario{
		config: Config{
			Title: "Rankings " + hostile, Source: hostile, Measures: mustMeasures(t, "map,ndcg@5,err", "letor3"),
			Permutations: 2000, Resamples: 500, Seed: 1,
		},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range 2 {
		var parts [2][]int
		for i := range d.Queries {
			parts[i%2] = append(parts[i%2], i)
		}
		train, test := d.Subset(parts[1-k]), d.Subset(parts[k])
		loose := make([]float64, test.Docs())
		for i := range loose {
			loose[i] = float64(rng.IntN(6)) // with ties
		}
		s.divisions = append(s.divisions, ensemble.Division{
			Name: fmt.Sprintf("Fold%d", k+1), Test: test,
			Systems: []ensemble.System{
				system(t, "mle", trained(t, train, "mle", nil), test),
				system(t, "sampled "+hostile, trained(t, train, "convexloss", map[string]string{"samples": "100", "C": "1"}), test),
				system(t, "net", trained(t, train, "ranknet", map[string]string{"hidden": "3", "epochs": "3"}), test),
				{Name: "scores", Test: loose},
			},
		})
	}
	v := func(x float64) *float64 { return &x }
	s.curves = []Curve{
		{Name: "net " + hostile, Points: []Point{{Epoch: 1, Cost: 9, Validation: v(0.3)}, {Epoch: 2, Cost: 5, Validation: v(0.5), Best: true}, {Epoch: 3, Cost: 4, Validation: v(0.4)}}},
		{Name: "mle", Points: []Point{{Epoch: 0, Cost: 3}, {Epoch: 1, Cost: 1, Best: true}}},
	}
	return s
}

// build returns the report of a scenario, and its page.
func (s *scenario) build(t testing.TB) (*Report, []byte) {
	t.Helper()
	r, err := Build(context.Background(), s.config, s.divisions, s.curves)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return r, b.Bytes()
}
