package experiment

// Place is a document of an interleaved ranking.
type Place struct {
	Doc  int
	Team int // 0 or 1, whose ranking it was taken from
}

// Drafter interleaves rankings. The zero value is ready; it is not safe for concurrent use.
type Drafter struct{ placed []bool }

// Draft appends to dst the first documents of the team-draft interleaving of two rankings
// (Radlinski, Kurup, Joachims, How does clickthrough data reflect retrieval quality?, CIKM 2008,
// Algorithm 2). Rankings list the same documents, counted from 0, best first. In each turn, the
// team with fewer documents adds the first document of its ranking that is not there yet. A coin
// decides if both have equally many. So a document that both rank alike belongs to either team with
// probability 1/2. The team with more clicks has the better ranking.
//
// The coins depend on a salt and an id alone, so the same salt and id give the same ranking. Both
// rankings must have each document exactly once. most is the number of documents to return; 0 means
// all.
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
		dst = append(dst, Place{doc, team})
	}
	return dst
}
