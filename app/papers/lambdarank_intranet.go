package papers

import (
	"fmt"
	"math"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/tune"
)

// intranetDivision is that of section 6.3.2.
var intranetDivision = dataset.Division{Train: 2, Vali: 2, Test: 1}

// lambdaRankIntranet is the comparison of the paper's Figure 2 right on made data of the
// shape of its intranet data.
func lambdaRankIntranet() study {
	s := study{
		Experiment: Experiment{
			Name:   "lambdarank-intranet",
			Paper:  "LambdaRank",
			Title:  "LambdaRank, Figure 2 right: RankNet and LambdaRank on made data of the shape of the intranet data",
			Shows:  "whether 400 queries are enough to tell LambdaRank from RankNet",
			Data:   "made, 400 queries",
			Scales: "the number of queries",
		},
		data:       intranetData,
		convention: standard,
		chosenBy:   fmt.Sprintf("ndcg@%d", artificialTop),
		measures:   ndcgUpTo(artificialTop),
		records:    "{group}",
	}
	several := []string{"ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10"}
	leads, _, orders := s.addNets(nil)
	s.parts = []part{
		says{"source", lambdaRank + ", section 6.3.2"}, command, seed,
		partFunc(func(s *results, r *Report) { r.fact("data", "%s", s.columns[0].about) }), conventions,
		says{"schedule", "a step a query, rate × 0.8 when the training cost rose, new weights after 50 epochs without a lower one, " + realEpochs + " epochs (the paper: 200)"},
		says{"chosen", "rate and epoch in each fold by validation NDCG@10; rates tried, for both methods: " + strings.Join(realRates, ", ")},
		says{"numbers", fmt.Sprintf("means over folds and over %d seeds", drawnSeeds)},
		says{"intervals", "95 %, of differences paired over test queries and seeds; * significant at 5 % after Holm's correction over the table"},
		blocks{title: func(*column, *view) string { return "NDCG on the test queries" }},
		differences{title: func(*column, *view) string { return "LambdaRank less RankNet" }, name: "differences", pairs: leads, measures: several, main: true},
		standInOrders{"LambdaRank above RankNet, of ten truncation levels: in the mean, significantly, and the opposite", orders},
		leadContrasts{leads},
		ratesChosen,
		numberSheet{fields: []field{dataField, methodField, measureField, oursField, neutralField, pooledField}},
		choiceSheet{name: "chosen", fields: []field{dataField, methodField, seedField, foldField, settingsField, validationField}},
		leadCurves{title: "LambdaRank's lead over RankNet on %s, 95 %% intervals", pairs: leads},
		remark("The shares of the grades and the features of the paper's set are not published. These data have its size and number of grades, and noise for about the NDCG of its figure: how far apart the methods are on them says what 400 queries can show, not what the paper found."),
		partFunc(func(s *results, r *Report) {
			for _, f := range intranetFindings(s) {
				r.found(f.Verdict.once(), f.Claim, "%s", f.Figure)
			}
			r.found(ClaimOpen, "a large validation set reduces variance on a set as small as the intranet's (6.3.2)", "the paper has no numbers, and its set is not public; here 2+2+1 parts as there")
		}),
	}
	return s
}

// intranetData are the made data in the paper's folds.
func intranetData(o Options) ([]source, []string, error) {
	shape, err := synth.Lookup("intranet")
	if err != nil {
		return nil, nil, err
	}
	options := shape.Defaults
	options.Queries, options.Seed = max(o.scaled(options.Queries), intranetDivision.Parts()), o.Seed
	d, err := shape.Generate(options)
	if err != nil {
		return nil, nil, err
	}
	folds, err := intranetDivision.Divide(d, random.Stream(o.Seed, "paper folds", shape.Name))
	if err != nil {
		return nil, nil, err
	}
	s := source{
		name: "synthetic intranet",
		about: fmt.Sprintf("made (listwise data synth --shape %s): %d queries of %.1f documents in the mean and %d features, grades 0 to 3; 5 folds of 2+2+1 parts to train, validate and test on",
			shape.Name, options.Queries, float64(d.Docs())/float64(options.Queries), options.Features),
	}
	for i, f := range folds {
		s.folds = append(s.folds, tune.Fold{Name: fmt.Sprintf("Fold%d", i+1), Train: d.Subset(f.Train), Valid: d.Subset(f.Vali), Test: d.Subset(f.Test)})
	}
	return []source{s}, nil, nil
}

