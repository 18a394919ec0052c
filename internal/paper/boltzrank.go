package paper

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/method"
	"github.com/listwise/listwise/tune"
)

// boltzRankSource names the source of the experiment boltzrank.
const boltzRankSource = "Volkovs, Zemel: BoltzRank: Learning to Rank by Maximizing Expected Ranking Gain, ICML 2009"

// boltzRankSets are the sets of the paper's table.
var boltzRankSets = []string{"OHSUMED", "TD2004"}

// boltzRankMeasures are the columns of the paper's table.
var boltzRankMeasures = []string{"ndcg@1", "ndcg@2", "ndcg@3", "ndcg@4", "ndcg@5", "map"}

func boltzRankExperiment() Experiment {
	return Experiment{
		Name:  "boltzrank",
		Title: "BoltzRank's results on OHSUMED and TD2004",
		Shows: "whether training for expected NDCG, and scores that depend on a query's other documents, pay",
		Data:  "--data, any of " + strings.Join(boltzRankSets, ", "),
		Reads: true,
		Run: func(ctx context.Context, o Options) (*Report, error) {
			return boltzRankTable{rows: boltzRankRows}.run(ctx, o)
		},
	}
}

// boltzRankRow is a row of the paper's table, or one beside it.
type boltzRankRow struct {
	name      string // as the table has it
	method    string
	training  string // the training measure, "" for the method's own or none
	scorer    string // "" for the method's own
	grid      map[string][]string
	unplotted bool // left out of the plot, whose lines have eight looks
}

// boltzRankRows are the paper's rows, and BoltzRank with a linear scorer. A row
// whose method this program lacks stands with the paper's numbers alone.
var boltzRankRows = []boltzRankRow{
	{name: "BoltzRank1", method: "boltzrank1", scorer: "net", grid: boltzRankNetworks},
	{name: "BoltzRank1, linear", method: "boltzrank1", scorer: "linear"},
	{name: "BoltzRank2", method: "boltzrank2", grid: boltzRankNetworks},
	{name: "AdaRank.NDCG", method: "adarank", training: "ndcg@10"},
	{name: "AdaRank.MAP", method: "adarank", training: "map", unplotted: true},
	{name: "FRank", method: "frank", unplotted: true},
	{name: "ListNet", method: "listnet"},
}

// boltzRankNetworks are the settings of the two rows of networks: their scores are
// those of ten networks each, averaged.
var boltzRankNetworks = map[string][]string{
	"C": {"3", "10"}, "rate": {"0.001"}, "epochs": {"30"}, "patience": {"0"}, "bag": {"10"},
}

// boltzRankSelection chooses settings and epochs on validation data. The paper does
// not say what by; of the measures in its table MAP is the least noisy.
const boltzRankSelection = "map"

// lookUp returns the row's method, nil if there is none of that name.
func (r *boltzRankRow) lookUp() *method.Method {
	all := method.List()
	if i := slices.IndexFunc(all, func(m *method.Method) bool { return m.Name == r.method }); i >= 0 {
		return all[i]
	}
	return nil
}

// entry returns what tune.Run needs of the row, given its method.
func (r *boltzRankRow) entry(m *method.Method) (tune.Entry, error) {
	e, err := tune.NewEntry(m, r.grid)
	if err != nil {
		return e, err
	}
	e.Name = r.name
	training := r.training
	if training == "" {
		training = m.DefaultMeasure
	}
	if m.UsesMeasure {
		e.Measure, err = measure.Parse(training, letor3, measure.Options{})
	}
	return e, err
}

// boltzRankTable is the experiment with the rows to compute.
type boltzRankTable struct {
	rows []boltzRankRow
}

// boltzRankColumn is what came out on one set.
type boltzRankColumn struct {
	set     string
	known   bool // the paper has numbers for it
	folds   int
	queries int
	ours    map[string]*tune.Row // by the row's name
}

func (b boltzRankTable) run(ctx context.Context, o Options) (*Report, error) {
	found, missing, err := boltzRankData(o)
	if err != nil {
		return nil, err
	}
	var columns []boltzRankColumn
	for i := range found {
		folds, err := found[i].read()
		if err != nil {
			return nil, err
		}
		c := boltzRankColumn{set: found[i].name, folds: len(folds), queries: queries(folds)}
		c.known = slices.Contains(boltzRankSets, c.set)
		if c.ours, err = b.train(ctx, o, c.set, folds); err != nil {
			return nil, fmt.Errorf("%s: %w", c.set, err)
		}
		columns = append(columns, c)
	}
	return b.report(o, columns, missing), nil
}

// boltzRankData returns the sets to run on: of a folder of several, those of the
// paper, unless the caller says which.
func boltzRankData(o Options) (found []source, missing []string, err error) {
	all, absent, err := findSets(o)
	if err != nil {
		return nil, nil, err
	}
	inTable := func(name string) bool { return slices.Contains(boltzRankSets, name) }
	for _, name := range absent {
		if inTable(name) {
			missing = append(missing, name)
		}
	}
	for i := range all {
		if inTable(all[i].name) || o.Set != "" || all[i].folds != nil {
			found = append(found, all[i])
		}
	}
	if found == nil {
		return nil, nil, inputError("%s: found neither %s; expected one of them, or other sets named by --set", o.Data, strings.Join(boltzRankSets, " nor "))
	}
	return found, missing, nil
}

// train computes every row that there is a method for, one tune.Run each, for
// their scorers differ.
func (b boltzRankTable) train(ctx context.Context, o Options, set string, folds []tune.Fold) (map[string]*tune.Row, error) {
	ours := make(map[string]*tune.Row)
	for i := range b.rows {
		row := &b.rows[i]
		m := row.lookUp()
		if m == nil {
			continue
		}
		e, err := row.entry(m)
		if err != nil {
			return nil, err
		}
		c, err := tuneConfig(o, set+", "+row.name, folds, boltzRankSelection)
		if err != nil {
			return nil, err
		}
		if c.Measures, err = measure.ParseList(strings.Join(boltzRankMeasures, ","), letor3, measure.Options{}); err != nil {
			return nil, err
		}
		if o.Records != "" {
			c.Dir = filepath.Join(o.Records, set, row.name)
		}
		c.Scorer, c.Entries = row.scorer, []tune.Entry{e}
		result, err := tune.Run(ctx, c)
		if err != nil {
			return nil, err
		}
		ours[row.name] = &result.Rows[0]
	}
	return ours, nil
}

// publishedBoltzRank returns the paper's table as fractions: set, row, measure.
func publishedBoltzRank() map[string]map[string]map[string]float64 {
	header, rows := publishedTable("boltzrank-table.csv")
	numbers := make(map[string]map[string]map[string]float64)
	for _, row := range rows {
		set, name := row[0], row[1]
		if numbers[set] == nil {
			numbers[set] = make(map[string]map[string]float64)
		}
		numbers[set][name] = make(map[string]float64)
		for i := 2; i < len(row); i++ {
			numbers[set][name][strings.ToLower(header[i])] = number(row[i]) / 100
		}
	}
	return numbers
}
