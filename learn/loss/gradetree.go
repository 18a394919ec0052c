package loss

import (
	"github.com/listwise/listwise/internal/kernel"
)

// gradeTree contains all pairs of documents with different grades. It computes sums over the pairs whose
// scores are in the wrong order, or in the right order by less than a margin. The sums take O(n log n)
// for n documents and any number of grades.
//
// The documents are in descending order of grade. Documents with equal grades form a level. Each node
// splits a run of adjacent levels into two parts, so every document of the upper part is better than
// every document of the lower part. Exactly one node separates two given levels, so this node has all
// pairs of their documents. A node comes after the nodes of its parts, so both parts are already sorted
// by score. It scans the two sorted lists once and then merges them for its parent, as merge sort does
// when it counts inversions. (C.-P. Lee and C.-J. Lin, Large-Scale Linear RankSVM, Neural Computation
// 26, 2014, use order-statistic trees for the same sums.) A run is split where its parts are nearest in
// size, so a document belongs to at most log₂ n + 2 nodes.
type gradeTree struct {
	order  []int32 // documents, by descending grade
	levels []int   // end of each level in order
	nodes  []gradeNode

	weights []float64 // indexed like order; nil means 1
}

// gradeNode has the pairs of a better document in order[from:mid] and a worse one in order[mid:to].
type gradeNode struct{ from, mid, to int }

// newGradeTree returns the tree of documents with the given grades. In sums, a pair counts as the
// product of both documents' weights. Nil weights mean 1.
func newGradeTree(grades, weights []float64) gradeTree {
	t := gradeTree{order: make([]int32, len(grades))}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	sortByGrade(t.order, grades)
	t.levels = levelEnds(grades, t.order)
	t.split(0, 0, len(t.levels))
	if weights != nil {
		t.weights = make([]float64, len(weights))
		kernel.Gather(t.weights, weights, t.order, 1)
	}
	return t
}

// split adds the nodes of the levels first ≤ l < last. Level first begins at from.
func (t *gradeTree) split(from, first, last int) {
	if last-first < 2 {
		return
	}
	to := t.levels[last-1]
	cut, best := first, len(t.order)+1
	for l := first; l < last-1; l++ {
		if larger := max(t.levels[l]-from, to-t.levels[l]); larger < best {
			cut, best = l, larger
		}
	}
	mid := t.levels[cut]
	t.split(from, first, cut+1)
	t.split(mid, cut+1, last)
	t.nodes = append(t.nodes, gradeNode{from, mid, to})
}

// pairs returns the number of pairs, or the sum of their weights if documents have weights.
func (t *gradeTree) pairs() float64 {
	var n float64
	for _, node := range t.nodes {
		if t.weights != nil {
			n += float64(kernel.Sum(t.weights[node.from:node.mid]) * kernel.Sum(t.weights[node.mid:node.to]))
			continue
		}
		n += float64(float64(node.mid-node.from) * float64(node.to-node.mid))
	}
	return n
}

// size returns the total number of documents of all nodes.
func (t *gradeTree) size() int {
	n := 0
	for _, node := range t.nodes {
		n += node.to - node.from
	}
	return n
}

// sweep sums t_ij = margin − s_i + s_j over the active pairs, which are the pairs with t_ij > 0.
type sweep struct {
	tree *gradeTree

	// Both are indexed by place in the tree's order. count is the number of a document's active pairs,
	// and first is Σ t_ij over them. The better document of a pair counts it with +, the worse one with
	// −. If documents have weights, the other document's weight multiplies each term.
	count, first []float64

	keys, places         []float64 // scores in descending order in each part, and their places in the tree's order
	workKeys, workPlaces []float64
}

// moments are sums over all active pairs of 1, t and t².
type moments struct{ count, first, second float64 }

func (t *gradeTree) newSweep(scratch *Scratch) sweep {
	n := len(t.order)
	return sweep{
		tree: t, count: scratch.Floats(n), first: scratch.Floats(n),
		keys: scratch.Floats(n), places: scratch.Floats(n),
		workKeys: scratch.Floats(n), workPlaces: scratch.Floats(n),
	}
}

// run computes count and first at the given scores, and returns the moments. If keep is not nil, run
// stores the active pairs in it.
func (s *sweep) run(scores []float64, margin float64, keep *activePairs) moments {
	kernel.Gather(s.keys, scores, s.tree.order, 1)
	for i := range s.places {
		s.places[i] = float64(i)
	}
	from := 0
	for _, to := range s.tree.levels {
		kernel.SortDescending(s.keys[from:to], s.places[from:to], s.workKeys[from:to], s.workPlaces[from:to])
		from = to
	}
	clear(s.count)
	clear(s.first)
	var sums moments
	keep.reset()
	for k, n := range s.tree.nodes {
		if s.tree.weights == nil {
			sums.second += s.better(n, margin, keep.node(s, n))
			s.worse(n, margin, &sums)
		} else {
			sums.second += s.betterWeighted(n, margin, keep.node(s, n))
			s.worseWeighted(n, margin, &sums)
		}
		if k+1 < len(s.tree.nodes) {
			s.merge(n)
		}
	}
	return sums
}

