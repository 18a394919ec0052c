package auto

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// generated are queries whose grades follow the sum of three features, each in the units of its query, and noise; other
// features are noise.
func generated(t testing.TB, queries int, seed uint64) *dataset.Dataset {
	t.Helper()
	r := rand.New(rand.NewPCG(5, seed))
	var b dataset.Builder
	for q := range queries {
		const docs, features = 12, 6
		grades, x := make([]float64, docs), make([]float32, docs*features)
		scale := math.Exp(2 * r.NormFloat64())
		for i := range docs {
			hidden := 0.0
			for j := range features {
				v := r.NormFloat64()
				if j < 3 {
					hidden += v
				}
				x[i*features+j] = float32(scale * math.Exp(v))
			}
			if hidden+0.5*r.NormFloat64() > 1 {
				grades[i] = 1 + math.Floor(r.Float64()*2)
			}
		}
		grades[0] = 1
		if err := b.Add(fmt.Sprintf("q%d", q), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

func mustRun(t testing.TB, c Config) *Result {
	t.Helper()
	r, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func bytesOf(t testing.TB, m *model.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func names(trials []*Trial) (list []string) {
	for _, t := range trials {
		list = append(list, t.Entry.Name+" "+t.Setting.String())
	}
	return list
}

// Claim: a method learns a trial's models from all parts but one. The trial's mean is the mean of the measure over all
// queries. The fusion is the weighted mean of the members' standardised scores.
func TestTrialsAgainstTheirDefinition(t *testing.T) {
	d := generated(t, 30, 1)
	r := mustRun(t, Config{Tune: tune.Config{Seed: 7, Select: measure.MustParse("ndcg@10", measure.Standard)}, Data: d, Parts: 3, Trials: 6, Members: 3})
	for _, trial := range r.Trials {
		sum, queries := 0.0, 0
		for part := range 3 {
			rest, held, err := tune.HoldOut(d, part+1, 3, 7)
			if err != nil {
				t.Fatal(err)
			}
			e := trial.Entry
			m, err := e.Method.Train(t.Context(), &method.Problem{
				Problem: train.Problem{Data: rest, Valid: held, Select: r.Tune.Select, Measure: e.Measure, Views: e.Own.Views, Transforms: e.Own.Transforms, Seed: 7},
				Values:  trial.Setting, Scorer: e.Own.Scorer,
			})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(bytesOf(t, m), bytesOf(t, trial.Models[part])) {
				t.Errorf("%s, part %d: the model is another", e.Name, part+1)
			}
			scores, err := m.Score(held)
			if err != nil {
				t.Fatal(err)
			}
			ranker := measure.Ranker{Ties: measure.TiesAverage}
			mean, n := ranker.Mean(held, scores, r.Tune.Select)
			sum, queries = sum+mean*float64(n), queries+n
		}
		if mean := sum / float64(queries); math.Abs(mean-trial.Mean) > 1e-12 {
			t.Errorf("%s: mean %v, want %v", trial.Entry.Name, trial.Mean, mean)
		}
	}
	greedy := &r.Candidates[slices.IndexFunc(r.Candidates, func(c Candidate) bool { return strings.HasPrefix(c.Name, "greedy") })]
	members, fused, err := r.Fused(greedy)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, d.Docs())
	for _, m := range members {
		for _, part := range m.Models {
			scores, err := part.Score(d)
			if err != nil {
				t.Fatal(err)
			}
			for i := range d.Queries {
				q := &d.Queries[i]
				own := scores[q.Start : q.Start+q.Len()]
				mean, square := 0.0, 0.0
				for _, s := range own {
					mean += s / float64(len(own))
				}
				for _, s := range own {
					square += (s - mean) * (s - mean) / float64(len(own))
				}
				for j, s := range own {
					if square > 0 {
						want[q.Start+j] += m.Weight / 3 * (s - mean) / math.Sqrt(square)
					}
				}
			}
		}
	}
	got, err := fused.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-9 {
			t.Fatalf("document %d of the fusion of %d: score %v, want %v", i, len(members), got[i], want[i])
		}
	}
}

// Claim: the result does not depend on the number of trainings side by side, nor on an interruption.
func TestRunRepeats(t *testing.T) {
	d := generated(t, 40, 1)
	c := Config{Tune: tune.Config{Seed: 3}, Data: d, Parts: 2, Trials: 8}
	want := mustRun(t, c)
	c.Tune.Jobs, c.Tune.Dir = 1, t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	broken := c
	broken.Observe = func(p Progress) {
		if p.Done == 9 {
			cancel()
		}
	}
	if _, err := Run(ctx, broken); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	got := mustRun(t, c)
	if !slices.Equal(names(got.Trials), names(want.Trials)) {
		t.Errorf("trials\n%q, want\n%q", names(got.Trials), names(want.Trials))
	}
	if !bytes.Equal(bytesOf(t, got.Model), bytesOf(t, want.Model)) {
		t.Error("the model is another")
	}
}

// Claim: the number of trials, and the trials that did not end, repeat a run that a time ended.
func TestRunWithinTime(t *testing.T) {
	d := generated(t, 60, 1)
	begun := time.Now()
	c := Config{Tune: tune.Config{Seed: 3}, Data: d, Parts: 2, Budget: time.Second}
	want := mustRun(t, c)
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("a second took %v", took)
	}
	c.Budget, c.Trials, c.Without = 0, len(want.Trials), want.Without()
	got := mustRun(t, c)
	if !slices.Equal(names(got.Trials), names(want.Trials)) || !bytes.Equal(bytesOf(t, got.Model), bytesOf(t, want.Model)) {
		t.Errorf("trials\n%q, want\n%q", names(got.Trials), names(want.Trials))
	}
}

// Claim: on fresh queries the model is better than the best single feature by a wide margin. In nine of ten runs the
// interval of Nested contains their value.
func TestTableTellsTheTruth(t *testing.T) {
	runs, least, trials, queries := 1, 0, 6, 1000
	if long.Enabled() {
		runs, least, trials, queries = 40, 36, 60, 20_000
	}
	fresh := generated(t, queries, 1000)
	within := 0
	var excess []float64
	for seed := range uint64(runs) {
		r := mustRun(t, Config{Tune: tune.Config{Seed: seed, Select: measure.MustParse("ndcg@10", measure.Standard)}, Data: generated(t, 60, seed+1), Trials: trials})
		scores, err := r.Model.Score(fresh)
		if err != nil {
			t.Fatal(err)
		}
		ranker := measure.Ranker{Ties: measure.TiesAverage}
		value, _ := ranker.Mean(fresh, scores, r.Tune.Select)
		one, _ := ranker.Mean(fresh, column(fresh, 0), r.Tune.Select)
		if value < one+0.05 {
			t.Errorf("seed %d: %.4f, the best feature %.4f", seed, value, one)
		}
		c := r.Nested
		t.Logf("seed %d: fresh %.4f, table %.4f (%.4f to %.4f) %s", seed, value, c.Mean, c.Interval.Low, c.Interval.High, r.Chosen.Name)
		excess = append(excess, c.Mean-value)
		if c.Interval.Low <= value && value <= c.Interval.High {
			within++
		}
	}
	mean, deviation := meanAndError(excess)
	t.Logf("the interval contains the value in %d of %d runs; the table is %.4f ± %.4f too high", within, runs, mean, deviation)
	if within < least {
		t.Errorf("the interval contains the value in %d of %d runs", within, runs)
	}
}

func column(d *dataset.Dataset, feature int) (values []float64) {
	rows := d.Reader()
	for i := range d.Queries {
		for row := range slices.Chunk(rows.At(i), d.Features) {
			values = append(values, float64(row[feature]))
		}
	}
	return values
}

// Claim: what methods refuse is left out, and data from which nothing can be learned are an error that says so.
func TestRunOfWhatMethodsRefuse(t *testing.T) {
	var b dataset.Builder
	for q := range 12 {
		if err := b.Add(strconv.Itoa(q), []float64{1, 1}, []float32{1, 2}, nil); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Run(t.Context(), Config{Data: b.Dataset(), Parts: 2, Trials: 12})
	if err == nil {
		t.Error("equal grades are learned from")
	}
	if _, err := Run(t.Context(), Config{Data: generated(t, 9, 1)}); err == nil {
		t.Error("a search without an end is begun")
	}
}

// onlySums is a target of sums of trees and of linear functions.
type onlySums struct{ refuse string }

func (onlySums) Name() string      { return "sums" }
func (onlySums) Scorers() []string { return []string{"linear", "trees"} }
func (o onlySums) Check(m *model.Model) error {
	if m.Method == o.refuse {
		return errors.New("not this one")
	}
	return nil
}

// Claim: with a target, trials have its scorers and the features as they are, none that it refuses is fused, and the
// fusion adds scores of one kind of scorer.
func TestTarget(t *testing.T) {
	r := mustRun(t, Config{Data: generated(t, 40, 1), Parts: 2, Trials: 16, Target: onlySums{refuse: "mart"}})
	for _, trial := range r.Trials {
		own := trial.Entry.Own
		if own.Scorer != "linear" && own.Scorer != "trees" || !own.Views.Raw() || own.Transforms != nil {
			t.Errorf("tried %s", trial.Entry.Name)
		}
		if (trial.Entry.Method.Name == "mart") != (trial.Refused != "") {
			t.Errorf("%s: refused %q", trial.Entry.Name, trial.Refused)
		}
	}
	for _, trial := range r.Ranked {
		if trial.Entry.Own.Scorer != r.Ranked[0].Entry.Own.Scorer {
			t.Errorf("fuses %s and %s", trial.Entry.Name, r.Ranked[0].Entry.Name)
		}
	}
}

// Claim: large data are searched on a sample, and the best trials are repeated on all data; within a time, trees end
// with it, and their setting trains the same model again.
func TestLargeData(t *testing.T) {
	d := generated(t, 150, 1)
	for _, budget := range []time.Duration{0, 3 * time.Second} {
		r := mustRun(t, Config{Tune: tune.Config{Seed: 2}, Data: d, Trials: 8, Budget: budget, SampleFrom: 5000})
		if r.Sampled == 0 || r.Sampled >= 150 {
			t.Fatalf("the sample has %d of 150 queries", r.Sampled)
		}
		rest, held, err := tune.HoldOut(d, 1, 5, 2)
		if err != nil {
			t.Fatal(err)
		}
		repeated := 0
		for _, trial := range r.Trials {
			if trial.Models == nil || trial.Models[0].Training.Queries != len(rest.Queries) {
				continue
			}
			repeated++
			e := trial.Entry
			m, err := e.Method.Train(t.Context(), &method.Problem{
				Problem: train.Problem{Data: rest, Valid: held, Select: r.Tune.Select, Measure: e.Measure, Views: e.Own.Views, Transforms: e.Own.Transforms, Seed: 2},
				Values:  trial.Setting, Scorer: e.Own.Scorer,
			})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(bytesOf(t, m), bytesOf(t, trial.Models[0])) {
				t.Errorf("%s %s: another model", e.Name, trial.Setting)
			}
		}
		if repeated < 1 {
			t.Errorf("%d trials had all data", repeated)
		}
	}
}

// Claim: the standard error of .002 needs 2,500 queries, and more than that are not validated on.
func TestPartsFor(t *testing.T) {
	for queries, want := range map[int]int{2: 5, 2500: 5, 3200: 4, 5000: 3, 12_499: 2, 12_500: 1, 1_000_000: 1} {
		if got := PartsFor(queries); got != want {
			t.Errorf("%d queries: %d parts, want %d", queries, got, want)
		}
	}
}

// Claim: every prefix of the portfolio is possible, and no setting is drawn twice.
func TestPortfolio(t *testing.T) {
	c := Config{Tune: tune.Config{Seed: 1}}
	families, entries, err := c.catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range portfolio {
		at := slices.IndexFunc(families, func(f *family) bool { return f.name == p.family() })
		if at < 0 {
			t.Fatalf("%s is no family", p.family())
		}
		if _, err := families[at].method.Values(p.set); err != nil {
			t.Errorf("trial %d: %v", i, err)
		}
	}
	trees := families[slices.IndexFunc(families, func(f *family) bool { return f.kind == "trees" })]
	v, err := trees.method.Values(map[string]string{"leaves": "8"})
	if err != nil {
		t.Fatal(err)
	}
	best := &Trial{family: trees, Setting: v}
	for _, f := range families {
		if entries[f.entry].Name != f.name {
			t.Fatalf("the entry of %s is %s", f.name, entries[f.entry].Name)
		}
		for range 30 {
			v, ok, err := f.draw(1, best)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if f.tried(v) {
				t.Fatalf("%s: %s is drawn twice", f.name, v)
			}
			f.drawn = append(f.drawn, v)
		}
	}
}

// Claim: logarithms and standardization leave features alone that are mostly 0 and within ±1. If there are no other
// features, families with this form have no transforms.
func TestTransformsLeaveSparseFeatures(t *testing.T) {
	for _, c := range []struct {
		x    []float32 // of four documents
		want []string
	}{
		{[]float32{0, 2, 1, 0, 0, 5, 0, 0, 0, 1, 0, -7, 0, 3, 0, 0}, []string{"log1p:2..2,4..4", "standard:2..2,4..4"}},
		{[]float32{0, 0, 1, 0, 0, -0.5, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, nil},
		{[]float32{1, 1, 2, 0, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0.1, 0, 0}, []string{"log1p", "standard"}},
		{[]float32{1, 0, 0, 3, 0, 1, 1, 3, 0, 0, 1, 3, 0, 1, 1, 3}, []string{"log1p:2..4", "standard:2..4"}},
	} {
		var b dataset.Builder
		if err := b.Add("q", []float64{1, 0, 2, 0}, c.x, nil); err != nil {
			t.Fatal(err)
		}
		config := Config{Data: b.Dataset(), Tune: tune.Config{Seed: 1}}
		families, entries, err := config.catalogue()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			want := c.want
			if f.form != scaled.name {
				want = nil
			}
			if got := transform.Texts(entries[f.entry].Own.Transforms); !slices.Equal(got, want) {
				t.Errorf("%v: %s has the transforms %v, expected %v", c.x, f.name, got, want)
			}
		}
	}
}

// Claim: a transform lists at most mostRanges ranges of features. With more, it applies to all.
func TestTransformsOfManyRanges(t *testing.T) {
	for ranges, want := range map[int]bool{mostRanges: true, mostRanges + 1: false} {
		x := make([]float32, 4*2*ranges) // every second feature is sparse
		for i := 0; i < len(x); i += 2 {
			x[i] = float32(2 + i%3)
		}
		var b dataset.Builder
		if err := b.Add("q", []float64{1, 0, 2, 0}, x, nil); err != nil {
			t.Fatal(err)
		}
		if got := (&Config{Data: b.Dataset()}).scaling(); (got != "") != want || strings.Count(got, "..") > mostRanges {
			t.Errorf("%d ranges: the transform has %d", ranges, strings.Count(got, ".."))
		}
	}
}

// Claim: if the best round of trees is among the last, later trials of trees have a high learning rate. If trees stop
// early, low rates remain.
func TestSlowTreesAreHurried(t *testing.T) {
	families, _, err := (&Config{Tune: tune.Config{Seed: 1}}).catalogue()
	if err != nil {
		t.Fatal(err)
	}
	trained := func(best ...int) (models []*model.Model) {
		for _, n := range best {
			models = append(models, &model.Model{Training: model.Training{BestEpoch: n, Iterations: min(n+100, 300)}})
		}
		return models
	}
	low := 0
	for _, f := range families {
		standard, err := f.method.Values(nil)
		if err != nil {
			t.Fatal(err)
		}
		trial := &Trial{family: f, Setting: standard}
		for _, c := range []struct {
			models []*model.Model
			fast   bool
		}{{trained(300, 299, 280, 300, 300), true}, {trained(150, 120, 300, 90, 80), false}} {
			trial.Models, f.drawn = c.models, nil
			for range 20 {
				v, ok, err := f.draw(1, trial)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				f.drawn = append(f.drawn, v)
				if f.kind != "trees" || !slices.Contains(v.Names(), "rate") {
					continue
				}
				if rate := v.Number("rate"); c.fast && rate < 0.15 {
					t.Errorf("%s: drew the rate %v although trees learn too slowly", f.name, rate)
				} else if !c.fast && rate < 0.15 {
					low++
				}
			}
		}
	}
	if low == 0 {
		t.Error("no low rate is drawn although trees stop early")
	}
}
