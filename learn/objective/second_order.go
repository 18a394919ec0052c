package objective

import (
	"errors"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/model/scorer"
)

// SecondOrder is a Risk whose Hessian can be multiplied with vectors. For w·x under a loss with second
// derivatives B_q with respect to the scores, the Hessian is
//
//	H = Σ_q X_qᵀ B_q X_q + (2/C)·1.
//
// A product costs two passes over the features, as a gradient does, and no matrix is made. Values and
// gradients are the Risk's.
type SecondOrder struct {
	*Risk
	curvature []loss.Curvature // one a query
	eval      rangeFunc
	times     rangeFunc
}

// SecondOrder returns the risk with its Hessian. It is an error if the scorer is not
// linear in its parameters or if the loss has no Hessian.
func (r *Risk) SecondOrder() (*SecondOrder, error) {
	if _, ok := r.scorer.(scorer.Linear); !ok {
		return nil, errors.New("the Hessian is known for linear scorers only")
	}
	c := &SecondOrder{Risk: r, curvature: make([]loss.Curvature, len(r.queries))}
	for i, q := range r.queries {
		b, ok := q.loss.(loss.SecondOrder)
		if !ok {
			return nil, errors.New("found no Hessian, expected a loss.SecondOrder")
		}
		c.curvature[i] = b.Curvature()
	}
	c.eval, c.times = r.functional.each(r.through(c.evalQuery)), r.functional.each(r.through(c.timesQuery))
	return c, nil
}

// Eval is [Risk.Eval], and makes w the point of HessianTimes.
func (c *SecondOrder) Eval(w, grad []float64) float64 {
	return c.penalize(c.sum(c.eval, w, grad), w, grad)
}

// HessianTimes overwrites dst with the Hessian at the point of the last Eval times
// v; both slices have Dim elements.
func (c *SecondOrder) HessianTimes(dst, v []float64) {
	c.params = v
	c.sums.Run(c.workers, c.times)
	copy(dst, c.sums.Total)
	kernel.Axpy(2*c.inverse, v, dst)
}

func (c *SecondOrder) evalQuery(query int, scores, lambda []float64, scratch *loss.Scratch) float64 {
	return c.curvature[query].Eval(scores, lambda, scratch)
}

func (c *SecondOrder) timesQuery(query int, scores, product []float64, _ *loss.Scratch) float64 {
	c.curvature[query].Times(product, scores)
	return 0
}

// Support returns c and overwrites grad such that the sum of the losses is at least c + grad·v at every v.
// For a loss that approximates another one, this bounds the latter. It is the sum of the cutting planes of
// [loss.CuttingPlane] at the scores of w, without the penalty. It is an error if a loss has no cutting
// planes or the scorer is not linear.
func (r *Risk) Support(w, grad []float64) (c float64, err error) {
	if err := r.CheckSupport(); err != nil {
		return 0, err
	}
	return r.sum(r.functional.each(r.through(r.supportQuery)), w, grad), nil
}

// CheckSupport returns the error that Support would return at any w.
func (r *Risk) CheckSupport() error {
	if _, ok := r.scorer.(scorer.Linear); !ok {
		return errors.New("the risk has cutting planes for linear scorers only")
	}
	for _, q := range r.queries {
		if _, ok := q.loss.(loss.CuttingPlane); !ok {
			return errors.New("found no cutting planes, expected a loss.CuttingPlane")
		}
	}
	return nil
}

func (r *Risk) supportQuery(query int, scores, lambda []float64, scratch *loss.Scratch) float64 {
	return r.queries[query].loss.(loss.CuttingPlane).Support(scores, lambda, scratch)
}
