package papers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/optimize"
)

func soundnessExperiment() Experiment {
	return Experiment{
		Name:      "listmle-soundness",
		Paper:     "ListMLE",
		Title:     "Likelihood, cross entropy and cosine as functions of the scores: soundness, convexity, smoothness, cost",
		Shows:     "which of the three losses can be large for a right ranking and small for a wrong one",
		Data:      "none but random scores",
		Scales:    "the number of random scores",
		Untrained: "losses are evaluated at random scores",
		Run:       soundness{lists: []int{2, 3, 5}, draws: 2000}.run,
	}
}

// soundness examines the losses in the space of the scores of one list.
type soundness struct {
	lists []int // numbers of documents in a list
	draws int   // number of random score vectors for each list length
}

// soundFinding contains the observations of a loss on lists of n documents.
type soundFinding struct {
	surrogate
	n int

	misplaced float64 // share of right rankings for which a permutation of the scores has a lower loss
	widened   float64 // share of gaps in right rankings for which a wider gap has a higher loss
	inverted  float64 // share of pairs of a right and a wrong ranking in which the right ranking does not have the lower loss
	wrong     float64 // infimum of the loss over wrong rankings
	right     float64 // highest loss of a right ranking among those drawn

	bent       float64 // share of segments whose midpoint is above the mean of the ends
	eigenvalue float64 // smallest eigenvalue of the matrix of second derivatives

	jump, kink [len(soundPlaces)]float64 // see looks
}

// soundPlaces are the points at which continuity and slopes are examined.
var soundPlaces = [...]string{"random", "all tied", "all zero"}

// Limits for continuity, equality of slopes and convexity. They allow for rounding.
const (
	soundStep   = 1e-7 // relative to the length of the scores
	jumpZero    = 1e-4
	kinkZero    = 1e-2
	bentZero    = 1e-9
	convexZero  = -1e-6
	soundSpread = 10.0 // the scale of scores ranges from 1/10 to 10
)

func (f *soundFinding) continuous(at int) bool { return f.jump[at] < jumpZero }
func (f *soundFinding) smooth(at int) bool     { return f.continuous(at) && f.kink[at] < kinkZero }
func (f *soundFinding) convex() bool           { return f.bent == 0 && f.eigenvalue > convexZero }

