package optimize

import (
	"encoding"
	"fmt"
)

// The binary form of a DescentState, all numbers little-endian, float64s as their
// bits:
//
//	magic, 17 bytes · version, uint32 · length of the fingerprint, uint32 · fingerprint
//	rule, terms, epochs, restarts, updates, idle epochs, best epoch, variables n: uint64 each
//	rate, training cost, lowest cost, best epoch's cost and validation value
//	x, best x, the rule's moments: n each
//	CRC-64 (ECMA) of everything before, uint64
const (
	descentMagic   = "listwise-descent\n"
	descentVersion = 1
)

var (
	_ encoding.BinaryAppender    = (*DescentState)(nil)
	_ encoding.BinaryMarshaler   = (*DescentState)(nil)
	_ encoding.BinaryUnmarshaler = (*DescentState)(nil)
)

// MarshalBinary returns st in a versioned form with a checksum that keeps every
// bit. The error is always nil.
func (st *DescentState) MarshalBinary() ([]byte, error) {
	floats := 5 + len(st.X)*(2+len(st.moments))
	size := len(descentMagic) + 4 + 4 + len(st.Fingerprint) + 8*8 + floats*8 + stateTrailer
	return st.AppendBinary(make([]byte, 0, size))
}

// AppendBinary appends the form of MarshalBinary to b.
func (st *DescentState) AppendBinary(b []byte) ([]byte, error) {
	start := len(b)
	b = appendHeader(b, descentMagic, descentVersion, st.Fingerprint)
	b = appendInts(b, int(st.Rule), st.Terms, st.Epoch, st.Restart, st.Updates, st.idle, st.Best.Epoch, len(st.X))
	b = appendFloats(b, st.Rate, st.TrainingCost, st.lowest, st.Best.TrainingCost, st.Best.Validation)
	b = appendFloats(b, st.X...)
	b = appendFloats(b, st.Best.X...)
	for _, m := range st.moments {
		b = appendFloats(b, m...)
	}
	return appendChecksum(b, start), nil
}

// UnmarshalBinary sets st to the state that MarshalBinary wrote. Anything but the
// complete, undamaged form of a possible state is an error and leaves st unchanged.
func (st *DescentState) UnmarshalBinary(data []byte) error {
	d, err := stateBody(data, descentMagic, descentVersion)
	if err == nil {
		var read DescentState
		if err = d.descentState(&read); err == nil {
			*st = read
			return nil
		}
	}
	return fmt.Errorf("descent state: %w", err)
}

func (d *decoder) descentState(st *DescentState) error {
	st.Fingerprint = string(d.take(uint64(d.uint32())))
	st.Rule, st.Terms = Rule(d.int()), d.int()
	st.Epoch, st.Restart, st.Updates, st.idle = d.int(), d.int(), d.int(), d.int()
	st.Best.Epoch = d.int()
	n := d.uint64()
	st.Rate, st.TrainingCost, st.lowest = d.float(), d.float(), d.float()
	st.Best.TrainingCost, st.Best.Validation = d.float(), d.float()
	st.X, st.Best.X = d.floats(n), d.floats(n)
	for range min(max(st.Rule.moments(), 0), Adam.moments()) { // validate refuses other rules
		st.moments = append(st.moments, d.floats(n))
	}
	if d.short || len(d.rest) > 0 {
		return errShort
	}
	return st.validate()
}
