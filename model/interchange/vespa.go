package interchange

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// vespa is a ranking expression, which Vespa computes in float64. It may be the content of a
// "file:" in a rank profile. A feature name without brackets, such as ctr, stands for the attribute
// with this name. A name with brackets, such as bm25(title), stands for a rank feature. An
// attribute without a value is NaN.
var vespa = format{name: "vespa", title: "Vespa ranking expression", write: writeVespa}

// mostVespa is the largest number of weights and leaves in an expression.
const mostVespa = 1_000_000

var (
	vespaAttribute = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	vespaFeature   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\([A-Za-z0-9_, .]*\)(\.[A-Za-z0-9_.]+)?$`)
)

func writeVespa(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	names := must(engineNames(m, o))
	features := make([]string, len(names))
	for j, name := range names {
		switch {
		case vespaAttribute.MatchString(name):
			features[j] = "attribute(" + name + ")"
		case vespaFeature.MatchString(name):
			features[j] = name
		default:
			return nil, fmt.Errorf("found the feature name %q, expected the name of an attribute, such as ctr, or a rank feature, such as bm25(title); --features gives others", name)
		}
	}
	x := expression{
		language: "Vespa", most: mostVespa,
		value:    func(j int) string { return features[j] },
		filled:   func(v, by string) string { return "if (isNan(" + v + "), " + by + ", " + v + ")" },
		step:     vespaStep,
		logistic: func(s string) string { return "sigmoid(" + s + ")" },
		unit:     vespaUnit,
		branch: func(n scorer.TreeNode, left, right string) string {
			f := features[n.Feature]
			test := fmt.Sprintf("%s <= %s", f, decimal(doubleThreshold(n.Threshold)))
			if n.Categories != nil {
				list := make([]string, len(n.Categories))
				for i, c := range n.Categories {
					list[i] = decimal(float64(c))
				}
				test = fmt.Sprintf("%s in [%s]", f, strings.Join(list, ", "))
			}
			if n.MissingLeft {
				test = fmt.Sprintf("isNan(%s) || %s", f, test)
			}
			return fmt.Sprintf("if (%s, %s, %s)", test, left, right)
		},
	}
	text := must(x.of(m, o))
	_, err = fmt.Fprintf(w, "%s\n", text)
	return nil, err
}

// vespaStep returns the expression for a Clip or Log1p step.
func vespaStep(v string, s transform.Step) string {
	if c, ok := s.(transform.Clip); ok {
		return fmt.Sprintf("min(max(%s, %s), %s)", v, decimal(c.Low), decimal(c.High))
	}
	return fmt.Sprintf("if (%s <= 0.0, 0.0 - log(1.0 + fabs(%s)), log(1.0 + fabs(%s)))", v, v, v)
}

func vespaUnit(f scorer.Activation, z string) (string, error) {
	switch f {
	case scorer.Tanh, scorer.Sigmoid, scorer.ReLU, scorer.ELU:
		return f.String() + z, nil
	case scorer.Softplus:
		return "(relu" + z + " + log(1.0 + exp(-fabs" + z + ")))", nil
	case scorer.LeakyReLU:
		return "(0.99 * relu" + z + " + 0.01 * " + z + ")", nil
	case scorer.Identity:
		return z, nil
	}
	return "", fmt.Errorf("found the activation %v, which Vespa has not", f)
}
