package interchange

import (
	"fmt"
	"io"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// sqlSelect is a SELECT of all columns of a table and of the score, which is an expression of the
// columns. A missing value is NULL. If the model has no rule for missing values, the score of a
// document with a missing value is NULL.
var sqlSelect = format{name: "sql", title: "SQL: a SELECT for linear models, stumps and small trees", write: writeSQL}

// mostSQL is the largest number of weights and leaves in a SELECT.
const mostSQL = 20_000

func writeSQL(w io.Writer, m *model.Model, o WriteOptions) (_ []string, err error) {
	defer catch(&err)
	names := must(engineNames(m, o))
	column := func(j int) string { return sqlName(names[j]) }
	x := expression{
		language: "SQL", most: mostSQL,
		value:    column,
		filled:   func(v, by string) string { return "COALESCE(" + v + ", " + by + ")" },
		step:     sqlStep,
		logistic: func(s string) string { return "1.0 / (1.0 + EXP(-" + s + "))" },
		branch: func(n scorer.TreeNode, left, right string) string {
			test := fmt.Sprintf("%s <= %s", column(n.Feature), decimal(doubleThreshold(n.Threshold)))
			if n.Categories != nil {
				list := make([]string, len(n.Categories))
				for i, c := range n.Categories {
					list[i] = decimal(float64(c))
				}
				test = fmt.Sprintf("%s IN (%s)", column(n.Feature), strings.Join(list, ", "))
			}
			if n.MissingLeft && m.Missing != dataset.MissingError {
				test += fmt.Sprintf(" OR %s IS NULL", column(n.Feature))
			}
			return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", test, left, right)
		},
	}
	text := must(x.of(m, o))
	if tests := x.nulls(m, column); len(tests) > 0 {
		text = fmt.Sprintf("CASE WHEN %s THEN NULL ELSE %s END", joined(tests, " OR "), text)
	}
	table := o.FeatureSet
	if table == "" {
		table = "documents"
	}
	_, err = fmt.Fprintf(w, "SELECT *,\n  %s AS \"score\"\nFROM %s\n", text, sqlName(table))
	return []string{fmt.Sprintf("the table is %s: --featureset gives it another name", sqlName(table))}, err
}

// sqlStep returns the expression for a Clip or Log1p step.
func sqlStep(v string, s transform.Step) string {
	if c, ok := s.(transform.Clip); ok {
		low, high := decimal(c.Low), decimal(c.High)
		return fmt.Sprintf("(CASE WHEN %s < %s THEN %s WHEN %s > %s THEN %s ELSE %s END)", v, low, low, v, high, high, v)
	}
	return fmt.Sprintf("(SIGN(%s) * LN(1.0 + ABS(%s)))", v, v)
}

// nulls returns a test for NULL for each feature that trees use, if the model has no rule for
// missing values. A weighted sum needs no tests, since SQL returns NULL for the sum if a term is
// NULL.
func (x *expression) nulls(m *model.Model, column func(int) string) []string {
	if m.Missing != dataset.MissingError {
		return nil
	}
	e, err := treesOf(m)
	if err != nil {
		return nil
	}
	used := make([]bool, e.features)
	for _, t := range e.trees {
		for _, n := range t.nodes {
			used[n.Feature] = true
		}
	}
	var tests []string
	for j, u := range used {
		if u {
			tests = append(tests, column(j)+" IS NULL")
		}
	}
	return tests
}

// sqlName quotes the name of a column or a table.
func sqlName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
