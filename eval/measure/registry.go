package measure

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Options are the settings of measures that are not part of their names. The zero value selects the
// defaults.
type Options struct {
	// MaxGrade is the highest grade of ERR's scale. It need not occur in the data. 0 means 4, the
	// highest grade in the web tracks of TREC, in Yahoo's challenge and in MSLR.
	MaxGrade float64
}

// Info describes a measure for help texts.
type Info struct {
	Pattern     string // name, with K for a cutoff and [ ] around optional parts
	Explanation string // definition in one line
	Source      string // publication or program that defines the measure
}

// parameter is the kind of parameter after the @ of a name.
type parameter uint8

const (
	noParameter parameter = iota
	optionalCutoff
	requiredCutoff
	persistence
)

// entry describes a measure in the registry.
type entry struct {
	name        string
	parameter   parameter
	build       func(spec) Averager
	explanation string
	source      string
}

// spec is a parsed name with all settings of the measure.
type spec struct {
	name        string
	family      string // name without its parameter
	convention  Convention
	k           int     // cutoff; 0 for none
	relevant    float64 // lowest relevant grade stated in the name; 0 for the convention's
	persistence float64
	gains       *gainOf // gains stated in the name; nil for the convention's
	maxGrade    float64
}

var registry = []entry{
	{"map", optionalCutoff, newAP, "average precision: mean of the precision at the rank of each relevant document, 0 beyond rank K", "Buckley and Voorhees 2005"},
	{"ap", optionalCutoff, newAP, "another name for map", "Buckley and Voorhees 2005"},
	{"ndcg", optionalCutoff, newNDCG, "discounted cumulative gain of the first K documents, divided by the best possible", "Järvelin and Kekäläinen 2002; gain of Burges et al. 2005"},
	{"mean-ndcg", noParameter, newMeanNDCG, "mean of NDCG@k for k from 1 to the number of documents", "LETOR 4.0"},
	{"dcg", optionalCutoff, newDCG, "discounted cumulative gain of the first K documents, not normalised", "Järvelin and Kekäläinen 2002"},
	{"p", requiredCutoff, newPrecision, "precision: relevant documents among the first K, divided by K", "LETOR 3.0; trec_eval"},
	{"r", requiredCutoff, newRecall, "recall: relevant documents among the first K, divided by all relevant documents", "trec_eval"},
	{"rprec", noParameter, newRPrec, "R-precision: precision at rank R for a query with R relevant documents", "trec_eval"},
	{"success", requiredCutoff, newSuccess, "1 if a relevant document is among the first K", "trec_eval"},
	{"mrr", optionalCutoff, newMRR, "reciprocal rank of the first relevant document, 0 beyond rank K", "Voorhees 1999"},
	{"wta", noParameter, newWTA, "winner takes all: 1 if the first document is relevant", "Burges, Ragno and Le 2006"},
	{"pairs", noParameter, newPairs, "share of pairs of documents with different grades that are in the right order", "Burges, Ragno and Le 2006"},
	{"exact-match", noParameter, newExactMatch, "1 if no document is above one with a higher grade (1 minus the permutation 0–1 loss)", "Xia et al. 2008"},
	{"auc", noParameter, newAUC, "share of pairs of a relevant and an irrelevant document that are in the right order", "Hanley and McNeil 1982"},
	{"bpref", noParameter, newBPref, "binary preference: how rarely judged irrelevant documents rank above relevant ones", "Buckley and Voorhees 2004; trec_eval"},
	{"err", optionalCutoff, newERR, "expected reciprocal rank of the document that satisfies the user, up to rank K", "Chapelle et al. 2009"},
	{"judged", optionalCutoff, newJudged, "share of judged documents among the first K, for runs with unjudged documents", "ir_measures"},
	{"rbp", persistence, newRBP, "rank-biased precision: users continue to the next rank with probability P (default 0.8)", "Moffat and Zobel 2008"},
}

// List describes all measures that Parse accepts, in the order of help texts.
func List() []Info {
	list := make([]Info, len(registry))
	for i, e := range registry {
		list[i] = Info{Pattern: e.pattern(), Explanation: e.explanation, Source: e.source}
	}
	return list
}

func (e entry) pattern() string {
	switch e.parameter {
	case optionalCutoff:
		return e.name + "[@K]"
	case requiredCutoff:
		return e.name + "@K"
	case persistence:
		return e.name + "[@P]"
	case noParameter:
	}
	return e.name
}

