package papers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
)

func (j jacobian) report(ctx context.Context, o Options, findings []lambdaFinding) (*Report, error) {
	r := newReport(jacobianExperiment(), o, lambdaRank+", section 4, eq. 5, and section 6.2")
	r.fact("lists", "%d random lists of 8 documents with grades 0, 0, 0, 1, 1, 2, 2, 3 (seed %d); numbers are the worst of them", j.lists, o.Seed)
	r.fact("J", "the Jacobian of −λ by central differences of step %g", jacobianStep)
	r.fact("work", "∮ λ·ds around a circle in a random plane by the midpoint rule with %d steps, per unit of its radius %g", j.steps, circulationRound)
	r.fact("convention", "%s (%s)", standard.Name(), standard.Explanation())
	r.fact("zero", "asymmetry and eigenvalues below %g, Σλ below %g, work below %g (what jumps and the midpoint rule leave)", jacobianZero, netZero, circulationZero)
	alphas, alphaSheet := alphaTable(findings)
	r.Tables = []Table{jacobianVerdicts(findings), jacobianNumbers(findings), alphas}
	r.Sheets = []Sheet{jacobianSheet(findings), alphaSheet}
	curves, err := j.curves(findings, o.Seed)
	if err != nil {
		return nil, err
	}
	for _, c := range curves {
		r.Sheets = append(r.Sheets, c.sheet())
		r.Plots = append(r.Plots, c.plot())
	}
	jacobianNotes(r, findings)
	alphaNote(r, findings)
	springFinding(r, o.Seed)
	if err := j.flatOrJump(r, o.Seed); err != nil {
		return nil, err
	}
	if err := lambdaExample(r, findings); err != nil {
		return nil, err
	}
	if err := anyCost(ctx, r, o.Seed); err != nil {
		return nil, err
	}
	return r, nil
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// scaledBy returns the table cell with the measure.
func (f *lambdaField) scaledBy() string {
	if f.measure == "" {
		return "—"
	}
	return "Δ" + title(f.measure)
}

// jacobianVerdicts returns a table with a row for each λ function. A λ function has several rows if
// its verdicts differ between measures.
func jacobianVerdicts(findings []lambdaFinding) Table {
	t := Table{
		Title:   "what each λ function is",
		Columns: []string{"λ function", "scaled by", "J = Jᵀ", "J ≥ 0", "Σλ = 0", "closed in a cell", "across ties", "has a potential", "convex"},
		Left:    9,
	}
	for _, f := range findings {
		row := []string{
			f.field.name, f.field.scaledBy(), yesNo(f.symmetric()), yesNo(f.positive()), yesNo(f.balanced()),
			yesNo(f.closedInside()), yesNo(f.closedAcross()), f.potential(), f.convex(),
		}
		alike := slices.IndexFunc(t.Rows, func(r []string) bool { return r[0] == row[0] && slices.Equal(r[2:], row[2:]) })
		if alike < 0 {
			t.Rows = append(t.Rows, row)
		} else {
			t.Rows[alike][1] += ", " + row[1]
		}
	}
	return t
}

func jacobianNumbers(findings []lambdaFinding) Table {
	t := Table{
		Title:   "the numbers: of J in a cell, of the work around circles, and of steps backward",
		Columns: []string{"λ function", "scaled by", "‖J−Jᵀ‖/‖J‖", "eigenvalue", "|Σλ|", "work in a cell", "at a pair", "at a triple", "∮ (0, 1, 2)", "backward"},
		Left:    2,
	}
	for _, f := range findings {
		t.Rows = append(t.Rows, []string{
			f.field.name, f.field.scaledBy(), zeroBelow(f.asymmetry, jacobianZero), zeroBelow(f.eigenvalue, jacobianZero), zeroBelow(f.net, netZero),
			zeroBelow(f.work[inCell], circulationZero), zeroBelow(f.work[atPair], circulationZero), zeroBelow(f.work[atTriple], circulationZero),
			fixed(f.triple, 6), fmt.Sprintf("%.2f %%", 100*f.backward),
		})
	}
	return t
}

// zeroBelow formats a number. Absolute values below zero print as 0.
func zeroBelow(v, zero float64) string {
	if math.Abs(v) < zero {
		return "0"
	}
	return fmt.Sprintf("%.4f", v)
}

// fixed formats a number without a sign if it rounds to 0.
func fixed(v float64, decimals int) string {
	if math.Abs(v) < 0.5*math.Pow10(-decimals) {
		v = 0
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

func jacobianSheet(findings []lambdaFinding) Sheet {
	s := Sheet{Columns: []string{
		"lambda", "measure", "asymmetry", "smallest_eigenvalue", "net_force", "work_cell", "work_pair", "work_triple",
		"circulation_012", "backward", "symmetric", "positive", "balanced", "potential", "convex",
	}}
	for _, f := range findings {
		s.Rows = append(s.Rows, []any{
			f.field.name, f.field.measure, f.asymmetry, f.eigenvalue, f.net, f.work[inCell], f.work[atPair], f.work[atTriple],
			f.triple, f.backward, yesNo(f.symmetric()), yesNo(f.positive()), yesNo(f.balanced()), f.potential(), f.convex(),
		})
	}
	return s
}

// jacobianNotes adds notes that interpret the tables.
func jacobianNotes(r *Report, findings []lambdaFinding) {
	var whole, none []string
	least, most := 1.0, 0.0 // steps backward under forces between neighbours
	for _, f := range findings {
		switch f.potential() {
		case "yes":
			whole = append(whole, f.field.title())
		case "no":
			none = append(none, f.field.title())
		}
		if strings.HasSuffix(f.field.name, "-nearest") {
			least, most = min(least, f.backward), max(most, f.backward)
		}
	}
	paper := findings[1] // the paper's choice, logistic × ΔNDCG
	testFindings(r, findings)
	r.note("The loop about the tie of three documents graded 0, 1 and 2 (radius 1, in the plane of the first two scores): ∮ λ·ds = %s for %s, the paper's λ function, %s for RankNet; an independent program finds .0177 and 0.000000.",
		fixed(paper.triple, 6), paper.field.title(), fixed(findings[0].triple, 6))
	r.note("A cost with these forces exists on all of the space of scores for %d of %d: %s. %d are the gradient of a cost only as long as no two documents change places; %d not even that: %s.",
		len(whole), len(findings), orNone(whole), len(findings)-len(whole)-len(none), len(none), orNone(none))
	r.note("The paper's test, a symmetric Jacobian, looks at points where λ has derivatives: forces between pairs pass it everywhere. Poincaré's lemma wants it on all of the space. Where documents tie the pairs' factors change, λ jumps along the tie, and a loop across it does work: what LambdaRank descends is not a cost. It takes a third document, whose pull on the tied ones changes.")
	r.note("Steps backward are pairs of random points x, y with (λ(x) − λ(y))·(x − y) > 0, of which the gradient of a convex cost has none: %.2f %% for the paper's λ function, %.0f to %.0f %% for forces between neighbours only, which let go of a document as soon as another comes between.",
		100*paper.backward, 100*least, 100*most)
	r.note("Differences of the measure depend on the scores through their step (by default the mean gap) and jump where a document would pass another one at that distance, inside a cell, too: with ε = 1 J is 0 wherever there is one, and yet loops do work.")
}

// testFindings judges the test of section 4 (eq. 5), and the statements on convexity and forces.
// The paper states the test, and does not claim that eq. 9 passes it.
func testFindings(r *Report, findings []lambdaFinding) {
	smooth, paper := &findings[0], &findings[1] // only RankNet's λ is continuous
	symmetric, asymmetric, work, balanced := 0, 0, 0, 0
	for i := range findings {
		f := &findings[i]
		if f.symmetric() {
			symmetric++
		} else if asymmetric++; !f.closedInside() {
			work++
		}
		if f.balanced() {
			balanced++
		}
	}
	r.found(holdsIf(smooth.potential() == "yes" && work == asymmetric), "smooth λ are the gradient of a cost if and only if their Jacobian is symmetric (section 4, eq. 5)",
		"RankNet's λ: symmetric, and no loop does work; %d of %d with an asymmetric Jacobian do work; eq. 9's, of which the paper does not say that they pass, are symmetric inside an order of the documents, but jump between orders: ∮ λ·ds = %s",
		work, asymmetric, fixed(paper.triple, 6)).Rule = fmt.Sprintf("asymmetry below %g, work below %g", jacobianZero, circulationZero)
	r.found(holdsIf(smooth.convex() == "yes"), "a cost whose λ have a positive semidefinite Jacobian is convex (section 4)",
		"RankNet's: smallest eigenvalue %s, %.2f %% of steps backward", zeroBelow(smooth.eigenvalue, jacobianZero), 100*smooth.backward).Rule = fmt.Sprintf("eigenvalues above −%g", jacobianZero)
	r.found(holdsIf(balanced == len(findings)), "the λ of a query sum to zero (section 4, as a rule for choosing them)", "for %d of %d λ functions; with α Σλ = −Σα_j s_j, so that steps along λ move the mean score", balanced, len(findings)).Rule = fmt.Sprintf("sums below %g", netZero)
}

func orNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// workCurves contains the circulation of some λ functions on a family of circles. The λ functions
// are bound to three documents with the grades 0, 1 and 2.
type workCurves struct {
	axis   string
	x      []float64
	circle func(float64) loss.Circle
	named  []string // names of the λ functions
	labels chart.Plot
	sizes  bool // plot |∮ λ·ds| on a logarithmic axis

	names  []string
	curves [][]float64
}

// curves returns two families of circles: circles of growing radius around the tie of three
// documents, and circles of radius 0.5 at growing distance from the tie.
func (j jacobian) curves(findings []lambdaFinding, seed uint64) ([]workCurves, error) {
	all := []workCurves{{
		axis: "radius", x: radii(), circle: tripleTie, sizes: true,
		named: []string{"RankNet", "logistic", "step", "spring", "logistic-nearest", "step-nearest", "spring-nearest", "difference"},
		labels: chart.Plot{
			Title: "Work of ΔNDCG-scaled forces around the tie of three documents (RankNet's is 0)",
			X:     chart.Axis{Label: "radius of the circle", Log: true},
			Y:     chart.Axis{Label: "|∮ λ·ds|", Log: true},
		},
	}, {
		axis: "distance", x: distances(), circle: nearTripleTie,
		named: []string{"RankNet", "logistic", "step", "spring", "logistic-nearest", "difference"},
		labels: chart.Plot{
			Title: "Work around a circle of radius 0.5 that is moved over the tie",
			X:     chart.Axis{Label: "gap between neighbouring scores in its centre; negative: best document first"},
			Y:     chart.Axis{Label: "∮ λ·ds"},
		},
	}}
	for k := range all {
		w := &all[k]
		for i := range findings {
			f := &findings[i].field
			if f.measure != "" && f.measure != "ndcg" || !slices.Contains(w.named, f.name) {
				continue
			}
			if err := w.add(f, j.steps, seed); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// add computes the circulation of a λ function on every circle.
func (w *workCurves) add(f *lambdaField, steps int, seed uint64) error {
	b, err := f.loss.Bind([]float64{0, 1, 2}, random.Stream(seed, "lambda jacobian", w.axis))
	if err != nil {
		return err
	}
	values := make([]float64, len(w.x))
	for k, v := range w.x {
		values[k] = loss.Circulation(b, w.circle(v), steps)
	}
	w.names, w.curves = append(w.names, f.name), append(w.curves, values)
	return nil
}

func (w *workCurves) sheet() Sheet {
	s := Sheet{Name: w.axis, Columns: []string{w.axis, "lambda", "circulation"}}
	for i, name := range w.names {
		for k, v := range w.x {
			s.Rows = append(s.Rows, []any{v, name, w.curves[i][k]})
		}
	}
	return s
}

// plot returns the plot. If sizes is set, it omits a curve of rounding errors.
func (w *workCurves) plot() Plot {
	p := Plot{w.axis, w.labels}
	for i, n := range w.names {
		s := chart.Series{Name: n, X: w.x, Y: slices.Clone(w.curves[i])}
		largest := 0.0
		for k, v := range s.Y {
			largest = max(largest, math.Abs(v))
			if w.sizes {
				s.Y[k] = math.Abs(v)
			}
		}
		if largest > netZero || !w.sizes {
			p.Series = append(p.Series, s)
		}
	}
	return p
}

// radii returns eight values per decade from 0.01 to 10.
func radii() (x []float64) {
	for k := range 25 {
		x = append(x, 0.01*elementary.Pow(10, float64(k)/8))
	}
	return x
}

func distances() (x []float64) {
	for k := range 121 {
		x = append(x, float64(k-60)/48)
	}
	return x
}

// nearTripleTie returns the circle of radius 0.5 around scores that differ by gap.
func nearTripleTie(gap float64) loss.Circle {
	c := tripleTie(0.5)
	c.Center = []float64{gap, 0, -gap}
	return c
}
