package propensity

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/testing/long"
)

// small is a log of few queries with documents in several slots.
func small(t *testing.T, seed uint64) (*Log, []*click.Page) {
	rng, l := rand.New(rand.NewPCG(seed, 1)), &Log{KeepClicked: true}
	var pages []*click.Page
	for range 400 {
		p := &click.Page{Query: strconv.Itoa(rng.IntN(3)), Weight: float64(1 + rng.IntN(2))}
		for r, d := range rng.Perm(5)[:3] {
			p.Docs = append(p.Docs, strconv.Itoa(d))
			p.Clicks = append(p.Clicks, int(rng.Float64()+0.9/float64(r+1)/float64(1+d%3)))
		}
		pages = append(pages, p)
		add(t, l, p)
	}
	return l, pages
}

// Claim: the tables of contrasts are the sums of their definition over pages.
func TestContrasts(t *testing.T) {
	l, pages := small(t, 1)
	h, _ := l.harvest(l.order(0), &Options{})
	for _, one := range []bool{false, true} {
		c := h.contrasts(h.sums(nil), one)
		for a := range 3 {
			for b := range 3 {
				clicks, skips := 0.0, 0.0
				for q := range 3 {
					for d := range 5 {
						var n, k [3]float64
						for _, p := range pages {
							if r := slices.Index(p.Docs, strconv.Itoa(d)); p.Query == strconv.Itoa(q) && r >= 0 {
								n[r] += p.Weight
								if p.Clicked(r) {
									k[r] += p.Weight
								}
							}
						}
						if a != b && n[a] > 0 && n[b] > 0 {
							m := 1.0
							if !one {
								m = 1 / (1/n[a] + 1/n[b])
							}
							clicks += m * k[a] / n[a]
							skips += m * (1 - k[a]/n[a])
						}
					}
				}
				if i := a*3 + b; math.Abs(c.clicks[i]-clicks) > 1e-9 || math.Abs(c.skips[i]-skips) > 1e-9 {
					t.Errorf("slots %d and %d: found %v and %v, expected %v and %v", a, b, c.clicks[i], c.skips[i], clicks, skips)
				}
			}
		}
	}
}

// Claim: what is seen in two slots are the contrasts and numbers of pairs, found by going through the pages for each.
func TestSeen(t *testing.T) {
	l, pages := small(t, 4)
	in := map[[2]string]map[int]bool{} // ranks of each pair
	for _, p := range pages {
		for r, d := range p.Docs {
			key := [2]string{p.Query, d}
			if in[key] == nil {
				in[key] = map[int]bool{}
			}
			in[key][r] = true
		}
	}
	want, both := 0, map[string]int{}
	for _, ranks := range in {
		if len(ranks) > 1 {
			want++
		}
		for a := range 3 {
			for b := range 3 {
				if a < b && ranks[a] && ranks[b] {
					both[strconv.Itoa(a+1)+strconv.Itoa(b+1)]++
				}
			}
		}
	}
	h, _ := l.harvest(l.order(0), &Options{})
	c := h.contrasts(h.sums(nil), false)
	moved, seen := l.Seen(0)
	if moved != want || len(seen) != 3 {
		t.Fatalf("found %d pairs and %+v, expected %d pairs", moved, seen, want)
	}
	for _, s := range seen {
		a, b := int(s.A[0]-'1'), int(s.B[0]-'1')
		if s.Pairs != both[s.A+s.B] || s.ClicksA != c.clicks[a*3+b] || s.ClicksB != c.clicks[b*3+a] {
			t.Errorf("found %+v, expected %d pairs", s, both[s.A+s.B])
		}
	}
	if moved, seen := l.Seen(2); moved != want || len(seen) != 1 {
		t.Errorf("found %d pairs and %+v of the first two slots", moved, seen)
	}
}

