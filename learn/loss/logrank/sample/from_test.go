package sample

import (
	"math"
	"testing"

	"github.com/listwise/listwise/learn/loss/logrank/ranking"
)

// DrawFrom starts every walk at the state asked for: its gain is that of top
// bads above all goods, and its states are reached by valid flips.
func TestDrawFromStartsWhereTold(t *testing.T) {
	p := query(3, 12)
	for _, top := range []int{0, 1, 7, 12} {
		opts := options(func(o *Options) { o.Samples, o.Steps, o.IncludeIdeal = 60, 9, false })
		s, err := DrawFrom(p, ap{}, top, opts, stream(5))
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for i := range p.Good {
			want += ap{}.GoodGain(i, top, len(p.Good), len(p.Bad))
		}
		for w := range s.Walks {
			if math.Abs(s.Gain[w]-want) > 1e-15 {
				t.Errorf("top %d: walk %d starts with gain %v, expected %v", top, w, s.Gain[w], want)
			}
		}
		replay(t, p, s, func(o *ranking.Order, at int) {
			if math.Abs(s.Gain[at]-o.Gain(ap{})) > 1e-14 {
				t.Fatalf("top %d: gain %v of state %d, expected %v", top, s.Gain[at], at, o.Gain(ap{}))
			}
		})
	}
	for _, top := range []int{-1, 13} {
		if _, err := DrawFrom(p, ap{}, top, DefaultOptions(), stream(5)); err == nil {
			t.Errorf("%d bads of 12 on top: no error", top)
		}
	}
}
