package scorer

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Claim: the scores of an average are the means of the members' scores, for every
// scorer that has one and any number of members, and it can be written to a file.
func TestAverageScoresAreMeans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		features, docs, count := rapid.IntRange(1, 6).Draw(t, "features"), rapid.IntRange(1, 9).Draw(t, "docs"), rapid.IntRange(1, 4).Draw(t, "members")
		hidden, pairs := rapid.IntRange(1, 5).Draw(t, "hidden"), rapid.IntRange(1, 4).Draw(t, "pairs")
		f := Activation(rapid.IntRange(0, int(ELU)).Draw(t, "activation"))
		number := rapid.Float64Range(-2, 2)
		x := rapid.SliceOfN(rapid.Float32Range(-1, 1), features*docs, features*docs).Draw(t, "x")
		for _, s := range []Averager{FM{features, hidden}, Network{features, hidden, f}, PairNetwork{features, hidden, pairs, f}} {
			var ws Workspace
			members, want, scores := make([][]float64, count), make([]float64, docs), make([]float64, docs)
			for k := range members {
				members[k] = rapid.SliceOfN(number, s.NumParams(), s.NumParams()).Draw(t, "parameters")
				s.Score(scores, members[k], x, &ws)
				for i, v := range scores {
					want[i] += v / float64(count)
				}
			}
			all, params := s.Average(members)
			all.Score(scores, params, x, &ws)
			for i, v := range scores {
				if math.Abs(v-want[i]) > 1e-11 {
					t.Fatalf("%s, %d members: document %d scores %v, the mean is %v", s.Kind(), count, i, v, want[i])
				}
			}
			raw, err := Encode(all, params)
			if err != nil {
				t.Fatal(err)
			}
			if back, _, err := Decode(raw); err != nil || back != all {
				t.Fatalf("%s: back from a file it is %v, error %v, expected %v", s.Kind(), back, err, all)
			}
		}
	})
}
