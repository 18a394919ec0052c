package logrank

import (
	"math"
	"testing"
)

// TestFeatureMapOfTopRanks: the feature map of section 1.2's example, the documents at ranks 1 to
// k less all others, is no feature map for the laws of this package. Rankings of the same pairs
// y_gb differ in it, so that φ(y*) is not defined; and the likelihood of all ideal rankings
// together is not convex.
func TestFeatureMapOfTopRanks(t *testing.T) {
	const k, goods, n = 2, 1, 4
	top := func(order []int, s []float64) float64 {
		var sum float64
		for r, d := range order {
			if r < k {
				sum += s[d]
			} else {
				sum -= s[d]
			}
		}
		return sum
	}
	pairs := func(order []int, s []float64) float64 {
		var sum float64
		for r, d := range order {
			for _, e := range order[r+1:] {
				if (d < goods) != (e < goods) {
					sum += s[d] - s[e]
				}
			}
		}
		return sum
	}
	s := []float64{0.5, 0.1, 0.2, 0.4}
	one, other := []int{0, 1, 2, 3}, []int{0, 3, 2, 1} // the good document first in both
	if !near(pairs(one, s), pairs(other, s), 1e-15) || near(top(one, s), top(other, s), 1e-3) {
		t.Errorf("φ_po %v and %v, of top ranks %v and %v", pairs(one, s), pairs(other, s), top(one, s), top(other, s))
	}
	likelihood := func(s []float64) float64 {
		var ideal, all float64
		orders(n, func(order []int) {
			p := math.Exp(top(order, s))
			if all += p; order[0] == 0 {
				ideal += p
			}
		})
		return -math.Log(ideal / all)
	}
	x, y := []float64{0, 3, 0, 0}, []float64{0, 0, 3, 0}
	middle := make([]float64, n)
	for i := range middle {
		middle[i] = (x[i] + y[i]) / 2
	}
	if ends := (likelihood(x) + likelihood(y)) / 2; !(likelihood(middle) > ends+0.01) {
		t.Errorf("likelihood %v between points of %v: expected a point where it is not convex", likelihood(middle), ends)
	}
}

// orders calls each with all orders of n documents.
func orders(n int, each func([]int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var place func(int)
	place = func(k int) {
		if k == n {
			each(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			place(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	place(0)
}
