package papers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/tune"
)

// lambdaFunctions compares λ functions, as section 6.2 did on web data. It prints the formula
// of one of the ten that were tried, and describes four kinds; loss.Lambdas has one of each
// kind, and three of them between neighbours too.
type lambdaFunctions struct {
	artificial
	springRates []string // lower: a spring's force has no bound, and at 0.1 networks diverge
}

// burges2006Functions is on data as in section 6.3.1, but of few queries, and on MQ2008.
var burges2006Functions = lambdaFunctions{artificial: artificial{
	train: 500, valid: 250, test: 2000,
	docs: burges2006.docs, features: burges2006.features, shares: burges2006.shares,
	rates:  []string{"1e-4", "1e-3", "1e-2", "1e-1"},
	epochs: "100",
}, springRates: []string{"1e-5", "1e-4", "1e-3", "1e-2"}}

const (
	functionsSet   = "MQ2008"
	functionsSeeds = 5
)

func (f lambdaFunctions) study() study {
	s := study{
		Experiment: Experiment{
			Name:   "lambdarank-functions",
			Paper:  "LambdaRank",
			Title:  "LambdaRank, section 6.2: λ functions on random cubic polynomials and on MQ2008",
			Shows:  "which rule for the forces trains best, and whether it is the one that the paper chose",
			Data:   "made, 2,750 queries; and --data's " + functionsSet + ", if given",
			Reads:  true,
			Scales: "the numbers of made queries",
		},
		data:       f.sources,
		convention: standard,
		chosenBy:   fmt.Sprintf("ndcg@%d", artificialTop),
		measures:   []string{"ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10"},
		records:    "{set}/{group}",
		seeds:      functionsSeeds,
	}
	var pairs []pair
	for _, n := range artificialNets {
		grid := burgesSchedule(f.rates, f.epochs)
		chosen := functionRow(loss.LambdaLogistic.String(), n.name)
		for _, info := range loss.Lambdas() {
			name := functionRow(info.Name, n.name)
			one := maps.Clone(grid)
			one["lambda"] = []string{info.Name}
			if strings.HasPrefix(info.Name, "spring") {
				one["rate"] = f.springRates
			}
			s.rows = append(s.rows, row{name: name, method: "lambdarank", training: s.chosenBy, group: n.name, scorer: n.scorer, grid: one})
			if name != chosen {
				pairs = append(pairs, pair{chosen, name})
			}
		}
		rankNet := functionRow("RankNet", n.name)
		s.rows = append(s.rows, row{name: rankNet, method: "ranknet", group: n.name, scorer: n.scorer, grid: grid})
		pairs = append(pairs, pair{chosen, rankNet})
	}
	s.parts = f.parts(pairs)
	return s
}

// functionRow names a row: "logistic, linear".
func functionRow(lambda, net string) string { return lambda + ", " + net }

// sources are the made data and, if it is there, the set.
func (f lambdaFunctions) sources(o Options) ([]source, []string, error) {
	fold, err := f.scaled(o).data(o.Seed)
	if err != nil {
		return nil, nil, err
	}
	sources := []source{{name: fold.Name, folds: []tune.Fold{fold}}}
	if o.Data == "" {
		return sources, []string{functionsSet}, nil
	}
	found, _, err := baselineSets.find(o)
	if err != nil {
		return nil, nil, err
	}
	for _, set := range found {
		if set.name == functionsSet || o.Set != "" || set.folds != nil {
			return append(sources, set), nil, nil
		}
	}
	return sources, []string{functionsSet}, nil
}

