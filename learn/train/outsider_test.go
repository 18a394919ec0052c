package train_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// products is a scorer of another package, as a user may write one: a network of products,
//
//	s(x) = Σ_t (a_t·x)(b_t·x),   t = 1 … Units,
//
// with the parameters a_1, b_1, a_2, b_2, …
type products struct {
	Width int `json:"width"`
	Units int `json:"units"`
}

func (products) Kind() string       { return "test-products" }
func (p products) NumFeatures() int { return p.Width }
func (p products) NumParams() int   { return 2 * p.Units * p.Width }

func (p products) Init(params []float64, rng *rand.Rand) {
	for i := range params {
		params[i] = rng.NormFloat64() / math.Sqrt(float64(p.Width))
	}
}

// Score leaves (a_t·x_i) and (b_t·x_i) in the workspace.
func (p products) Score(dst, params []float64, x []float32, ws *scorer.Workspace) {
	sides := ws.Hold(x, 2*p.Units*len(dst))
	clear(dst)
	for i := range dst {
		for u := range 2 * p.Units {
			dot := 0.0
			for j, w := range params[u*p.Width : (u+1)*p.Width] {
				dot += float64(w * float64(x[i*p.Width+j]))
			}
			sides[2*p.Units*i+u] = dot
			if u%2 == 1 {
				dst[i] += float64(sides[2*p.Units*i+u-1] * dot)
			}
		}
	}
}

func (p products) Backward(grad, _ []float64, x []float32, lambda []float64, ws *scorer.Workspace) {
	sides := ws.Held(x)
	for i, l := range lambda {
		for u := range 2 * p.Units {
			other := sides[2*p.Units*i+u^1]
			for j, v := range x[i*p.Width : (i+1)*p.Width] {
				grad[u*p.Width+j] += float64(l * other * float64(v))
			}
		}
	}
}

func init() {
	scorer.Register(products{}.Kind(), func(text json.RawMessage) (scorer.Scorer, error) {
		var p products
		if err := json.Unmarshal(text, &p); err != nil {
			return nil, err
		}
		if p.Width < 1 || p.Units < 1 || p.Width > 1e6 || p.Units > 1e6 {
			return nil, fmt.Errorf("found %d units of width %d, expected 1 to 1e6 of each", p.Units, p.Width)
		}
		return p, nil
	})
}

