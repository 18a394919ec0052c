package optimize

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// codec goes through the numbers of a state in the one order of their binary form, in
// which each is 8 bytes, little-endian, float64s as their bits. By its mode it counts the
// bytes, appends them, or takes the numbers from them.
type codec struct {
	mode  codecMode
	size  int    // counted
	bytes []byte // appended to, or still to be read
	err   error  // of reading; all numbers are zero from there on
}

type codecMode int

const (
	counting codecMode = iota
	appending
	reading
)

// coded is implemented by all states.
type coded interface {
	// code goes through all numbers of the state.
	code(c *codec)

	// validate returns an error if the state is impossible as that of a run.
	validate() error
}

// appendState appends the binary form to b, which grows at most once.
func appendState(b []byte, st coded) []byte {
	c := codec{mode: counting}
	st.code(&c)
	if free := cap(b) - len(b); free < c.size {
		b = append(make([]byte, 0, len(b)+c.size), b...)
	}
	c.mode, c.bytes = appending, b
	st.code(&c)
	return c.bytes
}

// readState sets st to the state whose complete binary form data is. Anything else is an
// error and leaves st unchanged.
func readState[S any, P interface {
	*S
	coded
}](data []byte, st P) error {
	read := P(new(S))
	c := codec{mode: reading, bytes: data}
	read.code(&c)
	if c.err == nil && len(c.bytes) > 0 {
		c.err = errSizes
	}
	if c.err != nil {
		return c.err
	}
	if err := read.validate(); err != nil {
		return err
	}
	*st = *read
	return nil
}

var errSizes = errors.New("found sizes that do not fit its length, expected the complete state")

// fail records the first error of reading.
func (c *codec) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// word passes 8 bytes on, or returns those that are read.
func (c *codec) word(v uint64) uint64 {
	switch c.mode {
	case counting:
		c.size += 8
	case appending:
		c.bytes = binary.LittleEndian.AppendUint64(c.bytes, v)
	case reading:
		if c.err != nil || len(c.bytes) < 8 {
			c.fail(errSizes)
			return 0
		}
		v = binary.LittleEndian.Uint64(c.bytes)
		c.bytes = c.bytes[8:]
	}
	return v
}

// ints goes through numbers, of which those that fit no int are read as −1, which is not
// a count.
func (c *codec) ints(values ...*int) {
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

func (c *codec) floats(values ...*float64) {
	for _, v := range values {
		*v = math.Float64frombits(c.word(math.Float64bits(*v)))
	}
}

// vectors goes through vectors of n elements each.
func (c *codec) vectors(n int, vectors ...*[]float64) {
	for _, v := range vectors {
		if c.mode == reading {
			if c.err != nil || n < 0 || n > len(c.bytes)/8 {
				c.fail(errSizes)
				return
			}
			*v = make([]float64, n)
		}
		for i := range *v {
			c.floats(&(*v)[i])
		}
	}
}

// pairs goes through m pairs of vectors of n elements each.
func (c *codec) pairs(m, n int, s, y *[][]float64) {
	if c.mode == reading && m != 0 && n < 1 {
		c.fail(fmt.Errorf("found %d correction pairs of %d variables, expected some variables", m, n))
	}
	for i := 0; i < m && c.err == nil; i++ {
		if c.mode == reading {
			*s, *y = append(*s, nil), append(*y, nil)
		}
		c.vectors(n, &(*s)[i], &(*y)[i])
	}
}
