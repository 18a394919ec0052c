package sample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/ranking"
	"pgregory.net/rapid"
)

// The gains of LogRank, section 1.6: at a place i+a from the top, counted from 0.
type (
	ap   struct{}
	mrr  struct{}
	auc  struct{}
	ndcg struct{ k int }
)

func (ap) GoodGain(i, a, good, _ int) float64 { return float64(i+1) / float64(i+1+a) / float64(good) }

func (auc) GoodGain(_, a, good, bad int) float64 {
	return float64(bad-a) / float64(bad) / float64(good)
}

func (mrr) GoodGain(i, a, _, _ int) float64 {
	if i > 0 {
		return 0
	}
	return 1 / float64(1+a)
}

func (m ndcg) discount(i int) float64 {
	switch {
	case i >= m.k:
		return 0
	case i < 2:
		return 1
	}
	return 1 / math.Log2(float64(1+i))
}

func (m ndcg) GoodGain(i, a, good, _ int) float64 {
	var ideal float64
	for j := range min(good, m.k) {
		ideal += m.discount(j)
	}
	return m.discount(i+a) / ideal
}

func stream(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// replay calls visit with the order and index of every state that counts.
func replay(t *testing.T, p bipartite.Classes, s *Set, visit func(o *ranking.Order, at int)) {
	t.Helper()
	for w := range s.Walks {
		o := startOf(t, p, s, w)
		for step := 0; ; step++ {
			if step%s.Thin == 0 {
				visit(o, step/s.Thin*s.Walks+w)
			}
			if step == s.Steps {
				break
			}
			at := step*s.Walks + w
			follow(t, o, ranking.Flip{Up: s.Plus[at], Down: s.Minus[at]})
		}
	}
}

// startOf returns the restart state of walk w, read off its coefficients.
func startOf(t *testing.T, p bipartite.Classes, s *Set, w int) *ranking.Order {
	t.Helper()
	o := ranking.NewOrder(p)
	coefficients := s.Restarts[s.Start[w]]
	if coefficients == nil {
		return o
	}
	var top, rest []int32
	for _, b := range p.Bad {
		if coefficients[b] != 0 {
			top = append(top, b)
		} else {
			rest = append(rest, b)
		}
	}
	o.Restart(append(top, rest...), len(top))
	return o
}

func options(change func(*Options)) Options {
	o := DefaultOptions()
	o.Unique = false
	change(&o)
	return o
}

var variants = map[string]Options{
	"default": DefaultOptions(),
	"mixed":   options(func(o *Options) { o.Samples, o.Steps, o.Mix = 300, 20, 0.5 }),
	"levels":  options(func(o *Options) { o.Samples, o.Steps, o.Levels, o.Skew = 400, 15, 11, -1 }),
	"thin":    options(func(o *Options) { o.Samples, o.Steps, o.Thin, o.Mix = 100, 60, 7, 0.4 }),
	"unique":  options(func(o *Options) { o.Samples, o.Steps, o.Unique = 300, 10, true }),
	"literal": options(func(o *Options) { o.Samples, o.Steps, o.Literal, o.Mix = 200, 12, true, 0.6 }),
	"worst":   options(func(o *Options) { o.Samples, o.Steps, o.Mix = 90, 30, 0 }),
}

// Every stored state is reached by valid flips of one pair from its restart
// state, with the gain that the order has.
func TestStoredWalksAreValidAndGainsRight(t *testing.T) {
	gains := map[string]ranking.Gain{"ap": ap{}, "auc": auc{}, "mrr": mrr{}, "ndcg@10": ndcg{10}}
	for _, n := range [][2]int{{1, 1}, {1, 30}, {5, 9}, {20, 3}} {
		p := query(n[0], n[1])
		for name, opts := range variants {
			for measure, g := range gains {
				s, err := Draw(p, g, opts, stream(1))
				if err != nil {
					t.Fatal(err)
				}
				replay(t, p, s, func(o *ranking.Order, at int) {
					if want := o.Gain(g); math.Abs(s.Gain[at]-want) > 1e-14 || (want == 0) != (s.Gain[at] == 0) {
						t.Fatalf("%v %s %s: gain %v of state %d, expected %v", n, name, measure, s.Gain[at], at, want)
					}
				})
			}
		}
	}
}

// The number of states is Samples, rounded up to whole rows, and walks are no
// longer than Steps.
func TestShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := DefaultOptions()
		o.Samples = rapid.IntRange(1, 3000).Draw(t, "samples")
		o.Steps = rapid.IntRange(0, 300).Draw(t, "steps")
		o.Thin = rapid.IntRange(1, 20).Draw(t, "thin")
		walks, rows := o.shape()
		if n := walks * rows; n < o.Samples || n >= o.Samples+walks {
			t.Fatalf("%d walks of %d states", walks, rows)
		}
		if (rows-1)*o.Thin > o.Steps {
			t.Fatalf("%d rows are more than %d steps", rows, o.Steps)
		}
	})
	if w, r := DefaultOptions().shape(); w != 48 || r != 21 {
		t.Errorf("the default is %d walks of %d states", w, r)
	}
}

