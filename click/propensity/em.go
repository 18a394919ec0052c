package propensity

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// Pair is a document of a query.
type Pair struct{ Query, Doc string }

// Regression makes the attraction of a pair a function of what is known about it.
type Regression interface {
	// Has reports whether the attraction of a pair can be predicted.
	Has(Pair) bool
	// Start begins a regression. Any number of regressions may run at once.
	Start(pairs []Pair) Fitter
}

// Fitter is a regression on the pairs with which it was started.
type Fitter interface {
	// Fit fits labels with weights of 0 or more and sets the predictions, which are from 0 to 1. Labels are from 0 to
	// 1, or unbiased estimates of such numbers, which may be larger. Fit is called with the same or slightly different
	// labels time and again and may start where it ended.
	Fit(labels, weights, predictions []float64) error
}

// em fits a position-based model: a click has the probability θ_k α, with an attraction α of the pair. Blocks of the
// table are pairs.
type em struct {
	*table

	k          int
	iterations int
	regression Regression // nil: each pair has an attraction of its own, with the prior of Laplace
	pairs      []Pair     // of the blocks, for the regression
}

// state is a fit while it runs.
type state struct {
	*em

	sums         []count
	theta, alpha []float64
	fitter       Fitter

	labels, weights []float64
}

func (e *em) begin(weights []float64) *state {
	n := len(e.blocks) - 1
	s := &state{em: e, sums: e.sums(weights), theta: make([]float64, e.k), alpha: make([]float64, n), labels: make([]float64, n), weights: make([]float64, n)}
	for i := range s.theta {
		s.theta[i] = 0.5
	}
	for i := range s.alpha {
		s.alpha[i] = 0.5
	}
	if e.regression != nil {
		s.fitter = e.regression.Start(e.pairs)
	}
	return s
}

// fit returns the logarithms of the propensities.
func (e *em) fit(weights []float64) ([]float64, error) { return e.begin(weights).run() }

// run returns the logarithms of the propensities.
func (s *state) run() ([]float64, error) {
	e := s.em
	logs := make([]float64, e.k)
	for range e.iterations {
		if err := s.step(); err != nil {
			return nil, err
		}
		change := 0.0
		for i := range logs {
			v := elementary.Log(s.theta[i] / s.theta[0])
			change = max(change, math.Abs(v-logs[i]))
			logs[i] = v
		}
		if change < emTolerance {
			break
		}
	}
	return logs, nil
}

const (
	emTolerance = 1e-7 // of the logarithm of a propensity
	clipped     = 1e-6 // distance of probabilities from 0 and 1
)

func clip(p float64) float64 { return min(max(p, clipped), 1-clipped) }

func (s *state) step() error {
	looked, all := make([]float64, s.k), make([]float64, s.k)
	for b := range s.alpha {
		attracted, shown := 0.0, 0.0
		for i := s.blocks[b]; i < s.blocks[b+1]; i++ {
			n, c, k := s.sums[i].shown, s.sums[i].clicked, s.slots[i]
			x, y := s.alpha[b], s.theta[k]
			z := 1 - float64(x*y)
			attracted += c + float64((n-c)*(float64(x*(1-y))/z))
			looked[k] += c + float64((n-c)*(float64(y*(1-x))/z))
			shown += n
			all[k] += n
		}
		s.labels[b], s.weights[b] = attracted, shown
	}
	a, d := 0.0, 0.0 // the prior
	if s.fitter == nil {
		a, d = 1, 2
		for b := range s.alpha {
			s.alpha[b] = clip((a + s.labels[b]) / (d + s.weights[b]))
		}
	} else {
		for b, n := range s.weights {
			if n > 0 {
				s.labels[b] /= n
			}
		}
		if err := s.fitter.Fit(s.labels, s.weights, s.alpha); err != nil {
			return err
		}
		for b := range s.alpha {
			s.alpha[b] = clip(s.alpha[b])
		}
	}
	for k := range s.theta {
		if all[k] > 0 {
			s.theta[k] = clip((a + looked[k]) / (d + all[k]))
		}
	}
	return nil
}

// objective is the log-likelihood with the logarithm of the prior.
func (s *state) objective() (sum float64) {
	for b, x := range s.alpha {
		for i := s.blocks[b]; i < s.blocks[b+1]; i++ {
			p := x * s.theta[s.slots[i]]
			n, c := s.sums[i].shown, s.sums[i].clicked
			sum += float64(c*elementary.Log(p)) + float64((n-c)*elementary.Log1p(-p))
		}
	}
	if s.fitter == nil {
		for _, list := range [][]float64{s.alpha, s.theta} {
			for _, p := range list {
				sum += elementary.Log(p) + elementary.Log1p(-p)
			}
		}
	}
	return sum
}
