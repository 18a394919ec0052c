package measure

import "github.com/listwise/listwise/dataset"

// judged is Judged@k: the share of judged documents among the first k retrieved documents, or among all
// if fewer were retrieved (ir_measures). A low share warns that other measures are unreliable, because
// they treat unjudged documents as irrelevant. The value is 0 if nothing was retrieved.
type judged struct {
	base
	k int // 0 for no cutoff
}

func newJudged(s spec) Averager { return judged{newBase(s), s.k} }

// Value implements Measure.
func (m judged) Value(ranked []float64) (float64, bool) {
	top := ranked[:cutoff(m.k, len(ranked))]
	return float64(judgedOf(top)) / float64(max(len(top), 1)), true
}

// Average implements Averager. A group that straddles the cutoff contributes its proportional part.
func (m judged) Average(ranked []float64, ends []int) (float64, bool) {
	k, start, found := cutoff(m.k, lastEnd(ends)), 0, 0.0
	for _, end := range ends {
		if start >= k {
			break
		}
		n := float64(judgedOf(ranked[start:end]))
		if end > k {
			n = n * float64(k-start) / float64(end-start)
		}
		found += n
		start = end
	}
	return found / float64(max(k, 1)), true
}

func judgedOf(grades []float64) int {
	n := 0
	for _, l := range grades {
		if !dataset.IsUnjudged(l) {
			n++
		}
	}
	return n
}
