package model

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/elementary"
)

// Claim: the closed forms are ratios of counts, found by going through the pages.
func TestClosedForms(t *testing.T) {
	s := sampleOf(t, 1, 400)
	d := arrange(t, &s.Counts)
	for _, m := range fitted(t, &s.Counts, Options{Prior: Laplace}) {
		last := func(p *click.Page) int {
			for r := len(p.Docs) - 1; r >= 0; r-- {
				if p.Clicked(r) {
					return r
				}
			}
			return -1
		}
		looked := map[string]func(p *click.Page, r int) bool{
			"dctr": func(*click.Page, int) bool { return true },
			"cm": func(p *click.Page, r int) bool {
				for k := range r {
					if p.Clicked(k) {
						return false
					}
				}
				return true
			},
			"dcm":  func(p *click.Page, r int) bool { return last(p) < 0 || r <= last(p) },
			"sdbn": func(p *click.Page, r int) bool { return last(p) < 0 || r <= last(p) },
		}[m.Name]
		if looked == nil {
			continue
		}
		judged, err := d.Judge(context.Background(), m, true, 1)
		if err != nil {
			t.Fatal(err)
		}
		var on, clicks [5]float64
		for i, j := range judged {
			n, c, all, stopped := 0., 0., 0., 0.
			for _, p := range pagesOf(s) {
				for r, doc := range p.Docs {
					if p.Query != j.Query || doc != j.Doc {
						continue
					}
					if p.Clicked(r) {
						all += p.Weight
						clicks[r] += p.Weight
						if r == last(p) {
							stopped += p.Weight
						} else {
							on[r] += p.Weight
						}
					}
					if looked(p, r) {
						n += p.Weight
						if p.Clicked(r) {
							c += p.Weight
						}
					}
				}
			}
			if want := (1 + c) / (2 + n); math.Abs(m.Attraction[i]-want) > 1e-12 || j.Examined != n {
				t.Errorf("%s, %s %s: found attraction %v of %v, expected %v of %v", m.Name, j.Query, j.Doc, m.Attraction[i], j.Examined, want, n)
			}
			// the interval is of Beta(1 + c, 1 + n − c)
			low, high := betaInterval((1+c)/(2+n), (1+c)*(1+n-c)/((2+n)*(2+n)*(3+n)))
			if math.Abs(j.Low-low)+math.Abs(j.High-high) > 1e-9 {
				t.Errorf("%s: found interval %v to %v, expected %v to %v", m.Name, j.Low, j.High, low, high)
			}
			if m.Satisfaction != nil {
				if want := (1 + stopped) / (2 + all); math.Abs(m.Satisfaction[i]-want) > 1e-12 {
					t.Errorf("%s, %s %s: found satisfaction %v, expected %v", m.Name, j.Query, j.Doc, m.Satisfaction[i], want)
				}
			}
		}
		if m.Name == "dcm" {
			for r := range on {
				if want := (1 + on[r]) / (2 + clicks[r]); math.Abs(m.Shared[r]-want) > 1e-12 {
					t.Errorf("dcm: found continuation %v at rank %d, expected %v", m.Shared[r], r+1, want)
				}
			}
		}
	}
}

// Claim: the variance of a grade is the inverse curvature of the objective, found by differences.
func TestCurvature(t *testing.T) {
	s := sampleOf(t, 5, 500)
	d := arrange(t, &s.Counts)
	for _, name := range []string{"pbm", "ubm", "dcm", "sdbn", "dbn", "ccm"} {
		k, _ := Lookup(name)
		m, err := d.Fit(context.Background(), k, Options{Exact: true, Iterations: 300, Tolerance: -1})
		if err != nil {
			t.Fatal(err)
		}
		attraction, err := d.Judge(context.Background(), m, true, 1)
		if err != nil {
			t.Fatal(err)
		}
		relevance, err := d.Judge(context.Background(), m, false, 1)
		if err != nil {
			t.Fatal(err)
		}
		second := func(x *float64) float64 {
			const h = 1e-3
			own := *x
			mid := objective(t, m, &s.Counts)
			*x = own + h
			up := objective(t, m, &s.Counts)
			*x = own - h
			down := objective(t, m, &s.Counts)
			*x = own
			return -(up - 2*mid + down) / (h * h)
		}
		for _, i := range []int{0, 5, 11, 20} {
			a := m.Attraction[i]
			va := 1 / second(&m.Attraction[i])
			if math.Abs(attraction[i].Variance/va-1) > 1e-2 {
				t.Errorf("%s: found variance %v of attraction %v, expected %v", name, attraction[i].Variance, a, va)
			}
			want := va
			switch name {
			case "sdbn", "dbn":
				s := m.Satisfaction[i]
				if s < .02 || s > .98 {
					continue // differences are not accurate
				}
				vs := 1 / second(&m.Satisfaction[i])
				want = s*s*va + a*a*vs + va*vs
			case "ccm":
				want = 4 * a * a * va
			}
			if math.Abs(relevance[i].Variance/want-1) > 1e-2 {
				t.Errorf("%s: found variance %v of relevance, expected %v", name, relevance[i].Variance, want)
			}
		}
	}
}

