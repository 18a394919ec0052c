package sample

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/learn/loss/bipartite"
	"github.com/listwise/listwise/learn/loss/logrank/ranking"
)

// Draw draws a sample of rankings of the documents in pairs, by random walks from restart states.
// gain is the training gain G = 1 − Δ. The sample also records, for each state, the additional
// gains in more, which do not affect the walks. All random numbers come from rng, so the same
// stream gives the same sample. Draw returns an error if the options are out of range, or if there
// is no pair of a good and a bad document.
func Draw(pairs bipartite.Classes, gain ranking.Gain, opts Options, rng *rand.Rand, more ...ranking.Gain) (*Set, error) {
	opts = opts.orDefault()
	d, err := newDrawer(pairs, gain, opts, rng)
	if err != nil {
		return nil, err
	}
	for _, g := range more {
		tracker, err := ranking.NewTracker(g, d.order)
		if err != nil {
			return nil, err
		}
		d.more = append(d.more, gauge{tracker: tracker, ideal: tracker.Value()})
	}
	d.restarts = newRestarts(d.order, gain, opts, rng)
	return d.draw(opts), nil
}

// DrawFrom draws a sample as [Draw] does, but with a single restart state. In this state, top
// randomly chosen bads are above all goods, and the remaining bads are below. DrawFrom ignores Mix,
// Levels and Skew.
func DrawFrom(pairs bipartite.Classes, gain ranking.Gain, top int, opts Options, rng *rand.Rand) (*Set, error) {
	if top < 0 || top > len(pairs.Bad) {
		return nil, fmt.Errorf("%d bad documents on top, expected 0 to %d", top, len(pairs.Bad))
	}
	opts = opts.orDefault()
	d, err := newDrawer(pairs, gain, opts, rng)
	if err != nil {
		return nil, err
	}
	state := restart{bads: shuffledTop(pairs.Bad, top, rng), top: top}
	if top > 0 {
		state.at = -1
	}
	d.restarts = &restarts{states: []restart{state}, upTo: []float64{1}, used: [][]float64{nil}}
	return d.draw(opts), nil
}

// newDrawer returns a drawer whose order is the ideal ranking. The caller must set its restarts.
func newDrawer(pairs bipartite.Classes, gain ranking.Gain, opts Options, rng *rand.Rand) (*drawer, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	if pairs.Pairs() == 0 {
		return nil, errors.New("no pair of a good and a bad document to rank")
	}
	order := ranking.NewOrder(pairs)
	tracker, err := ranking.NewTracker(gain, order)
	if err != nil {
		return nil, err
	}
	d := &drawer{ideal: tracker.Value(), order: order, tracker: tracker, rng: rng}
	d.walk = &blockWalk{order: order}
	if opts.Literal {
		d.walk = newLiteralWalk(pairs)
	}
	return d, nil
}

// walk is a random walk over the rankings.
type walk interface {
	// restart sets the walk to the state o.
	restart(o *ranking.Order)
	// step moves to the next state.
	step(rng *rand.Rand) ranking.Flip
}

// drawer is the state of drawing a sample.
type drawer struct {
	ideal    float64        // gain of the ideal ranking
	order    *ranking.Order // the restart state of the current walk; the walk may change it
	tracker  *ranking.Tracker
	more     []gauge // additional gains to record
	restarts *restarts
	walk     walk
	rng      *rand.Rand
}

// gauge computes one of the additional gains.
type gauge struct {
	tracker *ranking.Tracker
	ideal   float64 // gain of the ideal ranking
}

func (d *drawer) draw(opts Options) *Set {
	walks, rows := opts.shape()
	steps := (rows - 1) * opts.Thin
	s := &Set{
		Walks: walks,
		Steps: steps,
		Thin:  opts.Thin,
		Plus:  make([]int32, steps*walks),
		Minus: make([]int32, steps*walks),
		Start: make([]int32, walks),
		Gain:  make([]float64, rows*walks, rows*walks+1),
	}
	for range d.more {
		s.More = append(s.More, make([]float64, rows*walks, rows*walks+1))
	}
	var seen *census
	if opts.Unique {
		seen = newCensus(d.order, rows*walks)
	}
	ideal := false
	for w := range walks {
		s.Start[w] = int32(d.restarts.next(d.order, d.rng))
		ideal = d.run(s, w, seen) || ideal
	}
	s.Restarts = d.restarts.used
	if opts.IncludeIdeal && !ideal {
		s.Ideal = true
		s.Gain = append(s.Gain, d.ideal)
		for k, g := range d.more {
			s.More[k] = append(s.More[k], g.ideal)
		}
	}
	s.Total = float64(len(s.Gain))
	if seen != nil {
		s.LogWeight, s.Total = seen.weights(s.Ideal)
	}
	return s
}

