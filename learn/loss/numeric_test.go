package loss_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/losstest"
)

// crossEntropyValue is the value of ListNet, written from its formula.
func crossEntropyValue(grades []float64) func(scores []float64) float64 {
	if slices.Min(grades) == slices.Max(grades) {
		return nil
	}
	logSum := func(x []float64) float64 {
		top, sum := slices.Max(x), 0.0
		for _, v := range x {
			sum += math.Exp(v - top)
		}
		return top + math.Log(sum)
	}
	target, norm := make([]float64, len(grades)), logSum(grades)
	for i, g := range grades {
		target[i] = math.Exp(g - norm)
	}
	return func(scores []float64) float64 {
		norm, value := logSum(scores), 0.0
		for i, s := range scores {
			value += target[i] * (norm - s)
		}
		return value
	}
}

// Claim: a loss that is given by its value alone passes the suite of all losses, as convex and with nothing known of it.
func TestNumericConforms(t *testing.T) {
	losstest.Run(t, losstest.Case{Name: "convex", Diagonal: true, Loss: loss.Numeric{Value: crossEntropyValue, Properties: loss.Traits{Convex: true, ShiftInvariant: true, Smooth: true}}})
	losstest.Run(t, losstest.Case{Name: "unknown", Loss: loss.Numeric{Value: crossEntropyValue}})
}

// numericQuery returns random grades from 0 to 4 and scores.
func numericQuery(docs int) (grades, scores []float64) {
	rng := rand.New(rand.NewPCG(1, uint64(docs)))
	for range docs {
		grades, scores = append(grades, float64(rng.IntN(5))), append(scores, 2*rng.NormFloat64())
	}
	grades[0], grades[1] = 0, 4
	return grades, scores
}

// Claim: numerical λ of ListNet agree with the derived ones to 1e-11, and second derivatives to 1e-7, even if the value
// sorts its argument.
func TestNumericAgrees(t *testing.T) {
	sorting := func(grades []float64) func([]float64) float64 {
		value := crossEntropyValue(grades)
		return func(scores []float64) float64 {
			defer slices.Sort(scores)
			return value(scores)
		}
	}
	for _, docs := range []int{2, 10, 50, 200} {
		grades, scores := numericQuery(docs)
		numeric := bind(t, loss.Numeric{Value: sorting, Properties: loss.Traits{Convex: true}}, grades).(loss.Diagonal)
		derived := bind(t, loss.ListNet{}, grades).(loss.Diagonal)
		got, want, second, wantSecond := make([]float64, docs), make([]float64, docs), make([]float64, docs), make([]float64, docs)
		var scratch loss.Scratch
		before := slices.Clone(scores)
		value, wantValue := numeric.EvalSecond(scores, got, second, &scratch), derived.EvalSecond(scores, want, wantSecond, &scratch)
		if !slices.Equal(scores, before) {
			t.Fatalf("%d documents: the scores changed", docs)
		}
		if math.Abs(value-wantValue) > 1e-13*wantValue {
			t.Errorf("%d documents: the value is %v, want %v", docs, value, wantValue)
		}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-11 || math.Abs(second[i]-wantSecond[i]) > 1e-7 {
				t.Errorf("%d documents: λ %v and second derivative %v, want %v and %v", docs, got[i], second[i], want[i], wantSecond[i])
			}
		}
	}
}

func bind(t *testing.T, l loss.Loss, grades []float64) loss.QueryLoss {
	t.Helper()
	b, err := l.Bind(grades, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Claim: IsNumeric tells numerical λ from derived ones.
func TestIsNumeric(t *testing.T) {
	grades, _ := numericQuery(3)
	for _, convex := range []bool{false, true} {
		if b := bind(t, loss.Numeric{Value: crossEntropyValue, Properties: loss.Traits{Convex: convex}}, grades); !loss.IsNumeric(b) {
			t.Errorf("%T is not numeric", b)
		}
	}
	if b := bind(t, loss.ListNet{}, grades); loss.IsNumeric(b) {
		t.Errorf("%T is numeric", b)
	}
}

// Claim: a numeric loss refuses what it cannot evaluate, and says how to go on.
func TestNumericRefuses(t *testing.T) {
	for want, l := range map[string]loss.Numeric{
		"found 201 documents, expected at most 200: the numeric loss mine takes 804 values for one λ": {Name: "mine", Value: crossEntropyValue},
		"found 201 documents, expected at most 3":                                                     {Value: crossEntropyValue, MaxDocuments: 3},
		"without a Value":   {},
		"found NonGradient": {Value: crossEntropyValue, Properties: loss.Traits{NonGradient: true}},
	} {
		if _, err := l.Bind(make([]float64, 201), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s in it", err, want)
		}
	}
	if _, err := (loss.Numeric{Value: crossEntropyValue, MaxDocuments: 201}).Bind(make([]float64, 201), nil); err != nil {
		t.Error(err)
	}
}

// dual is a number with a derivative: forward-mode automatic differentiation, which is compared with differences here.
type dual struct{ v, d float64 }

// dualCrossEntropy is crossEntropyValue on dual numbers.
func dualCrossEntropy(target []float64, scores []dual) (value dual) {
	top := slices.MaxFunc(scores, func(a, b dual) int { return int(math.Copysign(1, a.v-b.v)) })
	var sum dual
	for _, s := range scores {
		e := math.Exp(s.v - top.v)
		sum.v, sum.d = sum.v+e, sum.d+e*(s.d-top.d)
	}
	norm := dual{top.v + math.Log(sum.v), top.d + sum.d/sum.v}
	for i, s := range scores {
		value.v, value.d = value.v+target[i]*(norm.v-s.v), value.d+target[i]*(norm.d-s.d)
	}
	return value
}

// BenchmarkNumeric compares the λ of central differences, of dual numbers and of the derived formula, by time and by
// the largest error.
func BenchmarkNumeric(b *testing.B) {
	for _, docs := range []int{10, 50, 200} {
		grades, scores := numericQuery(docs)
		derived, err := loss.ListNet{}.Bind(grades, nil)
		if err != nil {
			b.Fatal(err)
		}
		var scratch loss.Scratch
		want, lambda := make([]float64, docs), make([]float64, docs)
		derived.Eval(scores, want, &scratch)
		target := make([]float64, docs) // λ = target − softmax
		derived.Eval(make([]float64, docs), target, &scratch)
		for i := range target {
			target[i] += 1 / float64(docs)
		}
		numeric, err := loss.Numeric{Value: crossEntropyValue}.Bind(grades, nil)
		if err != nil {
			b.Fatal(err)
		}
		duals := make([]dual, docs)
		for _, way := range []struct {
			name string
			eval func()
		}{
			{"derived", func() { derived.Eval(scores, lambda, &scratch) }},
			{"differences", func() { numeric.Eval(scores, lambda, &scratch) }},
			{"duals", func() {
				for i := range lambda {
					for k, s := range scores {
						duals[k] = dual{s, 0}
					}
					duals[i].d = 1
					lambda[i] = -dualCrossEntropy(target, duals).d
				}
			}},
		} {
			b.Run(fmt.Sprintf("%s/%d", way.name, docs), func(b *testing.B) {
				for b.Loop() {
					way.eval()
				}
				worst := 0.0
				for i := range want {
					worst = max(worst, math.Abs(lambda[i]-want[i]))
				}
				b.ReportMetric(1e15*worst, "error/1e-15")
			})
		}
	}
}
