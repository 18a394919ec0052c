package fuse

import "slices"

// CombSUM votes the scores, rescaled (Fox and Shaw, TREC-2, 1994).
const CombSUM Kind = "combsum"

var combSUM = kind{
	name: CombSUM, about: "the scores, rescaled within the query by --scale", usesScale: true,
	votes: func(r Rule, scores [][]float64) {
		for _, s := range scores {
			voteRetrieved(s, r.Scale.apply, slices.Min[[]float64])
		}
	},
}
