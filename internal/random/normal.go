package random

import (
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/elementary"
)

// ziggurat has the tables of layers of equal area under a falling density. A draw computes the
// density in only about one of a hundred cases (G. Marsaglia and W. W. Tsang, The Ziggurat Method
// for Generating Random Variables, Journal of Statistical Software 5(8), 2000). The number of
// layers, the float32 tables and the use of random bits are those of math/rand/v2, and so are the
// draws. Only rare draws from the tail differ in the last digit, since the standard library's
// logarithm depends on the architecture.
type ziggurat struct {
	within  []uint32  // a draw below this is inside the layer
	width   []float32 // of the layer, per unit of the draw
	density []float32 // at the layer's right end
}

const (
	normalTail      = 3.442619855899      // where the lowest layer's rectangle ends
	normalArea      = 9.91256303526217e-3 // of each of 128 layers
	exponentialTail = 7.69711747013104972
	exponentialArea = 3.9496598225815571993e-3 // of each of 256 layers
)

var (
	normalLayers = layers(128, 1<<31, normalTail, normalArea,
		func(x float64) float64 { return elementary.Exp(float64(-0.5*x) * x) },
		func(y float64) float64 { return math.Sqrt(-2 * elementary.Log(y)) })
	exponentialLayers = layers(256, 1<<32, exponentialTail, exponentialArea,
		func(x float64) float64 { return elementary.Exp(-x) },
		func(y float64) float64 { return -elementary.Log(y) })
)

// layers returns the tables of n layers for random integers below size. inverse is the inverse
// function of density.
func layers(n int, size, tail, area float64, density, inverse func(float64) float64) ziggurat {
	z := ziggurat{make([]uint32, n), make([]float32, n), make([]float32, n)}
	base := area / density(tail) // the lowest layer includes the tail
	z.within[0] = uint32(float64(tail / base * size))
	z.width[0] = float32(base / size)
	z.width[n-1] = float32(tail / size)
	z.density[0], z.density[n-1] = 1, float32(density(tail))
	x := tail
	for i := n - 2; i >= 1; i-- {
		above := inverse(area/x + density(x))
		z.within[i+1] = uint32(float64(above / x * size))
		z.density[i] = float32(density(above))
		z.width[i] = float32(above / size)
		x = above
	}
	return z
}

// below reports whether a random point between the densities at the ends of layer i is below d.
func (z *ziggurat) below(i int, rng *rand.Rand, d float64) bool {
	rise := float32(rng.Float64()) * (z.density[i-1] - z.density[i])
	return z.density[i]+float32(rise) < float32(d)
}

// Normal returns a draw from the standard normal distribution. The draw is the same on every
// architecture.
func Normal(rng *rand.Rand) float64 {
	z := &normalLayers
	for {
		u := rng.Uint64()
		j, i := int32(u), int(u>>32&0x7f)
		x := float64(float64(j) * float64(z.width[i]))
		size := uint32(j)
		if j < 0 {
			size = -size
		}
		switch {
		case size < z.within[i]:
			return x
		case i == 0:
			return math.Copysign(normalTail+normalBeyond(rng), float64(j))
		case z.below(i, rng, elementary.Exp(float64(-0.5*x)*x)):
			return x
		}
	}
}

// normalBeyond returns the distance beyond normalTail of a draw from the tail.
func normalBeyond(rng *rand.Rand) float64 {
	for {
		x := -float64(elementary.Log(rng.Float64()) * (1.0 / normalTail))
		y := -elementary.Log(rng.Float64())
		if y+y >= float64(x*x) {
			return x
		}
	}
}

// Exponential returns a draw from the exponential distribution with mean 1. The draw is the same on
// every architecture.
func Exponential(rng *rand.Rand) float64 {
	z := &exponentialLayers
	for {
		u := rng.Uint64()
		j, i := uint32(u), int(uint8(u>>32))
		x := float64(float64(j) * float64(z.width[i]))
		switch {
		case j < z.within[i]:
			return x
		case i == 0:
			return exponentialTail - elementary.Log(rng.Float64())
		case z.below(i, rng, elementary.Exp(-x)):
			return x
		}
	}
}
