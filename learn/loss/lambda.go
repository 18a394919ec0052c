package loss

import (
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/logspace"
	"github.com/listwise/listwise/internal/suggest"
)

// Lambda is a λ function. It computes the λ of each document of a ranking (Burges, Ragno and Le,
// Learning to Rank with Nonsmooth Cost Functions, NIPS 2006, sections 4 and 6.2). Except for
// LambdaDifference, the λ of a document is a sum over the pairs that contain it. The term of a pair is
// the change of the measure if both documents swap ranks, times a function of the difference of their
// scores. The paper tried ten functions and prints one formula, which is LambdaLogistic. The other
// functions follow its descriptions.
type Lambda int

// The λ functions.
const (
	// LambdaLogistic multiplies the change of the measure by RankNet's λ (equation 9 of the paper); "logistic".
	LambdaLogistic Lambda = iota

	// LambdaStep is the change of the measure while the better document leads by less than the margin,
	// otherwise 0; "step".
	LambdaStep

	// LambdaSpring multiplies the change of the measure by the margin minus the better document's lead, if
	// that is positive; "spring".
	LambdaSpring

	// LambdaLogisticNearest is LambdaLogistic for neighbours in the ranking only; "logistic-nearest".
	LambdaLogisticNearest

	// LambdaStepNearest is LambdaStep for neighbours in the ranking only; "step-nearest".
	LambdaStepNearest

	// LambdaSpringNearest is LambdaSpring for neighbours in the ranking only; "spring-nearest".
	LambdaSpringNearest

	// LambdaDifference is the central difference of the measure when a document's score moves by the margin.
	// If the margin is 0, the score moves by the mean gap between scores; "difference".
	LambdaDifference
)

// LambdaInfo describes a λ function for help texts.
type LambdaInfo struct {
	Name        string // accepted by ParseLambda
	Explanation string // one line
}

// lambdaEntry is a row of the table lambdas.
type lambdaEntry struct {
	LambdaInfo
	law     lawKind
	nearest bool    // pairs of adjacent ranks only
	margin  float64 // default of LambdaRank.Margin
}

// lawKind identifies the function of the difference of scores.
type lawKind int

const (
	logisticKind lawKind = iota
	stepKind
	springKind
	differenceKind
)

var lambdas = [...]lambdaEntry{
	LambdaLogistic: {LambdaInfo{"logistic",
		"RankNet's λ times the measure's change when the pair is swapped: the paper's choice, its eq. 9",
	}, logisticKind, false, 0},
	LambdaStep: {LambdaInfo{"step",
		"the measure's change when the pair is swapped, as long as the better document leads by less than " +
			"the margin"}, stepKind, false, 1},
	LambdaSpring: {LambdaInfo{"spring",
		"the measure's change when the pair is swapped, times the margin less the better document's lead, " +
			"if that is positive"}, springKind, false, 1},
	LambdaLogisticNearest: {LambdaInfo{"logistic-nearest",
		"as logistic, between neighbours in the sorted list only"}, logisticKind, true, 0},
	LambdaStepNearest: {LambdaInfo{"step-nearest",
		"as step, between neighbours in the sorted list only"}, stepKind, true, 1},
	LambdaSpringNearest: {LambdaInfo{"spring-nearest",
		"as spring, between neighbours in the sorted list only"}, springKind, true, 1},
	LambdaDifference: {LambdaInfo{"difference",
		"the central difference of the measure when a document's score moves by the margin, " +
			"by the mean gap between scores if that is 0"}, differenceKind, false, 0},
}

// Lambdas returns descriptions of all λ functions, in the order of help texts.
func Lambdas() []LambdaInfo {
	list := make([]LambdaInfo, len(lambdas))
	for i, e := range lambdas {
		list[i] = e.LambdaInfo
	}
	return list
}

