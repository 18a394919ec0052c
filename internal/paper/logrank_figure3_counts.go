package paper

import (
	"fmt"
	"slices"
	"strings"
)

// The paper counts in how many of the 32 cells of Figure 3, eight columns by four
// measures, one group of rows is above another. Its counts can be held against its
// own table, and the same be counted over ours.

// claim compares two groups of rows by the best of each, or by the worst of the first.
type claim struct {
	better, than []string
	worst        bool
}

func (c claim) String() string {
	return strings.Join(c.better, "/") + " > " + strings.Join(c.than, "/")
}

var (
	convexLossRows = []string{"ConvexLoss_AUC", "ConvexLoss_MAP", "ConvexLoss_NDCG"}
	expGainRows    = []string{"ExpGain_AUC", "ExpGain_MAP", "ExpGain_NDCG"}
	l3Rows         = []string{"L_3_AUC", "L_3_MAP", "L_3_NDCG"}

	baselineNames = []string{"SVMmap", "Rankboost", "RankSVM"}

	// figure3Claims are those of section 5.2.
	figure3Claims = []struct {
		text string
		claim
	}{
		{"MLE > all baselines", claim{better: []string{"MLE"}, than: baselineNames}},
		{"best ExpGain > all baselines", claim{better: expGainRows, than: baselineNames}},
		{"ExpGain_MAP > SVMmap", claim{better: []string{"ExpGain_MAP"}, than: []string{"SVMmap"}}},
		{"ExpGain_AUC > RankSVM", claim{better: []string{"ExpGain_AUC"}, than: []string{"RankSVM"}}},
		{"best ExpGain > MLE", claim{better: expGainRows, than: []string{"MLE"}}},
		{"best ConvexLoss > all other rows", claim{better: convexLossRows, than: slices.Concat(baselineNames, []string{"MLE"}, expGainRows, l3Rows)}},
		{"best ConvexLoss > all baselines", claim{better: convexLossRows, than: baselineNames}},
		{"ConvexLoss_MAP > SVMmap", claim{better: []string{"ConvexLoss_MAP"}, than: []string{"SVMmap"}}},
		{"ConvexLoss_AUC > RankSVM", claim{better: []string{"ConvexLoss_AUC"}, than: []string{"RankSVM"}}},
		{"best ConvexLoss > MLE", claim{better: convexLossRows, than: []string{"MLE"}}},
		{"best ConvexLoss > best ExpGain", claim{better: convexLossRows, than: expGainRows}},
		{"ConvexLoss_NDCG > ExpGain_NDCG", claim{better: []string{"ConvexLoss_NDCG"}, than: []string{"ExpGain_NDCG"}}},
		{"ConvexLoss_NDCG > MLE", claim{better: []string{"ConvexLoss_NDCG"}, than: []string{"MLE"}}},
		{"worse of ConvexLoss_MAP, _NDCG > all baselines", claim{better: convexLossRows[1:], than: baselineNames, worst: true}},
	}
)

// publishedCounts returns the paper's counts by claim: "16 of 32".
func publishedCounts() map[string]string {
	_, rows := publishedTable("logrank-counts.csv")
	counts := make(map[string]string)
	for _, row := range rows {
		counts[row[0]] = row[1] + " of " + row[2]
	}
	return counts
}

// cellValue returns a row's number by measure and column.
type cellValue func(m, name string, column int) float64

// counted holds the paper's counts against its table, the table's cells that there
// is a column of ours for, and ours.
func (t *figure3Table) counted() Table {
	table := Table{Title: "counts of section 5.2: in how many cells, one a column and measure, the first is above the second (in brackets: or equal)", Left: 1, Main: true,
		Columns: []string{"", "paper's text", "paper's table", "paper's table, columns at hand"}}
	for _, r := range figure3Readings {
		table.Columns = append(table.Columns, "ours, "+r.name+" data")
	}
	text := publishedCounts()
	for _, c := range figure3Claims {
		row := []string{c.text, text[c.text], c.printed(t.paper), t.count(c.claim, t.published)}
		for k := range figure3Readings {
			row = append(row, t.count(c.claim, func(m, name string, column int) float64 { return t.value(k, m, name, column) }))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// printed counts over the whole table as printed, with its own micro-average.
func (c claim) printed(numbers figure3Numbers) string {
	columns := append(setNames(), microaverage)
	return c.count(len(columns), func(m, name string, k int) float64 { return numbers[m][name][columns[k]] })
}

func (t *figure3Table) count(c claim, value cellValue) string {
	return c.count(len(t.columnNames()), value)
}

// count counts the cells, in the given number of columns, in which the claim holds.
func (c claim) count(columns int, value cellValue) string {
	held, tied, cells := 0, 0, 0
	for _, m := range reported {
		for k := range columns {
			of := func(names []string) []float64 {
				values := make([]float64, len(names))
				for i, name := range names {
					values[i] = value(m, name, k)
				}
				return values
			}
			better, than := slices.Max(of(c.better)), slices.Max(of(c.than))
			if c.worst {
				better = slices.Min(of(c.better))
			}
			cells++
			switch {
			case better > than:
				held++
			case better == than:
				tied++
			}
		}
	}
	text := fmt.Sprintf("%d of %d", held, cells)
	if tied > 0 {
		text += fmt.Sprintf(" (%d)", held+tied)
	}
	return text
}

// claim holds every number of ours against the paper's. Those on the data as
// published cannot be: the paper cleaned them.
func (t *figure3Table) claim(r *Report, seed uint64) {
	for k, reading := range figure3Readings {
		t.eachCell(func(at, row, column int, c *figure3Cell) {
			if at != k {
				return
			}
			set := &t.columns[column]
			for _, m := range reported {
				name := t.rows[row].name
				held := claimed{data: set.set + ", " + reading.name, row: name, measure: title(m), published: t.published(m, name, column), ours: c.values[m].Mean}
				other := letorSets.otherData(set.set, set.queries)
				switch {
				case other != "":
					r.claimNot(held, other)
				case !reading.clean:
					r.claimNot(held, "the paper measured on cleaned data, these are as published")
				default:
					r.claimMean(held, c.queries[m], seed)
				}
			}
		})
	}
}
