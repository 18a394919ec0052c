package papers

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/train"
)

// smallTraces are quick: the rows of the paper's restarts with one C and few rankings.
func smallTraces() traces {
	t := traces{size: govSize{queries: 15, docs: 30}, rows: paperRestarts(), iterations: 12}
	for i := range t.rows {
		t.rows[i].grid = with(with(with(t.rows[i].grid, "C", "1"), "samples", "60"), "steps", "5")
	}
	return t
}

// Every course starts at w = 0, where all rankings are equally probable: the sampled
// objectives that are log-partitions at 0, the exact MLE at n⁺n⁻ log 2 a query. What is
// minimised falls, and a run with one job gives the same bytes.
func TestTraces(t *testing.T) {
	small := smallTraces()
	r, err := small.run(context.Background(), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	starts, falls := make(map[string][]any), 0
	for _, row := range r.Sheets[0].Rows {
		if row[3] == 0 {
			starts[row[1].(string)] = row
		}
	}
	if len(starts) != len(small.rows) {
		t.Errorf("%d courses, expected %d", len(starts), len(small.rows))
	}
	// Nine training queries of one good and 29 bad documents.
	if got, want := starts["MLE"][5].(float64), 9*29*math.Ln2; math.Abs(got-want) > 1e-9 || starts["MLE"][4] != 0.0 {
		t.Errorf("MLE starts at %v, sampled %v; expected %v and 0", got, starts["MLE"][4], want)
	}
	for _, row := range r.Sheets[1].Rows {
		falls += row[5].(int)
		if row[2] != "factored" {
			t.Errorf("%v: with one good document a query, the exact form is %v", row[1], row[2])
		}
		if row[5] != row[4] {
			t.Errorf("%v: the sampled objective falls in %v of %v iterations", row[1], row[5], row[4])
		}
	}
	if falls == 0 || !strings.Contains(r.Notes[0], "each improved as iterations progressed") {
		t.Errorf("nothing falls, or the note is missing: %q", r.Notes)
	}
	if len(r.Findings) != 2 || r.Findings[0].Verdict == ClaimFailed {
		t.Errorf("findings %+v", r.Findings)
	}
	again, err := small.run(context.Background(), Options{Seed: 1, Jobs: 1})
	if err != nil || everything(t, r) != everything(t, again) {
		t.Errorf("one job gives another report (error %v)", err)
	}
}

// The exact value at an iterate is the loss of the exact form there with the penalty, and the
// sampled one that of the sampled form: both by other ways than those of the experiment.
func TestTraceValues(t *testing.T) {
	dir := t.TempDir()
	writeFolds(t, dir, 12, 1)
	small := smallTraces()
	small.rows = small.rows[9:] // ConvexLoss_NDCG, whose queries have several good documents
	alone, folds := tunedAlone(t, dir, small.rows[0], "map", 1)
	var w [][]float64
	values := alone.Folds[0].Chosen.(method.Values)
	p := &method.Problem{Problem: train.Problem{Data: folds[0].Train, Valid: folds[0].Valid, Measure: alone.Entry.Measure, Seed: 1}, Values: values}
	p.Observe = func(it method.Iteration) { w = append(w, append([]float64(nil), it.Params...)) }
	if _, err := alone.Entry.Method.Train(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	one, err := small.follow(t.Context(), Options{Seed: 1}, &alone, folds[0])
	if err != nil {
		t.Fatal(err)
	}
	if one.form != logrank.Lattice.String() || len(one.exact) < 3 {
		t.Fatalf("form %s, %d iterates", one.form, len(one.exact))
	}
	gain, err := additive("ndcg@10")
	if err != nil {
		t.Fatal(err)
	}
	exact := logrank.ConvexLoss{Options: logrank.Options{Form: logrank.Lattice, Gain: gain}}
	sampled, err := alone.Entry.Method.Problem(p)
	if err != nil {
		t.Fatal(err)
	}
	sample, err := objective.NewFunctional(folds[0].Train, sampled.Loss, 1, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k := range one.exact {
		scores := make([]float64, folds[0].Train.Docs())
		linearScores(scores, folds[0].Train, w[k])
		whole, at := inner(w[k], w[k])/values.Number("C"), 0
		drawn := whole + sample.Eval(scores, nil)
		for i := range folds[0].Train.Queries {
			grades := folds[0].Train.Queries[i].Grades
			whole += lossAt(t, exact, grades, scores[at:at+len(grades)])
			at += len(grades)
		}
		if math.Abs(one.exact[k]-whole) > 1e-9*math.Abs(whole) || math.Abs(one.sampled[k]-drawn) > 1e-9*max(1, math.Abs(drawn)) {
			t.Errorf("iterate %d: exact %v, sampled %v; expected %v and %v", k, one.exact[k], one.sampled[k], whole, drawn)
		}
	}
}

// Spearman's correlation is that of ranks, whatever the scale, with ties in the middle.
func TestRankCorrelation(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{-5, 0, 1e3, 1e9}, 1},
		{[]float64{1, 2, 3}, []float64{9, 4, 1}, -1},
		{[]float64{1, 2, 3, 4, 5}, []float64{2, 1, 4, 3, 5}, 0.8}, // 1 − 6·4/(5·24)
		{[]float64{1, 1, 2}, []float64{1, 2, 3}, math.Sqrt(0.75)},
	} {
		if got := rankCorrelation(c.x, c.y); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v, %v: %v, expected %v", c.x, c.y, got, c.want)
		}
	}
	if v := rankCorrelation([]float64{1, 1}, []float64{1, 2}); !math.IsNaN(v) {
		t.Errorf("of a constant: %v", v)
	}
}

