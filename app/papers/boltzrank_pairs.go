package papers

import (
	"fmt"
	"math"
	"strconv"

	"github.com/listwise/listwise/internal/svg"
	"github.com/listwise/listwise/model/scorer"
)

// pairWeights shows what the pairwise potentials of rows of pair networks learn, as the last
// slide does: the weights on the features of one document against those on the same features
// of the other.
type pairWeights struct{ rows []string }

// pairPotential is ϕ of one fold's model.
type pairPotential struct {
	fold string
	seed int

	// Weights by unit, then feature: on the document that is scored and on the other. The units'
	// signs are such that their outputs count positively, which changes nothing, since tanh is odd.
	self, other []float64
	out         []float64 // by unit
	features    int
}

// potentials returns those of a row's chosen models, seed by seed.
func potentials(s *results, c *column, row string) []pairPotential {
	at := s.rowNamed(row)
	if at < 0 {
		return nil
	}
	var all []pairPotential
	for k, tuned := range c.rows[at] {
		for i := range tuned.Folds {
			m := tuned.Folds[i].Model
			network, ok := m.Scorer.(scorer.PairNetwork)
			if !ok || network.Activation != scorer.Tanh {
				continue
			}
			all = append(all, newPairPotential(network, m.Params, tuned.Folds[i].Fold, k+1))
		}
	}
	return all
}

func newPairPotential(n scorer.PairNetwork, params []float64, fold string, seed int) pairPotential {
	p := pairPotential{fold: fold, seed: seed, features: n.Features}
	self, other, _, out := n.PairWeights(params)
	for t, u := range out {
		sign := math.Copysign(1, u)
		for f := range n.Features {
			p.self = append(p.self, sign*self[t*n.Features+f])
			p.other = append(p.other, sign*other[t*n.Features+f])
		}
		p.out = append(p.out, math.Abs(u))
	}
	return p
}

// slopes are the derivatives of ϕ by the features of the two documents where its units are at
// 0, which are what a linear ϕ would have.
func (p *pairPotential) slopes() (self, other []float64) {
	self, other = make([]float64, p.features), make([]float64, p.features)
	for t, u := range p.out {
		for f := range p.features {
			self[f] += float64(u * p.self[t*p.features+f])
			other[f] += float64(u * p.other[t*p.features+f])
		}
	}
	return self, other
}

// rms is the root of the mean square.
func rms(x []float64) float64 { return norm(x) / math.Sqrt(float64(len(x))) }

func (w pairWeights) add(s *results, r *Report) {
	t := Table{Left: 3, Columns: []string{"data", "method", "fold", "models", "correlation", "own, rms", "other's, rms", "of slopes", "own, rms", "other's, rms"},
		Title: "what the pairwise potential learns: weights on the document's own features against those on the other's, means over seeds; slopes are those of ϕ"}
	sheet := Sheet{Name: "pairs", Columns: []string{"data", "method", "fold", "seed", "feature", "slope_own", "slope_other", "weights_own_rms", "weights_other_rms", "weights_correlation"}}
	for _, c := range s.columns {
		for k, row := range w.rows {
			all := potentials(s, c, row)
			if len(all) == 0 {
				continue
			}
			for _, fold := range c.names {
				t.Rows = append(t.Rows, append([]string{c.name, row}, foldLine(all, fold)...))
			}
			for i := range all {
				sheet.Rows = append(sheet.Rows, all[i].lines(c.name, row)...)
			}
			name := "pairs"
			if k > 0 {
				name += strconv.Itoa(k + 1)
			}
			r.Plots = append(r.Plots, Plot{Name: name, Plot: weightPlot(c, row, &all[0])})
			pairNotes(r, c, row, all)
		}
	}
	if t.Rows != nil {
		r.Tables, r.Sheets = append(r.Tables, t), append(r.Sheets, sheet)
	}
}

// pairFigures are a model's numbers.
type pairFigures struct{ correlation, self, other, slopes, slopeSelf, slopeOther float64 }

func (p *pairPotential) figures() pairFigures {
	self, other := p.slopes()
	return pairFigures{correlation(p.self, p.other), rms(p.self), rms(p.other), correlation(self, other), rms(self), rms(other)}
}

// foldLine are the means over the seeds of one fold.
func foldLine(all []pairPotential, fold string) []string {
	var columns [6][]float64
	for i := range all {
		if all[i].fold == fold {
			f := all[i].figures()
			for k, v := range []float64{f.correlation, f.self, f.other, f.slopes, f.slopeSelf, f.slopeOther} {
				columns[k] = append(columns[k], v)
			}
		}
	}
	line := []string{fold, strconv.Itoa(len(columns[0]))}
	for k, values := range columns {
		line = append(line, fixed(mean(values), []int{2, 3, 3, 2, 4, 4}[k]))
	}
	return line
}

// lines are those of a model in the sheet.
func (p *pairPotential) lines(set, row string) [][]any {
	self, other := p.slopes()
	f := p.figures()
	var lines [][]any
	for k := range self {
		lines = append(lines, []any{set, row, p.fold, p.seed, k + 1, self[k], other[k], f.self, f.other, f.correlation})
	}
	return lines
}

// weightPlot shows the weights of one model, as the slide does.
func weightPlot(c *column, row string, p *pairPotential) svg.Plot {
	return svg.Plot{
		Title: fmt.Sprintf("%s, %s, %s: weights of the pairs' units, feature by feature", row, c.name, p.fold),
		X:     svg.Axis{Label: "weight on the document's feature"}, Y: svg.Axis{Label: "weight on the other document's feature"},
		Series: []svg.Series{{Kind: svg.Scatter, X: p.self, Y: p.other}}, Width: 480, Height: 480,
	}
}

// pairNotes sums the models of a row up.
func pairNotes(r *Report, c *column, row string, all []pairPotential) {
	var correlations, self, other []float64
	for i := range all {
		f := all[i].figures()
		correlations, self, other = append(correlations, f.correlation), append(self, f.self), append(other, f.other)
	}
	start := 1 / math.Sqrt(6*float64(all[0].features)) // of uniform ones up to 1/√(2p)
	figure := fmt.Sprintf("correlation %.2f ± %.2f over %d models, weights %.3f on the own document's features and %.3f on the other's, where training began with %.3f and none", mean(correlations), sd(correlations), len(all), mean(self), mean(other), start)
	r.note("%s, %s: the last slide plots ϕ's weights on the two documents' features against each other. Here: %s.", c.name, row, figure)
	if c.about == "" && row == "BoltzRank2" { // the other row is a check on it
		r.found(ClaimOpen, "ϕ's weights on both documents' features have a pattern (last slide, a picture without numbers)", "%s", figure)
	}
}
