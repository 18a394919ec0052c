package papers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/svg"
)

// boltzRankBags are the numbers of networks whose mean is a model.
var boltzRankBags = []string{"1", "10"}

// boltzRankDiscounts are the conventions of NDCG in training and in measuring: LETOR's, in
// which the paper's numbers are, since those it quotes are LETOR's; and the formula on the
// paper's slides, with the discount 1/log(1 + rank).
var boltzRankDiscounts = []struct{ convention, discount string }{
	{"letor3", "LETOR's"}, {"standard", "log2(1+rank)"},
}

// boltzRankFewSeeds is what the many rows can afford.
const boltzRankFewSeeds = 4

// boltzRankSeeds asks what of the distance to the paper is due to the seed, to the bag and
// to the discount, none of which the paper tells of. C is chosen as in the experiment
// boltzrank; λ, which matters little there, is ½.
func boltzRankSeeds() study {
	s := study{
		convention: letor3,
		Experiment: Experiment{
			Name:  "boltzrank-seeds",
			Paper: "BoltzRank",
			Title: "BoltzRank's networks by seed, bag and discount",
			Shows: "how much of BoltzRank's results is the seed's, the bag's and the discount's of NDCG",
			Data:  "--data, any of " + strings.Join(boltzRankSets, ", "),
			Reads: true,
		},
		data:     letorSets.only(boltzRankSets...),
		sizes:    letorSets,
		alone:    true,
		seeds:    boltzRankFewSeeds,
		chosenBy: "map",
		measures: append(ndcgUpTo(5), "map"),
		records:  "{set}/{row}/seed{seed}",
		views:    boltzSeedViews,
		rows:     boltzSeedRows(),
		parts: []part{
			says{"source", boltzRankSource},
			command,
			says{"seeds", fmt.Sprintf("%d, the first being --seed", boltzRankFewSeeds)},
			conventions, setSizes, notFound,
			says{"in sight", "of test data: see the experiment boltzrank, whose settings these are, with lambda=0.5"},
			says{"chosen by", "validation MAP, C and epochs alike"},
			says{"numbers", "means over folds; ± is the standard deviation over the seeds, each of which draws other rankings and other initial weights"},
			partFunc(boltzSeedTable),
			numberSheet{bySeed: true, fields: []field{
				dataField, groupField.as("method"), bagField, trainedForField, conventionField, seedField, measureField,
				{"mean", func(p *place) any { return p.number().mean }}, neutralField, pooledField,
			}},
			perSet(boltzSeedPlot), grids,
			partFunc(boltzSeedNotes),
			otherDataNotes{unknown: "The paper has no numbers for %s."},
		},
	}
	s.parts = append(s.parts, differences{
		title: func(c *column, v *view) string {
			return "one thing changed at a time: differences over the test queries of " + c.name + ", NDCG with " + discountOf(v.convention.Name()) + " discount, with 95 % intervals; * significant at 5 % after Holm's correction"
		},
		name: "differences", measures: boltzFewMeasures, pairs: boltzRankChanges(s.rows),
	})
	return s
}

