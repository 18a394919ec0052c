package logrank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/ranking"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
)

// gradesOf are the grades that classes were split from.
func gradesOf(c bipartite.Classes) []float64 {
	grades := make([]float64, c.Docs())
	for _, g := range c.Good {
		grades[g] = 1
	}
	return grades
}

// withGradient binds a loss and returns its value and gradient at s.
func withGradient(t *testing.T, l loss.Loss, grades, s []float64) (value float64, grad []float64) {
	t.Helper()
	bound, err := l.Bind(grades, rand.New(rand.NewPCG(5, 6)))
	if err != nil {
		t.Fatal(err)
	}
	lambda := make([]float64, len(s))
	for i := range lambda {
		lambda[i] = math.NaN() // must be overwritten
	}
	value = bound.Eval(s, lambda, new(loss.Scratch))
	for i, v := range lambda {
		lambda[i] = -v
	}
	return value, lambda
}

// TestExpLossIsTheExpectationOfExp compares ExpLoss with log Σ p(y) exp(βΔ(y)) over all
// rankings of a form, and its gradient with central differences of that sum.
func TestExpLossIsTheExpectationOfExp(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	for _, form := range []Form{Factored, Lattice, Shell} {
		for _, shape := range smallShapes {
			for _, gain := range testedGains {
				if form == Factored && gain.name != "auc" && min(shape[0], shape[1]) > 1 {
					continue // no closed form
				}
				docs := mixed(shape[0], shape[1], 2)
				for _, beta := range []float64{1, 7} {
					s := normals(rng, docs.Docs(), 0.4)
					expected := func(s []float64) float64 {
						u := enumerate(form.String(), docs, gain, s)
						var sum, total float64
						for _, y := range u.outcomes {
							p := math.Exp(u.energy(y.inverted, s, nil, 0))
							sum += p * math.Exp(beta*(1-y.gain))
							total += p
						}
						return math.Log(sum / total)
					}
					l := ExpLoss{Options{Form: form, Gain: additive(t, gain.name), Beta: beta}}
					got, grad := withGradient(t, l, gradesOf(docs.Classes), s)
					what := fmt.Sprintf("%v %v %s β=%v", form, shape, gain.name, beta)
					if want := expected(s); !near(got, want, 1e-11) {
						t.Errorf("%s: %v, expected %v", what, got, want)
					}
					checkGradient(t, what, s, grad, expected)
				}
			}
		}
	}
}

// TestLogLossIsTheLogarithmOfTheExpectation compares LogLoss with log Σ p(y) Δ(y) over all
// rankings of a form, and its gradient with central differences of that sum. It is 0 at scores
// that put all goods far above all bads.
func TestLogLossIsTheLogarithmOfTheExpectation(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 3))
	for _, form := range []Form{Factored, Lattice, Shell} {
		for _, shape := range smallShapes {
			for _, gain := range testedGains {
				docs := mixed(shape[0], shape[1], 2)
				grades := gradesOf(docs.Classes)
				l := LogLoss{Options{Form: form, Gain: additive(t, gain.name)}}
				s := normals(rng, docs.Docs(), 0.4)
				expected := func(s []float64) float64 {
					u := enumerate(form.String(), docs, gain, s)
					var sum, total float64
					for _, y := range u.outcomes {
						p := math.Exp(u.energy(y.inverted, s, nil, 0))
						sum += p * (1 - y.gain)
						total += p
					}
					return math.Log(sum/total+1e-5) - math.Log(1e-5)
				}
				got, grad := withGradient(t, l, grades, s)
				what := fmt.Sprintf("%v %v %s", form, shape, gain.name)
				want := expected(s)
				if math.Abs(got-want) > 1e-9 {
					t.Errorf("%s: %v, expected %v", what, got, want)
				}
				checkGradient(t, what, s, grad, expected)
				for _, g := range docs.Good {
					s[g] += 500
				}
				if got, grad = withGradient(t, l, grades, s); math.Abs(got) > 1e-8 {
					t.Errorf("%s: %v where no ranking has a loss", what, got)
				}
				for i, v := range grad {
					if math.IsNaN(v) || math.Abs(v) > 1e-8 {
						t.Errorf("%s: derivative %d is %v where no ranking has a loss", what, i, v)
					}
				}
			}
		}
	}
}

