package interchange

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/model/scorer"
)

// drawFusion returns a fusion of random members of the kinds, whose features have names or not.
func drawFusion(t *testing.T, rng *rand.Rand, r fuse.Rule, every bool, kinds ...int) *model.Model {
	t.Helper()
	members, weights := make([]*model.Model, 1+rng.IntN(4)), []float64(nil)
	named := rng.IntN(2) == 0
	for k := range members {
		m, _ := drawTransformed(t, rng, kinds[rng.IntN(len(kinds))], every)
		m.FeatureNames = nil
		if named {
			names := []string{"bm25", "title", "age", "ctr", "pagerank", "x6", "x7", "x8"}
			rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			m.FeatureNames = names[:m.Scorer.NumFeatures()]
		}
		members[k], weights = m, append(weights, float64(rng.IntN(9)-4)/4)
	}
	m, err := model.NewFused(r, members, weights)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Claim: a fusion by combsum of scores as they are, of trees and stumps or of weighted sums, of
// other fusions too, is written as one model that gives documents the same scores, whatever the
// members do to features and missing values and in whatever order they know them.
func TestFusionsAreWritten(t *testing.T) {
	raw := fuse.Rule{Kind: fuse.CombSUM, Scale: fuse.Raw}
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 21))
		name, tolerance, kinds := "lightgbm", 1e-12, []int{drawnTrees, drawnStumps}
		if seed%2 == 0 {
			name, tolerance, kinds = "solr", 1e-5, []int{drawnLinear, drawnBias}
		}
		m := drawFusion(t, rng, raw, seed%2 == 1, kinds...)
		if rng.IntN(4) == 0 {
			var err error
			if m, err = model.NewFused(raw, []*model.Model{m, m}, []float64{0.5, 2}); err != nil {
				t.Fatal(err)
			}
		}
		x := make([]float32, 30*m.Scorer.NumFeatures())
		for i := range x {
			if x[i] = float32(rng.IntN(65)-32) / 8; seed%2 == 1 && !strictMissing(m) && rng.IntN(5) == 0 {
				x[i] = float32(math.NaN())
			}
		}
		d := datasetOf(x, m.Scorer.NumFeatures())
		want, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := Write(&b, m, name, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		names, err := engineNames(m, WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		back, _, err := Read(b.Bytes(), ReadOptions{Format: name, Names: names})
		if err != nil {
			t.Fatal(err)
		}
		got, err := back.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > tolerance*(10+math.Abs(want[i])) {
				t.Fatalf("seed %d: document %d has the score %v, expected %v", seed, i, got[i], want[i])
			}
		}
	}
}

// strictMissing reports whether a member of a fusion refuses missing values.
func strictMissing(m *model.Model) bool {
	f, ok := m.Scorer.(*model.Fusion)
	if !ok {
		return m.Missing == dataset.MissingError
	}
	for _, member := range f.Members {
		if strictMissing(member) {
			return true
		}
	}
	return false
}

// Claim: fusions that no format holds are refused, with the reason: other rules and scales, and
// members of two kinds.
func TestFusionsRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 22))
	tree := drawFusion(t, rng, fuse.Rule{Kind: fuse.CombSUM, Scale: fuse.Raw}, false, drawnTrees)
	linear := &model.Model{Method: "mle", Scorer: scorer.Linear{Features: 2}, Params: []float64{1, 2}, Hyperparameters: map[string]any{}}
	network := &model.Model{Method: "ranknet", Scorer: scorer.Network{Features: 1, Hidden: 1}, Params: []float64{1, 2}, Hyperparameters: map[string]any{}}
	linear.FeatureNames, network.FeatureNames = []string{"a", "b"}, []string{"a"}
	for _, member := range tree.Scorer.(*model.Fusion).Members {
		member.FeatureNames = []string{"a", "b", "c", "d", "e", "f"}[:member.Scorer.NumFeatures()]
	}
	first := tree.Scorer.(*model.Fusion).Members[0]
	for _, c := range []struct {
		rule    fuse.Rule
		members []*model.Model
		want    string
	}{
		{fuse.Rule{Kind: fuse.CombSUM}, []*model.Model{linear, linear}, "rescales or ranks"},
		{fuse.Rule{Kind: fuse.RRF, K: 60}, []*model.Model{linear, linear}, "fuse by combsum with --scale raw"},
		{fuse.Rule{Kind: fuse.CombSUM, Scale: fuse.Raw}, []*model.Model{linear, first}, "member 2 of the fusion, drawn: found trees and weighted sums"},
		{fuse.Rule{Kind: fuse.CombSUM, Scale: fuse.Raw}, []*model.Model{first, linear}, "member 2 of the fusion, mle: found trees and weighted sums"},
		{fuse.Rule{Kind: fuse.CombSUM, Scale: fuse.Raw}, []*model.Model{linear, network}, `member 2 of the fusion, ranknet: found the scorer "net", expected trees`},
	} {
		m, err := model.NewFused(c.rule, c.members, []float64{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Write(new(bytes.Buffer), m, "lightgbm", WriteOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, expected %s", c.rule.Kind, err, c.want)
		}
	}
}
