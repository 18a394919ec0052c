package bench

import "github.com/listwise/listwise/internal/elementary"

// Plan is what a work is expected to take for a number of documents: the figures of the largest
// size that was measured, times the ratio of the numbers of documents, to the power of the
// measured growth where that is above 1. What any process takes, at its start, is not multiplied.
type Plan struct {
	Name      string  `json:"name"`
	Documents float64 `json:"documents"`
	Passes    int     `json:"passes"`
	Disk      float64 `json:"cache_bytes"`
	Memory    float64 `json:"peak_bytes,omitempty"` // with the whole of the data resident; 0, and left out, where what was measured is mostly the process's own
	Hours     float64 `json:"hours"`                // on a machine like this one
	CoreHours float64 `json:"core_hours"`           // Hours times the machine's cores

	// Bound is what the time is of: arithmetic; disk, where the data do not fit into memory; or memory,
	// where the work cannot do with less: the time is then that of a machine that has it.
	Bound string `json:"bound"`

	// Beyond is the number of documents over the largest number measured: how far this is an
	// extrapolation.
	Beyond float64 `json:"times_measured"`
}

// growthTold is the growth from which it is taken for more than noise.
const growthTold = 1.05

// Plan returns the plan of a series for a number of documents on machines of this kind with so
// many bytes of memory. A series that has no points has none.
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

// reads returns how often a pass reads the features of so many documents, which take so many bytes and do not fit into
// the memory. It returns false if there is too little memory to read them from the disk, too.
func (w *Work) reads(documents, features, memory float64) (reads float64, fits bool) {
	if w.Whole || float64(w.Least*documents)+float64(w.Cell*features/4) > memory {
		return 0, false
	}
	return w.Reads, true
}
