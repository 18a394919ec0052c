package bench

import (
	"math"

	"github.com/listwise/listwise/internal/elementary"
)

// Plan is the expected cost of a work for a number of documents. The cost at the largest measured
// size is multiplied by the ratio of the numbers of documents. If the measured growth exceeds 1,
// the ratio is raised to it. The cost of starting a process is not multiplied.
type Plan struct {
	Name      string  `json:"name"`
	Documents float64 `json:"documents"`
	Passes    int     `json:"passes"`
	Disk      float64 `json:"cache_bytes"`
	Memory    float64 `json:"peak_bytes,omitempty"` // with all data resident; 0 if most of the measured memory is the process itself
	Hours     float64 `json:"hours"`                // on a machine like this one
	CoreHours float64 `json:"core_hours"`           // Hours times the machine's cores

	// Bound names the resource that limits the time: arithmetic, disk if the data do not fit into
	// memory, or memory if the work needs all data in memory. In the last case the plan assumes a
	// machine with enough memory.
	Bound string `json:"bound"`

	// Beyond is the ratio to the largest measured number of documents: the extent of the
	// extrapolation.
	Beyond float64 `json:"times_measured"`
}

// growthTold is the smallest exponent of growth that exceeds noise. A smaller exponent counts as 1.
const growthTold = 1.05

// Plan returns the plan of a series for a number of documents, on machines like this one with the
// given bytes of memory. It returns false if the series has no points.
func (r *Result) Plan(s *Series, documents, memory float64) (Plan, bool) {
	if len(s.Points) == 0 {
		return Plan{}, false
	}
	last := s.Points[len(s.Points)-1]
	ratio := documents / float64(last.Documents)
	time := ratio
	if slope, _ := s.Growth(); slope > growthTold && ratio > 1 {
		time = elementary.Pow(ratio, slope)
	}
	start := min(r.Machine.Start, last.Setup)
	p := Plan{
		Name: s.Work.Name, Documents: documents, Passes: s.Work.Usual, Beyond: ratio, Bound: "arithmetic",
		Disk:  float64(r.Bytes[len(s.Points)-1]) * ratio,
		Hours: (start + float64((last.Setup-start+float64(float64(s.Work.Usual)*last.Pass))*time)) / 3600,
	}
	if own := float64(r.Machine.Process); float64(last.Memory) >= 2*own {
		p.Memory = own + float64((float64(last.Memory)-own)*ratio)
	}
	reads, fits := s.Work.reads(documents, p.Disk, memory)
	switch short := memory > 0 && max(p.Memory, p.Disk) > memory; {
	case short && !fits:
		p.Bound = "memory"
	case short && r.Machine.Disk > 0:
		passes := 1 + float64(float64(p.Passes)*reads)
		if reading := passes * p.Disk / r.Machine.Disk / 3600; reading > p.Hours {
			p.Hours, p.Bound = reading, "disk"
		}
	}
	p.CoreHours = p.Hours * float64(r.Machine.Cores)
	return p, true
}

// reads returns how many times a pass reads the features from disk if they take the given number of
// bytes and exceed the memory. fits is false if the work cannot run from disk.
func (w *Work) reads(documents, features, memory float64) (reads float64, fits bool) {
	if w.Whole || float64(w.Least*documents)+float64(w.Cell*features/4) > memory {
		return 0, false
	}
	return w.Reads, true
}

// Slope returns the slope of the least-squares line through the logarithms of the points, which is
// the exponent of the growth of y. It is NaN for fewer than two points, or if a value is not
// positive.
func Slope(x, y []float64) float64 {
	if len(x) != len(y) {
		panic("bench: as many x as y")
	}
	var mx, my float64
	for i := range x {
		if !(x[i] > 0 && y[i] > 0) {
			return math.NaN()
		}
		mx += elementary.Log(x[i]) / float64(len(x))
		my += elementary.Log(y[i]) / float64(len(x))
	}
	var products, squares float64
	for i := range x {
		dx := elementary.Log(x[i]) - mx
		products += float64(dx * (elementary.Log(y[i]) - my))
		squares += float64(dx * dx)
	}
	if squares == 0 {
		return math.NaN()
	}
	return products / squares
}

// Growth returns the exponents with which processor time and peak memory grow with the number of
// documents. The time includes the usual number of passes. Both are NaN if there are too few
// points.
func (s *Series) Growth() (time, memory float64) {
	var x, t, m []float64
	for _, p := range s.Points {
		x = append(x, float64(p.Documents))
		t = append(t, p.SetupCPU+float64(float64(s.Work.Usual)*p.PassCPU))
		m = append(m, float64(p.Memory))
	}
	return Slope(x, t), Slope(x, m)
}
