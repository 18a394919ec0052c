package objective

import (
	"errors"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/model/scorer"
)

// SecondOrder is a Risk whose Hessian can be multiplied with vectors. The scorer is linear, w·x. With B_q for the
// second derivatives of a query's loss by its scores, the Hessian is
//
//	H = Σ_q X_qᵀ B_q X_q + (2/C)·1.
//
// A product takes two passes over the features, as a gradient does. The matrix is never computed. Values and
// gradients are those of the Risk.
type SecondOrder struct {
	*Risk
	curvature []loss.Curvature // one for each query
	eval      rangeFunc
	times     rangeFunc
}

// SecondOrder returns the risk with its Hessian. It returns an error if the scorer is no scorer.Linear, or if the
// loss of a query is no [loss.SecondOrder].
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

// Eval returns F(w) and overwrites grad with the gradient. It also sets the point at which HessianTimes evaluates the
// Hessian.
func (c *SecondOrder) Eval(w, grad []float64) float64 {
	return c.penalize(c.sum(c.eval, w, grad), w, grad)
}

// HessianTimes overwrites dst with H·v, where H is the Hessian at the w of the last Eval. Both slices have
// Dim elements.
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

// Support returns a cutting plane of the sum of the losses, without the penalty. The plane is a constant c and a
// vector, which Support stores in grad. At every v the sum is at least c + grad·v. The plane is the sum of the
// queries' planes at the scores of w (see [loss.CuttingPlane]). If the loss is an approximation, its planes are lower
// bounds of the loss that it approximates. Support returns an error if a loss has no cutting planes, or if the scorer
// is not linear.
func (r *Risk) Support(w, grad []float64) (c float64, err error) {
	if err := r.CheckSupport(); err != nil {
		return 0, err
	}
	return r.sum(r.functional.each(r.through(r.supportQuery)), w, grad), nil
}

// CheckSupport returns the error that Support would return. It does not depend on w.
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
