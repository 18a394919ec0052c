package dataset

import "math"

// Scales returns the range of every feature over all documents: its largest value minus its smallest. It reads
// the features once.
func (d *Dataset) Scales() []float64 {
	least, most := make([]float64, d.Features), make([]float64, d.Features)
	rows := d.Reader()
	for i := range d.Queries {
		x := rows.At(i)
		for k := 0; k < len(x); k += d.Features {
			for j, v := range x[k : k+d.Features] {
				v := float64(v)
				if i == 0 && k == 0 {
					least[j], most[j] = v, v
				}
				least[j], most[j] = min(least[j], v), max(most[j], v)
			}
		}
	}
	for j := range most {
		most[j] -= least[j]
	}
	return most
}

// ScaleRatio returns the largest of the features' [Dataset.Scales] divided by the smallest that is not 0, or 1
// if all are 0. The components of a gradient differ by about this factor. From about 10⁴ on, gradient methods
// need very many steps or stop early.
func (d *Dataset) ScaleRatio() float64 {
	least, most := math.Inf(1), 0.0
	for _, s := range d.Scales() {
		if s > 0 {
			least, most = min(least, s), max(most, s)
		}
	}
	if most == 0 {
		return 1
	}
	return most / least
}
