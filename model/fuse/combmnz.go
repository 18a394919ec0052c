package fuse

import "errors"

// CombMNZ votes CombSUM's vote times the number of systems whose vote for the document is not 0 (Fox
// and Shaw, TREC-2, 1994).
const CombMNZ Kind = "combmnz"

var combMNZ = kind{
	name: CombMNZ, about: "combsum times the number of systems whose vote is not 0", usesScale: true,
	check: func(r Rule) error {
		switch r.Scale {
		case ZScore:
			return errors.New("combmnz counts votes that are not 0, and of zscore none is; expected minmax or sum")
		case Raw:
			return errors.New("combmnz counts votes that are not 0, and a raw score of 0 means nothing; expected minmax or sum")
		}
		return nil
	},
	votes: func(r Rule, scores [][]float64) {
		combSUM.votes(r, scores)
		multiplyByVoters(scores)
	},
}

// multiplyByVoters multiplies all votes for a document by the number of votes that are not 0.
func multiplyByVoters(votes [][]float64) {
	if len(votes) == 0 {
		return
	}
	for i := range votes[0] {
		voters := 0.0
		for _, v := range votes {
			if v[i] != 0 {
				voters++
			}
		}
		for _, v := range votes {
			v[i] *= voters
		}
	}
}
