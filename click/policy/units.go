package policy

import (
	"math"
	"strings"

	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/eval/stats"
)

// units has sums over the pages of each unit: of a user, or of a page without a user.
type units struct {
	of    map[string]int32
	width int
	sums  []float64 // rows of width
}

// unitBytes is the memory of a user without the name and the sums.
const unitBytes = 60

// row returns the sums of a user, new ones if the name is empty. They are valid until the next call.
func (u *units) row(user string, width int, mem *memory.Account) ([]float64, error) {
	u.width = width
	i, known := u.of[user]
	if user == "" || !known {
		i = int32(len(u.sums) / width)
		if mem != nil {
			if err := mem.Take(int64(unitBytes+len(user)+2*8*width), "users"); err != nil { // the sums grow by half
				return nil, err
			}
		}
		if user != "" {
			if u.of == nil {
				u.of = map[string]int32{}
			}
			u.of[strings.Clone(user)] = i
		}
		for range width {
			u.sums = append(u.sums, 0)
		}
	}
	return u.sums[int(i)*width : int(i+1)*width], nil
}

// len returns the number of units.
func (u *units) len() int {
	if u.width == 0 {
		return 0
	}
	return len(u.sums) / u.width
}

// at returns the sums of a unit.
func (u *units) at(i int) []float64 { return u.sums[i*u.width : (i+1)*u.width] }

// column returns a column over the units, times a factor.
func (u *units) column(k int, factor float64) []float64 {
	list := make([]float64, u.len())
	for i := range list {
		list[i] = float64(u.at(i)[k] * factor)
	}
	return list
}

// influence returns a column over the units over total, less its mean per page. Its sum is 0.
func (u *units) influence(k int, total float64) []float64 {
	list, sum, weight := make([]float64, u.len()), 0.0, 0.0
	for i := range list {
		sum += u.at(i)[k]
		weight += u.at(i)[weightColumn]
	}
	for i := range list {
		list[i] = (u.at(i)[k] - float64(sum*(u.at(i)[weightColumn]/weight))) / total
	}
	return list
}

// Columns of a unit. Those of the policies follow, then those of the checks.
const (
	weightColumn = iota
	logColumn
	firstPolicyColumn
)

// Columns of a policy.
const (
	valueColumn = iota
	normColumn
	massColumn
	excessColumn // of the raw weights over their mean
	usedColumn
	policyColumns
)

func policyColumn(k int) int { return firstPolicyColumn + policyColumns*k }

// sameColumn is the column of the check of policy k.
func (e *Evaluation) sameColumn(k int) int { return policyColumn(len(e.Policies)) + k }

// slotColumn is the column of the check of a slot, armColumn that of an arm.
func (e *Evaluation) slotColumn(slot int) int { return e.sameColumn(len(e.Policies)) + slot }
func (e *Evaluation) armColumn(arm int) int   { return e.slotColumn(e.slotsChecked()) + arm }

// width is the number of columns.
func (e *Evaluation) width() int {
	if e.byArm == nil {
		return e.armColumn(0)
	}
	return e.armColumn(len(e.arms))
}

// mostSlots is the largest number of slots that are checked, the first of the log.
const mostSlots = 50

func (e *Evaluation) slotsChecked() int {
	if !e.Estimator.byExamination() {
		return 0
	}
	return min(len(e.slots), mostSlots)
}

// policySums are sums over all pages.
type policySums struct {
	value, norm, mass   float64
	raw, missing        float64
	used, squares       float64
	largest, largestRaw float64 // contribution and weight

	slope []float64 // of the value by ln α of the slots
}

// logSums are sums over all pages.
type logSums struct {
	weight float64
	slope  []float64
}

// add adds a term of a page with a weight, to the columns of its unit, too.
func (s *policySums) add(row []float64, t *term, weight float64) {
	for k, v := range [...]float64{t.value, t.norm, t.mass, t.raw - (1 - t.unsupported), t.weight} {
		row[k] += float64(weight * v)
	}
	s.value += float64(weight * t.value)
	s.norm += float64(weight * t.norm)
	s.mass += float64(weight * t.mass)
	s.raw += float64(weight * t.raw)
	s.missing += float64(float64(weight*t.unsupported) * t.mass)
	used := float64(weight * t.weight)
	s.used += used
	s.squares += float64(used * used)
	s.largest = max(s.largest, math.Abs(t.value))
	s.largestRaw = max(s.largestRaw, t.raw)
}

// effective returns the number of pages with equal weights whose sum varies as that of used ones: (Σw)²/Σw²
// (Kish 1965).
func effective(sum, squares float64) float64 {
	if squares == 0 {
		return 0
	}
	return float64(sum*sum) / squares
}

// bernstein returns half the width of the interval of the mean of n independent values with this sample variance
// and range, by the empirical Bernstein inequality (Maurer, Pontil, COLT 2009, theorem 4, for both sides).
func bernstein(variance, span, n, alpha float64) float64 {
	l := logOf(4 / alpha)
	return math.Sqrt(2*variance*l/n) + float64(7*span*l)/(3*(n-1))
}

// half returns half the width of an interval with a bound: of an estimate with this standard error from contributions
// of pages that differ by at most span. A unit's contributions differ by as much as those of its pages together.
func (r *Result) half(err, span, alpha float64) float64 {
	n := float64(r.Units)
	variance := float64(float64(err*err) * n) // of n times the influences
	return bernstein(variance, float64(span*r.heaviest)*n/r.Weight, n, alpha)
}

// interval returns an estimate with its interval. influence and variance are those of stats.Linear.
func (r *Result) interval(value float64, influence []float64, variance, span float64) stats.Difference {
	d := stats.Linear(value, influence, variance)
	if r.bound > 0 && r.Units > 1 {
		half := r.half(d.Error, span, stats.Alpha)
		d.Interval = stats.Interval{Low: value - half, High: value + half}
	}
	return d
}
