package papers

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
)

// findingsOf looks at the λ functions of these titles, or at all.
func findingsOf(t *testing.T, j jacobian, seed uint64, titles ...string) []lambdaFinding {
	t.Helper()
	fields, err := lambdaFields()
	if err != nil {
		t.Fatal(err)
	}
	var all []lambdaFinding
	for _, f := range fields {
		if len(titles) > 0 && !slices.Contains(titles, f.title()) {
			continue
		}
		finding, err := j.look(f, seed)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, finding)
	}
	return all
}

// RankNet alone has a potential, a convex one; forces between pairs have one inside
// each cell, differences of the measure none. It does not depend on the lists.
func TestJacobianVerdicts(t *testing.T) {
	j := jacobian{lists: 4, steps: 2400, pairs: 50}
	for seed := range uint64(2) {
		findings := findingsOf(t, j, seed)
		for _, f := range findings {
			potential, convex := "in a cell", "in a cell"
			switch {
			case f.field.name == "RankNet":
				potential, convex = "yes", "yes"
			case strings.HasPrefix(f.field.name, "difference"):
				potential, convex = "no", "no"
			}
			if f.potential() != potential || f.convex() != convex || !f.balanced() {
				t.Errorf("seed %d, %s: potential %s, convex %s; %+v", seed, f.field.title(), f.potential(), f.convex(), f)
			}
		}
		// So a row of the table holds all measures.
		table := jacobianVerdicts(findings)
		if rows := 2 + len(loss.Lambdas()); len(table.Rows) != rows || table.Rows[1][1] != "ΔNDCG, ΔMAP, ΔMRR, ΔERR" {
			t.Errorf("%d rows, expected %d; the second is %q", len(table.Rows), rows, table.Rows[1])
		}
		var r Report
		jacobianNotes(&r, findings)
		if !strings.Contains(r.Notes[1], "for 1 of 33: RankNet. 24 are the gradient") {
			t.Error(r.Notes[1])
		}
	}
}

// The circulation about the tie of documents graded 0, 1 and 2 is .0177 under
// ΔNDCG and 0.000000 for RankNet, as an independent program found; and for each
// force between pairs it is that of the field written down as in that program.
func TestTripleTieCirculation(t *testing.T) {
	j := jacobian{lists: 1, steps: 4000, pairs: 1}
	rankNet := findingsOf(t, j, 1, "RankNet")[0].triple
	triple := make(map[string]float64)
	for _, f := range findingsOf(t, j, 1, "logistic × ΔNDCG", "step × ΔNDCG", "spring × ΔNDCG") {
		triple[f.field.name] = f.triple
	}
	if got := triple["logistic"]; math.Abs(got-0.0177) > 5e-5 {
		t.Errorf("%v, want .0177", got)
	}
	if math.Abs(rankNet) > 5e-13 {
		t.Errorf("RankNet: %v, want 0", rankNet)
	}
	for name, force := range map[string]func(lead float64) float64{
		"logistic": func(lead float64) float64 { return 1 / (1 + math.Exp(lead)) },
		"step": func(lead float64) float64 {
			if lead < 1 {
				return 1
			}
			return 0
		},
		"spring": func(lead float64) float64 { return max(0, 1-lead) },
	} {
		sum := 0.0
		for k := range j.steps {
			sin, cos := math.Sincos(2 * math.Pi * (float64(k) + 0.5) / float64(j.steps))
			lambda := naiveForces([]float64{cos, sin, 0}, []float64{0, 1, 2}, force)
			sum += (cos*lambda[1] - sin*lambda[0]) * 2 * math.Pi / float64(j.steps)
		}
		if got := triple[name]; math.Abs(got-sum) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, sum)
		}
	}
}

// naiveForces are those of pairs scaled by the change of NDCG on swapping them.
func naiveForces(scores, grades []float64, force func(lead float64) float64) []float64 {
	discount := make([]float64, len(scores))
	for i, s := range scores {
		rank := 1
		for _, other := range scores {
			if other > s {
				rank++
			}
		}
		discount[i] = 1 / math.Log2(float64(rank+1))
	}
	ideal := 0.0
	sorted := slices.Clone(grades)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	for r, g := range sorted {
		ideal += (math.Exp2(g) - 1) / math.Log2(float64(r+2))
	}
	lambda := make([]float64, len(scores))
	for i := range scores {
		for k := range scores {
			if grades[i] > grades[k] {
				v := math.Abs((math.Exp2(grades[i])-math.Exp2(grades[k]))*(discount[i]-discount[k])) / ideal * force(scores[i]-scores[k])
				lambda[i] += v
				lambda[k] -= v
			}
		}
	}
	return lambda
}

