package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/testing/long"
)

// Claim: the e-value is the likelihood of the sequence under Jeffreys' prior, multiplied up one win or
// loss at a time, over that under ½.
func TestLogE(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	w, l, want := 0, 0, 0.0
	for range 20_000 {
		if rng.Float64() < 0.52 {
			want += math.Log(2 * (float64(w) + 0.5) / float64(w+l+1))
			w++
		} else {
			want += math.Log(2 * (float64(l) + 0.5) / float64(w+l+1))
			l++
		}
		if got := LogE(w, l); math.Abs(got-want) > 1e-9 || LogE(l, w) != got {
			t.Fatalf("%d wins and %d losses: found %v, expected %v", w, l, got, want)
		}
	}
}

// Claim: if nobody has a preference, looking after each ranking rejects in at most 5 % of experiments:
// exactly until 2,000 rankings, by a recursion over all of them, and in simulations until 5,000.
// A sign test that is looked at as often rejects far more.
func TestFalseRejectionsAtAnyTime(t *testing.T) {
	reject := -math.Log(Alpha)
	alive, hit := []float64{1}, 0.0
	stops := newStopping(0.5)
	for n := 1; n <= 2000; n++ {
		next := make([]float64, n+1)
		for w, p := range alive {
			next[w] += p / 2
			next[w+1] += p / 2
		}
		for w := range next {
			if LogE(w, n-w) >= reject {
				hit += next[w]
				next[w] = 0
			}
		}
		alive = next
		if got := stops.next(); math.Abs(got-hit) > 1e-12 {
			t.Fatalf("%d rankings: found %v, expected %v of the recursion without a band", n, got, hit)
		}
	}
	t.Logf("exactly within 2,000: %.4f", hit)
	if hit > Alpha || hit < 0.02 {
		t.Errorf("within 2,000 rankings the e-value rejects with probability %v, expected some 0.037", hit)
	}

	runs := 400
	if long.Enabled() {
		runs = 4000
	}
	rng := rand.New(rand.NewPCG(2, 2))
	ever, sign := 0, 0
	for range runs {
		w, e, signed := 0, false, false
		for n := 1; n <= 5000; n++ {
			w += rng.IntN(2)
			e = e || LogE(w, n-w) >= reject
			if n%100 == 0 && !signed {
				signed = math.Abs(float64(2*w-n)) > 1.96*math.Sqrt(float64(n))
			}
		}
		if e {
			ever++
		}
		if signed {
			sign++
		}
	}
	t.Logf("in %d runs of 5,000: e-value %.4f, sign test at every 100 %.4f", runs, float64(ever)/float64(runs), float64(sign)/float64(runs))
	if float64(ever) > Alpha*float64(runs) || sign < 5*ever {
		t.Errorf("in %d runs the e-value rejects %d times and the sign test %d times, expected at most 5 %% and five times as many", runs, ever, sign)
	}
}

// Claim: the confidence sequence ends where the e-value against a share, by the standard library's
// functions, is 1/α, and contains the share of wins. Without wins or losses it ends at 0 or 1.
func TestShareSequence(t *testing.T) {
	lg := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	for _, c := range [][2]int{{0, 0}, {1, 0}, {0, 7}, {3, 4}, {20, 9}, {150, 150}, {5000, 4800}, {1, 99_999}} {
		w, l := float64(c[0]), float64(c[1])
		logE := func(p float64) float64 {
			v := lg(w+0.5) + lg(l+0.5) - lg(w+l+1) - math.Log(math.Pi)
			if w > 0 {
				v -= w * math.Log(p)
			}
			if l > 0 {
				v -= l * math.Log1p(-p)
			}
			return v - math.Log(20)
		}
		solve := func(out, in float64) float64 { // logE falls from out to in
			for range 200 {
				if m := (out + in) / 2; logE(m) > 0 {
					out = m
				} else {
					in = m
				}
			}
			return in
		}
		want := Interval{0, 1}
		share := w / (w + l)
		if w > 0 {
			want.Low = solve(0, math.Min(share, 1-1e-16))
		}
		if l > 0 {
			want.High = solve(1, math.Max(share, 1e-300))
		}
		got := ShareSequence(c[0], c[1])
		if math.Abs(got.Low-want.Low) > 1e-9 || math.Abs(got.High-want.High) > 1e-9 || !(w+l == 0 || got.Low <= share && share <= got.High) {
			t.Errorf("%v: found %v, expected %v", c, got, want)
		}
	}
}

// Claim: the share is in the intervals of all looks together in at least 95 % of experiments.
func TestShareSequenceCovers(t *testing.T) {
	runs := 300
	if long.Enabled() {
		runs = 3000
	}
	rng := rand.New(rand.NewPCG(3, 3))
	missed := 0
	for range runs {
		w := 0
		for n := 1; n <= 1500; n++ {
			if rng.Float64() < 0.3 {
				w++
			}
			if n%25 == 0 {
				if s := ShareSequence(w, n-w); 0.3 < s.Low || 0.3 > s.High {
					missed++
					break
				}
			}
		}
	}
	t.Logf("%d of %d miss", missed, runs)
	if float64(missed) > Alpha*float64(runs) {
		t.Errorf("%d of %d experiments of 60 looks miss the share, expected at most 5 %%", missed, runs)
	}
}

