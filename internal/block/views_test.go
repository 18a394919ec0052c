package block

import (
	"encoding/binary"
	"math"
	"testing"
)

// A processor or a buffer for which the file's bytes are not the numbers' own
// gets the same numbers.
func TestViewsOfUnalignedBytes(t *testing.T) {
	b := make([]byte, 25)
	for i := range b {
		b[i] = byte(i * 7)
	}
	for from := range 8 {
		for i, v := range Float32s(b[from : from+16]) {
			if want := binary.LittleEndian.Uint32(b[from+4*i:]); math.Float32bits(v) != want {
				t.Errorf("float32 %d from byte %d has bits %x, want %x", i, from, math.Float32bits(v), want)
			}
		}
		for i, v := range Float64s(b[from : from+16]) {
			if want := binary.LittleEndian.Uint64(b[from+8*i:]); math.Float64bits(v) != want {
				t.Errorf("float64 %d from byte %d has bits %x, want %x", i, from, math.Float64bits(v), want)
			}
		}
	}
}
