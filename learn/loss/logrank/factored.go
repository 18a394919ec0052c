package logrank

import (
	"fmt"

	"github.com/listwise/listwise/learn/loss/bipartite"
)

// newFactoredLaw returns the law over all ±1 labelings of the pairs, under which
// they are independent with P(y_gb = +1) = σ(z_gb). Which quantities have a
// closed form depends on the gain:
//
//	                          A(0)         A(β)            log E[G]
//	AUC: Δ counts pairs       n⁺n⁻         n⁺n⁻            n⁺n⁻           [pairwiseLaw]
//	n⁺ = 1 or n⁻ = 1          n            n·T             n·T            [countLaw]
//	otherwise                 n⁺n⁻         none known      n⁺n⁻T          [orderLaw]
//
// in time, where T ≤ n⁻ is the number of irrelevant documents above a relevant
// one from which on its gain no longer changes: k for NDCG@k, n⁻ for average
// precision and MRR.
func newFactoredLaw(docs bipartite.Scaled, gains *bipartite.GainTable, need quantities) (law, error) {
	pairs := newPairs(docs)
	if need == onlyPartition {
		return &pairwiseLaw{pairs: pairs}, nil
	}
	if step, ok := gains.PerInversion(); ok {
		return newPairwiseLaw(pairs, gains, step), nil
	}
	order, err := newOrderLaw(docs, gains)
	if err != nil {
		return nil, err
	}
	if need != lossPartition {
		return order, nil
	}
	good, bad := len(docs.Good), len(docs.Bad)
	if good > 1 && bad > 1 {
		return nil, fmt.Errorf("the factored form of convexloss exists under auc, and for queries with a single relevant "+
			"or a single irrelevant document; this one has %d and %d: use the lattice or the sampled form", good, bad)
	}
	return newCountLaw(order, gains), nil
}
