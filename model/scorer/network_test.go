package scorer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// network is a scorer beside its definition.
type network struct {
	Scorer
	naive func(params []float64, x []float32) []float64
}

// networks returns both architectures with an activation.
func networks(features int, f Activation) []network {
	single := Network{Features: features, Hidden: 5, Activation: f}
	pair := PairNetwork{Features: features, Hidden: 3, PairHidden: 4, Activation: f}
	return []network{
		{single, func(params []float64, x []float32) []float64 { return naiveNetwork(single, params, x) }},
		{pair, func(params []float64, x []float32) []float64 { return naivePairNetwork(pair, params, x) }},
	}
}

func allNetworks(features int) []network {
	var all []network
	for f := range activationNames {
		all = append(all, networks(features, Activation(f))...)
	}
	return all
}

// naiveNetwork is Σ_t v_t·f(w_t·x + b_t), document by document.
func naiveNetwork(n Network, params []float64, x []float32) []float64 {
	p, h, f := n.Features, n.Hidden, formulas[n.Activation]
	scores := make([]float64, len(x)/p)
	for i := range scores {
		for t := range h {
			z := params[h*p+t]
			for j := range p {
				z += params[t*p+j] * float64(x[i*p+j])
			}
			scores[i] += params[h*p+h+t] * f(z)
		}
	}
	return scores
}

// naivePairNetwork runs a network of 2p features on every pair of documents.
func naivePairNetwork(n PairNetwork, params []float64, x []float32) []float64 {
	p, g := n.Features, n.PairHidden
	single := n.Hidden * (p + 2)
	scores := naiveNetwork(Network{p, n.Hidden, n.Activation}, params[:single], x)
	a, rest := params[single:single+g*p], params[single+g*p:]
	var joined []float64 // rows [A_t B_t], as a network of 2p features has them
	for t := range g {
		joined = append(append(joined, a[t*p:(t+1)*p]...), rest[t*p:(t+1)*p]...)
	}
	joined = append(joined, rest[g*p:]...)
	for j := range scores {
		for k := range scores {
			if k != j {
				both := append(slices.Clone(x[j*p:(j+1)*p]), x[k*p:(k+1)*p]...)
				scores[j] += naiveNetwork(Network{2 * p, g, n.Activation}, joined, both)[0]
			}
		}
	}
	return scores
}

// start returns a query, parameters near those of Init, and λ.
func start(rng *rand.Rand, s Scorer, docs int) (x []float32, params, lambda []float64) {
	x, _, lambda = query(rng, docs, s.NumFeatures())
	params = make([]float64, s.NumParams())
	s.Init(params, rng)
	for i := range params {
		params[i] += rng.NormFloat64() / 4
	}
	return x, params, lambda
}

func score(s Scorer, params []float64, x []float32) []float64 {
	dst := make([]float64, len(x)/s.NumFeatures())
	s.Score(dst, params, x, new(Workspace))
	return dst
}

// gradient returns the derivatives of Σ lambda_i·score_i.
func gradient(s Scorer, params []float64, x []float32, lambda []float64, ws *Workspace) []float64 {
	s.Score(make([]float64, len(lambda)), params, x, ws)
	grad := make([]float64, s.NumParams())
	s.Backward(grad, params, x, lambda, ws)
	return grad
}

// Scores are those of the definition, with any number of documents: a single one,
// fewer and more than fit a block of pairs.
func TestNetworkScore(t *testing.T) {
	rng := newRand()
	for _, n := range allNetworks(7) {
		for _, docs := range []int{1, 2, 9, 60} {
			x, params, _ := start(rng, n, docs)
			got, want := score(n, params, x), n.naive(params, x)
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-12*max(1, float64(docs)) {
					t.Errorf("%#v, %d documents: score %d is %v, want %v", n.Scorer, docs, i, got[i], want[i])
				}
			}
		}
	}
}

// Backward adds the derivatives of Σ λ_i·score_i: central differences of fourth
// order of the definition. What was in grad stays, and a second Backward after the
// same Score adds as much again.
func TestNetworkBackward(t *testing.T) {
	rng := newRand()
	for _, n := range allNetworks(4) {
		for _, docs := range []int{1, 6} {
			x, params, lambda := start(rng, n, docs)
			total := func(i int, shift float64) (sum float64) {
				moved := slices.Clone(params)
				moved[i] += shift
				for j, s := range n.naive(moved, x) {
					sum += lambda[j] * s
				}
				return sum
			}
			var ws Workspace
			got := gradient(n, params, x, lambda, &ws)
			for i := range params {
				const h = 1e-4
				want := (8*(total(i, h)-total(i, -h)) - (total(i, 2*h) - total(i, -2*h))) / (12 * h)
				if math.Abs(got[i]-want) > 1e-9*max(1, math.Abs(want)) {
					t.Errorf("%#v, %d documents: derivative %d is %v, differences say %v", n.Scorer, docs, i, got[i], want)
				}
			}
			again := make([]float64, len(params))
			for i := range again {
				again[i] = float64(i)
			}
			n.Backward(again, params, x, lambda, &ws)
			for i, v := range again {
				if want := got[i] + float64(i); math.Abs(v-want) > 1e-12*max(1, math.Abs(want)) {
					t.Errorf("%#v: derivative %d added to %d is %v, want %v", n.Scorer, i, i, v, want)
				}
			}
		}
	}
}

