package weigh_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/click/simulate"
	"github.com/listwise/listwise/click/weigh"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
)

// pair is a key of naive sums.
type pair = propensity.Pair

// judged returns queries of documents with two features.
func judged(t *testing.T, queries, docs int) *dataset.Dataset {
	t.Helper()
	var b dataset.Builder
	for q := range queries {
		var grades []float64
		var x []float32
		var ids []string
		for d := range docs {
			grades = append(grades, float64((d*7+q)%5))
			x = append(x, float32((d*7+q)%5), float32((d*3+q*q)%7))
			ids = append(ids, string(rune('a'+d)))
		}
		if err := b.Add("q"+string(rune('A'+q)), grades, x, ids); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// simulated draws pages.
func simulated(t *testing.T, d *dataset.Dataset, pages int, use func(*click.Page)) {
	t.Helper()
	order, err := simulate.ParseOrder("noise:0.5")
	if err != nil {
		t.Fatal(err)
	}
	clicks, err := simulate.ParseModel("pbm:eta=1,noise=0.1")
	if err != nil {
		t.Fatal(err)
	}
	s := &simulate.Simulation{Rankers: []simulate.Ranker{{Name: "m", Share: 1}}, Order: order, Clicks: clicks, Top: 4, Seed: 3}
	for i := range d.Queries {
		q := &d.Queries[i]
		o := simulate.Query{ID: q.ID, Grades: q.Grades, Scores: [][]float64{nil}}
		for k := range q.Len() {
			o.Docs = append(o.Docs, q.DocID(k))
			o.Scores[0] = append(o.Scores[0], float64(q.X[2*k+1]))
		}
		s.Queries = append(s.Queries, o)
	}
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	drawer := s.Drawer()
	for n := range pages {
		use(drawer.Draw(n))
	}
}

// thetas returns an estimate with the given propensities of slots 1, 2, ….
func thetas(v ...float64) *propensity.Estimate {
	e := &propensity.Estimate{Method: propensity.Harvest}
	for k, theta := range v {
		e.Slots = append(e.Slots, propensity.Slot{Slot: string(rune('1' + k)), Theta: theta})
	}
	return e
}

// constant predicts the same relevance for all.
type constant float64

func (constant) Has(pair) bool                    { return true }
func (c constant) Start([]pair) propensity.Fitter { return c }
func (c constant) Fit(_, _, out []float64) error {
	for i := range out {
		out[i] = float64(c)
	}
	return nil
}

// Claim: Misfit names a slot if propensities are flat, squared or exchanged between two slots. It is nil if they are
// right.
func TestMisfit(t *testing.T) {
	d := judged(t, 20, 9)
	var l weigh.Log
	simulated(t, d, 20_000, func(p *click.Page) {
		if err := l.Add(p); err != nil {
			t.Fatal(err)
		}
	})
	for name, c := range map[string]struct {
		theta []float64
		fits  bool
	}{
		"true":      {[]float64{1, 1. / 2, 1. / 3, 1. / 4}, true},
		"flat":      {[]float64{1, 1, 1, 1}, false},
		"squared":   {[]float64{1, 1. / 4, 1. / 9, 1. / 16}, false},
		"exchanged": {[]float64{1, 2, 2. / 3, 1. / 2}, false},
	} {
		o := weigh.Defaults(weigh.Examinations)
		o.Propensities = thetas(c.theta...)
		got, err := l.Table(context.Background(), d, o)
		if err != nil {
			t.Fatal(err)
		}
		if (got.Misfit == nil) != c.fits {
			t.Errorf("%s propensities: misfit %+v", name, got.Misfit)
		}
	}
}

// Claim: grades and weights are the sums over pages that their definitions name, whatever the number of pages.
func TestTableAgainstSumsOverPages(t *testing.T) {
	d := judged(t, 7, 9)
	theta := []float64{1, .6, .4, .25}
	type sums struct{ n, c, looked float64 }
	naive, pages := map[pair]*sums{}, map[string]float64{}
	var l weigh.Log
	n := 0
	simulated(t, d, 3000, func(p *click.Page) {
		if n++; n%3 == 0 {
			p.Weight = 2.5
		}
		pages[p.Query] += p.Weight
		for r, doc := range p.Docs {
			k := pair{Query: p.Query, Doc: doc}
			if naive[k] == nil {
				naive[k] = &sums{}
			}
			s := naive[k]
			s.n += p.Weight
			s.looked += p.Weight * theta[r]
			if p.Clicked(r) {
				s.c += p.Weight
			}
		}
		if err := l.Add(p); err != nil {
			t.Fatal(err)
		}
	})
	const guess = 0.3
	for _, debias := range []weigh.Debias{weigh.None, weigh.Examinations, weigh.Robust, weigh.IPS} {
		for _, w := range weigh.QueryWeights {
			for _, uncorrected := range []bool{false, true} {
				o := weigh.Defaults(debias)
				o.Propensities, o.Regression, o.QueryWeight, o.Uncorrected, o.Clip = thetas(theta...), constant(guess), w, uncorrected, 0.2
				got, err := l.Table(context.Background(), d, o)
				if err != nil {
					t.Fatal(err)
				}
				if got.Data.Docs() != len(naive) {
					t.Fatalf("%s: %d rows, expected %d", debias, got.Data.Docs(), len(naive))
				}
				mean := 0.0
				for _, q := range got.Data.Queries {
					mean += map[weigh.QueryWeight]float64{weigh.Pages: pages[q.ID], weigh.Sqrt: math.Sqrt(pages[q.ID]), weigh.One: 1}[w] / float64(len(got.Data.Queries))
				}
				for i := range got.Data.Queries {
					q := &got.Data.Queries[i]
					want := map[weigh.QueryWeight]float64{weigh.Pages: pages[q.ID], weigh.Sqrt: math.Sqrt(pages[q.ID]), weigh.One: 1}[w] / mean
					near(t, "query weight", q.Weight(), want)
					for j := range q.Len() {
						s := naive[pair{Query: q.ID, Doc: q.DocID(j)}]
						looked := s.looked
						if uncorrected {
							looked = s.n
						}
						grade, weight := s.c/s.n, 1.0
						switch debias {
						case weigh.Examinations:
							grade, weight = s.c/looked, looked/pages[q.ID]
						case weigh.Robust:
							grade, weight = guess+(s.c-looked*guess)/(looked+5), looked/(looked+5)
							grade = min(max(grade, 0), 1)
						case weigh.IPS:
							grade = s.c / max(looked/pages[q.ID], 0.2) / pages[q.ID]
						}
						near(t, string(debias)+" grade", q.Grades[j], grade)
						if got.Data.Weights() != nil {
							near(t, string(debias)+" weight", q.Weights()[j], weight)
						} else if weight != 1 {
							t.Fatalf("%s: no weights", debias)
						}
					}
				}
			}
		}
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))) {
		t.Errorf("%s: found %v, expected %v", what, got, want)
	}
}

