package policy

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/click"
)

// term is what a page says about a policy.
type term struct {
	value       float64 // contribution to the value
	weight      float64 // of the page, with a mean of 1 where the log supports the policy
	raw         float64 // the same without clipping
	unsupported float64 // share of the policy's value where the log never put the documents
	norm, mass  float64 // for Normalise: Σ of weights, and what its mean should be
}

// logged has the probabilities of the logging policy for a page, as far as the estimator needs them.
type logged struct {
	known  bool               // PBM: rho is from orders, not from the log
	rho    map[string]float64 // PBM, with orders
	slate  float64
	ranks  []float64 // Item: μ(d_r at r); Cascade: μ(d_1…d_r)
	places map[place]float64
}

// place is a document at a rank.
type place struct {
	doc  string
	rank int
}

// slack is the rounding of probabilities in a log.
const slack = 1e-6

// logged returns the logging probabilities of the page.
func (e *Evaluation) logged() (*logged, error) {
	p, l := e.page.Page, &logged{}
	orders := func(or string) error {
		if p.Orders == nil {
			return bad(fmt.Sprintf("no %sorders", or), fmt.Sprintf("the rankings that could have been shown, which the estimator %s needs", e.Estimator))
		}
		sum := 0.0
		for _, o := range p.Orders {
			sum += o.Probability
		}
		if sum < 1-slack {
			return bad(fmt.Sprintf("orders with probabilities of %v in total", sum), fmt.Sprintf("1: the estimator %s needs all rankings that could have been shown", e.Estimator))
		}
		return nil
	}
	notShown := bad("a ranking that is not among its orders", "the ranking that was shown among them")
	switch e.Estimator {
	case PBM, DR, Direct:
		if p.Orders == nil {
			return l, nil
		}
		if err := orders(""); err != nil {
			return nil, err
		}
		l.known, l.rho = true, map[string]float64{}
		for _, o := range p.Orders {
			for r, d := range top(o.Docs, len(p.Docs)) {
				l.rho[d] += float64(o.Probability * e.slots[e.page.slots[r]].Alpha)
			}
		}
		for _, d := range p.Docs {
			if !(l.rho[d] > 0) {
				return nil, notShown
			}
		}
	case Slate:
		if l.slate = p.Propensity; l.slate > 0 {
			return l, nil
		}
		if err := orders("propensity and no "); err != nil {
			return nil, err
		}
		if l.slate = probability(p.Orders, p.Docs, len(p.Docs)); l.slate == 0 {
			return nil, notShown
		}
	case Item:
		if p.Propensities != nil {
			l.ranks = p.Propensities
			return l, nil
		}
		if err := orders("propensities and no "); err != nil {
			return nil, err
		}
		l.places = placesOf(p.Orders, len(p.Docs))
		for r, d := range p.Docs {
			l.ranks = append(l.ranks, l.places[place{d, r}])
		}
		if slices.Contains(l.ranks, 0) {
			return nil, notShown
		}
	case Cascade:
		if err := orders(""); err != nil {
			return nil, err
		}
		for r := range p.Docs {
			l.ranks = append(l.ranks, probability(p.Orders, p.Docs[:r+1], r+1))
		}
		if l.ranks[len(l.ranks)-1] == 0 {
			return nil, notShown
		}
	case Pseudo:
		if err := orders(""); err != nil {
			return nil, err
		}
		if probability(p.Orders, p.Docs, len(p.Docs)) == 0 {
			return nil, notShown
		}
		if err := e.solver.take(p); err != nil {
			return nil, err
		}
		l.places = placesOf(p.Orders, len(p.Docs))
	}
	return l, nil
}

// probability returns the probability that the first n documents are docs.
func probability(orders []click.Order, docs []string, n int) (sum float64) {
	for _, o := range orders {
		if slices.Equal(top(o.Docs, n), docs) {
			sum += o.Probability
		}
	}
	return sum
}

// placesOf returns the probability of each document at each of the first n ranks.
func placesOf(orders []click.Order, n int) map[place]float64 {
	places := map[place]float64{}
	for _, o := range orders {
		for r, d := range top(o.Docs, n) {
			places[place{d, r}] += o.Probability
		}
	}
	return places
}

