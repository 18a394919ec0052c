package transform

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
)

// Spec describes a step to be learned, for some or all features. [ParseSpec] makes it. It is immutable.
type Spec struct {
	step      string   // name of the step
	low, high bound    // bounds of clip
	by        string   // value of fill: byMean, byMedian or byNumber
	value     float64  // number of fill
	columns   []string // names of features, numbers from 1, and ranges of numbers; nil for all
}

// bound is a number, a quantile of the training data, or absent.
type bound struct {
	kind  boundKind
	value float64 // number, or quantile in percent
}

type boundKind uint8

const (
	noBound boundKind = iota
	atNumber
	atQuantile
)

const (
	byMean   = "mean"
	byMedian = "median"
	byNumber = "number"
)

// stepNames are the names of steps that ParseSpec accepts.
var stepNames = []string{Clip{}.Name(), Log1p{}.Name(), Standard{}.Name(), Fill{}.Name()}

// ParseSpec parses a step and the features to which it applies:
//
//	clip=LOW:HIGH    bounds: each is a number, a quantile of the training data (1%), or empty
//	log1p
//	standard         by the mean and the standard deviation of the training documents
//	fill=mean        replaces missing values by the mean of the training documents, by their
//	                 median (fill=median) or by a number (fill=0)
//
// A colon and a list of features may follow. Elements of the list are separated by commas. They are names,
// numbers from 1, or ranges such as 3..7. Without a list, the step applies to all features.
func ParseSpec(text string) (Spec, error) {
	end := strings.IndexAny(text, "=:")
	if end < 0 {
		end = len(text)
	}
	s := Spec{step: text[:end]}
	if !slices.Contains(stepNames, s.step) {
		return s, fmt.Errorf("found the step %q%s", s.step, suggest.Or(s.step, stepNames, ", expected "+suggest.OneOf(stepNames)))
	}
	setting, rest := "", text[end:]
	if given, ok := strings.CutPrefix(rest, "="); ok {
		parts, most := strings.Split(given, ":"), 1
		if s.step == (Clip{}).Name() {
			most = 2
		}
		n := min(most, len(parts))
		setting, rest = strings.Join(parts[:n], ":"), strings.Join(append([]string{""}, parts[n:]...), ":")
	}
	if err := s.set(setting); err != nil {
		return s, fmt.Errorf("%s: %w", s.step, err)
	}
	if list, ok := strings.CutPrefix(rest, ":"); ok {
		for _, c := range strings.Split(list, ",") {
			if s.columns = append(s.columns, strings.TrimSpace(c)); strings.TrimSpace(c) == "" {
				return s, fmt.Errorf("%s: found no feature in %q, expected names or numbers of features, separated by commas", s.step, list)
			}
		}
	}
	return s, nil
}

// set parses the setting after the step's name and "=".
func (s *Spec) set(setting string) (err error) {
	switch s.step {
	case Clip{}.Name():
		low, high, two := strings.Cut(setting, ":")
		if !two {
			return fmt.Errorf("found %q, expected =LOW:HIGH, as in clip=0%%:99%% or clip=0:1000", setting)
		}
		if s.low, err = parseBound(low); err == nil {
			s.high, err = parseBound(high)
		}
		switch {
		case err != nil:
			return err
		case s.low.kind == noBound && s.high.kind == noBound:
			return fmt.Errorf("found no bound, expected at least one, as in clip=:1000")
		case s.low.kind == s.high.kind && s.low.value > s.high.value:
			return fmt.Errorf("found the bounds %s, expected the lower one first", setting)
		}
	case Fill{}.Name():
		if s.by = setting; s.by == byMean || s.by == byMedian {
			return nil
		}
		if s.value, err = strconv.ParseFloat(setting, 64); err == nil {
			err = checkSingle("value", s.value)
		}
		if s.by = byNumber; err != nil {
			return fmt.Errorf("found %q, expected =mean, =median or a number", setting)
		}
	default:
		if setting != "" {
			return fmt.Errorf("found =%s, expected no setting", setting)
		}
	}
	return nil
}

func parseBound(text string) (bound, error) {
	if text == "" {
		return bound{}, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent && err == nil && v >= 0 && v <= 100 {
		return bound{atQuantile, v}, nil
	}
	if percent || err != nil || checkSingle("bound", v) != nil {
		return bound{}, fmt.Errorf("found the bound %q, expected a number or a quantile from 0%% to 100%%", text)
	}
	return bound{atNumber, v}, nil
}

// String returns the text that ParseSpec reads.
func (s Spec) String() string {
	text := s.step
	switch s.step {
	case Clip{}.Name():
		text += "=" + s.low.String() + ":" + s.high.String()
	case Fill{}.Name():
		if text += "=" + s.by; s.by == byNumber {
			text = s.step + "=" + strconv.FormatFloat(s.value, 'g', -1, 64)
		}
	}
	if s.columns != nil {
		text += ":" + strings.Join(s.columns, ",")
	}
	return text
}

// String returns the text of a bound.
func (b bound) String() string {
	switch b.kind {
	case atNumber:
		return strconv.FormatFloat(b.value, 'g', -1, 64)
	case atQuantile:
		return strconv.FormatFloat(b.value, 'g', -1, 64) + "%"
	}
	return ""
}

// features reports for each feature whether the step applies to it. names may be nil.
func (s Spec) features(count int, names []string) ([]bool, error) {
	in := make([]bool, count)
	if s.columns == nil {
		for j := range in {
			in[j] = true
		}
		return in, nil
	}
	for _, c := range s.columns {
		from, to, err := columnsOf(c, count, names)
		if err != nil {
			return nil, err
		}
		for j := from; j <= to; j++ {
			if in[j] {
				return nil, fmt.Errorf("found feature %d twice", j+1)
			}
			in[j] = true
		}
	}
	return in, nil
}

// columnsOf returns the first and the last feature, from 0, of a name, a number or a range.
func columnsOf(c string, count int, names []string) (from, to int, err error) {
	if j := slices.Index(names, c); j >= 0 {
		return j, j, nil
	}
	low, high, isRange := strings.Cut(c, "..")
	if !isRange {
		high = low
	}
	from, errFrom := strconv.Atoi(low)
	to, errTo := strconv.Atoi(high)
	switch {
	case errFrom == nil && errTo == nil && from >= 1 && from <= to && to <= count:
		return from - 1, to - 1, nil
	case names == nil:
		return 0, 0, fmt.Errorf("found feature %q, expected a number from 1 to %d: the data have no names of features", c, count)
	}
	return 0, 0, fmt.Errorf("found no feature %q%s", c, suggest.Or(c, names, fmt.Sprintf(", expected one of the data's names or a number from 1 to %d", count)))
}

// Texts returns the texts of specs.
func Texts(specs []Spec) []string {
	texts := make([]string, len(specs))
	for i, s := range specs {
		texts[i] = s.String()
	}
	return texts
}

// among returns the position of a quantile among n sorted values. It is the rank, from 0, plus the fraction
// part.
func (b bound) among(n int) (rank int, part float64) {
	at := float64(b.value / 100 * float64(n-1))
	whole := math.Floor(at)
	return int(whole), at - whole
}
