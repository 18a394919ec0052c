package papers

import (
	"fmt"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/tune"
)

// lambdaRank names the source of the experiments in files lambda*.go.
const lambdaRank = "Burges, Ragno, Le: Learning to Rank with Nonsmooth Cost Functions, NIPS 2006"

// artificial is the experiment of section 6.3.1.
type artificial struct {
	train, valid, test int // queries
	docs, features     int
	shares             []float64 // of the grades
	rates              []string
	epochs             string
}

// burges2006 is the paper's experiment. It does not give the shares of grades, which are
// those of "real datasets"; these are MSLR-WEB10K's, fold 1.
var burges2006 = artificial{
	train: 10_000, valid: 5_000, test: 10_000,
	docs: 50, features: 50,
	shares: []float64{0.5225, 0.3215, 0.1314, 0.0175, 0.0071},
	rates:  []string{"1e-7", "1e-6", "1e-5", "1e-4", "1e-3", "1e-2"},
	epochs: "300",
}

// artificialTop is the lowest truncation level of the figure.
const artificialTop = 10

// standard is the convention of the paper's equation 1: the gain 2^l − 1 and the
// discount 1/log(1 + r).
var standard = conventionNamed("standard")

// artificialNets are the groups of rows; "two-layer" has ten hidden units.
var artificialNets = []struct{ name, scorer string }{{"linear", "linear"}, {"two-layer", "net"}}

// study returns what is trained: with each net RankNet and LambdaRank. For each the rate,
// and for each rate the epoch, is the one with the best validation NDCG@10.
func (a artificial) study() study {
	net := groupField.as("net")
	s := study{
		Experiment: Experiment{
			Name:   "lambdarank-artificial",
			Paper:  "LambdaRank",
			Title:  "LambdaRank, Figure 2 left: RankNet and LambdaRank on random cubic polynomials",
			Shows:  "what forces scaled by the change of NDCG gain over RankNet's where neither features nor labels are noisy",
			Data:   "made, 25,000 queries",
			Scales: "the numbers of queries",
		},
		data: func(o Options) ([]source, []string, error) {
			fold, err := a.scaled(o).data(o.Seed)
			return []source{{name: fold.Name, folds: []tune.Fold{fold}}}, nil, err
		},
		convention: standard,
		chosenBy:   fmt.Sprintf("ndcg@%d", artificialTop),
		measures:   ndcgUpTo(artificialTop),
		records:    "{group}",
		parts: []part{
			says{"source", lambdaRank + ", section 6.3.1"}, command, partFunc(a.dataFacts), conventions,
			says{"intervals", "95 %, from the normal distribution, for other queries; those of a lead from the differences query by query; another --seed is another polynomial with other weights, of which the intervals know nothing"},
			says{"schedule", fmt.Sprintf("a step a query, rate × 0.8 when the training cost rose, new weights after 50 epochs without a lower one, %s epochs", a.epochs)},
			says{"chosen", fmt.Sprintf("rate and epoch by validation NDCG@%d; rates tried: %s", artificialTop, strings.Join(a.rates, ", "))},
			partFunc(artificialReport),
			choiceSheet{name: "rates", tried: true, fields: []field{
				net, methodField, {"rate", func(p *place) any { return p.tuned().Entry.Settings[p.setting].Number("rate") }}, triedValueField,
			}},
			partFunc(a.notes),
		},
	}
	for _, n := range artificialNets {
		s.rows = append(s.rows,
			row{name: "RankNet", method: "ranknet", group: n.name, scorer: n.scorer, grid: burgesSchedule(a.rates, a.epochs)},
			row{name: "LambdaRank", method: "lambdarank", training: s.chosenBy, group: n.name, scorer: n.scorer, grid: burgesSchedule(a.rates, a.epochs)})
	}
	return s
}

// scaled returns the experiment with the numbers of queries asked for.
func (a artificial) scaled(o Options) artificial {
	a.train, a.valid, a.test = o.scaled(a.train), o.scaled(a.valid), o.scaled(a.test)
	return a
}

// data returns queries of one polynomial, those for training, validation and test
// from different seeds.
func (a artificial) data(seed uint64) (tune.Fold, error) {
	c := synth.Cubic{Docs: a.docs, Features: a.features, Shares: a.shares, Polynomial: seed}
	f := tune.Fold{Name: "artificial"}
	for part, p := range []struct {
		set     **dataset.Dataset
		queries int
	}{{&f.Train, a.train}, {&f.Valid, a.valid}, {&f.Test, a.test}} {
		c.Queries, c.Seed = p.queries, 3*seed+uint64(part)
		var err error
		if *p.set, err = c.Generate(); err != nil {
			return f, err
		}
	}
	return f, nil
}

// burgesSchedule is that of sections 5 and 6.3: a step a query, the rate times 0.8 after an
// epoch whose training cost rose, new random weights after 50 epochs without a lower cost. The
// paper has no penalty. Nets of two layers have ten hidden units.
func burgesSchedule(rates []string, epochs string) map[string][]string {
	return map[string][]string{
		"optimizer": {"descent"},
		"rule":      {"plain"},
		"rate":      rates,
		"decay":     {"0.8"},
		"patience":  {"50"},
		"epochs":    {epochs},
		"C":         {"1e100"},
		"hidden":    {"10"},
	}
}