// Claim: no iteration lowers the objective of all pairs, and at the end its central differences are 0.
func TestAllPairsIsAMaximum(t *testing.T) {
	l, _ := small(t, 2)
	h, _ := l.harvest(l.order(0), &Options{})
	m := newAllPairs(h.contrasts(h.sums(nil), false), 3, []float64{0, 0, 0})
	before := m.objective()
	for range 200 {
		m.step()
		if now := m.objective(); now < before-1e-9 {
			t.Fatalf("found objective %v after %v", now, before)
		} else {
			before = now
		}
	}
	m.run()
	const d = 1e-5
	slope := func(move func(by float64)) float64 {
		move(d)
		up := m.objective()
		move(-2 * d)
		down := m.objective()
		move(d)
		return (up - down) / (2 * d)
	}
	for a := range 3 {
		if s := slope(func(by float64) { m.theta[a] += by }); math.Abs(s) > 1e-3 {
			t.Errorf("propensity %d: found slope %v at the maximum", a, s)
		}
		for b := range a {
			if s := slope(func(by float64) { m.rho[a*3+b] += by; m.rho[b*3+a] += by }); math.Abs(s) > 1e-3 {
				t.Errorf("ρ of %d and %d: found slope %v at the maximum", a, b, s)
			}
		}
	}
}

// Claim: EM over cells has the values of EM over pages, and no iteration lowers the objective, with or without a
// regression.
func TestEM(t *testing.T) {
	l, pages := small(t, 3)
	e, _, err := l.em(l.order(0), &Options{Method: EM, Iterations: 20})
	if err != nil {
		t.Fatal(err)
	}
	logs, err := e.fit(nil)
	if err != nil {
		t.Fatal(err)
	}
	theta, alpha := [3]float64{.5, .5, .5}, map[string]float64{}
	for range 20 {
		num, den, looked, all := map[string]float64{}, map[string]float64{}, [3]float64{1, 1, 1}, 2.0
		for _, p := range pages {
			all += p.Weight
			for r, d := range p.Docs {
				pair := p.Query + " " + d
				x, ok := alpha[pair]
				if !ok {
					x = .5
				}
				y, qa, qt := theta[r], 1.0, 1.0
				if !p.Clicked(r) {
					qa, qt = x*(1-y)/(1-x*y), y*(1-x)/(1-x*y)
				}
				num[pair] += p.Weight * qa
				den[pair] += p.Weight
				looked[r] += p.Weight * qt
			}
		}
		for pair := range num {
			alpha[pair] = (1 + num[pair]) / (2 + den[pair])
		}
		for r := range theta {
			theta[r] = looked[r] / all
		}
	}
	for r := range theta {
		if math.Abs(math.Exp(logs[r])-theta[r]/theta[0]) > 1e-12 {
			t.Errorf("slot %d: found %v, expected %v", r, math.Exp(logs[r]), theta[r]/theta[0])
		}
	}
	f := &Features{dim: 2, rows: map[Pair]int{}}
	for q := range 3 {
		for d := range 5 {
			f.rows[Pair{strconv.Itoa(q), strconv.Itoa(d)}] = len(f.x) / 2
			f.x = append(f.x, float64(d%3), 1)
		}
	}
	for _, o := range []Options{{Method: EM}, {Method: Regress, Features: f}} {
		e, _, err := l.em(l.order(0), &o)
		if err != nil {
			t.Fatal(err)
		}
		s := e.begin(nil)
		before := s.objective()
		for range 50 {
			if err := s.step(); err != nil {
				t.Fatal(err)
			}
			now := s.objective()
			if now < before-1e-9 {
				t.Fatalf("%s: found objective %v after %v", o.Method, now, before)
			}
			before = now
		}
	}
}

// Claim: at the end of logistic regression the central differences of its likelihood are 0.
func TestLogistic(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	l := &logistic{dim: 3, w: make([]float64, 3)}
	var labels, weights []float64
	for range 50 {
		l.rows = append(l.rows, []float64{rng.NormFloat64(), 3 * rng.NormFloat64(), 1})
		labels, weights = append(labels, rng.Float64()), append(weights, float64(rng.IntN(4)))
	}
	for range 20 {
		if err := l.Fit(labels, weights, make([]float64, 50)); err != nil {
			t.Fatal(err)
		}
	}
	for j := range l.w {
		const d = 1e-5
		l.w[j] += d
		up := l.likelihood(labels, weights)
		l.w[j] -= 2 * d
		down := l.likelihood(labels, weights)
		l.w[j] += d
		if s := (up - down) / (2 * d); math.Abs(s) > 1e-6 {
			t.Errorf("coefficient %d: found slope %v at the maximum", j, s)
		}
	}
}

