package experiment

import "encoding/binary"

// Softmax interleaves rankings at random. The zero value is ready to use. A Softmax is not safe for
// concurrent use.
type Softmax struct{ teams [2]lottery }

// Draw appends the first documents of the probabilistic interleaving of two rankings to dst (Hofmann,
// Whiteson, de Rijke, A probabilistic method for inferring preferences from clicks, CIKM 2011). a, b and
// most are those of [Drafter.Draft]. In each turn, a coin chooses a team. The team draws one of the
// documents that were not added yet, with probabilities proportional to rank⁻³ in its ranking. So every
// ranking can be shown, and [Place.Softmax] tells what clicks say about the models.
//
// The draws depend only on salt and id. Turn t uses the hash of the id followed by t as eight bytes in
// big-endian order. Its highest bit is the coin. Its second eight bytes, as a fraction u of 2⁶⁴, choose the
// document: ranks are laid end to end with lengths proportional to their probabilities, and u is in the
// length of the document.
func (s *Softmax) Draw(dst []Place, a, b []int, salt string, id []byte, most int) []Place {
	if len(a) != len(b) {
		panic("experiment: rankings of different documents")
	}
	if most <= 0 || most > len(a) {
		most = len(a)
	}
	for team, ranking := range [2][]int{a, b} {
		s.teams[team].fill(ranking)
	}
	var room [512]byte
	for turn := range most {
		hash := Hash(salt, binary.BigEndian.AppendUint64(append(room[:0], id...), uint64(turn)))
		team := int(hash[0] >> 7)
		u := float64(binary.BigEndian.Uint64(hash[8:16])>>11) / (1 << 53)
		p := Place{Doc: s.teams[team].draw(u), Team: team}
		for k := range s.teams {
			p.Softmax[k] = s.teams[k].take(p.Doc)
		}
		dst = append(dst, p)
	}
	return dst
}

// Size returns about how many bytes of memory s has.
func (s *Softmax) Size() int {
	n := 0
	for k := range s.teams {
		n += 8 * (cap(s.teams[k].sums) + cap(s.teams[k].rank) + cap(s.teams[k].docs))
	}
	return n
}

// lottery draws documents of a ranking. sums is a tree: the children of node i are 2i and 2i+1, and a node
// has the sum of its children. The leaves have the weights of the ranks. Sums of what is left, instead of
// differences, keep the small weights exact.
type lottery struct {
	sums []float64
	rank []int // of each document
	docs []int // the ranking
}

// fill sets the ranking.
func (l *lottery) fill(ranking []int) {
	leaves := 1
	for leaves < len(ranking) {
		leaves *= 2
	}
	l.docs = append(l.docs[:0], ranking...)
	l.rank = append(l.rank[:0], ranking...)
	l.sums = append(l.sums[:0], make([]float64, 2*leaves)...)
	for r, doc := range ranking {
		l.rank[doc] = r
		x := float64(r + 1)
		l.sums[leaves+r] = 1 / float64(x*float64(x*x))
	}
	for i := leaves - 1; i > 0; i-- {
		l.sums[i] = l.sums[2*i] + l.sums[2*i+1]
	}
}

// draw returns the document at u of [0, 1).
func (l *lottery) draw(u float64) int {
	i := 1
	for u *= l.sums[1]; 2*i < len(l.sums); {
		i *= 2
		if left := l.sums[i]; u >= left && l.sums[i+1] > 0 {
			u -= left
			i++
		}
	}
	return l.docs[i-len(l.sums)/2]
}

// take removes a document, and returns the probability with which it would have been drawn.
func (l *lottery) take(doc int) float64 {
	i := len(l.sums)/2 + l.rank[doc]
	p := l.sums[i] / l.sums[1]
	l.sums[i] = 0
	for i /= 2; i > 0; i /= 2 {
		l.sums[i] = l.sums[2*i] + l.sums[2*i+1]
	}
	return p
}
