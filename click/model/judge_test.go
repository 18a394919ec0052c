package model

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/listwise/listwise/click"
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
		}[m.Kind.Name]
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
				t.Errorf("%s, %s %s: found attraction %v of %v, expected %v of %v", m.Kind.Name, j.Query, j.Doc, m.Attraction[i], j.Examined, want, n)
			}
			// the interval is of Beta(1 + c, 1 + n − c)
			low, high := betaInterval((1+c)/(2+n), (1+c)*(1+n-c)/((2+n)*(2+n)*(3+n)))
			if math.Abs(j.Low-low)+math.Abs(j.High-high) > 1e-9 {
				t.Errorf("%s: found interval %v to %v, expected %v to %v", m.Kind.Name, j.Low, j.High, low, high)
			}
			if m.Satisfaction != nil {
				if want := (1 + stopped) / (2 + all); math.Abs(m.Satisfaction[i]-want) > 1e-12 {
					t.Errorf("%s, %s %s: found satisfaction %v, expected %v", m.Kind.Name, j.Query, j.Doc, m.Satisfaction[i], want)
				}
			}
		}
		if m.Kind.Name == "dcm" {
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

// Claim: intervals of documents with five expected examinations or more cover the truth 95 to 99 % of the time, if
// examination is that of the fit, and their prior's mean ranks documents better than one of 1/2.
func TestCoverage(t *testing.T) {
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
			m.Unseen = Pair{f.mean(e.expect().means.Attraction, 1), .5}
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