// run performs walk w, which starts at the state d.order, and fills column w of the arrays in s. It
// reports whether the ideal ranking is among the recorded states.
func (d *drawer) run(s *Set, w int, seen *census) (ideal bool) {
	inverted := d.restarts.inverted
	d.walk.restart(d.order)
	d.tracker.Reset(d.order)
	for _, g := range d.more {
		g.tracker.Reset(d.order)
	}
	if seen != nil {
		seen.restart(d.order)
	}
	for t := 0; ; t++ {
		if t%s.Thin == 0 {
			at := t/s.Thin*s.Walks + w
			s.Gain[at] = d.tracker.Value()
			for k, g := range d.more {
				s.More[k][at] = g.tracker.Value()
			}
			ideal = ideal || inverted == 0
			if seen != nil {
				seen.record(at)
			}
		}
		if t == s.Steps {
			return ideal
		}
		f := d.walk.step(d.rng)
		s.Plus[t*s.Walks+w], s.Minus[t*s.Walks+w] = f.Up, f.Down
		d.tracker.Apply(f)
		for _, g := range d.more {
			g.tracker.Apply(f)
		}
		if f.Inverts {
			inverted++
		} else {
			inverted--
		}
		if seen != nil {
			seen.apply(f)
		}
	}
}

// restarts contains the states from which walks start.
type restarts struct {
	states []restart
	upTo   []float64   // cumulative probabilities of the states
	used   [][]float64 // see Set.Restarts

	inverted int // number of inverted pairs of the state chosen last
}

// restart is a restart state: bads[:top] are above all goods, and bads[top:] are below.
type restart struct {
	bads []int32
	top  int
	at   int // index in used, −1 before the first use
}

func newRestarts(o *ranking.Order, gain ranking.Gain, opts Options, rng *rand.Rand) *restarts {
	bads := o.Pairs().Bad
	r := &restarts{used: [][]float64{nil}}
	if opts.Levels == 0 {
		r.states = []restart{{bads: bads}, {bads: bads, top: len(bads), at: -1}}
		r.upTo = []float64{opts.Mix, 1}
		return r
	}
	logit := make([]float64, opts.Levels)
	for l := range opts.Levels {
		top := int(math.Round(float64(l) / float64(opts.Levels-1) * float64(len(bads))))
		st := restart{bads: shuffledTop(bads, top, rng), top: top}
		if top > 0 {
			st.at = -1
		}
		r.states = append(r.states, st)
		o.Restart(st.bads, top)
		logit[l] = opts.Skew * (1 - o.Gain(gain))
	}
	r.upTo = cumulative(logit)
	return r
}

// shuffledTop returns a permutation of bads whose first top elements are chosen at random.
func shuffledTop(bads []int32, top int, rng *rand.Rand) []int32 {
	b := append([]int32(nil), bads...)
	for i := range top {
		j := i + rng.IntN(len(b)-i)
		b[i], b[j] = b[j], b[i]
	}
	return b
}

// cumulative returns the prefix sums of the probabilities that are proportional to exp(logit).
func cumulative(logit []float64) []float64 {
	largest := math.Inf(-1)
	for _, l := range logit {
		largest = max(largest, l)
	}
	upTo := make([]float64, len(logit))
	var sum float64
	for i, l := range logit {
		sum += elementary.Exp(l - largest)
		upTo[i] = sum
	}
	for i := range upTo {
		upTo[i] /= sum
	}
	return upTo
}

// next chooses a restart state at random and sets o to it. It returns the index of the state in
// Set.Restarts.
func (r *restarts) next(o *ranking.Order, rng *rand.Rand) int {
	u := rng.Float64()
	i := 0
	for i < len(r.states)-1 && u >= r.upTo[i] {
		i++
	}
	st := &r.states[i]
	o.Restart(st.bads, st.top)
	r.inverted = st.top * len(o.Pairs().Good)
	if st.at < 0 {
		coefficients := make([]float64, o.Pairs().Docs())
		o.FeatureLoss(coefficients, -0.5)
		st.at = len(r.used)
		r.used = append(r.used, coefficients)
	}
	return st.at
}