// term returns what the page says about policy k.
func (e *Evaluation) term(k int, l *logged) (term, error) {
	var t term
	rankings := e.page.rankings[k]
	switch e.Estimator {
	case PBM, DR, Direct:
		t = e.examinedTerm(rankings, l)
	case Slate:
		n := len(e.page.Docs)
		t = e.whole(probability(rankings, e.page.Docs, n) / l.slate)
		if e.page.Orders != nil {
			for _, o := range rankings {
				if probability(e.page.Orders, top(o.Docs, n), n) == 0 {
					t.unsupported += o.Probability
				}
			}
		}
	case Pseudo:
		t = e.whole(e.solver.weight(rankings))
		t.unsupported = e.unsupportedPlaces(rankings, l)
	case Item:
		t = e.byRank(rankings, l, func(r int) float64 {
			sum := 0.0
			for _, o := range rankings {
				if r < len(o.Docs) && o.Docs[r] == e.page.Docs[r] {
					sum += o.Probability
				}
			}
			return sum
		})
		t.unsupported = e.unsupportedPlaces(rankings, l)
	case Cascade:
		t = e.byRank(rankings, l, func(r int) float64 { return probability(rankings, e.page.Docs[:r+1], r+1) })
		t.unsupported = e.unsupportedPrefixes(rankings)
	}
	if math.IsNaN(t.value) || math.IsInf(t.value, 0) {
		return t, bad(fmt.Sprintf("a page that contributes %v to the value of %s", t.value, e.Policies[k].Name), "a finite number: probabilities of the log may be too small")
	}
	return t, nil
}

// clip returns a weight that is at most Clip.
func (e *Evaluation) clip(w float64) float64 {
	if e.Clip > 0 {
		return min(w, e.Clip)
	}
	return w
}

// whole returns the term of an estimator that weighs the page as a whole.
func (e *Evaluation) whole(raw float64) term {
	w := e.clip(raw)
	return term{value: float64(w * e.reward()), weight: w, raw: raw, norm: w, mass: 1}
}

// byRank returns the term of an estimator that weighs each rank. shared returns the probability that the policy has the
// page's document at rank r (item), or the page's documents down to rank r (cascade).
func (e *Evaluation) byRank(rankings []click.Order, l *logged, shared func(r int) float64) term {
	t := term{mass: e.worthOf(rankings)}
	for r := range e.page.Docs {
		raw := shared(r) / l.ranks[r]
		w, v := e.clip(raw), e.Worth(r)
		t.value += float64(float64(w*e.click(r)) * v)
		t.weight += float64(w * v)
		t.raw += float64(raw * v)
	}
	if t.norm = t.weight; t.mass > 0 {
		t.weight, t.raw = t.weight/t.mass, t.raw/t.mass
	}
	return t
}

// worthOf returns the expected worth of the ranks that a policy fills.
func (e *Evaluation) worthOf(rankings []click.Order) (sum float64) {
	for _, o := range rankings {
		for r := range top(o.Docs, len(e.page.Docs)) {
			sum += float64(o.Probability * e.Worth(r))
		}
	}
	return sum
}

// unsupportedPlaces returns the share of a policy's worth at places where the log never puts the document: by the
// page's orders, or else by all pages of the log.
func (e *Evaluation) unsupportedPlaces(rankings []click.Order, l *logged) float64 {
	return e.unsupported(rankings, func(docs []string, r int) bool {
		if l.places != nil {
			return l.places[place{docs[r], r}] > 0
		}
		pair := e.index.Lookup(e.page.Query, docs[r])
		if pair < 0 {
			return false
		}
		for _, i := range e.order[e.starts[pair]:e.starts[pair+1]] {
			if e.list[i].slot == e.page.slots[r] {
				return true
			}
		}
		return false
	})
}

// unsupportedPrefixes returns the share of a policy's worth at ranks where no ranking of the log has the same
// documents down to there.
func (e *Evaluation) unsupportedPrefixes(rankings []click.Order) float64 {
	return e.unsupported(rankings, func(docs []string, r int) bool { return probability(e.page.Orders, docs[:r+1], r+1) > 0 })
}

// unsupported returns the share of a policy's worth at ranks that are not supported.
func (e *Evaluation) unsupported(rankings []click.Order, supported func(docs []string, r int) bool) float64 {
	missing, all := 0.0, 0.0
	for _, o := range rankings {
		for r := range top(o.Docs, len(e.page.Docs)) {
			v := float64(o.Probability * e.Worth(r))
			if all += v; !supported(o.Docs, r) {
				missing += v
			}
		}
	}
	if all == 0 {
		return 0
	}
	return missing / all
}

