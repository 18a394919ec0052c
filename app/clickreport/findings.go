package clickreport

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/propensity"
)

const (
	// poorFit is the p-value below which a position-based model does not fit.
	poorFit = 0.01
	// fewUnits is the number of held-out units below which intervals of models are rough.
	fewUnits = 100
)

func (r *Report) find() {
	r.Findings = report.Findings{}
	r.findOdd()
	r.findClicks()
	r.findPropensities()
	r.findDisagreement()
	r.findModels()
	r.findExamples()
	r.Findings.Sort()
}

// sentence makes a sentence of a clause.
func sentence(clause string) string {
	first, size := utf8.DecodeRuneInString(clause)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(clause[size:], ".") + "."
}

func (r *Report) findOdd() {
	i := r.Info
	for _, odd := range i.Odd {
		level := report.Look
		if i.Clicks == 0 {
			level = report.Problem
		}
		r.Findings.Say(level, "%s", sentence(odd))
	}
	if i.Unit == "page" {
		r.Findings.Say(report.Look, "Pages name no users, so intervals take pages as independent. Users with several pages make them too narrow.")
	}
	if i.Propensity+i.Propensities+i.Orders == 0 {
		r.Findings.Say(report.Note, "No page has the probability of its ranking (propensity, propensities, orders), so the log alone cannot weight pages for the evaluation of other rankings.")
	}
}

func (r *Report) findClicks() {
	i := r.Info
	if len(i.ByClicks) > 0 && i.Clicks > 0 {
		counted := 0
		for _, n := range i.ByClicks {
			counted += n
		}
		r.Findings.Say(report.Note, "%s %% of the pages have no click.", percent(float64(i.ByClicks[0])/float64(counted)))
	}
	if i.Back > 0 {
		r.Findings.Say(report.Note, "%s %% of the pages with the order of clicks have a click above an earlier one. Click models read pages from top to bottom.", percent(float64(i.Back)/float64(i.Ordered)))
	}
	if n := len(i.Ranks); n > 1 && i.Ranks[n-1].Rate > 0 && i.Ranks[n-1].High < i.Ranks[0].Low {
		first, last := i.Ranks[0], i.Ranks[n-1]
		r.Findings.Say(report.Note, "The click rate falls from %s at rank 1 to %s at rank %d. This mixes position and relevance.", brief(first.Rate), brief(last.Rate), last.Rank)
	}
}

// findPropensities says which methods tell propensities.
func (r *Report) findPropensities() {
	told := false
	for _, c := range r.Propensities {
		e := c.Estimate
		if e == nil || !intervenes(c.Method) {
			continue
		}
		told = true
		last := &e.Slots[len(e.Slots)-1]
		r.Findings.Say(report.Note, "%s tells the propensities of %d of %d slots. That of slot %s, relative to slot %s, is %s%s.", sentenceStart(c.Method), len(e.Slots), r.Info.Slots, last.Slot, e.Slots[0].Slot, brief(last.Theta), interval(last.Low, last.High, " (interval ", ")"))
		if i := r.Info; c.Method == propensity.Harvest && len(i.Arms) < 2 && i.Shuffled+i.Swapped+i.FairPairs == 0 {
			r.Findings.Say(report.Look, "Harvested propensities assume that chance changed the rankings. The log names no arms, so it does not tell why documents moved.")
		}
		if k := e.Check; k != nil && k.P < poorFit {
			r.Findings.Say(report.Look, "A position-based model does not fit: the clicks on documents seen in slots %s and %s differ from the propensities by %s standard errors.", k.Slots[0], k.Slots[1], brief(math.Abs(k.Z)))
		}
	}
	if !told && len(r.Propensities) > 0 {
		r.Findings.Say(report.Look, "The log cannot tell position from relevance: no method can compare the same documents in different slots. Propensities by em rest on assumptions of a model.")
	}
}

func sentenceStart(m propensity.Method) string { return sentence(string(m))[:len(m)] }

// compareMethods finds where methods differ. EM is compared with one other method.
func (l *Log) compareMethods(ctx context.Context, r *Report) error {
	for i, a := range r.Propensities {
		told := false
		for _, b := range r.Propensities[:i] {
			if a.Estimate == nil || b.Estimate == nil || told && !intervenes(a.Method) {
				continue
			}
			told = true
			d, err := l.propensities.Differs(ctx, b.Estimate, a.Estimate)
			if err != nil {
				return err
			}
			if d != nil {
				r.differences = append(r.differences, difference{b.Method, a.Method, d})
			}
		}
	}
	return nil
}