// equalArms draws two equal arms of users, and calls look with their difference at each of 39 sizes.
func equalArms(rng *rand.Rand, look func(n int, difference, deviation float64)) {
	var sum, squares [2]float64
	for n := 1; n <= 4000; n++ {
		for k := range sum {
			x := 0.0
			if rng.Float64() < 0.4 {
				x = rng.ExpFloat64()
			}
			sum[k] += x
			squares[k] += x * x
		}
		if n >= SequenceFrom && n%100 == 0 {
			v := 0.0
			for k := range sum {
				m := sum[k] / float64(n)
				v += (squares[k]/float64(n) - m*m) * float64(n) / float64(n-1)
			}
			look(n, (sum[0]-sum[1])/float64(n), math.Sqrt(v))
		}
	}
}

// Claim: of experiments without a difference that are looked at 39 times, the confidence sequence rejects
// at most 5 %, where a t test at each look rejects more than 20 %.
func TestMeanSequence(t *testing.T) {
	for _, c := range []struct{ n, planned, want float64 }{
		// printed by Python's math with the formulas of half-width and ρ
		{200, 2000, 0.2725935273}, {2000, 2000, 0.0678693363}, {4000, 2000, 0.0484062051},
	} {
		if got := MeanSequence(c.n, c.planned); math.Abs(got-c.want) > 1e-8 {
			t.Errorf("n %v, planned %v: found %v, expected %v", c.n, c.planned, got, c.want)
		}
	}
	runs := 400
	if long.Enabled() {
		runs = 4000
	}
	rng := rand.New(rand.NewPCG(4, 4))
	sequence, tests := 0, 0
	for range runs {
		a, b := false, false
		equalArms(rng, func(n int, difference, deviation float64) {
			d := math.Abs(difference)
			a = a || d > deviation*MeanSequence(float64(n), 2000)
			b = b || d > 1.96*deviation/math.Sqrt(float64(n))
		})
		if a {
			sequence++
		}
		if b {
			tests++
		}
	}
	t.Logf("%d runs: sequence %.4f, tests %.4f", runs, float64(sequence)/float64(runs), float64(tests)/float64(runs))
	if float64(sequence) > Alpha*float64(runs) || float64(tests) < 0.2*float64(runs) {
		t.Errorf("of %d experiments the sequence rejects %d and t tests %d, expected at most 5 %% and more than 20 %%", runs, sequence, tests)
	}
}

// Claim: the tail of chi-squared is gonum's, for few and many degrees of freedom.
func TestChiSquareTail(t *testing.T) {
	for df := 1; df <= 40; df++ {
		for _, x := range []float64{0, 1e-3, 0.5, 1, 3.84, 10, 40, 120} {
			want := distuv.ChiSquared{K: float64(df)}.Survival(x)
			if got := ChiSquareTail(x, df); math.Abs(got-want) > 1e-12*math.Max(1, 1/want)*want+1e-14 {
				t.Errorf("%v with %d degrees: found %v, expected %v", x, df, got, want)
			}
		}
	}
}

// Claim: the split check finds 52:48 of 20,000 units, and not the 10,100 and 9,900 that chance gives.
func TestSplitCheck(t *testing.T) {
	chi, p, err := SplitCheck([]int{10_400, 9_600}, []float64{1, 1})
	if err != nil || math.Abs(chi-32) > 1e-9 || p > 1e-7 {
		t.Errorf("52:48: found χ² %v, p %v, %v, expected 32 and less than 1e-7", chi, p, err)
	}
	if _, p, _ := SplitCheck([]int{10_100, 9_900}, []float64{1, 1}); p < 0.1 {
		t.Errorf("50.5:49.5: found p %v, expected above 0.1", p)
	}
	if _, p, _ := SplitCheck([]int{900, 102, 198}, []float64{9, 1, 2}); p < 0.9 {
		t.Errorf("shares 9:1:2: found p %v, expected above 0.9", p)
	}
	for _, shares := range [][]float64{{1}, {1, 0}, {1, math.NaN()}} {
		if _, _, err := SplitCheck([]int{1, 1}, shares); err == nil {
			t.Errorf("shares %v: found no error", shares)
		}
	}
}

