package papers

import (
	"fmt"
	"math"
	"strconv"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
)

// surrogate is one of the three losses of Xia et al. under one mapping. The truth of a list is a
// whole permutation. ListNet compares whole permutations, as defined on the slides. In listLosses
// it compares first documents.
type surrogate struct {
	name, family string // as on the slides: ListNet-l, ListNet
	loss         loss.Loss
	target       func(grade float64) float64 // the mapping ψ; nil for the likelihood
}

const (
	listMLEFamily    = "ListMLE"
	listNetFamily    = "ListNet"
	rankCosineFamily = "RankCosine"
)

// surrogates returns the rows of the slides' table on synthetic data. On the slides, the mapping
// log is the logarithm of the grade. In the library it is log(1 + grade).
func surrogates() []surrogate {
	return slidesLosses(func(m loss.Mapping) loss.Loss { return loss.ListNet{Mapping: m, Top: math.MaxInt} })
}

// slidesLosses returns the rows of the slides' table with a given form of ListNet's cross entropy.
func slidesLosses(listNet func(loss.Mapping) loss.Loss) []surrogate {
	all := []surrogate{{listMLEFamily, listMLEFamily, loss.ListMLE{}, nil}}
	for _, family := range []struct {
		name string
		loss func(loss.Mapping) loss.Loss
	}{
		{listNetFamily, listNet},
		{rankCosineFamily, func(m loss.Mapping) loss.Loss { return loss.RankCosine{Mapping: m} }},
	} {
		all = append(all,
			surrogate{family.name + "-log", family.name, lessOne{family.loss(loss.LogMapping)}, elementary.Log},
			surrogate{family.name + "-sqrt", family.name, family.loss(loss.SqrtMapping), math.Sqrt},
			surrogate{family.name + "-l", family.name, family.loss(loss.LinearMapping), loss.LinearMapping.Score},
			surrogate{family.name + "-q", family.name, family.loss(loss.QuadraticMapping), loss.QuadraticMapping.Score},
			surrogate{family.name + "-exp", family.name, family.loss(loss.ExpMapping), elementary.Exp},
		)
	}
	return all
}

// rankingLoss is a surrogate on one list, minus its minimum. It is 0 for the best scores.
type rankingLoss struct {
	query   loss.QueryLoss
	least   float64
	scratch *loss.Scratch
}

// onOrder returns the loss of a list that order ranks, the best document first. order contains the
// documents' indices. The document at position r of n, from 0, has grade n − r. The loss is not
// safe for concurrent use.
func (s *surrogate) onOrder(order []int) (rankingLoss, error) {
	grades := make([]float64, len(order))
	for r, d := range order {
		grades[d] = float64(len(order) - r)
	}
	// All grades differ, so the loss draws no random order.
	query, err := s.loss.Bind(grades, random.Stream(1, "surrogate", ""))
	l := rankingLoss{query: query, scratch: new(loss.Scratch)}
	if err != nil || s.family != listNetFamily {
		return l, err
	}
	// A cross entropy is smallest if both distributions are equal. Subtracting this minimum gives a
	// divergence.
	best := make([]float64, len(grades))
	for i, g := range grades {
		best[i] = s.target(g)
	}
	l.least = query.Eval(best, nil, l.scratch)
	return l, nil
}

// value returns the loss at the given scores. If lambda is not nil, value sets it to λ.
func (l rankingLoss) value(scores, lambda []float64) float64 {
	return l.query.Eval(scores, lambda, l.scratch) - l.least
}

