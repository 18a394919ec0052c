package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/loss/logrank/sample"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
)

// diagnosis describes how well the sampled form of LogRank represents all rankings. It counts the
// rankings drawn for each query. It compares their loss Δ with the law p(y) ∝ exp(−w·δφ(y)) of the
// trained model. A query's sample is drawn with the random stream of training.
type diagnosis struct {
	System  int       `json:"system"`
	Measure string    `json:"measure"` // measure of the loss Δ
	Options string    `json:"options"`
	Queries int       `json:"queries"`
	Drawn   []float64 `json:"drawn"` // share of the drawn rankings in each of lossBins intervals of Δ from 0 to 1
	Law     []float64 `json:"law"`   // probability of each interval under the model
	Rows    []spread  `json:"rows"`
}

type spread struct {
	Name   string  `json:"name"`
	Low    float64 `json:"low"` // the first decile
	Median float64 `json:"median"`
	High   float64 `json:"high"` // the last decile
}

const (
	lossBins       = 25
	sampledQueries = 400 // at most; the queries are evenly spaced
)

func (r *Report) sample(in *input) error {
	r.data.Samplers = []diagnosis{}
	for s := range in.names {
		var c collector
		for i := 0; i < len(in.queries); i += max(1, len(in.queries)/sampledQueries) {
			q := in.queries[i]
			m := in.model(s, q.division)
			if m == nil {
				break
			}
			config, ok, err := method.LogRankOf(m)
			if err != nil {
				return fmt.Errorf("%s: %w", in.names[s], err)
			}
			if !ok || config.Form != logrank.Sampled {
				break
			}
			if err := c.add(m, config, in.at(q), in.scores(s, q)); err != nil {
				return fmt.Errorf("%s, query %s: %w", in.names[s], in.at(q).ID, err)
			}
		}
		if c.queries > 0 {
			r.data.Samplers = append(r.data.Samplers, c.diagnosis(s))
		}
	}
	return nil
}

// collector collects the diagnosis of one system over its queries.
type collector struct {
	queries    int
	config     logrank.Options
	drawn, law [lossBins]float64
	columns    [len(columnNames)][]float64
}

var columnNames = [...]string{
	"rankings that count",
	"share of the draws that are new",
	"mean Δ of the rankings drawn",
	"expected Δ under the model's law",
	"Δ of the model's own ranking",
	"effective number of rankings under the law",
	"probability of the likeliest ranking",
}

// add draws a query's sample and weights it by the model's scores.
func (c *collector) add(m *model.Model, config logrank.Options, q *dataset.Query, scores []float64) error {
	pairs := bipartite.Split(q.Grades, config.Threshold)
	if pairs.Pairs() == 0 {
		return nil
	}
	set, err := sample.Draw(pairs, config.Gain, config.Sampler, random.Stream(m.Seed, "bind", q.Content()))
	if err != nil {
		return err
	}
	c.config = config
	c.queries++
	p := law(set, scores, slope(config, pairs))
	var mean, expected, squares, likeliest float64
	for y, gain := range set.Gain {
		weight := 1 / set.Total
		if set.LogWeight != nil {
			weight *= elementary.Exp(set.LogWeight[y])
		}
		delta := 1 - gain
		bin := min(lossBins-1, max(0, int(delta*lossBins)))
		c.drawn[bin] += weight
		c.law[bin] += p[y]
		mean += float64(weight * delta)
		expected += float64(p[y] * delta)
		squares += float64(p[y] * p[y])
		likeliest = max(likeliest, p[y])
	}
	own := 1 - binaryGain(config, q.Grades, scores)
	for i, v := range [...]float64{set.Total, set.Total / float64(set.Len()), mean, expected, own, 1 / squares, likeliest} {
		c.columns[i] = append(c.columns[i], v)
	}
	return nil
}

func slope(config logrank.Options, pairs bipartite.Classes) float64 {
	if config.Kappa == bipartite.KappaPairs {
		return 2 / float64(pairs.Pairs())
	}
	return 2
}

// law returns the model's probabilities of the sampled rankings, in the order of set.Gain: p(y) ∝ ω_y
// exp(slope·s_y). s_y sums the scores along the walk of y, and log ω_y is in set.LogWeight, 0 without.
func law(set *sample.Set, scores []float64, slope float64) []float64 {
	p := make([]float64, set.Len())
	walk := make([]float64, set.Walks)
	for w, start := range set.Start {
		for i, c := range set.Restarts[start] {
			walk[w] += float64(c * scores[i])
		}
	}
	copy(p, walk)
	for t := 1; t <= set.Steps; t++ {
		for w := range walk {
			at := (t-1)*set.Walks + w
			walk[w] += scores[set.Plus[at]] - scores[set.Minus[at]]
		}
		if t%set.Thin == 0 {
			copy(p[t/set.Thin*set.Walks:], walk)
		}
	}
	for y := range p {
		p[y] = float64(p[y] * slope)
		if set.LogWeight != nil {
			p[y] += set.LogWeight[y]
		}
	}
	highest, sum := slices.Max(p), 0.0
	for y := range p {
		p[y] = elementary.Exp(p[y] - highest)
		sum += p[y]
	}
	for y := range p {
		p[y] /= sum
	}
	return p
}

// binaryGain returns the gain of the ranking by scores. It makes grades binary, as training does.
func binaryGain(config logrank.Options, grades, scores []float64) float64 {
	binary := make([]float64, len(grades))
	for i, g := range grades {
		if g >= config.Threshold {
			binary[i] = 1
		}
	}
	good, above, total := 0, 0, 0
	for _, g := range binary {
		total += int(g)
	}
	gain := 0.0
	for _, doc := range model.AppendOrder(nil, scores) {
		if binary[doc] == 0 {
			above++
			continue
		}
		gain += config.Gain.GoodGain(good, above, total, len(grades)-total)
		good++
	}
	return gain
}

func (c *collector) diagnosis(s int) diagnosis {
	o := c.config.Sampler
	d := diagnosis{
		System: s, Measure: c.config.Gain.Name(), Queries: c.queries,
		Options: fmt.Sprintf("%d draws by walks of %d steps, %s", o.Samples, o.Steps, starts(o)),
	}
	for i := range c.drawn {
		d.Drawn = append(d.Drawn, rounded(c.drawn[i]/float64(c.queries), 4))
		d.Law = append(d.Law, rounded(c.law[i]/float64(c.queries), 4))
	}
	for i, name := range columnNames {
		v := c.columns[i]
		slices.Sort(v)
		at := func(share float64) float64 { return rounded(v[int(math.Round(share*float64(len(v)-1)))], 4) }
		d.Rows = append(d.Rows, spread{name, at(0.1), at(0.5), at(0.9)})
	}
	return d
}

// starts describes where the walks begin and which of their rankings count.
func starts(o sample.Options) string {
	text := fmt.Sprintf("%g %% of them from the ideal ranking, the others from the worst", 100*o.Mix)
	switch {
	case o.Levels > 0:
		text = fmt.Sprintf("from %d states between the ideal ranking and the worst, skew %g", o.Levels, o.Skew)
	case o.Mix == 1:
		text = "all from the ideal ranking"
	case o.Mix == 0:
		text = "all from the worst ranking"
	}
	if o.Thin > 1 {
		text += fmt.Sprintf("; one state in %d counts", o.Thin)
	}
	return text
}