// Claim: a step of dual learning goes along the derivatives of its two losses, by central differences.
func TestDualGradient(t *testing.T) {
	rows := [][]float64{{1, -1}, {0.5, 2}, {-1, 0.3}}
	d := &dual{k: 3, dim: 2, iterations: 1, pages: []dualPage{{weight: 2, rows: rows, slots: []int{0, 1, 2}, clicked: []bool{false, true, true}}}}
	d.all[0] = 4
	first, err := d.fit(nil) // all weights are 1 at the start
	if err != nil {
		t.Fatal(err)
	}
	loss := func(g []float64) float64 { // of the propensities
		p := softmax(nil, g)
		return -2.0 / 4 * (math.Log(p[1]) + math.Log(p[2]))
	}
	slope := func(k int) float64 {
		up, down := []float64{0, 0, 0}, []float64{0, 0, 0}
		up[k], down[k] = 1e-5, -1e-5
		return (loss(up) - loss(down)) / 2e-5
	}
	for k := range first {
		if want := slotsRate * (slope(0) - slope(k)); math.Abs(first[k]-want) > 1e-8 {
			t.Errorf("slot %d: found a step of %v, expected %v", k, first[k], want)
		}
	}
	// The second step depends on the ranker's first one.
	d.iterations = 2
	second, err := d.fit(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, 2)
	ranker := func(w []float64) float64 {
		f := softmax(nil, []float64{dot(w, rows[0]), dot(w, rows[1]), dot(w, rows[2])})
		return -2.0 / 4 * (math.Log(f[1]) + math.Log(f[2]))
	}
	for c := range w {
		up, down := make([]float64, 2), make([]float64, 2)
		up[c], down[c] = 1e-5, -1e-5
		w[c] = -dualRate * (ranker(up) - ranker(down)) / 2e-5
	}
	f := softmax(nil, []float64{dot(w, rows[0]), dot(w, rows[1]), dot(w, rows[2])})
	weighted := func(g []float64) float64 {
		p := softmax(nil, g)
		return -2.0 / 4 * (f[0]/f[1]*math.Log(p[1]) + f[0]/f[2]*math.Log(p[2]))
	}
	step := func(k int) float64 {
		up, down := slices.Clone(first), slices.Clone(first)
		up[k] += 1e-5
		down[k] -= 1e-5
		return -slotsRate * (weighted(up) - weighted(down)) / 2e-5
	}
	for k := range second {
		if want := first[k] + step(k) - step(0); math.Abs(second[k]-want) > 1e-7 {
			t.Errorf("slot %d: found %v after two steps, expected %v", k, second[k], want)
		}
	}
}

// Claim: trust recovers the slopes and intercepts of exact click rates, and names a slot without different grades.
func TestTrust(t *testing.T) {
	l := &Log{}
	alpha, beta := []float64{0.8, 0.5, 0.2}, []float64{0.1, 0.05, 0.02}
	gamma := func(p Pair) (float64, bool) { return map[string]float64{"a": 0, "b": 0.5, "c": 1}[p.Doc], p.Doc != "d" }
	for shift := range 4 {
		docs := []string{"a", "b", "c", "d"}
		docs = append(docs[shift:], docs[:shift]...)[:3]
		for mask := range 8 { // every combination of clicks with its probability
			p := &click.Page{Query: "q", Docs: docs, Clicks: make([]int, 3), Weight: 1}
			for r, d := range docs {
				g, _ := gamma(Pair{"q", d})
				p.Clicks[r] = mask >> r & 1
				q := alpha[r]*g + beta[r]
				p.Weight *= []float64{1 - q, q}[p.Clicks[r]]
			}
			add(t, l, p)
		}
	}
	e := estimate(t, l, Options{Method: Trust, Grade: gamma})
	for k, s := range e.Slots {
		if math.Abs(s.Alpha.Value-alpha[k]) > 1e-12 || math.Abs(s.Beta.Value-beta[k]) > 1e-12 || math.Abs(s.Theta-alpha[k]/alpha[0]) > 1e-12 {
			t.Errorf("slot %s: found %v, %v and %v", s.Slot, s.Alpha.Value, s.Beta.Value, s.Theta)
		}
	}
	_, err := l.Estimate(t.Context(), Options{Method: Trust, Grade: func(p Pair) (float64, bool) { return 1, p.Doc == "a" }})
	if err == nil || !strings.Contains(err.Error(), "trust: found judged documents of one grade only") {
		t.Errorf("found %v, expected a refusal", err)
	}
}