// better adds the active pairs of a node to count and first of the better documents, and returns Σ t².
// It visits these documents in descending order of score, so active pairs stay active. From one document
// to the next, each t grows by the difference of their scores. Nothing is subtracted, so rounding errors
// are not larger than those of a direct sum over pairs. Unless active is nil, better sets it to each
// document's number of active pairs.
func (s *sweep) better(n gradeNode, margin float64, active []int32) (sum float64) {
	upper, lower, places := s.keys[n.from:n.mid], s.keys[n.mid:n.to], s.places[n.from:n.mid]
	var count, first, second, last float64
	next := 0
	for i, score := range upper {
		if next > 0 {
			closer := last - score
			second += float64(closer * (float64(2*first) + float64(count*closer)))
			first += float64(count * closer)
		}
		last = score
		for ; next < len(lower); next++ {
			t := margin + lower[next] - score
			if !(t > 0) {
				break
			}
			count++
			first += t
			second += float64(t * t)
		}
		at := int(places[i])
		s.count[at] += count
		s.first[at] += first
		sum += second
		if active != nil {
			active[i] = int32(next)
		}
	}
	return sum
}

// worse is like better, but for the worse documents of a node. It visits them in ascending order of
// score, and adds the number of active pairs and Σ t to sums.
func (s *sweep) worse(n gradeNode, margin float64, sums *moments) {
	upper, lower, places := s.keys[n.from:n.mid], s.keys[n.mid:n.to], s.places[n.mid:n.to]
	var count, first, last float64
	next := len(upper) - 1
	for j := len(lower) - 1; j >= 0; j-- {
		score := lower[j]
		if count > 0 {
			first += float64(count * (score - last))
		}
		last = score
		for ; next >= 0; next-- {
			t := margin + score - upper[next]
			if !(t > 0) {
				break
			}
			count++
			first += t
		}
		at := int(places[j])
		s.count[at] -= count
		s.first[at] -= first
		sums.count += count
		sums.first += first
	}
}

// merge merges the sorted parts of a node into one sorted list.
func (s *sweep) merge(n gradeNode) {
	keys, places := s.keys[n.from:n.to], s.places[n.from:n.to]
	workKeys, workPlaces := s.workKeys[n.from:n.to], s.workPlaces[n.from:n.to]
	kernel.MergeDescending(workKeys, workPlaces, keys, places, n.mid-n.from)
	copy(keys, workKeys)
	copy(places, workPlaces)
}

// scatter multiplies byPlace by scale and by the documents' weights, and stores the products in lambda
// by document. It does nothing if lambda is nil.
func (s *sweep) scatter(lambda, byPlace []float64, scale float64) {
	if lambda == nil {
		return
	}
	for i, d := range s.tree.order {
		lambda[d] = scale * byPlace[i]
	}
	for i, w := range s.tree.weights {
		lambda[s.tree.order[i]] *= w
	}
}

// activePairs stores the pairs that are active at some scores. For each node, it has the documents of
// both parts in descending order of score. For each document of the upper part, it has the number of
// active pairs, which are pairs with the first documents of the lower part. A nil *activePairs stores
// nothing.
type activePairs struct {
	tree   *gradeTree
	docs   []int32
	active []int32 // as long as docs; only elements of upper parts are used
	end    int     // total size of the nodes stored so far

	weights []float64 // by document; nil means 1
}

func newActivePairs(t *gradeTree) activePairs {
	n := t.size()
	p := activePairs{tree: t, docs: make([]int32, n), active: make([]int32, n)}
	if t.weights != nil {
		p.weights = make([]float64, len(t.order))
		for place, d := range t.order {
			p.weights[d] = t.weights[place]
		}
	}
	return p
}

func (p *activePairs) reset() {
	if p != nil {
		p.end = 0
	}
}

// node stores the documents of node n. It returns the slice for the numbers of active pairs.
func (p *activePairs) node(s *sweep, n gradeNode) []int32 {
	if p == nil {
		return nil
	}
	docs := p.docs[p.end:]
	for i, place := range s.places[n.from:n.to] {
		docs[i] = p.tree.order[int(place)]
	}
	active := p.active[p.end : p.end+n.mid-n.from]
	p.end += n.to - n.from
	return active
}

