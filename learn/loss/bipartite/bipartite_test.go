package bipartite

import (
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// TestParseKappa: names are read back, and an error names what is possible.
func TestParseKappa(t *testing.T) {
	for k := KappaOne; k <= KappaPairs; k++ {
		if got, err := ParseKappa(k.String()); got != k || err != nil {
			t.Errorf("ParseKappa(%q) = %v, %v", k.String(), got, err)
		}
	}
	_, err := ParseKappa("2")
	if err == nil || !strings.Contains(err.Error(), `kappa "2"`) || !strings.Contains(err.Error(), "one or pairs") {
		t.Errorf("ParseKappa: error %v", err)
	}
}

// TestSplit: a grade at the threshold is good; both classes ascend.
func TestSplit(t *testing.T) {
	p := Split([]float64{0, 2, 1, 0.5, 1}, 1)
	if !slices.Equal(p.Good, []int32{1, 2, 4}) || !slices.Equal(p.Bad, []int32{0, 3}) || p.Docs() != 5 || p.Pairs() != 6 {
		t.Errorf("split is %+v", p)
	}
}

// TestGainTable: a table that leaves out zeros and shares rows gives every term of
// the measure, and takes no more numbers than it says.
func TestGainTable(t *testing.T) {
	const good, bad = 5, 9
	for _, name := range []string{"auc", "map", "ndcg@3", "mrr"} {
		m, err := measure.Parse(name, measure.Convention{}, measure.Options{})
		if err != nil {
			t.Fatal(err)
		}
		gain := m.(measure.Additive)
		table, err := NewGainTable(gain, good, bad)
		if err != nil {
			t.Fatal(err)
		}
		for i := range good {
			for a := range bad + 1 {
				if got, want := table.At(i, a), gain.GoodGain(i, a, good, bad); got != want {
					t.Errorf("%s: γ_%d(%d) = %v, want %v", name, i, a, got, want)
				}
			}
		}
		if _, same := table.PerInversion(); same != (name == "auc") {
			t.Errorf("%s: every inverted pair costs the same: %v", name, same)
		}
	}
}
