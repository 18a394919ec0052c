// Package binarystate writes the numbers of a state as bytes, with every bit, and reads them back
// from untrusted bytes.
//
// Start reading at [Append] and [Read]. Both call one function that visits the numbers of the
// state, so writing and reading cannot differ. The package must not import other packages of the
// module.
package binarystate

import (
	"encoding/binary"
	"errors"
	"math"
)

// Codec visits the numbers of a state in a fixed order. The binary form of each number is 8 bytes,
// little-endian; a float64 is written as its bits. Depending on its mode, Codec counts the bytes,
// appends them, or reads the numbers.
type Codec struct {
	mode  mode
	size  int    // number of bytes counted
	bytes []byte // the bytes appended so far, or the bytes not yet read
	err   error  // of reading; later numbers are read as zero
}

type mode int

const (
	counting mode = iota
	appending
	reading
)

// ErrSizes is the error for data that are shorter or longer than the state.
var ErrSizes = errors.New("found sizes that do not fit its length, expected the complete state")

// Append appends the numbers that code visits to b and returns the extended slice. It allocates at
// most once.
func Append(b []byte, code func(*Codec)) []byte {
	c := Codec{mode: counting}
	code(&c)
	if cap(b)-len(b) < c.size {
		b = append(make([]byte, 0, len(b)+c.size), b...)
	}
	c.mode, c.bytes = appending, b
	code(&c)
	return c.bytes
}

// Read calls code and sets the numbers that code visits to the numbers in data. It returns an error
// if data has fewer or more numbers, or if code calls [Codec.Fail]. A list that is read is never
// longer than data.
func Read(data []byte, code func(*Codec)) error {
	c := Codec{mode: reading, bytes: data}
	code(&c)
	if c.err == nil && len(c.bytes) > 0 {
		return ErrSizes
	}
	return c.err
}

// Reading reports whether the Codec reads the state.
func (c *Codec) Reading() bool { return c.mode == reading }

// Err returns the first error of reading. All later numbers are zero.
func (c *Codec) Err() error { return c.err }

// Fail records err unless an error was recorded before.
func (c *Codec) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// word counts, writes or reads 8 bytes.
func (c *Codec) word(v uint64) uint64 {
	switch c.mode {
	case counting:
		c.size += 8
	case appending:
		c.bytes = binary.LittleEndian.AppendUint64(c.bytes, v)
	case reading:
		if c.err != nil || len(c.bytes) < 8 {
			c.Fail(ErrSizes)
			return 0
		}
		v = binary.LittleEndian.Uint64(c.bytes)
		c.bytes = c.bytes[8:]
	}
	return v
}

// Ints writes or reads non-negative numbers. A number that does not fit an int, or was negative
// when written, is read as −1, which no count equals.
func (c *Codec) Ints(values ...*int) {
	for _, v := range values {
		word := c.word(uint64(*v))
		if c.mode != reading {
			continue
		}
		if *v = -1; word <= math.MaxInt {
			*v = int(word)
		}
	}
}

// Floats writes or reads numbers, including NaN and infinities.
func (c *Codec) Floats(values ...*float64) {
	for _, v := range values {
		*v = math.Float64frombits(c.word(math.Float64bits(*v)))
	}
}

// Fits reports whether data has at least the given number of numbers left. If not, it records an
// error. It returns true when the Codec does not read.
func (c *Codec) Fits(numbers int) bool {
	if c.mode != reading {
		return true
	}
	if c.err != nil || numbers < 0 || numbers > len(c.bytes)/8 {
		c.Fail(ErrSizes)
		return false
	}
	return true
}

// Vectors writes or reads vectors of n elements each. Reading allocates the vectors.
func (c *Codec) Vectors(n int, vectors ...*[]float64) {
	for _, v := range vectors {
		if !c.Fits(n) {
			return
		}
		if c.mode == reading {
			*v = make([]float64, n)
		}
		for i := range *v {
			c.Floats(&(*v)[i])
		}
	}
}
