package trial

import "github.com/listwise/listwise/eval/stats"

// covariate adjusts values y by values x before the experiment:
//
//	y − θ(x − x̄) − φ(h − h̄)
//
// h is 1 for users with a value x and 0 for others, whose x is x̄. θ and φ are the means over arms of the
// slopes on x and on h. Both x and h are from before the experiment, so the adjustment changes no
// expectation of a difference.
type covariate struct {
	y           [][]float64 // adjusted, by arm
	slope       float64
	correlation float64
	known       int
}

// newCovariate adjusts the values y of the members of each arm.
func newCovariate(members [][]int, y [][]float64, before func(i int) (float64, bool)) *covariate {
	c := &covariate{y: make([][]float64, len(y))}
	x, h := make([][]float64, len(y)), make([][]float64, len(y))
	total, users := 0.0, 0
	for k, list := range members {
		x[k], h[k] = make([]float64, len(list)), make([]float64, len(list))
		users += len(list)
		for n, i := range list {
			if v, ok := before(i); ok {
				x[k][n], h[k][n] = v, 1
				total += v
				c.known++
			}
		}
	}
	if c.known == 0 {
		c.y = y
		return c
	}
	mean, share := total/float64(c.known), float64(c.known)/float64(users)
	phi := 0.0
	for k := range x {
		for n := range x[k] {
			if h[k][n] == 0 {
				x[k][n] = mean
			}
		}
		slope, correlation := stats.Covary(x[k], y[k])
		c.slope += slope / float64(len(x))
		c.correlation += correlation / float64(len(x))
		slope, _ = stats.Covary(h[k], y[k])
		phi += slope / float64(len(x))
	}
	for k := range y {
		c.y[k] = make([]float64, len(y[k]))
		for n, v := range y[k] {
			c.y[k][n] = v - float64(c.slope*(x[k][n]-mean)) - float64(phi*(h[k][n]-share))
		}
	}
	return c
}

// compare returns the adjusted difference of two arms.
func (c *covariate) compare(arm, baseline int, plain stats.Difference) (*Adjusted, error) {
	d, err := stats.Welch(c.y[arm], c.y[baseline])
	if err != nil {
		return nil, err
	}
	a := &Adjusted{Difference: d, Slope: c.slope, Correlation: c.correlation, Known: c.known, Variance: 1}
	if plain.Error > 0 {
		ratio := d.Error / plain.Error
		a.Variance = float64(ratio * ratio)
	}
	return a, nil
}
