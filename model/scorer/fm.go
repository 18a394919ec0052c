package scorer

import (
	"fmt"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/kernel"
	"github.com/listwise/listwise/internal/strictjson"
)

// FM is a factorization machine of degree 2 (S. Rendle, Factorization Machines, ICDM 2010, eq. 1),
//
//	s(x) = w·x + 1/k Σ_{i<j} Σ_t v_ti v_tj x_i x_j,   t = 1 … k.
//
// It learns a weight for each feature and for each product of two features. So a feature of the query,
// such as its category, can change the weights of the documents' features. Each feature has k factors,
// which all its products share. So it also learns products that are rarely nonzero, such as products of
// one-hot features. The scale 1/k is not in the paper. With it, scores and the effect of an L2 penalty depend
// less on k. There is no bias, because a constant added to all scores changes no ranking. The
// parameters are w and then v_1 … v_k, with p numbers each, feature 1 first.
//
// The sum over products is computed as
//
//	1/(2k) (Σ_t (v_t·x)² − Σ_j u_j x_j²),   u_j = Σ_t v_tj²,
//
// which takes about k + 2 multiply-adds per feature and document (Lemma 3.1). A score has the same bits
// whichever other documents are scored at the same time.
type FM struct {
	Features int // p ≥ 1
	Factors  int // k ≥ 1
}

var _ Scorer = FM{}

// Kind returns "fm".
func (FM) Kind() string { return "fm" }

// NumFeatures returns the number of features.
func (f FM) NumFeatures() int { return f.Features }

// Validate returns an error for an architecture without features or without factors.
func (f FM) Validate() error {
	if err := atLeastOne("features", f.Features); err != nil {
		return err
	}
	return atLeastOne("factors", f.Factors)
}

// NumParams returns p·(k + 1).
func (f FM) NumParams() int { return f.Features * (f.Factors + 1) }

// Init sets w to 0 and draws the factors uniformly from ±0.2. Factors of 0 would stay 0, since their
// derivatives are 0.
func (f FM) Init(params []float64, rng *rand.Rand) {
	mustMatch("parameters", len(params), f.NumParams())
	clear(params[:f.Features])
	uniform(params[f.Features:], 0.2, rng)
}

// Score implements [Scorer]. It stores the products v_t·x in ws.
func (f FM) Score(dst, params []float64, x []float32, ws *Workspace) {
	docs, p := len(dst), f.Features
	mustMatch("features", len(x), docs*p)
	mustMatch("parameters", len(params), f.NumParams())
	w, v := params[:p], params[p:]
	memory := ws.Hold(x, f.Held(docs))
	products, squares, scaled := memory[:f.Factors*docs], memory[2*f.Factors*docs:][:p], memory[2*f.Factors*docs+p:]
	kernel.Gemv(dst, x, w)
	kernel.Gemm(products, x, v, docs, p)
	clear(squares)
	for t := range f.Factors {
		for j, factor := range v[t*p : (t+1)*p] {
			squares[j] += float64(factor * factor)
		}
	}
	for i := range dst {
		row := x[i*p : (i+1)*p]
		for j, value := range row {
			scaled[j] = squares[j] * float64(value)
		}
		sum := -kernel.Dot32(row, scaled)
		for t := range f.Factors {
			product := products[t*docs+i]
			sum += float64(product * product)
		}
		dst[i] += sum / float64(2*f.Factors)
	}
}

// Backward implements [Scorer]. The derivatives of Σ_i lambda_i·s_i are
//
//	∂/∂w = Σ_i lambda_i x_i   ∂/∂v_tj = 1/k Σ_i lambda_i ((v_t·x_i) x_ij − v_tj x_ij²)
func (f FM) Backward(grad, params []float64, x []float32, lambda []float64, ws *Workspace) {
	docs, p := len(lambda), f.Features
	mustMatch("features", len(x), docs*p)
	mustMatch("derivatives", len(grad), f.NumParams())
	memory, v := ws.Held(x), params[p:]
	products, deltas, sums := memory[:f.Factors*docs], memory[f.Factors*docs:][:f.Factors*docs], memory[2*f.Factors*docs:][:p]
	kernel.GemvT(grad[:p], x, lambda)
	share := 1 / float64(f.Factors)
	clear(sums)
	for i, l := range lambda {
		l *= share
		for t := range f.Factors {
			deltas[t*docs+i] = l * products[t*docs+i]
		}
		for j, value := range x[i*p : (i+1)*p] {
			sums[j] += float64(float64(l*float64(value)) * float64(value))
		}
	}
	kernel.GemmT(grad[p:], x, deltas, docs, p)
	for t := range f.Factors {
		g := grad[p+t*p : p+(t+1)*p]
		for j, factor := range v[t*p : (t+1)*p] {
			g[j] -= float64(factor * sums[j])
		}
	}
}

// Average returns the factorization machine whose score is the mean of the scores of several, with
// the factors of all.
func (f FM) Average(members [][]float64) (Scorer, []float64) {
	mean := FM{f.Features, f.Factors * len(members)}
	params := make([]float64, f.Features, mean.NumParams())
	for _, m := range members {
		mustMatch("parameters", len(m), f.NumParams())
		kernel.Axpy(1/float64(len(members)), m[:f.Features], params[:f.Features])
		params = append(params, m[f.Features:]...)
	}
	return mean, params
}

func (f FM) encode(params []float64) ([]byte, error) {
	return withWeights(struct {
		Type     string `json:"type"`
		Features int    `json:"features"`
		Factors  int    `json:"factors"`
	}{f.Kind(), f.Features, f.Factors}, params)
}

func decodeFM(o strictjson.Object) (Scorer, []float64, error) {
	var f struct {
		Features int                `json:"features"`
		Factors  int                `json:"factors"`
		Weights  strictjson.Numbers `json:"weights"`
	}
	if err := o.Decode(&f); err != nil {
		return nil, nil, err
	}
	s := FM{f.Features, f.Factors}
	if err := s.Validate(); err != nil {
		return nil, nil, err
	}
	// The product of numbers in a file may overflow an int.
	if want := float64(f.Features) * (float64(f.Factors) + 1); float64(len(f.Weights)) != want {
		return nil, nil, fmt.Errorf("found %d weights, expected %.0f", len(f.Weights), want)
	}
	return s, f.Weights, nil
}
