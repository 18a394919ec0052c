package measure

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/listwise/listwise/dataset"
)

// parameters are the parameters that a name states in parentheses, in the notation of ir_measures:
// P(rel=2)@5, RBP(p=0.8), nDCG(dcg='exp-log2')@10, nDCG(gains={0:0,1:3})@5.
type parameters struct {
	relevant    float64 // lowest relevant grade; 0 if not stated
	persistence float64 // of rbp; 0 if not stated
	dcg         string  // a key of dcgForms; "" if not stated
	gains       *gainOf // nil if not stated
}

// dcgForms maps ir_measures' names for a gain and a discount to the gain. Both have the discount
// 1/log2(1+r).
var dcgForms = map[string]gainKind{"log2": linearGain, "exp-log2": exponentialGain}

// cutParameters removes the parameters from a name and returns both. For "P(rel=2)@5" it returns "P@5"
// and the lowest relevant grade 2. It also accepts the suffix of ranx for this grade, as in "P@5-l2".
func cutParameters(name string) (bare string, p parameters, err error) {
	before, rest, ok := strings.Cut(name, "(")
	stem := strings.TrimRight(name, "0123456789")
	if level, suffixed := strings.CutSuffix(stem, "-l"); suffixed && len(stem) < len(name) {
		if ok {
			return "", p, fmt.Errorf("found parameters and the suffix %s, expected one of them", name[len(level):])
		}
		return level, p, p.set("rel=" + name[len(stem):])
	}
	if !ok {
		return name, p, nil
	}
	end := strings.LastIndexByte(rest, ')')
	if end < 0 {
		return "", p, errors.New("found ( without ), expected a name such as p(rel=2)@5")
	}
	inside := strings.ReplaceAll(strings.ToLower(rest[:end]), " ", "")
	for _, part := range splitNames(inside) {
		if err := p.set(part); err != nil {
			return "", p, err
		}
	}
	return before + rest[end+1:], p, nil
}

// set parses a parameter of the form key=value.
func (p *parameters) set(part string) error {
	key, value, _ := strings.Cut(part, "=")
	var err error
	switch key {
	case "rel":
		if p.relevant, err = strconv.ParseFloat(value, 64); err != nil || CheckThreshold(p.relevant) != nil {
			return fmt.Errorf("found (%s), expected a positive number as the lowest relevant grade", part)
		}
	case "p":
		if p.persistence, err = strconv.ParseFloat(value, 64); err != nil || !(p.persistence > 0 && p.persistence < 1) {
			return fmt.Errorf("found (%s), expected a number between 0 and 1 as the persistence", part)
		}
	case "dcg":
		p.dcg = strings.Trim(value, "'\"")
		if _, known := dcgForms[p.dcg]; !known {
			return fmt.Errorf("found (%s), expected log2 (the gain is the grade) or exp-log2 (2^grade-1)", part)
		}
	case "gains":
		p.gains, err = parseGains(value)
	case "judged_only":
		return fmt.Errorf("found (%s), expected no such parameter: documents without judgement keep their ranks", part)
	default:
		return fmt.Errorf("found (%s), expected (rel=GRADE), the lowest relevant grade; rbp has (p=PERSISTENCE), ndcg and dcg have (dcg=log2), (dcg=exp-log2) and (gains={GRADE:GAIN,…})", part)
	}
	return err
}

// check returns an error for parameters that the measure does not have.
func (p parameters) check(e entry) error {
	graded := e.name == "ndcg" || e.name == "dcg"
	switch {
	case p.persistence > 0 && e.parameter != persistence:
		return fmt.Errorf("%s has no persistence", e.name)
	case (p.dcg != "" || p.gains != nil) && !graded:
		return fmt.Errorf("%s has no gains: only ndcg and dcg have", e.name)
	case p.dcg != "" && p.gains != nil:
		return errors.New("found both dcg and gains, expected one of them")
	}
	return nil
}

// text returns the parameters in the form in which the measure's name states them. It excludes the
// persistence, which the name states after an @.
func (p parameters) text() string {
	switch {
	case p.relevant > 0:
		return "(rel=" + strconv.FormatFloat(p.relevant, 'g', -1, 64) + ")"
	case p.dcg != "":
		return "(dcg=" + p.dcg + ")"
	case p.gains != nil:
		return "(gains=" + p.gains.text + ")"
	}
	return ""
}

// gainOf maps grades to gains. Equal maps have the same pointer, so that measures can be compared with
// ==.
type gainOf struct {
	text string
	of   map[float64]float64
}

var knownGains sync.Map // gainOf by text

// parseGains parses {GRADE:GAIN,…}.
func parseGains(value string) (*gainOf, error) {
	inside, open := strings.CutPrefix(value, "{")
	inside, closed := strings.CutSuffix(inside, "}")
	fault := fmt.Errorf("found (gains=%s), expected gains={GRADE:GAIN,…} of finite numbers that are not negative", value)
	if !open || !closed {
		return nil, fault
	}
	g := &gainOf{of: make(map[float64]float64)}
	for part := range strings.SplitSeq(inside, ",") {
		grade, gain, _ := strings.Cut(part, ":")
		from, err := strconv.ParseFloat(grade, 64)
		to, err2 := strconv.ParseFloat(gain, 64)
		_, twice := g.of[from]
		if err != nil || err2 != nil || !(from >= 0 && to >= 0 && from <= largestGrade && to <= 1e100) || twice {
			return nil, fault
		}
		g.of[from+0] = to + 0
	}
	var b strings.Builder
	for _, grade := range slices.Sorted(maps.Keys(g.of)) {
		fmt.Fprintf(&b, ",%s:%s", strconv.FormatFloat(grade, 'g', -1, 64), strconv.FormatFloat(g.of[grade], 'g', -1, 64))
	}
	g.text = "{" + b.String()[1:] + "}"
	known, _ := knownGains.LoadOrStore(g.text, g)
	return known.(*gainOf), nil
}

// gained is NDCG or DCG with gains stated in the name. It passes the gains to the inner measure in
// place of the grades.
type gained struct {
	base
	inner Averager // has the linear gain
	gains *gainOf
}

// Value implements Measure.
func (m gained) Value(ranked []float64) (float64, bool) { return m.inner.Value(m.mapped(ranked)) }

// Average implements Averager.
func (m gained) Average(ranked []float64, ends []int) (float64, bool) {
	return m.inner.Average(m.mapped(ranked), ends)
}

// mapped returns the gains of the grades. A grade without a stated gain has itself as its gain. An
// unjudged document has the gain 0.
func (m gained) mapped(grades []float64) []float64 {
	gains := make([]float64, len(grades))
	for i, g := range grades {
		gain, stated := m.gains.of[g]
		switch {
		case dataset.IsUnjudged(g):
		case stated:
			gains[i] = gain
		default:
			gains[i] = g
		}
	}
	return gains
}

// splitNames splits a list at the commas outside brackets.
func splitNames(names string) []string {
	var parts []string
	start, depth := 0, 0
	for i, c := range names {
		switch {
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			depth--
		case c == ',' && depth <= 0:
			parts = append(parts, names[start:i])
			start = i + 1
		}
	}
	return append(parts, names[start:])
}

// StatesRelevance reports whether a measure's name states the lowest relevant grade. The convention's
// threshold then has no effect on the measure.
func StatesRelevance(m Measure) bool {
	b, ok := m.(interface{ described() base })
	return ok && strings.Contains(b.described().name, "(rel=")
}
