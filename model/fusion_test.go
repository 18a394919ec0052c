package model

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/model/scorer"
)

// members are three models of different widths, normalizations and scorers.
func members() []*Model {
	normalized := linear(1, -2)
	normalized.Normalization = dataset.MinMax
	net := scorer.Network{Features: 3, Hidden: 2, Activation: scorer.Tanh}
	deep := &Model{Method: "ranknet", Scorer: net, Params: make([]float64, net.NumParams())}
	net.Init(deep.Params, rand.New(rand.NewPCG(1, 2)))
	deep.Normalization = dataset.ZScore
	return []*Model{normalized, deep, linear(3, 0, 1)}
}

const wideQueries = "1 qid:a 1:1 2:2 3:1\n0 qid:a 1:3 2:6\n1 qid:a 1:2 2:2 3:5\n0 qid:b 1:5 2:4 3:-1\n2 qid:b 1:4 2:4.5\n"

func fusionRules() []fuse.Rule {
	return []fuse.Rule{{Kind: fuse.RRF, K: 60}, {Kind: fuse.CombSUM, Scale: fuse.ZScore}, {Kind: fuse.CombMNZ}, {Kind: fuse.Borda}}
}

// A fusion scores as its members' own scores, fused: each with its normalization and its
// own number of features.
func TestFusionScoresAsItsMembersDo(t *testing.T) {
	d := read(t, wideQueries)
	weights := []float64{0.5, 0.25, 0.25}
	for _, r := range fusionRules() {
		var systems [][]float64
		for _, m := range members() {
			// A member of two features, given the features it has of the data.
			narrow := d
			if m.Scorer.NumFeatures() == 2 {
				narrow = read(t, "1 qid:a 1:1 2:2\n0 qid:a 1:3 2:6\n1 qid:a 1:2 2:2\n0 qid:b 1:5 2:4\n2 qid:b 1:4 2:4.5\n")
			}
			scores, err := m.Score(narrow)
			if err != nil {
				t.Fatal(err)
			}
			systems = append(systems, scores)
		}
		fused, err := NewFused(r, members(), weights)
		if err != nil {
			t.Fatal(err)
		}
		checkScores(t, fused, d, r.Scores(d, systems, weights)...)
	}
}

// A fusion, also one of fusions, comes back from its file with the same scores.
func TestFusionFile(t *testing.T) {
	d := read(t, wideQueries)
	for _, r := range fusionRules() {
		inner, err := NewFused(r, members(), []float64{1, 0, 0.3})
		if err != nil {
			t.Fatal(err)
		}
		outer, err := NewFused(fuse.Rule{Kind: fuse.CombSUM}, []*Model{inner, linear(1, 1, 1)}, []float64{0.9, 0.1})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*Model{inner, outer} {
			path := filepath.Join(t.TempDir(), "m.json")
			if err := m.Save(path); err != nil {
				t.Fatal(err)
			}
			back, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			a, _ := m.Score(d)
			b, err := back.Score(d)
			if err != nil || !slices.Equal(a, b) {
				t.Errorf("%+v: scores are %v, after a round trip %v, %v", r, a, b, err)
			}
			if back.Method != "fusion" || !slices.Equal(back.Params, m.Params) || back.Hyperparameters["rule"] != m.Hyperparameters["rule"] {
				t.Errorf("%+v became %+v", m, back)
			}
		}
	}
}

// Backward is the derivative with respect to the weights, in which scores are linear.
func TestFusionBackward(t *testing.T) {
	d := read(t, wideQueries)
	f, err := NewFusion(fuse.Rule{Kind: fuse.CombSUM}, members())
	if err != nil {
		t.Fatal(err)
	}
	w, lambda := make([]float64, 3), []float64{1, -2, 0.5}
	f.Init(w, nil)
	x := d.Queries[0].X
	total := func() float64 {
		dst := make([]float64, 3)
		f.Score(dst, w, x, nil)
		return dst[0]*lambda[0] + dst[1]*lambda[1] + dst[2]*lambda[2]
	}
	grad := []float64{1, 2, 3}
	f.Backward(grad, w, x, lambda, nil)
	for s := range w {
		w[s] += 0.5
		up := total()
		w[s]--
		down := total()
		w[s] += 0.5
		if want := float64(s+1) + up - down; math.Abs(grad[s]-want) > 1e-12 {
			t.Errorf("derivative %d is %v, want %v", s, grad[s], want)
		}
	}
}

// Scores of members that are not finite do not become a ranking.
func TestFusionRefusesInfiniteMembers(t *testing.T) {
	for _, r := range fusionRules() {
		m, err := NewFused(r, []*Model{linear(math.MaxFloat64, math.MaxFloat64), linear(1, 1)}, []float64{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Score(read(t, twoQueries)); err == nil {
			t.Errorf("%+v: infinite scores were fused", r)
		}
	}
}

func TestFusionErrors(t *testing.T) {
	if _, err := NewFused(fuse.Rule{}, nil, nil); err == nil {
		t.Error("a fusion of nothing was made")
	}
	if _, err := NewFused(fuse.Rule{K: -1}, members(), make([]float64, 3)); err == nil {
		t.Error("a rule that makes no sense was accepted")
	}
	if _, err := NewFused(fuse.Rule{}, members(), make([]float64, 2)); err == nil {
		t.Error("too few weights were accepted")
	}
	bad, err := NewFused(fuse.Rule{}, members(), []float64{math.NaN(), 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	if err := bad.Save(filepath.Join(t.TempDir(), "m")); err == nil {
		t.Error("a weight that is no number was saved")
	}
	for text, want := range map[string]string{
		`{"type":"fusion"}`:                                                `found the rule ""`,
		`{"type":"fusion","rule":"rrf"}`:                                   `found no "k"`,
		`{"type":"fusion","rule":"borda"}`:                                 `found no models`,
		`{"type":"fusion","rule":"combsum","scale":"x"}`:                   `found the scale "x"`,
		`{"type":"fusion","rule":"borda","weights":[1]}`:                   `found 1 weights, expected one for each of 0 members`,
		`{"type":"fusion","rule":"borda","weights":"x"}`:                   `weights`,
		`{"type":"fusion","rule":"borda","weights":[null],"members":[{}]}`: `found null as weight 1`,
		`{"type":"fusion","rule":"borda","weights":[1],"members":[{}]}`:    `member 1: found no "format"`,
	} {
		if _, _, err := decodeScorer(strictjson.Whole([]byte(text))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %s", text, err, want)
		}
	}
}
