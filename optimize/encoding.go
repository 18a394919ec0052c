package optimize

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"math"
)

// The binary form of a State, all numbers little-endian, float64s as their bits:
//
//	magic, 16 bytes · version, uint32 · length of the fingerprint, uint32 · fingerprint
//	iterations, evaluations, idle iterations, variables n, pairs m, recent values k: uint64 each
//	value, best value, best gradient norm, strong convexity, lower bound · x, gradient: n each
//	pairs from the oldest: s, y, n each · recent values: k
//	CRC-64 (ECMA) of everything before, uint64
const (
	stateMagic   = "listwise-L-BFGS\n"
	stateVersion = 1
	stateHeader  = len(stateMagic) + 4
	stateTrailer = 8
)

var stateTable = crc64.MakeTable(crc64.ECMA)

var (
	_ encoding.BinaryAppender    = (*State)(nil)
	_ encoding.BinaryMarshaler   = (*State)(nil)
	_ encoding.BinaryUnmarshaler = (*State)(nil)
)

// MarshalBinary returns st in a versioned form with a checksum that keeps every
// bit. The error is always nil.
func (st *State) MarshalBinary() ([]byte, error) {
	floats := 5 + 2*len(st.X)*(1+len(st.s)) + len(st.recent)
	size := stateHeader + 4 + len(st.Fingerprint) + 6*8 + floats*8 + stateTrailer
	return st.AppendBinary(make([]byte, 0, size))
}

// AppendBinary appends the form of MarshalBinary to b.
func (st *State) AppendBinary(b []byte) ([]byte, error) {
	start := len(b)
	b = appendHeader(b, stateMagic, stateVersion, st.Fingerprint)
	b = appendInts(b, st.Iteration, st.Evaluations, st.idle, len(st.X), len(st.s), len(st.recent))
	b = appendFloats(b, st.F, st.bestF, st.bestGrad, st.strongConvexity, st.lower)
	b = appendFloats(b, st.X...)
	b = appendFloats(b, st.Grad...)
	for i := range st.s {
		b = appendFloats(b, st.s[i]...)
		b = appendFloats(b, st.y[i]...)
	}
	b = appendFloats(b, st.recent...)
	return appendChecksum(b, start), nil
}

func appendHeader(b []byte, magic string, version uint32, fingerprint string) []byte {
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(fingerprint)))
	return append(b, fingerprint...)
}

// appendChecksum appends that of b[start:].
func appendChecksum(b []byte, start int) []byte {
	return binary.LittleEndian.AppendUint64(b, crc64.Checksum(b[start:], stateTable))
}

func appendInts(b []byte, values ...int) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

func appendFloats(b []byte, values ...float64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// UnmarshalBinary sets st to the state that MarshalBinary wrote. Anything but the
// complete, undamaged form of a possible state is an error and leaves st unchanged.
func (st *State) UnmarshalBinary(data []byte) error {
	d, err := stateBody(data, stateMagic, stateVersion)
	if err == nil {
		var read State
		if err = d.state(&read); err == nil {
			*st = read
			return nil
		}
	}
	return fmt.Errorf("optimizer state: %w", err)
}

// stateBody checks the frame around the state and returns what is within.
func stateBody(data []byte, magic string, version uint32) (*decoder, error) {
	le, header := binary.LittleEndian, len(magic)+4
	if len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("it does not begin with %q", magic)
	}
	if len(data) < header+stateTrailer {
		return nil, fmt.Errorf("it ends after %d bytes", len(data))
	}
	if v := le.Uint32(data[len(magic):]); v != version {
		return nil, fmt.Errorf("format version %d, expected %d", v, version)
	}
	end := len(data) - stateTrailer
	if sum, want := crc64.Checksum(data[:end], stateTable), le.Uint64(data[end:]); sum != want {
		return nil, fmt.Errorf("checksum %016x, expected %016x: it is damaged or incomplete", sum, want)
	}
	return &decoder{rest: data[header:end]}, nil
}

// decoder takes numbers from the front of rest. After an attempt to take more
// than there is, short is set and all numbers are zero.
type decoder struct {
	rest  []byte
	short bool
}

var errShort = errors.New("its sizes do not fit its length")

func (d *decoder) state(st *State) error {
	st.Fingerprint = string(d.take(uint64(d.uint32())))
	st.Iteration, st.Evaluations, st.idle = d.int(), d.int(), d.int()
	n, pairs, recent := d.uint64(), d.uint64(), d.uint64()
	st.F, st.bestF, st.bestGrad = d.float(), d.float(), d.float()
	st.strongConvexity, st.lower = d.float(), d.float()
	st.X, st.Grad = d.floats(n), d.floats(n)
	if n == 0 && pairs > 0 {
		return fmt.Errorf("%d correction pairs of no variables", pairs)
	}
	for i := uint64(0); i < pairs && !d.short; i++ {
		st.s = append(st.s, d.floats(n))
		st.y = append(st.y, d.floats(n))
	}
	st.recent = d.floats(recent)
	if d.short || len(d.rest) > 0 {
		return errShort
	}
	return st.validate()
}

// take returns the next n bytes.
func (d *decoder) take(n uint64) []byte {
	if d.short || n > uint64(len(d.rest)) {
		d.short = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) uint32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// int returns −1, which is not a count, for a number too large for an int.
func (d *decoder) int() int {
	if v := d.uint64(); v <= math.MaxInt {
		return int(v)
	}
	return -1
}

func (d *decoder) float() float64 { return math.Float64frombits(d.uint64()) }

func (d *decoder) floats(n uint64) []float64 {
	if n > uint64(len(d.rest))/8 {
		d.short = true
		return nil
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = d.float()
	}
	return v
}
