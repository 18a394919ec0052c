package paper

import (
	"fmt"
	"strconv"
)

func figure5Experiment() Experiment {
	s := figure5()
	return Experiment{
		Name:  s.name,
		Title: s.title,
		Shows: "that walks had better start at the ideal ranking than at the worst",
		Data:  sweepData,
		Reads: true,
		Run:   s.run,
	}
}

// figure5 varies the share of walks that start at the ideal ranking; the others
// start at the worst. The numbers of walks and of samples stay the same.
func figure5() sweep {
	s := sweep{
		name:  "logrank-fig5",
		title: "LogRank, Figure 5: accuracy against the mix of restarts at Δ = 0 and Δ = 1",
		axis:  "mix",
		grid:  gridSweep,
		seeds: sweepSeeds,
		size:  hp2004Size,
		verdict: func(r sweepResult) string {
			return fmt.Sprintf("The paper: skewing towards Δ = 0 generally increases accuracy. Here, from a share of 0.1 at Δ = 0 to 0.9: NDCG@10 %+.4f, MAP %+.4f.",
				r.mean("ndcg@10", 2)-r.mean("ndcg@10", 0), r.mean("map", 2)-r.mean("map", 0))
		},
	}
	for _, mix := range []float64{0.1, 0.5, 0.9} {
		text := strconv.FormatFloat(mix, 'g', -1, 64)
		s.points = append(s.points, sweepPoint{label: text, x: mix, settings: map[string]string{"mix": text}})
	}
	return s
}
