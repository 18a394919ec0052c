package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/propensity"
)

// world has every ranking of three of five documents, with its probability when logged (mu) and when evaluated (pi).
type world struct {
	orders [][]int
	mu, pi []float64
	theta  []float64 // of ranks
	gamma  []float64 // of documents
	worth  []float64 // of clicks at ranks

	// click returns the probability of a click at a rank of a ranking, given the clicks above. nil is θγ.
	click func(order []int, rank int, above []int) float64
}

func newWorld() *world {
	rng := rand.New(rand.NewPCG(1, 2))
	w := &world{theta: []float64{1, 0.6, 0.3}, worth: []float64{1, 1 / math.Log2(3), 0.5}}
	for range 5 {
		w.gamma = append(w.gamma, 0.1+0.8*rng.Float64())
	}
	for a := range 5 {
		for b := range 5 {
			for c := range 5 {
				if a != b && b != c && a != c {
					w.orders = append(w.orders, []int{a, b, c})
				}
			}
		}
	}
	w.mu, w.pi = simplex(rng, len(w.orders)), simplex(rng, len(w.orders))
	return w
}

func simplex(rng *rand.Rand, n int) []float64 {
	p, total := make([]float64, n), 0.0
	for i := range p {
		p[i] = rng.ExpFloat64() + 0.01
		total += p[i]
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

func (w *world) probability(order []int, rank int, above []int) float64 {
	if w.click != nil {
		return w.click(order, rank, above)
	}
	return w.theta[rank] * w.gamma[order[rank]]
}

func ids(order []int) []string {
	list := make([]string, len(order))
	for i, d := range order {
		list[i] = "d" + strconv.Itoa(d)
	}
	return list
}

// each calls use for every ranking with every combination of clicks, and the probability of the clicks.
func (w *world) each(use func(i int, clicks []int, p float64)) {
	for i, order := range w.orders {
		for bits := range 8 {
			clicks, p := []int{bits & 1, bits >> 1 & 1, bits >> 2}, 1.0
			for r := range order {
				q := w.probability(order, r, clicks[:r])
				if clicks[r] == 0 {
					q = 1 - q
				}
				p *= q
			}
			use(i, clicks, p)
		}
	}
}

// truth returns the expected value of the evaluated policy, or of its relevance.
func (w *world) truth(relevance bool) (sum float64) {
	if relevance {
		for i, order := range w.orders {
			for r, d := range order {
				sum += w.pi[i] * w.gamma[d] * w.worth[r]
			}
		}
		return sum
	}
	w.each(func(i int, clicks []int, p float64) {
		for r, c := range clicks {
			sum += w.pi[i] * p * float64(c) * w.worth[r]
		}
	})
	return sum
}

// possible returns the rankings with their probabilities.
func (w *world) possible(p []float64) []click.Order {
	list := make([]click.Order, len(w.orders))
	for i, order := range w.orders {
		list[i] = click.Order{Docs: ids(order), Probability: p[i]}
	}
	return list
}

// fixed is a regression with fixed predictions.
type fixed map[string]float64

func (f fixed) Has(propensity.Pair) bool { return true }
func (f fixed) Start(pairs []propensity.Pair) propensity.Fitter {
	return &fixedFitter{f, pairs}
}

type fixedFitter struct {
	fixed
	pairs []propensity.Pair
}

func (f *fixedFitter) Fit(_, _, predictions []float64) error {
	for i, p := range f.pairs {
		predictions[i] = f.fixed[p.Doc]
	}
	return nil
}

// expectation returns the result of an evaluation of all pages, each with its probability as weight. The value is
// then the expectation of the estimator.
func (w *world) expectation(t *testing.T, c Config, change func(p *click.Page)) *Result {
	t.Helper()
	pi := w.possible(w.pi)
	c.Policies = []Policy{{Name: "new", Rankings: func(*click.Page) []click.Order { return pi }}}
	c.Worth = func(r int) float64 { return w.worth[r] }
	if c.Slots == nil {
		c.Slots = map[string]Slot{}
		for r, v := range w.theta {
			c.Slots[strconv.Itoa(r+1)] = Slot{Alpha: v}
		}
	}
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	mu := w.possible(w.mu)
	for _, use := range []func(*click.Page) error{e.Count, e.Add} {
		w.each(func(i int, clicks []int, p float64) {
			for _, query := range []string{"a", "b"} { // so that a regression has others to learn from
				page := &click.Page{Query: query, Docs: mu[i].Docs, Clicks: clicks, Orders: mu, Weight: w.mu[i] * p / 2}
				if change != nil {
					change(page)
				}
				if err := use(page); err != nil {
					t.Fatal(err)
				}
			}
		})
		if !e.prepared {
			if err := e.Prepare(); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := e.Result()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Claim: by enumeration of all rankings and clicks, every estimator is unbiased to 1e-10 under its assumption, for the
// value of clicks and for DCG, and the mean of its weights is 1. So are the normalised forms and dr with a wrong
// regression. pbm is unbiased with the probabilities of orders and with those of the log itself.
func TestUnbiased(t *testing.T) {
	w := newWorld()
	wrong := fixed{"d0": 0.5, "d1": 0.1, "d2": 0.9, "d3": 0.2, "d4": 0.3}
	right := fixed{}
	for d, g := range w.gamma {
		right["d"+strconv.Itoa(d)] = g
	}
	ofLog := func(p *click.Page) { p.Orders = nil }
	places := placesOf(w.possible(w.mu), 3)
	ofPlaces := func(p *click.Page) {
		p.Orders = nil
		for r, d := range p.Docs {
			p.Propensities = append(p.Propensities, places[place{d, r}])
		}
	}
	ofPage := func(p *click.Page) {
		i := slices.IndexFunc(w.orders, func(o []int) bool { return slices.Equal(ids(o), p.Docs) })
		p.Orders, p.Propensity = nil, w.mu[i]
	}
	for _, test := range []struct {
		name   string
		config Config
		change func(*click.Page)
	}{
		{"slate", Config{Estimator: Slate}, nil},
		{"slate, propensity", Config{Estimator: Slate}, ofPage},
		{"slate, normalised", Config{Estimator: Slate, Normalise: true}, nil},
		{"item", Config{Estimator: Item}, nil},
		{"item, propensities", Config{Estimator: Item}, ofPlaces},
		{"cascade", Config{Estimator: Cascade}, nil},
		{"pseudo", Config{Estimator: Pseudo}, nil},
		{"pbm", Config{}, nil},
		{"pbm, probabilities of the log", Config{}, ofLog},
		{"pbm, normalised", Config{Normalise: true}, nil},
		{"pbm, normalised, log", Config{Normalise: true}, ofLog},
		{"pbm, dcg", Config{Value: DCG}, nil},
		{"pbm, dcg, log", Config{Value: DCG}, ofLog},
		{"dr, wrong regression", Config{Estimator: DR, Regression: wrong}, nil},
		{"dr, wrong regression, log", Config{Estimator: DR, Regression: wrong}, ofLog},
		{"dr, dcg", Config{Estimator: DR, Regression: wrong, Value: DCG}, nil},
		{"model", Config{Estimator: Direct, Regression: right}, nil},
		{"model, dcg", Config{Estimator: Direct, Regression: right, Value: DCG}, nil},
	} {
		r := w.expectation(t, test.config, test.change)
		got := r.Policies[0]
		if want := w.truth(test.config.Value == DCG); math.Abs(got.Mean-want) > 1e-10 {
			t.Errorf("%s: %v, expected %v", test.name, got.Mean, want)
		}
		if math.Abs(got.Weight-1) > 1e-10 || got.Unsupported != 0 {
			t.Errorf("%s: mean weight %v and unsupported share %v, expected 1 and 0", test.name, got.Weight, got.Unsupported)
		}
	}
	w.click = func(order []int, r int, _ []int) float64 { return 0.8*w.theta[r]*w.gamma[order[r]] + 0.1/float64(r+1) }
	slots := map[string]Slot{}
	for r, v := range w.theta {
		slots[strconv.Itoa(r+1)] = Slot{Alpha: 0.8 * v, Beta: 0.1 / float64(r+1)}
	}
	for _, change := range []func(*click.Page){nil, ofLog} {
		for _, c := range []Config{{Slots: slots}, {Slots: slots, Estimator: DR, Regression: wrong}} {
			if got, want := w.expectation(t, c, change).Policies[0].Mean, w.truth(false); math.Abs(got-want) > 1e-10 {
				t.Errorf("trust, %s: %v, expected %v", c.Estimator, got, want)
			}
		}
	}
}

// Claim: the estimators are as general as they say, and no more. Each click model below breaks the assumption of the
// estimators that are biased, by enumeration.
func TestAssumptions(t *testing.T) {
	wrong := fixed{"d0": 0.5, "d1": 0.1, "d2": 0.9, "d3": 0.2, "d4": 0.3}
	configs := map[Estimator]Config{
		Slate: {Estimator: Slate}, Item: {Estimator: Item}, Cascade: {Estimator: Cascade}, Pseudo: {Estimator: Pseudo}, PBM: {Estimator: PBM},
		DR: {Estimator: DR, Regression: wrong}, Direct: {Estimator: Direct, Regression: wrong},
	}
	for _, test := range []struct {
		name     string
		click    func(w *world) func(order []int, r int, above []int) float64
		unbiased []Estimator
	}{
		{"position-based, wrong regression", func(*world) func([]int, int, []int) float64 { return nil }, []Estimator{Slate, Item, Cascade, Pseudo, PBM, DR}},
		{"document and rank interact", func(*world) func([]int, int, []int) float64 {
			return func(order []int, r int, _ []int) float64 { return 0.1 + 0.15*float64((order[r]*3+r*2)%5) }
		}, []Estimator{Slate, Item, Cascade, Pseudo}},
		{"users stop after a click", func(w *world) func([]int, int, []int) float64 {
			return func(order []int, r int, above []int) float64 {
				if slices.Contains(above, 1) {
					return 0.05
				}
				return w.gamma[order[r]]
			}
		}, []Estimator{Slate, Cascade}},
		{"clicks depend on the document below", func(w *world) func([]int, int, []int) float64 {
			return func(order []int, r int, _ []int) float64 {
				if r+1 < len(order) && order[r+1] > order[r] {
					return w.gamma[order[r]] / 3
				}
				return w.gamma[order[r]]
			}
		}, []Estimator{Slate}},
	} {
		w := newWorld()
		w.click = test.click(w)
		for e, c := range configs {
			off := math.Abs(w.expectation(t, c, nil).Policies[0].Mean - w.truth(false))
			if should := slices.Contains(test.unbiased, e); should != (off < 1e-10) || !should && off < 1e-5 {
				t.Errorf("%s: %s is off by %v; unbiased: %v", test.name, e, off, should)
			}
		}
	}
}

// Claim: with wrong logging probabilities, dr is unbiased if its regression is right, and pbm is not.
func TestDoublyRobust(t *testing.T) {
	w := newWorld()
	right := fixed{}
	for d, g := range w.gamma {
		right["d"+strconv.Itoa(d)] = g
	}
	wrong := w.possible(simplex(rand.New(rand.NewPCG(5, 6)), len(w.orders)))
	change := func(p *click.Page) { p.Orders = wrong }
	dr, pbm := w.expectation(t, Config{Estimator: DR, Regression: right}, change), w.expectation(t, Config{}, change)
	if off := math.Abs(dr.Policies[0].Mean - w.truth(false)); off > 1e-10 {
		t.Errorf("dr is off by %v", off)
	}
	if off := math.Abs(pbm.Policies[0].Mean - w.truth(false)); off < 1e-3 || math.Abs(pbm.Policies[0].Weight-1) < 1e-3 {
		t.Errorf("pbm is off by %v with mean weight %v, expected a bias", off, pbm.Policies[0].Weight)
	}
}

// Claim: clipping bounds weights and shrinks the value of pbm and slate; dr keeps the regression's part.
func TestClip(t *testing.T) {
	w := newWorld()
	right := fixed{}
	for d, g := range w.gamma {
		right["d"+strconv.Itoa(d)] = g
	}
	for _, e := range []Estimator{Slate, Item, Cascade, PBM} {
		if got := w.expectation(t, Config{Estimator: e, Clip: 0.8}, nil).Policies[0]; got.Mean >= w.truth(false)-1e-3 {
			t.Errorf("%s, clipped: %v, expected less than %v", e, got.Mean, w.truth(false))
		}
	}
	for _, change := range []func(*click.Page){nil, func(p *click.Page) { p.Orders = nil }} {
		if got := w.expectation(t, Config{Estimator: DR, Regression: right, Clip: 0.8}, change).Policies[0].Mean; math.Abs(got-w.truth(false)) > 1e-10 {
			t.Errorf("dr, clipped, with the true regression: %v, expected %v", got, w.truth(false))
		}
	}
}