// TestExpLossBounds: E[βΔ] ≤ ExpLoss ≤ β, and with MLE it adds to ConvexLoss, in every form
// and at scores of all sizes.
func TestExpLossBounds(t *testing.T) {
	docs := mixed(4, 9, 2)
	grades := gradesOf(docs.Classes)
	for _, form := range []Form{Factored, Sampled, Lattice, Shell} {
		for which, s := range scoreVectors(docs.Docs()) {
			o := Options{Form: form, Gain: additive(t, "auc"), Beta: 3, Sampler: sample.Options{Samples: 90, Steps: 8, Thin: 1, Mix: 0.7}}
			value := func(l loss.Loss) float64 { v, _ := withGradient(t, l, grades, s); return v }
			log, mean, mle, convex := value(ExpLoss{o}), value(L2{o}), value(MLE{o}), value(ConvexLoss{o})
			slack := 1e-12 * max(1, math.Abs(convex))
			if log < mean-slack || log > o.Beta {
				t.Errorf("%v, %s scores: %v is not between %v and %v", form, which, log, mean, o.Beta)
			}
			if math.Abs(mle+log-convex) > slack {
				t.Errorf("%v, %s scores: MLE %v and ExpLoss %v do not add to ConvexLoss %v", form, which, mle, log, convex)
			}
		}
	}
}

// TestCombinedIsTheMeanOfItsTerms, each term being the loss by itself: of the same stream,
// because a sample does not depend on the measures of its terms. MLE is one, and a term
// without weight is none.
func TestCombinedIsTheMeanOfItsTerms(t *testing.T) {
	weights := map[string]float64{"auc": 2, "map": 0.5, "ndcg@3": 1, "mrr": 0}
	for _, form := range []Form{Sampled, Lattice, Shell} {
		for _, shape := range [][2]int{{1, 7}, {4, 9}, {6, 2}} {
			docs := mixed(shape[0], shape[1], 2)
			grades := gradesOf(docs.Classes)
			o := Options{Form: form, Gain: additive(t, "map"), Beta: 2, Sampler: sample.Options{Samples: 80, Steps: 9, Thin: 2, Levels: 5, Skew: -1, Unique: true, IncludeIdeal: true}}
			if form == Sampled { // walks by levels go by Options.Gain, which single losses cannot be told
				o.Sampler.Levels, o.Sampler.Mix = 0, 0.4
			}
			l := Combined{Options: o, Terms: []Term{{Weight: 0.25}, {Objective: TermL2, Weight: 0}}}
			for name, w := range weights {
				l.Terms = append(l.Terms, Term{Gain: additive(t, name), Weight: w})
			}
			if !l.Traits().Convex {
				t.Error("a mean of convex losses is not convex")
			}
			for which, s := range scoreVectors(docs.Docs()) {
				value, grad := withGradient(t, MLE{o}, grades, s)
				total := 0.25
				value *= total
				for i := range grad {
					grad[i] *= total
				}
				for name, w := range weights {
					single := o
					single.Gain = additive(t, name)
					v, g := withGradient(t, ConvexLoss{single}, grades, s)
					value += w * v
					total += w
					for i := range grad {
						grad[i] += w * g[i]
					}
				}
				for i := range grad {
					grad[i] /= total
				}
				got, gotGrad := withGradient(t, l, grades, s)
				what := fmt.Sprintf("%v %v %s", form, shape, which)
				if !near(got, value/total, 1e-12) {
					t.Errorf("%s: %v, expected %v", what, got, value/total)
				}
				checkVector(t, what, gotGrad, grad, 1e-12)
			}
		}
	}
}

