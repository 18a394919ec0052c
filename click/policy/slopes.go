package policy

import "math"

// The examinations of slots are estimates, too. A value is a function of their logarithms, whose slopes give the
// variance that comes from their errors (delta method).

// slopeOf sets e.slope to the slopes of the page's term of a policy by ln α of the slots. The term is
// Σ_d ω_d C_d/E_d in expectation, where ω_d and E_d are sums over slots in which α is a factor.
func (e *Evaluation) slopeOf(list []exposure) {
	e.slope = e.slope[:0]
	for range e.slots {
		e.slope = append(e.slope, 0)
	}
	for _, x := range list {
		pair := e.index.Lookup(e.page.Query, x.doc)
		if pair < 0 || !(e.examined[pair] > 0) {
			continue
		}
		worth := e.control[pair]
		if e.Value == Clicks {
			for _, p := range x.places {
				e.slope[p.slot] += float64(p.omega * worth)
			}
		}
		e.ofPair(pair, func(slot int, share float64) { e.slope[slot] -= float64(float64(x.omega*worth) * share) })
	}
}

// ofPair calls use with the shares of a pair's examinations in each slot.
func (e *Evaluation) ofPair(pair int, use func(slot int, share float64)) {
	for _, i := range e.order[e.starts[pair]:e.starts[pair+1]] {
		slot := int(e.list[i].slot)
		use(slot, float64(e.slots[slot].Alpha*e.counts[i].Shown)/e.examined[pair])
	}
}

// slopeOfLog adds the slopes of what the log got from the page, which depends on examinations for the DCG alone.
func (e *Evaluation) slopeOfLog() {
	if e.Value != DCG || !e.Estimator.byExamination() {
		return
	}
	for len(e.log.slope) < len(e.slots) {
		e.log.slope = append(e.log.slope, 0)
	}
	for r := range e.page.Docs {
		s := e.page.slots[r]
		e.log.slope[s] -= float64(float64(e.page.Weight*e.Worth(r)) * ((e.click(r) - e.slots[s].Beta) / e.slots[s].Alpha))
	}
}

// addTo adds a times factor to the sums.
func addTo(sums, a []float64, factor float64) []float64 {
	for len(sums) < len(a) {
		sums = append(sums, 0)
	}
	for i, v := range a {
		sums[i] += float64(factor * v)
	}
	return sums
}

// varianceOf returns the variance of a value with these slopes, each over total.
func (e *Evaluation) varianceOf(slope []float64, total float64) (sum float64) {
	for _, d := range e.slopes(slope, total) {
		sum += float64(d * d)
	}
	return sum
}

// slopes returns the slopes by the independent variables of the errors, over total.
func (e *Evaluation) slopes(slope []float64, total float64) []float64 {
	own := make([]float64, len(e.slots))
	var shared []float64
	for i, s := range e.slots {
		v := 0.0
		if i < len(slope) {
			v = slope[i] / total
		}
		own[i] = float64(v * s.Error)
		shared = addTo(shared, s.Shared, v)
	}
	return append(own, shared...)
}

// factors returns the rows of L with LL' = c, a covariance matrix that may be singular, of which c has the lower triangle.
func factors(c [][]float64) (rows [][]float64) {
	for i := range c {
		row := make([]float64, len(c))
		for j := range i + 1 {
			v := c[i][j]
			for k := range j {
				other := row
				if j < i {
					other = rows[j]
				}
				v -= float64(row[k] * other[k])
			}
			switch {
			case j == i:
				row[i] = math.Sqrt(max(0, v))
			case rows[j][j] > singular*math.Sqrt(c[j][j]):
				row[j] = v / rows[j][j]
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// singular is a rounding error of a standard deviation, relative to it.
const singular = 1e-6
