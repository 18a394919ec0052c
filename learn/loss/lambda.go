package loss

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/suggest"
)

// Lambda is a λ function, the rule that gives every document of a ranking its λ
// (Burges, Ragno and Le, Learning to Rank with Nonsmooth Cost Functions, NIPS
// 2006, sections 4 and 6.2). In all but LambdaDifference the λ of a document is a sum
// over pairs of documents: the change of the measure if the two are swapped, times a
// function of the difference of their scores. Of the ten functions that the paper
// tried it prints one formula, that of LambdaLogistic; the others follow its
// descriptions.
type Lambda int

// The λ functions.
const (
	LambdaLogistic Lambda = iota
	LambdaStep
	LambdaSpring
	LambdaLogisticNearest
	LambdaStepNearest
	LambdaSpringNearest
	LambdaDifference
)

// LambdaInfo describes a λ function for help texts.
type LambdaInfo struct {
	Name        string // as ParseLambda reads it
	Explanation string // one line
}

// lambdaEntry is a λ function's line of the registry.
type lambdaEntry struct {
	LambdaInfo
	law     lawKind
	nearest bool    // only between neighbours in the sorted list
	margin  float64 // where LambdaRank.Margin is 0
}

// lawKind says how a λ function depends on the difference of scores.
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

// Lambdas describes all λ functions in the order of help texts.
func Lambdas() []LambdaInfo {
	list := make([]LambdaInfo, len(lambdas))
	for i, e := range lambdas {
		list[i] = e.LambdaInfo
	}
	return list
}

// ParseLambda reads a λ function's name, one of those that [Lambdas] lists.
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

// pairLaw gives λ_ij of a pair of documents as a function of their scores. It is
// immutable. All slices but memory are indexed by rank.
type pairLaw interface {
	// prepare returns what add and addBoth need to know of the scores, in memory,
	// which has the scores' length.
	prepare(scores, memory []float64) []float64

	// add adds λ_ij of the pairs of ranks a and b, a < b < to, to lambda: with a plus
	// for the better and a minus for the worse document. loss[b] is what the measure
	// loses if the two are swapped: it is positive if the document at a is the better
	// one, and its size is a factor of λ_ij.
	add(lambda, loss, scores, prepared []float64, a, to int)
}

// secondLaw is a pairLaw whose λ_ij has a derivative that is not 0 everywhere.
type secondLaw interface {
	pairLaw

	// addBoth is add, and adds −∂λ_ij/∂s_i to second: the same number for both
	// documents of a pair, and not negative.
	addBoth(lambda, second, loss, scores, prepared []float64, a, to int)
}

// pairField is a λ function that is a sum over pairs of documents. With T ranks that
// count it takes O(Tn), or O(n) between neighbours only.
type pairField struct {
	swaps      measure.Swaps
	law        pairLaw
	nearest    bool
	truncation int // pairs with both documents below that many ranks are left out
	norm       lambdaNorm
}

func (f *pairField) eval(lambda []float64, r byScore, _ []float64, scratch *Scratch) {
	f.pairs(lambda, nil, r, nil, scratch)
}

// pairs overwrites lambda and, if law is not nil, second.
func (f *pairField) pairs(lambda, second []float64, r byScore, law secondLaw, scratch *Scratch) {
	n := len(r.scores)
	x, loss := scratch.Floats(n), scratch.Floats(n)
	r.gather(x, f.swaps.Counts())
	work := scratch.Floats(f.swaps.Work(n))
	ranks := min(f.swaps.Prepare(x, work), f.truncation, n-1)
	prepared := f.law.prepare(r.scores, scratch.Floats(n))
	clear(lambda)
	clear(second)
	norm := f.norm.at(r, lambda, scratch)
	for a := range ranks {
		to := n
		if f.nearest {
			to = a + 2
		}
		f.swaps.Row(loss, x, work, a, to)
		norm.weigh(loss, r.scores, a, to)
		if law != nil {
			law.addBoth(norm.row, second, loss, r.scores, prepared, a, to)
		} else {
			f.law.add(norm.row, loss, r.scores, prepared, a, to)
		}
		norm.gather(lambda, a, to)
	}
	norm.scale(lambda, second)
}
