package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/internal/binarystate"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/model"
)

// Debias configures the correction of grades that are clicks for the slots in which documents were shown
// ([Problem.Slots]). A query is a page: one ranking, shown once. The factors of the slots are learned with the model.
// They are 0 or 1 at the start, also if training continues from a model.
type Debias struct {
	// By is the kind of correction. The zero value is NoDebias.
	By DebiasBy

	// Rate is the learning rate of the factors under DebiasPosition. 0 means the learner's rate.
	Rate float64

	// L2 is the regularisation of the factors under DebiasPosition, for each document of a slot. LightGBM names it
	// lambdarank_position_bias_regularization.
	L2 float64

	// Exponent is 1/(1+p) under DebiasPairs, from 0 to 1, where p is the regularisation of Hu et al. (eq. 30). 0 means
	// 1/2, which is p = 1, XGBoost's default of lambdarank_bias_norm. The paper's p = 0 is 1.
	Exponent float64

	// Tracked is the number of slots that have ratios under DebiasPairs. Documents in later slots have the ratio 1. 0
	// means 32, as in XGBoost.
	Tracked int
}

// DebiasBy selects a correction.
type DebiasBy int

const (
	// NoDebias corrects nothing.
	NoDebias DebiasBy = iota

	// DebiasPosition adds a number b_k to the scores of the documents of slot k when the loss is evaluated, as
	// LightGBM does (parameter position of its data sets). After each tree,
	//
	//	b_k += rate (Σλ − L2 n_k b_k) / (|Σh + L2 n_k| + 0.001),
	//
	// where the tree was fitted to λ and the second derivatives h. The sums are over the documents of slot k, and n_k
	// is the sum of their weights, each times the weight of its query. A [Descent] moves b along its steps
	// instead, as parameters of the loss plus L2/2 Σ n_k b_k², where queries from which nothing can be learned do not
	// count. Its penalty by C includes them. A document is ranked by its score alone.
	DebiasPosition

	// DebiasPairs is Unbiased LambdaMART (Hu, Wang, Peng, Li, Unbiased LambdaMART: An Unbiased Pairwise
	// Learning-to-Rank Algorithm, WWW 2019, eq. 27 to 31). The λ and second derivative of a pair of a clicked document
	// in slot k and another one in slot l are divided by t⁺_k t⁻_l. After each tree,
	//
	//	t⁺_k = (L⁺_k / L⁺_0)^Exponent,   L⁺_k = Σ cost_ij / t⁻ of j, over all pairs with i in slot k,
	//	t⁻_k = (L⁻_k / L⁻_0)^Exponent,   L⁻_k = Σ cost_ij / t⁺ of i, over all pairs with j in slot k,
	//
	// where cost_ij is the cost of a pair of documents i, clicked, and j, not clicked ([loss.PairCosts]). Ratios of
	// slots without such pairs do not change. t⁺ depends on the probabilities that the slots are looked at. With equal
	// scores, and relevance independent of the slot, t⁺_k is the probability relative to slot 0, to the power of
	// Exponent. t⁻ has no such meaning.
	DebiasPairs
)

const (
	trackedSlots = 32   // default of Debias.Tracked
	halfExponent = 0.5  // default of Debias.Exponent
	leastSecond  = 1e-3 // added to the second derivatives of factors, as in LightGBM
	mostSlots    = 1 << 20
)

// String returns the name of the correction: none, position or pairs.
func (b DebiasBy) String() string {
	if names := []string{"none", "position", "pairs"}; b >= 0 && int(b) < len(names) {
		return names[b]
	}
	return fmt.Sprintf("DebiasBy(%d)", int(b))
}

// check returns a *ProblemError if a setting is out of range, or is for another correction.
func (d *Debias) check() error {
	position, pairs := d.By == DebiasPosition, d.By == DebiasPairs
	switch {
	case d.By < NoDebias || d.By > DebiasPairs:
		return BadProblem("found the correction for slots %s, expected one from %s to %s", d.By, NoDebias, DebiasPairs)
	case !(d.Rate >= 0 && d.Rate <= 1):
		return BadProblem("found the rate %v of slots, expected a number from 0 to 1", d.Rate)
	case !(d.L2 >= 0) || math.IsInf(d.L2, 1):
		return BadProblem("found the regularisation %v of slots, expected a finite number that is not negative", d.L2)
	case !(d.Exponent >= 0 && d.Exponent <= 1):
		return BadProblem("found the exponent %v of slots, expected a number from 0 to 1", d.Exponent)
	case d.Tracked < 0 || d.Tracked > mostSlots:
		return BadProblem("found %d tracked slots, expected 1 to %d, or 0 for %d", d.Tracked, mostSlots, trackedSlots)
	case !position && (d.Rate != 0 || d.L2 != 0), !pairs && (d.Exponent != 0 || d.Tracked != 0):
		return BadProblem("found settings of another correction for slots than %s, expected none", d.By)
	}
	return nil
}

// debiaser is a Learner that may correct for slots.
type debiaser interface{ debias() Debias }