// The ideal ranking counts once more exactly when no walk visited it.
func TestIdealIsIncluded(t *testing.T) {
	p := query(3, 8)
	for _, c := range []struct {
		mix           float64
		include, want bool
	}{{0, true, true}, {0, false, false}, {1, true, false}, {1, false, false}} {
		opts := options(func(o *Options) { o.Samples, o.Steps, o.Mix, o.IncludeIdeal = 50, 4, c.mix, c.include })
		s, err := Draw(p, ap{}, opts, stream(3))
		if err != nil {
			t.Fatal(err)
		}
		if s.Ideal != c.want || s.Len() != s.Walks*s.Rows()+btoi(c.want) || s.Total != float64(s.Len()) {
			t.Errorf("mix %v, include %v: ideal %v, %d states, total %v", c.mix, c.include, s.Ideal, s.Len(), s.Total)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Unique counts the first occurrence of every ranking and no other.
func TestUnique(t *testing.T) {
	p := query(2, 5)
	for name, opts := range variants {
		opts.Unique = true
		s, err := Draw(p, ap{}, opts, stream(4))
		if err != nil {
			t.Fatal(err)
		}
		counted := map[string]int{}
		all := map[string]bool{}
		replay(t, p, s, func(o *ranking.Order, at int) {
			all[state(o)] = true
			switch s.LogWeight[at] {
			case 0:
				counted[state(o)]++
			case math.Inf(-1):
			default:
				t.Fatalf("%s: log weight %v", name, s.LogWeight[at])
			}
		})
		if len(counted) != len(all) || s.Total != float64(len(all)+btoi(s.Ideal)) {
			t.Errorf("%s: %d of %d rankings count, total %v", name, len(counted), len(all), s.Total)
		}
		for y, n := range counted {
			if n != 1 {
				t.Errorf("%s: %s counts %d times", name, y, n)
			}
		}
	}
}

// One stream gives one sample, another stream another.
func TestSameStreamSameSample(t *testing.T) {
	p := query(5, 40)
	for name, opts := range variants {
		a, err := Draw(p, ndcg{10}, opts, stream(8))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := Draw(p, ndcg{10}, opts, stream(8))
		c, _ := Draw(p, ndcg{10}, opts, stream(9))
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: two samples from one stream differ", name)
		}
		if reflect.DeepEqual(a, c) {
			t.Errorf("%s: two streams give one sample", name)
		}
	}
}

func TestDrawRefusesOptionsOutOfRange(t *testing.T) {
	p := query(2, 3)
	for want, change := range map[string]func(*Options){
		"samples 0":            func(o *Options) { o.Samples = 0 },
		"steps -1":             func(o *Options) { o.Steps = -1 },
		"thin 0":               func(o *Options) { o.Thin = 0 },
		"mix 1.5":              func(o *Options) { o.Mix = 1.5 },
		"mix NaN":              func(o *Options) { o.Mix = math.NaN() },
		"1 restart levels":     func(o *Options) { o.Levels = 1 },
		"skew +Inf":            func(o *Options) { o.Skew = math.Inf(1) },
		"skew NaN, expected a": func(o *Options) { o.Skew = math.NaN() },
	} {
		if _, err := Draw(p, ap{}, options(change), stream(1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
	if _, err := Draw(bipartite.Split([]float64{1, 1}, 1), ap{}, DefaultOptions(), stream(1)); err == nil {
		t.Error("no error for a query without bads")
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, n := range [][2]int{{45, 107}, {1, 1000}, {10, 1000}, {300, 700}} {
		for name, opts := range map[string]Options{
			"default": DefaultOptions(),
			"long":    options(func(o *Options) { o.Steps = 999 }),
			"levels":  options(func(o *Options) { o.Levels, o.Skew = 11, -5 }),
			"unique":  options(func(o *Options) { o.Unique = true }),
		} {
			b.Run(fmt.Sprintf("%d-%d/%s", n[0], n[1], name), func(b *testing.B) {
				p := query(n[0], n[1])
				rng := stream(1)
				b.ReportAllocs()
				steps := 0
				for b.Loop() {
					s, err := Draw(p, ap{}, opts, rng)
					if err != nil {
						b.Fatal(err)
					}
					steps = s.Walks * s.Rows()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*steps), "ns/draw")
			})
		}
	}
}

func BenchmarkLiteralDraw(b *testing.B) {
	p := query(45, 107)
	opts := options(func(o *Options) { o.Literal = true })
	for b.Loop() {
		if _, err := Draw(p, ap{}, opts, stream(1)); err != nil {
			b.Fatal(err)
		}
	}
}
