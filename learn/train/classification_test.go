package train

import (
	"context"
	"math"
	"testing"

	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/model/scorer"
)

// Without a penalty to speak of, the probabilities add up to the number of documents of
// each grade: the biases' derivatives vanish at the minimum.
func TestClassificationCountsGrades(t *testing.T) {
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		t.Fatal(err)
	}
	o := shape.Defaults
	o.Queries, o.Docs, o.Features, o.Relevant = 20, 30, 3, 10
	d, err := shape.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	levels, level := d.Levels()
	for _, ordinal := range []bool{false, true} {
		m, err := Run(context.Background(), &Problem{Data: d, Learner: Classification{Ordinal: ordinal, C: 1e7, Tolerance: 1e-12, Iterations: 5000}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		s, ok := m.Scorer.(scorer.Classes)
		if !ok {
			t.Fatalf("the scorer is %T", m.Scorer)
		}
		p := make([]float64, s.Functions()*d.Docs())
		s.Apply(p, m.Params, d.X())
		s.Probabilities(p)
		for k := range s.Functions() {
			var expected, actual float64
			for i, class := range level {
				expected += p[k*d.Docs()+i]
				if class == k && !ordinal || class > k && ordinal {
					actual++
				}
			}
			if math.Abs(expected-actual) > 0.01 {
				t.Errorf("ordinal %t, grade %v: %v documents expected, there are %v", ordinal, levels[k], expected, actual)
			}
		}
		if m.Training.Gap == nil {
			t.Error("no certified gap")
		}
	}
}
