package binarystate

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// numbers are a state of each kind of numbers.
type numbers struct {
	count  int
	value  float64
	vector []float64
}

func (s *numbers) code(c *Codec) {
	n := len(s.vector)
	c.Ints(&s.count, &n)
	c.Floats(&s.value)
	c.Vectors(n, &s.vector)
}

// Claim: what is read is what was written, every bit of it, and the bytes before stay.
func TestWrittenIsRead(t *testing.T) {
	nan := math.Float64frombits(0x7ff8_0000_0000_1234)
	s := numbers{7, math.Copysign(0, -1), []float64{nan, math.Inf(-1), 5e-324}}
	text := Append([]byte("before"), s.code)
	if string(text[:6]) != "before" || len(text) != 6+8*6 {
		t.Fatalf("wrote %q", text)
	}
	var read numbers
	if err := Read(text[6:], read.code); err != nil {
		t.Fatal(err)
	}
	bits := func(s numbers) []uint64 {
		all := []uint64{uint64(s.count), math.Float64bits(s.value)}
		for _, v := range s.vector {
			all = append(all, math.Float64bits(v))
		}
		return all
	}
	if !slices.Equal(bits(read), bits(s)) {
		t.Errorf("read %v, wrote %v", read, s)
	}
}

// Claim: bytes that are too few or too many are an error, and a length that they cannot have
// takes no memory.
func TestOtherSizesAreErrors(t *testing.T) {
	s := numbers{1, 2, []float64{3, 4}}
	text := Append(nil, s.code)
	for n := range len(text) + 9 {
		if n == len(text) {
			continue
		}
		if err := Read(append(slices.Clone(text), make([]byte, 16)...)[:n], new(numbers).code); !errors.Is(err, ErrSizes) {
			t.Errorf("%d of %d bytes: error %v", n, len(text), err)
		}
	}
	for _, length := range []byte{3, 0x7f, 0xff} {
		vast := slices.Clone(text)
		for i := range 8 {
			vast[8+i] = length
		}
		read := numbers{}
		if err := Read(vast, read.code); !errors.Is(err, ErrSizes) || read.vector != nil {
			t.Errorf("length %x: error %v, %d numbers", length, err, len(read.vector))
		}
	}
}
