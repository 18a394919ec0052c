package stats

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// Size is the number of units that an experiment needs: for a test at the end, and for one at any time.
type Size struct {
	Fixed  int // units with which a single test at the end rejects with the wanted power
	Any    int // units within which a test at any time rejects with the wanted power
	Median int // units within which a test at any time rejects with probability 1/2
}

// LeastShare is the smallest distance from ½ of the share of wins that [SignSize] accepts.
const LeastShare = 0.002

// SignSize returns the number of wins and losses that show that a win has the given probability and not
// ½. Fixed is the size of the sign test from which on its power is at least as great, by binomial distributions.
// The others are of [LogE], looked at after each win or loss, by the exact distribution of the time at
// which it rejects. share is a number between 0 and 1 and at least LeastShare from ½. power is from
// ½ to .999.
func SignSize(share, power float64) (Size, error) {
	if !(share > 0 && share < 1 && math.Abs(share-0.5) >= LeastShare) {
		return Size{}, fmt.Errorf("found the share %v, expected one between 0 and 1, and at least %v from 0.5", share, LeastShare)
	}
	if err := checkPower(power); err != nil {
		return Size{}, err
	}
	z := float64(normalQuantile(1-Alpha/2)/2) + float64(normalQuantile(power)*math.Sqrt(float64(share*(1-share))))
	s := Size{Fixed: signSize(share, power, ceilSquare(z/(share-0.5)))}
	for n, stopped := 1, newStopping(share); s.Any == 0; n++ {
		p := stopped.next()
		if s.Median == 0 && p >= 0.5 {
			s.Median = n
		}
		if p >= power {
			s.Any = n
		}
	}
	return s, nil
}

// signSize returns the least size from which on the sign test has a power, given the size by the normal approximation.
// The power has steps, so the search goes down from a size above them.
func signSize(share, power float64, normal int) (size int) {
	tail := func(p float64, m, n int) float64 { // P(m wins or more)
		if m > n {
			return 0
		}
		return elementary.Beta(float64(m), float64(n-m+1), p)
	}
	n := normal + 4*int(math.Sqrt(float64(normal))) + 20
	m := n/2 + 1 + sort.Search(n/2, func(i int) bool { return 2*tail(0.5, n/2+1+i, n) <= Alpha }) // wins or losses that reject
	for ; n > 0; n-- {
		for m > n/2+1 && 2*tail(0.5, m-1, n) <= Alpha {
			m--
		}
		if tail(share, m, n)+tail(1-share, m, n) < power {
			return n + 1
		}
	}
	return 1
}

func checkPower(power float64) error {
	if !(power >= 0.5 && power <= 0.999) {
		return fmt.Errorf("found the power %v, expected a number from 0.5 to 0.999", power)
	}
	return nil
}

func ceilSquare(x float64) int { return int(math.Ceil(float64(x * x))) }

// stopping computes the probability that LogE has rejected after 1, 2, … wins and losses, by recursion
// over the number of wins.
type stopping struct {
	share   float64
	n       int
	high    int       // the least number of wins that rejects after n
	low     int       // the number of wins of alive[0]
	alive   []float64 // probabilities of the numbers of wins, where LogE has not rejected
	stopped float64
}

func newStopping(share float64) *stopping {
	return &stopping{share: share, high: 1, alive: []float64{1}}
}

// next adds a win or a loss, and returns the probability of having rejected.
func (s *stopping) next() float64 {
	const negligible = 1e-30 // smaller probabilities change no result, and their arithmetic is slow
	s.n++
	for s.high <= s.n && LogE(s.high, s.n-s.high) < -elementary.Log(Alpha) {
		s.high++
	}
	before := 0.0 // the probability of one win fewer
	s.alive = append(s.alive, 0)
	for i, p := range s.alive {
		s.alive[i] = float64(p*(1-s.share)) + float64(before*s.share)
		before = p
		if w := s.low + i; w >= s.high || w <= s.n-s.high {
			s.stopped += s.alive[i]
			s.alive[i] = 0
		}
	}
	for len(s.alive) > 1 && s.alive[0] < negligible {
		s.alive = s.alive[1:]
		s.low++
	}
	for len(s.alive) > 1 && s.alive[len(s.alive)-1] < negligible {
		s.alive = s.alive[:len(s.alive)-1]
	}
	return s.stopped
}

// MeansSize returns the number of units of each of two samples that show a difference of their means.
// effect is the difference divided by the standard deviation of a value. Fixed is
//
//	max(2, ⌈2(z(α/2) + z(β))² / effect²⌉)
//
// The others are of [MeanSequence], tightest at planned units, or at Fixed if planned is 0. They are
// quantiles of simulated normal samples that are looked at 500 times until Fixed, and as often
// afterwards. power is from ½ to .999.
func MeansSize(effect, power float64, planned int, seed uint64, workers int) (Size, error) {
	if !(effect > 0) || math.IsInf(effect, 0) {
		return Size{}, fmt.Errorf("found the effect %v, expected a positive number", effect)
	}
	if err := checkPower(power); err != nil {
		return Size{}, err
	}
	z := float64(normalQuantile(1-Alpha/2)) + float64(normalQuantile(power))
	fixed := 2 * float64(z*z) / float64(effect*effect)
	if fixed > math.MaxInt32 {
		return Size{}, fmt.Errorf("found %.3g units, expected fewer than %d: the effect is too small", fixed, math.MaxInt32)
	}
	s := Size{Fixed: max(2, int(math.Ceil(fixed)))} // a standard deviation needs two values
	if planned == 0 {
		planned = s.Fixed
	}
	const runs = 10_000
	step := max(1, s.Fixed/500)
	half := func(look int) float64 { // the largest sum that is not rejected
		n := float64(look * step)
		return float64(n * MeanSequence(n, float64(planned)))
	}
	halves := make([]float64, 4000) // nearly all runs end before
	for look := range halves {
		halves[look] = half(max(1, look))
	}
	sizes := make([]int, runs)
	parallel.For(runs, workers, func(_, i int) {
		rng := random.Stream(seed, "size of a difference", strconv.Itoa(i))
		drift, spread := float64(float64(step)*effect)/math.Sqrt2, math.Sqrt(float64(step))
		sum := 0.0 // of differences with standard deviation 1
		for look := 1; ; look++ {
			sum += drift + float64(random.Normal(rng)*spread)
			if look*step < SequenceFrom {
				continue
			}
			var end float64
			if look < len(halves) {
				end = halves[look]
			} else {
				end = half(look)
			}
			if math.Abs(sum) > end {
				sizes[i] = look * step
				return
			}
		}
	})
	slices.Sort(sizes)
	s.Median = sizes[runs/2]
	s.Any = sizes[int(math.Ceil(float64(power*runs)))-1]
	return s, nil
}
