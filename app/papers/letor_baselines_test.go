package papers

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// smallBaselines are a few rows with few settings.
func smallBaselines() study {
	s := letorBaselines()
	s.rows = []row{
		{name: "RankSVM", method: "ranksvm", grid: map[string][]string{"C": {"0.001", "0.1"}}},
		{name: "AdaRank-NDCG", method: "adarank", training: "ndcg@10", grid: map[string][]string{"rounds": {"5"}}},
		{name: "random order", method: "random"},
	}
	return s
}

// bothLETORs has a set of LETOR 3.0 and one of LETOR 4.0.
func bothLETORs(t *testing.T) string {
	t.Helper()
	return setsOf(t, "OHSUMED", "MQ2008")
}

// The published numbers are the printed ones, by the rows' names here.
func TestPublishedBaselines(t *testing.T) {
	for _, c := range []struct {
		set, row, measure string
		want              float64
	}{
		{"OHSUMED", "RankSVM", "map", .4334}, {"OHSUMED", "RankSVM", "ndcg@10", .4140}, {"OHSUMED", "SVMMAP", "map", .4453},
		{"OHSUMED", "AdaRank-NDCG", "map", .4498}, {"OHSUMED", "AdaRank-NDCG", "ndcg@5", .4673}, {"OHSUMED", "FRank", "ndcg@1", .53},
		{"TD2004", "FRank", "ndcg@2", .4067}, {"TD2004", "FRank", "map", .2388}, {"NP2003", "RankBoost", "map", .7074},
		{"MQ2008", "RankSVM", "map", .4696}, {"MQ2008", "RankBoost", "ndcg@8", .4568}, {"MQ2008", "AdaRank-NDCG", "mean-ndcg", .4950},
	} {
		views := baselineViews(c.set)
		if got := views[len(views)-1].published.of(c.row, c.measure); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s, %s, %s: %v, printed %v", c.set, c.row, c.measure, got, c.want)
		}
	}
	for _, v := range []float64{
		baselineViews("OHSUMED")[0].published.of("FRank", "ndcg@6"),
		baselineViews("MQ2008")[0].published.of("RankSVM", "ndcg@10"), // it is in the other convention
		baselineViews("NP2003")[0].published.of("RankSVM", "ndcg@1"),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%v stands for a number that nobody published", v)
		}
	}
	known := make(map[string]bool)
	for _, r := range letorBaselines().rows {
		known[r.name] = true
	}
	for _, set := range baselineSets {
		for _, v := range baselineViews(set.name) {
			if len(v.published) == 0 {
				t.Errorf("nothing published for %s", set.name)
			}
			for name := range v.published {
				if !known[name] {
					t.Errorf("%s: the published row %s is none of ours", set.name, name)
				}
			}
		}
	}
}

// Our letor3 numbers are those of tune.Run, and those of letor4 what the chosen
// models get when they are measured in that convention.
func TestBaselineNumbers(t *testing.T) {
	dir := bothLETORs(t)
	b := smallBaselines()
	r := reportOf(t, b, Options{Data: dir, Seed: 3})
	alone, folds := tunedAlone(t, filepath.Join(dir, "MQ2008"), b.rows[0], "map", 3)
	for _, s := range alone.Measures {
		for column, want := range map[string]float64{"ours": s.Mean, "tie_neutral": s.TieNeutral, "pooled": s.Pooled} {
			if got := cell(t, r.Sheets[0], column, "MQ2008", "letor3", "RankSVM", s.Measure.Name()); math.Abs(got.(float64)-want) > 1e-15 {
				t.Errorf("%s of %s is %v, tune alone gives %v", column, s.Measure.Name(), got, want)
			}
		}
	}
	letor4, err := measure.ParseConvention("letor4")
	if err != nil {
		t.Fatal(err)
	}
	m, err := measure.Parse("mean-ndcg", letor4, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for k := range folds {
		scores, err := alone.Folds[k].Model.Score(folds[k].Test)
		if err != nil {
			t.Fatal(err)
		}
		result, err := measure.Evaluate(folds[k].Test, scores, []measure.Measure{m}, measure.TiesInput)
		if err != nil {
			t.Fatal(err)
		}
		want += result.Mean(m) / float64(len(folds))
	}
	if got := cell(t, r.Sheets[0], "ours", "MQ2008", "letor4", "RankSVM", "mean-ndcg").(float64); math.Abs(got-want) > 1e-15 {
		t.Errorf("mean NDCG is %v, want %v", got, want)
	}
}

// Every number stands beside its own published one and the program's, and notes
// count how they stand.
func TestBaselinesBeside(t *testing.T) {
	r := reportOf(t, smallBaselines(), Options{Data: bothLETORs(t), Seed: 1})
	at := func(column, set, convention, row, m string) any {
		return cell(t, r.Sheets[0], column, set, convention, row, m)
	}
	ours := at("ours", "OHSUMED", "letor3", "RankSVM", "map").(float64)
	if d := at("difference", "OHSUMED", "letor3", "RankSVM", "map"); d != ours-.4334 {
		t.Errorf("difference %v of %v", d, ours)
	}
	if d := at("tool_difference", "OHSUMED", "letor3", "RankSVM", "map"); d != ours-.4490 {
		t.Errorf("difference %v of %v to the program", d, ours)
	}
	if v := at("published", "MQ2008", "letor3", "AdaRank-NDCG", "ndcg@1"); v != nil {
		t.Errorf("an NDCG of letor3 has the published number %v of letor4", v)
	}
	if v := at("published", "MQ2008", "letor4", "AdaRank-NDCG", "ndcg@1"); v != .3826 {
		t.Errorf("published NDCG@1 of AdaRank-NDCG: %v", v)
	}
	if v := at("tool", "MQ2008", "letor4", "RankSVM", "map"); v != nil {
		t.Errorf("%v was not measured in letor4", v)
	}
	if v := at("published", "OHSUMED", "letor3", "random order", "map"); v != nil {
		t.Errorf("random order has the published number %v", v)
	}
	text := everything(t, r)
	for _, want := range []string{"MAP against the published rows: ", " of 4 at or above", "against the authors' own programs: ", " of 3 at or above",
		"MQ2008 has 12 queries here, the published set 784", "TD2003, TD2004"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is nowhere", want)
		}
	}
	if len(r.Plots) != 2 || len(r.Plots[0].X.Ticks) != 2 {
		t.Errorf("%d plots, the first with ticks %v", len(r.Plots), r.Plots[0].X.Ticks)
	}
}

