package paper

import (
	"fmt"
	"strconv"
)

func figure6Experiment() Experiment {
	s := figure6()
	return Experiment{
		Name:  s.name,
		Title: s.title,
		Shows: "that among many restarts those near the ideal ranking are best: k far below 0",
		Data:  sweepData,
		Reads: true,
		Run:   s.run,
	}
}

// figure6 varies the skew k of the probability ∝ exp(kΔ) with which walks start
// at eleven levels from the ideal ranking to the worst.
func figure6() sweep {
	s := sweep{
		name:      "logrank-fig6",
		title:     "LogRank, Figure 6: accuracy against the skew k of restarts at eleven levels",
		axis:      "skew",
		grid:      gridSweep,
		seeds:     sweepSeeds,
		size:      hp2004Size,
		published: publishedFigure6(),
		verdict:   skewing,
	}
	for _, k := range []float64{5, 0, -5, -10, -20} {
		text := strconv.FormatFloat(k, 'g', -1, 64)
		s.points = append(s.points, sweepPoint{label: text, x: k, settings: map[string]string{"levels": "11", "skew": text}})
	}
	return s
}

// skewing compares the ends of the scale, and reports whether training fails at
// k = 5 as the paper's did.
func skewing(r sweepResult) string {
	last := len(r["map"]) - 1
	text := fmt.Sprintf("The paper: k far below 0 seems uniformly better, and k = 5 and 0 fail altogether. Here, from k = 5 to k = -20: NDCG@10 %+.4f, MAP %+.4f.",
		r.mean("ndcg@10", last)-r.mean("ndcg@10", 0), r.mean("map", last)-r.mean("map", 0))
	if r.mean("map", 0) > r.mean("map", last)/2 {
		text += " Nothing collapses at k = 5, where sums are taken by log-sum-exp and the ideal ranking always is in the sample: the paper's collapse looks like a numerical failure."
	}
	return text
}