// Claim: intervals of documents with at least five expected examinations cover the truth 95 to 99 % of the time.
// Examination is known.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	rng := rand.New(rand.NewPCG(9, 9))
	covered, n := 0, 0
	for range 60 {
		c := &click.Counts{}
		a := make([]float64, 60)
		for d := range a {
			a[d] = .3 * rng.Float64() * rng.Float64()
			for range 1 + rng.IntN(80) {
				r := rng.IntN(10)
				pair := int32(c.Pair("q"+strconv.Itoa(d%5), strconv.Itoa(d)))
				c.Cells.Add(click.Cell{Pair: pair, Slot: uint16(c.Slot(strconv.Itoa(r + 1))), Rank: uint16(r)}, 1, rng.Float64() < a[d]/float64(r+1))
			}
		}
		c.Ranks, c.Pages = 10, 1
		data := arrange(t, c)
		k, _ := Lookup("pbm")
		m, err := data.Fit(context.Background(), k, Options{Iterations: 1})
		if err != nil {
			t.Fatal(err)
		}
		// the fit of the pairs alone, with the true examination
		f := &fitting{Model: m, d: data, o: Options{}, ctx: context.Background()}
		e := newCellFit(f, k.law.(pbm).cells(data))
		for range 300 {
			for i, slot := range m.Slots {
				r, _ := strconv.Atoi(slot)
				m.Shared[i] = 1 / float64(r)
			}
			m.Unseen = Pair{f.mean(e.expect().means.Attraction), .5}
			e.maximise()
		}
		for i, slot := range m.Slots {
			r, _ := strconv.Atoi(slot)
			m.Shared[i] = 1 / float64(r)
		}
		judged, err := data.Judge(context.Background(), m, false, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range judged {
			d, _ := strconv.Atoi(j.Doc)
			if j.Examined >= 5 {
				n++
				if j.Low <= a[d] && a[d] <= j.High {
					covered++
				}
			}
		}
	}
	share := float64(covered) / float64(n)
	t.Logf("%.4f of %d", share, n)
	if share < .945 || share > .99 {
		t.Errorf("found a coverage of %.4f of %d intervals, expected about 0.97", share, n)
	}
}

// Claim: a scale counts the cuts that a grade reaches, quantiles divide the documents that were looked at, and a
// document is unsure if its interval spans three levels.
func TestScale(t *testing.T) {
	var judged []Judgement
	for i := range 10 {
		judged = append(judged, Judgement{Grade: float64(i) / 10, Examined: float64(i)})
	}
	s, err := Quantiles(judged, 3, 4) // of .4 to .9
	if err != nil || !slices.Equal(s, Scale{.6, .8}) {
		t.Errorf("found %v, %v, expected cuts at .6 and .8", s, err)
	}
	for grade, want := range map[float64]int{0: 0, .59: 0, .6: 1, .79: 1, .8: 2, 1: 2} {
		if got := s.Level(grade); got != want {
			t.Errorf("found level %d of %v, expected %d", got, grade, want)
		}
	}
	if !s.Sure(&Judgement{Low: .5, High: .7}) || s.Sure(&Judgement{Low: .5, High: .8}) {
		t.Error("found an interval of two levels unsure, or one of three sure")
	}
	if _, err := Quantiles(judged, 7, 4); err == nil {
		t.Error("found seven levels of six documents")
	}
	w := Weights([]Judgement{{Examined: 1}, {Examined: 2}})
	if math.Abs(w[0]-2./3) > 1e-15 || math.Abs(w[1]-4./3) > 1e-15 {
		t.Errorf("found weights %v, expected 2/3 and 4/3", w)
	}
}