// Lists longer than a block of pairs go through several blocks and a short last
// one, forward and back: the derivatives are those of the scores.
func TestPairNetworkBlocks(t *testing.T) {
	rng := newRand()
	n := PairNetwork{Features: 2, Hidden: 1, PairHidden: 2, Activation: Tanh}
	const docs, h = 101, 1e-3
	if rows := pairRows(docs); docs < 3*rows || docs%rows == 0 {
		t.Fatalf("%d documents in blocks of %d test nothing", docs, rows)
	}
	x, params, lambda := start(rng, n, docs)
	got := gradient(n, params, x, lambda, new(Workspace))
	total := func() (sum float64) {
		for i, s := range score(n, params, x) {
			sum += lambda[i] * s
		}
		return sum
	}
	for i := range params {
		at, sums := params[i], [4]float64{}
		for k, shift := range []float64{-2 * h, -h, h, 2 * h} {
			params[i] = at + shift
			sums[k] = total()
		}
		params[i] = at
		if want := (8*(sums[2]-sums[1]) - (sums[3] - sums[0])) / (12 * h); math.Abs(got[i]-want) > 1e-7*max(1, math.Abs(want)) {
			t.Errorf("derivative %d is %v, differences say %v", i, got[i], want)
		}
	}
}

// A network's score does not depend on the other documents, bit for bit; a pair
// network's follows its document when the documents change places.
func TestNetworkPermutation(t *testing.T) {
	rng := newRand()
	const docs, features = 23, 5
	for _, n := range allNetworks(features) {
		x, params, lambda := start(rng, n, docs)
		want, wantGrad := score(n, params, x), gradient(n, params, x, lambda, new(Workspace))
		order := rng.Perm(docs)
		moved, movedLambda := make([]float32, 0, len(x)), make([]float64, docs)
		for to, from := range order {
			moved = append(moved, x[from*features:(from+1)*features]...)
			movedLambda[to] = lambda[from]
		}
		tolerance := 0.0
		if n.Kind() == "pairnet" {
			tolerance = 1e-12
		}
		for to, s := range score(n, params, moved) {
			if math.Abs(s-want[order[to]]) > tolerance {
				t.Errorf("%#v: document %d scores %v in another place, %v before", n.Scorer, to, s, want[order[to]])
			}
		}
		for i, g := range gradient(n, params, moved, movedLambda, new(Workspace)) {
			if math.Abs(g-wantGrad[i]) > 1e-11*max(1, math.Abs(wantGrad[i])) {
				t.Errorf("%#v: derivative %d is %v with the documents in another order, %v before", n.Scorer, i, g, wantGrad[i])
			}
		}
		if n.Kind() == "net" {
			part := score(n, params, x[3*features:8*features])
			if !slices.Equal(part, want[3:8]) {
				t.Errorf("%#v: five documents alone score %v, among others %v", n.Scorer, part, want[3:8])
			}
			one := score(n, params, x[3*features:4*features])
			if !slices.Equal(one, want[3:4]) {
				t.Errorf("%#v: a document alone scores %v, among others %v", n.Scorer, one, want[3])
			}
		}
	}
}

// One workspace serves queries of all sizes one after the other, with the same bits
// as a new one; several goroutines with one each do not disturb each other.
func TestWorkspaces(t *testing.T) {
	for _, n := range networks(6, Tanh) {
		rng := newRand()
		var wait sync.WaitGroup
		type work struct {
			x      []float32
			lambda []float64
			want   []float64
		}
		_, params, _ := start(rng, n, 1)
		var all []work
		for _, docs := range []int{3, 50, 7, 80, 1, 20} {
			x, _, lambda := start(rng, n, docs)
			all = append(all, work{x, lambda, gradient(n, params, x, lambda, new(Workspace))})
		}
		for range 3 {
			wait.Go(func() {
				var ws Workspace
				for range 10 {
					for i, w := range all {
						if got := gradient(n, params, w.x, w.lambda, &ws); !slices.Equal(got, w.want) {
							t.Errorf("%s: query %d has other derivatives with a used workspace", n.Kind(), i)
						}
					}
				}
			})
		}
		wait.Wait()
	}
}

