package papers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/tune"
)

// smallArtificial is learned in a second.
var smallArtificial = artificial{
	train: 120, valid: 60, test: 80,
	docs: 12, features: 4,
	shares: []float64{0.5, 0.3, 0.2},
	rates:  []string{"1e-3", "1e-2"},
	epochs: "12",
}

// naiveNDCG is the paper's equation 1 on a query in order of score.
func naiveNDCG(grades, scores []float64, k int) float64 {
	type doc struct{ grade, score float64 }
	docs := make([]doc, len(grades))
	for i := range docs {
		docs[i] = doc{grades[i], scores[i]}
	}
	dcg := func() (sum float64) {
		for r, d := range docs[:min(k, len(docs))] {
			sum += (math.Pow(2, d.grade) - 1) / math.Log(float64(r+2))
		}
		return sum
	}
	slices.SortStableFunc(docs, func(a, b doc) int { return cmp.Compare(b.score, a.score) })
	value := dcg()
	slices.SortStableFunc(docs, func(a, b doc) int { return cmp.Compare(b.grade, a.grade) })
	if ideal := dcg(); ideal > 0 {
		return value / ideal
	}
	return 0
}

// The figure's numbers are NDCG of the chosen models on the test queries, with
// intervals of 1.96 standard errors, and the leads are paired.
func TestArtificialNumbers(t *testing.T) {
	found, fold := trainedArtificial(t, 3)
	got := netResults(found)[1]
	var leads [][]float64
	for k := range artificialTop {
		var values [3][]float64
		for i, row := range found.columns[0].rows[2:] {
			values[i] = naiveAll(t, fold.Test, row[0].Folds[0].Model.Score, k+1)
		}
		for q := range values[0] {
			values[2] = append(values[2], values[1][q]-values[0][q])
		}
		leads = append(leads, values[2])
		for i, have := range []interval{got.systems[0][k], got.systems[1][k], got.lead[k]} {
			checkInterval(t, fmt.Sprintf("level %d, number %d", k+1, i), have, values[i])
		}
	}
	var growth []float64
	for q, last := range leads[artificialTop-1] {
		growth = append(growth, leads[0][q]-last)
	}
	checkInterval(t, "growth of the lead", got.growth, growth)
}

// checkInterval compares with the mean of values and 1.96 of its standard errors.
func checkInterval(t *testing.T, what string, have interval, values []float64) {
	t.Helper()
	sum, square, n := 0.0, 0.0, float64(len(values))
	for _, v := range values {
		sum += v
		square += v * v
	}
	half := 1.96 * math.Sqrt((square-sum*sum/n)/(n-1)/n)
	if math.Abs(have.mean-sum/n) > 1e-12 || math.Abs(have.half/half-1) > 1e-4 {
		t.Errorf("%s: %v, want %v ± %v", what, have, sum/n, half)
	}
}

// The paper's order is claimed of each net, and held if the test over the levels says so.
func TestArtificialOrder(t *testing.T) {
	found, _ := trainedArtificial(t, 3)
	v := &found.columns[0].views[0]
	for _, m := range found.measures {
		for q := range v.values[3][0][m].each {
			v.values[3][0][m].each[q] = v.values[2][0][m].each[q] + 0.01*float64(1+q%2)
		}
		v.values[3][0][m] = number{mean: v.values[2][0][m].mean + 0.015, each: v.values[3][0][m].each}
	}
	var r Report
	artificialReport(found, &r)
	if len(r.Orders) != 2 || r.Orders[1].Verdict != OrderHeld || r.Orders[1].Above != artificialTop || r.Orders[1].Higher != artificialTop {
		t.Errorf("orders %+v, expected the second to hold at all levels", r.Orders)
	}
	for _, m := range found.measures {
		v.values[1][0][m] = v.values[0][0][m]
	}
	if got := artificialOrder(found, v, 0); got.Verdict != OrderUndecided || got.Higher != 0 {
		t.Errorf("of equal rows: %+v", got)
	}
}

