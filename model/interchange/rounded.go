package interchange

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
)

// merged records different float64 thresholds and training values of a file that become equal as
// float32, for notes.
type merged struct {
	first   map[place32]float64 // the first float64 threshold for each float32 threshold
	pairs   map[int][2]float64  // by column, two float64 thresholds with the same float32
	rounded map[int]float64     // by column, a training value that float32 rounds
}

// place32 is a float32 threshold on a column.
type place32 struct {
	column    int
	threshold float32
}

// threshold records a threshold on a column and its float32.
func (m *merged) threshold(column int, exact float64, becomes float32) {
	if m.first == nil {
		m.first, m.pairs = make(map[place32]float64), make(map[int][2]float64)
	}
	at := place32{column, becomes}
	other, known := m.first[at]
	if !known {
		m.first[at] = exact
		return
	}
	if _, noted := m.pairs[column]; !noted && other != exact {
		m.pairs[column] = [2]float64{min(other, exact), max(other, exact)}
	}
}

// bounds records the range of a column's training values, which text states as "[least:largest]".
func (m *merged) bounds(column int, text string) {
	text, ok := strings.CutPrefix(text, "[")
	least, largest, two := strings.Cut(strings.TrimSuffix(text, "]"), ":")
	if !ok || !two {
		return // categories, or no range
	}
	low, errLow := strconv.ParseFloat(least, 64)
	high, errHigh := strconv.ParseFloat(largest, 64)
	if errLow != nil || errHigh != nil {
		return
	}
	few := fewSteps(low, high)
	for _, v := range []float64{low, high} {
		if dataset.Rounds(v) || few && loses(v) {
			if m.rounded == nil {
				m.rounded = make(map[int]float64)
			}
			m.rounded[column] = v
		}
	}
}

// lgbmBins is LightGBM's default number of bins per feature.
const lgbmBins = 255

// fewSteps reports whether there are fewer float32 values from low to high than LightGBM has bins.
// Different values then become equal.
func fewSteps(low, high float64) bool {
	size := float32(max(math.Abs(low), math.Abs(high)))
	step := float64(math.Nextafter32(size, math.MaxFloat32)) - float64(size)
	return high-low < lgbmBins*step
}

// loses reports whether float32 changes v, and v is not the shortest decimal of a float32.
func loses(v float64) bool {
	shortest, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', -1, 32), 64) // always a number
	return float64(float32(v)) != v && shortest != v
}

// notes describes the recorded thresholds and values. name returns the name of a column.
func (m *merged) notes(name func(column int) string) []string {
	const cure = "features are float32 here, and documents can rank otherwise; train on numbers that float32 tells apart, such as an age instead of a time"
	var notes []string
	if columns := slices.Sorted(maps.Keys(m.pairs)); len(columns) > 0 {
		p := m.pairs[columns[0]]
		notes = append(notes, fmt.Sprintf("different thresholds of %s become one, such as %s and %s: %s", columnList(columns, name), inFull(p[0]), inFull(p[1]), cure))
	}
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(m.rounded)), func(c int) bool { _, noted := m.pairs[c]; return noted })
	if len(rest) > 0 {
		v := m.rounded[rest[0]]
		notes = append(notes, fmt.Sprintf("the model learned from values of %s that are rounded here, such as %s: %s", columnList(rest, name), inFull(v), cure))
	}
	return notes
}

// inFull returns the text of a number without an exponent, for thresholds such as times or ids.
func inFull(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// columnList returns the names of the first few columns and the number of the remaining ones.
func columnList(columns []int, name func(column int) string) string {
	const most = 5
	var list []string
	for _, c := range columns[:min(len(columns), most)] {
		list = append(list, name(c))
	}
	text := "feature " + strings.Join(list, ", ")
	if len(columns) > 1 {
		text = "features " + strings.Join(list, ", ")
	}
	if n := len(columns) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