// The documents that are to tie do, in the middle of where they stood, and no other
// document is near enough to be passed on a small circle.
func TestTies(t *testing.T) {
	for seed := range uint64(50) {
		rng := random.Stream(seed, "test", "")
		l := drawList(rng)
		for count := 1; count <= 3; count++ {
			scores := l.tie(count, rng)
			tied := 0
			for i, s := range scores {
				same := 0
				for k, other := range scores {
					if s == other {
						same++
					} else if math.Abs(s-other) < listGap-1e-9 {
						t.Fatalf("seed %d: documents %d and %d are %v apart", seed, i, k, math.Abs(s-other))
					}
				}
				if same == count && count > 1 {
					tied++
				}
			}
			if count > 1 && tied != count {
				t.Errorf("seed %d: %d documents tie, want %d: %v", seed, tied, count, scores)
			}
		}
	}
	if listGap < 2*circulationRound {
		t.Error("small circles may reach beyond a gap")
	}
}

// Circles that reach no tie show no work of the paper's forces, those over it do.
func TestWorkIsAtTheTie(t *testing.T) {
	findings := findingsOf(t, jacobian{lists: 1, steps: 200, pairs: 1}, 1, "RankNet", "logistic × ΔNDCG")
	curves, err := jacobian{steps: 1000}.curves(findings, 1)
	if err != nil {
		t.Fatal(err)
	}
	moved := curves[1]
	for k, gap := range moved.x {
		rankNet, lambdaRank := moved.curves[0][k], moved.curves[1][k]
		if math.Abs(rankNet) > 1e-12 || (math.Abs(gap) > 0.5*math.Sqrt2) && math.Abs(lambdaRank) > 1e-12 {
			t.Errorf("gap %v: work %v of RankNet, %v of LambdaRank", gap, rankNet, lambdaRank)
		}
	}
	if largest := slices.Max(moved.curves[1]); largest < 0.005 {
		t.Errorf("the largest work over the tie is %v", largest)
	}
}

// The share of steps backward under an α, which is worked out from those without, is what
// counting them under λ − αs gives; and the least α makes the Jacobian positive semidefinite.
func TestAlphaIsWhatTheLossDoes(t *testing.T) {
	j := jacobian{lists: 3, steps: 10, pairs: 200}
	const alpha = 0.1
	fields, err := lambdaFields()
	if err != nil {
		t.Fatal(err)
	}
	fewer := 0
	for _, f := range fields[1:9] { // those of NDCG
		plain, err := j.look(f, 3)
		if err != nil {
			t.Fatal(err)
		}
		l := f.loss.(loss.LambdaRank)
		l.Alpha = alpha
		f.loss = l
		pulled, err := j.look(f, 3)
		if err != nil {
			t.Fatal(err)
		}
		if got := plain.backwardUnder(alpha); math.Abs(got-pulled.backward) > 1e-12 || plain.backwardUnder(0) != plain.backward {
			t.Errorf("%s: %v backward under %v, counted %v", f.title(), got, alpha, pulled.backward)
		}
		if pulled.backward < plain.backward {
			fewer++
		}
		l.Alpha = plain.leastAlpha()
		f.loss = l
		if least, err := j.look(f, 3); err != nil || !least.positive() {
			t.Errorf("%s: the smallest eigenvalue under α = %v is %v, error %v", f.title(), l.Alpha, least.eigenvalue, err)
		}
	}
	if fewer != 8 {
		t.Errorf("α = %v makes steps backward rarer for %d of 8 λ functions", alpha, fewer)
	}
}

// Over a tie RankNet's steps go forward; the α that the paper's λ function needs is in
// inverse proportion to the step, as its jump does not depend on it.
func TestNoAlphaAcrossTies(t *testing.T) {
	j := jacobian{lists: 12, steps: 10, pairs: 1}
	for _, f := range findingsOf(t, j, 1, "RankNet", "logistic × ΔNDCG", "step-nearest × ΔNDCG") {
		last := len(lambdaGaps) - 1
		long, short := f.across[last-1], f.across[last]
		if f.field.name == "RankNet" {
			if short != 0 || long != 0 {
				t.Errorf("RankNet needs α = %v and %v", long, short)
			}
			continue
		}
		if !(short > 1 && short/long > 9 && short/long < 13) {
			t.Errorf("%s needs α = %v for steps of %v, %v for those of %v", f.field.title(), long, lambdaGaps[last-1], short, lambdaGaps[last])
		}
	}
}

// The report has a row for every λ function and the same bytes with any number of
// jobs.
func TestJacobianReport(t *testing.T) {
	j := jacobian{lists: 1, steps: 100, pairs: 10}
	r, err := j.run(context.Background(), Options{Seed: 1, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if n := 1 + 4*(len(loss.Lambdas())+1); len(r.Tables[1].Rows) != n || len(r.Sheets[0].Rows) != n || len(r.Sheets[1].Rows) != n || len(r.Tables[2].Rows) != 9 || len(r.Findings) != 9 || len(r.Plots) != 2 {
		t.Errorf("%d rows, %d in the sheet, %d plots", len(r.Tables[1].Rows), len(r.Sheets[0].Rows), len(r.Plots))
	}
	again, err := j.run(context.Background(), Options{Seed: 1, Jobs: 3})
	if err != nil {
		t.Fatal(err)
	}
	if everything(t, r) != everything(t, again) {
		t.Error("three jobs give another report than one")
	}
}
