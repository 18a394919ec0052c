package stats

import (
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/random"
)

// Claim is the scope of a pair's p values and interval.
type Claim string

const (
	// OfRuns is a claim about the two given runs. It accounts for the sampling of queries, but not of
	// random seeds.
	OfRuns Claim = "runs"

	// OfMethods is a claim about methods. It accounts for the sampling of queries and of random seeds.
	// At least one system of the pair has several runs.
	OfMethods Claim = "methods"
)

// seeds is the estimated variance, due to random seeds, of a method's mean over runs and queries.
type seeds struct {
	df   float64 // runs − 1; 0 for one run, which gives no estimate
	runs float64 // s²/R, with the variance s² of the runs' means
	both float64 // part of runs due to the interaction of seeds and queries, s²/(QR)
}

// seedsOf estimates the variance components of runs[r][q] by analysis of variance in the crossed layout
// of runs and queries.
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

// spread is the variance that random seeds add to a mean, or to a difference of means, in addition to
// the variance between queries. df is the degrees of freedom of its estimate.
type spread struct{ variance, df float64 }

// spreadOf returns the variance that the seeds of two methods add to the difference of their means. The
// variance between queries already contains the interaction of seeds and queries, so spreadOf subtracts
// the interaction. The degrees of freedom are Welch's.
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

// standardError returns the standard error of a mean over queries and seeds, and its degrees of freedom
// (Satterthwaite 1946). values has an element per query. Without variance both results are 0.
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

// noise generates random errors of a mean due to seeds. They have Student's t distribution and are
// computed from normal draws for the systems.
type noise struct {
	a, b  float64   // weights of the systems' normal draws
	scale float64   // standard error; 0: no noise
	t     []float64 // quantiles of Student's t at the levels of the normal quantiles 0, 1/noiseSteps, …
}

const (
	noiseSteps = 8 // steps per unit of the normal quantile
	noiseUnits = 5
)

// newNoise returns the noise of the difference of two methods' means. values are the differences for
// each query. For the mean of one method, b is the zero seeds.
//
// Let V be the variance of the mean, and S its part due to seeds, estimated with ν degrees of freedom.
// The noise has ν·V/S degrees of freedom, which is ν if all variance is due to seeds. With ν degrees of
// freedom, the sum of the noise and the error due to sampling queries would exceed Satterthwaite's t in
// general, and tests would be conservative.
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
	t := e.t[i] + float64((at-float64(i))*(e.t[i+1]-e.t[i])) // beyond the table, extrapolate its last segment
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
