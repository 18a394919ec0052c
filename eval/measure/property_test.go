package measure

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawGrades(t *rapid.T) []float64 {
	scale := rapid.SampledFrom(gradeScales).Draw(t, "scale")
	return rapid.SliceOfN(rapid.SampledFrom(scale), 1, 60).Draw(t, "grades")
}

func drawMeasure(t *rapid.T) Averager {
	c := rapid.SampledFrom(Conventions()).Draw(t, "convention")
	m, err := Parse(rapid.SampledFrom(allNames).Draw(t, "measure"), c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const slack = 1e-12

// Claim: every measure lies in the range of RangeOf, which is 0 to 1 for all but DCG. The ideal order has the
// highest value of all, which is 1 for the normalised ones.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, ranked := drawMeasure(t), drawGrades(t)
		v, _ := m.Value(ranked)
		of := RangeOf(m)
		if !(v >= of.Low) || v > of.High+slack || of.Low != 0 || (of.High == 1) == isDCG(m.Name()) || RangeOf(Column(m.Name())) != of {
			t.Fatalf("%s = %v, with the range %v", m.Name(), v, of)
		}
		ideal := slices.Clone(ranked)
		slices.Sort(ideal)
		slices.Reverse(ideal)
		best, _ := m.Value(ideal)
		if v > best+slack {
			t.Fatalf("%s: %v beats the ideal order's %v", m.Name(), v, best)
		}
		if slices.Contains([]string{"map", "ndcg", "ndcg@1", "mean-ndcg"}, m.Name()) && best != 0 && best < 1-slack {
			t.Fatalf("%s of the ideal order = %v", m.Name(), best)
		}
	})
}

// Claim: moving a better document above a worse one lowers no measure.
func TestImprovingSwap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, ranked := drawMeasure(t), drawGrades(t)
		i := rapid.IntRange(0, len(ranked)-1).Draw(t, "i")
		j := rapid.IntRange(i, len(ranked)-1).Draw(t, "j")
		if ranked[i] > ranked[j] {
			ranked[i], ranked[j] = ranked[j], ranked[i]
		}
		before, _ := m.Value(ranked)
		ranked[i], ranked[j] = ranked[j], ranked[i]
		after, _ := m.Value(ranked)
		if after < before-slack {
			t.Fatalf("%s falls from %v to %v", m.Name(), before, after)
		}
	})
}

// Claim: pessimistic ≤ input, average ≤ optimistic, and all but input do not
// depend on the order of the input; nor does input when equal scores come with
// equal grades.
func TestPolicies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, grades := drawMeasure(t), drawGrades(t)
		scores := make([]float64, len(grades))
		for i := range scores {
			scores[i] = rapid.SampledFrom([]float64{-1e300, -1, 0, 1, 2.5}).Draw(t, "score")
		}
		place := rapid.Permutation(indices(len(grades))).Draw(t, "order")
		grades2, scores2 := make([]float64, len(grades)), make([]float64, len(grades))
		for i, p := range place {
			grades2[i], scores2[i] = grades[p], scores[p]
		}
		var v [4]float64
		for ties := range v {
			r := Ranker{Ties: TiePolicy(ties)}
			v[ties], _ = r.Value(m, grades, scores)
			again, _ := r.Value(m, grades2, scores2)
			if r.Ties != TiesInput && (again < v[ties]-slack || again > v[ties]+slack) {
				t.Fatalf("%s %v: %v becomes %v in another input order", m.Name(), r.Ties, v[ties], again)
			}
		}
		for _, ties := range []TiePolicy{TiesInput, TiesAverage} {
			if v[ties] < v[TiesPessimistic]-slack || v[ties] > v[TiesOptimistic]+slack {
				t.Fatalf("%s %v: %v is outside %v…%v", m.Name(), ties, v[ties], v[TiesPessimistic], v[TiesOptimistic])
			}
		}
		byGrade, _ := new(Ranker).Value(m, grades, grades)
		byGrade2, _ := new(Ranker).Value(m, grades2, grades2)
		if byGrade != byGrade2 {
			t.Fatalf("%s: %v and %v for documents that only differ in name", m.Name(), byGrade, byGrade2)
		}
	})
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