// Claim: Welch's interval covers the difference in 93 to 97 % of skewed samples of unequal sizes and
// variances, and equals Student's for equal ones.
func TestWelch(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	covered := 0
	const runs = 2000
	for range runs {
		a, b := make([]float64, 300), make([]float64, 80)
		for i := range a {
			a[i] = rng.ExpFloat64()
		}
		for i := range b {
			b[i] = 3 * rng.ExpFloat64()
		}
		d, err := Welch(a, b)
		if err != nil {
			t.Fatal(err)
		}
		if d.Interval.Low <= -2 && -2 <= d.Interval.High {
			covered++
		}
		ma, va := stat.MeanVariance(a, nil)
		mb, vb := stat.MeanVariance(b, nil)
		se := math.Sqrt(va/300 + vb/80)
		df := (va/300 + vb/80) * (va/300 + vb/80) / (va*va/300/300/299 + vb*vb/80/80/79)
		p := 2 * distuv.StudentsT{Sigma: 1, Nu: df}.Survival(math.Abs((ma-mb)/se))
		if math.Abs(d.Error-se) > 1e-12 || math.Abs(d.DF-df) > 1e-8 || math.Abs(d.P-p) > 1e-9 {
			t.Fatalf("found %+v, expected error %v, df %v, p %v", d, se, df, p)
		}
	}
	t.Logf("covers %.4f", float64(covered)/runs)
	if covered < 0.93*runs || covered > 0.97*runs {
		t.Errorf("covered in %d of %d, expected 93 to 97 %%", covered, runs)
	}
}

// Claim: from the size for a share on, the sign test has the power, and just below it has not. Level and power are sums over
// all outcomes.
func TestSignSizes(t *testing.T) {
	outcomes := func(share float64, n int) []float64 { // probabilities of 0, 1, … wins
		p := make([]float64, n+1)
		for w := range p {
			logs := elementary.LogGamma(float64(n+1)) - elementary.LogGamma(float64(w+1)) - elementary.LogGamma(float64(n-w+1))
			p[w] = math.Exp(logs + float64(w)*math.Log(share) + float64(n-w)*math.Log1p(-share))
		}
		return p
	}
	for _, share := range []float64{0.3, 0.57, 0.6, 0.8, 0.99} {
		for _, power := range []float64{0.5, 0.8, 0.95} {
			s, err := SignSize(share, power)
			if err != nil {
				t.Fatal(err)
			}
			for n := max(1, s.Fixed-1); n < s.Fixed+s.Fixed/3+40; n += 1 + n/100 {
				even, own, tail, reached := outcomes(0.5, n), outcomes(share, n), 0.0, 0.0
				for w := range n/2 + 1 {
					if tail += even[w]; 2*tail <= Alpha {
						reached += own[w] + own[n-w]
					}
				}
				if (reached >= power) != (n >= s.Fixed) {
					t.Errorf("share %v, power %v: the power is %.6f at %d, and the size %d", share, power, reached, n, s.Fixed)
				}
			}
		}
	}
}

// Claim: sizes agree with published and computed ones, and as many runs of the sequential tests as the power says
// reject within the size, in simulations that share nothing with its computation.
func TestSizes(t *testing.T) {
	runs := 200
	if long.Enabled() {
		runs = 10_000
	}
	rng := rand.New(rand.NewPCG(6, 6))
	within := func(what string, size int, power float64, stops func() int) {
		n := 0
		for range runs {
			if stops() <= size {
				n++
			}
		}
		share := float64(n) / float64(runs)
		if math.Abs(share-power) > 4*math.Sqrt(power*(1-power)/float64(runs))+0.01 {
			t.Errorf("%s: %.4f of runs reject within %d, expected %v", what, share, size, power)
		}
	}
	for _, c := range []struct {
		share float64
		fixed int
	}{{0.55, 820}, {0.6, 210}, {0.3, 54}} {
		s, err := SignSize(c.share, 0.8)
		t.Log(c.share, s)
		if err != nil || s.Fixed != c.fixed {
			t.Errorf("share %v: found %d, %v, expected %d", c.share, s.Fixed, err, c.fixed)
		}
		stop := func() int {
			w, n := 0, 0
			for LogE(w, n-w) < math.Log(20) {
				if rng.Float64() < c.share {
					w++
				}
				n++
			}
			return n
		}
		within("share", s.Any, 0.8, stop)
		within("median share", s.Median, 0.5, stop)
	}
	s, err := MeansSize(0.1, 0.8, 0, 1, 0)
	t.Log(s)
	if err != nil || s.Fixed != 1570 {
		t.Errorf("effect 0.1: found %d, %v, expected 1570", s.Fixed, err)
	}
	for _, workers := range []int{1, 2, 4} {
		if again, _ := MeansSize(0.1, 0.8, 0, 1, workers); again != s {
			t.Errorf("%d workers: found %v, expected %v", workers, again, s)
		}
	}
	stop := func() int {
		sum := 0.0
		for n := 1; ; n++ {
			sum += 0.1/math.Sqrt2 + rng.NormFloat64()
			if n >= SequenceFrom && n%3 == 0 && math.Abs(sum)/float64(n) > MeanSequence(float64(n), 1570) {
				return n
			}
		}
	}
	within("difference", s.Any, 0.8, stop)
	within("median difference", s.Median, 0.5, stop)
	if s, err := MeansSize(1e300, 0.8, 0, 1, 0); err != nil || s != (Size{Fixed: 2, Any: SequenceFrom, Median: SequenceFrom}) {
		t.Errorf("effect 1e300: found %v, %v", s, err)
	}
	if _, err := SignSize(0.501, 0.8); err == nil {
		t.Error("share 0.501: found no error")
	}
}
