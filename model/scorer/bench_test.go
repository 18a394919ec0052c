package scorer

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/listwise/listwise/internal/kernel"
)

// network shapes: LambdaRank's (26 documents of 367 features, 10 hidden units),
// OHSUMED's lists with a wide layer, and MSLR's lists.
var networkShapes = []struct{ docs, features, hidden int }{{26, 367, 10}, {152, 45, 64}, {120, 136, 32}}

func benchmark(b *testing.B, s Scorer, docs int) {
	x, params, lambda := start(rand.New(rand.NewPCG(1, 2)), s, docs)
	scores, grad := make([]float64, docs), make([]float64, len(params))
	var ws Workspace
	s.Score(scores, params, x, &ws)
	b.Run("score", func(b *testing.B) {
		for b.Loop() {
			s.Score(scores, params, x, &ws)
		}
	})
	b.Run("backward", func(b *testing.B) {
		for b.Loop() {
			s.Backward(grad, params, x, lambda, &ws)
		}
	})
}

// A network's least work is the arithmetic of the features: a product with the weights of
// all hidden units in each direction. Beside the products there are an exponential or two
// an activation and, for each unit, a few passes over a row of documents; both count the
// most where few features meet many units.
func BenchmarkNetwork(b *testing.B) {
	for _, n := range networkShapes {
		b.Run(fmt.Sprintf("%dx%dx%d", n.docs, n.features, n.hidden), func(b *testing.B) {
			for f := range activationNames {
				s := Network{Features: n.features, Hidden: n.hidden, Activation: Activation(f)}
				b.Run(s.Activation.String(), func(b *testing.B) { benchmark(b, s, n.docs) })
			}
			b.Run("floor", func(b *testing.B) { benchmarkFloor(b, n.docs, n.features, n.hidden) })
		})
	}
}

// benchmarkFloor is the arithmetic of the features alone: the product of the matrix
// with the units' weights, and of its transpose on the way back.
func benchmarkFloor(b *testing.B, docs, features, hidden int) {
	s := Network{Features: features, Hidden: hidden}
	x, params, _ := start(rand.New(rand.NewPCG(1, 2)), s, docs)
	weights, z := params[:hidden*features], make([]float64, hidden*docs)
	b.Run("score", func(b *testing.B) {
		for b.Loop() {
			kernel.Gemm(z, x, weights, docs, features)
		}
	})
	clear(z)
	b.Run("backward", func(b *testing.B) {
		for b.Loop() {
			kernel.GemmT(weights, x, z, docs, features)
		}
	})
}

// A pair network's yardstick, for long lists, is one activation a pair and unit. With
// tanh and sigmoid, whose exponentials are products of one a document, forward takes
// 0.5 to 0.6 times as long; backward, which works the activations out again and adds
// up their slopes both ways, 1.2 to 1.6 times. The others take 1.2 to 2.3 times.
func BenchmarkPairNetwork(b *testing.B) {
	for _, docs := range []int{26, 152, 500} {
		b.Run(strconv.Itoa(docs), func(b *testing.B) {
			for f := range activationNames {
				s := PairNetwork{Features: 45, Hidden: 10, PairHidden: 10, Activation: Activation(f)}
				b.Run(s.Activation.String(), func(b *testing.B) { benchmark(b, s, docs) })
			}
			pairs := make([]float64, docs*docs)
			b.Run("floor", func(b *testing.B) { // the activation of the pairs alone
				for b.Loop() {
					for range 10 {
						kernel.Logistic(pairs, pairs)
					}
				}
			})
		})
	}
}