// Parse returns the measure with the given name under a convention. A name such as "map", "ndcg@10" or
// "rbp@0.95" may be in upper or lower case, and may be one of [Aliases]. [List] describes all measures.
//
// The name of a measure of binary relevance may state the lowest relevant grade, as in "map(rel=2)" or
// "p(rel=2)@5". It overrides the convention. The name of NDCG or DCG may state the gains, as in
// "ndcg(dcg=exp-log2)@10" or "ndcg(gains={0:0,1:3})@5". The error for an unknown name or an invalid
// parameter lists the valid ones.
func Parse(name string, c Convention, o Options) (Averager, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	bare, stated, err := cutParameters(name)
	if err != nil {
		return nil, fmt.Errorf("measure %q: %w", name, err)
	}
	canonical := canonicalName(bare)
	if strings.Contains(canonical, "(") { // an alias that states gains
		if stated.text() != "" {
			return nil, fmt.Errorf("measure %q: found parameters of a name that is short for %s, expected none", name, canonical)
		}
		if canonical, stated, err = cutParameters(canonical); err != nil {
			return nil, fmt.Errorf("measure %q: %w", name, err)
		}
	}
	base, value, has := strings.Cut(canonical, "@")
	e, ok := lookUp(base)
	if !ok {
		return nil, unknown(bare)
	}
	relevant := stated.relevant
	s := spec{
		name: e.name + stated.text(), family: e.name, convention: c.named(), persistence: 0.8, maxGrade: o.MaxGrade, relevant: relevant, gains: stated.gains,
	}
	if s.maxGrade == 0 {
		s.maxGrade = 4
	}
	if err := stated.check(e); err != nil {
		return nil, fmt.Errorf("measure %q: %w", name, err)
	}
	if stated.persistence > 0 {
		if has {
			return nil, fmt.Errorf("measure %q: found both p and @, expected one of them: %s has no cut-off, and a number behind @ is its persistence", name, e.name)
		}
		value, has = strconv.FormatFloat(stated.persistence, 'g', -1, 64), true
	}
	if err := s.setParameter(e, value, has); err != nil {
		return nil, fmt.Errorf("measure %q: %w", name, err)
	}
	switch {
	case stated.dcg != "":
		s.convention.gain, s.convention.discount = dcgForms[stated.dcg], logDiscount
	case stated.gains != nil:
		s.convention.gain = linearGain
		inner := e.build(s)
		s.family += "(gains)" // so that no other code uses the convention's gains for this measure
		return gained{newBase(s), inner, s.gains}, nil
	}
	m := e.build(s)
	if _, asks := RelevanceOf(m); relevant > 0 && !asks {
		return nil, fmt.Errorf("measure %q: %s has no lowest relevant grade, for it takes all grades as they are", name, e.name)
	}
	return m, nil
}

// MustParse is Parse with default options, for constant names. It panics if Parse returns an error.
func MustParse(name string, c Convention) Averager {
	m, err := Parse(name, c, Options{})
	if err != nil {
		panic(err)
	}
	return m
}

// ParseList parses measures separated by commas. Commas within brackets do not separate measures.
// ParseList returns an error for an empty list, and if two names mean the same measure.
func ParseList(names string, c Convention, o Options) ([]Measure, error) {
	var list []Measure
	seen := make(map[string]string) // names as given, by the measure's name
	for _, name := range namesIn(names) {
		if strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("measures %q: a name is missing; known are %s", names, patterns())
		}
		m, err := Parse(name, c, o)
		if err != nil {
			return nil, err
		}
		name = strings.TrimSpace(name)
		if first, twice := seen[m.Name()]; twice {
			as := ""
			if first != m.Name() || name != first {
				as = fmt.Sprintf(", as %q and %q", first, name)
			}
			return nil, fmt.Errorf("measures %q: %s is named twice%s", names, m.Name(), as)
		}
		seen[m.Name()] = name
		list = append(list, m)
	}
	return list, nil
}

// namesIn splits a list of names. It expands "ndcg_cut.5,10", by which trec_eval means two measures.
func namesIn(list string) []string {
	names := splitNames(list)
	for i := 1; i < len(names); i++ {
		if more := strings.TrimSpace(names[i]); more != "" && strings.Trim(more, "0123456789") == "" {
			if stem := strings.TrimRight(strings.TrimSpace(names[i-1]), "0123456789"); strings.HasSuffix(stem, ".") {
				names[i] = stem + more
			}
		}
	}
	return names
}

func (o Options) check() error {
	if !(o.MaxGrade >= 0) || math.IsInf(o.MaxGrade, 1) {
		return fmt.Errorf("highest grade %v: expected a positive number", o.MaxGrade)
	}
	return nil
}

func lookUp(name string) (entry, bool) {
	for _, e := range registry {
		if e.name == name {
			return e, true
		}
	}
	return entry{}, false
}

func patterns() string {
	p := make([]string, len(registry))
	for i, e := range registry {
		p[i] = e.pattern()
	}
	return strings.Join(p, ", ")
}

// setParameter parses the parameter after the @, if any. It completes the measure's name, so that equal
// measures have equal names.
func (s *spec) setParameter(e entry, value string, has bool) error {
	switch {
	case e.parameter == noParameter && has:
		return fmt.Errorf("%s has no cut-off or other parameter", e.name)
	case e.parameter == requiredCutoff && !has:
		return fmt.Errorf("a cut-off is missing, as in %s@10", e.name)
	case !has:
		return nil
	case e.parameter == persistence:
		p, err := strconv.ParseFloat(value, 64)
		if err != nil || !(p > 0 && p < 1) {
			return fmt.Errorf("persistence %q: expected a number between 0 and 1, as in %s@0.8", value, e.name)
		}
		s.persistence = p
		s.name += "@" + strconv.FormatFloat(p, 'g', -1, 64)
		return nil
	}
	k, err := strconv.ParseUint(value, 10, 31)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("cut-off %s is too large: expected a whole number from 1 to %d", value, math.MaxInt32)
	case err != nil || k == 0:
		return fmt.Errorf("cut-off %q: expected a whole number from 1 on, as in %s@10", value, e.name)
	}
	s.k = int(k)
	s.name += "@" + strconv.Itoa(s.k)
	return nil
}