// difference is between the propensities by two methods.
type difference struct {
	a, b propensity.Method
	*propensity.Difference
}

func (r *Report) findDisagreement() {
	for _, d := range r.differences {
		beyond := ""
		if d.b == propensity.EM {
			beyond = " beyond the bias of em"
		}
		r.Findings.Say(report.Look, "The propensities by %s and %s disagree. In slot %s they are %s and %s, %s standard errors apart%s: clicks do not follow a position-based model, or what moved documents has to do with relevance.", d.a, d.b, d.Slot, brief(d.A), brief(d.B), brief(math.Abs(d.Z)), beyond)
	}
}

func (r *Report) findModels() {
	m := r.Models
	if m == nil {
		return
	}
	if m.why != "" {
		r.Findings.Say(report.Look, "Click models were not measured: %s.", strings.TrimSuffix(m.why, "."))
		return
	}
	if m.LeftOut > 0 {
		r.Findings.Say(report.Look, "%d held-out pages have slots or ranks that a model does not have (%s) and were left out.", m.LeftOut, report.Names(m.Unknown))
	}
	if m.Units < fewUnits {
		r.Findings.Say(report.Look, "Only %d units are held out, so the intervals of click models are rough.", m.Units)
	}
	best := m.Models[m.best].Measures
	r.Findings.Say(report.Note, "%s predicts the clicks of held-out pages best, by log-likelihood: %s%s. Its perplexity is %s.", m.Best, short(*best.LogLikelihood.Value), interval(best.LogLikelihood.Low, best.LogLikelihood.High, " (interval ", ")"), short(*best.Perplexity.Value))
	var equal []string
	for i := range m.Models {
		if less := m.Models[i].Measures.Less; i != m.best && less.High != nil && *less.High >= 0 {
			equal = append(equal, m.Models[i].Model)
		}
	}
	if len(equal) > 0 {
		r.Findings.Say(report.Note, "The log-likelihood of %s does not differ significantly from that of %s.", report.Names(equal), m.Best)
	}
	pbm := slices.IndexFunc(m.Models, func(f Fit) bool { return f.Model == "pbm" })
	if pbm >= 0 && slices.Contains([]string{"ubm", "dbn", "ccm", "sdbn", "dcm"}, m.Best) {
		if less := m.Models[pbm].Measures.Less; less.High != nil && *less.High < 0 {
			r.Findings.Say(report.Note, "Clicks depend on the clicks above: the log-likelihood of pbm, which ignores them, is lower by %s%s.", brief(-*less.Value), interval(negative(less.High), negative(less.Low), " (interval ", ")"))
		}
	}
}

func negative(v *float64) *float64 {
	n := -*v
	return &n
}

func (r *Report) findExamples() {
	e := r.Examples
	if e == nil || e.Rare == 0 {
		return
	}
	level := report.Note
	if 2*e.Rare > e.Pairs {
		level = report.Look
	}
	r.Findings.Say(level, "%d of %d pairs of query and document were shown on fewer than %d pages: their relevance is little more than the prior.", e.Rare, e.Pairs, rareBelow)
}

// short formats a measure, and brief an estimate or a rate.
func short(v float64) string { return digits(v, 4) }

func brief(v float64) string { return digits(v, 3) }

// digits formats a number with n significant digits. Whole numbers have no decimals.
func digits(v float64, n int) string {
	text := strconv.FormatFloat(v, 'e', n-1, 64)
	_, exponent, _ := strings.Cut(text, "e")
	if e, err := strconv.Atoi(exponent); err == nil && e >= -4 && e < n {
		text = strconv.FormatFloat(v, 'f', n-1-e, 64)
	}
	if v == math.Trunc(v) && math.Abs(v) < 1e6 {
		text = strconv.Itoa(int(v))
	}
	return strings.ReplaceAll(text, "-", "−")
}

func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) }

// interval returns "low to high" between two texts, or nothing without an interval.
func interval(low, high *float64, before, after string) string {
	if low == nil || high == nil || *low == *high {
		return ""
	}
	const tiny = 1e-6
	end := func(v float64) string {
		if math.Abs(v) < tiny {
			return "0"
		}
		return brief(v)
	}
	return before + end(*low) + " to " + end(*high) + after
}

// together returns the names of the arms that ran at the same time as arm i in its experiment.
func together(i *click.Info, arm int) string {
	var others []string
	for _, t := range i.Together {
		for k, one := range t {
			if other := i.Arms[t[1-k]]; one == arm {
				others = append(others, strings.TrimSpace(other.Arm+" "+other.Version))
			}
		}
	}
	return report.Names(others)
}
