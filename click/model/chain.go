package model

import (
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/parallel"
)

// chain is a law whose examination goes down the page. Users look at the first rank. They go on from a rank
// with probability K⁰ without a click, and with K¹ after a click.
//
//	P(look at r+1 | clicks to r) = K¹                        after a click at r
//	                               e(1−a)K⁰/(1−ae)           otherwise, with e = P(look at r | clicks above)
type chain interface {
	// parts sets on to K¹ of each rank and returns K⁰. s is nil if the model has no satisfaction.
	parts(shared, a, s, on []float64) (k0 float64)
}

func conditionalChain(c chain, v *view) {
	k0 := c.parts(v.Shared, v.a, v.s, v.work)
	e := 1.0
	for r, a := range v.a {
		p := float64(a * e)
		v.out[r] = p
		if v.click[r] {
			e = v.work[r]
		} else {
			e = float64(e*(1-a)*k0) / (1 - p)
		}
	}
}

func fullChain(c chain, v *view) {
	k0 := c.parts(v.Shared, v.a, v.s, v.work)
	e := 1.0
	for r, a := range v.a {
		v.out[r] = float64(a * e)
		e = float64(e * (float64(a*v.work[r]) + float64((1-a)*k0)))
	}
}

// walk has probabilities of the latent states of a page. The tail of a page has the ranks below the last click, or all
// ranks if there is none. Users looked at every rank above the tail. All probabilities are given the clicks above the
// tail.
//
//	none[r] = P(no click at r and below | look at r) = (1−a)(1−K⁰+K⁰ none[r+1])
//	look[r] = P(look at r, no click in the tail above r)
//	miss[r] = P(no look at r, no click in the tail above r)
//	tail    = P(no click in the tail)
//
// So P(look at r | page) = look·none/tail and P(attracted at r | page) = a·miss/tail.
type walk struct {
	last  int // rank of the last click, −1 without clicks
	click []bool
	a, s  []float64
	on    []float64 // K¹
	k0    float64
	none  []float64 // one more than ranks; 1 below the page
	look  []float64 // of the tail
	miss  []float64
	tail  float64
}

// resize makes room for n ranks.
func (w *walk) resize(n int) {
	if cap(w.none) <= n {
		w.a, w.s, w.on = make([]float64, n), make([]float64, n), make([]float64, n)
		w.none, w.look, w.miss = make([]float64, n+1), make([]float64, n), make([]float64, n)
	}
	w.a, w.s, w.on, w.none, w.look, w.miss = w.a[:n], w.s[:n], w.on[:n], w.none[:n+1], w.look[:n], w.miss[:n]
}

// pass computes none, look, miss and tail. It returns the probability of the clicks of the page, as a logarithm
// if the product would be too small.
func (w *walk) pass() (p, log float64) {
	n, k0 := len(w.a), w.k0
	w.none[n] = 1
	for r := n - 1; r > w.last; r-- {
		w.none[r] = float64((1 - w.a[r]) * (1 - k0 + float64(k0*w.none[r+1])))
	}
	p = 1.0
	u, d := 1.0, 0.0
	if l := w.last; l >= 0 {
		for r := range l {
			if w.click[r] {
				p = float64(p * w.a[r] * w.on[r])
			} else {
				p = float64(p * (1 - w.a[r]) * k0)
			}
			if p < 1e-250 {
				log += elementary.Log(p)
				p = 1
			}
		}
		p = float64(p * w.a[l])
		u, d = w.on[l], 1-w.on[l]
	}
	w.tail = d + float64(u*w.none[w.last+1])
	for r := w.last + 1; r < n; r++ {
		w.look[r], w.miss[r] = u, d
		stay := float64(u * (1 - w.a[r]))
		u = float64(stay * k0)
		d += float64(stay * (1 - k0))
	}
	return float64(p * w.tail), log
}

// chainFit is expectation maximisation over patterns.
type chainFit struct {
	*fitting
	law       chainLaw
	sums      *parallel.Sums
	step      func(worker, from, to int, grad []float64) float64
	walks     []walk
	attracted []float64 // by pair, of those without a click
	satisfied []float64 // by pair
}

// chainLaw is a chain that is fitted by expectation maximisation.
type chainLaw interface {
	chain
	// collect adds the expected numbers of users of a page: satisfied users by pair, and by shared parameter the
	// users who could go on and who went on. z is 1/tail times the weight of the page.
	collect(f *chainFit, w *walk, pairs []int32, weight, z float64, could, went []float64)
	// maximise sets the parameters.
	maximise(f *chainFit, could, went []float64)
}

func newChainFit(f *fitting, law chainLaw) *chainFit {
	e := &chainFit{fitting: f, law: law, attracted: make([]float64, len(f.Attraction)), satisfied: make([]float64, len(f.Attraction))}
	dim := 2*len(f.Shared) + 1
	starts := make([]int32, len(f.d.of)) // places of the queries' patterns
	for q, i := range f.d.of {
		starts[q] = f.d.page[i]
	}
	e.sums = parallel.NewSums(dim, cuts(starts, dim))
	e.walks = make([]walk, parallel.Workers(f.o.Workers, e.sums.Blocks()))
	e.step = e.expectRange
	return e
}

