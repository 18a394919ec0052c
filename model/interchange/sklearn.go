package interchange

import (
	"bytes"
	"cmp"

	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
)

// sklearn is a linear model of scikit-learn as JSON of its attributes:
//
//	{"coef": […], "intercept": …, "feature_names": […]}
//
// The keys may also be the attributes' own names coef_, intercept_ and feature_names_in_. The
// coefficients may be a list that contains one list, and the intercept a list with one number. Other
// keys are ignored.
var sklearn = format{
	name: "sklearn", title: "scikit-learn linear models as JSON",
	is: func(head []byte) bool {
		return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && (bytes.Contains(head, []byte(`"coef"`)) || bytes.Contains(head, []byte(`"coef_"`)))
	},
	read: readSklearn,
}

// either returns the value of key a or of key b. If the object has both keys, it returns an error.
func either(o strictjson.Object, a, b string) (strictjson.Value, error) {
	first, second := member(o, a), member(o, b)
	switch {
	case first.Text != nil && second.Text != nil:
		return first, wrong(second, "found both %q and %q, expected one of them", a, b)
	case first.Text == nil:
		return second, nil
	}
	return first, nil
}

// inner returns the element of a list with one element, and any other value unchanged. If list is '[',
// the element must be a list.
func inner(v strictjson.Value, list byte) strictjson.Value {
	if v.Text == nil || v.Text[0] != '[' {
		return v
	}
	elements, err := strictjson.Elements(v)
	if err != nil || len(elements) != 1 || list == '[' && elements[0].Text[0] != '[' {
		return v
	}
	return elements[0]
}

func readSklearn(data []byte, _ ReadOptions) (_ *model.Model, _ []string, err error) {
	defer catch(&err)
	check(strictjson.Check(data))
	o := must(objectOf(strictjson.Whole(data), "the model"))
	coef := must(either(o, "coef", "coef_"))
	var sum linear
	sum.weights = must(numbersOf(inner(coef, '['), `"coef"`))
	if n := member(o, "n_features_in_"); n.Text != nil {
		if stated, err := wholeOf(n, "n_features_in_", 0); err != nil || stated != len(sum.weights) {
			return nil, nil, cmp.Or(err, wrong(n, `found %d coefficients, expected %d, as "n_features_in_" says`, len(sum.weights), stated))
		}
	}
	intercept := must(either(o, "intercept", "intercept_"))
	if intercept.Text != nil {
		sum.constant = must(numberOf(inner(intercept, 0), `"intercept"`))
	}
	names := must(either(o, "feature_names", "feature_names_in_"))
	if names.Text != nil && string(names.Text) != "null" {
		sum.names = must(namesOf(names, `"feature_names"`))
		if len(sum.names) != len(sum.weights) {
			return nil, nil, wrong(names, "found %d feature names, expected one for each of %d coefficients", len(sum.names), len(sum.weights))
		}
	}
	m, err := sum.model("sklearn", nil)
	if err != nil {
		return nil, nil, wrong(coef, "%w", err)
	}
	return m, nil, nil
}
