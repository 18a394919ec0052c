package scorer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/strictjson"
)

// Classes scores a document by the expected value of its class. The classes are the grades. Their
// probabilities follow from linear functions u_k(x) = w_k·x + b_k:
//
//	softmax:   s(x) = Σ_k T_k·P(k),   P(k) = exp u_k / Σ_j exp u_j     (K functions)
//	ordinal:   s(x) = T_1 + Σ_{k>1} (T_k − T_{k−1})·P(class ≥ k),
//	           P(class ≥ k) = 1/(1 + exp(−u_k))                        (K − 1 functions)
//
// This is McRank (Li, Burges and Wu, NIPS 2007, sections 3.1 and 3.3). With p features the parameters
// are the weights of each function, p per function, followed by the biases.
type Classes struct {
	Features int
	Values   []float64 // T_1 < … < T_K, finite; two at least
	Ordinal  bool
}

var _ Scorer = Classes{}

// MaxClasses is the largest number of classes.
const MaxClasses = 256

// Kind returns "classes".
func (Classes) Kind() string { return "classes" }

// NumFeatures returns the number of features.
func (c Classes) NumFeatures() int { return c.Features }

// Validate returns an error if there are no features or if [CheckClasses] rejects the values.
func (c Classes) Validate() error {
	if err := atLeastOne("features", c.Features); err != nil {
		return err
	}
	return CheckClasses(c.Values)
}

// Functions returns the number of linear functions.
func (c Classes) Functions() int {
	if c.Ordinal {
		return len(c.Values) - 1
	}
	return len(c.Values)
}

// NumParams returns (p + 1) times the number of functions.
func (c Classes) NumParams() int { return c.Functions() * (c.Features + 1) }

// Init sets all parameters to 0, so that all classes are equally probable.
func (Classes) Init(params []float64, _ *rand.Rand) { clear(params) }

// Apply sets dst to the values of the functions u, as a functions × documents matrix.
func (c Classes) Apply(dst, params []float64, x []float32) {
	mustMatch("parameters", len(params), c.NumParams())
	mustMatch("features", len(x)*c.Functions(), len(dst)*c.Features)
	weights, docs := c.Functions()*c.Features, len(dst)/c.Functions()
	kernel.Gemm(dst, x, params[:weights], docs, c.Features)
	for k, b := range params[weights:] {
		addConstant(dst[k*docs:(k+1)*docs], b)
	}
}

// Back adds the gradient of Σ delta·u to grad. The sum is over functions and documents. delta is a
// functions × documents matrix.
func (c Classes) Back(grad []float64, x []float32, delta []float64) {
	mustMatch("derivatives", len(grad), c.NumParams())
	weights, docs := c.Functions()*c.Features, len(delta)/c.Functions()
	kernel.GemmT(grad[:weights], x, delta, docs, c.Features)
	for k := range c.Functions() {
		grad[weights+k] += kernel.Sum(delta[k*docs : (k+1)*docs])
	}
}

// Probabilities replaces the values in u by P(k) or P(class ≥ k). u is a functions × documents matrix.
func (c Classes) Probabilities(u []float64) {
	if c.Ordinal {
		kernel.Logistic(u, u)
		return
	}
	docs := len(u) / len(c.Values)
	for i := range docs {
		top := math.Inf(-1)
		for at := i; at < len(u); at += docs {
			top = max(top, u[at])
		}
		var sum float64
		for at := i; at < len(u); at += docs {
			u[at] = elementary.Exp(u[at] - top)
			sum += u[at]
		}
		for at := i; at < len(u); at += docs {
			u[at] /= sum
		}
	}
}

// weight returns the factor by which the k-th function's probability counts in the score.
func (c Classes) weight(k int) float64 {
	if c.Ordinal {
		return c.Values[k+1] - c.Values[k]
	}
	return c.Values[k]
}

// Score implements [Scorer]. It stores the probabilities and the scores in ws.
func (c Classes) Score(dst, params []float64, x []float32, ws *Workspace) {
	mustMatch("features", len(x), len(dst)*c.Features)
	docs := len(dst)
	memory := ws.Hold(x, (2*c.Functions()+1)*docs)
	p := memory[:c.Functions()*docs]
	c.Apply(p, params, x)
	c.Probabilities(p)
	clear(dst)
	if c.Ordinal {
		addConstant(dst, c.Values[0])
	}
	for k := range c.Functions() {
		kernel.Axpy(c.weight(k), p[k*docs:(k+1)*docs], dst)
	}
	copy(memory[2*len(p):], dst)
}

// Backward implements [Scorer]. The derivative ∂s/∂u_k is P(k)(T_k − s). For ordinal classes it is (T_k
// − T_{k−1})·P(class ≥ k)·(1 − P(class ≥ k)).
func (c Classes) Backward(grad, params []float64, x []float32, lambda []float64, ws *Workspace) {
	mustMatch("parameters", len(params), c.NumParams())
	mustMatch("features", len(x), len(lambda)*c.Features)
	docs, memory := len(lambda), ws.Held(x)
	n := c.Functions() * docs
	p, delta, scores := memory[:n], memory[n:2*n], memory[2*n:]
	for k := range c.Functions() {
		weight := c.weight(k)
		for i, v := range p[k*docs : (k+1)*docs] {
			if c.Ordinal {
				delta[k*docs+i] = lambda[i] * weight * v * (1 - v)
			} else {
				delta[k*docs+i] = lambda[i] * v * (weight - scores[i])
			}
		}
	}
	c.Back(grad, x, delta)
}

// classesFile is the architecture in a model file. The key "weights" follows with the parameters.
type classesFile struct {
	Type     string    `json:"type"`
	Features int       `json:"features"`
	Values   []float64 `json:"values"`
	Ordinal  bool      `json:"ordinal"`
}

func (c Classes) encode(params []float64) ([]byte, error) {
	return withWeights(classesFile{c.Kind(), c.Features, c.Values, c.Ordinal}, params)
}

func decodeClasses(o strictjson.Object) (Scorer, []float64, error) {
	var f classesFile
	var list struct {
		Weights strictjson.Numbers `json:"weights"`
	}
	err := o.Decode(&f)
	if err == nil {
		err = o.Decode(&list)
	}
	c := Classes{Features: f.Features, Values: f.Values, Ordinal: f.Ordinal}
	if err == nil {
		err = c.Validate()
	}
	if err != nil {
		return nil, nil, err
	}
	if want := float64(c.Functions()) * (float64(c.Features) + 1); float64(len(list.Weights)) != want {
		return nil, nil, fmt.Errorf("found %d weights, expected %.0f", len(list.Weights), want)
	}
	return c, list.Weights, nil
}

// CheckClasses returns an error unless there are 2 to MaxClasses values, all finite and in increasing
// order.
func CheckClasses(values []float64) error {
	if len(values) < 2 || len(values) > MaxClasses {
		return fmt.Errorf("found %d values of classes, expected 2 to %d", len(values), MaxClasses)
	}
	for k, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || k > 0 && !(v > values[k-1]) {
			return errors.New("found values of classes that are not finite or not increasing")
		}
	}
	return nil
}
