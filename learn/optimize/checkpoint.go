package optimize

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/binarystate"
)

// State is the state of a solver's run at a point where the run can be interrupted. It determines the further course
// of the run.
type State interface {
	// Kind names the solver.
	Kind() string

	// AppendBinary appends every bit of the state to b. The error is always nil.
	encoding.BinaryAppender

	// UnmarshalBinary sets the state from the form that AppendBinary writes. For other data or an impossible state,
	// it returns an error and leaves the state unchanged.
	encoding.BinaryUnmarshaler
}

// StateError is the error for a state from which a run cannot be resumed. The state is damaged, or belongs to another
// problem, solver or number of variables.
type StateError struct{ Err error }

// Error implements error.
func (e *StateError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StateError) Unwrap() error { return e.Err }

// unfit returns a *StateError with a message formatted as by fmt.Errorf.
func unfit(format string, args ...any) error { return &StateError{fmt.Errorf(format, args...)} }

// A checkpoint is a solver's state in a file. Numbers are little-endian:
//
//	magic, 20 bytes · version, uint32
//	length, uint32 · fingerprint of the problem
//	length, uint32 · kind of the state
//	the state, as its AppendBinary has it
//	CRC-64 (ECMA) of everything before, uint64
const (
	checkpointMagic   = "listwise-checkpoint\n"
	checkpointVersion = 2
	checkpointTrailer = 8

	// Version 1 was JSON.
	firstMagic = `{"format":"listwise-checkpoint-1"`
)

var checkpointSums = crc64.MakeTable(crc64.ECMA)

// AppendCheckpoint appends the checkpoint of a state to b, with a checksum and the fingerprint of the problem. The
// fingerprint has words NAME=VALUE for everything that changes the course of the run, such as data, loss, settings
// and seeds.
func AppendCheckpoint(b []byte, fingerprint string, s State) ([]byte, error) {
	start := len(b)
	b = append(b, checkpointMagic...)
	b = binary.LittleEndian.AppendUint32(b, checkpointVersion)
	for _, text := range []string{fingerprint, s.Kind()} {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	b, err := s.AppendBinary(b)
	if err != nil {
		return nil, err
	}
	return binary.LittleEndian.AppendUint64(b, crc64.Checksum(b[start:], checkpointSums)), nil
}

// ReadCheckpoint sets s to the state in a checkpoint. It returns a *StateError, and leaves s unchanged, if data are
// damaged, or if the kind of the state or the fingerprint differs. The error lists the words in which the
// fingerprints differ.
func ReadCheckpoint(data []byte, fingerprint string, s State) error {
	rest, err := undamaged(data)
	if err != nil {
		return &StateError{err}
	}
	problem, rest, whole := prefixed(rest)
	kind, rest, alsoWhole := prefixed(rest)
	switch {
	case !whole || !alsoWhole:
		return &StateError{binarystate.ErrSizes}
	case problem != fingerprint:
		return unfit("found that of another training %s", differences(problem, fingerprint))
	case kind != s.Kind():
		return unfit("found the state of %s, expected that of %s", kind, s.Kind())
	}
	if err := s.UnmarshalBinary(rest); err != nil {
		return unfit("state of %s: %w", kind, err)
	}
	return nil
}

// undamaged checks the magic, the version and the checksum. It returns the data between the version and the checksum.
func undamaged(data []byte) ([]byte, error) {
	le, header := binary.LittleEndian, len(checkpointMagic)+4
	switch {
	case bytes.HasPrefix(data, []byte(firstMagic)):
		return nil, fmt.Errorf("found a checkpoint of version 1, expected version %d, the only one that this program reads", checkpointVersion)
	case !bytes.HasPrefix(data, []byte(checkpointMagic)):
		return nil, errors.New("found what is none, expected what an interrupted training left")
	case len(data) < header+checkpointTrailer:
		return nil, fmt.Errorf("found an end after %d bytes, expected a whole checkpoint", len(data))
	}
	if v := le.Uint32(data[len(checkpointMagic):]); v != checkpointVersion {
		return nil, fmt.Errorf("found a checkpoint of version %d, expected version %d, the only one that this program reads", v, checkpointVersion)
	}
	end := len(data) - checkpointTrailer
	if sum, want := le.Uint64(data[end:]), crc64.Checksum(data[:end], checkpointSums); sum != want {
		return nil, fmt.Errorf("found the checksum %016x, expected %016x: the file is damaged or incomplete", sum, want)
	}
	return data[header:end], nil
}

// prefixed splits data into a text, which follows its length, and the rest.
func prefixed(data []byte) (text string, rest []byte, ok bool) {
	if len(data) < 4 {
		return "", nil, false
	}
	n := binary.LittleEndian.Uint32(data)
	if data = data[4:]; uint64(n) > uint64(len(data)) {
		return "", nil, false
	}
	return string(data[:n]), data[n:], true
}

// differences lists the words of each fingerprint that the other one does not have.
func differences(found, expected string) string {
	without := func(a, b string) string {
		other := strings.Fields(b)
		words := slices.DeleteFunc(strings.Fields(a), func(w string) bool { return slices.Contains(other, w) })
		return strings.Join(words, " ")
	}
	switch more, missing := without(found, expected), without(expected, found); {
	case missing == "":
		return fmt.Sprintf("(%s), expected one without that", more)
	case more == "":
		return fmt.Sprintf("(without %s), expected one with it", missing)
	default:
		return fmt.Sprintf("(%s), expected %s", more, missing)
	}
}

// coded is the interface of all states.
type coded interface {
	// code reads or writes all numbers of the state.
	code(c *binarystate.Codec)

	// validate returns an error if the state cannot be the state of a run.
	validate() error
}

// readState sets st from its binary form. For other data it returns an error and leaves st unchanged.
func readState[S any, P interface {
	*S
	coded
}](data []byte, st P) error {
	read := P(new(S))
	if err := binarystate.Read(data, read.code); err != nil {
		return err
	}
	if err := read.validate(); err != nil {
		return err
	}
	*st = *read
	return nil
}

// codePairs reads or writes m pairs of vectors of n elements each.
func codePairs(c *binarystate.Codec, m, n int, s, y *[][]float64) {
	if c.Reading() && m != 0 && n < 1 {
		c.Fail(fmt.Errorf("found %d correction pairs of %d variables, expected some variables", m, n))
	}
	for i := 0; i < m && c.Err() == nil; i++ {
		if c.Reading() {
			*s, *y = append(*s, nil), append(*y, nil)
		}
		c.Vectors(n, &(*s)[i], &(*y)[i])
	}
}