// lead is LambdaRank less RankNet with a net on a set.
func (s *results) lead(c *column, net, measure string) difference {
	return c.views[0].difference(s.rowNamed("LambdaRank "+net), s.rowNamed("RankNet "+net), measure)
}

// netOrder tests whether LambdaRank is above RankNet with a net on a set.
func (s *results) netOrder(c *column, net string) OrderClaim {
	return s.orderOn(&order{better: []string{"LambdaRank " + net}, than: []string{"RankNet " + net}}, c)
}

// intranetFindings are on the claims of section 6.3.2, a small set: the lead with linear nets
// is there and not significant, with two layers it is smaller, and more queries would show it.
func intranetFindings(s *results) []Finding {
	linear, layered := artificialNets[0].name, artificialNets[1].name
	var higher, closer, more []FindVerdict
	var counts, leads, needed []string
	for _, c := range s.columns {
		claim := s.netOrder(c, linear)
		learned := func(verdict FindVerdict) FindVerdict {
			return c.views[0].needsLearning(verdict, []int{s.rowNamed("LambdaRank " + linear)}, s.chosenBy)
		}
		higher = append(higher, learned(higherNotSignificantly(&claim)))
		counts = append(counts, fmt.Sprintf("%s: above at %d of %d levels, significantly at %d, below at %d", c.name, claim.Higher, claim.Cells, claim.Above, claim.Below))

		one, two, gap := s.meanLeads(c, linear, layered)
		closer = append(closer, learned(closerThan(one.Mean, two.Mean, gap.Interval)))
		leads = append(leads, fmt.Sprintf("%s: mean lead %+.4f, with two layers %+.4f", c.name, one.Mean, two.Mean))

		d := s.lead(c, linear, s.chosenBy)
		verdict, figure := moreQueries(&d)
		more, needed = append(more, learned(verdict)), append(needed, c.name+": "+figure)
	}
	all := func(words []string) string { return strings.Join(words, "; ") }
	return []Finding{
		{Claim: "on a small set LambdaRank with linear nets is above RankNet at all ten levels in the mean, not significantly (6.3.2)", Verdict: ofAll(higher...), Figure: all(counts)},
		{Claim: "on a small set the methods are closer with two-layer nets than with linear ones (6.3.2)", Verdict: ofAll(closer...), Figure: all(leads)},
		{Claim: "larger sets are needed to tell LambdaRank from RankNet than such a small one (6.3.2)", Verdict: ofAll(more...), Figure: all(needed)},
	}
}

// higherNotSignificantly is the verdict on an order that is to hold in the mean everywhere, and
// significantly nowhere. In part it holds if it is significant.
func higherNotSignificantly(c *OrderClaim) FindVerdict {
	switch {
	case c.Below > 0:
		return ClaimFailed
	case c.Higher < c.Cells:
		return ClaimUndecided
	case c.Above > 0:
		return ClaimPartly
	}
	return ClaimHeld
}

// meanLeads are the leads with two nets, in the mean over the levels, and their difference, in
// the direction of the first.
func (s *results) meanLeads(c *column, linear, layered string) (one, two, gap contrast) {
	v := &c.views[0]
	runs := func(name string) [][]float64 {
		var sum [][]float64
		for _, m := range s.measures {
			for k, run := range v.runs(s.rowNamed(name), m) {
				if k == len(sum) {
					sum = append(sum, make([]float64, len(run)))
				}
				for q, x := range run {
					sum[k][q] += x / float64(len(s.measures))
				}
			}
		}
		return sum
	}
	a, b := runs("LambdaRank "+linear), runs("RankNet "+linear)
	x, y := runs("LambdaRank "+layered), runs("RankNet "+layered)
	one, two = contrastOf("", a, b), contrastOf("", x, y)
	if one.Mean < 0 {
		a, b, x, y = b, a, y, x
	}
	return one, two, contrastOf("", lessRuns(a, x), lessRuns(b, y))
}

// closerThan is the verdict on the claim that the second of two leads is nearer to 0, given the
// interval of their difference in the direction of the first.
func closerThan(first, second float64, gap stats.Interval) FindVerdict {
	switch {
	case gap.Low > 0 && math.Abs(second) < math.Abs(first):
		return ClaimHeld
	case gap.High < 0 || gap.Low > 0 && math.Abs(second) > math.Abs(first):
		return ClaimFailed
	}
	return ClaimUndecided
}

