package scorer_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/listwise/listwise/model/scorer"
)

// Squares scores a document by Σ w_j x_j², by which features that are good in the middle
// can be weighed.
type Squares struct {
	Features int `json:"features"`
}

func (Squares) Kind() string                        { return "example-squares" }
func (s Squares) NumFeatures() int                  { return s.Features }
func (s Squares) NumParams() int                    { return s.Features }
func (Squares) Init(params []float64, _ *rand.Rand) { clear(params) }
func (s Squares) row(x []float32, i int) []float32  { return x[i*s.Features : (i+1)*s.Features] }

func (s Squares) Score(dst, params []float64, x []float32, _ *scorer.Workspace) {
	for i := range dst {
		dst[i] = 0
		for j, v := range s.row(x, i) {
			dst[i] += params[j] * float64(v) * float64(v)
		}
	}
}

func (s Squares) Backward(grad, _ []float64, x []float32, lambda []float64, _ *scorer.Workspace) {
	for i, l := range lambda {
		for j, v := range s.row(x, i) {
			grad[j] += l * float64(v) * float64(v)
		}
	}
}

func init() {
	scorer.Register(Squares{}.Kind(), func(text json.RawMessage) (scorer.Scorer, error) {
		var s Squares
		err := json.Unmarshal(text, &s)
		return s, err
	})
}

// The scorer of another package gets a form in model files by one call in an init function:
//
//	func init() {
//		scorer.Register(Squares{}.Kind(), func(text json.RawMessage) (scorer.Scorer, error) {
//			var s Squares
//			err := json.Unmarshal(text, &s)
//			return s, err
//		})
//	}
func ExampleRegister() {
	text, err := scorer.Encode(Squares{Features: 2}, []float64{0.5, -1})
	fmt.Println(string(text), err)

	s, params, err := scorer.Decode(text)
	if err != nil {
		fmt.Println(err)
	}
	scores := make([]float64, 2)
	s.Score(scores, params, []float32{1, 2, 3, 0}, nil)
	fmt.Println(s, scores)

	_, _, err = scorer.Decode([]byte(`{"type": "forest"}`))
	fmt.Println(err)
	// Output:
	// {"type":"example-squares","architecture":{"features":2},"weights":[0.5,-1]} <nil>
	// {2} [-3.5 4.5]
	// found the type "forest", expected classes, fm, layers, linear, net, pairnet, random, stumps, treeclasses, trees, example-squares; a program that reads scorers of another package must import that package
}
