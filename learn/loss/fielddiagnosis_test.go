package loss

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

func additiveOrOther(t testing.TB, name string) measure.Measure {
	t.Helper()
	m, err := measure.Parse(name, measure.LETOR3, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func bind(t testing.TB, l Loss, grades []float64) QueryLoss {
	t.Helper()
	b, err := l.Bind(grades, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFieldInsideACell: within one ranking a λ that is a sum over pairs of documents is
// minus the gradient of a convex function (the Jacobian of −λ is a weighted Laplacian of
// the graph of pairs), and sums to zero. The λ by finite differences with a step that
// depends on the scores is no gradient.
func TestFieldInsideACell(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	for _, name := range []string{"ndcg@10", "map", "mrr", "err"} {
		grades := gradesOf(rng, 9)
		s := make([]float64, len(grades))
		for i, place := range rng.Perm(len(s)) {
			s[i] = 0.4*float64(place) + 0.1*rng.Float64()
		}
		for k := range lambdas {
			if Lambda(k) == LambdaDifference {
				continue
			}
			d := DiagnoseField(bind(t, LambdaRank{Measure: additiveOrOther(t, name), Kind: Lambda(k)}, grades), s, 1e-5)
			if !(d.Asymmetry < 1e-8 && d.SmallestEigenvalue > -1e-9 && math.Abs(d.LambdaSum) < 1e-14) {
				t.Errorf("%v %s: %+v", Lambda(k), name, d)
			}
		}
	}
}

// TestFieldsThatFail: the diagnosis finds a λ whose Jacobian is not symmetric, one whose
// potential is not convex and one that does not sum to zero. λ = −As has the Jacobian A.
func TestFieldsThatFail(t *testing.T) {
	s := []float64{0.3, -1}
	for _, c := range []struct {
		field linearField
		want  FieldDiagnosis
	}{
		{linearField{2, 0, 0, 3}, FieldDiagnosis{0, 2, 2.4}},
		{linearField{1, 1, -1, 1}, FieldDiagnosis{1, 1, 2}},
		{linearField{1, 2, 2, 1}, FieldDiagnosis{0, -1, 2.1}},
		{linearField{0, 0, 0, 0}, FieldDiagnosis{}},
	} {
		d := DiagnoseField(c.field, s, 1e-4)
		if !near(d.Asymmetry, c.want.Asymmetry, 1e-9) || !near(d.SmallestEigenvalue, c.want.SmallestEigenvalue, 1e-9) || !near(d.LambdaSum, c.want.LambdaSum, 1e-12) {
			t.Errorf("%v: %+v, want %+v", c.field, d, c.want)
		}
	}
	// The circulation of a rotation around a circle is 2π r².
	circle := Circle{[]float64{5, 7}, []float64{1, 0}, []float64{0, 1}, 3}
	if got := Circulation(linearField{0, 1, -1, 0}, circle, 8); !near(got, 18*math.Pi, 1e-12) {
		t.Errorf("a rotation's circulation is %v, want 18π", got)
	}
}

// linearField is λ = −As for a 2×2 matrix A.
type linearField [4]float64

func (a linearField) Eval(s, lambda []float64, _ *Scratch) float64 {
	if lambda != nil {
		lambda[0] = -a[0]*s[0] - a[1]*s[1]
		lambda[1] = -a[2]*s[0] - a[3]*s[1]
	}
	return 0
}

// TestCirculation: for three documents graded 0, 1 and 2, on a loop around their
// tie, LambdaRank's λ under NDCG has circulation 0.0177 and RankNet's none. (The figures are
// those of an independent program; discount 1/log2(1 + r), unit circle in the
// plane of the first two scores, 4000 steps.)
func TestCirculation(t *testing.T) {
	standard, err := measure.ParseConvention("standard")
	if err != nil {
		t.Fatal(err)
	}
	m, err := measure.Parse("ndcg", standard, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	grades := []float64{0, 1, 2}
	loop := TieCircle(make([]float64, 3), [3]int{0, 1, 2}, 1)
	if got := Circulation(bind(t, LambdaRank{Measure: m}, grades), loop, 4000); math.Abs(math.Abs(got)-0.0177) > 5e-5 {
		t.Errorf("LambdaRank's circulation is %v, want ±0.0177", got)
	}
	if got := Circulation(bind(t, RankNet{}, grades), loop, 4000); math.Abs(got) > 1e-13 {
		t.Errorf("RankNet's circulation is %v, want 0", got)
	}
}

// TestCirculationOnSmallCircles: LambdaRank's circulation too is 0 in a cell; around a
// triple tie it is in proportion to the radius, since the jumps of λ do not depend on
// it, unless the mean of the three scores stays, where it is 0.
func TestCirculationOnSmallCircles(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	grades, s := []float64{0, 3, 1, 2, 0, 1}, []float64{0, 2, 4, 6, 8, 10}
	lambdaRank, rankNet := bind(t, LambdaRank{Measure: additive(t, "ndcg")}, grades), bind(t, RankNet{}, grades)
	work := func(b QueryLoss, c Circle, want float64) {
		t.Helper()
		if got := Circulation(b, c, 6000); math.Abs(got-want) > 1e-5 {
			t.Errorf("on the circle %+v the circulation is %v, want %v", c, got, want)
		}
	}
	for range 5 {
		c := RandomCircle(s, 0.9, rng)
		if uv := dot(c.U, c.V); math.Abs(uv) > 1e-15 || !near(dot(c.U, c.U), 1, 1e-15) || !near(dot(c.V, c.V), 1, 1e-15) {
			t.Fatalf("U and V are not orthonormal: %v, %v", c.U, c.V)
		}
		work(lambdaRank, c, 0)
		work(rankNet, c, 0)
	}
	tie := TieCircle(s, [3]int{1, 2, 3}, 0.2)
	work(rankNet, tie, 0)
	large := Circulation(lambdaRank, tie, 30000)
	tie.Radius /= 2
	if small := Circulation(lambdaRank, tie, 30000); math.Abs(small) < 1e-4 || !near(large/small, 2, 0.05) {
		t.Errorf("circulation %v, and %v at half the radius", large, small)
	}
	copy(tie.U, []float64{0, math.Sqrt2 / 2, -math.Sqrt2 / 2, 0, 0, 0})
	copy(tie.V, []float64{0, 1 / math.Sqrt(6), 1 / math.Sqrt(6), -2 / math.Sqrt(6), 0, 0})
	work(lambdaRank, tie, 0)
}

// TestTieCircle: the three documents tie in the middle, and nothing else moves.
func TestTieCircle(t *testing.T) {
	c := TieCircle([]float64{5, 1, 9, 2, 3}, [3]int{3, 1, 4}, 0.5)
	checkVector(t, "center", c.Center, []float64{5, 2, 9, 2, 2}, 0)
	checkVector(t, "U", c.U, []float64{0, 0, 0, 1, 0}, 0)
	checkVector(t, "V", c.V, []float64{0, 1, 0, 0, 0}, 0)
}