// TestCombinedWithoutConvexity: ExpGain and L2 are terms as ConvexLoss is, in all forms, and the
// mean is no longer convex. A query whose sampled rankings have no gain has no ExpGain.
func TestCombinedWithoutConvexity(t *testing.T) {
	docs := mixed(4, 9, 2)
	grades := gradesOf(docs.Classes)
	sampler := sample.Options{Samples: 80, Steps: 9, Thin: 1, Mix: 0.4, Unique: true, IncludeIdeal: true}
	worst := sample.Options{Samples: 5, Steps: 0, Thin: 1}
	for _, c := range []struct {
		form     Form
		sampler  sample.Options
		gainless bool
	}{{Factored, sampler, false}, {Sampled, sampler, false}, {Sampled, worst, true}, {Lattice, sampler, false}, {Shell, sampler, false}} {
		o := Options{Form: c.form, Gain: additive(t, "ndcg@8"), Beta: 2, Sampler: c.sampler}
		terms := []struct {
			loss loss.Loss
			term Term
		}{
			{ExpGain{o}, Term{o.Gain, 2, TermExpGain}},
			{L2{o}, Term{o.Gain, 0.5, TermL2}},
			{MLE{o}, Term{nil, 1, TermL2}},
			{ConvexLoss{o}, Term{o.Gain, 1.5, TermConvexLoss}},
		}
		if c.form == Factored {
			terms = terms[:3] // ConvexLoss has no closed form
		}
		for which, s := range scoreVectors(docs.Docs()) {
			l := Combined{Options: o}
			var value, total float64
			grad := make([]float64, len(s))
			for _, t1 := range terms {
				l.Terms = append(l.Terms, t1.term)
				v, g := withGradient(t, t1.loss, grades, s)
				value += t1.term.Weight * v
				total += t1.term.Weight
				for i := range grad {
					grad[i] += t1.term.Weight * g[i]
				}
			}
			for i := range grad {
				grad[i] /= total
			}
			got, gotGrad := withGradient(t, l, grades, s)
			what := fmt.Sprintf("%v %s", c.form, which)
			if !near(got, value/total, 1e-12) {
				t.Errorf("%s: %v, expected %v", what, got, value/total)
			}
			checkVector(t, what, gotGrad, grad, 1e-12)
			if l.Traits().Convex {
				t.Errorf("%s: ExpGain and L2 are said to be convex", what)
			}
			bound, err := l.Bind(grades, rand.New(rand.NewPCG(5, 6)))
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := bound.(loss.Diagonal); ok {
				t.Errorf("%s: second derivatives of ExpGain and L2", what)
			}
			alone, _ := withGradient(t, Combined{o, l.Terms[:1]}, grades, s)
			if (alone == 0) != c.gainless {
				t.Errorf("%s: ExpGain alone is %v", what, alone)
			}
		}
	}
}

// TestCombinedWeights: the weights' scale does not matter, and what cannot be weights is
// refused.
func TestCombinedWeights(t *testing.T) {
	docs := mixed(3, 5, 2)
	s := scoreVectors(docs.Docs())["unit"]
	terms := func(w ...float64) Combined {
		l := Combined{Options: Options{Form: Shell}}
		for k, gain := range []measure.Additive{nil, additive(t, "auc"), additive(t, "map")} {
			l.Terms = append(l.Terms, Term{Gain: gain, Weight: w[k]})
		}
		return l
	}
	one, _ := withGradient(t, terms(1, 2, 3), gradesOf(docs.Classes), s)
	ten, _ := withGradient(t, terms(10, 20, 30), gradesOf(docs.Classes), s)
	if !near(one, ten, 1e-14) {
		t.Errorf("ten times the weights give %v for %v", ten, one)
	}
	for _, w := range [][]float64{{0, 0, 0}, {1, -1, 1}, {1, math.NaN(), 1}, {1, math.Inf(1), 1}, {math.MaxFloat64, math.MaxFloat64, 0}} {
		if _, err := terms(w...).Bind(gradesOf(docs.Classes), nil); err == nil {
			t.Errorf("weights %v are taken", w)
		}
	}
	if err := (Combined{Options: Options{Form: Shell}}).Validate(); err == nil {
		t.Error("no terms are taken")
	}
}

// TestMoreGains: further gains of a sample are those that drawing for them gives, the ideal
// ranking's included, and do not change the sample.
func TestMoreGains(t *testing.T) {
	pairs := mixedQuery(4, 9)
	names := []string{"auc", "ndcg@3", "mrr"}
	for _, mix := range []float64{0, 0.5} {
		o := sample.Options{Samples: 70, Steps: 8, Thin: 2, Mix: mix, Unique: true, IncludeIdeal: true}
		draw := func(gain string, more ...string) *sampledLaw {
			var gains []measure.Additive
			for _, name := range more {
				gains = append(gains, additive(t, name))
			}
			l, err := newSampledLaw(pairs, additive(t, gain), 1, o, rand.New(rand.NewPCG(1, 1)), asGains(gains)...)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		with := draw("map", names...)
		if !slices.Equal(with.set.Gain, draw("map").set.Gain) {
			t.Error("further gains change the sample")
		}
		for k, name := range names {
			if !slices.Equal(with.set.More[k], draw(name).set.Gain) {
				t.Errorf("mix %v: %s of the states differs from that of a sample drawn for it", mix, name)
			}
		}
	}
}

func asGains(list []measure.Additive) []ranking.Gain {
	gains := make([]ranking.Gain, len(list))
	for i, g := range list {
		gains[i] = g
	}
	return gains
}
