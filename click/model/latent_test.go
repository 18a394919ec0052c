package model

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/click"
)

// user is what a user did on a page, with latent states. Attraction and satisfaction are those that
// the user would have at each rank, whether looked at or not.
type user struct {
	look, attracted, satisfied, click []bool
	could, went                       []float64 // by shared parameter: users who could look or go on, and did
}

// browse simulates a user by the definition of a model. a and s are of the ranks of the page.
func browse(name string, flip func(p float64) bool, a, s, shared []float64) *user {
	n := len(a)
	u := &user{make([]bool, n), make([]bool, n), make([]bool, n), make([]bool, n), make([]float64, len(shared)), make([]float64, len(shared))}
	for r := range n {
		u.attracted[r] = flip(a[r])
		switch name {
		case "sdbn", "dbn":
			u.satisfied[r] = flip(s[r])
		case "ccm":
			u.satisfied[r] = flip(a[r])
		}
	}
	draw := func(k int) bool {
		did := flip(shared[k])
		u.could[k]++
		if did {
			u.went[k]++
		}
		return did
	}
	above, look := 0, true
	for r := range n {
		switch name {
		case "pbm":
			look = draw(r)
		case "ubm":
			look = draw(r*(r+1)/2 + above)
		}
		u.look[r] = look
		u.click[r] = look && u.attracted[r]
		if u.click[r] {
			above = r + 1
		}
		if !look || r == n-1 {
			continue
		}
		switch click := u.click[r]; name {
		case "dctr", "pbm", "ubm":
		case "cm":
			look = !click
		case "dcm":
			look = !click || draw(r)
		case "sdbn":
			look = !click || !u.satisfied[r]
		case "dbn":
			look = (!click || !u.satisfied[r]) && draw(0)
		case "ccm":
			switch {
			case !click:
				look = draw(0)
			case !u.satisfied[r]:
				look = draw(1)
			default:
				look = draw(2)
			}
		default:
			panic(name)
		}
	}
	return u
}

// every calls use with each result of do and its probability, over all outcomes of do's flips.
func every(do func(flip func(float64) bool) *user, use func(u *user, p float64)) {
	var path []bool
	for {
		i, prob := 0, 1.0
		u := do(func(p float64) bool {
			if i == len(path) {
				path = append(path, false)
			}
			did := path[i]
			if i++; did {
				prob *= p
			} else {
				prob *= 1 - p
			}
			return did
		})
		use(u, prob)
		for len(path) > 0 && path[len(path)-1] {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			return
		}
		path[len(path)-1] = true
	}
}

// expected has what is expected of the users with the same clicks.
type expected struct {
	p                          float64
	look, attracted, satisfied []float64
	could, went                []float64
}

// enumerate returns what is expected of users for each list of clicks, and the probability of a click at each rank.
func enumerate(name string, a, s, shared []float64) (all map[string]*expected, full []float64) {
	n := len(a)
	all, full = map[string]*expected{}, make([]float64, n)
	every(func(flip func(float64) bool) *user { return browse(name, flip, a, s, shared) }, func(u *user, p float64) {
		key := fmt.Sprint(u.click)
		e := all[key]
		if e == nil {
			e = &expected{0, make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, len(shared)), make([]float64, len(shared))}
			all[key] = e
		}
		e.p += p
		for r := range n {
			add := func(to []float64, is bool) {
				if is {
					to[r] += p
				}
			}
			add(e.look, u.look[r])
			add(e.attracted, u.attracted[r])
			add(e.satisfied, u.satisfied[r])
			add(full, u.click[r])
		}
		for k := range shared {
			e.could[k] += p * u.could[k]
			e.went[k] += p * u.went[k]
		}
	})
	for _, e := range all {
		for _, list := range [][]float64{e.look, e.attracted, e.satisfied, e.could, e.went} {
			for i := range list {
				list[i] /= e.p
			}
		}
	}
	return all, full
}

