package click

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/elementary"
)

// edge is an estimate of ln(θ_b/θ_a) with its variance.
type edge struct {
	a, b          int // slots
	log, variance float64
	clicks        [2]float64 // of harvested clicks, in a and in b
}

// leastVariance is the variance of an edge whose documents were all clicked.
const leastVariance = 1e-9

// leastClicks is the number of clicks in each of two slots that an edge of harvested clicks needs.
const leastClicks = 10

// mostSlots is the largest number of slots that are compared with each other, the first of the log.
const mostSlots = 200

// place is a pair in a slot.
type place struct {
	pair int32
	slot uint16
	Count
}

// bytesOfPlace is the memory of a place.
const bytesOfPlace = 32

// places returns the counts of pairs and slots, sorted.
func (s *Survey) places() []place {
	if s.sorted != nil {
		return s.sorted
	}
	cells := &s.counts.Cells
	list := make([]place, len(cells.List))
	for i, c := range cells.List {
		list[i] = place{c.Pair, c.Slot, cells.Counts[i]}
	}
	slices.SortStableFunc(list, func(a, b place) int { return cmp.Or(cmp.Compare(a.pair, b.pair), cmp.Compare(a.slot, b.slot)) })
	n := 0
	for i := range list {
		if n > 0 && list[i].pair == list[n-1].pair && list[i].slot == list[n-1].slot {
			list[n-1].Shown += list[i].Shown
			list[n-1].Clicked += list[i].Clicked
			continue
		}
		list[n] = list[i]
		n++
	}
	s.sorted = list[:n]
	return s.sorted
}

// eachPair calls visit with the slots of every pair.
func eachPair(list []place, visit func(slots []place)) {
	for i := 0; i < len(list); {
		j := i + 1
		for j < len(list) && list[j].pair == list[i].pair {
			j++
		}
		visit(list[i:j])
		i = j
	}
}

// seen returns, for every two slots, what the pairs seen in both tell. A pair counts as if it had been shown
// n_k·n_l/(n_k+n_l) times in each.
func (s *Survey) seen() (infos []SlotsInfo, edges []edge) {
	type sums struct {
		pairs  int
		clicks [2]float64
		spread [2]float64 // variances of clicks
	}
	all := map[[2]uint16]*sums{}
	eachPair(s.places(), func(slots []place) {
		for j, b := range slots {
			for _, a := range slots[:j] {
				if a.Shown == 0 || b.Shown == 0 || b.slot >= mostSlots {
					continue
				}
				key := [2]uint16{a.slot, b.slot}
				t := all[key]
				if t == nil {
					t = new(sums)
					all[key] = t
				}
				t.pairs++
				m := a.Shown * b.Shown / (a.Shown + b.Shown)
				for k, c := range []Count{a.Count, b.Count} {
					rate := c.Clicked / c.Shown
					t.clicks[k] += float64(m * rate)
					t.spread[k] += float64(m * m * rate * (1 - rate) / c.Shown)
				}
			}
		}
	})
	keys := make([][2]uint16, 0, len(all))
	for key := range all {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b [2]uint16) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	infos = []SlotsInfo{}
	names := s.counts.Slots()
	for _, key := range keys {
		t := all[key]
		infos = append(infos, SlotsInfo{names[key[0]], names[key[1]], t.pairs, t.clicks[0], t.clicks[1]})
		if min(t.clicks[0], t.clicks[1]) >= leastClicks {
			variance := t.spread[0]/float64(t.clicks[0]*t.clicks[0]) + t.spread[1]/float64(t.clicks[1]*t.clicks[1])
			edges = append(edges, edge{int(key[0]), int(key[1]), elementary.Log(t.clicks[1] / t.clicks[0]), max(variance, leastVariance), t.clicks})
		}
	}
	return infos, edges
}

// methods returns what each method can estimate.
func (s *Survey) methods(i *Info, harvested []edge) []MethodInfo {
	var shuffled, swapped, fair []edge
	rank := func(r int) int { return s.counts.LookupSlot(strconv.Itoa(r)) }
	// The ratio of clicks at two ranks of the same pages has the variance of the ratio of two means.
	add := func(edges *[]edge, a, b int, clicksA, clicksB, both float64) {
		a, b = rank(a), rank(b)
		if min(a, b) >= 0 && max(a, b) < mostSlots && clicksA > 0 && clicksB > 0 {
			*edges = append(*edges, edge{a, b, elementary.Log(clicksB / clicksA), max(1/clicksA+1/clicksB-2*both/clicksA/clicksB, leastVariance), [2]float64{}})
		}
	}
	for r := 1; r < len(s.deep); r++ {
		add(&shuffled, 1, r+1, s.deep[r].first, s.deep[r].clicked, s.deep[r].both)
	}
	for _, e := range i.Exchanges {
		if e.Method == exchangeMethods[0] {
			add(&swapped, e.A, e.B, e.ClicksA, e.ClicksB, e.Both)
		} else {
			add(&fair, e.A, e.B, e.ClicksA, e.ClicksB, e.Both)
		}
	}
	return []MethodInfo{
		s.method("shuffled", shuffled, fmt.Sprintf("%d shuffled pages", i.Shuffled), "pages whose first documents are in random order, as serve --explore top=N makes"),
		s.method("swapped", swapped, fmt.Sprintf("%d pages with ranks drawn for exchange", i.Swapped), "exchanges, as serve --explore swap makes"),
		s.method("pairs", fair, fmt.Sprintf("%d pages with exchanges of neighbours", i.FairPairs), "exchanges of neighbours, as serve --explore pairs makes"),
		s.method("harvest", harvested, fmt.Sprintf("%d pairs in two slots or more", i.Moved), fmt.Sprintf("more pages of rankers that differ: two slots need %d clicks each on documents seen in both", leastClicks)),
	}
}

