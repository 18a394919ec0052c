package train

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/learn/tree"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// pages returns pages of up to 8 documents with clicks by a position-based model whose slots are looked at with
// probability 1/k, and the slots. Relevance depends on the first of three features. Order is by another one, with
// noise.
func pages(t testing.TB, n int, seed uint64) (*dataset.Dataset, []int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var b dataset.Builder
	var slots []int
	for page := range n {
		docs := 4 + page%5
		grades, x := make([]float64, docs), make([]float32, 3*docs)
		for k := range docs {
			x[3*k], x[3*k+1], x[3*k+2] = rng.Float32(), rng.Float32(), rng.Float32()
			if slot := k + 1; rng.Float64() < (0.1+0.8*float64(x[3*k]))/float64(slot) {
				grades[k] = 1
			}
			slots = append(slots, k)
		}
		if err := b.Add(string(rune('a'+page%26))+string(rune('a'+page/26%26))+string(rune('a'+page/676)), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset(), slots
}

// weighed returns d with weights of queries and documents that are powers of 2 or 0, with which products are exact.
func weighed(t testing.TB, d *dataset.Dataset, zeros bool) *dataset.Dataset {
	t.Helper()
	d = d.Clone()
	queries, docs := make([]float64, len(d.Queries)), make([]float64, d.Docs())
	for i := range queries {
		queries[i] = []float64{1, 2, 4}[i%3]
	}
	for i := range docs {
		docs[i] = []float64{1, 0.5, 2}[i%3]
	}
	if zeros {
		queries[1], docs[0], docs[d.Docs()-1] = 0, 0, 0
	}
	if err := d.Weigh(queries, docs); err != nil {
		t.Fatal(err)
	}
	return d
}

// clickNDCG is NDCG of whole lists, where a click is relevant.
var clickNDCG = measure.MustParse("ndcg", measure.Standard.WithThreshold(1))

func clickProblem(d *dataset.Dataset, slots []int, debias Debias) *Problem {
	return &Problem{
		Data: d, Slots: slots, Loss: loss.LambdaRank{Measure: clickNDCG}, Measure: clickNDCG, Seed: 3,
		Learner: Trees{Rounds: 30, Rate: 0.2, Debias: debias, Options: tree.Options{Leaves: 5, LeafDocuments: 3, LeafCurvature: 1e-3}},
	}
}

// growing returns the sum of trees of a problem, before its first round.
func growing(t *testing.T, p *Problem) *treeRounds {
	t.Helper()
	p, err := p.ready(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Learner.(Trees).start(&Task{Problem: p})
	if err != nil {
		t.Fatal(err)
	}
	return b.(*treeMean).sums[0]
}

// naive has the sums over the pairs of all pages of a data set, by a double loop.
type naive struct {
	lambda, second []float64 // of each row
	plus, minus    []float64 // L⁺ and L⁻ of each slot
}

// pairs computes the sums from the definition: LambdaRank with NDCG of whole lists, whose λ are divided by t⁺ and t⁻.
// Rows of equal scores are in the order of the rows, which the caller must not let matter.
func pairs(d *dataset.Dataset, slots []int, scores, plus, minus []float64) naive {
	n := naive{make([]float64, d.Docs()), make([]float64, d.Docs()), make([]float64, len(plus)), make([]float64, len(minus))}
	for q := range d.Queries {
		query := &d.Queries[q]
		from, docs := query.Start, query.Len()
		ideal, clicks := 0.0, 0
		for _, g := range query.Grades {
			if g > 0 {
				clicks++
				ideal += 1 / math.Log2(1+float64(clicks))
			}
		}
		rank := func(i int) float64 {
			above := 0
			for j := range docs {
				if scores[from+j] > scores[from+i] {
					above++
				}
			}
			return float64(1 + above)
		}
		weight := func(i int) float64 {
			if w := query.Weights(); w != nil {
				return w[i]
			}
			return 1
		}
		for i := range docs {
			for j := range docs {
				if !(query.Grades[i] > query.Grades[j]) {
					continue
				}
				delta := math.Abs(1/math.Log2(1+rank(i))-1/math.Log2(1+rank(j))) / ideal * query.Weight() * weight(i) * weight(j)
				lead := scores[from+i] - scores[from+j]
				p := 1 / (1 + math.Exp(lead))
				k, l := slots[from+i], slots[from+j]
				tp, tm := 1.0, 1.0
				if k < len(plus) {
					tp = plus[k]
					n.plus[k] += delta * math.Log1p(math.Exp(-lead)) / at(minus, l)
				}
				if l < len(minus) {
					tm = minus[l]
					n.minus[l] += delta * math.Log1p(math.Exp(-lead)) / at(plus, k)
				}
				n.lambda[from+i] += delta * p / (tp * tm)
				n.lambda[from+j] -= delta * p / (tp * tm)
				n.second[from+i] += delta * p * (1 - p) / (tp * tm)
				n.second[from+j] += delta * p * (1 - p) / (tp * tm)
			}
		}
	}
	return n
}

// at returns the ratio of a slot, 1 behind the tracked ones.
func at(ratios []float64, k int) float64 {
	if k < len(ratios) {
		return ratios[k]
	}
	return 1
}

func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, expected %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > tolerance*max(1, math.Abs(want[i])) {
			t.Fatalf("%s[%d] is %v, expected %v", what, i, got[i], want[i])
		}
	}
}

// Claim: after each tree, the factors equal the formulas, which a double loop over the pairs computes. λ is the
// derivative of the corrected loss. Both hold with and without weights, and with fewer tracked slots than there are.
func TestFactorsAreThoseOfTheFormulas(t *testing.T) {
	plain, slots := pages(t, 60, 1)
	for _, d := range []*dataset.Dataset{plain, weighed(t, plain, false)} {
		for _, debias := range []Debias{
			{By: DebiasPosition}, {By: DebiasPosition, Rate: 0.5, L2: 0.3},
			{By: DebiasPairs}, {By: DebiasPairs, Exponent: 1}, {By: DebiasPairs, Exponent: 0.8, Tracked: 5},
		} {
			p := clickProblem(d, slots, debias)
			r := growing(t, p)
			rng := rand.New(rand.NewPCG(2, 2))
			for i := range r.scores {
				r.scores[i] = rng.NormFloat64() // no ties
			}
			r.eval()
			tracked := 8
			if debias.Tracked > 0 {
				tracked = debias.Tracked
			}
			plus, minus, b := slices.Repeat([]float64{1}, tracked), slices.Repeat([]float64{1}, tracked), make([]float64, 8)
			for round := range 4 {
				shown := slices.Clone(r.scores)
				if debias.By == DebiasPosition {
					for i, k := range slots {
						shown[i] += b[k]
					}
				}
				n := pairs(d, slots, shown, plus, minus)
				near(t, "λ", r.lambda, n.lambda, 1e-11)
				near(t, "second derivative", r.second, n.second, 1e-11)
				if !r.next() {
					t.Fatal("no tree")
				}
				if debias.By == DebiasPairs {
					n = pairs(d, slots, r.scores, plus, minus)
					e := debias.Exponent
					if e == 0 {
						e = 0.5
					}
					for k := range plus {
						if n.plus[k] > 0 { // a slot without clicks keeps its ratio
							plus[k] = math.Pow(n.plus[k]/n.plus[0], e)
						}
						minus[k] = math.Pow(n.minus[k]/n.minus[0], e)
					}
					near(t, "t⁺", r.slots.plus, plus, 1e-10)
					near(t, "t⁻", r.slots.minus, minus, 1e-10)
					continue
				}
				rate := debias.Rate
				if rate == 0 {
					rate = 0.2
				}
				for k := range b {
					var g, h, count float64
					for q := range d.Queries {
						query := &d.Queries[q]
						for i := range query.Len() {
							if row := query.Start + i; slots[row] == k {
								g, h = g-n.lambda[row], h+n.second[row]
								w := query.Weight()
								if query.Weights() != nil {
									w *= query.Weights()[i]
								}
								count += w
							}
						}
					}
					b[k] += rate * (-g - debias.L2*count*b[k]) / (math.Abs(h+debias.L2*count) + 0.001)
				}
				near(t, "b", r.slots.position, b, 1e-10)
				if round == 3 && slices.Max(b)-slices.Min(b) < 0.1 {
					t.Errorf("b is %v, expected numbers that differ", b)
				}
			}
		}
	}
}

// level is a loss over pairs of a clicked and another document, whose cost is log(1 + exp(−lead)) for any ranks.
type level struct{ loss.RankNet }

type boundLevel struct {
	loss.QueryLoss
	grades []float64
	w      loss.PairWeights
}

func (level) BindWeighted(grades []float64, w loss.PairWeights, rng *rand.Rand) (loss.QueryLoss, error) {
	bound, err := loss.RankNet{}.Bind(grades, rng)
	return boundLevel{bound, grades, w}, err
}

func (b boundLevel) PairCosts(scores, better, worse []float64, _ *loss.Scratch) {
	clear(better)
	clear(worse)
	for i, g := range b.grades {
		for j, h := range b.grades {
			if g > h {
				cost := math.Log1p(math.Exp(scores[j]-scores[i])) * b.w.Better[i] * b.w.Worse[j]
				better[i] += cost
				worse[j] += cost
			}
		}
	}
}

// factorsAt returns the functional and the factors of a problem after the given number of updates at scores of 0.
func factorsAt(t *testing.T, d *dataset.Dataset, slots []int, l loss.Loss, debias Debias, updates int) (*objective.Functional, *slotFactors) {
	t.Helper()
	f, err := objective.NewFunctional(d, l, 1, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	step, err := newTreeStep(f, l.Traits(), AnySteps)
	if err != nil {
		t.Fatal(err)
	}
	s := (&Task{Problem: &Problem{Data: d, Slots: slots}}).slotFactors(debias, 0.1)
	if debias.By == DebiasPosition {
		step.newton = true
	}
	if err := s.start(step); err != nil {
		t.Fatal(err)
	}
	scores, lambda, second := make([]float64, d.Docs()), make([]float64, d.Docs()), make([]float64, d.Docs())
	for range updates {
		if debias.By == DebiasPosition {
			f.EvalSecond(s.at(scores), lambda, second)
		}
		if err := s.update(f, scores, lambda, second); err != nil {
			t.Fatal(err)
		}
	}
	return f, &s
}

// Claim: if scores are equal and clicks are looking times the same relevance, t⁺ is the probability of looking to the
// power of 1/(1+p). It is exact where each clicked document is compared with one that is never looked at; on pages of
// six, all clicks are enumerated with their probabilities as weights, and t⁺ and t⁻ are the fixed point of
//
//	L⁺_k = θ_k γ Σ_l≠k (1 − θ_l γ)/t⁻_l,   L⁻_l = (1 − θ_l γ) Σ_k≠l θ_k γ/t⁺_k,
//
// the expectations of the sums, which is near the probability.
func TestRatiosOfEqualScores(t *testing.T) {
	const relevance = 0.3
	theta := []float64{1, 1. / 2, 1. / 3, 1. / 4, 1. / 5, 1. / 6}
	for _, exponent := range []float64{0.5, 1} {
		want := make([]float64, len(theta))
		for k := range want {
			want[k] = math.Pow(theta[k], exponent)
		}
		// Pages of a document in slot k and one in slot 6, of weight θ_k: the probability of the click.
		var b dataset.Builder
		var slots []int
		for k := range theta {
			if err := b.Add(string(rune('a'+k)), []float64{1, 0}, []float32{0, 0}, nil); err != nil {
				t.Fatal(err)
			}
			slots = append(slots, k, 6)
		}
		d := b.Dataset()
		if err := d.Weigh(theta, nil); err != nil {
			t.Fatal(err)
		}
		_, s := factorsAt(t, d, slots, level{}, Debias{By: DebiasPairs, Exponent: exponent}, 3)
		near(t, "t⁺ of two documents", s.plus[:6], want, 1e-14)
		if s.plus[6] != 1 {
			t.Errorf("t⁺ of a slot without clicks is %v, expected 1", s.plus[6])
		}

		d, slots = enumerated(t, theta, relevance)
		_, s = factorsAt(t, d, slots, level{}, Debias{By: DebiasPairs, Exponent: exponent}, 200)
		plus, minus := slices.Repeat([]float64{1}, 6), slices.Repeat([]float64{1}, 6)
		for range 200 {
			up, down := make([]float64, 6), make([]float64, 6)
			for k := range theta {
				for l := range theta {
					if m := theta[k] * relevance * (1 - theta[l]*relevance); k != l {
						up[k] += m / minus[l]
						down[l] += m / plus[k]
					}
				}
			}
			for k := range theta {
				plus[k], minus[k] = math.Pow(up[k]/up[0], exponent), math.Pow(down[k]/down[0], exponent)
			}
		}
		near(t, "t⁺", s.plus, plus, 1e-9)
		near(t, "t⁻", s.minus, minus, 1e-9)
		near(t, "t⁺, roughly", s.plus, want, 0.08)
	}
}

// enumerated returns a page for each pattern of clicks, weighted by its probability.
func enumerated(t *testing.T, theta []float64, relevance float64) (*dataset.Dataset, []int) {
	t.Helper()
	var b dataset.Builder
	var weights []float64
	var slots []int
	for clicks := range 1 << len(theta) {
		grades, weight := make([]float64, len(theta)), 1.0
		for k, look := range theta {
			if clicks>>k&1 == 1 {
				grades[k] = 1
				weight *= look * relevance
			} else {
				weight *= 1 - look*relevance
			}
			slots = append(slots, k)
		}
		if err := b.Add(string(rune('A'+clicks)), grades, make([]float32, len(theta)), nil); err != nil {
			t.Fatal(err)
		}
		weights = append(weights, weight)
	}
	d := b.Dataset()
	if err := d.Weigh(weights, nil); err != nil {
		t.Fatal(err)
	}
	return d, slots
}

// Claim: b comes to rest where the loss, plus L2/2 times the sum of b² over the documents, is stationary, by central
// differences. RankNet's λ is a gradient, so there is such a loss.
func TestPositionComesToRest(t *testing.T) {
	d, slots := pages(t, 40, 5)
	d = weighed(t, d, false)
	for _, l2 := range []float64{0, 0.1} {
		f, s := factorsAt(t, d, slots, loss.RankNet{}, Debias{By: DebiasPosition, L2: l2}, 2000)
		scores := make([]float64, d.Docs())
		value := func() float64 {
			v := f.Eval(s.at(scores), nil)
			for k, b := range s.position {
				v += l2 / 2 * s.counts[k] * b * b
			}
			return v
		}
		for k := range s.position {
			b := s.position[k]
			const h = 1e-4
			s.position[k] = b + h
			up := value()
			s.position[k] = b - h
			down := value()
			s.position[k] = b
			if slope := (up - down) / (2 * h); math.Abs(slope) > 1e-5 {
				t.Errorf("L2=%v: the slope by b of slot %d is %v, expected 0", l2, k, slope)
			}
		}
	}
}

// Claim: an interrupted training goes on to the same bytes, factors included, under both corrections.
func TestDebiasResumes(t *testing.T) {
	d, slots := pages(t, 80, 7)
	valid, _ := pages(t, 30, 8)
	for _, debias := range []Debias{{By: DebiasPosition, L2: 0.01}, {By: DebiasPairs}} {
		p := clickProblem(weighed(t, d, true), slots, debias)
		l := p.Learner.(Trees)
		l.QueryFraction = 0.7
		p.Learner, p.Valid = l, valid
		resumes(t, p, 1, 17)
		l.Redraw = true
		p.Learner, p.Valid = l, nil
		resumes(t, p, 5)
	}
}

// descending returns a descent of a linear scorer or network on the λ of LambdaRank, with additive factors.
func descending(t *testing.T, net bool) *Problem {
	t.Helper()
	d, slots := pages(t, 60, 19)
	p := clickProblem(weighed(t, d, true), slots, Debias{})
	l := Descent{Architecture: Linear, Rule: optimize.Adam, Rate: 0.01, Epochs: 25, Batch: 4, Debias: Debias{By: DebiasPosition, L2: 0.01}}
	if net {
		l.Architecture = func(features int) scorer.Scorer { return scorer.Network{Features: features, Hidden: 3} }
	}
	p.Learner = l
	return p
}

// Claim: descents with factors resume to the same bytes, which any number of workers gives; factors fall with the slot;
// and the model has the scorer's parameters alone.
func TestDescentCorrectsForSlots(t *testing.T) {
	for _, net := range []bool{false, true} {
		p := descending(t, net)
		want := modelBytes(t, p)
		q := *p
		q.Checkpoint = interrupted(t, p, 0, 12)
		if modelBytes(t, &q) != want {
			t.Errorf("net %v: another model after an interruption", net)
		}
		for _, p.Workers = range []int{1, 2, 4} {
			if modelBytes(t, p) != want {
				t.Errorf("net %v: another model with %d workers", net, p.Workers)
			}
		}
		d, slots := pages(t, 2000, 13)
		p.Data, p.Slots = d, slots
		m, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Params) != m.Scorer.NumParams() {
			t.Errorf("found %d parameters, expected %d", len(m.Params), m.Scorer.NumParams())
		}
		if b := m.Training.Slots.Position; len(b) != 8 || !(b[0] > b[1] && b[1] > b[2] && b[2] > b[3]) {
			t.Errorf("net %v: the factors are %v, expected eight that fall", net, b)
		}
	}
}

// Claim: the gradient of a risk with shifts is the derivative of the loss at scores plus shifts, and of L2, by central
// differences, with weights.
func TestShiftsHaveTheirGradient(t *testing.T) {
	d, slots := pages(t, 12, 21)
	d = weighed(t, d, false)
	of := make([]int32, len(slots))
	for i, k := range slots {
		of[i] = int32(k)
	}
	r, err := objective.New(d, scorer.Linear{Features: 3}, loss.RankNet{}, objective.Options{C: 3, Shifts: objective.Shifts{Slots: of, Number: 8, L2: 0.3}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	x, grad, rest := make([]float64, r.Dim()), make([]float64, r.Dim()), make([]float64, r.Dim())
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	terms := make([]float64, r.Dim())
	r.Eval(x, grad)
	for i := range r.Terms() {
		r.EvalTerm(i, x, terms)
	}
	for i, w := range x {
		const h = 1e-5
		x[i] = w + h
		up := r.Eval(x, rest)
		x[i] = w - h
		down := r.Eval(x, rest)
		x[i] = w
		if slope := (up - down) / (2 * h); math.Abs(slope-grad[i]) > 1e-6*max(1, math.Abs(slope)) {
			t.Errorf("derivative %d is %v, expected %v", i, grad[i], slope)
		}
		if sum := terms[i] + 2*w/3; math.Abs(sum-grad[i]) > 1e-9*max(1, math.Abs(sum)) {
			t.Errorf("terms have the derivative %d of %v, expected %v", i, sum, grad[i])
		}
	}
}

// Claim: a model has the same bytes for 1, 2 and 4 workers.
func TestDebiasOnAnyNumberOfCores(t *testing.T) {
	d, slots := pages(t, 300, 9)
	for _, debias := range []Debias{{By: DebiasPosition}, {By: DebiasPairs}} {
		p := clickProblem(weighed(t, d, true), slots, debias)
		p.Workers = 1
		want := modelBytes(t, p)
		for _, p.Workers = range []int{2, 4} {
			if modelBytes(t, p) != want {
				t.Errorf("%s: other bytes with %d workers", debias.By, p.Workers)
			}
		}
	}
}

// factorsOf trains and returns the factors.
func factorsOf(t *testing.T, p *Problem) *model.Slots {
	t.Helper()
	m, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return m.Training.Slots
}

// Claim: a page of weight 2 counts as two pages, and pages and documents of weight 0 as none, for the factors too.
func TestWeightsCountForFactors(t *testing.T) {
	d, slots := pages(t, 60, 11)
	twice := d.Clone()
	weights := make([]float64, len(d.Queries))
	var b dataset.Builder
	var repeated []int
	for i := range d.Queries {
		q := &d.Queries[i]
		weights[i] = float64(i % 3)
		for n := range i % 3 {
			if err := b.Add(q.ID+strings.Repeat("+", n), q.Grades, q.X, nil); err != nil {
				t.Fatal(err)
			}
			repeated = append(repeated, slots[q.Start:q.Start+q.Len()]...)
		}
	}
	if err := twice.Weigh(weights, nil); err != nil {
		t.Fatal(err)
	}
	for _, debias := range []Debias{{By: DebiasPosition, L2: 0.2}, {By: DebiasPairs}} {
		p, q := clickProblem(twice, slots, debias), clickProblem(b.Dataset(), repeated, debias)
		for _, p := range []*Problem{p, q} {
			l := p.Learner.(Trees)
			l.LeafDocuments, l.LeafCurvature = 1, 1 // counts of documents are not weighted
			p.Learner = l
		}
		got, want := factorsOf(t, p), factorsOf(t, q)
		near(t, "b", got.Position, want.Position, 1e-9)
		near(t, "t⁺", got.Clicked, want.Clicked, 1e-9)
		near(t, "t⁻", got.Skipped, want.Skipped, 1e-9)
	}
}

// Claim: on clicks of a position-based model, the factors fall with the slot, and only training depends on them: the
// model file scores alike without them.
func TestFactorsFallWithTheSlot(t *testing.T) {
	d, slots := pages(t, 2000, 13)
	for _, debias := range []Debias{{By: DebiasPosition}, {By: DebiasPairs}} {
		m, err := Run(context.Background(), clickProblem(d, slots, debias))
		if err != nil {
			t.Fatal(err)
		}
		factors := m.Training.Slots.Position
		if debias.By == DebiasPairs {
			factors = m.Training.Slots.Clicked
		}
		for k := 1; k < 4; k++ {
			if factors[k] >= factors[k-1] {
				t.Errorf("%s: the factors are %v, expected them to fall", debias.By, factors)
			}
		}
		scores, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		m.Training.Slots = nil
		if err := m.Write(&file); err != nil {
			t.Fatal(err)
		}
		bare, err := model.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := bare.Score(d); err != nil || !slices.Equal(scores, same) {
			t.Errorf("%s: scores depend on the factors: %v", debias.By, err)
		}
	}
}

// Claim: what a correction cannot do is refused with a message that says what was found.
func TestDebiasRefuses(t *testing.T) {
	d, slots := pages(t, 20, 15)
	with := func(change func(p *Problem, l *Trees)) *Problem {
		p := clickProblem(d, slots, Debias{By: DebiasPairs})
		l := p.Learner.(Trees)
		p.Learner = nil
		change(p, &l)
		if p.Learner == nil {
			p.Learner = l
		}
		return p
	}
	for want, p := range map[string]*Problem{
		"found no slots":                with(func(p *Problem, _ *Trees) { p.Slots = nil }),
		"no correction":                 with(func(_ *Problem, l *Trees) { l.Debias = Debias{} }),
		"one for each of":               with(func(p *Problem, _ *Trees) { p.Slots = slots[1:] }),
		"found slot -1 of document 2":   with(func(p *Problem, _ *Trees) { p.Slots = slices.Clone(slots); p.Slots[1] = -1 }),
		"DART or a forest":              with(func(_ *Problem, l *Trees) { l.Sum = DARTTrees }),
		"pairs for slots with DART":     with(func(_ *Problem, l *Trees) { l.Sum = ForestTrees }),
		"bag of 2":                      with(func(_ *Problem, l *Trees) { l.Bag, l.QueryFraction = 2, 0.5 }),
		"with a refit":                  with(func(_ *Problem, l *Trees) { l.Refit = true }),
		"takes no weights of documents": with(func(p *Problem, _ *Trees) { p.Loss = loss.RankNet{} }),
		"the correction pairs learns":   with(func(p *Problem, _ *Trees) { p.Weights.Better = slices.Repeat([]float64{1}, d.Docs()) }),
		"without second derivatives":    with(func(_ *Problem, l *Trees) { l.Debias.By, l.Steps = DebiasPosition, GradientSteps }),
		"settings of another":           with(func(_ *Problem, l *Trees) { l.Debias.L2 = 1 }),
		"the exponent 2":                with(func(_ *Problem, l *Trees) { l.Debias.Exponent = 2 }),
		"the regularisation -1":         with(func(_ *Problem, l *Trees) { l.Debias = Debias{By: DebiasPosition, L2: -1} }),
		"does not correct for them":     with(func(p *Problem, _ *Trees) { p.Learner = LBFGS{Architecture: Linear}; p.Loss = loss.RankNet{} }),
		"this learner has no gradients": with(func(p *Problem, l *Trees) { p.Slots, p.Learner = nil, TreeClassification{Trees: *l} }),
		"an index from 0 to":            with(func(p *Problem, _ *Trees) { p.Slots = slices.Clone(slots); p.Slots[0] = 1 << 30 }),
		"only trees have":               with(func(p *Problem, _ *Trees) { p.Learner = Descent{Architecture: Linear, Debias: Debias{By: DebiasPairs}} }),
		"at its own rate": with(func(p *Problem, _ *Trees) {
			p.Learner = Descent{Architecture: Linear, Debias: Debias{By: DebiasPosition, Rate: 0.1}}
		}),
		"one scorer": with(func(p *Problem, _ *Trees) {
			p.Learner = Descent{Architecture: Linear, Bag: 2, Debias: Debias{By: DebiasPosition}}
		}),
		"from none to pairs": with(func(_ *Problem, l *Trees) { l.Debias.By = 7 }),
	} {
		_, err := Run(context.Background(), p)
		if problem := (*ProblemError)(nil); !errors.As(err, &problem) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, expected %q in it", err, want)
		}
	}
}

// Claim: a checkpoint with other slots or another correction is refused.
func TestDebiasIsPartOfTheIdentity(t *testing.T) {
	d, slots := pages(t, 30, 17)
	p := clickProblem(d, slots, Debias{By: DebiasPosition})
	refused := refuses(t, interrupted(t, p, 0, 3))
	other := *p
	other.Slots = slices.Clone(slots)
	slices.Reverse(other.Slots)
	refused("slots=", other)
	other = *p
	l := p.Learner.(Trees)
	l.Debias.L2 = 0.5
	other.Learner = l
	refused("L2=", other)
}