// moreQueries is the verdict on the claim that a positive lead needs more queries to be seen,
// with probability stats.Power at 5 %.
func moreQueries(d *difference) (FindVerdict, string) {
	if !(d.Mean > 0) {
		return ClaimUndecided, fmt.Sprintf("no lead at 10 (%+.4f)", d.Mean)
	}
	ratio := (1.959963984540054 + 0.8416212335729143) * d.Error / d.Mean
	figure := fmt.Sprintf("a lead of %.4f at 10 shows in 80 of 100 sets of %.0f queries (here %d)", d.Mean, math.Ceil(float64(ratio*ratio)*float64(d.queries)), d.queries)
	return holdsIf(ratio > 1), figure
}

// ndcgMargin is the margin of NDCG within which two rows are about equal. In the paper's
// figures the methods are further apart, if not by much.
const ndcgMargin = 0.01

// webFindings are on the claims of section 6.4, whose data are not public: LambdaRank is above
// RankNet with each net, and linear LambdaRank equals two-layer RankNet at the larger levels.
func webFindings(s *results) []Finding {
	var found []Finding
	in := "(6.4; " + strings.Join(s.names(), " and ") + " in place of web data)"
	for _, n := range artificialNets {
		var verdicts []FindVerdict
		var figures []string
		for _, c := range s.columns {
			claim := s.netOrder(c, n.name)
			verdicts = append(verdicts, ofOrder[claim.Verdict])
			figures = append(figures, fmt.Sprintf("%s: above at %d of %d levels, significantly at %d, below at %d", c.name, claim.Higher, claim.Cells, claim.Above, claim.Below))
		}
		found = append(found, Finding{Claim: "LambdaRank is above RankNet, " + n.name + " nets " + in, Verdict: ofAll(verdicts...), Figure: strings.Join(figures, "; ")})
	}
	found = append(found, effective(s))
	var verdicts []FindVerdict
	var figures []string
	for _, c := range s.columns {
		verdict, figure := s.equalRows(c, "LambdaRank linear", "RankNet two-layer", s.measures[len(s.measures)/2:])
		verdicts, figures = append(verdicts, verdict), append(figures, c.name+": "+figure)
	}
	return append(found, Finding{Claim: "linear LambdaRank equals two-layer RankNet at the larger truncation levels " + in, Verdict: ofAll(verdicts...), Figure: strings.Join(figures, "; ")})
}

// effective is on the claim of section 6 that RankNet is good at NDCG, though its cost is another.
func effective(s *results) Finding {
	var verdicts []FindVerdict
	var figures []string
	for _, c := range s.columns {
		v := &c.views[0]
		best := trivial{value: math.Inf(-1)}
		for _, t := range v.trivial[s.chosenBy] {
			if t.value > best.value {
				best = t
			}
		}
		for _, n := range artificialNets {
			row, measures := s.rowNamed("RankNet "+n.name), []string{s.chosenBy}
			d := severalDifferences{between(v.runs(row, s.chosenBy), [][]float64{best.each})}.corrected()
			verdicts = append(verdicts, byCounts(d.significant()))
			figures = append(figures, fmt.Sprintf("%s, %s %.4f, less %s: %s", c.name, n.name, v.mean(row, s.chosenBy), best.system, d.text(measures)))
		}
	}
	return Finding{Claim: "RankNet, with the epoch chosen by validation NDCG, is effective for NDCG (section 6)", Verdict: ofAll(verdicts...),
		Figure: fmt.Sprintf("above the best trivial system in NDCG@%d: %s", artificialTop, strings.Join(figures, "; "))}
}

// names are those of the sets.
func (s *results) names() []string {
	var names []string
	for _, c := range s.columns {
		names = append(names, c.name)
	}
	return names
}

// equalRows is the verdict on the claim that two rows are about equal in some measures. That
// both are no better than a trivial system is no support.
func (s *results) equalRows(c *column, a, b string, measures []string) (FindVerdict, string) {
	v := &c.views[0]
	first, second := s.rowNamed(a), s.rowNamed(b)
	for _, m := range measures {
		for _, t := range v.trivial[m] {
			if !(min(v.mean(first, m), v.mean(second, m)) > t.value) {
				return ClaimTrivial, fmt.Sprintf("%s is as good at %s", t.system, title(m))
			}
		}
	}
	return s.alike(v, first, second, ndcgMargin, measures...)
}
