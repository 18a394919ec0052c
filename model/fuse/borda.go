package fuse

// Borda votes the share of the query's other documents that the system ranks below the document. A
// document with an equal score counts half (Aslam and Montague, SIGIR 2001).
const Borda Kind = "borda"

var borda = kind{
	name: Borda, about: "the share of the query's other documents that rank below",
	votes: func(_ Rule, scores [][]float64) {
		for _, s := range scores {
			voteByRank(s, func(rank, n int) float64 {
				if n == 1 {
					return 0
				}
				return float64(n-rank) / float64(n-1)
			})
		}
	},
}