func (e *chainFit) expect() (x expectation) {
	x.loglik = e.sums.Run(len(e.walks), e.step)
	x.logs.attraction, _ = e.logs(e.Attraction, nil)
	x.logs.satisfaction, _ = e.logs(e.Satisfaction, nil)
	x.logs.shared, _ = e.logs(e.Shared, nil)
	x.means = Pair{e.d.clicks / e.sums.Total[len(e.sums.Total)-1], kernel.Sum(e.satisfied) / e.d.clicks}
	return x
}

func (e *chainFit) expectRange(worker, from, to int, grad []float64) (loglik float64) {
	d, w, n := e.d, &e.walks[worker], len(e.Shared)
	could, went, looked := grad[:n], grad[n:2*n], 0.0
	clear(e.attracted[d.queries[from]:d.queries[to]])
	clear(e.satisfied[d.queries[from]:d.queries[to]])
	for i := d.of[from]; i < d.of[to]; i++ {
		pairs, weight := e.load(w, i)
		p, log := w.pass()
		loglik += float64(weight * (log + elementary.Log(p)))
		looked += float64(weight * float64(w.last+1))
		z := weight / w.tail
		for r := w.last + 1; r < len(pairs); r++ {
			looked += float64(z * w.look[r] * w.none[r])
			e.attracted[pairs[r]] += float64(z * w.a[r] * w.miss[r])
		}
		e.law.collect(e, w, pairs, weight, z, could, went)
	}
	grad[2*n] = looked
	return loglik
}

// load sets w to a pattern. It returns its pairs and its weight.
func (e *chainFit) load(w *walk, i int32) (pairs []int32, weight float64) {
	from, to := e.d.page[i], e.d.page[i+1]
	pairs = e.d.pair[from:to]
	w.resize(len(pairs))
	w.last, w.click = int(e.d.last[i]), e.d.click[from:to]
	for r, pair := range pairs {
		w.a[r] = e.Attraction[pair]
	}
	if e.Satisfaction != nil {
		for r, pair := range pairs {
			w.s[r] = e.Satisfaction[pair]
		}
	}
	w.k0 = e.law.parts(e.Shared, w.a, w.s, w.on)
	return pairs, e.d.weight[i]
}

func (e *chainFit) maximise() {
	n := len(e.Shared)
	e.law.maximise(e, e.sums.Total[:n], e.sums.Total[n:2*n])
}

// attract sets the attractions.
func (e *chainFit) attract() {
	for pair, q := range e.attracted {
		e.Attraction[pair] = e.rate(e.Unseen.Attraction, e.d.clicked[pair]+q, e.d.shown[pair])
	}
}

// satisfy sets the satisfactions.
func (e *chainFit) satisfy() {
	for pair, q := range e.satisfied {
		e.Satisfaction[pair] = e.rate(e.Unseen.Satisfaction, q, e.d.clicked[pair])
	}
}

// continues sets the shared parameters.
func (e *chainFit) continues(could, went []float64) {
	for k := range e.Shared {
		e.Shared[k] = laplace(went[k], could[k])
	}
}

// weigh adds the expected examinations of each pair, given the clicks above, and the curvature of the
// log-likelihood in its attraction and satisfaction. curve returns further curvatures at a clicked rank.
func (e *chainFit) weigh(to *evidence, curve func(w *walk, r int) (attraction, satisfaction float64)) {
	n := len(e.Attraction)
	attraction, satisfaction := make([]float64, n), make([]float64, n)
	var w walk
	for i := range e.d.weight {
		pairs, weight := e.load(&w, int32(i))
		w.pass()
		look := 1.0
		for r, pair := range pairs {
			a := w.a[r]
			to.examined[pair] += float64(weight * look)
			switch {
			case w.click[r]:
				more, s := curve(&w, r)
				attraction[pair] += float64(weight * (1/float64(a*a) + more))
				satisfaction[pair] += float64(weight * s)
				look = w.on[r]
				continue
			case r < w.last:
				attraction[pair] += weight / float64((1-a)*(1-a))
			default:
				slope := float64(w.look[r]*(1-w.k0+float64(w.k0*w.none[r+1]))) / w.tail
				attraction[pair] += float64(weight * slope * slope)
			}
			look = float64(look*(1-a)*w.k0) / (1 - float64(a*look))
		}
	}
	to.attraction = e.variances(e.Attraction, e.Unseen.Attraction, attraction)
	if e.Satisfaction != nil {
		to.satisfaction = e.variances(e.Satisfaction, e.Unseen.Satisfaction, satisfaction)
	}
}

// square returns x².
func square(x float64) float64 { return float64(x * x) }
