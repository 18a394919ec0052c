package parquet

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/table"
)

// roundedWarning returns a warning about features with whole numbers that float32 rounds, or "". It reads no
// pages. It uses only the smallest and the largest values that the file may state for each row group.
func (f *file) roundedWarning() string {
	var names []string
	var example float64
	for i := range f.choice.List {
		if f.choice.List[i].Role != table.Feature {
			continue
		}
		if v, ok := f.rounded(i); ok {
			if names = append(names, f.choice.List[i].Name); len(names) == 1 {
				example = v
			}
		}
	}
	if names == nil {
		return ""
	}
	return dataset.RoundedWarning(f.in.Name, names, example)
}

// rounded returns the largest stated value of a column that float32 rounds. ok is false if there is none.
func (f *file) rounded(field int) (example float64, ok bool) {
	c := f.fields[field]
	for _, g := range f.groups {
		s := &g.Columns[c.index].MetaData.Statistics
		for _, bound := range [][]byte{s.MinValue, s.MaxValue} {
			if v := c.bound(bound); dataset.Rounds(v) && math.Abs(v) >= math.Abs(example) {
				example, ok = v, true
			}
		}
	}
	return example, ok
}

// bound returns a stated smallest or largest value. It returns 0 if the file states none, or the type is one
// that float32 represents exactly.
func (c *column) bound(plain []byte) float64 {
	switch {
	case c.decimal && len(plain) == c.width():
		v, _ := strconv.ParseFloat(string(c.appendDecimal(nil, plain, 0)), 64) // the nearest float64
		return v
	case c.kind == format.Int32 && len(plain) == 4 && c.unsigned:
		return float64(binary.LittleEndian.Uint32(plain))
	case c.kind == format.Int32 && len(plain) == 4:
		return float64(int32(binary.LittleEndian.Uint32(plain)))
	case c.kind == format.Int64 && len(plain) == 8 && c.unsigned:
		return float64(binary.LittleEndian.Uint64(plain))
	case c.kind == format.Int64 && len(plain) == 8:
		return float64(int64(binary.LittleEndian.Uint64(plain)))
	case c.kind == format.Double && len(plain) == 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(plain))
	}
	return 0
}
