package objective

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/listwise/listwise/internal/kernel"
)

// PartialRisk is the sum of a loss over a part of the queries, without a penalty. The part may be on another machine.
// Eval returns the value at w and overwrites grad with the gradient.
type PartialRisk interface {
	Eval(w, grad []float64) (float64, error)
}

// Parts is the regularised empirical risk of data that are divided into parts,
//
//	F(w) = Σ_parts Σ_q v_q loss_q(scores_q(w)) + ‖w‖²/C,
//
// as one objective for an optimiser. The parts are evaluated concurrently and added in order, so the same division
// gives the same bits. Results of different divisions differ by rounding.
//
// If a part fails, Eval returns NaN, which stops the solver, and Err returns the cause. A Parts must not be used by
// several goroutines at once.
type Parts struct {
	parts   []PartialRisk
	dim     int
	inverse float64
	values  []float64
	grads   [][]float64
	err     error
}

// NewParts combines parts, each with dim parameters, with the penalty ‖w‖²/C of opts. It ignores the other options.
func NewParts(dim int, parts []PartialRisk, opts Options) (*Parts, error) {
	inverse, err := opts.regularization()
	if err != nil {
		return nil, err
	}
	if dim < 1 || len(parts) == 0 {
		return nil, fmt.Errorf("found %d parameters and %d parts, expected at least one of both", dim, len(parts))
	}
	p := &Parts{parts: parts, dim: dim, inverse: inverse, values: make([]float64, len(parts)), grads: make([][]float64, len(parts))}
	for i := range p.grads {
		p.grads[i] = make([]float64, dim)
	}
	return p, nil
}

// Dim returns the number of parameters.
func (p *Parts) Dim() int { return p.dim }

// StrongConvexity returns 2/C. If the losses are convex in the parameters, F is μ-strongly convex for this μ.
func (p *Parts) StrongConvexity() float64 { return 2 * p.inverse }

// Eval returns F(w) and overwrites grad with its gradient. Both slices have Dim elements.
func (p *Parts) Eval(w, grad []float64) float64 {
	clear(grad)
	if p.err != nil { // after a failure the other parts are not evaluated again
		return math.NaN()
	}
	failures := make([]error, len(p.parts))
	var all sync.WaitGroup
	for i, part := range p.parts {
		all.Go(func() { p.values[i], failures[i] = part.Eval(w, p.grads[i]) })
	}
	all.Wait()
	if p.err = errors.Join(failures...); p.err != nil {
		return math.NaN()
	}
	value := 0.0
	for i := range p.parts {
		value += p.values[i]
		kernel.Add(grad, p.grads[i])
	}
	return addPenalty(p.inverse, value, w, grad)
}

// Err returns the errors of the parts that failed, or nil.
func (p *Parts) Err() error { return p.err }

// Part returns r as a part of a larger risk. It returns an error if r has a penalty, because the penalty would then
// be added once for each part.
func (r *Risk) Part() (PartialRisk, error) {
	if r.inverse != 0 {
		return nil, fmt.Errorf("regularisation C = %v of a part, expected none: the whole has it", r.c)
	}
	return riskPart{r}, nil
}

type riskPart struct{ *Risk }

// Eval returns the value of the risk at w and overwrites grad with the gradient. The error is ErrInterrupted if
// Options.Done is closed.
func (p riskPart) Eval(w, grad []float64) (float64, error) {
	value := p.Risk.Eval(w, grad)
	if closed(p.functional.done) {
		return value, ErrInterrupted
	}
	return value, nil
}
