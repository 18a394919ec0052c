package stats

import (
	"math"
	"math/rand/v2"

	"github.com/listwise/listwise/internal/random"
)

// Claim is the scope of a pair's p values and interval.
type Claim string

const (
	// OfRuns is a claim about the two given runs: their difference would be found on other queries.
	// It does not account for other random seeds.
	OfRuns Claim = "runs"

	// OfMethods is a claim about the two methods: their difference would be found on other queries
	// and with other random seeds. At least one system of the pair has several runs.
	OfMethods Claim = "methods"
)

// seeds is the estimated variance, due to random seeds, of a method's mean over runs and queries.
type seeds struct {
	df   float64 // runs − 1; 0 for one run, which gives no estimate
	runs float64 // s²/R, where s² is the variance of the R runs' means
	both float64 // part of the field runs due to the interaction of seeds and queries: s²/(QR), where s² is the variance of the interaction
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

// spread is the variance of a mean, or of a difference of means, that is due to random seeds. The part
// both is also in the variance between queries. df is the degrees of freedom of runs.
type spread struct{ runs, both, df float64 }

// spreadOf returns the variance that the seeds of two methods add to the difference of their means. The
// degrees of freedom are Welch's.
func spreadOf(a, b seeds) spread {
	s := spread{runs: a.runs + b.runs, both: a.both + b.both}
	var square float64
	for _, m := range []seeds{a, b} {
		if m.df > 0 {
			square += float64(m.runs*m.runs) / m.df
		}
	}
	if s.runs > 0 {
		s.df = s.runs * s.runs / square
	}
	return s
}

// beyondQueries returns the part of s that the variance between queries does not contain.
func (s spread) beyondQueries() spread {
	return spread{runs: max(0, s.runs-s.both), df: s.df}
}

// parts returns the variance of the mean of values, for other queries and other seeds, as two parts: due
// to the sampling of queries alone, and due to seeds. values has an element per query. Their variance
// contains the interaction of seeds and queries, which belongs to the second part. If it is by chance
// less than the interaction, the second part is reduced by the deficit. Otherwise the sum of the parts
// would be biased upwards.
func (s spread) parts(values []float64) (queries, seeds float64) {
	var all float64
	if !alike(values) {
		all = deviation(values) * deviation(values) / float64(len(values))
	}
	if all >= s.both {
		return all - s.both, s.runs
	}
	return 0, s.runs - float64((s.both-all)*min(1, s.runs/s.both)) // positive if runs is
}

// standardError returns the standard error of the mean of values, for other queries and other
// seeds, and its degrees of freedom (Satterthwaite 1946). If the standard error is 0, so is df.
func (s spread) standardError(values []float64) (se, df float64) {
	queries, seeds := s.parts(values)
	variance := queries + seeds
	if variance == 0 {
		return 0, 0
	}
	square := queries * queries / float64(len(values)-1)
	if seeds > 0 {
		square += seeds * seeds / s.df
	}
	return math.Sqrt(variance), variance * variance / square
}

// noise generates random errors of a mean, or of a difference of means, that represent other seeds.
// The errors have Student's t distribution. They are computed from a standard normal random number
// for each system. They include the interaction of seeds and queries, so the errors due to the sampling
// of queries, which contain it too, are multiplied by shrink.
type noise struct {
	a, b   float64   // weights of the two systems' normal random numbers
	scale  float64   // standard error; 0: no noise
	shrink float64   // factor of the errors due to the sampling of queries
	t      []float64 // quantiles of Student's t at the levels of the normal quantiles 0, 1/noiseSteps, …
}

const (
	noiseSteps = 8 // steps per unit of the normal quantile
	noiseUnits = 5
)

// newNoise returns the noise of the difference of two methods' means. values has the difference on
// each query. For the mean of a single method, b is the zero value.
//
// Let V be the variance of the mean, and S its part due to seeds, estimated with ν degrees of
// freedom. The noise has ν·V/S degrees of freedom, which is ν if all variance is due to seeds. With
// ν degrees of freedom, the sum of the noise and the error due to the sampling of queries would
// usually have heavier tails than Satterthwaite's t, and tests would be conservative.
func newNoise(a, b seeds, values []float64) noise {
	s := spreadOf(a, b)
	q, v := s.parts(values)
	if v == 0 {
		return noise{}
	}
	total := math.Sqrt(s.runs)
	e := noise{a: math.Sqrt(a.runs) / total, b: math.Sqrt(b.runs) / total, scale: math.Sqrt(v)}
	if q > 0 {
		e.shrink = math.Sqrt(q*float64(len(values))) / deviation(values)
	}
	df := s.df * (q + v) / v
	e.t = make([]float64, noiseUnits*noiseSteps+1)
	for i := 1; i < len(e.t); i++ {
		e.t[i] = studentQuantile(normal(float64(i)/noiseSteps), df)
	}
	return e
}

// of returns a random error, given the standard normal random numbers of both systems.
func (e *noise) of(a, b float64) float64 {
	z := float64(e.a*a) - float64(e.b*b)
	at := float64(math.Abs(z) * noiseSteps)
	i := min(int(at), len(e.t)-2)
	t := e.t[i] + float64((at-float64(i))*(e.t[i+1]-e.t[i])) // beyond the table, extrapolate its last segment
	return math.Copysign(e.scale*t, z)
}

// draws returns a standard normal random number for each of n flips or samples and each system.
func draws(rng *rand.Rand, n, systems int) []float64 {
	z := make([]float64, n*systems)
	for i := range z {
		z[i] = random.Normal(rng)
	}
	return z
}