// Claim: the bootstrap widens intervals to the spread of the grades of samples of users, and never narrows them.
func TestWiden(t *testing.T) {
	s := new(Sample) // two kinds of users, who differ much more than chance
	for i := range 200 {
		p := &click.Page{Query: "q", User: strconv.Itoa(i % 4), Docs: []string{"a", "b"}, Clicks: []int{i % 4 / 2, 0}, Weight: 1}
		if err := s.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	k, _ := Lookup("dctr")
	d := arrange(t, &s.Counts)
	m, err := d.Fit(context.Background(), k, Options{})
	if err != nil {
		t.Fatal(err)
	}
	before, err := d.Judge(context.Background(), m, false, 1)
	if err != nil {
		t.Fatal(err)
	}
	after := slices.Clone(before)
	if err := s.Widen(context.Background(), after, k, Options{}, false, 200, 1); err != nil {
		t.Fatal(err)
	}
	// the share of the clicking users among four draws is 0 to 1 in 95 % of samples
	if after[0].Low > .26 || after[0].High < .74 || before[0].Low < .4 || before[0].High > .6 {
		t.Errorf("found %v to %v, widened to %v to %v, expected about half, widened to a quarter to three quarters at least", before[0].Low, before[0].High, after[0].Low, after[0].High)
	}
	if after[1].Low > before[1].Low || after[1].High < before[1].High {
		t.Errorf("found %+v, narrower than %+v", after[1], before[1])
	}
}

// Claim: quantiles of Beta distributions equal the results of bisection, also of tiny and of huge parameters.
func TestQuantile(t *testing.T) {
	for _, a := range []float64{1e-6, .003, .2, 1, 1.5, 30, 1e4, 1e8} {
		for _, b := range []float64{1e-6, .01, .7, 1, 4, 500, 1e6} {
			for _, p := range []float64{.025, .5, .975} {
				got, want := quantile(a, b, p), elementary.BetaInverse(a, b, p)
				if want < 1e-298 {
					want = 0
				}
				if !(math.Abs(got-want) <= 1e-8*want) && math.Abs(elementary.Beta(a, b, got)-p) > 1e-9 {
					t.Errorf("I⁻¹(%v; %v, %v): found %v, expected %v", p, a, b, got, want)
				}
			}
		}
	}
}

// Claim: intervals of relevance cover the truth about 95 % of the time, for the models that are known fully.
func TestCoverageOfRelevance(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, name := range []string{"cm", "dcm", "sdbn", "dbn", "ccm"} {
		counts, a, s := simulated(t, name, 20_000, sharedOf(name))
		k, _ := Lookup(name)
		d := arrange(t, counts)
		m, err := d.Fit(context.Background(), k, Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		judged, err := d.Judge(context.Background(), m, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		covered, n := 0, 0
		for _, j := range judged {
			key := j.Query + " " + j.Doc
			truth := a[key]
			switch name {
			case "sdbn", "dbn":
				truth *= s[key]
			case "ccm":
				truth *= truth
			}
			if n++; j.Low <= truth && truth <= j.High {
				covered++
			}
		}
		share := float64(covered) / float64(n)
		t.Logf("%s: %.4f of %d", name, share, n)
		if share < .92 || share > .99 {
			t.Errorf("%s: found a coverage of %.4f of %d intervals, expected about 0.95", name, share, n)
		}
	}
}

// Claim: where every place of a log was clicked, grades are below 1 and within their intervals, which are not points; levels by
// quantiles of equal grades are an error.
func TestJudgeCertainLog(t *testing.T) {
	for _, k := range Kinds() {
		if !k.Grades() {
			continue
		}
		c := click.Counts{Keep: true}
		for i := range 20 {
			p := &click.Page{Query: strconv.Itoa(i % 2), Docs: []string{"a", "b"}, Clicks: []int{1, 1}, Weight: 1}
			if err := c.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		d := arrange(t, &c)
		m, err := d.Fit(context.Background(), k, Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		judged, err := d.Judge(context.Background(), m, true, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range judged {
			if !(j.Low <= j.Grade && j.Grade <= j.High && j.Low < j.High && j.Grade < 1 && j.Low < 0.999) {
				t.Errorf("%s: found the grade %v in [%v, %v]", k.Name, j.Grade, j.Low, j.High)
			}
		}
	}
	if _, err := Quantiles([]Judgement{{Grade: .5}, {Grade: .5}, {Grade: .5}, {Grade: .9}}, 2, 0); err == nil {
		t.Error("found two levels of mostly equal grades")
	}
}
