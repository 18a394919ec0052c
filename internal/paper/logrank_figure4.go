package paper

import (
	"fmt"
	"strconv"
)

func figure4Experiment() Experiment {
	s := figure4([]int{50, 100, 200, 500, 1000, 2000, 5000})
	return Experiment{
		Name:  s.name,
		Title: s.title,
		Shows: "that accuracy saturates as more rankings are drawn",
		Data:  sweepData,
		Reads: true,
		Run:   s.run,
	}
}

// sweepData says what the experiments of Figures 4 to 8 run on.
const sweepData = "HP2004 in --data, or another set (--set); synthetic data without --data"

// figure4 varies the number of rankings drawn for a query. The paper's abscissae
// are lost.
func figure4(samples []int) sweep {
	s := sweep{
		name:    "logrank-fig4",
		title:   "LogRank, Figure 4: accuracy against the size of the sample",
		axis:    "samples",
		log:     true,
		grid:    gridSweep,
		seeds:   sweepSeeds,
		size:    hp2004Size,
		verdict: saturation,
	}
	for _, m := range samples {
		text := strconv.Itoa(m)
		s.points = append(s.points, sweepPoint{label: text, x: float64(m), settings: map[string]string{"samples": text}})
	}
	return s
}

// saturation compares what the first and the second half of the points gain.
func saturation(r sweepResult) string {
	points := len(r["map"])
	middle := points / 2
	gain := func(m string) string {
		return fmt.Sprintf("%s %+.4f, %+.4f.", title(m), r.mean(m, middle)-r.mean(m, 0), r.mean(m, points-1)-r.mean(m, middle))
	}
	text := "The paper: accuracy increases with the size of the sample and is close to saturation. Here, from the smallest sample to the middle one and from there to the largest: " +
		gain("ndcg@10") + " " + gain("map")
	if len(r["map"][0]) > 1 {
		text += fmt.Sprintf(" The standard deviation of MAP over seeds goes from %.4f to %.4f.", sd(r["map"][0]), sd(r["map"][points-1]))
	}
	return text
}
