package weigh_test

import (
	"context"
	"math"
	"testing"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/click/simulate"
	"github.com/listwise/listwise/click/weigh"
	"github.com/listwise/listwise/dataset"
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

// Claim: grades and weights are the sums over pages that their definitions name, whatever the number of pages.
func TestTableAgainstSumsOverPages(t *testing.T) {
	d := judged(t, 7, 9)
	theta := []float64{1, .6, .4, .25}
	type sums struct{ n, c, looked, inverse float64 }
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