func (l Trees) debias() Debias   { return l.Debias }
func (d Descent) debias() Debias { return d.Debias }

// debias returns the correction of the learner.
func (p *Problem) debias() Debias {
	if l, ok := p.Learner.(debiaser); ok {
		return l.debias()
	}
	return Debias{}
}

// checkSlots returns a *ProblemError if slots and the correction of the learner do not fit together.
func (p *Problem) checkSlots() error {
	d := p.debias()
	_, ok := p.Learner.(debiaser)
	if err := d.check(); err != nil {
		return err
	}
	switch {
	case p.Slots == nil && d.By == NoDebias:
		return nil
	case p.Slots == nil:
		return BadProblem("found no slots for the correction %s, expected the slot of each document", d.By)
	case !ok:
		return BadProblem("found slots of documents, expected none: the learner %T does not correct for them", p.Learner)
	case d.By == NoDebias:
		return BadProblem("found slots of documents and no correction for them, expected %s or %s", DebiasPosition, DebiasPairs)
	case d.By == DebiasPairs && !p.Weights.IsZero():
		return BadProblem("found weights of documents in pairs, expected none: the correction %s learns them", d.By)
	case len(p.Slots) != p.Data.Docs():
		return BadProblem("found %d slots, expected one for each of %d documents", len(p.Slots), p.Data.Docs())
	}
	for i, k := range p.Slots {
		if k < 0 || k >= mostSlots {
			return BadProblem("found slot %d of document %d, expected an index from 0 to %d", k, i+1, mostSlots-1)
		}
	}
	return nil
}

// checkDebias returns a *ProblemError if the sum of trees cannot correct for slots.
func (l *Trees) checkDebias() error {
	switch {
	case l.Debias.By == NoDebias:
		return nil
	case l.Sum != GradientTrees:
		return BadProblem("found the correction %s for slots with DART or a forest, expected gradient boosting", l.Debias.By)
	case l.Bag > 1:
		return BadProblem("found the correction %s for slots with a bag of %d, expected one sum of trees", l.Debias.By, l.Bag)
	case l.Refit:
		return BadProblem("found the correction %s for slots with a refit, expected new trees", l.Debias.By)
	}
	return nil
}

// checkDebias returns a *ProblemError if the descent cannot correct for slots.
func (d *Descent) checkDebias() error {
	switch {
	case d.Debias.By == DebiasPairs:
		return BadProblem("found the correction %s for slots, expected %s: only trees have the other one", DebiasPairs, DebiasPosition)
	case d.Debias.Rate != 0:
		return BadProblem("found a rate %v of slots, expected none: a descent moves the factors at its own rate", d.Debias.Rate)
	case d.Debias.By != NoDebias && d.Bag > 1:
		return BadProblem("found the correction %s for slots with a bag of %d, expected one scorer", d.Debias.By, d.Bag)
	}
	return nil
}

// countedSlots returns the slot of each row of Normalized, and the number of slots.
func (t *Task) countedSlots() (slots []int32, number int) {
	weights := t.Data.RowWeights()
	for i, k := range t.Slots {
		if weights == nil || weights[i] > 0 { // Normalized leaves out the others
			slots = append(slots, int32(k))
		}
	}
	return slots, int(slices.Max(slots)) + 1
}

// slotFactors are the factors of a correction during training. The zero value corrects nothing.
type slotFactors struct {
	Debias

	slots  []int32          // slot of each row
	counts []float64        // sum of the weights of each slot's rows, under DebiasPosition
	shown  []float64        // scores plus factors, under DebiasPosition
	pairs  loss.PairWeights // 1/t⁺ and 1/t⁻ of each row, under DebiasPairs
	costs  loss.PairWeights // costs of each row's pairs, as their better and worse document, under DebiasPairs
	slotState
}

// slotState is the part of slotFactors that a checkpoint stores.
type slotState struct {
	position    []float64 // b_k under DebiasPosition
	plus, minus []float64 // t⁺ and t⁻ of the tracked slots under DebiasPairs
}

// slotFactors returns the factors at the start. rate is the rate of the learner.
func (t *Task) slotFactors(d Debias, rate float64) slotFactors {
	s := slotFactors{Debias: d}
	if d.By == NoDebias {
		return s
	}
	var number int
	s.slots, number = t.countedSlots()
	n := len(s.slots)
	if d.By == DebiasPosition {
		weights := t.Data.RowWeights()
		s.Rate = cmp.Or(d.Rate, rate)
		s.shown, s.counts, s.position = make([]float64, n), make([]float64, number), make([]float64, number)
		for i, k := range t.Slots {
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			if w > 0 {
				s.counts[k] += w
			}
		}
		return s
	}
	s.Exponent, s.Tracked = cmp.Or(d.Exponent, halfExponent), cmp.Or(d.Tracked, trackedSlots)
	s.plus, s.minus = slices.Repeat([]float64{1}, min(number, s.Tracked)), slices.Repeat([]float64{1}, min(number, s.Tracked))
	s.pairs = loss.PairWeights{Better: slices.Repeat([]float64{1}, n), Worse: slices.Repeat([]float64{1}, n)}
	s.costs = loss.PairWeights{Better: make([]float64, n), Worse: make([]float64, n)}
	return s
}

