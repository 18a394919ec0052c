package measure

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Options are the settings of measures that are not part of their names. The
// zero value asks for the defaults.
type Options struct {
	// MaxGrade is the highest grade that ERR assumes, judged or not; 0 means 4, the scale of
	// the web tracks of TREC, of Yahoo's challenge and of MSLR.
	MaxGrade float64
}

// Info describes a measure for help texts.
type Info struct {
	Pattern     string // its name, with K for a cutoff and [ ] around what may be left out
	Explanation string // one line
	Source      string // who defined it, where
}

// parameter is what may follow the @ of a name.
type parameter uint8

const (
	noParameter parameter = iota
	optionalCutoff
	requiredCutoff
	persistence
)

// entry is a measure's line of the registry.
type entry struct {
	name        string
	parameter   parameter
	build       func(spec) Averager
	explanation string
	source      string
}

// spec is a parsed name with everything a measure may need.
type spec struct {
	name        string
	family      string // name without its parameter
	convention  Convention
	k           int     // cutoff; 0 for none
	relevant    float64 // the lowest relevant grade that the name states; 0 for the convention's
	persistence float64
	gains       *gainOf // that the name states; nil for the convention's
	maxGrade    float64
}

var registry = []entry{
	{"map", optionalCutoff, newAP, "average precision: the mean of the precisions at the ranks of the relevant documents, 0 beyond rank K", "Buckley and Voorhees 2005"},
	{"ap", optionalCutoff, newAP, "another name of map", "Buckley and Voorhees 2005"},
	{"ndcg", optionalCutoff, newNDCG, "discounted cumulative gain of the first K documents relative to the best possible", "Järvelin and Kekäläinen 2002; gain of Burges et al. 2005"},
	{"mean-ndcg", noParameter, newMeanNDCG, "mean of NDCG@1, NDCG@2, … up to the number of documents", "LETOR 4.0"},
	{"dcg", optionalCutoff, newDCG, "discounted cumulative gain of the first K documents, not normalised", "Järvelin and Kekäläinen 2002"},
	{"p", requiredCutoff, newPrecision, "precision: the share of relevant documents among the first K ranks", "LETOR 3.0; trec_eval"},
	{"r", requiredCutoff, newRecall, "recall: the share of all relevant documents that is among the first K", "trec_eval"},
	{"rprec", noParameter, newRPrec, "R-precision: the share of relevant documents among as many as there are relevant ones", "trec_eval"},
	{"success", requiredCutoff, newSuccess, "1 if a relevant document is among the first K", "trec_eval"},
	{"mrr", optionalCutoff, newMRR, "one over the rank of the first relevant document, 0 beyond rank K", "Voorhees 1999"},
	{"wta", noParameter, newWTA, "winner takes all: 1 if the first document is relevant", "Burges, Ragno and Le 2006"},
	{"pairs", noParameter, newPairs, "share of the pairs of differently graded documents that stand in the right order", "Burges, Ragno and Le 2006"},
	{"exact-match", noParameter, newExactMatch, "1 if no document is above one of a higher grade: one less the 0–1 loss of permutations", "Xia et al. 2008"},
	{"auc", noParameter, newAUC, "share of the pairs of a relevant and an irrelevant document that stand in the right order", "Hanley and McNeil 1982"},
	{"bpref", noParameter, newBPref, "share of the preferences of relevant over the first irrelevant documents that are kept", "Buckley and Voorhees 2004; trec_eval"},
	{"err", optionalCutoff, newERR, "expected reciprocal rank at which a reader who stops when satisfied stops, by rank K", "Chapelle et al. 2009"},
	{"judged", optionalCutoff, newJudged, "share of the first K documents that were judged; of runs, for all others are", "ir_measures"},
	{"rbp", persistence, newRBP, "rank-biased precision of a reader who goes on to the next rank with probability P (0.8 if not given)", "Moffat and Zobel 2008"},
}

// List describes every measure that Parse accepts, in the order of help texts.
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

// Parse returns the measure of the given name ("map", "ndcg@10", "rbp@0.95", in any case, or an
// alias, see [Aliases]) under a convention. A measure of binary relevance may state the lowest
// relevant grade, as in "map(rel=2)" or "p(rel=2)@5". It overrides the convention. NDCG and DCG may
// state the gain of a grade, as in "ndcg(dcg=exp-log2)@10" or "ndcg(gains={0:0,1:3})@5". The error
// for an unknown name or a wrong parameter names the valid ones.
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
		s.family += "(gains)" // so that nobody takes the convention's gains for its own
		return gained{newBase(s), inner, s.gains}, nil
	}
	m := e.build(s)
	if _, asks := RelevanceOf(m); relevant > 0 && !asks {
		return nil, fmt.Errorf("measure %q: %s has no lowest relevant grade, for it takes all grades as they are", name, e.name)
	}
	return m, nil
}

// MustParse is Parse without options, for constant names. It panics if the name is not known.
func MustParse(name string, c Convention) Averager {
	m, err := Parse(name, c, Options{})
	if err != nil {
		panic(err)
	}
	return m
}

// ParseList parses measures separated by commas; commas within parentheses do not separate. It
// returns an error for an empty list or a measure named twice.
func ParseList(names string, c Convention, o Options) ([]Measure, error) {
	var list []Measure
	seen := make(map[string]string) // as given
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

// namesIn splits a list of names. "ndcg_cut.5,10" is trec_eval's way to write two.
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

// setParameter reads what follows the @, if anything does, and completes the
// name so that equal measures have equal names.
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
