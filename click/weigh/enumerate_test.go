package weigh_test

import (
	"context"
	"math"
	"testing"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/click/weigh"
	"github.com/listwise/listwise/dataset"
)

// world is one query whose pages are drawn from rankings with known probabilities and a position-based model.
type world struct {
	docs     []string
	gamma    map[string]float64
	theta    []float64
	beta     []float64 // probability of a click by trust, nil for none
	rankings [][]string
	chances  []float64
	orders   bool // pages name the rankings
}

// features of the documents of the world's query.
func (w *world) features(t *testing.T) *dataset.Dataset {
	t.Helper()
	var b dataset.Builder
	x := make([]float32, len(w.docs))
	for i := range x {
		x[i] = float32(i)
	}
	if err := b.Add("q", make([]float64, len(w.docs)), x, w.docs); err != nil {
		t.Fatal(err)
	}
	return b.Dataset()
}

// page is a page and its probability.
type page struct {
	click.Page

	chance float64
}

// pages are all pages that can occur.
func (w *world) pages() (all []page) {
	for i, ranking := range w.rankings {
		for mask := range 1 << len(ranking) {
			p := page{chance: w.chances[i], Page: click.Page{Query: "q", Docs: ranking, Clicks: make([]int, len(ranking)), Weight: 1}}
			for r, d := range ranking {
				v := w.theta[r] * w.gamma[d]
				if w.beta != nil {
					v += w.beta[r]
				}
				if mask>>r&1 == 1 {
					p.Clicks[r] = 1
				} else {
					v = 1 - v
				}
				p.chance *= v
			}
			if w.orders {
				for k, o := range w.rankings {
					p.Orders = append(p.Orders, click.Order{Docs: o, Probability: w.chances[k]})
				}
			}
			if p.chance > 0 {
				all = append(all, p)
			}
		}
	}
	return all
}

// expect returns the expectation of each grade over all logs of two pages, given that there is a grade. A document without a row has
// the grade absent.
func (w *world) expect(t *testing.T, o weigh.Options, absent float64) map[string]float64 {
	t.Helper()
	features, mean := w.features(t), map[string]float64{}
	pages := w.pages()
	for a := range pages {
		for b := range pages {
			chance := pages[a].chance * pages[b].chance
			grades := w.grades(t, features, o, absent, &pages[a].Page, &pages[b].Page)
			for d, g := range grades {
				mean[d] += chance * g
			}
		}
	}
	return mean
}

func (w *world) grades(t *testing.T, features *dataset.Dataset, o weigh.Options, absent float64, pages ...*click.Page) map[string]float64 {
	t.Helper()
	var l weigh.Log
	clicks := 0
	for _, p := range pages {
		if err := l.Add(p); err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Clicks {
			clicks += c
		}
	}
	grades := map[string]float64{}
	for _, d := range w.docs {
		grades[d] = absent
	}
	table, err := l.Table(context.Background(), features, o)
	switch {
	case clicks == 0 && err != nil: // a log without clicks is refused; its grades are 0
		for _, p := range pages {
			for _, d := range p.Docs {
				grades[d] = 0
			}
		}
		if o.Debias == weigh.IPS {
			for _, d := range w.docs {
				grades[d] = 0
			}
		}
		return grades
	case err != nil:
		t.Fatal(err)
	}
	q := &table.Data.Queries[0]
	for j, g := range q.Grades {
		grades[q.DocID(j)] = g
	}
	return grades
}

func fixedWorld() *world {
	return &world{
		docs: []string{"a", "b", "c"}, theta: []float64{1, .5, .25},
		gamma:    map[string]float64{"a": .7, "b": .4, "c": .9},
		rankings: [][]string{{"a", "b", "c"}}, chances: []float64{1},
	}
}

func stochasticWorld() *world {
	return &world{
		docs: []string{"a", "b", "c", "d"}, theta: []float64{1, .4},
		gamma:    map[string]float64{"a": .7, "b": .4, "c": .9, "d": .2},
		rankings: [][]string{{"a", "b"}, {"b", "c"}, {"c", "d"}}, chances: []float64{.5, .3, .2},
	}
}

func options(d weigh.Debias, w *world) weigh.Options {
	o := weigh.Defaults(d)
	o.Propensities, o.Clip = thetas(w.theta...), 0
	for k, beta := range w.beta {
		s := &o.Propensities.Slots[k]
		s.Alpha, s.Beta, s.Theta = &propensity.Value{Value: w.theta[k]}, &propensity.Value{Value: beta}, w.theta[k]/w.theta[0]
	}
	return o
}