// Backward of a query that is not the one scored last is a programmer's mistake,
// which shows.
func TestStaleWorkspace(t *testing.T) {
	rng := newRand()
	for _, n := range networks(3, Sigmoid) {
		x, params, lambda := start(rng, n, 4)
		other := slices.Clone(x)
		var ws Workspace
		score := func(x []float32) { n.Score(make([]float64, 4), params, x, &ws) }
		back := func() { n.Backward(make([]float64, len(params)), params, x, lambda, &ws) }
		for _, c := range []struct {
			name   string
			before func()
			panics bool
		}{
			{"no Score", func() {}, true},
			{"its Score", func() { score(x) }, false},
			{"another one's", func() { score(other) }, true},
			{"its own after another one's", func() { score(other); score(x) }, false},
		} {
			c.before()
			if got := panics(back); got != c.panics {
				t.Errorf("%s: Backward after %s panics: %v, want %v", n.Kind(), c.name, got, c.panics)
			}
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return
}

// Shapes that do not fit are a programmer's mistake.
func TestNetworkShapes(t *testing.T) {
	rng := newRand()
	for _, n := range networks(3, ReLU) {
		x, params, lambda := start(rng, n, 4)
		var ws Workspace
		n.Score(make([]float64, 4), params, x, &ws)
		for name, f := range map[string]func(){
			"scores":     func() { n.Score(make([]float64, 5), params, x, new(Workspace)) },
			"parameters": func() { n.Score(make([]float64, 4), params[1:], x, new(Workspace)) },
			"lambda":     func() { n.Backward(make([]float64, len(params)), params, x, lambda[1:], &ws) },
			"gradient":   func() { n.Backward(make([]float64, 3), params, x, lambda, &ws) },
			"init":       func() { n.Init(params[1:], rng) },
		} {
			if !panics(f) {
				t.Errorf("%s: %s of a wrong length are accepted", n.Kind(), name)
			}
		}
	}
}

// After the first query of a size, nothing is allocated.
func TestNetworkAllocations(t *testing.T) {
	for _, n := range networks(5, ELU) {
		x, params, lambda := start(newRand(), n, 30)
		var ws Workspace
		scores, grad := make([]float64, 30), make([]float64, len(params))
		run := func() {
			n.Score(scores, params, x, &ws)
			n.Backward(grad, params, x, lambda, &ws)
		}
		run()
		if count := testing.AllocsPerRun(10, run); count != 0 {
			t.Errorf("%s: %v allocations an evaluation", n.Kind(), count)
		}
	}
}

// Init draws from ±1/√(inputs), layer by layer, the same numbers from the same
// stream; a linear scorer starts at 0.
func TestInit(t *testing.T) {
	const p, h, g = 16, 25, 9
	for _, c := range []struct {
		s     Scorer
		parts []int
		limit []float64
	}{
		{Linear{p}, []int{p}, []float64{0}},
		{Network{Features: p, Hidden: h}, []int{h * p, h, h}, []float64{1. / 4, 1. / 4, 1. / 5}},
		{
			PairNetwork{Features: p, Hidden: h, PairHidden: g},
			[]int{h * p, h, h, 2 * g * p, g, g},
			[]float64{1. / 4, 1. / 4, 1. / 5, math.Sqrt(1. / 32), math.Sqrt(1. / 32), 1. / 300},
		},
	} {
		params, again := make([]float64, c.s.NumParams()), make([]float64, c.s.NumParams())
		for i := range params {
			params[i], again[i] = 7, 8
		}
		c.s.Init(params, newRand())
		c.s.Init(again, newRand())
		if !slices.Equal(params, again) {
			t.Errorf("%s: other parameters from the same stream", c.s.Kind())
		}
		at := 0
		for i, size := range c.parts {
			part := params[at : at+size]
			at += size
			top := max(slices.Max(part), -slices.Min(part))
			if top > c.limit[i] || top < 0.6*c.limit[i] {
				t.Errorf("%s: part %d reaches ±%v, want ±%v", c.s.Kind(), i, top, c.limit[i])
			}
			if c.limit[i] > 0 && (slices.Max(part) <= 0 || slices.Min(part) >= 0) {
				t.Errorf("%s: part %d has one sign", c.s.Kind(), i)
			}
		}
		if at != len(params) {
			t.Errorf("%s: %d parameters, want %d", c.s.Kind(), len(params), at)
		}
	}
}

func ExamplePairNetwork() {
	// A document's score is φ alone when it has no company.
	n := PairNetwork{Features: 1, Hidden: 1, PairHidden: 1, Activation: ReLU}
	params := []float64{2, 0, 1 /* φ(x) = relu(2x) */, 1, -1, 0, 10 /* ϕ(x, y) = 10·relu(x − y) */}
	alone, both := make([]float64, 1), make([]float64, 2)
	var ws Workspace
	n.Score(alone, params, []float32{3}, &ws)
	n.Score(both, params, []float32{3, 1}, &ws)
	fmt.Println(alone, both)
	// Output: [6] [26 2]
}