// exposure is the expected worth of a document under a policy, without its relevance.
type exposure struct {
	doc    string
	omega  float64
	places []exposed
}

// exposed is the part of a document's exposure in a slot.
type exposed struct {
	slot  uint16
	omega float64
}

// exposures returns the documents of a policy with Σ_k π(d at k) θ_k v_k, without θ for the DCG, and the part of the
// value that does not depend on documents.
func (e *Evaluation) exposures(rankings []click.Order) (list []exposure, constant float64) {
	var of map[string]int
	if len(rankings) > 1 {
		of = map[string]int{}
	}
	for _, o := range rankings {
		for r, d := range top(o.Docs, len(e.page.Docs)) {
			s, v := e.slots[e.page.slots[r]], float64(o.Probability*e.Worth(r))
			omega := v
			if e.Value == Clicks {
				omega = float64(v * s.Alpha)
				constant += float64(v * s.Beta)
			}
			place := exposed{e.page.slots[r], omega}
			if i, known := of[d]; known {
				list[i].omega += omega
				list[i].places = append(list[i].places, place)
				continue
			}
			if of != nil {
				of[d] = len(list)
			}
			list = append(list, exposure{d, omega, []exposed{place}})
		}
	}
	return list, constant
}

// examinedTerm returns the term of an estimator with the position-based model.
//
// Without orders, ρ is the mean examination of the document over the pages of the query. The term is
// Σ_d ω_d r_d + Σ_r (ω_d/ρ_d)(c_r − θ_r r_d). Its sum over the pages of a query does not depend on the relevance r: it is
// the worth of clicks over examinations. With r near the truth, the sum over a user's pages has the variation that
// comes from the estimated ρ, so that intervals are neither too narrow nor too wide.
func (e *Evaluation) examinedTerm(rankings []click.Order, l *logged) term {
	list, constant := e.exposures(rankings)
	t := term{value: constant, weight: 1, raw: 1}
	shown := make(map[int32][2]float64, len(list)) // weights, clipped and not, by pair
	missing := 0.0
	for _, x := range list {
		t.mass += x.omega
		pair := e.index.Lookup(e.page.Query, x.doc)
		gamma := 0.0
		if e.gamma != nil && pair >= 0 { // Count gives a number to all
			gamma = e.gamma[pair]
		}
		if e.Estimator == Direct {
			t.value += float64(x.omega * gamma)
			continue
		}
		rho := l.rho[x.doc]
		if !l.known && pair >= 0 {
			rho = e.examined[pair] / e.totals[e.page.query].weight
		}
		if !(rho > 0) {
			missing += x.omega
			t.value += float64(x.omega * gamma)
			continue
		}
		raw := x.omega / rho
		w := e.clip(raw)
		if pair >= 0 {
			shown[int32(pair)] = [2]float64{w, raw}
		}
		kept := float64(w * rho)
		t.value += float64((x.omega-kept)*gamma) + float64(kept*e.baseline(pair, l))
		if !l.known {
			t.norm += kept
		}
	}
	e.slopeOf(list)
	if e.Estimator == Direct || t.mass == 0 {
		return t
	}
	t.weight, t.raw = 0, 0
	for r, pair := range e.page.pairs {
		w, ok := shown[pair]
		if !ok {
			continue
		}
		s := e.slots[e.page.slots[r]]
		t.value += float64(w[0] * (e.click(r) - s.Beta - float64(s.Alpha*e.baseline(int(pair), l))))
		t.weight += float64(w[0] * s.Alpha)
		t.raw += float64(w[1] * s.Alpha)
	}
	if l.known {
		t.norm = t.weight
	}
	t.unsupported = missing / t.mass
	t.weight, t.raw = t.weight/t.mass, t.raw/t.mass
	if !l.known { // it is that by construction
		t.raw = 1 - t.unsupported
	}
	return t
}

// baseline returns the relevance whose clicks are subtracted from those of a pair.
func (e *Evaluation) baseline(pair int, l *logged) float64 {
	switch {
	case pair >= 0 && !l.known:
		return e.control[pair]
	case pair >= 0 && e.gamma != nil:
		return e.gamma[pair]
	}
	return 0
}
