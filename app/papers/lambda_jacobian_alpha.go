package papers

import (
	"fmt"
	"strconv"

	"github.com/listwise/listwise/internal/random"
)

// The regularisation of the paper's section 4: where the Jacobian J of −λ is symmetric but
// not positive definite, λ − αs makes it so for an α that is large enough.

var (
	lambdaAlphas = []float64{0, 0.01, 0.1, 1}              // that steps backward are counted under
	lambdaGaps   = []float64{1e-1, 1e-2, 1e-3}             // lengths of the steps over a tie
	alphaShown   = map[string]bool{"": true, "ndcg": true} // measures of the table
)

// acrossTies moves two neighbours of each list over their tie, by steps of several lengths,
// and returns for each length the largest α that a list needs for none of them to go
// backward.
func (j jacobian) acrossTies(f lambdaField, seed uint64) ([]float64, error) {
	most := make([]float64, len(lambdaGaps))
	for i := range j.lists {
		rng := random.Stream(seed, "lambda jacobian alpha", strconv.Itoa(i))
		l := drawList(rng)
		b, err := f.loss.Bind(l.grades, rng)
		if err != nil {
			return nil, err
		}
		x := l.tie(2, rng)
		first, second := tiedPair(x)
		y := append([]float64(nil), x...)
		middle := x[first]
		for k, gap := range lambdaGaps {
			x[first], x[second] = middle+float64(gap/2), middle-float64(gap/2)
			y[first], y[second] = x[second], x[first]
			if along, square := alongStep(b, x, y); along > netZero {
				most[k] = max(most[k], along/square)
			}
		}
	}
	return most, nil
}

// tiedPair returns the two documents of equal score.
func tiedPair(scores []float64) (first, second int) {
	for i, s := range scores {
		for k := range i {
			if scores[k] == s {
				return k, i
			}
		}
	}
	panic("paper: no two documents tie")
}

// leastAlpha is the α from which on J is positive semidefinite in every cell that was seen.
func (f *lambdaFinding) leastAlpha() float64 {
	if f.positive() {
		return 0
	}
	return -f.eigenvalue
}

// backwardUnder is the share of steps that go backward under λ − αs.
func (f *lambdaFinding) backwardUnder(alpha float64) float64 {
	if len(f.pulls) == 0 {
		return 0
	}
	left := 0
	for _, pull := range f.pulls {
		if pull > alpha {
			left++
		}
	}
	return f.backward * (float64(left) / float64(len(f.pulls)))
}

func alphaTable(findings []lambdaFinding) Table {
	t := Table{
		Title:   "λ − αs: the least α for J ≥ 0 in a cell, steps backward by α, and the least α for steps over a tie",
		Columns: []string{"λ function", "scaled by", "least α in a cell"},
		Left:    2,
	}
	for _, a := range lambdaAlphas {
		t.Columns = append(t.Columns, fmt.Sprintf("backward, α = %g", a))
	}
	for _, gap := range lambdaGaps {
		t.Columns = append(t.Columns, fmt.Sprintf("over a tie, step %g", gap))
	}
	for _, f := range findings {
		if !alphaShown[f.field.measure] {
			continue
		}
		line := []string{f.field.name, f.field.scaledBy(), zeroBelow(f.leastAlpha(), jacobianZero)}
		for _, a := range lambdaAlphas {
			line = append(line, fmt.Sprintf("%.2f %%", 100*f.backwardUnder(a)))
		}
		for _, least := range f.across {
			line = append(line, fmt.Sprintf("%.3g", least))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

func alphaSheet(findings []lambdaFinding) Sheet {
	s := Sheet{Name: "alpha", Columns: []string{"lambda", "measure", "smallest_eigenvalue", "least_alpha_cell"}}
	for _, a := range lambdaAlphas {
		s.Columns = append(s.Columns, fmt.Sprintf("backward_alpha_%g", a))
	}
	for _, gap := range lambdaGaps {
		s.Columns = append(s.Columns, fmt.Sprintf("least_alpha_step_%g", gap))
	}
	for _, f := range findings {
		line := []any{f.field.name, f.field.measure, f.eigenvalue, f.leastAlpha()}
		for _, a := range lambdaAlphas {
			line = append(line, f.backwardUnder(a))
		}
		for _, least := range f.across {
			line = append(line, least)
		}
		s.Rows = append(s.Rows, line)
	}
	return s
}

// alphaNote compares with the paper's sentence.
func alphaNote(r *Report, findings []lambdaFinding) {
	symmetric, atOnce, jump := 0, 0, 0
	worst := 0.0
	for i := range findings {
		f := &findings[i]
		if f.symmetric() {
			symmetric++
			if f.leastAlpha() == 0 {
				atOnce++
			}
		} else {
			worst = max(worst, f.leastAlpha())
		}
		if n := len(f.across); f.across[n-1] > 5*f.across[n-2] {
			jump++
		}
	}
	verdict := holdsIf(symmetric > 0 && atOnce == symmetric)
	if verdict == ClaimHeld && jump > 0 {
		verdict = ClaimPartly
	}
	r.found(verdict, "diagonal terms α_j s_j make a symmetric Jacobian positive definite (section 4)",
		"inside an order of the documents: any α > 0 for %d of %d symmetric ones; across ties of %d of %d λ functions no α", atOnce, symmetric, jump, len(findings))
	r.note("The paper: of a symmetric J positive definiteness can be imposed by diagonal terms, λ_j ↦ λ_j + α_j s_j (here λ − αs, as λ is minus the gradient). J is symmetric in a cell for %d of %d λ functions, and for %d of these positive semidefinite with α = 0: the zero eigenvalue is that of a constant added to all scores, and any α > 0 makes it positive. Of the others, which are no gradient, J + Jᵀ becomes so from α = %.4f at most.",
		symmetric, len(findings), atOnce, worst)
	r.note("Convex everywhere no α makes them: for %d of %d, at one tie of two neighbours of each list, the α that a step over the tie needs grows tenfold as the step gets ten times shorter, because λ jumps there by an amount that does not depend on the step. And with α > 0 forces no longer sum to zero, which the same section asks: Σλ = −αΣs.",
		jump, len(findings))
}
