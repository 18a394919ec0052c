package loss

import "math"

// assignment is a linear assignment problem: assign each of n rows to a column of its own so that
// Σ_r profit(r, column of r) is largest. Only the first rows have a price:
//
//	profit(r, j) = weight_r·x_j − price_r·y_j,  price_r = 0 from some r on.
//
// Both weight and x are in descending order. Without prices, the diagonal is best by the rearrangement
// inequality. The dual variables are then v_j − v_{j−1} = weight_j (x_j − x_{j−1}) and
// u_r = weight_r·x_r − v_r. After that, each row with a price is assigned again along a shortest
// augmenting path (R. Jonker and A. Volgenant, A Shortest Augmenting Path Algorithm for Dense and Sparse
// Linear Assignment Problems, Computing 38, 1987). With k prices this takes O(k·n·m), where m is the
// number of rows on the paths. m is small if the prices are small relative to the weights.
type assignment struct {
	weight, x []float64 // n numbers
	price     []float64 // prices of the first rows
	y         []float64 // n numbers

	row  []float64 // row of each column, −1 if it has none
	u, v []float64 // dual variables: profit(r, j) ≤ u_r + v_j, with equality where assigned

	distance []float64 // distance of each column from the row being assigned
	before   []float64 // previous column on the path to each column, −1 at the start
	done     []float64 // columns with final distance, in the order in which it became final
	open     []float64 // all other columns
}

// columns solves the problem and returns the row of each column.
func (a *assignment) columns(scratch *Scratch) []float64 {
	n := len(a.x)
	a.row, a.u, a.v = scratch.Floats(n), scratch.Floats(n), scratch.Floats(n)
	a.distance, a.before = scratch.Floats(n), scratch.Floats(n)
	a.done, a.open = scratch.Floats(n), scratch.Floats(n)
	a.v[0] = 0
	for j := 1; j < n; j++ {
		a.v[j] = a.v[j-1] + float64(a.weight[j]*(a.x[j]-a.x[j-1]))
	}
	for j := range a.row {
		a.row[j] = float64(j)
		a.u[j] = float64(a.weight[j]*a.x[j]) - a.v[j]
	}
	for j := range a.price {
		a.row[j] = -1
	}
	for r := range a.price {
		a.augment(r)
	}
	return a.row
}

// augment assigns row r, sets its u, and reassigns the rows on the shortest path.
func (a *assignment) augment(r int) {
	n := len(a.x)
	a.u[r] = 0 // distances of columns may be negative at first
	for j := range n {
		a.distance[j], a.open[j] = math.Inf(1), float64(j)
	}
	at, last, length := r, -1, 0.0
	open := a.open
	done := a.done[:0]
	for {
		next := a.relax(at, last, length, open)
		last = int(open[next])
		length = a.distance[last]
		open = append(open[:next], open[next+1:]...)
		if a.row[last] < 0 {
			break
		}
		done = append(done, float64(last))
		at = int(a.row[last])
	}
	a.u[r] = -length
	for _, d := range done {
		j := int(d)
		a.u[int(a.row[j])] -= length - a.distance[j]
		a.v[j] += length - a.distance[j]
	}
	for j := last; ; {
		from := int(a.before[j])
		if from < 0 {
			a.row[j] = float64(r)
			return
		}
		a.row[j] = a.row[from]
		j = from
	}
}

// relax extends the shortest paths to the open columns from row r. Row r is assigned to column last,
// whose distance is length. relax returns the index in open of the nearest column.
func (a *assignment) relax(r, last int, length float64, open []float64) (next int) {
	weight, base, price := a.weight[r], a.u[r]+length, 0.0
	if r < len(a.price) {
		price = a.price[r]
	}
	nearest := math.Inf(1)
	for o, c := range open {
		j := int(c)
		if d := base + a.v[j] - (float64(weight*a.x[j]) - float64(price*a.y[j])); d < a.distance[j] {
			a.distance[j], a.before[j] = d, float64(last)
		}
		if a.distance[j] < nearest {
			nearest, next = a.distance[j], o
		}
	}
	return next
}
