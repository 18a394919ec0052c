package method

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
)

// slackObjective is SVMmap's objective by the greedy algorithm of Yue et al., Section
// 4.1, as printed, with its own sorting and sums.
func slackObjective(d *dataset.Dataset, c float64, w []float64) float64 {
	var total float64
	for k := range d.Queries {
		q := &d.Queries[k]
		var good, bad []float64
		for i, grade := range q.Grades {
			s := 0.0
			for j, x := range q.Row(i) {
				s += w[j] * float64(x)
			}
			if grade >= 1 {
				good = append(good, s)
			} else {
				bad = append(bad, s)
			}
		}
		slices.SortFunc(good, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
		slices.SortFunc(bad, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
		scale := 2 / float64(len(good)*len(bad))
		for j, s := range bad {
			best, sum := 0.0, 0.0
			for k := len(good); k >= 1; k-- {
				loss := float64(k)/float64(k+j) - float64(k)/float64(k+j+1)
				sum += loss/float64(len(good)) - scale*(good[k-1]-s)
				best = max(best, sum)
			}
			total += best
		}
	}
	f := c / float64(len(d.Queries)) * total
	for _, v := range w {
		f += v * v / 2
	}
	return f
}

// checkSVMmap trains with either formulation. Objectives are what the greedy algorithm
// says at the model's weights, and the mean slack is certified to a thousandth: neither
// is further above what the other is certified to be at least.
func checkSVMmap(t *testing.T, d *dataset.Dataset, cs ...string) {
	m := lookup(t, "svmmap")
	for _, c := range cs {
		var f, gap, lower [2]float64
		for i, slack := range []string{"one", "n"} {
			p := newProblem(t, m, "C", c, "slack", slack)
			p.Data = d
			trained := mustTrain(t, m, p)
			f[i], gap[i] = trained.Training.Objective, *trained.Training.Gap
			lower[i] = f[i] - gap[i]
			factor := p.Values.Number("C")
			t.Logf("C=%s, slack=%s: %.8g, gap %.1e, of the mean slack %.1e; %d evaluations, %s", c, slack, f[i], gap[i], gap[i]/factor, trained.Training.Evaluations, trained.Training.Status)
			if own := slackObjective(d, factor, trained.Params); math.Abs(own-f[i]) > 1e-9*own {
				t.Errorf("C=%s, slack=%s: the model claims the objective %v, at its weights it is %v", c, slack, f[i], own)
			}
			if gap[i] > 1e-3*factor || gap[i] > 1e-3*max(1, f[i]) {
				t.Errorf("C=%s, slack=%s: certified to %v of %v", c, slack, gap[i], f[i])
			}
		}
		if least := max(lower[0], lower[1]); min(f[0], f[1]) < least*(1-1e-12) {
			t.Errorf("C=%s: certified to be at least %v, it is %v and %v", c, least, f[0], f[1])
		}
	}
}

// Both formulations reach the minimum on data of OHSUMED's shape.
func TestSVMmapIsOptimal(t *testing.T) {
	checkSVMmap(t, smallData(t), "0.001", "1", "30", "1000", "100000")
}

// The same on the training part of OHSUMED's fold 1, over and beyond the default grid.
func TestSVMmapIsOptimalOnOHSUMED(t *testing.T) {
	checkSVMmap(t, ohsumedFold1(t), "0.001", "0.01", "0.1", "1", "10", "100", "1000", "10000", "100000")
}

// withDegenerateQueries adds a query without irrelevant documents and two without
// relevant ones to d, in front, in the middle and at the end.
func withDegenerateQueries(d *dataset.Dataset) *dataset.Dataset {
	grown := *d
	grown.Queries = nil
	add := func(id string, grade float64) {
		q := d.Queries[0]
		q.ID, q.Grades = id, slices.Repeat([]float64{grade}, q.Len())
		grown.Queries = append(grown.Queries, q)
	}
	add("nothing relevant", 0)
	grown.Queries = append(grown.Queries, d.Queries[:3]...)
	add("all relevant", 1)
	grown.Queries = append(grown.Queries, d.Queries[3:]...)
	add("nothing relevant either", 0)
	return &grown
}

// Queries without relevant or without irrelevant documents have no slack, for any weights:
// they only count in N, so that C grows by what N does.
func TestSVMmapWithDegenerateQueries(t *testing.T) {
	m := lookup(t, "svmmap")
	for _, training := range []string{"map", "ndcg@5", "mrr", "auc"} {
		for _, slack := range []string{"one", "n"} {
			plain := newProblem(t, m, "C", "15", "slack", slack)
			degenerate := newProblem(t, m, "C", "18", "slack", slack)
			degenerate.Data = withDegenerateQueries(plain.Data)
			plain.Measure, degenerate.Measure = measure.MustParse(training, measure.LETOR3), measure.MustParse(training, measure.LETOR3)
			want, got := mustTrain(t, m, plain), mustTrain(t, m, degenerate)
			if got.Training.Used != len(plain.Data.Queries) || got.Training.Queries != len(plain.Data.Queries)+3 {
				t.Errorf("%s: %d of %d queries used", training, got.Training.Used, got.Training.Queries)
			}
			if math.Abs(got.Training.Objective-want.Training.Objective) > 1e-5*want.Training.Objective {
				t.Errorf("%s: objective %v, without the degenerate queries %v", training, got.Training.Objective, want.Training.Objective)
			}
		}
	}
	p := newProblem(t, m)
	only := withDegenerateQueries(p.Data)
	only.Queries = slices.DeleteFunc(only.Queries, func(q dataset.Query) bool { return !strings.Contains(q.ID, "relevant") })
	p.Data = only
	var problem *ProblemError
	if _, err := m.Train(context.Background(), p); !errors.As(err, &problem) || !strings.Contains(err.Error(), "found no query with both relevant and irrelevant documents") {
		t.Errorf("error %v", err)
	}
}

// The model is the same, byte for byte, for any number of workers.
func TestSVMmapIsDeterministic(t *testing.T) {
	m := lookup(t, "svmmap")
	for _, settings := range [][]string{{}, {"slack", "n"}, {"grades", "graded"}} {
		var texts []string
		for _, workers := range []int{1, 3} {
			p := newProblem(t, m, append([]string{"C", "50"}, settings...)...)
			p.Measure, p.Workers = measure.MustParse("ndcg@5", measure.LETOR3), workers
			texts = append(texts, bytesOf(t, mustTrain(t, m, p)))
		}
		if texts[0] != texts[1] {
			t.Errorf("%v: models of 1 and 3 workers differ", settings)
		}
	}
}

// The training measure chooses the hinge, and the grades the kind: objectives are at
// most those of w = 0, which are C times the mean of what the measure can lose, and
// certified.
func TestSVMmapMeasures(t *testing.T) {
	m := lookup(t, "svmmap")
	seen := make(map[string]string)
	for _, training := range []string{"map", "ndcg@5", "ndcg", "mrr", "auc", "p@3"} {
		for _, grades := range []string{"binary", "graded"} {
			if grades == "graded" && !strings.HasPrefix(training, "ndcg") {
				continue
			}
			p := newProblem(t, m, "grades", grades, "C", "200")
			p.Measure = measure.MustParse(training, measure.LETOR3)
			trained := mustTrain(t, m, p).Training
			if trained.Objective > 200 || *trained.Gap > 1e-6*200 {
				t.Errorf("%s, %s: objective %v within %v", training, grades, trained.Objective, *trained.Gap)
			}
			name, text := training+" "+grades, fmt.Sprint(trained.Objective)
			if other, ok := seen[text]; ok {
				t.Errorf("%s and %s have the same objective %s", name, other, text)
			}
			seen[text] = name
		}
	}
}

// With AUC the objective is RankSVM's under another name: the mean over pairs of
// max(0, 1 − 2d), d being a pair's difference of scores, so that 2w is RankSVM's
// solution for 4C.
func TestSVMAUCIsRankSVM(t *testing.T) {
	m, r := lookup(t, "svmmap"), lookup(t, "ranksvm")
	p := newProblem(t, m, "C", "7")
	p.Measure = measure.MustParse("auc", measure.LETOR3)
	binary := *p.Data
	binary.Queries = slices.Clone(p.Data.Queries)
	for i := range binary.Queries {
		q := &binary.Queries[i]
		q.Grades = slices.Clone(q.Grades)
		for k, g := range q.Grades {
			q.Grades[k] = min(g, 1)
		}
	}
	p.Data = &binary
	other := newProblem(t, r, "C", "28", "c_scale", "svmrank", "weights", "queries", "hinge", "l1", "optimizer", "planes")
	other.Data = &binary
	got, want := mustTrain(t, m, p).Training.Objective, mustTrain(t, r, other).Training.Objective/4
	if math.Abs(got-want) > 1e-5*want {
		t.Errorf("objective %v, RankSVM's %v", got, want)
	}
}

// Descent has the objective divided by C/N; its minimum is the same. It trains
// networks too.
func TestSVMmapByDescent(t *testing.T) {
	m := lookup(t, "svmmap")
	exact := mustTrain(t, m, newProblem(t, m, "C", "10"))
	p := newProblem(t, m, "C", "10", "optimizer", "descent", "rule", "plain", "rate", "0.03", "epochs", "3000", "patience", "0", "batch", "100")
	least, got := exact.Training.Objective, slackObjective(p.Data, 10, mustTrain(t, m, p).Params)
	if got < least*(1-1e-6) || got > least*(1+1e-3) {
		t.Errorf("descent comes to %v, the minimum is %v", got, least)
	}
	net := newProblem(t, m, "epochs", "5", "hidden", "3")
	net.Scorer = networkScorer
	if trained := mustTrain(t, m, net); trained.Scorer.Kind() != networkScorer || trained.Training.Iterations != 5 {
		t.Errorf("%s after %d epochs", trained.Scorer.Kind(), trained.Training.Iterations)
	}
}

// Observers see every objective fall, and cancelling ends training with the context's
// error.
func TestSVMmapObserved(t *testing.T) {
	m := lookup(t, "svmmap")
	for _, slack := range []string{"one", "n"} {
		p := newProblem(t, m, "slack", slack)
		checkObserved(t, m, p, "slack="+slack)
	}
}

func TestSVMmapErrors(t *testing.T) {
	m := lookup(t, "svmmap")
	net := newProblem(t, m, "optimizer", "planes")
	net.Scorer = networkScorer
	err4 := newProblem(t, m)
	err4.Measure = measure.MustParse("err", measure.LETOR3)
	for _, c := range []struct {
		p    *Problem
		want string
	}{
		{net, "svmmap: optimizer=planes with the scorer net, expected linear"},
		{newProblem(t, m, "bag", "2"), "svmmap: bag=2 with optimizer=planes: only descents make a bag"},
		{newProblem(t, m, "grades", "graded"), "svmmap: grades=graded with the training measure map, expected ndcg or ndcg@K"},
		{err4, "svmmap: found the training measure err, expected one that is a sum over relevant documents"},
	} {
		checkRefused(t, m, c.p, c.want)
	}
}

// BenchmarkSVMmap trains on OHSUMED's fold 1 with one worker, data in memory.
func BenchmarkSVMmap(b *testing.B) {
	d, m := ohsumedFold1(b), lookup(b, "svmmap")
	for _, settings := range [][]string{
		{"C", "1"},
		{"C", "10"},
		{"C", "10", "slack", "n"},
		{"C", "10", "tolerance", "1e-3"},
		{"C", "1000"},
		{"C", "100000"},
	} {
		b.Run(strings.Join(settings, "/"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := newProblem(b, m, settings...)
				p.Data, p.Workers = d, 1
				mustTrain(b, m, p)
			}
		})
	}
}