func naiveAll(t *testing.T, d *dataset.Dataset, score func(*dataset.Dataset) ([]float64, error), k int) []float64 {
	t.Helper()
	scores, err := score(d)
	if err != nil {
		t.Fatal(err)
	}
	var values []float64
	for i := range d.Queries {
		q := &d.Queries[i]
		values = append(values, naiveNDCG(q.Grades, scores[q.Start:q.Start+q.Len()], k))
	}
	return values
}

// Both methods learn with both nets: on test queries they are far better than
// chance, though the polynomial is mostly not linear.
func TestArtificialIsLearned(t *testing.T) {
	found, fold := trainedArtificial(t, 1)
	chance := mean(naiveAll(t, fold.Test, func(d *dataset.Dataset) ([]float64, error) { return make([]float64, d.Docs()), nil }, 10))
	for _, net := range netResults(found) {
		for i, s := range net.systems {
			if last := s[artificialTop-1]; last.mean < chance+0.05 {
				t.Errorf("%s, %s: NDCG@10 %v, that of chance is %v", net.name, artificialSystems[i], last.mean, chance)
			}
		}
	}
}

// trainedArtificial is what is trained with a seed, and on what.
func trainedArtificial(t *testing.T, seed uint64) (*results, tune.Fold) {
	t.Helper()
	fold, err := smallArtificial.data(seed)
	if err != nil {
		t.Fatal(err)
	}
	s := smallArtificial.study()
	found, err := s.train(context.Background(), Options{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return found, fold
}

// Training, validation and test queries are different ones of the same task.
func TestArtificialData(t *testing.T) {
	fold, err := smallArtificial.data(1)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, d := range []*dataset.Dataset{fold.Train, fold.Valid, fold.Test} {
		seen[fmt.Sprint(d.Queries[0].X)] = true
	}
	if len(seen) != 3 || len(fold.Train.Queries) != 120 || len(fold.Valid.Queries) != 60 || len(fold.Test.Queries) != 80 {
		t.Errorf("%d different first queries; %d, %d, %d queries", len(seen), len(fold.Train.Queries), len(fold.Valid.Queries), len(fold.Test.Queries))
	}
}

// The report has all numbers, says what was scaled, and is the same with any number
// of jobs and after an interruption.
func TestArtificialReport(t *testing.T) {
	o := Options{Seed: 2, Jobs: 1, Scale: 0.5, Records: t.TempDir()}
	r := reportOf(t, smallArtificial.study(), o)
	if rows := len(r.Sheets[0].Rows); rows != 40 || len(r.Tables[0].Rows) != 10 || len(r.Sheets[1].Rows) != 8 {
		t.Errorf("%d, %d and %d rows", rows, len(r.Tables[0].Rows), len(r.Sheets[1].Rows))
	}
	text := everything(t, r)
	for _, want := range []string{"60 training, 30 validation and 40 test queries", "at scale 0.5", "rates tried: 1e-3, 1e-2", "0 to 2 in shares 0.5, 0.3, 0.2"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	again := reportOf(t, smallArtificial.study(), o) // from the records
	o.Jobs, o.Records = 3, ""
	parallel := reportOf(t, smallArtificial.study(), o)
	if text != everything(t, again) || text != everything(t, parallel) {
		t.Error("three jobs, or a run from records, give another report")
	}
}

// The verdict counts the levels at which an interval of the lead leaves out 0.
func TestArtificialVerdict(t *testing.T) {
	n := netResult{name: "linear", lead: make([]interval, artificialTop)}
	n.growth = interval{0.15, 0.05}
	n.lead[0], n.lead[1], n.lead[2], n.lead[3] = interval{0.2, 0.1}, interval{-0.2, 0.1}, interval{0.05, 0.1}, interval{0.1, 0.01}
	if got := n.verdict(); !strings.Contains(got, "significantly higher at 2 and lower at 1 of 10 truncation levels; it leads by 0.2000 ± 0.1000 at 1 and by 0.0000 ± 0.0000 at 10, which is less by 0.1500 ± 0.0500") {
		t.Error(got)
	}
}