// A difference is judged by sign and by .003.
func TestStanding(t *testing.T) {
	for d, want := range map[float64]string{0.01: "at or above", 0: "at or above", -0.001: "within 0.003", -0.003: "within 0.003", -0.0031: "below", math.NaN(): ""} {
		if got := standing(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	var r Report
	summarise(&r, "rows", []held{{"a", 0.1}, {"b", math.NaN()}, {"c", -0.002}, {"d", -0.02}, {"e", -0.03}})
	if want := []string{"rows: 1 of 4 at or above; 1 within 0.003: c (-0.0020); 2 below: d (-0.0200), e (-0.0300)."}; !slices.Equal(r.Notes, want) {
		t.Errorf("notes are %q", r.Notes)
	}
	summarise(&r, "nothing", []held{{"b", math.NaN()}})
	if len(r.Notes) != 1 {
		t.Errorf("notes are %q", r.Notes)
	}
}

// Data that are none of LETOR's are run without published columns, and MQ2008 is
// recognised by its size.
func TestBaselinesOnOtherData(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mine")
	writeFolds(t, dir, 12, 4)
	b := smallBaselines()
	b.rows = b.rows[:1]
	r := reportOf(t, b, Options{Data: dir, Seed: 1})
	if v := cell(t, r.Sheets[0], "published", "mine", "letor3", "RankSVM", "map"); v != nil {
		t.Errorf("published %v", v)
	}
	if text := everything(t, r); !strings.Contains(text, "mine is none of LETOR's sets") || strings.Contains(text, "against the published rows") {
		t.Error("published rows are held against other data, or nothing tells that they are not")
	}
	if s, ok := baselineSets.named("mq2008"); !ok || s.queries != 784 {
		t.Errorf("MQ2008 is %+v", s)
	}
	if _, ok := letorSets.named("MQ2008"); ok {
		t.Error("MQ2008 is taken for one of LETOR 3.0's sets")
	}
}

// Same options, same bytes, with any number of jobs and after an interruption.
func TestBaselinesAreDeterministicAndResume(t *testing.T) {
	checkResumes(t, smallBaselines(), Options{Data: bothLETORs(t), Seed: 5}, 20)
}

// On the real set RankSVM is above its published row and the best feature, which
// are above a random order.
func TestBaselinesOnOHSUMED(t *testing.T) {
	b := letorBaselines()
	b.rows = []row{
		{name: "RankSVM", method: "ranksvm", grid: map[string][]string{"C": {"1e-5", "1e-4"}}},
		{name: "best feature", method: "singlefeature", training: "map"},
		{name: "random order", method: "random"},
	}
	r := reportOf(t, b, Options{Data: realOHSUMED(t), Seed: 1})
	of := func(row string) float64 {
		return cell(t, r.Sheets[0], "ours", "OHSUMED", "letor3", row, "map").(float64)
	}
	if svm, feature, random := of("RankSVM"), of("best feature"), of("random order"); !(svm > .4434 && svm > feature && feature > random+.05) {
		t.Errorf("RankSVM %.4f, best feature %.4f, random order %.4f", svm, feature, random)
	}
	if text := everything(t, r); !strings.Contains(text, "1 of 1 at or above") {
		t.Error("RankSVM is not reported to be above its published row")
	}
}
