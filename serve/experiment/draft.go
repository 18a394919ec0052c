package experiment

// Place is a document of an interleaved ranking.
type Place struct {
	Doc  int
	Team int // 0 or 1, the ranking that the document was taken from

	// Softmax has the probabilities with which either team would have drawn the document for its place, if
	// the interleaving is probabilistic. A click then gives (q − p)/(p + q) credit to the second team,
	// where p and q are these probabilities.
	Softmax [2]float64
}

// Drafter interleaves rankings. The zero value is ready to use. A Drafter is not safe for
// concurrent use.
type Drafter struct{ placed []bool }

// Draft appends the first documents of the team-draft interleaving of two rankings to dst
// (Radlinski, Kurup, Joachims, How does clickthrough data reflect retrieval quality?, CIKM 2008,
// Algorithm 2). a and b list the same documents, numbered from 0, best first. In each turn, the
// team with fewer documents adds the first document of its ranking that was not added yet. If both
// teams have equally many, a coin decides. So a document with the same rank in both rankings
// belongs to either team with probability 1/2. The team with more clicks has the better ranking.
//
// The coins depend only on salt and id, so the same salt and id give the same ranking. a and b must
// have each document exactly once. most is the number of documents to append; 0 means all.
func (d *Drafter) Draft(dst []Place, a, b []int, salt string, id []byte, most int) []Place {
	if len(a) != len(b) {
		panic("experiment: rankings of different documents")
	}
	if most <= 0 || most > len(a) {
		most = len(a)
	}
	d.placed = append(d.placed[:0], make([]bool, len(a))...)
	throws := coins{salt: salt, id: id}
	rankings, next, sizes := [2][]int{a, b}, [2]int{}, [2]int{}
	for range most {
		team := 0
		if sizes[1] < sizes[0] || sizes[1] == sizes[0] && throws.next() {
			team = 1
		}
		for d.placed[rankings[team][next[team]]] {
			next[team]++
		}
		doc := rankings[team][next[team]]
		d.placed[doc] = true
		sizes[team]++
		dst = append(dst, Place{Doc: doc, Team: team})
	}
	return dst
}
