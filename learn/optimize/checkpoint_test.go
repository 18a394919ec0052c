package optimize

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sampled is the fingerprint of the tests' checkpoints.
const sampled = "method=sample C=1 seed=1"

func marshal(t testing.TB, s State) []byte {
	t.Helper()
	b, err := AppendCheckpoint(nil, sampled, s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func unmarshal[S any, P interface {
	*S
	State
}](t testing.TB, b []byte) *S {
	t.Helper()
	s := new(S)
	if err := ReadCheckpoint(b, sampled, P(s)); err != nil {
		t.Fatal(err)
	}
	return s
}

// states has one of each solver with an empty one of its type.
func states(t testing.TB) map[string]struct{ state, empty State } {
	type pair = struct{ state, empty State }
	return map[string]pair{
		"L-BFGS":     {sampleLBFGS(t), new(LBFGSState)},
		"descent":    {sampleDescent(t), new(DescentState)},
		"multistart": {sampleMultistart(t), new(MultistartState)},
	}
}

func diffStates(a, b State) string {
	return cmp.Diff(a, b, cmp.AllowUnexported(LBFGSState{}, DescentState{}, MultistartState{}))
}

// checkImpossible checks that a state is refused, as it is and when it is read.
func checkImpossible(t *testing.T, bad, empty State, want string) {
	t.Helper()
	if err := bad.(coded).validate(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, expected %q", err, want)
	}
	var unfit *StateError
	if err := ReadCheckpoint(marshal(t, bad), sampled, empty); !errors.As(err, &unfit) {
		t.Errorf("%s: read with the error %v", want, err)
	}
}

// Claim: every single damaged bit and every truncation or extension is noticed, and
// changes nothing.
func TestDamagedCheckpointIsRefused(t *testing.T) {
	for name, s := range states(t) {
		data := marshal(t, s.state)
		read := func(bad []byte) error { return ReadCheckpoint(bad, sampled, s.empty) }
		for i := range data {
			for bit := range 8 {
				bad := slices.Clone(data)
				bad[i] ^= 1 << bit
				if read(bad) == nil {
					t.Fatalf("%s: bit %d of byte %d: no error", name, bit, i)
				}
			}
			if read(data[:i]) == nil {
				t.Fatalf("%s: truncated to %d bytes: no error", name, i)
			}
		}
		if read(append(slices.Clone(data), 0)) == nil {
			t.Errorf("%s: a byte too many: no error", name)
		}
		for n, b := 0, binaryOf(s.state); n < len(b); n++ { // behind the checksum
			if s.empty.UnmarshalBinary(b[:n]) == nil {
				t.Fatalf("%s: the first %d of %d bytes of the state: no error", name, n, len(b))
			}
		}
		if diff := diffStates(states(t)[name].empty, s.empty); diff != "" {
			t.Errorf("%s: a failed reading changed the state:\n%s", name, diff)
		}
	}
}

func binaryOf(s State) []byte {
	b, _ := s.AppendBinary(nil) // the error is always nil
	return b
}

// Claim: a checkpoint is refused with an error that says what is wrong with it, or of which
// other problem, solver or version it is.
func TestCheckpointRefusals(t *testing.T) {
	data := marshal(t, sampleDescent(t))
	version := func(v uint32) []byte {
		b := slices.Clone(data)
		binary.LittleEndian.PutUint32(b[len(checkpointMagic):], v)
		return b
	}
	for want, c := range map[string]struct {
		data    []byte
		problem string
		state   State
	}{
		"found what is none, expected what an interrupted":       {data: []byte("{}")},
		"found a checkpoint of version 1, expected":              {data: []byte(`{"format":"listwise-checkpoint-1","problem":"p"}`)},
		"found a checkpoint of version 3, expected":              {data: version(3)},
		"found an end after 26 bytes":                            {data: data[:26]},
		"the file is damaged or incomplete":                      {data: data[:len(data)-1]},
		"another training (C=1), expected C=2":                   {data: data, problem: "method=sample C=2 seed=1"},
		"another training (without bag=2), expected one with it": {data: data, problem: sampled + " bag=2"},
		"another training (seed=1), expected one without that":   {data: data, problem: "method=sample C=1"},
		"the state of descent, expected that of L-BFGS":          {data: data, state: new(LBFGSState)},
	} {
		if c.problem == "" {
			c.problem = sampled
		}
		if c.state == nil {
			c.state = new(DescentState)
		}
		var unfit *StateError
		if err := ReadCheckpoint(c.data, c.problem, c.state); !errors.As(err, &unfit) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}

// Claim: the binary form keeps every bit, and memory is taken for it once.
func TestCheckpointRoundTrip(t *testing.T) {
	strange := map[string]func(State){
		"L-BFGS": func(s State) {
			st := s.(*LBFGSState)
			st.X[0], st.X[1], st.lower = math.Copysign(0, -1), math.SmallestNonzeroFloat64, math.Inf(-1)
		},
		"descent":    func(s State) { s.(*DescentState).X[0] = math.Copysign(0, -1) },
		"multistart": func(s State) { s.(*MultistartState).best.Gap = math.Inf(1) },
	}
	for name, s := range states(t) {
		strange[name](s.state)
		b := binaryOf(s.state)
		if cap(b) != len(b) {
			t.Errorf("%s: %d bytes in %d", name, len(b), cap(b))
		}
		if err := ReadCheckpoint(marshal(t, s.state), sampled, s.empty); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := diffStates(s.state, s.empty); diff != "" || !bytes.Equal(binaryOf(s.empty), b) {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		prefixed, _ := AppendCheckpoint([]byte("prefix"), sampled, s.state)
		if !bytes.Equal(prefixed, append([]byte("prefix"), marshal(t, s.state)...)) {
			t.Errorf("%s: other bytes after a prefix", name)
		}
	}
}

// FuzzReadCheckpoint: no bytes make reading panic or take memory out of proportion, and
// what it accepts is a possible state that has the same bytes. The checksum is also put
// right, so that the fuzzer gets behind it.
func FuzzReadCheckpoint(f *testing.F) {
	for _, s := range states(f) {
		data := marshal(f, s.state)
		f.Add(data)
		f.Add(data[:len(data)-16])
	}
	vast := sampleDescent(f)
	vast.X, vast.Best.X, vast.moments, vast.Rule = nil, nil, nil, 1<<40
	f.Add(marshal(f, vast))
	f.Add(marshal(f, &MultistartState{Start: 1, best: &Result{}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		candidates := [][]byte{data}
		if n := len(data) - checkpointTrailer; n >= 0 {
			sum := crc64.Checksum(data[:n], checkpointSums)
			candidates = append(candidates, binary.LittleEndian.AppendUint64(slices.Clone(data[:n]), sum))
		}
		for _, b := range candidates {
			for _, s := range []State{new(LBFGSState), new(DescentState), new(MultistartState)} {
				if ReadCheckpoint(b, sampled, s) != nil {
					continue
				}
				if err := s.(coded).validate(); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(marshal(t, s), b) {
					t.Fatalf("%d bytes accepted that the state does not have", len(b))
				}
			}
		}
	})
}

// The usual way to keep states: as a checkpoint, written in the callback.
func ExampleAppendCheckpoint() {
	const problem = "function=rosenbrock variables=2"
	obj := rosenbrock(2)
	var saved []byte
	first := LBFGS{MaxIterations: 10}
	first.Checkpoint = func(st *LBFGSState) (err error) {
		saved, err = AppendCheckpoint(nil, problem, st) // to be written to a file
		return err
	}
	r, _ := first.Minimize(context.Background(), obj, []float64{-1.2, 1})
	fmt.Println(r.Status)

	var st LBFGSState
	fmt.Println(ReadCheckpoint(saved, "function=rosenbrock variables=3", &st))
	if err := ReadCheckpoint(saved, problem, &st); err != nil {
		fmt.Println(err)
	}
	var second LBFGS
	second.Resume = &st
	r, _ = second.Minimize(context.Background(), obj, nil)
	fmt.Printf("%v at %.3f\n", r.Status, r.X)
	// Output:
	// iteration limit reached
	// found that of another training (variables=2), expected variables=3
	// gradient small at [1.000 1.000]
}