// start returns a *ProblemError if the loss does not have what the correction needs. Otherwise it prepares step.
func (s *slotFactors) start(step *treeStep) error {
	switch s.By {
	case DebiasPosition:
		if !step.newton {
			return BadProblem("found the correction %s for slots without second derivatives, expected Newton steps and a loss that has them", s.By)
		}
	case DebiasPairs:
		if err := step.loss.Weigh(s.pairs); err != nil {
			return BadProblem("correction %s for slots: %w", s.By, err)
		}
		if err := step.loss.Costs(); err != nil {
			return BadProblem("correction %s for slots: %w, expected one that does", s.By, err)
		}
	case NoDebias:
	}
	return nil
}

// at returns the scores at which the loss is evaluated. They are valid until the next call.
func (s *slotFactors) at(scores []float64) []float64 {
	if s.By != DebiasPosition {
		return scores
	}
	for i, k := range s.slots {
		s.shown[i] = scores[i] + s.position[k]
	}
	return s.shown
}

// update changes the factors after a tree. lambda and second are those to which it was fitted, and scores those after
// it.
func (s *slotFactors) update(f *objective.Functional, scores, lambda, second []float64) error {
	switch s.By {
	case DebiasPosition:
		s.updatePosition(lambda, second)
	case DebiasPairs:
		f.PairCosts(scores, s.costs.Better, s.costs.Worse)
		s.updatePairs()
		return s.weigh(f)
	case NoDebias:
	}
	return nil
}

// updatePosition is a damped Newton step of the factors.
func (s *slotFactors) updatePosition(lambda, second []float64) {
	down, curvature := make([]float64, len(s.position)), make([]float64, len(s.position))
	for i, k := range s.slots {
		down[k] += lambda[i]
		curvature[k] += second[i]
	}
	for k := range s.position {
		l2 := float64(s.L2 * s.counts[k])
		s.position[k] += float64(s.Rate * (down[k] - float64(l2*s.position[k])) / (math.Abs(curvature[k]+l2) + leastSecond))
	}
}

// updatePairs computes the ratios from the costs of pairs, which include the factors 1/t⁺ and 1/t⁻ of both documents
// and their weights.
func (s *slotFactors) updatePairs() {
	n := len(s.plus)
	better, worse := make([]float64, n), make([]float64, n)
	for i, k := range s.slots {
		if int(k) < n {
			better[k] += s.costs.Better[i]
			worse[k] += s.costs.Worse[i]
		}
	}
	for k := range n {
		better[k] *= s.plus[k]
		worse[k] *= s.minus[k]
	}
	s.normalise(s.plus, better)
	s.normalise(s.minus, worse)
}

// normalise sets the ratios to those of the sums. Where a sum is 0, it leaves them as they are.
func (s *slotFactors) normalise(ratios, sums []float64) {
	if !(sums[0] > 0) {
		return
	}
	for k, sum := range sums {
		if ratio := elementary.Pow(sum/sums[0], s.Exponent); ratio > 0 {
			ratios[k] = ratio
		}
	}
}

// weigh sets the weights of pairs to the reciprocal ratios.
func (s *slotFactors) weigh(f *objective.Functional) error {
	for i, k := range s.slots {
		if int(k) < len(s.plus) {
			s.pairs.Better[i], s.pairs.Worse[i] = 1/s.plus[k], 1/s.minus[k]
		}
	}
	return f.Reweigh(s.pairs)
}

// goOnFrom continues from a state. It returns an error if the state does not fit.
func (s *slotFactors) goOnFrom(state slotState, f *objective.Functional) error {
	if len(state.position) != len(s.position) || len(state.plus) != len(s.plus) {
		return fmt.Errorf("found a state of %d and %d slots, expected %d and %d", len(state.position), len(state.plus), len(s.position), len(s.plus))
	}
	s.slotState = state
	if s.By == DebiasPairs {
		return s.weigh(f)
	}
	return nil
}

// learned describes the factors for the model, nil if there are none.
func (s *slotFactors) learned() *model.Slots {
	if s.By == NoDebias {
		return nil
	}
	return &model.Slots{Debias: s.By.String(), Position: slices.Clone(s.position), Clicked: slices.Clone(s.plus), Skipped: slices.Clone(s.minus)}
}

func (s *slotState) code(c *binarystate.Codec) {
	position, pairs := len(s.position), len(s.plus)
	c.Ints(&position, &pairs)
	c.Vectors(position, &s.position)
	c.Vectors(pairs, &s.plus, &s.minus)
}

// validate returns an error if the state is impossible.
func (s *slotState) validate() error {
	if anyNotFinite(s.position) || anyNotFinite(s.plus) || anyNotFinite(s.minus) {
		return errors.New("factors of slots that are not finite, expected finite numbers")
	}
	for _, t := range slices.Concat(s.plus, s.minus) {
		if !(t > 0) {
			return fmt.Errorf("the ratio %v of a slot, expected a positive number", t)
		}
	}
	return nil
}
