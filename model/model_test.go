package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/model/scorer"
)

func linear(weights ...float64) *Model {
	return &Model{Method: "mle", Scorer: scorer.Linear{Features: len(weights)}, Params: weights}
}

func read(t *testing.T, text string) *dataset.Dataset {
	t.Helper()
	d, err := datafile.Read(strings.NewReader(text), "f", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func checkScores(t *testing.T, m *Model, d *dataset.Dataset, want ...float64) {
	t.Helper()
	got, err := m.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d scores, want %d", len(got), len(want))
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12*max(1, math.Abs(want[i])) {
			t.Errorf("scores are %v, want %v", got, want)
			return
		}
	}
}

const twoQueries = "1 qid:a 1:1 2:2\n0 qid:a 1:3 2:6\n0 qid:b 1:5 2:4\n1 qid:a 1:2 2:2\n"

// Scores stand in the order of the rows, each w·x.
func TestScore(t *testing.T) {
	checkScores(t, linear(10, 1), read(t, twoQueries), 12, 36, 22, 54)
}

// The model normalises every query by itself before it scores, and leaves the
// data as they were.
func TestScoreNormalizes(t *testing.T) {
	d := read(t, twoQueries)
	m := linear(10, 1)
	m.Normalization = dataset.MinMax
	// Feature 1 of query a is 1, 3, 2 → 0, 1, ½; feature 2 is 2, 6, 2 → 0, 1, 0.
	// A query of one document is constant: 0.
	checkScores(t, m, d, 0, 11, 5, 0)
	if d.X()[2] != 3 {
		t.Error("scoring changed the data")
	}
}

// Features that the data lack count as 0, before normalization.
func TestScorePadsWithZeros(t *testing.T) {
	d := read(t, twoQueries)
	m := linear(10, 1, 100, 1000)
	checkScores(t, m, d, 12, 36, 22, 54)
	m.Normalization = dataset.ZScore
	half := math.Sqrt(1.5) // (3−2)/√(2/3), as float32
	got, err := m.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	if want := 10*half + 1*math.Sqrt2; math.Abs(got[1]-want) > 1e-5 {
		t.Errorf("score is %v, want %v", got[1], want)
	}
}

// Features that the model does not have are an error, not left out.
func TestScoreRefusesMoreFeatures(t *testing.T) {
	_, err := linear(1).Score(read(t, twoQueries))
	if want := "found 2 features, expected at most the model's 1"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestScoreRefusesWhatIsNotFinite(t *testing.T) {
	_, err := linear(1e308, 1e308).Score(read(t, twoQueries))
	if err == nil || !strings.HasPrefix(err.Error(), "found the score +Inf for document 1, expected a finite one") {
		t.Errorf("error is %v", err)
	}
}

func TestConstant(t *testing.T) {
	if !linear(0, math.Copysign(0, -1)).Constant() || linear(0, 1e-300).Constant() {
		t.Error("a model is constant if all its weights are 0, and only then")
	}
}

// Claim: data whose missing values were kept get the scores of data that were read with
// the policy of the model, member by member in a fusion; a model without a policy
// refuses them and says where the first one is.
func TestScoreFillsWhatIsMissing(t *testing.T) {
	const text = "1 qid:a 1:nan 2:2\n0 qid:a 1:3 2:6\n0 qid:b 1:5 2:NULL\n1 qid:a 1:2 2:2\n"
	open := func(m dataset.Missing) *dataset.Dataset {
		d, err := datafile.Read(strings.NewReader(text), "f", dataset.Options{Missing: m})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	policies := []dataset.Missing{dataset.MissingZero, dataset.MissingMin}
	var members []*Model
	var systems [][]float64
	for _, policy := range policies {
		for _, n := range []dataset.Normalization{dataset.NoNormalization, dataset.MinMax} {
			m := linear(10, 1)
			m.Missing, m.Normalization = policy, n
			want, err := m.Score(open(policy))
			if err != nil {
				t.Fatal(err)
			}
			checkScores(t, m, open(dataset.MissingKeep), want...)
			members, systems = append(members, m), append(systems, want)
		}
	}
	rule, weights := fuse.Rule{Kind: fuse.CombSUM}, []float64{.1, .2, .3, .4}
	fused, err := NewFused(rule, members, weights)
	if err != nil {
		t.Fatal(err)
	}
	checkScores(t, fused, open(dataset.MissingKeep), rule.Scores(open(dataset.MissingZero), systems, weights)...)

	_, err = linear(10, 1).Score(open(dataset.MissingKeep))
	if err == nil || !strings.HasPrefix(err.Error(), `found no value (nan or NULL) of feature 1 for document 1 of query "a"`) {
		t.Errorf("error is %v", err)
	}
	members[1].Missing = dataset.MissingError
	if _, err := fused.Score(open(dataset.MissingKeep)); err == nil {
		t.Error("a member of a fusion scored missing values")
	}
}

// Claim: trees score documents of short queries together, with the bits that each query has by
// itself, whatever is done to its features before.
func TestShortQueriesAreScoredTogether(t *testing.T) {
	var b dataset.Builder
	rng := rand.New(rand.NewPCG(1, 2))
	for q := range 90 {
		docs := 1 + q%7
		if q == 40 {
			docs = 300
		}
		grades, x := make([]float64, docs), make([]float32, 2*docs)
		for i := range x {
			x[i] = rng.Float32()
		}
		if err := b.Add(strconv.Itoa(q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	d := b.Dataset()
	var trees [][]scorer.TreeNode
	for range 20 {
		trees = append(trees, []scorer.TreeNode{{Feature: rng.IntN(3), Threshold: rng.Float32(), Left: 1, Right: -1}, {Feature: rng.IntN(2), Threshold: rng.Float32(), Left: -2, Right: -3}})
	}
	s, err := scorer.NewTrees(3, trees)
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Method: "lambdamart", Scorer: s, Params: make([]float64, s.NumParams())}
	for i := range m.Params {
		m.Params[i] = rng.NormFloat64()
	}
	for _, m.Normalization = range []dataset.Normalization{dataset.NoNormalization, dataset.MinMax, dataset.ZScore} {
		together, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		for i := range d.Queries {
			alone, err := m.Score(d.Subset([]int{i}))
			if err != nil {
				t.Fatal(err)
			}
			if start := d.Queries[i].Start; !slices.Equal(together[start:start+len(alone)], alone) {
				t.Fatalf("%v: query %d scores otherwise among others", m.Normalization, i)
			}
		}
	}
}