// ParseLambda returns the λ function with a name from [Lambdas].
func ParseLambda(name string) (Lambda, error) {
	i := slices.IndexFunc(lambdas[:], func(e lambdaEntry) bool { return e.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("lambda function %q, expected %s", name, lambdaNames())
	}
	return Lambda(i), nil
}

// String returns the name that ParseLambda reads.
func (k Lambda) String() string {
	if !k.known() {
		return fmt.Sprintf("Lambda(%d)", int(k))
	}
	return lambdas[k].Name
}

func (k Lambda) known() bool { return k >= 0 && int(k) < len(lambdas) }

func lambdaNames() string {
	names := make([]string, len(lambdas))
	for i, e := range lambdas {
		names[i] = e.Name
	}
	return suggest.OneOf(names)
}

// pairLaw computes λ_ij of a pair of documents from their scores. It is immutable. All slices except
// memory are indexed by rank.
type pairLaw interface {
	// prepare precomputes numbers that add and addBoth need from the scores. It may store them in
	// memory, which has the length of scores.
	prepare(scores, memory []float64) []float64

	// add adds the λ_ij of all pairs of ranks (a, b) with a < b < to to lambda: λ_ij for the better
	// document and −λ_ij for the worse one. loss[b] is the decrease of the measure if the two documents
	// swap ranks. It is positive if the document at rank a is the better one, and λ_ij is proportional
	// to its absolute value. add returns total plus the sum of |λ_ij|, added in order.
	add(total float64, lambda, loss, scores, prepared []float64, a, to int) float64

	// cost returns the cost of a pair in which the better document leads by the given difference of scores,
	// divided by |loss|. Its derivative is −λ_ij/|loss|.
	cost(lead float64) float64
}

// secondLaw is a pairLaw whose λ_ij has a derivative that is not 0 everywhere.
type secondLaw interface {
	pairLaw

	// addBoth does what add does. It also adds −∂λ_ij/∂s_i to second. This derivative is the same for
	// both documents of a pair, and is not negative.
	addBoth(total float64, lambda, second, loss, scores, prepared []float64, a, to int) float64
}

// pairField is a λ function that is a sum over pairs of documents. If T ranks count in the measure, an
// evaluation takes O(Tn), or O(n) for pairs of adjacent ranks only.
type pairField struct {
	swaps      measure.Swaps
	law        pairLaw
	nearest    bool
	truncation int // a pair must contain one of that many first ranks
	norm       lambdaNorm
}

func (f *pairField) eval(lambda []float64, r byScore, _ []float64, scratch *Scratch) {
	f.pairs(lambda, nil, r, nil, scratch)
}

// pairs overwrites lambda with λ. If law is not nil, it also overwrites second with second derivatives.
func (f *pairField) pairs(lambda, second []float64, r byScore, law secondLaw, scratch *Scratch) {
	n := len(r.scores)
	x, loss := scratch.Floats(n), scratch.Floats(n)
	r.gather(x, f.swaps.Counts())
	work := scratch.Floats(f.swaps.Work(n))
	ranks := min(f.swaps.Prepare(x, work), f.truncation, n-1)
	prepared := f.law.prepare(r.scores, scratch.Floats(n))
	clear(lambda)
	clear(second)
	norm := f.norm.at(r, scratch)
	few, isFew := f.few(x, r.scores, prepared, scratch)
	for a := range ranks {
		if isFew && x[a] == few.least {
			f.addFew(&few, &norm, lambda, second, loss, x, work, r.scores, prepared, a, law)
			continue
		}
		to := n
		if f.nearest {
			to = a + 2
		}
		f.swaps.Row(loss, x, work, a, to)
		norm.weigh(loss, r.scores, a, to)
		if law != nil {
			norm.total = law.addBoth(norm.total, lambda, second, loss, r.scores, prepared, a, to)
		} else {
			norm.total = f.law.add(norm.total, lambda, loss, r.scores, prepared, a, to)
		}
	}
	norm.scale(lambda, second)
}

// costs overwrites better and worse with the sums of [PairCosts], by rank.
func (f *pairField) costs(better, worse []float64, r byScore, scratch *Scratch) {
	n := len(r.scores)
	x, loss := scratch.Floats(n), scratch.Floats(n)
	r.gather(x, f.swaps.Counts())
	work := scratch.Floats(f.swaps.Work(n))
	ranks := min(f.swaps.Prepare(x, work), f.truncation, n-1)
	clear(better)
	clear(worse)
	norm := f.norm.at(r, scratch)
	for a := range ranks {
		to := n
		if f.nearest {
			to = a + 2
		}
		f.swaps.Row(loss, x, work, a, to)
		norm.weigh(loss, r.scores, a, to)
		for b := a + 1; b < to; b++ {
			if loss[b] == 0 {
				continue
			}
			cost := float64(math.Abs(loss[b]) * f.law.cost(lead(loss, r.scores, a, b)))
			if loss[b] > 0 {
				better[a] += cost
				worse[b] += cost
			} else {
				better[b] += cost
				worse[a] += cost
			}
		}
	}
}

// fewPairs lists the documents of a ranking whose x is not the smallest (see [measure.Swaps] for x). A
// swap of two documents with the same x changes nothing. So a document with the smallest x only has
// pairs with the listed documents. The slices of floats have one free element in front, for that
// document; the listed documents follow.
type fewPairs struct {
	least float64 // the smallest x
	ranks []int32 // ranks of the listed documents, increasing
	next  int     // index in ranks of the first rank after the current one

	losses, scores, prepared, lambda, second []float64
}

// fewOf limits fewPairs: at most a fraction of 1/fewOf of the documents may be in the list.
const fewOf = 4

// few returns the documents whose x is not the smallest. ok is false if they are too many, if pairs have
// weights, or if only adjacent ranks form pairs.
func (f *pairField) few(x, scores, prepared []float64, scratch *Scratch) (p fewPairs, ok bool) {
	if f.nearest || !f.norm.weights.IsZero() {
		return p, false
	}
	p.least, p.ranks = slices.Min(x), scratch.ranks[:0]
	for b, v := range x {
		if v != p.least {
			p.ranks = append(p.ranks, int32(b))
		}
	}
	scratch.ranks = p.ranks
	if len(p.ranks) > len(x)/fewOf {
		return p, false
	}
	n := 1 + len(p.ranks)
	p.losses, p.lambda, p.second = scratch.Floats(n), scratch.Floats(n), scratch.Floats(n)
	p.scores = gatherRanks(scratch.Floats(n), scores, p.ranks)
	if prepared != nil {
		p.prepared = gatherRanks(scratch.Floats(n), prepared, p.ranks)
	}
	return p, true
}

// gatherRanks sets dst[1:] to the elements of x at ranks, and returns dst.
func gatherRanks(dst, x []float64, ranks []int32) []float64 {
	for k, b := range ranks {
		dst[1+k] = x[b]
	}
	return dst
}

// addFew adds the pairs of rank a, whose x is the smallest. The sums have the same bits as sums over all
// pairs, because the terms of the omitted pairs are 0.
func (f *pairField) addFew(p *fewPairs, norm *normRun, lambda, second, loss, x, work, scores, prepared []float64, a int, law secondLaw) {
	for p.next < len(p.ranks) && int(p.ranks[p.next]) < a {
		p.next++
	}
	from, ranks := p.next, p.ranks[p.next:]
	n := 1 + len(ranks)
	if swaps, ok := f.swaps.(measure.SomeSwaps); ok {
		swaps.Some(p.losses[1:n], x, work, a, ranks)
	} else {
		f.swaps.Row(loss, x, work, a, len(x))
		gatherRanks(p.losses, loss, ranks)
	}
	fewScores, fewPrepared := p.scores[from:], p.prepared
	if fewScores[0] = scores[a]; prepared != nil {
		fewPrepared = fewPrepared[from:]
		fewPrepared[0] = prepared[a]
	}
	norm.weigh(p.losses, fewScores, 0, n)
	gatherRanks(p.lambda, lambda, ranks)
	p.lambda[0] = lambda[a]
	if law != nil {
		gatherRanks(p.second, second, ranks)
		p.second[0] = second[a]
		norm.total = law.addBoth(norm.total, p.lambda, p.second, p.losses, fewScores, fewPrepared, 0, n)
		scatterRanks(second, p.second, ranks, a)
	} else {
		norm.total = f.law.add(norm.total, p.lambda, p.losses, fewScores, fewPrepared, 0, n)
	}
	scatterRanks(lambda, p.lambda, ranks, a)
}

// scatterRanks sets x[a] to src[0], and the elements of x at ranks to src[1:].
func scatterRanks(x, src []float64, ranks []int32, a int) {
	x[a] = src[0]
	for k, b := range ranks {
		x[b] = src[1+k]
	}
}

// differenceField estimates the gradient of the measure M by central differences,
//
//	λ_i = (M(s + εe_i) − M(s − εe_i))/2ε − mean,
//
// where e_i is the unit vector of document i. The mean over the documents is subtracted because λ must
// sum to zero (section 4 of the paper). M is piecewise constant, so ε must be about as large as the gaps
// between scores. By default it is their mean.
//
// The measure is computed again for each document whose rank changes, which takes O(n²) at worst.
type differenceField struct {
	measure measure.Measure
	step    float64 // ε; 0 means the mean gap
	cut     int     // number of ranks that count in the measure
}

// smallestGap is the least ε if ε is the mean gap. It bounds λ where all scores are equal.
const smallestGap = 1e-3

func (f *differenceField) epsilon(scores []float64) float64 {
	if f.step > 0 {
		return f.step
	}
	n := float64(len(scores) - 1)
	return max(scores[0]/n-scores[len(scores)-1]/n, smallestGap)
}

func (f *differenceField) eval(lambda []float64, r byScore, ranked []float64, scratch *Scratch) {
	epsilon := f.epsilon(r.scores)
	moved := scratch.Floats(len(ranked))
	copy(moved, ranked)
	now, _ := f.measure.Value(ranked)
	var sum float64
	for p := range lambda {
		up := f.after(moved, p, r.rankAt(p, r.scores[p]+epsilon), now)
		down := f.after(moved, p, r.rankAt(p, r.scores[p]-epsilon), now)
		lambda[p] = (up - down) / (2 * epsilon)
		sum += lambda[p]
	}
	for p := range lambda {
		lambda[p] -= sum / float64(len(lambda))
	}
}

// after returns the measure after the document at rank p of ranked moves to rank q. It restores ranked
// before it returns. now is the measure of ranked itself.
func (f *differenceField) after(ranked []float64, p, q int, now float64) float64 {
	if p == q || min(p, q) >= f.cut {
		return now
	}
	move(ranked, p, q)
	value, _ := f.measure.Value(ranked)
	move(ranked, q, p)
	return value
}

// move moves the element at p of x to q and shifts the elements between.
func move(x []float64, p, q int) {
	v := x[p]
	if q < p {
		copy(x[q+1:p+1], x[q:p])
	} else {
		copy(x[p:q], x[p+1:q+1])
	}
	x[q] = v
}

// rankAt returns the rank that the document at rank p would have with the given score. Its place in the
// permutation breaks ties.
func (r byScore) rankAt(p int, score float64) int {
	q := p
	for q > 0 && r.above(score, r.places[p], q-1) {
		q--
	}
	for q < len(r.scores)-1 && !r.above(score, r.places[p], q+1) {
		q++
	}
	return q
}

// above reports whether a document with the given score and place ranks above the document at rank q.
func (r byScore) above(score, place float64, q int) bool {
	return score > r.scores[q] || score == r.scores[q] && place < r.places[q]
}

// logisticLaw is RankNet's λ_ij, multiplied by the loss Δ of a swap (Burges, Ragno and Le 2006, eq. 9).
// With i the better and j the worse document,
//
//	λ_ij = |Δ| σ/(1 + exp(σ(s_i − s_j − m)))
//
// where the margin m is 0 in the paper. The printed equation lacks the absolute value, so it is negative
// if the better document is below the worse one.
type logisticLaw struct {
	sigma, margin float64
	ease          float64 // exp(σm)
}

func newLogisticLaw(sigma, margin float64) logisticLaw {
	return logisticLaw{sigma, margin, elementary.Exp(sigma * margin)}
}

// safeExponent bounds the exponent of a product of two exponentials, which then neither overflows nor
// underflows.
const safeExponent = 700

// prepare returns E = exp(σ(s − s_top)). It returns nil if σ(s_top − s_lowest + m) exceeds safeExponent.
func (l logisticLaw) prepare(scores, memory []float64) []float64 {
	top, lowest := scores[0], 0.0
	for i, s := range scores {
		memory[i] = l.sigma * (s - top)
		lowest = min(lowest, memory[i])
	}
	if !(float64(l.sigma*l.margin)-lowest <= safeExponent) {
		return nil
	}
	kernel.Exp(memory, memory)
	return memory
}

// add evaluates no exponentials in its loop: 1/(1 + exp(σ(s_i − s_j − m))) = cE_j/(E_i + cE_j), where
// c = exp(σm).
func (l logisticLaw) add(total float64, lambda, loss, scores, e []float64, a, to int) float64 {
	if e == nil {
		return l.addFar(total, lambda, loss, scores, a, to)
	}
	upper := math.Float64bits(e[a])
	var own float64
	lambda, loss, e = lambda[:to], loss[:to], e[:to]
	for b := a + 1; b < len(e); b++ {
		// A branch on the better document would be unpredictable, so there is none. If the loss is
		// negative, the document at rank a is the worse one.
		lower := math.Float64bits(e[b])
		flip := (lower ^ upper) & uint64(int64(math.Float64bits(loss[b]))>>63)
		better, worse := math.Float64frombits(upper^flip), float64(l.ease*math.Float64frombits(lower^flip))
		f := float64(l.sigma * loss[b] * (worse / (better + worse)))
		own += f
		lambda[b] -= f
		total += math.Abs(f)
	}
	lambda[a] += own
	return total
}

// addFar is add without precomputed exponentials. It is valid for scores of any size.
func (l logisticLaw) addFar(total float64, lambda, loss, scores []float64, a, to int) float64 {
	for b := a + 1; b < to; b++ {
		f := float64(l.sigma * loss[b] * logspace.Logistic(l.sigma*(l.margin-lead(loss, scores, a, b))))
		lambda[a] += f
		lambda[b] -= f
		total += math.Abs(f)
	}
	return total
}

// lead returns the score of the better document minus that of the worse one, for the ranks a < b.
func lead(loss, scores []float64, a, b int) float64 {
	return math.Copysign(scores[a]-scores[b], loss[b])
}

// cost returns log(1 + exp(−σ(s_i − s_j − m))).
func (l logisticLaw) cost(lead float64) float64 {
	return logspace.Softplus(l.sigma * (l.margin - lead))
}

// addBoth implements secondLaw. The second derivative is |Δ|σ²ρ(1 − ρ), where
// ρ = 1/(1 + exp(σ(s_i − s_j − m))), as in LambdaMART (Burges, From RankNet to LambdaRank to LambdaMART:
// An Overview, 2010, section 7). Like add, it needs one division for each pair, and it gives λ the same
// bits.
func (l logisticLaw) addBoth(total float64, lambda, second, loss, scores, e []float64, a, to int) float64 {
	if e == nil {
		return l.addBothFar(total, lambda, second, loss, scores, a, to)
	}
	above := kernel.SwapLaw{Sigma: l.sigma, Ease: l.ease, Upper: e[a]}
	sums := kernel.SwapSums{Size: total}
	above.Add(&sums, lambda[a+1:to], second[a+1:to], loss[a+1:to], e[a+1:to])
	lambda[a] += sums.F
	second[a] += sums.Curvature
	return sums.Size
}

// addBothFar is addBoth without precomputed exponentials.
func (l logisticLaw) addBothFar(total float64, lambda, second, loss, scores []float64, a, to int) float64 {
	total = l.addFar(total, lambda, loss, scores, a, to)
	for b := a + 1; b < to; b++ {
		p, q := logspace.Bernoulli(l.sigma * (l.margin - lead(loss, scores, a, b)))
		d := float64(l.sigma * l.sigma * math.Abs(loss[b]) * (p * q))
		second[a] += d
		second[b] += d
	}
	return total
}

// lambdaNorm contains [LambdaRank.GapNorm], [LambdaRank.SumNorm] and the pair weights of one query. The
// zero value changes nothing.
type lambdaNorm struct {
	gap, sum bool
	ideal    float64     // factor of changes of the measure; 0 means 1
	weights  PairWeights // both slices are nil, or neither
}

// leastGap is added to differences of scores before GapNorm divides by them.
const leastGap = 0.01

// newLambdaNorm returns the norm of a query. If l truncates NDCG of whole lists, and GapNorm or SumNorm
// is set, changes of NDCG are divided by the ideal DCG of the first Truncation ranks.
func newLambdaNorm(l LambdaRank, grades []float64, w PairWeights) lambdaNorm {
	n := lambdaNorm{gap: l.GapNorm, sum: l.SumNorm}
	if !w.IsZero() {
		n.weights = w.filled(len(grades))
	}
	if (n.gap || n.sum) && l.Truncation > 0 && l.Truncation < len(grades) && measure.Family(l.Measure) == "ndcg" && depthOf(l.Measure) > len(grades) {
		c := measure.ConventionOf(l.Measure)
		gains := normalGains(c, grades, l.Truncation)
		slices.Sort(gains)
		slices.Reverse(gains)
		for i, g := range gains {
			n.ideal += float64(g * c.Discount(i+1))
		}
	}
	return n
}

// normRun is a lambdaNorm during one evaluation.
type normRun struct {
	lambdaNorm
	total float64 // sum of |λ_ij| over all pairs

	better, worse []float64 // pair weights by rank, or nil
}

// at returns the norm for a ranking.
func (n lambdaNorm) at(by byScore, scratch *Scratch) normRun {
	r := normRun{lambdaNorm: n}
	r.gap = n.gap && slices.Max(by.scores) > slices.Min(by.scores)
	if !n.weights.IsZero() {
		r.better, r.worse = scratch.Floats(len(by.scores)), scratch.Floats(len(by.scores))
		by.gather(r.better, n.weights.Better)
		by.gather(r.worse, n.weights.Worse)
	}
	return r
}

// weigh multiplies loss[b], the loss of a swap of the ranks a and b, by the norm's factors, for
// a < b < to.
func (r *normRun) weigh(loss, scores []float64, a, to int) {
	if r.ideal != 0 {
		kernel.Scale(r.ideal, loss[a+1:to])
	}
	if r.gap {
		kernel.DivideByGaps(loss[a+1:to], scores[a+1:to], scores[a], leastGap)
	}
	if r.better == nil {
		return
	}
	for b := a + 1; b < to; b++ {
		if loss[b] > 0 {
			loss[b] *= r.better[a] * r.worse[b]
		} else {
			loss[b] *= r.better[b] * r.worse[a]
		}
	}
}

// scale multiplies λ and the second derivatives by the factor of SumNorm.
func (r *normRun) scale(lambda, second []float64) {
	if !r.sum || r.total == 0 {
		return
	}
	factor := elementary.Log2(1+2*r.total) / (2 * r.total)
	kernel.Scale(factor, lambda)
	kernel.Scale(factor, second)
}

// springLaw is like the force of a spring. λ_ij is proportional to the loss Δ of a swap. It decreases
// linearly with the lead of the better document i, and is 0 from the margin m on:
//
//	λ_ij = |Δ| max(0, m − (s_i − s_j)).
type springLaw struct{ margin float64 }

func (l springLaw) prepare(_, _ []float64) []float64 { return nil }

func (l springLaw) add(total float64, lambda, loss, scores, _ []float64, a, to int) float64 {
	for b := a + 1; b < to; b++ {
		if lacking := l.margin - lead(loss, scores, a, b); lacking > 0 {
			f := float64(loss[b] * lacking)
			lambda[a] += f
			lambda[b] -= f
			total += math.Abs(f)
		}
	}
	return total
}

// cost returns ½ max(0, m − (s_i − s_j))².
func (l springLaw) cost(lead float64) float64 {
	lacking := max(0, l.margin-lead)
	return float64(lacking * lacking / 2)
}

// addBoth implements secondLaw. The second derivative is |Δ| if λ_ij is not 0, and 0 otherwise.
func (l springLaw) addBoth(total float64, lambda, second, loss, scores, prepared []float64, a, to int) float64 {
	for b := a + 1; b < to; b++ {
		if lead(loss, scores, a, b) < l.margin {
			d := math.Abs(loss[b])
			second[a] += d
			second[b] += d
		}
	}
	return l.add(total, lambda, loss, scores, prepared, a, to)
}

// stepLaw is the loss Δ of a swap as long as the better document i leads by less than the margin m, and
// 0 otherwise:
//
//	λ_ij = |Δ| 1[s_i − s_j < m].
type stepLaw struct{ margin float64 }

func (l stepLaw) prepare(_, _ []float64) []float64 { return nil }

func (l stepLaw) add(total float64, lambda, loss, scores, _ []float64, a, to int) float64 {
	for b := a + 1; b < to; b++ {
		if lead(loss, scores, a, b) < l.margin {
			lambda[a] += loss[b]
			lambda[b] -= loss[b]
			total += math.Abs(loss[b])
		}
	}
	return total
}

// cost returns max(0, m − (s_i − s_j)).
func (l stepLaw) cost(lead float64) float64 { return max(0, l.margin-lead) }