// Claim: the variance between parts has slope 0 in the marginal likelihood, by central differences, or is 0.
func TestBetweenParts(t *testing.T) {
	off, variance := []float64{0.5, -0.4, 0.3, -0.1}, []float64{0.01, 0.02, 0.01, 0.05}
	likelihood := func(s float64) (sum float64) {
		for i, d := range off {
			sum -= (math.Log(s+variance[i]) + d*d/(s+variance[i])) / 2
		}
		return sum
	}
	s := betweenParts(off, variance)
	if slope := (likelihood(s+1e-6) - likelihood(s-1e-6)) / 2e-6; s == 0 || math.Abs(slope) > 1e-4 {
		t.Errorf("found variance %v with slope %v", s, slope)
	}
	if s := betweenParts([]float64{0.01, -0.01}, []float64{1, 1}); s != 0 {
		t.Errorf("found variance %v of parts that are alike, expected 0", s)
	}
}

// Claim: parts that differ are shrunk from their own estimates toward the estimates of all pages. A part that tells
// nothing has the estimates of all pages.
func TestParts(t *testing.T) {
	w := newWorld(5)
	l := &Log{Interventions: true, Value: func(p *click.Page) string { return p.Arm }}
	steep := func(k int, relevance float64) float64 { return relevance * examination(k) * examination(k) }
	for i := range 20000 {
		q, k := w.rng.IntN(simQueries), 1+w.rng.IntN(2)
		order := slices.Clone(w.rankers[0][q])
		p := &click.Page{Swapped: [2]int{0, k}, Swap: w.rng.Float64() < .5, Arm: []string{"flat", "steep"}[i%2]}
		if p.Swap {
			order[0], order[k] = order[k], order[0]
		}
		add(t, l, w.page(q, order, p, []func(int, float64) float64{pbm, steep}[i%2]))
	}
	add(t, l, w.page(0, w.rankers[0][0], &click.Page{Arm: "none"}, pbm))
	e := estimate(t, l, Options{Top: 3})
	if len(e.Parts) != 3 || e.Parts[0].Value != "flat" || !e.Parts[0].Alone || !e.Parts[2].Alone || e.Parts[1].Alone || e.Shrinkage < 0.1 {
		t.Fatalf("found %+v", e.Parts)
	}
	for _, p := range e.Parts {
		for k, s := range p.Slots {
			whole := e.Slots[k].Theta
			switch {
			case !p.Alone && s.Theta != whole:
				t.Errorf("part %s slot %s: found %v, expected %v", p.Value, s.Slot, s.Theta, whole)
			case p.Alone && (s.Theta-whole)*(s.Theta-p.Own[k].Value) > 1e-12:
				t.Errorf("part %s slot %s: found %v, expected between %v and %v", p.Value, s.Slot, s.Theta, whole, p.Own[k].Value)
			}
		}
	}
	if flat, steep := e.Parts[0].Slots[1].Theta, e.Parts[2].Slots[1].Theta; math.Abs(flat-0.5) > 4**e.Parts[0].Slots[1].SE || math.Abs(steep-0.25) > 4**e.Parts[2].Slots[1].SE || flat < 1.4*steep {
		t.Errorf("found %v and %v, expected 0.5 and 0.25", flat, steep)
	}
}

// Claim: slots are in the order of their mean ranks, then of their numbers and names.
func TestOrder(t *testing.T) {
	l := &Log{}
	for _, slots := range [][]string{{"x"}, {"10"}, {"2"}, {"a"}, {"2", "last"}} {
		docs := []string{"a", "b"}[:len(slots)]
		add(t, l, &click.Page{Query: "q", Docs: docs, Slots: slots, Clicks: make([]int, len(slots)), Weight: 1})
	}
	var names []string
	for _, i := range l.order(0) {
		names = append(names, l.index.Slots()[i])
	}
	if got := strings.Join(names, " "); got != "2 10 a x last" {
		t.Errorf("found %s, expected 2 10 a x last", got)
	}
}