func (s soundness) run(ctx context.Context, o Options) (*Report, error) {
	s.draws = o.scaled(s.draws)
	all := surrogates()
	findings := make([]soundFinding, len(all)*len(s.lists))
	err := o.sideBySide(ctx, "losses", len(findings), func(_, i int) (err error) {
		findings[i], err = s.look(ctx, all[i/len(s.lists)], s.lists[i%len(s.lists)], o.Seed)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.report(o, findings)
}

// look examines a loss at random scores.
func (s soundness) look(ctx context.Context, of surrogate, n int, seed uint64) (soundFinding, error) {
	f := soundFinding{surrogate: of, n: n, eigenvalue: math.Inf(1)}
	l, err := of.onOrder(identity(n))
	if err != nil {
		return f, err
	}
	rng := random.Stream(seed, "soundness", strconv.Itoa(n)) // the same scores for every loss
	for range s.draws {
		f.rankings(l, n, rng, 1/float64(s.draws))
		f.shape(l, n, rng, 1/float64(s.draws))
		f.looks(l, n, rng)
	}
	f.wrong, err = leastWrong(ctx, l, n)
	return f, err
}

// drawScores draws scores with a random scale and mean.
func drawScores(n int, rng *rand.Rand) []float64 {
	size := elementary.Pow(soundSpread, float64(2*rng.Float64())-1)
	mean := random.Normal(rng)
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = float64(size * (mean + random.Normal(rng)))
	}
	return scores
}

// drawRight draws scores that rank all documents correctly. drawWrong draws scores that do not.
func drawRight(n int, rng *rand.Rand) []float64 {
	scores := drawScores(n, rng)
	slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	return scores
}

func drawWrong(n int, rng *rand.Rand) []float64 {
	for {
		if scores := drawScores(n, rng); !strictlyRanked(scores, identity(n)) {
			return scores
		}
	}
}

// rankings compares right and wrong rankings.
func (f *soundFinding) rankings(l rankingLoss, n int, rng *rand.Rand, share float64) {
	right, wrong, lambda := drawRight(n, rng), drawWrong(n, rng), make([]float64, n)
	value := l.value(right, lambda)
	f.right = max(f.right, value)
	if value >= l.value(wrong, nil) {
		f.inverted += share
	}
	sum := 0.0
	for i := range n - 1 { // moving the documents up to i together widens the gap below i
		if sum += lambda[i]; sum < -1e-12 {
			f.widened += share / float64(n-1)
		}
	}
	other := slices.Clone(right)
	for {
		rng.Shuffle(n, func(a, b int) { other[a], other[b] = other[b], other[a] })
		if !slices.Equal(other, right) {
			break
		}
	}
	if l.value(other, nil) < value {
		f.misplaced += share
	}
}

// shape tests for violations of convexity.
func (f *soundFinding) shape(l rankingLoss, n int, rng *rand.Rand, share float64) {
	a, b, middle := drawScores(n, rng), drawScores(n, rng), make([]float64, n)
	for i := range middle {
		middle[i] = float64((a[i] + b[i]) / 2)
	}
	ends := float64((l.value(a, nil) + l.value(b, nil)) / 2)
	if l.value(middle, nil) > ends+float64(bentZero*max(1, ends)) {
		f.bent += share
	}
	f.eigenvalue = min(f.eigenvalue, loss.DiagnoseField(l.query, a, 1e-5).SmallestEigenvalue)
}

// looks updates the largest change of the loss over a short step across a point, and the largest
// difference of its slopes on the two sides.
func (f *soundFinding) looks(l rankingLoss, n int, rng *rand.Rand) {
	points := [len(soundPlaces)][]float64{drawScores(n, rng), slices.Repeat([]float64{1 + rng.Float64()}, n), make([]float64, n)}
	for at, x := range points {
		ahead, behind, direction := slices.Clone(x), slices.Clone(x), make([]float64, n)
		gaussian(direction, rng)
		step := soundStep
		if size := norm(x); size > 0 {
			step *= size
		}
		for i, d := range direction {
			ahead[i] += step * d / norm(direction)
			behind[i] -= step * d / norm(direction)
		}
		up, here, down := l.value(ahead, nil), l.value(x, nil), l.value(behind, nil)
		f.jump[at] = max(f.jump[at], math.Abs(up-here), math.Abs(here-down))
		f.kink[at] = max(f.kink[at], math.Abs(up-float64(2*here)+down)/step)
	}
}

func norm(x []float64) float64 { return math.Sqrt(inner(x, x)) }

// leastWrong returns the infimum of the loss over wrong rankings. The losses decrease towards the
// right order, so the infimum is approached where two neighbors tie.
func leastWrong(ctx context.Context, l rankingLoss, n int) (float64, error) {
	least := math.Inf(1)
	for i := range n - 1 {
		t := tiedLoss{l, i, make([]float64, n), make([]float64, n)}
		start := make([]float64, n-1)
		for k := range start {
			start[k] = float64(n-k) / float64(n)
		}
		best, err := optimize.LBFGS{FunctionTolerance: 1e-12}.Minimize(ctx, t, start)
		if err != nil {
			return 0, err
		}
		least = min(least, best.F)
	}
	return least, nil
}

// tiedLoss is a loss as a function of scores in which documents i and i+1 have the same score.
type tiedLoss struct {
	rankingLoss
	tied           int
	scores, lambda []float64
}

func (t tiedLoss) Dim() int { return len(t.scores) - 1 }

func (t tiedLoss) Eval(x, grad []float64) float64 {
	for i := range t.scores {
		t.scores[i] = x[t.at(i)]
	}
	value := t.value(t.scores, t.lambda)
	clear(grad)
	for i, v := range t.lambda {
		grad[t.at(i)] -= v
	}
	return value
}

// at returns the index in x of a document's score.
func (t tiedLoss) at(document int) int {
	if document > t.tied {
		return document - 1
	}
	return document
}

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

// percent formats a share for a table. A share of zero is "0".
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

// smoothTable returns a table with a row for each family of losses and list length. A row shows the
// worst result over the mappings.
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

// byFamily merges the findings of a family of losses at each list length. The worst observation
// counts.
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

// The curves are for two documents, of which the first is better. The gap is the first score minus
// the second. Rankings with a negative gap are wrong.
const (
	curveGap    = 6.0
	curvePoints = 241
)

// soundCurve is a loss along a line or around a circle.
type soundCurve struct {
	plot, name string
	of         string // name of the surrogate
	x          func(t float64) float64
	scores     func(x float64) [2]float64
}

// soundMeans are the means of the two scores in the plots of the cosine loss, which depends on the
// mean.
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

// mappingOf returns the name of the mapping in a row's name.
func mappingOf(name string) string {
	for short, long := range map[string]string{"-log": "logarithm", "-sqrt": "root", "-l": "linear", "-q": "square", "-exp": "exponential"} {
		if len(name) > len(short) && name[len(name)-len(short):] == short {
			return long + " ψ"
		}
	}
	return name
}

// soundCurves draws the figures of the slides.
func soundCurves() (Sheet, []Plot, error) {
	sheet := Sheet{Name: "curves", Columns: []string{"plot", "curve", "x", "better_score", "other_score", "loss", "ranking"}}
	plots := []Plot{
		{Name: "", Plot: chart.Plot{Title: "Two documents: loss by the gap of scores (rankings left of 0 are wrong)", X: chart.Axis{Label: "score of the better document less the other's"}, Y: chart.Axis{Label: "loss above its least value", Min: 0, Max: 7}}},
		{Name: "cosine", Plot: chart.Plot{Title: "Two documents: the cosine loss by the gap of scores (rankings left of 0 are wrong)", X: chart.Axis{Label: "score of the better document less the other's"}, Y: chart.Axis{Label: "loss", Min: 0, Max: 1.05}}},
		{Name: "angle", Plot: chart.Plot{Title: "Two documents: the cosine loss by the angle of the scores (right from 45 to 225 degrees)",
			X: chart.Axis{Label: "angle of (other's, better one's) score, degrees", Ticks: angleTicks()}, Y: chart.Axis{Label: "loss", Min: 0, Max: 1.05}}},
	}
	for _, c := range soundCurvesOf() {
		l, err := lossNamed(c.of)
		if err != nil {
			return sheet, nil, err
		}
		line := chart.Series{Name: c.name, Kind: chart.Line}
		for i := range curvePoints {
			x := c.x(float64(i) / (curvePoints - 1))
			scores := c.scores(x)
			value := l.value(scores[:], nil)
			if c.plot == "cosine" && c.of == listMLEFamily {
				value /= 6
			}
			sheet.Rows = append(sheet.Rows, []any{cmp.Or(c.plot, "gap"), c.name, x, scores[0], scores[1], value, rightOrWrong(scores)})
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

func angleTicks() []chart.Tick {
	var ticks []chart.Tick
	for a := 0; a <= 360; a += 45 {
		ticks = append(ticks, chart.Tick{Value: float64(a), Label: strconv.Itoa(a)})
	}
	return ticks
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

// lossNamed returns the named surrogate on two documents, of which the first is better.
func lossNamed(name string) (rankingLoss, error) {
	for _, s := range surrogates() {
		if s.name == name {
			return s.onOrder(identity(2))
		}
	}
	return rankingLoss{}, fmt.Errorf("there is no loss %q", name)
}

// notes compares the slides' statements with the observations.
func (s soundness) notes(r *Report, findings []soundFinding) {
	worst := func(family string, value func(*soundFinding) float64) float64 {
		most := 0.0
		for i := range findings {
			if findings[i].family == family {
				most = max(most, value(&findings[i]))
			}
		}
		return most
	}
	widened := func(f *soundFinding) float64 { return f.widened }
	inverted := func(f *soundFinding) float64 { return f.inverted }
	every := func(holds func(*soundFinding) bool) bool {
		for i := range findings {
			if !holds(&findings[i]) {
				return false
			}
		}
		return true
	}
	r.stated(soundest(findings, s.draws), "The likelihood loss is sounder than cross entropy and cosine", "gaps of right rankings that raise the loss when widened, the largest share over the lengths of lists: likelihood %s, other losses %s; pairs of a right and a wrong ranking that are inverted, likewise: likelihood %s, other losses %s; below log 2 = %.4f a ranking is right, but from three documents on right ones cost up to log n!",
		percent(worst(listMLEFamily, widened)), rangeOfOthers(findings, widened), percent(worst(listMLEFamily, inverted)), rangeOfOthers(findings, inverted), math.Ln2)
	r.stated(holdsIf(worst(listNetFamily, widened) > 0 && worst(listNetFamily, inverted) > worst(listMLEFamily, inverted)),
		"The cross entropy loss is not very sound", "where the gap is wider than ψ's it rises again: up to %s of the gaps, by mapping; up to %s of the pairs are inverted", percent(worst(listNetFamily, widened)), percent(worst(listNetFamily, inverted)))
	r.stated(holdsIf(worst(rankCosineFamily, inverted) > worst(listMLEFamily, inverted)),
		"The cosine loss is not very sound", "it knows the direction of the scores only, and their mean weighs in it: up to %s of the pairs are inverted, right rankings cost up to %.2f of 1 and wrong ones as little as %.4f",
		percent(worst(rankCosineFamily, inverted)), worst(rankCosineFamily, func(f *soundFinding) float64 { return f.right }), leastOf(findings, rankCosineFamily))
	netLeast, netMost := wrongs(findings, listNetFamily)
	cosineLeast, cosineMost := wrongs(findings, rankCosineFamily)
	r.stated(holdsIf(netMost-netLeast > 0.01 && cosineMost-cosineLeast > 0.001),
		"Cross entropy and cosine are sensitive to the mapping function", "the least loss of a wrong ranking of two documents is %.4f to %.4f and %.4f to %.4f, by mapping",
		netLeast, netMost, cosineLeast, cosineMost).Rule = "ranges of more than 0.01 and 0.001"
	r.stated(holdsIf(every(func(f *soundFinding) bool { return f.misplaced == 0 })),
		"All three losses are order sensitive, the theorem's condition", "no other order of the same scores had a lower loss than the right one in %d draws each", s.draws)
	s.smoothNotes(r, every)
}

// soundest returns the verdict on the claim that the likelihood is the best surrogate. It compares
// the largest share of inverted pairs (soundFinding.inverted) over the list lengths: the
// likelihood's with the best other loss's. The claim failed if a wider gap raises the likelihood
// loss (soundFinding.widened), or if the infimum of this loss over wrong rankings is not log 2.
// Otherwise, let noise be two standard errors of the difference. The claim held if the likelihood's
// share is lower by more than noise, and held in part if the difference is within noise. It is
// mixed if the share is higher by more than noise.
func soundest(findings []soundFinding, draws int) FindVerdict {
	widened, inverted := 0.0, 0.0
	for _, f := range findings {
		switch {
		case f.family != listMLEFamily:
		case math.Abs(f.wrong-math.Ln2) > 1e-6:
			return ClaimFailed
		default:
			widened, inverted = max(widened, f.widened), max(inverted, f.inverted)
		}
	}
	if widened > 0 {
		return ClaimFailed
	}
	other := bestOther(findings, func(f *soundFinding) float64 { return f.inverted })
	noise := 2 * math.Sqrt((float64(inverted*(1-inverted))+float64(other*(1-other)))/float64(draws))
	switch {
	case inverted < other-noise:
		return ClaimHeld
	case inverted <= other+noise:
		return ClaimPartly
	}
	return ClaimMixed
}

// otherLosses returns the largest value of each loss except the likelihood, over the list lengths.
// The result is in ascending order.
func otherLosses(findings []soundFinding, value func(*soundFinding) float64) []largestOf {
	var all []largestOf
	for i := range findings {
		f := &findings[i]
		if f.family == listMLEFamily {
			continue
		}
		at := slices.IndexFunc(all, func(l largestOf) bool { return l.loss == f.name })
		if at < 0 {
			at, all = len(all), append(all, largestOf{loss: f.name, value: math.Inf(-1)})
		}
		all[at].value = max(all[at].value, value(f))
	}
	slices.SortStableFunc(all, func(a, b largestOf) int { return cmp.Compare(a.value, b.value) })
	return all
}

// largestOf is the largest value of a loss over list lengths.
type largestOf struct {
	loss  string
	value float64
}

// bestOther returns the smallest of the values of otherLosses.
func bestOther(findings []soundFinding, value func(*soundFinding) float64) float64 {
	return otherLosses(findings, value)[0].value
}

// rangeOfOthers formats the range of the values of otherLosses: "from 7.5 % (RankCosine-exp) to
// 64.8 % (ListNet-log)".
func rangeOfOthers(findings []soundFinding, value func(*soundFinding) float64) string {
	all := otherLosses(findings, value)
	least, most := all[0], all[len(all)-1]
	return fmt.Sprintf("from %s (%s) to %s (%s)", percent(least.value), least.loss, percent(most.value), most.loss)
}

// smoothNotes adds findings on continuity, differentiability and convexity.
func (s soundness) smoothNotes(r *Report, every func(func(*soundFinding) bool) bool) {
	whole := func(f *soundFinding) bool {
		return f.continuous(0) && f.continuous(1) && f.continuous(2) && f.smooth(0) && f.smooth(1) && f.smooth(2)
	}
	butZero := func(f *soundFinding) bool {
		return f.continuous(0) && f.continuous(1) && f.smooth(0) && f.smooth(1)
	}
	smooth, figure := ClaimFailed, "see the table"
	switch {
	case every(whole):
		smooth, figure = ClaimHeld, "everywhere"
	case every(func(f *soundFinding) bool { return butZero(f) && (whole(f) || f.family == rankCosineFamily) }):
		smooth, figure = ClaimPartly, "likelihood and cross entropy everywhere; the cosine has no limit at zero scores"
	}
	r.stated(smooth, "All three losses are continuous and differentiable", "%s", figure)
	r.stated(holdsIf(every(func(f *soundFinding) bool { return f.convex() == (f.family != rankCosineFamily) })),
		"Likelihood and cross entropy are convex, the cosine is not", "over %d segments each, and by the second derivatives", s.draws)
	steady := true
	for _, f := range countedForms() {
		least, most := f.perOrder()
		steady = steady && (f.slides == "" || most < 2*least)
	}
	r.stated(holdsIf(steady), "Likelihood and cosine take O(n), the cross entropy of permutations O(n·n!)",
		"operations / order are constant within a factor of 2, for the likelihood if its sums are taken from behind (as printed it is O(n²)) and its documents are sorted, once; the cross entropy of first documents, which ListNet's paper trains, is O(n)")
}

// wrongs returns the smallest and the largest infimum over wrong rankings, among the losses of a
// family on lists of two documents.
func wrongs(findings []soundFinding, family string) (least, most float64) {
	least = math.Inf(1)
	for _, f := range findings {
		if f.family == family && f.n == findings[0].n {
			least, most = min(least, f.wrong), max(most, f.wrong)
		}
	}
	return least, most
}

// leastOf returns the smallest infimum over wrong rankings, among the losses of a family on lists
// of any length.
func leastOf(findings []soundFinding, family string) float64 {
	least := math.Inf(1)
	for _, f := range findings {
		if f.family == family {
			least = min(least, f.wrong)
		}
	}
	return least
}