// identity returns the order 0, 1, …, n−1.
func identity(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// strictlyRanked reports whether the scores rank the documents in this order, without ties.
func strictlyRanked(scores []float64, order []int) bool {
	for r := range len(order) - 1 {
		if !(scores[order[r]] > scores[order[r+1]]) {
			return false
		}
	}
	return true
}

// The code below counts the operations of the losses, because the slides state their orders of
// growth. Each form is computed on a meter, and has the same value as the library's loss.

// meter counts the operations of its methods.
type meter struct{ adds, products, exps, logs int }

func (m *meter) all() int { return m.adds + m.products + m.exps + m.logs }

func (m *meter) add(a, b float64) float64 {
	m.adds++
	return a + b
}

func (m *meter) times(a, b float64) float64 {
	m.products++
	return float64(a * b)
}

func (m *meter) over(a, b float64) float64 {
	m.products++
	return a / b
}

func (m *meter) exp(a float64) float64 {
	m.exps++
	return elementary.Exp(a)
}

func (m *meter) log(a float64) float64 {
	m.logs++
	return elementary.Log(a)
}

// countedForm is a way to compute a loss from scores and target scores ψ. Both list the best
// document first.
type countedForm struct {
	name    string
	slides  string // order of growth on the slides; "" if it is not there
	grows   string // name of the order of growth to compare with
	order   func(n int) float64
	largest int // largest list length for counting
	value   func(m *meter, scores, target []float64) float64
}

func linearOrder(n int) float64 { return float64(n) }

func countedForms() []countedForm {
	whole := func(n int) float64 { return float64(n) * math.Round(elementary.Exp(elementary.LogGamma(float64(n)+1))) }
	return []countedForm{
		{"likelihood, sums from behind", "O(n)", "n", linearOrder, 1 << 20, (*meter).likelihood},
		{"likelihood, as printed", "", "n²", func(n int) float64 { return float64(n) * float64(n) }, 1 << 10, (*meter).printedLikelihood},
		{"cosine", "O(n)", "n", linearOrder, 1 << 20, (*meter).cosine},
		{"cross entropy of permutations", "O(n·n!)", "n·n!", whole, 8, (*meter).crossEntropy},
		{"cross entropy of first documents", "", "n", linearOrder, 1 << 20, (*meter).topCrossEntropy},
	}
}

// likelihood returns the negative log likelihood of the given order. It accumulates Σ_{k≥i}
// exp(s_k) from the last document.
func (m *meter) likelihood(scores, _ []float64) float64 {
	total, sum := 0.0, 0.0
	for i := len(scores) - 1; i >= 0; i-- {
		sum = m.add(sum, m.exp(scores[i]))
		total = m.add(total, m.add(m.log(sum), -scores[i]))
	}
	return total
}

// printedLikelihood computes the same value, but sums every denominator separately.
func (m *meter) printedLikelihood(scores, _ []float64) float64 {
	product := 0.0
	for i := range scores {
		sum := 0.0
		for _, s := range scores[i:] {
			sum = m.add(sum, m.exp(s))
		}
		product = m.add(product, m.log(m.over(m.exp(scores[i]), sum)))
	}
	return -product
}

func (m *meter) cosine(scores, target []float64) float64 {
	dot, own, other := 0.0, 0.0, 0.0
	for i, s := range scores {
		dot = m.add(dot, m.times(s, target[i]))
		own = m.add(own, m.times(s, s))
		other = m.add(other, m.times(target[i], target[i]))
	}
	return m.times(0.5, m.add(1, -m.over(dot, math.Sqrt(m.times(own, other)))))
}

// crossEntropy returns the divergence Σ_π P(π|ψ) log (P(π|ψ)/P(π|s)) over all permutations π.
func (m *meter) crossEntropy(scores, target []float64) float64 {
	n := len(scores)
	left, right := make([]float64, n), make([]float64, n)
	for i := range n {
		left[i], right[i] = m.exp(target[i]), m.exp(scores[i])
	}
	total := 0.0
	eachPermutation(n, func(order []int) {
		p, q, psum, qsum := 1.0, 1.0, 0.0, 0.0
		for k := n - 1; k >= 0; k-- {
			psum, qsum = m.add(psum, left[order[k]]), m.add(qsum, right[order[k]])
			p, q = m.times(p, m.over(left[order[k]], psum)), m.times(q, m.over(right[order[k]], qsum))
		}
		total = m.add(total, m.times(p, m.log(m.over(p, q))))
	})
	return total
}

// topCrossEntropy returns the divergence of the distributions of the first document.
func (m *meter) topCrossEntropy(scores, target []float64) float64 {
	psum, qsum, cross, own := 0.0, 0.0, 0.0, 0.0
	for i, s := range scores {
		p := m.exp(target[i])
		psum, qsum = m.add(psum, p), m.add(qsum, m.exp(s))
		cross, own = m.add(cross, m.times(p, s)), m.add(own, m.times(p, target[i]))
	}
	return m.add(m.over(m.add(own, -cross), psum), m.add(m.log(qsum), -m.log(psum)))
}

// eachPermutation calls do with every permutation of 0 … n−1, in lexicographic order. do must not
// keep the slice.
func eachPermutation(n int, do func(order []int)) {
	order := identity(n)
	for {
		do(order)
		i := n - 2
		for i >= 0 && order[i] > order[i+1] {
			i--
		}
		if i < 0 {
			return
		}
		j := n - 1
		for order[j] < order[i] {
			j--
		}
		order[i], order[j] = order[j], order[i]
		for a, b := i+1, n-1; a < b; a, b = a+1, b-1 {
			order[a], order[b] = order[b], order[a]
		}
	}
}

// countedLists are the list lengths at which operations are counted.
var countedLists = []int{2, 3, 4, 5, 6, 7, 8, 16, 64, 256, 1024}

// operations returns the number of operations of a form on a list of n documents.
func (f *countedForm) operations(n int) meter {
	var m meter
	scores, target := make([]float64, n), make([]float64, n)
	for i := range n {
		_, fraction := math.Modf(float64(i) * math.Phi)
		scores[i], target[i] = fraction, float64(n-i)/float64(n)
	}
	f.value(&m, scores, target)
	return m
}

// perOrder returns the smallest and largest number of operations divided by the order of growth.
func (f *countedForm) perOrder() (least, most float64) {
	least = math.Inf(1)
	for _, n := range countedLists {
		if n <= f.largest {
			m := f.operations(n)
			per := float64(m.all()) / f.order(n)
			least, most = min(least, per), max(most, per)
		}
	}
	return least, most
}

// operationTable returns a table and a sheet of the counts, and of the counts divided by the order
// of growth.
func operationTable() (Table, Sheet) {
	t := Table{Title: "operations (additions, products, exponentials, logarithms) of one evaluation, by documents", Columns: []string{"form", "slides"}, Left: 2}
	s := Sheet{Name: "operations", Columns: []string{"form", "documents", "operations", "additions", "products", "exponentials", "logarithms", "order", "per_order"}}
	for _, n := range countedLists {
		t.Columns = append(t.Columns, strconv.Itoa(n))
	}
	t.Columns = append(t.Columns, "held against", "operations / that")
	for _, f := range countedForms() {
		line := []string{f.name, f.slides}
		for _, n := range countedLists {
			if n > f.largest {
				line = append(line, "")
				continue
			}
			m := f.operations(n)
			line = append(line, strconv.Itoa(m.all()))
			s.Rows = append(s.Rows, []any{f.name, n, m.all(), m.adds, m.products, m.exps, m.logs, f.grows, float64(m.all()) / f.order(n)})
		}
		least, most := f.perOrder()
		t.Rows = append(t.Rows, append(line, f.grows, fmt.Sprintf("%.2f–%.2f", least, most)))
	}
	return t, s
}
