package fuse

import "slices"

// CombSUM votes the rescaled score of the document (Fox and Shaw, TREC-2, 1994).
const CombSUM Kind = "combsum"

var combSUM = kind{
	name: CombSUM, about: "the scores, rescaled within the query by --scale", usesScale: true,
	votes: func(r Rule, scores [][]float64) {
		for _, s := range scores {
			apply, least := r.Scale.apply, slices.Min[[]float64]
			if (r.partial || slices.ContainsFunc(s, isAbsent)) && (r.Scale == MinMax || r.Scale == Sum) {
				apply, least = r.Scale.applyAboveAbsent, func([]float64) float64 { return 0 }
			}
			voteRetrieved(s, apply, least)
		}
	},
}
