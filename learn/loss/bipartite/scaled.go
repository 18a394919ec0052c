package bipartite

import "github.com/listwise/listwise/internal/kernel"

// Scaled contains a query's good and bad documents and the slope 2κ. The slope turns a difference of
// scores into the log odds z_gb = 2κ(s_g − s_b) of the order of a pair.
type Scaled struct {
	Classes
	Slope float64
}

// Memory provides working memory of unspecified content, as loss.Scratch does.
type Memory interface{ Floats(n int) []float64 }

// Sorted returns the scores of docs, which is one of the classes, times the slope, in descending order.
// at contains the index in docs of each score.
func (c Scaled) Sorted(docs []int32, s []float64, memory Memory) (scores, at []float64) {
	n := len(docs)
	scores, at = memory.Floats(n), memory.Floats(n)
	kernel.Gather(scores, s, docs, c.Slope)
	for i := range at {
		at[i] = float64(i)
	}
	kernel.SortDescending(scores, at, memory.Floats(n), memory.Floats(n))
	return scores, at
}

// Centre subtracts the middle of the range of all scores from both classes, so that sums of many scores
// lose no digits. Both slices must be in descending order.
func Centre(good, bad []float64) {
	middle := float64(max(good[0], bad[0])/2) + float64(min(good[len(good)-1], bad[len(bad)-1])/2)
	for i := range good {
		good[i] -= middle
	}
	for i := range bad {
		bad[i] -= middle
	}
}