// oracle predicts what it knows, and records which labels it was given.
type oracle struct {
	of    map[pair]float64
	pairs []pair
	saw   func(fitted []pair, labels []float64)
}

func (o *oracle) Has(p pair) bool { _, ok := o.of[p]; return ok }

func (o *oracle) Start(pairs []pair) propensity.Fitter {
	return &oracle{of: o.of, pairs: pairs, saw: o.saw}
}

func (o *oracle) Fit(labels, weights, out []float64) error {
	var fitted []pair
	for i, p := range o.pairs {
		out[i] = o.of[p]
		if weights[i] > 0 {
			fitted = append(fitted, p)
		}
	}
	o.saw(fitted, labels)
	return nil
}

// Claim: robust grades are γ̂ + (Σc − Σθγ̂)/(Σθ + shrink). A regression never sees the queries that it predicts, and
// each query is predicted once.
func TestRobustPredictsOutOfFold(t *testing.T) {
	d := judged(t, 12, 6)
	theta := []float64{1, .6, .4, .25}
	var l weigh.Log
	simulated(t, d, 2000, func(p *click.Page) {
		if err := l.Add(p); err != nil {
			t.Fatal(err)
		}
	})
	o := weigh.Defaults(weigh.Robust)
	o.Propensities, o.Workers = thetas(theta...), 1
	reg := &oracle{of: map[pair]float64{}}
	queries := map[string]int{}
	for i := range d.Queries {
		q := &d.Queries[i]
		queries[q.ID] = 0
		for k := range q.Len() {
			reg.of[pair{Query: q.ID, Doc: q.DocID(k)}] = float64(1+k) / 10
		}
	}
	o.Regression = reg
	fits := 0
	reg.saw = func(fitted []pair, _ []float64) {
		fits++
		seen := map[string]bool{}
		for _, p := range fitted {
			seen[p.Query] = true
		}
		for q := range queries {
			if !seen[q] {
				queries[q]++
			}
		}
	}
	got, err := l.Table(context.Background(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	for q, n := range queries {
		if per := fits / weigh.Folds; n != per {
			t.Errorf("query %s was left out of %d fits, expected %d", q, n, per)
		}
	}
	o.Debias = weigh.Examinations
	plain, err := l.Table(context.Background(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]float64{}
	simulated(t, d, 2000, func(p *click.Page) { pages[p.Query]++ })
	for i := range got.Data.Queries {
		q, e := &got.Data.Queries[i], &plain.Data.Queries[i]
		for k := range q.Len() {
			looked := e.Weights()[k] * pages[q.ID]
			guess := reg.of[pair{Query: q.ID, Doc: q.DocID(k)}]
			near(t, "grade", q.Grades[k], min(1, guess+(e.Grades[k]*looked-looked*guess)/(looked+5)))
			near(t, "weight", q.Weights()[k], looked/(looked+5))
		}
	}
}

// Claim: logistic regression of clicks over examinations finds the relevance behind them, though labels exceed 1.
func TestRobustWithLogisticRegression(t *testing.T) {
	d := judged(t, 20, 9)
	theta := []float64{1, 1. / 2, 1. / 3, 1. / 4}
	var l weigh.Log
	simulated(t, d, 20000, func(p *click.Page) {
		if err := l.Add(p); err != nil {
			t.Fatal(err)
		}
	})
	features, err := propensity.NewFeatures(d)
	if err != nil {
		t.Fatal(err)
	}
	errorOf := func(debias weigh.Debias, uncorrected bool) (rms float64) {
		o := weigh.Defaults(debias)
		o.Propensities, o.Regression, o.Uncorrected = thetas(theta...), features, uncorrected
		got, err := l.Table(context.Background(), d, o)
		if err != nil {
			t.Fatal(err)
		}
		n := 0.0
		for i := range got.Data.Queries {
			q := &got.Data.Queries[i]
			for k := range q.Len() {
				gamma := 0.1 + 0.9*(math.Exp2(float64(q.X[2*k]))-1)/15
				rms += (q.Grades[k] - gamma) * (q.Grades[k] - gamma)
				n++
			}
		}
		return math.Sqrt(rms / n)
	}
	robust, examined, naive := errorOf(weigh.Robust, false), errorOf(weigh.Examinations, false), errorOf(weigh.Robust, true)
	if !(robust < examined && examined < naive) {
		t.Errorf("rms errors: robust %.4f, examinations %.4f, uncorrected %.4f; expected them to rise", robust, examined, naive)
	}
}

// Claim: the same pages give the same bits on any number of cores.
func TestSameBitsOnAnyNumberOfCores(t *testing.T) {
	d := judged(t, 12, 9)
	features, err := propensity.NewFeatures(d)
	if err != nil {
		t.Fatal(err)
	}
	prints := map[int]string{}
	for _, workers := range []int{1, 2, 4} {
		var l weigh.Log
		simulated(t, d, 3000, func(p *click.Page) {
			if err := l.Add(p); err != nil {
				t.Fatal(err)
			}
		})
		o := weigh.Defaults(weigh.Robust)
		o.Propensities, o.Regression, o.Workers = thetas(1, .6, .4, .25), features, workers
		got, err := l.Table(context.Background(), d, o)
		if err != nil {
			t.Fatal(err)
		}
		prints[workers] = got.Data.Fingerprint()
	}
	if prints[1] != prints[2] || prints[1] != prints[4] {
		t.Errorf("fingerprints %v, expected equal ones", prints)
	}
}

// Claim: with propensities by a column, each page counts with those of its value, and sums are over all values.
func TestSumsOverParts(t *testing.T) {
	d := judged(t, 3, 6)
	e := thetas(1, .6, .4, .25)
	e.By = "arm"
	for _, p := range []struct {
		arm   string
		theta []float64
	}{{"desktop", []float64{1, .8, .7, .6}}, {"phone", []float64{1, .3, .2, .1}}} {
		e.Parts = append(e.Parts, propensity.Part{Value: p.arm, Slots: thetas(p.theta...).Slots})
	}
	l := weigh.Log{Value: func(p *click.Page) string { return p.Arm }}
	type sums struct{ c, looked float64 }
	naive, n := map[pair]*sums{}, 0
	simulated(t, d, 900, func(p *click.Page) {
		n++
		p.Arm = []string{"desktop", "phone", "other"}[n%3]
		theta := [][]float64{{1, .8, .7, .6}, {1, .3, .2, .1}, {1, .6, .4, .25}}[n%3]
		for r, doc := range p.Docs {
			k := pair{Query: p.Query, Doc: doc}
			if naive[k] == nil {
				naive[k] = &sums{}
			}
			naive[k].looked += theta[r]
			if p.Clicked(r) {
				naive[k].c++
			}
		}
		if err := l.Add(p); err != nil {
			t.Fatal(err)
		}
	})
	o := weigh.Defaults(weigh.Examinations)
	o.Propensities = e
	got, err := l.Table(context.Background(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Partless {
		t.Error("the pages of other were not reported")
	}
	for i := range got.Data.Queries {
		q := &got.Data.Queries[i]
		for k := range q.Len() {
			s := naive[pair{Query: q.ID, Doc: q.DocID(k)}]
			near(t, "grade", q.Grades[k], s.c/s.looked)
		}
	}
}

// Claim: what has no features or propensities is counted, and refused above a share.
func TestWhatIsLeftOut(t *testing.T) {
	d := judged(t, 4, 6)
	all := 0.0
	var l weigh.Log
	lost, low := 0.0, 0.0
	simulated(t, d, 1000, func(p *click.Page) {
		for r, doc := range p.Docs {
			all++
			switch {
			case p.Query == "qB" || doc == "a":
				lost++
			case r == 3:
				low++
			}
		}
		if err := l.Add(p); err != nil {
			t.Fatal(err)
		}
	})
	some := d.KeepDocs(func(q, doc int) bool { return d.Queries[q].ID != "qB" && d.Queries[q].DocID(doc) != "a" })
	o := weigh.Defaults(weigh.Examinations)
	o.Propensities, o.MaxMissing = thetas(1, .5, .3), 0.5
	got, err := l.Table(context.Background(), some, o)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "share without features", got.Missing, lost/all)
	near(t, "share without propensities", got.SlotlessShare, low/all)
	if len(got.Slotless) != 1 || got.Slotless[0] != "4" || got.MissingQueries != 1 || got.MissingDocs != 9 {
		t.Errorf("left out: slots %v, %d queries, %d documents; expected slot 4, 1 query, 9 documents", got.Slotless, got.MissingQueries, got.MissingDocs)
	}
	for _, c := range []struct {
		features *dataset.Dataset
		most     float64
		theta    []float64
		want     string
	}{
		{some, 0.1, []float64{1, .5, .3, .2}, "of the impressions of documents without features, expected at most 10 %"},
		{d, 0.5, []float64{1}, "75 % of the impressions in slots without propensities (2, 3, 4), expected at most 50 %"},
	} {
		o.MaxMissing, o.Propensities = c.most, thetas(c.theta...)
		if _, err := l.Table(context.Background(), c.features, o); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("found %v, expected an error that ends with %q", err, c.want)
		}
	}
}

// Claim: the table does not grow with the pages, and memory is counted.
func TestMemory(t *testing.T) {
	d := judged(t, 7, 9)
	rows := func(pages int) int {
		l := weigh.Log{}
		l.Mem = memory.Unlimited()
		simulated(t, d, pages, func(p *click.Page) {
			if err := l.Add(p); err != nil {
				t.Fatal(err)
			}
		})
		o := weigh.Defaults(weigh.Examinations)
		o.Propensities = thetas(1, .6, .4, .25)
		got, err := l.Table(context.Background(), d, o)
		if err != nil {
			t.Fatal(err)
		}
		if l.Mem.Taken() == 0 {
			t.Error("no memory was counted")
		}
		return got.Data.Docs()
	}
	if few, many := rows(3000), rows(9000); few != many {
		t.Errorf("%d rows of 3000 pages, %d of 9000, expected as many", few, many)
	}
	l := weigh.Log{}
	l.Mem = memory.New("pages", dataset.Options{MaxBytes: 1})
	if err := l.Add(&click.Page{Query: "q", Docs: []string{"a"}, Clicks: []int{1}, Weight: 1}); err == nil {
		t.Error("a page took no memory")
	}
}

// Claim: rows of pages are the distinct pages that have clicks and skips, with the number of such pages as weight, in
// the order shown.
func TestPageRows(t *testing.T) {
	d := judged(t, 5, 6)
	l := weigh.Log{}
	l.Keep = true
	type shown struct{ query, docs, clicks string }
	naive := map[shown]float64{}
	all := 0.0
	simulated(t, d, 4000, func(p *click.Page) {
		s, n := shown{query: p.Query}, 0
		for r, doc := range p.Docs {
			if doc == "b" {
				continue
			}
			s.docs += doc
			c := "0"
			if p.Clicked(r) {
				c = "1"
				n++
			}
			s.clicks += c
			s.docs += p.SlotName(r)
		}
		if n > 0 && n < len(s.clicks) {
			naive[s]++
			all++
		}
		if err := l.Add(p); err != nil {
			t.Fatal(err)
		}
	})
	some := d.KeepDocs(func(q, doc int) bool { return d.Queries[q].DocID(doc) != "b" })
	o := weigh.Defaults(weigh.None)
	o.QueryWeight, o.MaxMissing = weigh.Pages, 1
	got, err := l.PageRows(context.Background(), some, o)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[shown]float64{}
	for i := range got.Data.Queries {
		q := &got.Data.Queries[i]
		query, _, _ := strings.Cut(q.ID, "/")
		s := shown{query: query}
		for k := range q.Len() {
			s.docs += q.DocID(k) + got.Names[got.Slots[q.Start+k]]
			s.clicks += string(rune('0' + int(q.Grades[k])))
			from := slices.IndexFunc(some.Queries, func(f dataset.Query) bool { return f.ID == query })
			for j := range some.Queries[from].Len() {
				if some.Queries[from].DocID(j) == q.DocID(k) && !slices.Equal(some.Queries[from].Row(j), q.Row(k)) {
					t.Fatalf("features of %s %s: found %v", query, q.DocID(k), q.Row(k))
				}
			}
		}
		sums[s] += q.Weight()
	}
	if len(sums) != len(naive) {
		t.Fatalf("%d distinct pages, expected %d", len(sums), len(naive))
	}
	for s, n := range naive {
		near(t, "weight of "+s.docs, sums[s]*all/float64(len(got.Data.Queries)), n)
	}
	if !slices.Equal(got.Names, []string{"1", "2", "3", "4"}) {
		t.Errorf("slots %v, expected 1 to 4", got.Names)
	}
	if _, err := new(weigh.Log).PageRows(context.Background(), some, o); err == nil {
		t.Error("rows of pages that were not kept")
	}
}