// logOf is a log of pages.
func logOf(t testing.TB, pages ...*click.Page) *click.Counts {
	t.Helper()
	c := &click.Counts{Keep: true}
	for _, p := range pages {
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		if err := c.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// pageOf is a page with n documents, which begin at first, with the clicks of the bits.
func pageOf(n, first, bits int, weight float64) *click.Page {
	p := &click.Page{Query: "q", Weight: weight}
	for r := range n {
		p.Docs = append(p.Docs, fmt.Sprint("d", (first+r)%4))
		p.Clicks = append(p.Clicks, bits>>r&1)
	}
	return p
}

// drawn returns a model of a log with random parameters.
func drawn(t *testing.T, k *Kind, d *Data, exact bool) *fitting {
	t.Helper()
	m, err := d.Fit(context.Background(), k, Options{Exact: exact, Iterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, list := range [][]float64{m.Attraction, m.Satisfaction, m.Shared} {
		for i := range list {
			list[i] = .1 + .8*rng.Float64()
		}
	}
	return &fitting{Model: m, d: d, o: Options{}, ctx: context.Background()}
}

// estimatorOf returns the expectation maximisation of a fit, nil if the model has none.
func estimatorOf(f *fitting) estimator {
	switch law := f.law.(type) {
	case interface{ cells(*Data) *cells }:
		return newCellFit(f, law.cells(f.d))
	case chainLaw:
		return newChainFit(f, law)
	}
	return nil
}

// found is what an estimator expects of the users of a log.
func found(e estimator) (loglik float64, x *expected) {
	x = &expected{}
	now := e.expect()
	switch e := e.(type) {
	case *cellFit:
		x.attracted, x.could = e.attracted, e.shown
		for k, q := range e.sums.Total {
			x.went = append(x.went, q+e.clicks[k])
		}
		x.look = []float64{e.d.clicks / now.means.Attraction}
	case *chainFit:
		n := len(e.Shared)
		x.attracted, x.satisfied, x.could, x.went = e.attracted, e.satisfied, e.sums.Total[:n], e.sums.Total[n:2*n]
		x.look = []float64{e.sums.Total[2*n]}
	}
	return now.loglik, x
}

// Claim: likelihoods, posteriors and full probabilities equal sums over all latent states, on pages of one to four
// documents with every pattern of clicks.
func TestEnumeration(t *testing.T) {
	const tolerance = 1e-12
	for _, k := range Kinds() {
		if k.Name == "gctr" || k.Name == "rctr" { // they have no latent states
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			near := func(what string, got, want float64) {
				t.Helper()
				if !(math.Abs(got-want) <= tolerance) {
					t.Errorf("%s: found %v, expected %v", what, got, want)
				}
			}
			var pages []*click.Page
			var alike []*expected // what is expected of each page
			var all *fitting
			for n := 1; n <= 4; n++ {
				for first := range 2 {
					for bits := range 1 << n {
						pages = append(pages, pageOf(n, first, bits, float64(1+bits%3)))
					}
				}
			}
			all = drawn(t, k, arrange(t, logOf(t, pages...)), true)
			for _, p := range pages {
				a, s := make([]float64, len(p.Docs)), make([]float64, len(p.Docs))
				clicks := make([]bool, len(p.Docs))
				for r, doc := range p.Docs {
					pair, seen := all.Pair("q", doc)
					if !seen {
						t.Fatal("a pair of the log is not in the model")
					}
					a[r], s[r], clicks[r] = pair.Attraction, pair.Satisfaction, p.Clicked(r)
				}
				states, full := enumerate(k.Name, a, s, all.Shared)
				e := states[fmt.Sprint(clicks)]
				if e == nil { // impossible
					e = &expected{}
				}
				alike = append(alike, e)
				got, err := all.Full(p)
				if err != nil {
					t.Fatal(err)
				}
				conditional, err := all.Conditional(p)
				if err != nil {
					t.Fatal(err)
				}
				likelihood := 1.0
				for r := range full {
					near("full", got[r], full[r])
					if clicks[r] {
						likelihood *= conditional[r]
					} else {
						likelihood *= 1 - conditional[r]
					}
				}
				near("likelihood", likelihood, e.p)
				if estimatorOf(all) == nil {
					continue
				}
				// a log of this page alone
				single := drawn(t, k, arrange(t, logOf(t, p, pageOf(4, 0, 15, 1e-300))), true)
				for i := range single.Attraction {
					_, doc := single.PairName(i)
					pair, _ := all.Pair("q", doc)
					single.Attraction[i] = pair.Attraction
					if single.Satisfaction != nil {
						single.Satisfaction[i] = pair.Satisfaction
					}
				}
				copy(single.Shared, all.Shared)
				loglik, x := found(estimatorOf(single))
				near("log-likelihood", loglik/p.Weight, math.Log(e.p))
				looked := 0.0
				for r, doc := range p.Docs {
					i := single.names.find("q", doc)
					attracted := x.attracted[i] / p.Weight
					if clicks[r] {
						attracted++
					}
					near(fmt.Sprintf("%v: attracted at %d", clicks, r), attracted, e.attracted[r])
					looked += e.look[r]
					if x.satisfied != nil && clicks[r] {
						near(fmt.Sprintf("%v: satisfied at %d", clicks, r), x.satisfied[i]/p.Weight, e.satisfied[r])
					}
				}
				near("looked", x.look[0]/p.Weight, looked)
				for j := range x.could {
					near(fmt.Sprintf("%v: could %d", clicks, j), x.could[j]/p.Weight, e.could[j])
					near(fmt.Sprintf("%v: went %d", clicks, j), x.went[j]/p.Weight, e.went[j])
				}
			}
			if estimatorOf(all) == nil {
				return
			}
			// all pages at once: sums of the pages'
			_, x := found(estimatorOf(all))
			want := make([]float64, len(all.Attraction))
			went := make([]float64, len(all.Shared))
			for i, p := range pages {
				for r, doc := range p.Docs {
					if !p.Clicked(r) {
						want[all.names.find("q", doc)] += p.Weight * alike[i].attracted[r]
					}
				}
				for j := range went {
					went[j] += p.Weight * alike[i].went[j]
				}
			}
			for i, v := range want {
				near("attracted of all pages", x.attracted[i]/100, v/100)
			}
			for j, v := range went {
				near("went of all pages", x.went[j]/100, v/100)
			}
		})
	}
}

// simulated are pages of 10 of the 20 documents of 50 queries in random order, and the parameters of the users.
func simulated(t testing.TB, name string, pages int, shared []float64) (c *click.Counts, a, s map[string]float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	a, s = map[string]float64{}, map[string]float64{}
	c = &click.Counts{Keep: true}
	for q := range 50 {
		for d := range 20 {
			key := fmt.Sprint("q", q, " d", d)
			a[key], s[key] = 1-math.Cbrt(rng.Float64()), .1+.8*rng.Float64()
		}
	}
	docs := make([]string, 20)
	for d := range docs {
		docs[d] = fmt.Sprint("d", d)
	}
	flip := func(p float64) bool { return rng.Float64() < p }
	for range pages {
		p := &click.Page{Query: fmt.Sprint("q", rng.IntN(50)), Weight: 1, Clicks: make([]int, 10)}
		rng.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		p.Docs = docs[:10]
		attraction, satisfaction := make([]float64, 10), make([]float64, 10)
		for r, d := range p.Docs {
			attraction[r], satisfaction[r] = a[p.Query+" "+d], s[p.Query+" "+d]
		}
		for r, click := range browse(name, flip, attraction, satisfaction, shared).click {
			if click {
				p.Clicks[r] = 1
			}
		}
		if err := c.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	return c, a, s
}

// sharedOf are the parameters that pairs share in simulations.
func sharedOf(name string) []float64 {
	var x []float64
	for r := range 10 {
		switch name {
		case "pbm":
			x = append(x, 1/float64(r+1))
		case "ubm":
			for above := range r + 1 {
				x = append(x, .95*math.Pow(.75, float64(r-above)))
			}
		case "dcm":
			x = append(x, .9-.05*float64(r))
		}
	}
	switch name {
	case "dbn":
		return []float64{.85}
	case "ccm":
		return []float64{.9, .7, .3}
	}
	return x
}

// Claim: fits of 100,000 simulated pages recover the parameters of the users.
func TestRecovery(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		name   string
		a      float64 // largest root mean square error of attractions
		shared float64 // largest error of shared parameters
	}{{"pbm", .030, .006}, {"ubm", .030, .03}, {"cm", .030, 0}, {"dbn", .030, .003}, {"ccm", .030, .01}, {"dcm", .018, .02}, {"sdbn", .030, 0}} {
		t.Run(c.name, func(t *testing.T) {
			truth := sharedOf(c.name)
			counts, a, _ := simulated(t, c.name, 100_000, truth)
			k, err := Lookup(c.name)
			if err != nil {
				t.Fatal(err)
			}
			m, err := arrange(t, counts).Fit(context.Background(), k, Options{Prior: Laplace, Iterations: 100, Tolerance: -1, Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			// attraction and examination are known up to a factor, that of the first place
			ours, theirs := 1.0, 1.0
			if c.name == "pbm" || c.name == "ubm" {
				ours, theirs = m.Shared[0], truth[0]
			}
			sum, n := 0.0, 0
			for i, v := range m.Attraction {
				query, doc := m.PairName(i)
				e := v*ours - a[query+" "+doc]*theirs
				sum += e * e
				n++
			}
			worst := 0.0
			for i, v := range truth {
				if c.name == "dcm" && i >= 8 || c.name == "ubm" && far(i) {
					continue // there are few clicks
				}
				worst = max(worst, math.Abs(m.Shared[i]/ours-v/theirs))
			}
			rms := math.Sqrt(sum / float64(n))
			t.Logf("attraction %.4f (rms), shared %.4f (largest)", rms, worst)
			if rms > c.a || worst > c.shared {
				t.Errorf("found errors %.4f and %.4f, expected at most %v and %v", rms, worst, c.a, c.shared)
			}
		})
	}
}

// far reports whether a parameter of UBM is of a rank more than four below the last click.
func far(i int) bool {
	r := 0
	for triangle(r+1) <= i {
		r++
	}
	return r-(i-triangle(r)) > 3
}

// Claim: expectation maximisation never lowers its objective, under either prior, and the objective is the
// log-likelihood of the pages plus the prior's.
func TestAscent(t *testing.T) {
	logs := map[string]*click.Counts{}
	logs["simulated"], _, _ = simulated(t, "dbn", 3000, sharedOf("dbn"))
	if !testing.Short() {
		if train, _ := yandexOnce(); train[0] != nil && train[1] != nil {
			logs["yandex"] = &train[0].Counts
		}
	}
	for log, counts := range logs {
		d := arrange(t, counts)
		for _, name := range []string{"pbm", "ubm", "dcm", "sdbn", "dbn", "ccm"} {
			for _, prior := range []Prior{Laplace, DefaultPrior} {
				k, _ := Lookup(name)
				m, err := d.Fit(context.Background(), k, Options{Prior: prior, Iterations: 100, Tolerance: -1, Exact: true})
				if err != nil {
					t.Fatal(err)
				}
				if len(m.Steps) != 100 {
					t.Errorf("%s, %s, %s: found %d steps, expected 100", log, name, prior, len(m.Steps))
				}
				for i, s := range m.Steps {
					if s.Gain < -1e-9*math.Abs(s.Objective) {
						t.Errorf("%s, %s, %s: the objective fell by %v in iteration %d", log, name, prior, -s.Gain, i+1)
					}
				}
				if want := objective(t, m, counts); math.Abs(m.Steps[99].Objective-want) > 1e-9*math.Abs(want) {
					t.Errorf("%s, %s, %s: found objective %v, expected %v", log, name, prior, m.Steps[99].Objective, want)
				}
			}
		}
	}
}

// objective is what the fit maximises, by its definition.
func objective(t *testing.T, m *Model, c *click.Counts) (sum float64) {
	t.Helper()
	for i := range c.Patterns.Len() {
		q := c.Patterns.At(i)
		p := &click.Page{}
		for r, pair := range q.Pairs {
			var doc string
			p.Query, doc = c.Name(int(pair))
			p.Docs = append(p.Docs, doc)
			p.Clicks = append(p.Clicks, 0)
			if q.Clicked[r] {
				p.Clicks[r] = 1
			}
		}
		out, err := m.Conditional(p)
		if err != nil {
			t.Fatal(err)
		}
		for r, v := range out {
			if !q.Clicked[r] {
				v = 1 - v
			}
			sum += q.Weight * math.Log(v)
		}
	}
	prior := func(list []float64, strength, mean float64) {
		for _, v := range list {
			sum += strength*mean*math.Log(v) + strength*(1-mean)*math.Log(1-v)
		}
	}
	prior(m.Attraction, m.Prior.Strength, m.Unseen.Attraction)
	prior(m.Satisfaction, m.Prior.Strength, m.Unseen.Satisfaction)
	prior(m.Shared, 2, .5)
	return sum
}
