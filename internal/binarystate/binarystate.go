// Package binarystate writes the numbers of a state as bytes, every bit of them, and reads
// them again from bytes that may be anything.
//
// Start reading at [Append] and [Read]: both call one function that goes through the state,
// so that what is written and what is read cannot differ. The package must not know whose
// state it is.
package binarystate

import (
	"encoding/binary"
	"errors"
	"math"
)

// Codec goes through the numbers of a state in the one order of their binary form, in
// which each is 8 bytes, little-endian, float64s as their bits. By its mode it counts the
// bytes, appends them, or takes the numbers from them.
type Codec struct {
	mode  mode
	size  int    // counted
	bytes []byte // appended to, or still to be read
	err   error  // of reading; all numbers are zero from there on
}

type mode int

const (
	counting mode = iota
	appending
	reading
)

// ErrSizes is the error of bytes that end before the state does, or go on after it.
var ErrSizes = errors.New("found sizes that do not fit its length, expected the complete state")

// Append appends the numbers that code goes through to b, which grows at most once.
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

// Read lets code set the numbers that it goes through to those in data. Data that hold fewer
// or more numbers are an error, as is what code found with [Codec.Fail]. Lists are no longer
// than data.
func Read(data []byte, code func(*Codec)) error {
	c := Codec{mode: reading, bytes: data}
	code(&c)
	if c.err == nil && len(c.bytes) > 0 {
		return ErrSizes
	}
	return c.err
}

// Reading reports whether the state is being read.
func (c *Codec) Reading() bool { return c.mode == reading }

// Err returns the first error of reading, after which all numbers are zero.
func (c *Codec) Err() error { return c.err }

// Fail records the first error of reading.
func (c *Codec) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// word writes or reads 8 bytes.
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

// Ints writes or reads non-negative numbers. Numbers that do not fit an int, or were negative when
// written, are read as −1, which is no count.
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

// Floats goes through numbers, NaN and infinities included.
func (c *Codec) Floats(values ...*float64) {
	for _, v := range values {
		*v = math.Float64frombits(c.word(math.Float64bits(*v)))
	}
}

// Fits reports whether as many numbers are still there to be read; if not, it fails. It is
// true while a state is being written.
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

// Vectors goes through vectors of n elements each, which are made when they are read.
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
