package ensemble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/tune"
)

// part returns queries in which the first feature depends on the grade, in an order that a
// reader has to merge.
func part(t *testing.T, seed uint64) *dataset.Dataset {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var text strings.Builder
	for i := range 120 {
		grade := rng.IntN(3)
		x := strconv.FormatFloat(float64(grade)+rng.NormFloat64(), 'f', 3, 64)
		y := strconv.FormatFloat(rng.NormFloat64(), 'f', 3, 64)
		text.WriteString(strconv.Itoa(grade) + " qid:" + strconv.Itoa(i%8) + " 1:" + x + " 2:" + y + "\n")
	}
	d, err := datafile.Read(strings.NewReader(text.String()), "f", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func linear(w ...float64) *model.Model {
	return &model.Model{Method: "regression", Scorer: scorer.Linear{Features: len(w)}, Params: w}
}

func config(t *testing.T, kinds ...fuse.Kind) *Config {
	t.Helper()
	measures, err := measure.ParseList("map,ndcg@5", measure.Convention{}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &Config{Tuned: true, Measures: measures, Tuning: Tuning{Measure: measures[0], Seed: 1}}
	for _, k := range kinds {
		c.Rules = append(c.Rules, fuse.Rule{Kind: k, K: 60})
	}
	return c
}

// files writes two models and, of the second, the scores on two data sets as well.
func files(t *testing.T, dir string, valid, test *dataset.Dataset) {
	t.Helper()
	for name, m := range map[string]*model.Model{"good": linear(1, 0), "noise": linear(0, 1)} {
		if err := m.Save(filepath.Join(dir, name+".json")); err != nil {
			t.Fatal(err)
		}
		for part, d := range map[string]*dataset.Dataset{"valid": valid, "test": test} {
			rows, err := m.Score(d)
			if err != nil {
				t.Fatal(err)
			}
			input := make([]float64, len(rows))
			d.ToInputOrder(input, rows)
			var text strings.Builder
			if err := datafile.WriteScores(&text, input); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name+"."+part), []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A model and the files of its scores are the same system; the weights turn to the
// informative one; the row chosen is the best on validation data; and the fusion's model
// scores as the fusion does.
func TestRun(t *testing.T) {
	valid, test, dir := part(t, 1), part(t, 2), t.TempDir()
	files(t, dir, valid, test)
	at := func(name string) string { return filepath.Join(dir, name) }
	models, err := Read([]string{at("good.json"), at("noise.json")}, valid, test, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := Read([]string{at("good.test") + ":" + at("good.valid"), at("noise.test") + ":" + at("noise.valid")}, valid, test, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := config(t, fuse.RRF, fuse.CombSUM, fuse.Borda)
	r, err := c.Run(context.Background(), []Division{*models})
	if err != nil {
		t.Fatal(err)
	}
	other, err := c.Run(context.Background(), []Division{*scores})
	if err != nil {
		t.Fatal(err)
	}
	best := 0.0
	for i, row := range r.Rules {
		f := row.Fusions[0]
		best = max(best, f.Value)
		if !slices.Equal(f.Scores, other.Rules[i].Fusions[0].Scores) {
			t.Errorf("%s: models and their score files are fused differently", row.Name)
		}
		if f.Weights[0] < 0.6 {
			t.Errorf("%s: weights are %v", row.Name, f.Weights)
		}
		m, err := models.Model(f)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Score(test); err != nil || !slices.Equal(got, f.Scores) {
			t.Errorf("%s: the model scores differently, %v", row.Name, err)
		}
	}
	if r.Chosen == nil || r.Chosen.Fusions[0].Value != best {
		t.Errorf("chosen is %+v, the best has %v", r.Chosen, best)
	}
	if _, err := scores.Model(r.Chosen.Fusions[0]); err == nil {
		t.Error("score files became a model")
	}
}

// Without validation data weights are equal and no rule is chosen, unless there is
// but one; given weights are taken as they are.
func TestRunWithoutValidation(t *testing.T) {
	test, dir := part(t, 2), t.TempDir()
	files(t, dir, test, test)
	d, err := Read([]string{filepath.Join(dir, "good.json"), filepath.Join(dir, "noise.test")}, nil, test, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := config(t, fuse.RRF, fuse.Borda).Run(context.Background(), []Division{*d})
	if err != nil || r.Chosen != nil || !slices.Equal(r.Rules[0].Fusions[0].Weights, []float64{0.5, 0.5}) {
		t.Errorf("result is %+v, %v", r, err)
	}
	if err := r.WriteFolds(dir, []Division{*d}); err == nil {
		t.Error("nothing was chosen, and something written")
	}
	c := config(t, fuse.RRF)
	c.Weights = []float64{3, 4}
	if r, err = c.Run(context.Background(), []Division{*d}); err != nil || r.Chosen == nil || r.Chosen.Fusions[0].Weights[1] != 4 {
		t.Errorf("result is %+v, %v", r, err)
	}
}

// Claim: the zero Config fuses by reciprocal ranks with equal weights and measures MAP, tuned
// by MAP if asked for; what does not fit the divisions is an error, not a panic.
func TestZeroConfig(t *testing.T) {
	test, dir := part(t, 2), t.TempDir()
	files(t, dir, test, test)
	d, err := Read([]string{filepath.Join(dir, "good.json"), filepath.Join(dir, "noise.test")}, nil, test, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ap := measure.MustParse("map", measure.Convention{})
	full := Config{Rules: []fuse.Rule{{Kind: fuse.RRF}}, Weights: fuse.Equal(2), Measures: []measure.Measure{ap}}
	want, err := full.Run(context.Background(), []Division{*d})
	if err != nil {
		t.Fatal(err)
	}
	got, err := new(Config).Run(context.Background(), []Division{*d})
	if err != nil || len(got.Rules) != 1 || !slices.Equal(got.Rules[0].Tests[0].PerQuery(ap), want.Rules[0].Tests[0].PerQuery(ap)) {
		t.Errorf("the zero configuration gives %+v, %v", got, err)
	}
	systems := [][]float64{d.Systems[0].Test, d.Systems[1].Test}
	a, byMAP, err := Tuning{Measure: ap}.Weights(context.Background(), fuse.Rule{}, test, systems)
	if err != nil {
		t.Fatal(err)
	}
	if b, value, err := (Tuning{}).Weights(context.Background(), fuse.Rule{}, test, systems); err != nil || !slices.Equal(a, b) || value != byMAP {
		t.Errorf("the zero tuning gives %v of %v, %v; map gives %v of %v", b, value, err, a, byMAP)
	}
	one := Division{Test: test, Systems: d.Systems[:1]}
	for _, c := range []struct {
		config    Config
		divisions []Division
		want      string
	}{
		{Config{}, nil, "found no division"},
		{Config{}, []Division{{Test: test}}, "division 1: found 0 systems"},
		{Config{}, []Division{{Systems: d.Systems}}, "division 1: found 2 systems, expected test data"},
		{Config{}, []Division{*d, one}, "division 2: found 1 systems"},
		{Config{Weights: []float64{1}}, []Division{*d}, "found 1 weights for 2 systems"},
		{Config{Rules: []fuse.Rule{{Kind: "rff"}}}, []Division{*d}, `found the rule "rff"`},
		{Config{}, []Division{{Test: test, Systems: []System{{Name: "a", Test: []float64{1}}}}}, "division 1, a: found 1 scores for 120 documents of the test data"},
		{Config{}, []Division{{Test: test, Valid: test, Systems: d.Systems}}, "found 0 scores for 120 documents of the validation data"},
	} {
		if _, err := c.config.Run(context.Background(), c.divisions); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want %s in it", err, c.want)
		}
	}
}

// Folders of folds are fused with each fold's own validation data, and what is written
// can be read as a folder again.
func TestFolds(t *testing.T) {
	dir := t.TempDir()
	var folds []tune.Fold
	for k := range 2 {
		f := tune.Fold{Name: "Fold" + strconv.Itoa(k+1), Valid: part(t, uint64(3+k)), Test: part(t, uint64(5+k))}
		folds = append(folds, f)
		files(t, dir, f.Valid, f.Test)
		for from, to := range map[string]string{
			"good.json": "a/" + f.Name + ".model.json", "noise.test": "b/" + f.Name + ".scores", "noise.valid": "b/" + f.Name + ".valid.scores",
		} {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(to)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
				t.Fatal(err)
			}
		}
	}
	dirs := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	divisions, err := ReadFolds(dirs, folds, true, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := config(t, fuse.CombSUM, fuse.Borda).Run(context.Background(), divisions)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if err := r.WriteFolds(out, divisions); err != nil {
		t.Fatal(err)
	}
	again, err := ReadFolds([]string{out, dirs[0]}, folds, false, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k := range again {
		if !slices.Equal(again[k].Systems[0].Test, r.Chosen.Fusions[k].Scores) {
			t.Errorf("%s: the scores written are others", folds[k].Name)
		}
	}
	if _, err := ReadFolds([]string{dir}, folds, false, Options{}, nil); err == nil || !strings.Contains(err.Error(), "found neither Fold1.model.json nor Fold1.scores") {
		t.Errorf("error is %v", err)
	}
}

// Claim: the memory of all runs, of the pool and of the scores is counted together: a limit
// that suffices for each run does not for many.
func TestMemoryOfRuns(t *testing.T) {
	dir := t.TempDir()
	var qrels, run strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&qrels, "%d 0 d%d 1\n", i%100, i)
		fmt.Fprintf(&run, "%d Q0 d%d 1 2 t\n", i%100, i)
	}
	judged, err := datafile.Read(strings.NewReader(qrels.String()), "f.qrels", dataset.Options{Input: "qrels"})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for i := range 20 {
		paths = append(paths, filepath.Join(dir, fmt.Sprint(i, ".run")))
		if err := os.WriteFile(paths[i], []byte(run.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{MaxBytes: 8 << 20}
	if _, err := Read(paths[:1], nil, judged, o, nil); err != nil {
		t.Error(err)
	}
	if _, err := Read(paths, nil, judged, o, nil); !errors.Is(err, dataset.ErrTooLarge) {
		t.Errorf("20 runs: %v", err)
	}
	if _, err := ReadRuns(paths, o, nil); !errors.Is(err, dataset.ErrTooLarge) {
		t.Errorf("20 runs without judgements: %v", err)
	}
	if _, err := Read(paths, nil, judged, Options{MaxBytes: 64 << 20}, nil); err != nil {
		t.Error(err)
	}
}

// The total of the steps is fixed and their number never falls, even if only some divisions have
// validation data.
func TestObserveOfMixedDivisions(t *testing.T) {
	valid, test := part(t, 1), part(t, 2)
	var divisions []Division
	for _, v := range []*dataset.Dataset{valid, nil, valid} {
		d := Division{Valid: v, Test: test, Systems: make([]System, 2)}
		for i, m := range []*model.Model{linear(1, 0), linear(0, 1)} {
			d.Systems[i].Model = m
			d.Systems[i].Test, _ = m.Score(test)
			d.Systems[i].Valid, _ = m.Score(valid)
		}
		divisions = append(divisions, d)
	}
	c := config(t, fuse.RRF, fuse.CombSUM)
	c.Tuning.Draws = 3
	last, rules := 0, len(c.Rules)
	c.Observe = func(done, total int) {
		if want := rules * len(divisions) * (c.Tuning.Draws + 1); total != want || done < last || done > total {
			t.Errorf("%d of %d steps after %d, want a total of %d", done, total, last, want)
		}
		last = done
	}
	if _, err := c.Run(context.Background(), divisions); err != nil {
		t.Fatal(err)
	}
	if want := rules * len(divisions) * (c.Tuning.Draws + 1); last != want {
		t.Errorf("ended at %d steps, want %d", last, want)
	}
}