// method returns the propensities of the slots that edges connect to the first slot: weighted least squares on
// their logarithms.
func (s *Survey) method(name string, edges []edge, found, supply string) MethodInfo {
	m := MethodInfo{Method: name, Slots: []SlotInfo{}}
	names := s.counts.Slots()
	first := max(0, s.counts.LookupSlot("1"))
	beside := map[int][]int{}
	for _, e := range edges {
		beside[e.a], beside[e.b] = append(beside[e.a], e.b), append(beside[e.b], e.a)
	}
	reached, is := []int{first}, map[int]bool{first: true}
	for k := 0; k < len(reached); k++ {
		for _, slot := range beside[reached[k]] {
			if !is[slot] {
				reached, is[slot] = append(reached, slot), true
			}
		}
	}
	var missing []string
	for slot, name := range names {
		if !is[slot] {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 || len(names) == 0 {
		m.Lacks, m.Supply = found, supply
		if len(reached) > 1 {
			m.Lacks = fmt.Sprintf("no connection of slot 1 with %s", few(missing))
		}
	}
	if len(reached) < 2 {
		return m
	}
	slices.Sort(reached[1:])
	logs, covariance := leastSquares(reached, edges)
	variances := make([]float64, len(reached))
	for k := range covariance {
		variances[k+1] = covariance[k][k]
	}
	if name == "harvest" {
		variances = s.harvestVariances(reached, edges, covariance)
	}
	for k, slot := range reached {
		theta := elementary.Exp(logs[k])
		m.Slots = append(m.Slots, SlotInfo{names[slot], theta, float64(theta * math.Sqrt(variances[k]))})
	}
	return m
}

// harvestVariances returns the variances of the logarithms of harvested propensities. A pair in three slots is in
// three edges, which therefore depend on each other. So the variance is summed over pairs and slots, by the delta
// method.
func (s *Survey) harvestVariances(slots []int, edges []edge, covariance [][]float64) []float64 {
	at := placesOf(slots)
	find := map[[2]int]*edge{}
	for i := range edges {
		find[[2]int{edges[i].a, edges[i].b}] = &edges[i]
	}
	variances, slope := make([]float64, len(slots)), make([]float64, len(slots))
	eachPair(s.places(), func(pair []place) {
		for i, c := range pair {
			clear(slope)
			used := false
			for j, other := range pair {
				a, b, sign, end := int(c.slot), int(other.slot), -1.0, 0
				if j < i {
					a, b, sign, end = b, a, 1, 1
				}
				e := find[[2]int{a, b}]
				if j == i || e == nil || c.Shown == 0 || other.Shown == 0 {
					continue
				}
				ka, connected := at[a]
				if !connected {
					continue
				}
				kb := at[b]
				used = true
				m := c.Shown * other.Shown / (c.Shown + other.Shown)
				f := sign * m / e.clicks[end] / e.variance
				for k := 1; k < len(slots); k++ {
					g := 0.0
					if kb > 0 {
						g += covariance[k-1][kb-1]
					}
					if ka > 0 {
						g -= covariance[k-1][ka-1]
					}
					slope[k] += float64(f * g)
				}
			}
			if !used {
				continue
			}
			rate := c.Clicked / c.Shown
			for k, v := range slope {
				variances[k] += float64(v * v * rate * (1 - rate) / c.Shown)
			}
		}
	})
	return variances
}

// placesOf returns the place of each slot in a list.
func placesOf(slots []int) map[int]int {
	at := make(map[int]int, len(slots))
	for k, slot := range slots {
		at[slot] = k
	}
	return at
}

// few lists names, not all if they are many.
func few(names []string) string {
	const most = 10
	if len(names) > most {
		return fmt.Sprintf("%s and %d more slots", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// leastSquares returns ln θ of slots relative to the first, and the covariances of all but the first. The edges connect
// the slots.
func leastSquares(slots []int, edges []edge) (logs []float64, covariance [][]float64) {
	n := len(slots) - 1
	at := placesOf(slots)
	matrix, right := make([][]float64, n), make([]float64, n) // normal equations, with the unit matrix beside them
	for i := range matrix {
		matrix[i] = make([]float64, 2*n)
		matrix[i][n+i] = 1
	}
	for _, e := range edges {
		a, connected := at[e.a]
		if !connected {
			continue
		}
		b, w := at[e.b], 1/e.variance
		if a > 0 {
			matrix[a-1][a-1] += w
			right[a-1] -= float64(w * e.log)
		}
		if b > 0 {
			matrix[b-1][b-1] += w
			right[b-1] += float64(w * e.log)
		}
		if a > 0 && b > 0 {
			matrix[a-1][b-1] -= w
			matrix[b-1][a-1] -= w
		}
	}
	for i, row := range matrix { // positive definite, so no pivot is needed
		for k := range row {
			if k != i {
				row[k] /= row[i]
			}
		}
		row[i] = 1
		for j, other := range matrix {
			if f := other[i]; j != i && f != 0 {
				for k := range other {
					other[k] -= float64(f * row[k])
				}
			}
		}
	}
	logs = make([]float64, n+1)
	for i, row := range matrix {
		covariance = append(covariance, row[n:])
		for j := range right {
			logs[i+1] += float64(row[n+j] * right[j])
		}
	}
	return logs, covariance
}