// inTheMiddle are queries whose documents are the better the nearer they are to 0 in the
// first of three features: no linear scorer can order them.
func inTheMiddle(t testing.TB) *dataset.Dataset {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	var b dataset.Builder
	for q := range 20 {
		grades, x := make([]float64, 12), []float32(nil)
		for i := range grades {
			v := 2*rng.Float64() - 1
			grades[i] = math.Floor(3 * (1 - math.Abs(v)))
			x = append(x, float32(v), float32(rng.NormFloat64()), 1)
		}
		if err := b.Add(strconv.Itoa(q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

func ndcg(t testing.TB, m *model.Model, d *dataset.Dataset) (float64, []float64) {
	t.Helper()
	scores, err := m.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	by, err := measure.Parse("ndcg@10", measure.Convention{}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ranker := measure.Ranker{Ties: measure.TiesAverage}
	value, _ := ranker.Mean(d, scores, by)
	return value, scores
}

func ofProducts(features int) scorer.Scorer { return products{Width: features, Units: 2} }

// learners are those that take an architecture.
func learners(a train.Architecture) map[string]train.Learner {
	return map[string]train.Learner{
		"L-BFGS":  train.LBFGS{Architecture: a, C: 1e4, Tolerance: 1e-9, Iterations: 200, Restarts: 2},
		"descent": train.Descent{Architecture: a, C: 1e4, Rule: optimize.Adam, Rate: 0.02, Epochs: 60, Batch: 1, Decay: 0.9},
	}
}

// Claim: a scorer of another package is trained by the learners that take an architecture,
// to what a linear scorer cannot do, and its model is stored, read again and scores to the
// same bits.
func TestScorerOfAnotherPackage(t *testing.T) {
	d := inTheMiddle(t)
	for name, learner := range learners(ofProducts) {
		m, err := train.Run(context.Background(), &train.Problem{Data: d, Loss: loss.ListNet{}, Learner: learner, Seed: 3})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		linear, err := train.Run(context.Background(), &train.Problem{Data: d, Loss: loss.ListNet{}, Learner: learners(nil)[name], Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		value, scores := ndcg(t, m, d)
		if by, _ := ndcg(t, linear, d); value < 0.95 || value < by+0.1 {
			t.Errorf("%s: NDCG@10 is %v, of a linear scorer %v", name, value, by)
		}
		path := filepath.Join(t.TempDir(), "m.json")
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		loaded, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, again := ndcg(t, loaded, d); !slices.Equal(again, scores) || loaded.Scorer != ofProducts(3) {
			t.Errorf("%s: the model read again is a %v, or scores otherwise", name, loaded.Scorer)
		}
	}
}

// Claim: a training of such a scorer resumes from its checkpoint to the same bits.
func TestScorerOfAnotherPackageResumes(t *testing.T) {
	for name, learner := range learners(ofProducts) {
		p := &train.Problem{Data: inTheMiddle(t), Loss: loss.ListNet{}, Learner: learner, Seed: 3}
		want, err := train.Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		p.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
		ctx, cancel := context.WithCancel(context.Background())
		p.Observe = func(it train.Iteration) {
			if it.Number == 13 {
				cancel()
			}
		}
		if _, err := train.Run(ctx, p); !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: error %v", name, err)
		}
		p.Observe = nil
		got, err := train.Run(context.Background(), p)
		if err != nil || !slices.Equal(got.Params, want.Params) {
			t.Errorf("%s: resumed to another model, error %v", name, err)
		}
	}
}

// Claim: a bag asks for a scorer whose members can be averaged, and says so.
func TestBagOfAnotherPackage(t *testing.T) {
	bag := train.Descent{Architecture: ofProducts, Rate: 0.01, Epochs: 2, Bag: 2}
	_, err := train.Run(context.Background(), &train.Problem{Data: inTheMiddle(t), Loss: loss.ListNet{}, Learner: bag})
	var problem *train.ProblemError
	if !errors.As(err, &problem) || !strings.Contains(err.Error(), "bag=2 with the scorer test-products, expected one whose members can be averaged") {
		t.Errorf("error %v", err)
	}
}

func storedProducts(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	m := &model.Model{Method: "mine", Scorer: products{2, 1}, Params: []float64{1, -0.5, 0.25, 2}}
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Claim: a model file of such a scorer that was changed anywhere is refused, or means the
// same; what is wrong with the architecture is said.
func TestHostileFileOfAnotherPackage(t *testing.T) {
	text := storedProducts(t)
	whole, err := model.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		for bit := range 8 {
			damaged := slices.Clone(text)
			damaged[i] ^= 1 << bit
			if m, err := model.Read(bytes.NewReader(damaged)); err == nil && (m.Scorer != whole.Scorer || !slices.Equal(m.Params, whole.Params)) {
				t.Fatalf("bit %d of byte %d: read as %+v", bit, i, m)
			}
		}
		if i < len(bytes.TrimSpace(text)) {
			if _, err := model.Read(bytes.NewReader(text[:i])); err == nil {
				t.Fatalf("the first %d of %d bytes pass", i, len(text))
			}
		}
	}
	for old, c := range map[string]struct{ now, want string }{
		`"test-products"`: {`"test-sums"`, `found the type "test-sums", expected classes, fm, layers, linear, net, pairnet, random, stumps, treeclasses, trees, test-products; a program that reads scorers of another package must import`},
		`"units": 1`:      {`"units": 3`, "found 4 weights, expected 12"},
		`"width": 2`:      {`"width": 9000000000`, "found 1 units of width 9000000000"},
		`"width": 2,`:     {`"width": "2",`, "cannot unmarshal string"},
	} {
		changed := strings.Replace(string(text), old, c.now, 1)
		if changed == string(text) {
			t.Fatalf("no %s in %s", old, text)
		}
		if _, err := model.Read(strings.NewReader(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: error %v, want %q", c.now, old, err, c.want)
		}
	}
}

// FuzzFileOfAnotherPackage: no model file makes reading panic, and what is read can be
// written, read again and scored with.
func FuzzFileOfAnotherPackage(f *testing.F) {
	f.Add(storedProducts(f))
	f.Add([]byte(`{"format":"listwise-model","version":1,"normalization":"none","features":{"count":1},"scorer":{"type":"test-products","architecture":{"width":1,"units":1},"weights":[1e308,-1e308]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := model.Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			return
		}
		again, err := model.Read(&b)
		if err != nil || !slices.Equal(again.Params, m.Params) {
			t.Fatalf("written and read again: %v", err)
		}
		if width := m.Scorer.NumFeatures(); width <= 1000 {
			_ = m.ScoreQuery(make([]float64, 1), make([]float32, width))
		}
	})
}