func (f lambdaFunctions) parts(pairs []pair) []part {
	heading := func(what string) func(*column, *view) string {
		return func(c *column, _ *view) string { return c.name + ": " + what }
	}
	return []part{
		says{"source", lambdaRank + ", section 6.2"}, command, partFunc(f.dataFacts), partFunc(realData), notFound, conventions,
		says{"schedule", "a step a query, rate × 0.8 when the training cost rose, new weights after 50 epochs without a lower one, " + f.epochs + " epochs"},
		says{"chosen", fmt.Sprintf("rate and epoch by validation NDCG@%d, in each fold; rates tried: %s; of springs %s", artificialTop, strings.Join(f.rates, ", "), strings.Join(f.springRates, ", "))},
		says{"numbers", fmt.Sprintf("means over folds and %d seeds", functionsSeeds)},
		says{"intervals", "95 %, of differences paired over test queries and seeds; * significant at 5 % after Holm's correction over the table"},
		partFunc(functionTable),
		differences{title: heading("the paper's choice, logistic, less the others"), name: "differences", pairs: pairs, main: true},
		ratesChosen,
		numberSheet{fields: []field{dataField, methodField, measureField, oursField, neutralField, pooledField}},
		choiceSheet{name: "chosen", fields: []field{dataField, methodField, seedField, foldField, settingsField, validationField}},
		remark("Of the ten λ functions tried the text describes four kinds, with all pairs or with neighbours in the sorted list only: steps in proportion to the NDCG gain of a swap, springs, finite differences of NDCG, and the gradient of a smooth cost of pairs times that gain. It gives the formula of the last, eq. 9, alone; margins, constants and what tells the ten apart are not published. The seven here are one of each kind, and three of them between neighbours."),
		partFunc(functionNotes),
	}
}

// realData tells of the sets beside the made data.
func realData(s *results, r *Report) {
	for _, c := range s.columns[1:] {
		r.fact("data", "%s: %d folds, %d test queries", c.name, len(c.names), c.queries)
	}
}

// validation is the mean over folds and seeds of what a row was chosen for.
func (c *column) validation(row int) float64 {
	var all []float64
	for _, tuned := range c.rows[row] {
		for i := range tuned.Folds {
			all = append(all, tuned.Folds[i].Validation)
		}
	}
	return mean(all)
}

// functionTable has the validation value that the paper chose by beside the test values.
func functionTable(s *results, r *Report) {
	t := Table{Title: "means over folds and seeds", Left: 2, Main: true, Columns: []string{"data", "λ function", "validation " + title(s.chosenBy)}}
	for _, m := range s.measures {
		t.Columns = append(t.Columns, title(m))
	}
	for _, c := range s.columns {
		for i := range s.rows {
			line := []string{c.name, s.rows[i].name, fmt.Sprintf("%.4f", c.validation(i))}
			for _, m := range s.measures {
				line = append(line, fmt.Sprintf("%.4f", c.views[0].mean(i, m)))
			}
			t.Rows = append(t.Rows, line)
		}
	}
	r.Tables = append(r.Tables, t)
}

// functionNotes says which λ function validation would choose, as the paper did, and which
// is best on the test queries.
func functionNotes(s *results, r *Report) {
	first, learned, cases := 0, 0, 0
	for _, c := range s.columns {
		for _, n := range artificialNets {
			var rows []int
			for _, info := range loss.Lambdas() {
				rows = append(rows, s.rowNamed(functionRow(info.Name, n.name)))
			}
			best := func(value func(row int) float64) string {
				byValue := slices.Clone(rows)
				slices.SortStableFunc(byValue, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
				return fmt.Sprintf("%s (%.4f), before %s (%.4f)", lambdaOf(&s.rows[byValue[0]]), value(byValue[0]), lambdaOf(&s.rows[byValue[1]]), value(byValue[1]))
			}
			cases++
			other := slices.ContainsFunc(rows[1:], func(row int) bool { return c.validation(row) >= c.validation(rows[0]) })
			if !other {
				first++
				if c.views[0].notAbove(rows[0], []string{s.chosenBy}) == "" {
					learned++
				}
			}
			r.note("%s, %s nets: the best by validation is %s; by NDCG@1 on the test queries %s; by NDCG@%d %s.", c.name, n.name,
				best(c.validation), best(func(row int) float64 { return c.views[0].mean(row, "ndcg@1") }),
				artificialTop, best(func(row int) float64 { return c.views[0].mean(row, s.chosenBy) }))
		}
	}
	r.found(ofCases(learned, cases), "of the λ functions tried, that of eq. 9 is the best by validation (6.2)",
		"first of seven in %d of %d (data sets × nets), and above the trivial systems on the test queries in %d of these; leads between λ functions are not tested, the notes have them", first, cases, learned)
}

// lambdaOf returns the λ function of a row.
func lambdaOf(r *row) string { return r.grid["lambda"][0] }