// boltzSeedRows are the two methods with each bag, trained with each discount.
func boltzSeedRows() []row {
	var rows []row
	for _, m := range []struct{ name, method string }{{"BoltzRank1", "boltzrank1"}, {"BoltzRank2", "boltzrank2"}} {
		for _, bag := range boltzRankBags {
			for _, d := range boltzRankDiscounts {
				r := row{
					name: fmt.Sprintf("%s bag=%s %s", m.name, bag, d.convention), method: m.method, group: m.name, against: m.name, trainsBy: d.convention,
					grid: map[string][]string{"C": {"3", "10"}, "lambda": {"0.5"}, "rate": {"0.001"}, "epochs": {"30"}, "patience": {"0"}, "bag": {bag}},
				}
				if m.method == "boltzrank1" {
					r.scorer = "net"
				}
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// boltzSeedViews measure with each discount; the published numbers are LETOR's.
func boltzSeedViews(set string) []view {
	var views []view
	for _, d := range boltzRankDiscounts {
		v := view{convention: conventionNamed(d.convention), measures: append(ndcgUpTo(5), "map")}
		if d.convention == letor3.Name() {
			v.published = publishedBoltzRank(set)
		}
		views = append(views, v)
	}
	return views
}

// The fields of these rows that tell them apart.
var (
	bagField        = field{"bag", func(p *place) any { return p.row().grid["bag"][0] }}
	trainedForField = field{"trained_for", func(p *place) any { return p.row().trainsBy }}
)

// discountOf names a convention's discount.
func discountOf(convention string) string {
	for _, d := range boltzRankDiscounts {
		if d.convention == convention {
			return d.discount
		}
	}
	return convention
}

// boltzSeedTable has the rows side by side, measured with both discounts. NDCG@1 and MAP
// are the same with both.
func boltzSeedTable(s *results, r *Report) {
	for _, c := range s.columns {
		t := Table{Title: c.name + ": means over seeds ± standard deviation, NDCG with the discount named", Left: 3, Main: true,
			Columns: []string{"method", "bag", "trained for", "NDCG@1"}}
		for _, d := range boltzRankDiscounts {
			t.Columns = append(t.Columns, "@3, "+d.discount, "@5, "+d.discount)
		}
		t.Columns = append(t.Columns, "MAP")
		for i := range s.rows {
			row := &s.rows[i]
			line := []string{row.group, row.grid["bag"][0], "NDCG@10, " + discountOf(row.trainsBy), meanAndDeviation(c.views[0].means(i, "ndcg@1"), 4)}
			for k := range c.views {
				line = append(line, meanAndDeviation(c.views[k].means(i, "ndcg@3"), 4), meanAndDeviation(c.views[k].means(i, "ndcg@5"), 4))
			}
			t.Rows = append(t.Rows, append(line, meanAndDeviation(c.views[0].means(i, "map"), 4)))
		}
		published := c.views[0].published
		for _, name := range []string{"BoltzRank1", "BoltzRank2"} {
			if published[name] != nil {
				of := func(m string) string { return four("%.4f", published.of(name, m)) }
				t.Rows = append(t.Rows, []string{name, "", "paper", of("ndcg@1"), of("ndcg@3"), of("ndcg@5"), "", "", of("map")})
			}
		}
		r.Tables = append(r.Tables, t)
	}
}

// boltzRankChanges pairs the rows that differ in one thing: pairs of documents, a bag of ten
// networks, the discount that NDCG is trained with.
func boltzRankChanges(rows []row) []pair {
	var changes [3][]pair
	for i := range rows {
		for k := range rows {
			a, b := &rows[i], &rows[k]
			method, bag, trained := a.group != b.group, a.grid["bag"][0] != b.grid["bag"][0], a.trainsBy != b.trainsBy
			switch {
			case method && !bag && !trained && a.group == "BoltzRank2":
				changes[0] = append(changes[0], pair{a.name, b.name})
			case !method && bag && !trained && a.grid["bag"][0] == "10":
				changes[1] = append(changes[1], pair{a.name, b.name})
			case !method && !bag && trained && a.trainsBy == "standard":
				changes[2] = append(changes[2], pair{a.name, b.name})
			}
		}
	}
	return slices.Concat(changes[:]...)
}

// boltzSeedPlot shows the MAP of every seed, and the paper's as lines.
func boltzSeedPlot(s *results, c *column) svg.Plot {
	p := svg.Plot{Title: "BoltzRank on " + c.name + ": MAP by seed", X: svg.Axis{Min: 0.4, Max: float64(len(s.rows)) + 0.6}, Y: svg.Axis{Label: "MAP on test queries, mean over folds"}, Width: 820}
	v := &c.views[0]
	for _, name := range []string{"BoltzRank1", "BoltzRank2"} {
		seeds := svg.Series{Name: name + ", a seed each", Kind: svg.Scatter}
		for i := range s.rows {
			if s.rows[i].group == name {
				for _, value := range v.means(i, "map") {
					seeds.X, seeds.Y = append(seeds.X, float64(i+1)), append(seeds.Y, value)
				}
			}
		}
		p.Series = append(p.Series, seeds)
		if theirs := v.published.of(name, "map"); !math.IsNaN(theirs) {
			p.Series = append(p.Series, svg.Series{Name: name + ", paper", X: []float64{0.4, float64(len(s.rows)) + 0.6}, Y: []float64{theirs, theirs}})
		}
	}
	for i := range s.rows {
		label := fmt.Sprintf("bag %s, %s", s.rows[i].grid["bag"][0], discountOf(s.rows[i].trainsBy))
		p.X.Ticks = append(p.X.Ticks, svg.Tick{Value: float64(i + 1), Label: label})
	}
	return p
}

// boltzSeedNotes says how far the seeds and the choices reach towards the paper.
func boltzSeedNotes(s *results, r *Report) {
	for _, c := range s.columns {
		v := &c.views[0]
		for _, name := range []string{"BoltzRank1", "BoltzRank2"} {
			for _, m := range []string{"ndcg@1", "map"} {
				published := v.published.of(name, m)
				if math.IsNaN(published) {
					continue
				}
				runs, reached, best := 0, 0, math.Inf(-1)
				for i := range s.rows {
					if s.rows[i].group != name {
						continue
					}
					for _, value := range v.means(i, m) {
						runs++
						best = max(best, value)
						if value >= published {
							reached++
						}
					}
				}
				r.note("%s, %s's %s: %d of %d trainings (rows × seeds) reach the paper's %.4f; the highest is %.4f.", c.name, name, title(m), reached, runs, published, best)
			}
		}
	}
	r.note("The slides define NDCG with the discount 1/log(1 + rank), while their numbers for AdaRank, FRank and ListNet are those of LETOR's tool, whose discount is 1, 1, 1/log2 3, …: NDCG@1 and MAP do not depend on it, NDCG@2 to @5 do.")
}

// boltzFewMeasures are those of the paper's table that the text is about.
var boltzFewMeasures = []string{"ndcg@1", "ndcg@3", "ndcg@5", "map"}
