package measure

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// cutRelevance takes a stated relevance out of a name: from "P(rel=2)@5" it returns "P@5"
// and 2, and 0 if nothing is stated. This is ir_measures' way to write it.
func cutRelevance(name string) (bare string, relevant float64, err error) {
	before, rest, ok := strings.Cut(name, "(")
	if !ok {
		return name, 0, nil
	}
	inside, after, ok := strings.Cut(rest, ")")
	if !ok {
		return "", 0, errors.New("found ( without ), expected a name such as p(rel=2)@5")
	}
	key, value, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(inside), " ", ""), "=")
	switch key {
	case "rel":
	case "dcg", "gains":
		return "", 0, fmt.Errorf("found (%s), expected a convention for the gain and the discount: standard has ir_measures' exp-log2, trec its log2", inside)
	case "judged_only":
		return "", 0, fmt.Errorf("found (%s), expected no such parameter: documents without judgement keep their ranks", inside)
	case "p":
		return "", 0, fmt.Errorf("found (%s), expected the persistence behind an @, as in rbp@0.8", inside)
	default:
		return "", 0, fmt.Errorf("found (%s), expected (rel=GRADE), the lowest relevant grade", inside)
	}
	relevant, err = strconv.ParseFloat(value, 64)
	if err != nil || CheckThreshold(relevant) != nil {
		return "", 0, fmt.Errorf("found (%s), expected a positive number as the lowest relevant grade", inside)
	}
	return before + after, relevant, nil
}

// relevanceText is the part of a measure's name that states its lowest relevant grade.
func relevanceText(relevant float64) string {
	if relevant == 0 {
		return ""
	}
	return "(rel=" + strconv.FormatFloat(relevant, 'g', -1, 64) + ")"
}

// StatesRelevance reports whether a measure's name states its lowest relevant grade, so that
// the convention's has no influence on it.
func StatesRelevance(m Measure) bool {
	b, ok := m.(interface{ described() base })
	return ok && strings.Contains(b.described().name, "(")
}
