package stats

import (
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/random"
)

// Claim is the statement that a pair's p values and interval support.
type Claim string

const (
	// OfRuns is a claim about the two runs compared: other queries might have been drawn.
	OfRuns Claim = "runs"

	// OfMethods is a claim about methods: other queries and other random seeds might have
	// been drawn. One system of the pair has several runs at least.
	OfMethods Claim = "methods"
)

// seeds is the variance of the mean over a method's runs, as estimated from them.
type seeds struct {
	df   float64 // runs − 1; 0 for one run, which says nothing
	runs float64 // s²/R of the runs' means
	both float64 // the part of it, s²/(QR), due to interaction of seeds and queries
}

// seedsOf estimates the variance components of runs[r][q] by analysis of variance in the crossed
// layout of runs and queries.
func seedsOf(runs [][]float64) seeds {
	r, q := float64(len(runs)), float64(len(runs[0]))
	if r < 2 {
		return seeds{}
	}
	s := seeds{df: r - 1}
	means := overQueries(runs)
	if alike(means) {
		return s
	}
	s.runs = deviation(means) * deviation(means) / r
	overall := mean(means)
	var squares float64
	for k := range runs[0] {
		query := overRuns(runs, k)
		for i, run := range runs {
			rest := run[k] - query - means[i] + overall
			squares += float64(rest * rest)
		}
	}
	s.both = squares / ((r - 1) * (q - 1)) / (q * r)
	return s
}

// spread is the variance that random seeds add to a mean or a difference of means whose
// variance between queries is known, and its degrees of freedom.
type spread struct{ variance, df float64 }

// spreadOf returns the variance that the seeds of two methods add to the difference of their means.
// The variance between queries contains the interaction of seeds and queries, which is therefore
// subtracted here. The degrees of freedom are Welch's.
func spreadOf(a, b seeds) spread {
	total := a.runs + b.runs
	s := spread{variance: max(0, total-a.both-b.both)}
	var square float64
	for _, m := range []seeds{a, b} {
		if m.df > 0 {
			square += float64(m.runs*m.runs) / m.df
		}
	}
	if s.variance > 0 {
		s.df = total * total / square
	}
	return s
}

// standardError returns the standard error of a mean over queries with seeds, and its degrees of
// freedom (Satterthwaite 1946); values has one number a query. Without variance both are 0.
func (s spread) standardError(values []float64) (se, df float64) {
	var variance, square float64
	if n := float64(len(values)); !alike(values) {
		variance = deviation(values) * deviation(values) / n
		square = variance * variance / (n - 1)
	}
	if s.variance > 0 {
		variance += s.variance
		square += s.variance * s.variance / s.df
	}
	if variance == 0 {
		return 0, 0
	}
	return math.Sqrt(variance), variance * variance / square
}

// noise draws the error of a mean due to seeds: Student's t, from normal draws of the systems.
type noise struct {
	a, b  float64   // weights of the systems' normal draws
	scale float64   // standard error; 0: none
	t     []float64 // quantiles of Student's t at those of the normal distribution, 0, 1/noiseSteps, …
}

const (
	noiseSteps = 8 // a unit of the normal quantile
	noiseUnits = 5
)

// newNoise returns the noise of a difference of means; values are the differences of the
// queries, and b the zero seeds for a mean of one system.
//
// V is the variance of the mean, and S its part that is due to seeds, estimated with ν degrees of
// freedom. The noise has ν·V/S degrees of freedom, which is ν if seeds alone matter. With ν the
// sum of both errors would exceed Satterthwaite's t in general, and tests would be conservative.
func newNoise(a, b seeds, values []float64) noise {
	s := spreadOf(a, b)
	if s.variance == 0 {
		return noise{}
	}
	total := math.Sqrt(a.runs + b.runs)
	e := noise{a: math.Sqrt(a.runs) / total, b: math.Sqrt(b.runs) / total, scale: math.Sqrt(s.variance)}
	se, _ := s.standardError(values)
	df := s.df * se * se / s.variance
	e.t = make([]float64, noiseUnits*noiseSteps+1)
	for i := 1; i < len(e.t); i++ {
		e.t[i] = studentQuantile(normal(float64(i)/noiseSteps), df)
	}
	return e
}

// of returns the noise for the normal draws of both systems.
func (e *noise) of(a, b float64) float64 {
	z := float64(e.a*a) - float64(e.b*b)
	at := float64(math.Abs(z) * noiseSteps)
	i := min(int(at), len(e.t)-2)
	t := e.t[i] + float64((at-float64(i))*(e.t[i+1]-e.t[i])) // beyond the table the last line goes on
	return math.Copysign(e.scale*t, z)
}

// draws returns a normal draw for each of n flips or samples and each system.
func draws(rng *rand.Rand, n, systems int) []float64 {
	z := make([]float64, n*systems)
	for i := range z {
		z[i] = random.Normal(rng)
	}
	return z
}
