package loss

// The loops of gradetree.go for documents with weights, apart from these because a product more in
// each would take time that documents without weights have no use for.

// betterWeighted is better: the sums over a document's active pairs are by the weights of the
// worse documents, and what it returns is by both.
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

// worseWeighted is worse, with weights as in betterWeighted.
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

// addTimesWeighted is addTimes: an edge of the graph weighs the product of its documents' weights.
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