// Claim (section 3 of Joachims, Swaminathan and Schnabel, WSDM 2017, for grades): clicks over examinations have relevance as their
// expectation, and so have sums of a grade times any function of scores. Click rates have θγ.
func TestExaminationsAreUnbiased(t *testing.T) {
	w := fixedWorld()
	examined, rates := w.expect(t, options(weigh.Examinations, w), 0), w.expect(t, options(weigh.None, w), 0)
	ips := w.expect(t, options(weigh.IPS, w), 0)
	for r, d := range w.docs {
		near(t, "examinations of "+d, examined[d], w.gamma[d])
		near(t, "ips of "+d, ips[d], w.gamma[d])
		near(t, "none of "+d, rates[d], w.theta[r]*w.gamma[d])
	}
	s := map[string]float64{"a": 0.3, "b": -1, "c": 2}
	losses := map[string]func(g map[string]float64) float64{
		"dcg":       func(g map[string]float64) float64 { return g["c"] + g["a"]/math.Log2(3) + g["b"]/2 },
		"softmax":   func(g map[string]float64) (v float64) { return softmaxLoss(g, s) },
		"all pairs": func(g map[string]float64) (v float64) { return pairLoss(g, s) },
	}
	for name, loss := range losses {
		mean := 0.0
		pages, features := w.pages(), w.features(t)
		for i := range pages {
			mean += pages[i].chance * loss(w.grades(t, features, options(weigh.Examinations, w), 0, &pages[i].Page))
		}
		near(t, name, mean, loss(w.gamma))
	}
}

func softmaxLoss(g, s map[string]float64) (v float64) {
	sum := 0.0
	for _, d := range []string{"a", "b", "c"} {
		sum += math.Exp(s[d])
	}
	for _, d := range []string{"a", "b", "c"} {
		v -= g[d] * (s[d] - math.Log(sum))
	}
	return v
}

func pairLoss(g, s map[string]float64) (v float64) {
	for _, i := range []string{"a", "b", "c"} {
		for _, j := range []string{"a", "b", "c"} {
			if i != j {
				v += g[i] * math.Log1p(math.Exp(s[j]-s[i]))
			}
		}
	}
	return v
}

// Claim: a product of two grades, as in pairs of a better and a worse document, is biased unless both are corrected: the
// expectation of clicked over skipped is not γ_i(1 − γ_j), and that of (c_i/θ_i)(1 − c_j/θ_j) is.
func TestPairsNeedBothCorrections(t *testing.T) {
	w := fixedWorld()
	skipped, both := 0.0, 0.0
	for _, p := range w.pages() {
		ca, cc := float64(p.Clicks[0]), float64(p.Clicks[2])
		skipped += p.chance * ca / w.theta[0] * (1 - cc)
		both += p.chance * ca / w.theta[0] * (1 - cc/w.theta[2])
	}
	want := w.gamma["a"] * (1 - w.gamma["c"])
	near(t, "both corrected", both, want)
	if math.Abs(skipped-want) < 0.1 {
		t.Errorf("clicked over skipped: %v, expected it far from %v", skipped, want)
	}
}

// Claim: with a least propensity, the expectation of ips is γ min(1, ρ/clip).
func TestClipHasAKnownBias(t *testing.T) {
	w := fixedWorld()
	o := options(weigh.IPS, w)
	o.Clip = 0.4
	got := w.expect(t, o, 0)
	for r, d := range w.docs {
		near(t, d, got[d], w.gamma[d]*min(1, w.theta[r]/0.4))
	}
}

// Claim: with the rankings that could have been shown, ips has relevance as its expectation, for documents that few
// pages show, too. That of clicks over the slot's propensity alone is less by the share of pages that show them.
func TestPolicyAwarePropensities(t *testing.T) {
	w := stochasticWorld()
	w.orders = true
	got := w.expect(t, options(weigh.IPS, w), math.NaN()) // every document has a row
	plain := map[string]float64{}
	for _, p := range w.pages() {
		for r, d := range p.Docs {
			plain[d] += p.chance * float64(p.Clicks[r]) / w.theta[r]
		}
	}
	for _, d := range w.docs {
		near(t, d, got[d], w.gamma[d])
		if plain[d] > 0.99*w.gamma[d] {
			t.Errorf("%s: the slot's propensity gives %v, expected less than %v", d, plain[d], w.gamma[d])
		}
	}
}

