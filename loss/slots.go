package loss

import "github.com/listwise/listwise/ranking"

// slots give the documents of a small class several places each in an array over
// documents. If a query has one good document, every step of every walk moves
// it, and adding step after step to one number in memory takes as long as all
// the rest of an evaluation; neighbouring walks therefore use different places.
//
// Slots 0 to docs−1 are the documents; the others are copies.
type slots struct {
	docs, count int
	owner       []int32 // document of slot docs+i
	first       []int32 // first extra slot of a document, 0 for none
	copies      int32   // extra slots of such a document
}

// crowd is the number of slots that a class should at least have.
const crowd = 8

func newSlots(pairs ranking.Bipartite) slots {
	s := slots{docs: pairs.Docs(), first: make([]int32, pairs.Docs())}
	small := pairs.Good
	if len(pairs.Bad) < len(small) {
		small = pairs.Bad
	}
	s.copies = int32((crowd - 1) / len(small))
	if s.copies > 0 {
		for _, d := range small {
			s.first[d] = int32(s.docs + len(s.owner))
			for range s.copies {
				s.owner = append(s.owner, d)
			}
		}
	}
	s.count = s.docs + len(s.owner)
	return s
}

// replace turns the documents of flips, stored time-major for walks walks, into
// slots.
func (s slots) replace(docs []int32, walks int) {
	for i, d := range docs {
		turn := int32(i%walks) % (s.copies + 1)
		if first := s.first[d]; first > 0 && turn > 0 {
			docs[i] = first + turn - 1
		}
	}
}

// share copies the documents' values to their extra slots.
func (s slots) share(values []float64) {
	for i, d := range s.owner {
		values[s.docs+i] = values[d]
	}
}

// collect sets dst to the sums over every document's slots.
func (s slots) collect(dst, sums []float64) {
	copy(dst, sums[:s.docs])
	for i, d := range s.owner {
		dst[d] += sums[s.docs+i]
	}
}
