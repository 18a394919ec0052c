package bench

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Claim: the slope of y = a·x^b is b, whatever a.
func TestSlopeOfPowerLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(1e-6, 1e6).Draw(t, "a"), rapid.Float64Range(-2, 2).Draw(t, "b")
		n := rapid.IntRange(2, 6).Draw(t, "n")
		var x, y []float64
		for i := range n {
			v := 100 * math.Pow(3.5, float64(i))
			x, y = append(x, v), append(y, a*math.Pow(v, b))
		}
		if got := Slope(x, y); math.Abs(got-b) > 1e-9 {
			t.Fatalf("found %v, expected %v", got, b)
		}
	})
}

// Claim: what has no slope is NaN: one point, equal x, a cost of 0.
func TestNoSlope(t *testing.T) {
	for _, c := range [][2][]float64{{nil, nil}, {{5}, {1}}, {{5, 5}, {1, 2}}, {{1, 2}, {0, 1}}} {
		if got := Slope(c[0], c[1]); !math.IsNaN(got) {
			t.Errorf("%v: found %v, expected NaN", c, got)
		}
	}
}

// Claim: of costs that are setup and pass times the number of passes, divide gives both back;
// of any costs, neither is negative and they make up the longer one.
func TestDivide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		setup, pass := rapid.Float64Range(0, 100).Draw(t, "setup"), rapid.Float64Range(0, 10).Draw(t, "pass")
		few, more := rapid.IntRange(1, 10).Draw(t, "few"), rapid.IntRange(1, 50).Draw(t, "more")
		many := few + more
		gotSetup, gotPass := divide(few, setup+float64(few)*pass, many, setup+float64(many)*pass)
		if math.Abs(gotSetup-setup) > 1e-6 || math.Abs(gotPass-pass) > 1e-6 {
			t.Fatalf("found %v and %v, expected %v and %v", gotSetup, gotPass, setup, pass)
		}
		shorter, longer := rapid.Float64Range(0, 10).Draw(t, "shorter"), rapid.Float64Range(0, 10).Draw(t, "longer")
		few = rapid.IntRange(0, 5).Draw(t, "any few")
		many = rapid.IntRange(0, 5).Draw(t, "any many")
		gotSetup, gotPass = divide(few, shorter, many, longer)
		if gotSetup < 0 || gotPass < 0 || math.Abs(gotSetup+float64(many)*gotPass-longer) > 1e-9 {
			t.Fatalf("found %v and %v for %v in %d passes", gotSetup, gotPass, longer, many)
		}
	})
}

// Claim: a plan multiplies the largest point by the ratio of documents, to the power of a growth
// above 1.05, and goes by the disk where the data do not fit into memory and it is slower.
func TestPlan(t *testing.T) {
	point := func(n int, seconds float64) Point {
		return Point{Documents: n, Setup: seconds, Pass: seconds / 10, SetupCPU: seconds, PassCPU: seconds / 10, Memory: int64(100 * n)}
	}
	r := &Result{Machine: Machine{Cores: 2, Disk: 1e6}, Bytes: []int64{1000, 10000}}
	linear := &Series{Work: Work{Name: "w", Usual: 10, Reads: 1}, Points: []Point{point(100, 1), point(1000, 10)}}
	square := &Series{Work: Work{Name: "w", Usual: 10}, Points: []Point{point(100, 1), point(1000, 100)}}
	for _, c := range []struct {
		name          string
		s             *Series
		memory, hours float64
		bound         string
	}{
		{"linear", linear, 1e9, 100 * 20 / 3600.0, "arithmetic"},
		{"square", square, 1e9, 100 * 100 * 200 / 3600.0, "arithmetic"},
		{"past memory", linear, 1e6, 100 * 20 / 3600.0, "arithmetic"}, // 10 passes of 1 s
	} {
		p, ok := r.Plan(c.s, 1e5, c.memory)
		if !ok || math.Abs(p.Hours-c.hours) > 1e-9*c.hours || p.Bound != c.bound || p.CoreHours != 2*p.Hours || p.Disk != 1e6 || p.Memory != 1e7 || p.Beyond != 100 {
			t.Errorf("%s: found %+v, expected %v hours by %s", c.name, p, c.hours, c.bound)
		}
	}
	r.Machine.Disk = 100 // bytes a second: 1 + 10 passes of 1e6 take 1.1e5 seconds
	if p, _ := r.Plan(linear, 1e5, 1e6); p.Bound != "disk" || math.Abs(p.Hours-1.1e5/3600) > 1e-6 {
		t.Errorf("past memory, on a slow disk: found %+v, expected 1.1e5 seconds by disk", p)
	}
	linear.Work.Reads, linear.Work.Least = 0.2, 9
	if p, _ := r.Plan(linear, 1e5, 1e6); p.Bound != "disk" || math.Abs(p.Hours-3e4/3600) > 1e-6 {
		t.Errorf("past memory, of a work that reads a fifth a pass: found %+v, expected 3e4 seconds by disk", p)
	}
	linear.Work.Least = 11
	if p, _ := r.Plan(linear, 1e5, 1e6); p.Bound != "memory" {
		t.Errorf("of a work that holds 1.1 MB of these documents in any case: found %+v, expected that it needs memory", p)
	}
	linear.Work.Least, linear.Work.Cell = 1, 4
	if p, _ := r.Plan(linear, 1e5, 1e6); p.Bound != "memory" {
		t.Errorf("of a work that holds 0.1 MB of documents and all features: found %+v, expected that it needs memory", p)
	}
	linear.Work = Work{Name: "w", Usual: 10, Whole: true}
	if p, _ := r.Plan(linear, 1e5, 1e6); p.Bound != "memory" || math.Abs(p.Hours-100*20/3600.0) > 1e-9 {
		t.Errorf("past memory, of a work that needs it: found %+v, expected the time of a machine that has it", p)
	}
	if p, _ := r.Plan(linear, 1e5, 1e9); p.Bound != "arithmetic" {
		t.Errorf("in memory, on a slow disk: found %+v, expected arithmetic", p)
	}
	r.Machine.Process, r.Machine.Start = 40_000, 1
	if p, _ := r.Plan(linear, 1e5, 1e9); p.Memory != 40_000+100*60_000 || math.Abs(p.Hours-(1+100*19)/3600.0) > 1e-9 {
		t.Errorf("of 0.1 MB and 20 s, of which 0.04 MB and 1 s are any process's: found %+v, expected these once", p)
	}
	r.Machine.Process = 60_000
	if p, _ := r.Plan(linear, 1e5, 1e9); p.Memory != 0 {
		t.Errorf("of 0.1 MB, of which 0.06 MB are any process's: found %+v, expected no memory", p)
	}
}