// Claim: ρ is Σ over rankings of probability times θ of the document's place; without orders it is the log's mean.
func TestPropensityOfALog(t *testing.T) {
	w := stochasticWorld()
	features := w.features(t)
	first := &click.Page{Query: "q", Docs: []string{"a", "b"}, Clicks: []int{1, 1}, Weight: 1}
	second := &click.Page{Query: "q", Docs: []string{"b", "c"}, Clicks: []int{0, 1}, Weight: 3}
	g := w.grades(t, features, options(weigh.IPS, w), 0, first, second)
	near(t, "a, shares of the log", g["a"], 1/(1.0/4)/4)
	near(t, "b, shares of the log", g["b"], 1/((0.4+3)/4)/4)
	w.orders = true
	for _, p := range []*click.Page{first, second} {
		for k, o := range w.rankings {
			p.Orders = append(p.Orders, click.Order{Docs: o, Probability: w.chances[k]})
		}
	}
	g = w.grades(t, features, options(weigh.IPS, w), 0, first, second)
	near(t, "a, orders", g["a"], 1/(.5*1)/4)
	near(t, "b, orders", g["b"], 1/(.5*.4+.3*1)/4)
	near(t, "c, orders", g["c"], 3/(.3*.4+.2*1)/4)
	near(t, "d, never shown", g["d"], 0)
	first.Orders, second.Orders = first.Orders[:2], second.Orders[:2] // not all rankings: not used
	g = w.grades(t, features, options(weigh.IPS, w), 0, first, second)
	near(t, "b, incomplete orders", g["b"], 1/((0.4+3)/4)/4)
}

// Claim: with clicks by trust, the affine grade has relevance as its expectation, and examinations have not if they
// ignore trust.
func TestAffineIsUnbiased(t *testing.T) {
	w := fixedWorld()
	w.theta, w.beta = []float64{.8, .5, .25}, []float64{.1, .05, .02}
	// Grades below 0 are set to 0, so the expectation is compared for a log of which no grade is negative.
	pages := []*click.Page{}
	for range 10 {
		pages = append(pages, &click.Page{Query: "q", Docs: w.docs, Clicks: []int{0, 0, 0}, Weight: 1})
	}
	for i := range 10 {
		for r, n := range []int{7, 3, 3} {
			if i < n {
				pages[i].Clicks[r] = 1
			}
		}
	}
	features := w.features(t)
	for _, debias := range []weigh.Debias{weigh.Affine, weigh.Examinations} {
		g := w.grades(t, features, options(debias, w), 0, pages...)
		for r, n := range []float64{7, 3, 3} {
			near(t, string(debias)+" "+w.docs[r], g[w.docs[r]], (n-10*w.beta[r])/(10*w.theta[r]))
		}
	}
	if _, err := new(weigh.Log).Table(context.Background(), features, options(weigh.Affine, fixedWorld())); err == nil {
		t.Error("affine took propensities without trust")
	}
}

// Claim: the expectation of the robust grade is relevance if θ is right and there is no shrinkage, whatever the regression. It is
// relevance if the regression is right, whatever the shrinkage. Its variance is less than that of clicks over
// examinations if the regression is near.
func TestRobustIsDoublyRobust(t *testing.T) {
	const gamma, theta = 0.4, 0.5
	moments := func(o weigh.Options, guess float64) (mean, variance float64) {
		for c, chance := range []float64{1 - theta*gamma, theta * gamma} {
			g := o.Grade(float64(c), theta, guess)
			mean += chance * g
			variance += chance * (g - gamma) * (g - gamma)
		}
		return mean, variance
	}
	robust, examinations := weigh.Defaults(weigh.Robust), weigh.Defaults(weigh.Examinations)
	for _, guess := range []float64{0, .1, .4, .9} {
		o := robust
		o.Shrink = 0
		mean, _ := moments(o, guess)
		near(t, "without shrinkage", mean, gamma)
	}
	for _, shrink := range []float64{0, 1, 5, 100} {
		o := robust
		o.Shrink = shrink
		mean, _ := moments(o, gamma)
		near(t, "right regression", mean, gamma)
	}
	if mean, _ := moments(robust, .9); math.Abs(mean-gamma) < 0.1 {
		t.Errorf("shrinkage to a wrong regression: expectation %v, expected it far from %v", mean, gamma)
	}
	_, near := moments(robust, 0.45)
	if _, plain := moments(examinations, 0); near > plain/10 {
		t.Errorf("variances %v and %v, expected that of robust to be less than a tenth", near, plain)
	}
}
