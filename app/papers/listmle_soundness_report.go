package papers

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/svg"
)

func (s soundness) report(o Options, findings []soundFinding) (*Report, error) {
	r := newReport(soundnessExperiment(), o, listMLESource)
	r.fact("seed", "%d", o.Seed)
	r.fact("losses", "above their least value: cross entropy as the divergence of the laws of whole permutations; the r-th document of n, from 0, has grade n − r, and ψ is applied to grades")
	r.fact("scores", "%d draws for each loss and length, Gaussian about a Gaussian mean, of sizes from %g to %g", s.draws, 1/soundSpread, soundSpread)
	r.fact("gap rises", "share of gaps between neighbours of rankings that are right already which, widened, raise the loss")
	r.fact("inverted", "share of pairs of a right and a wrong ranking, drawn apart, of which the right one has the higher loss")
	r.fact("least wrong", "infimum of the loss over all wrong rankings: below it, a ranking is right for certain")
	r.fact("most right", "highest loss of a right ranking that was drawn")
	r.fact("misplaced", "share of right rankings whose scores, handed to the documents in another order, have a lower loss: 0 is the theorem's \"order sensitive\"")
	r.fact("bent", "share of segments whose middle is above the mean of the ends; eigenvalue: the smallest of the matrices of second derivatives, by central differences")
	r.fact("continuous, smooth", "no change above %g, nor a difference of slopes above %g, on steps of %g of the scores' length in random directions", jumpZero, kinkZero, soundStep)
	operations, counts := operationTable()
	r.Tables = []Table{soundTable(findings), smoothTable(findings), operations}
	sheet, plots, err := soundCurves()
	if err != nil {
		return nil, err
	}
	r.Sheets, r.Plots = []Sheet{soundSheet(findings), sheet, counts}, plots
	s.notes(r, findings)
	return r, nil
}

