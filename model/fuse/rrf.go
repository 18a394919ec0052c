package fuse

// RRF votes 1/(K + rank), which is reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).
const RRF Kind = "rrf"

// DefaultK is the value of K in the paper on reciprocal rank fusion.
const DefaultK = 60

var rrf = kind{
	name: RRF, about: "1/(k + rank): reciprocal rank fusion", usesK: true,
	votes: func(r Rule, scores [][]float64) {
		for _, s := range scores {
			voteRetrieved(s, func(retrieved []float64) {
				voteByRank(retrieved, func(rank, _ int) float64 { return 1 / (r.K + float64(rank)) })
			}, func([]float64) float64 { return 0 })
		}
	},
}