// Values are apart if they are at every iterate: an exact objective in the place of the sampled
// one is not.
func TestTracesApart(t *testing.T) {
	exact := []float64{8, 6, 4}
	for _, c := range []struct {
		sampled []float64
		want    int
	}{{[]float64{1, 0, -4}, 1}, {exact, 0}, {[]float64{1, 5, 1}, 0}} {
		if m := improved([]trace{{form: logrank.Factored.String(), sampled: c.sampled, exact: exact}}); m.apart != c.want {
			t.Errorf("%v and %v: %d apart, expected %d", c.sampled, exact, m.apart, c.want)
		}
	}
}

// lossAt evaluates a loss that draws nothing on one query.
func lossAt(t *testing.T, l loss.Loss, grades, scores []float64) float64 {
	t.Helper()
	bound, err := l.Bind(grades, nil)
	if err != nil {
		t.Fatal(err)
	}
	return bound.Eval(scores, nil, new(loss.Scratch))
}

// The claim that both objectives improve as iterations progress holds if they always fall, and
// not at all if the exact ones end no lower than they began.
func TestTraceVerdicts(t *testing.T) {
	falls, dips, rises := []float64{3, 2, 1}, []float64{3, 1, 2}, []float64{1, 2, 3}
	for _, c := range []struct {
		exact [][]float64
		want  FindVerdict
	}{
		{[][]float64{falls, falls}, ClaimHeld}, {[][]float64{falls, dips}, ClaimPartly}, {[][]float64{falls, dips, rises}, ClaimPartly}, {[][]float64{falls, rises, rises}, ClaimFailed},
	} {
		var all []trace
		for _, course := range c.exact {
			all = append(all, trace{form: logrank.Factored.String(), sampled: falls, exact: course})
		}
		// Another law counts neither for nor against the claim, and is named.
		all = append(all, trace{name: "other", form: logrank.Lattice.String(), sampled: falls, exact: rises})
		if text := improved(all).text(); !strings.HasSuffix(text, "no closed form: other (1 at the start, 3 at the end)") {
			t.Errorf("%q does not name the objective that is left out", text)
		}
		if m := improved(all); m.verdict() != c.want || m.sampled != m.steps {
			t.Errorf("%v: %+v, %s; expected %s", c.exact, m, m.verdict(), c.want)
		}
	}
}