// addTimes adds scale·L·v to dst, where L is the Laplacian of the graph of active pairs: (Lv)_i = Σ_j
// w_i·w_j (v_i − v_j) over the documents j that form an active pair with i.
func (p *activePairs) addTimes(dst, v []float64, scale float64) {
	if p.weights != nil {
		p.addTimesWeighted(dst, v, scale)
		return
	}
	at := 0
	for _, n := range p.tree.nodes {
		docs := p.docs[at : at+n.to-n.from]
		active := p.active[at : at+n.mid-n.from]
		upper, lower := docs[:n.mid-n.from], docs[n.mid-n.from:]
		var sum float64
		next := int32(0)
		for i, d := range upper {
			for ; next < active[i]; next++ {
				sum += v[lower[next]]
			}
			dst[d] += float64(scale * (float64(float64(next)*v[d]) - sum))
		}
		sum = 0
		i := len(upper) - 1
		for j := len(lower) - 1; j >= 0; j-- {
			for ; i >= 0 && int(active[i]) > j; i-- {
				sum += v[upper[i]]
			}
			d := lower[j]
			dst[d] += float64(scale * (float64(float64(len(upper)-1-i)*v[d]) - sum))
		}
		at += n.to - n.from
	}
}

// The functions below repeat the loops above for documents with weights. Shared loops would slow down
// documents without weights, which do not need the additional products.

// betterWeighted is better with weights. In count and first, the worse document's weight multiplies the
// term of a pair. In the result, both weights do.
func (s *sweep) betterWeighted(n gradeNode, margin float64, active []int32) (sum float64) {
	upper, lower, places := s.keys[n.from:n.mid], s.keys[n.mid:n.to], s.places[n.from:n.to]
	var count, first, second, last float64
	next := 0
	for i, score := range upper {
		if next > 0 {
			closer := last - score
			second += float64(closer * (float64(2*first) + float64(count*closer)))
			first += float64(count * closer)
		}
		last = score
		for ; next < len(lower); next++ {
			t := margin + lower[next] - score
			if !(t > 0) {
				break
			}
			w := s.tree.weights[int(places[len(upper)+next])]
			count += w
			first += float64(w * t)
			second += float64(w * t * t)
		}
		at := int(places[i])
		s.count[at] += count
		s.first[at] += first
		sum += float64(s.tree.weights[at] * second)
		if active != nil {
			active[i] = int32(next)
		}
	}
	return sum
}

// worseWeighted is worse with weights. In count and first, the better document's weight multiplies the
// term of a pair. In sums, both weights do.
func (s *sweep) worseWeighted(n gradeNode, margin float64, sums *moments) {
	upper, lower, places := s.keys[n.from:n.mid], s.keys[n.mid:n.to], s.places[n.from:n.to]
	var count, first, last float64
	next := len(upper) - 1
	for j := len(lower) - 1; j >= 0; j-- {
		score := lower[j]
		if count > 0 {
			first += float64(count * (score - last))
		}
		last = score
		for ; next >= 0; next-- {
			t := margin + score - upper[next]
			if !(t > 0) {
				break
			}
			w := s.tree.weights[int(places[next])]
			count += w
			first += float64(w * t)
		}
		at := int(places[len(upper)+j])
		s.count[at] -= count
		s.first[at] -= first
		sums.count += float64(s.tree.weights[at] * count)
		sums.first += float64(s.tree.weights[at] * first)
	}
}

// addTimesWeighted is addTimes with weights. The weight of an edge is the product of its documents'
// weights.
func (p *activePairs) addTimesWeighted(dst, v []float64, scale float64) {
	weights, at := p.weights, 0
	for _, n := range p.tree.nodes {
		docs := p.docs[at : at+n.to-n.from]
		active := p.active[at : at+n.mid-n.from]
		upper, lower := docs[:n.mid-n.from], docs[n.mid-n.from:]
		var sum, total float64
		next := int32(0)
		for i, d := range upper {
			for ; next < active[i]; next++ {
				w := weights[lower[next]]
				sum += float64(w * v[lower[next]])
				total += w
			}
			dst[d] += float64(scale * weights[d] * (float64(total*v[d]) - sum))
		}
		sum, total = 0, 0
		i := len(upper) - 1
		for j := len(lower) - 1; j >= 0; j-- {
			for ; i >= 0 && int(active[i]) > j; i-- {
				w := weights[upper[i]]
				sum += float64(w * v[upper[i]])
				total += w
			}
			d := lower[j]
			dst[d] += float64(scale * weights[d] * (float64(total*v[d]) - sum))
		}
		at += n.to - n.from
	}
}