// Claim: arms that ran at different times are not compared, unless that is asked for.
func TestArmsAcrossTime(t *testing.T) {
	log := func(gap time.Duration) *Log {
		l := &Log{}
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for i := range 400 {
			arm, docs := i%2, []string{"a", "b"}
			if arm == 1 {
				docs = []string{"b", "a"}
			}
			add(t, l, &click.Page{Query: "q", Docs: docs, Clicks: []int{i % 3 % 2, i % 5 % 2}, Arm: strconv.Itoa(arm), Weight: 1, Time: start.Add(time.Duration(i)*time.Hour + time.Duration(arm)*gap)})
		}
		return l
	}
	if e := estimate(t, log(0), Options{}); e.Method != Harvest {
		t.Errorf("found %s, expected harvest", e.Method)
	}
	l := log(1000 * time.Hour)
	if _, err := l.Estimate(t.Context(), Options{Method: Harvest}); err == nil || !strings.Contains(err.Error(), "0 of 4 documents in two slots or more (2 arms that ran at 2 different times, which --across-time compares), and slot 2 is not connected") {
		t.Errorf("found %v, expected a refusal", err)
	}
	if e := estimate(t, l, Options{AcrossTime: true}); e.Method != Harvest {
		t.Errorf("found %s, expected harvest", e.Method)
	}
}

// Claim: the standard error of swaps is that of independent clicks, and that of users who come back is greater.
func TestErrorsOfUnits(t *testing.T) {
	w := newWorld(6)
	l, users := &Log{Interventions: true}, &Log{Interventions: true}
	for i := range 30000 {
		q := w.rng.IntN(simQueries)
		order := slices.Clone(w.rankers[0][q])
		p := &click.Page{Swapped: [2]int{0, 1}, Swap: w.rng.Float64() < .5}
		if p.Swap {
			order[0], order[1] = order[1], order[0]
		}
		w.page(q, order, p, pbm)
		add(t, l, p)
		for range 4 { // the same again
			p.User = strconv.Itoa(i)
			add(t, users, p)
		}
	}
	one, four := estimate(t, l, Options{Top: 2}).Slots[1], estimate(t, users, Options{Top: 2}).Slots[1]
	r := l.ratios(l.order(2), false)[0]
	if want := one.Theta * math.Sqrt(1/r.clicks[0]+1/r.clicks[1]); *one.SE < 0.75*want || *one.SE > 1.1*want {
		t.Errorf("found standard error %v, expected %v or a little less, since clicks of a page are correlated", *one.SE, want)
	}
	if four.Theta != one.Theta || *four.SE < 0.75**one.SE || *four.SE > 1.35**one.SE {
		t.Errorf("found standard error %v of pages that occur four times, expected about %v", *four.SE, *one.SE)
	}
}

// Claim: 95 % intervals of swaps cover 93 to 97 % of 1,000 simulations.
func TestCoverage(t *testing.T) {
	runs, pages := 1000, 1500
	if !long.Enabled() {
		runs = 200
	}
	w := newWorld(7)
	covered, all := 0, 0
	for range runs {
		l := &Log{Interventions: true}
		for range pages {
			q, k := w.rng.IntN(simQueries), 1+w.rng.IntN(2)
			order := slices.Clone(w.rankers[0][q])
			p := &click.Page{Swapped: [2]int{0, k}, Swap: w.rng.Float64() < .4}
			if p.Swap {
				order[0], order[k] = order[k], order[0]
			}
			add(t, l, w.page(q, order, p, pbm))
		}
		for k, s := range estimate(t, l, Options{Top: 3}).Slots[1:] {
			all++
			if *s.Low <= examination(k+1) && examination(k+1) <= *s.High {
				covered++
			}
		}
	}
	share := float64(covered) / float64(all)
	t.Logf("%d of %d intervals cover: %.4f", covered, all, share)
	slack := 0.0
	if !long.Enabled() {
		slack = 0.02
	}
	if share < 0.93-slack || share > 0.97+slack {
		t.Errorf("found a coverage of %.4f, expected 0.93 to 0.97", share)
	}
}
