package policy

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/jacobi"
)

// solver computes q'Γ⁺x of pages, for rankings with few possible orders.
//
// Γ = A'A, where row i of A is √p_i times the indicators x_i of order i. The page is order s, so x = A'e_s/√p_s and
// q'Γ⁺x = (Aq)'K⁺e_s/√p_s with K = AA', a matrix of the orders.
type solver struct {
	orders  []click.Order
	ranks   int
	inverse []float64 // K⁺, row by row
	shown   int       // the order of the page
}

// mostOrders is the largest number of orders of a page for Pseudo. The time grows with its third power.
const mostOrders = 250

// take prepares a page, whose ranking is among its orders.
func (s *solver) take(p *click.Page) error {
	n := len(p.Docs)
	if n != s.ranks || !slices.EqualFunc(p.Orders, s.orders, func(a, b click.Order) bool {
		return a.Probability == b.Probability && slices.Equal(a.Docs, b.Docs)
	}) {
		if len(p.Orders) > mostOrders {
			return bad(fmt.Sprintf("%d orders", len(p.Orders)), fmt.Sprintf("at most %d for the estimator %s", mostOrders, Pseudo))
		}
		s.ranks, s.orders = n, make([]click.Order, len(p.Orders))
		for i, o := range p.Orders {
			s.orders[i] = click.Order{Docs: slices.Clone(o.Docs), Probability: o.Probability}
		}
		m := len(s.orders)
		k := make([]float64, m*m)
		for i, a := range s.orders {
			for j, b := range s.orders {
				k[i*m+j] = float64(math.Sqrt(a.Probability*b.Probability) * s.alike(a.Docs, b.Docs))
			}
		}
		s.inverse = pseudoinverse(k, m)
	}
	s.shown = slices.IndexFunc(s.orders, func(o click.Order) bool { return slices.Equal(top(o.Docs, n), p.Docs) })
	return nil
}

// alike returns the number of ranks at which two rankings have the same document.
func (s *solver) alike(a, b []string) float64 {
	n := 0
	for r := range min(s.ranks, len(a), len(b)) {
		if a[r] == b[r] {
			n++
		}
	}
	return float64(n)
}

// weight returns q'Γ⁺x for the rankings of a policy.
func (s *solver) weight(rankings []click.Order) float64 {
	m, sum := len(s.orders), 0.0
	for i, o := range s.orders {
		aq := 0.0
		for _, r := range rankings {
			aq += float64(r.Probability * s.alike(o.Docs, r.Docs))
		}
		sum += float64(float64(math.Sqrt(o.Probability)*aq) * s.inverse[i*m+s.shown])
	}
	return sum / math.Sqrt(s.orders[s.shown].Probability)
}

// pseudoinverse returns the pseudoinverse of a symmetric positive semidefinite matrix of n rows. It overwrites the matrix.
func pseudoinverse(a []float64, n int) []float64 {
	v := make([]float64, n*n)
	jacobi.Diagonalize(a, n, v)
	largest := 0.0
	for i := range n {
		largest = max(largest, a[i*n+i])
	}
	inverse := make([]float64, n*n)
	for k := range n {
		lambda := a[k*n+k]
		if !(lambda > 1e-11*largest) {
			continue
		}
		for i := range n {
			x := v[i*n+k] / lambda
			for j := range n {
				inverse[i*n+j] += float64(x * v[j*n+k])
			}
		}
	}
	return inverse
}