// percent is a share in a table, "0" for none at all.
func percent(share float64) string {
	if share == 0 {
		return "0"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

func soundTable(findings []soundFinding) Table {
	t := Table{Title: "soundness: what right and wrong rankings cost", Left: 1, Main: true,
		Columns: []string{"loss", "documents", "gap rises", "inverted", "least wrong", "most right", "misplaced"}}
	for _, f := range findings {
		t.Rows = append(t.Rows, []string{f.name, strconv.Itoa(f.n), percent(f.widened), percent(f.inverted), fmt.Sprintf("%.4f", f.wrong), fmt.Sprintf("%.4f", f.right), percent(f.misplaced)})
	}
	return t
}

// smoothTable has a row for every kind of loss and length: the worst over its mappings.
func smoothTable(findings []soundFinding) Table {
	t := Table{Title: "continuity, differentiability, convexity, the worst over mappings (the slides: yes, yes and, but for the cosine, yes)", Left: 1, Columns: []string{"loss", "documents"}}
	for _, what := range []string{"continuous, ", "smooth, "} {
		for _, at := range soundPlaces {
			t.Columns = append(t.Columns, what+at)
		}
	}
	t.Columns = append(t.Columns, "bent", "eigenvalue", "convex")
	for _, f := range byFamily(findings) {
		row := []string{f.family, strconv.Itoa(f.n)}
		for at := range soundPlaces {
			row = append(row, yesNo(f.continuous(at)))
		}
		for at := range soundPlaces {
			row = append(row, yesNo(f.smooth(at)))
		}
		t.Rows = append(t.Rows, append(row, percent(f.bent), zeroBelow(f.eigenvalue, -convexZero), yesNo(f.convex())))
	}
	return t
}

// byFamily joins the findings on one kind of loss and length of list.
func byFamily(findings []soundFinding) []soundFinding {
	var all []soundFinding
	for _, f := range findings {
		at := slices.IndexFunc(all, func(a soundFinding) bool { return a.family == f.family && a.n == f.n })
		if at < 0 {
			all = append(all, f)
			continue
		}
		a := &all[at]
		a.bent, a.eigenvalue = max(a.bent, f.bent), min(a.eigenvalue, f.eigenvalue)
		for k := range soundPlaces {
			a.jump[k], a.kink[k] = max(a.jump[k], f.jump[k]), max(a.kink[k], f.kink[k])
		}
	}
	return all
}

func soundSheet(findings []soundFinding) Sheet {
	s := Sheet{Columns: []string{"loss", "documents", "gap_rises", "inverted", "least_wrong", "most_right", "misplaced", "bent", "eigenvalue", "convex"}}
	for _, at := range []string{"random", "tied", "zero"} {
		s.Columns = append(s.Columns, "jump_"+at, "kink_"+at)
	}
	for _, f := range findings {
		row := []any{f.name, f.n, f.widened, f.inverted, f.wrong, f.right, f.misplaced, f.bent, f.eigenvalue, yesNo(f.convex())}
		for at := range soundPlaces {
			row = append(row, f.jump[at], f.kink[at])
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// The curves: two documents, the first better. A gap is what the better one's score is above
// the other's, so that rankings are wrong left of 0.
const (
	curveGap    = 6.0
	curvePoints = 241
)

// soundCurve is a loss along a line or around a circle.
type soundCurve struct {
	plot, name string
	of         string // the surrogate's name
	x          func(t float64) float64
	scores     func(x float64) [2]float64
}

// soundMeans are the means of the two scores at which the cosine is shown, which depends
// on them.
var soundMeans = []float64{-2, -0.5, 0.5, 2}

func soundCurvesOf() []soundCurve {
	gap := func(t float64) float64 { return float64(curveGap * (float64(2*t) - 1)) }
	about := func(mean float64) func(float64) [2]float64 {
		return func(x float64) [2]float64 { return [2]float64{mean + float64(x/2), mean - float64(x/2)} }
	}
	curves := []soundCurve{{"", "likelihood", "ListMLE", gap, about(0)}}
	for _, name := range []string{"ListNet-log", "ListNet-l", "ListNet-q", "ListNet-exp"} {
		curves = append(curves, soundCurve{"", "cross entropy, " + mappingOf(name), name, gap, about(0)})
	}
	for _, m := range soundMeans {
		curves = append(curves, soundCurve{"cosine", fmt.Sprintf("cosine, linear ψ, mean score %g", m), "RankCosine-l", gap, about(m)})
	}
	curves = append(curves, soundCurve{"cosine", "likelihood / 6, any mean", "ListMLE", gap, about(0)})
	angle := func(t float64) float64 { return float64(360 * t) }
	around := func(x float64) [2]float64 {
		sin, cos := elementary.Sincos(x * math.Pi / 180)
		return [2]float64{sin, cos}
	}
	for _, name := range []string{"RankCosine-log", "RankCosine-sqrt", "RankCosine-l", "RankCosine-q", "RankCosine-exp"} {
		curves = append(curves, soundCurve{"angle", "cosine, " + mappingOf(name), name, angle, around})
	}
	return curves
}

// mappingOf spells out the end of a row's name.
func mappingOf(name string) string {
	for short, long := range map[string]string{"-log": "logarithm", "-sqrt": "root", "-l": "linear", "-q": "square", "-exp": "exponential"} {
		if len(name) > len(short) && name[len(name)-len(short):] == short {
			return long + " ψ"
		}
	}
	return name
}

// soundCurves draws the slides' pictures.
func soundCurves() (Sheet, []Plot, error) {
	sheet := Sheet{Name: "curves", Columns: []string{"plot", "curve", "x", "better_score", "other_score", "loss", "ranking"}}
	plots := []Plot{
		{Name: "", Plot: svg.Plot{Title: "Two documents: loss by the gap of scores (rankings left of 0 are wrong)", X: svg.Axis{Label: "score of the better document less the other's"}, Y: svg.Axis{Label: "loss above its least value", Min: 0, Max: 7}}},
		{Name: "cosine", Plot: svg.Plot{Title: "Two documents: the cosine loss by the gap of scores (rankings left of 0 are wrong)", X: svg.Axis{Label: "score of the better document less the other's"}, Y: svg.Axis{Label: "loss", Min: 0, Max: 1.05}}},
		{Name: "angle", Plot: svg.Plot{Title: "Two documents: the cosine loss by the angle of the scores (right from 45 to 225 degrees)",
			X: svg.Axis{Label: "angle of (other's, better one's) score, degrees", Ticks: angleTicks()}, Y: svg.Axis{Label: "loss", Min: 0, Max: 1.05}}},
	}
	for _, c := range soundCurvesOf() {
		l, err := lossNamed(c.of)
		if err != nil {
			return sheet, nil, err
		}
		line := svg.Series{Name: c.name, Kind: svg.Line}
		for i := range curvePoints {
			x := c.x(float64(i) / (curvePoints - 1))
			scores := c.scores(x)
			value := l.value(scores[:], nil)
			if c.plot == "cosine" && c.of == listMLEFamily {
				value /= 6
			}
			sheet.Rows = append(sheet.Rows, []any{orOne(c.plot, "gap"), c.name, x, scores[0], scores[1], value, rightOrWrong(scores)})
			line.X, line.Y = append(line.X, x), append(line.Y, value)
		}
		for k := range plots {
			if plots[k].Name == c.plot {
				plots[k].Series = append(plots[k].Series, line)
			}
		}
	}
	return sheet, plots, nil
}

func angleTicks() []svg.Tick {
	var ticks []svg.Tick
	for a := 0; a <= 360; a += 45 {
		ticks = append(ticks, svg.Tick{Value: float64(a), Label: strconv.Itoa(a)})
	}
	return ticks
}

func orOne(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func rightOrWrong(scores [2]float64) string {
	switch {
	case scores[0] > scores[1]:
		return "right"
	case scores[0] < scores[1]:
		return "wrong"
	}
	return "tied"
}

// lossNamed is a surrogate on two documents, the first better.
func lossNamed(name string) (rankingLoss, error) {
	for _, s := range surrogates() {
		if s.name == name {
			return s.onOrder(identity(2))
		}
	}
	return rankingLoss{}, fmt.Errorf("there is no loss %q", name)
}
