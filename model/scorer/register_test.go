package scorer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
)

// renamed is a scorer under another name: Linear, as another package may embed it.
type renamed struct {
	Linear

	kind string
}

func (r renamed) Kind() string { return r.kind }

// renamedAs returns an architecture that makes scorers of the kind, as wide as the text says.
func renamedAs(kind string) Architecture {
	return func(text json.RawMessage) (Scorer, error) {
		var r renamed
		err := json.Unmarshal(text, &r)
		r.kind = kind
		return r, err
	}
}

// register registers a kind for the time of a test.
func register(t *testing.T, kind string, architecture Architecture) {
	Register(kind, architecture)
	t.Cleanup(func() { delete(kinds.architectures, kind) })
}

// Claim: a kind is registered once, under a name, and shadows none of this project's own.
func TestRegisterRefuses(t *testing.T) {
	register(t, "test-once", renamedAs("test-once"))
	for kind, want := range map[string]string{
		"":          "needs a name and an architecture",
		"test-once": "registered already",
		"linear":    "one of listwise's own",
		"stumps":    "one of listwise's own",
		"fusion":    "one of listwise's own",
	} {
		checkPanic(t, want, func() { Register(kind, renamedAs(kind)) })
	}
	checkPanic(t, "needs a name and an architecture", func() { Register("test-nil", nil) })
}

func checkPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got == nil || !strings.Contains(fmt.Sprint(got), want) {
			t.Errorf("panics with %v, want %q", got, want)
		}
	}()
	f()
}

// Claim: what Encode writes of a registered kind Decode reads back, every bit of it, while
// other kinds are being registered.
func TestRegisteredRoundTrip(t *testing.T) {
	register(t, "test-trip", renamedAs("test-trip"))
	params := []float64{math.Copysign(0, -1), math.SmallestNonzeroFloat64, math.MaxFloat64, 0.1}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			register(t, fmt.Sprint("test-trip-", i), renamedAs("x"))
			raw, err := Encode(renamed{Linear{4}, "test-trip"}, params)
			if err != nil {
				t.Error(err)
				return
			}
			s, got, err := Decode(raw)
			same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
			if err != nil || s != (renamed{Linear{4}, "test-trip"}) || !slices.EqualFunc(got, params, same) {
				t.Errorf("%s came back as %#v with %v, %v", raw, s, got, err)
			}
		})
	}
	wg.Wait()
}

// Claim: a scorer that a model file could not give back is not written: one of an unknown
// kind, one that embeds a scorer of this package and keeps its name, and one whose text
// makes another scorer or none.
func TestEncodeUnregistered(t *testing.T) {
	register(t, "test-mute", func(json.RawMessage) (Scorer, error) { return renamed{Linear{1}, "test-mute"}, nil })
	register(t, "test-broken", func(json.RawMessage) (Scorer, error) { return nil, errors.New("too dark") })
	for want, kind := range map[string]string{
		"test-nowhere scorer: it has no form in a model file, expected a kind that is registered": "test-nowhere",
		"linear scorer: it has no form in a model file, expected a kind that is registered":       "linear",
		"is read back as a scorer of 1 features and 1 parameters, expected 2 and 2":               "test-mute",
		`test-broken scorer: its form {"Features":2} cannot be read back: too dark`:               "test-broken",
	} {
		if raw, err := Encode(renamed{Linear{2}, kind}, []float64{1, 2}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s, error %v, want %q", raw, err, want)
		}
	}
}

// Claim: what a file says of a registered kind is checked, and errors say what was found.
func TestDecodeRegisteredErrors(t *testing.T) {
	register(t, "test-read", renamedAs("test-read"))
	register(t, "test-other", renamedAs("test-read"))
	register(t, "test-none", func(json.RawMessage) (Scorer, error) { return nil, nil })
	for text, want := range map[string]string{
		`"type":"test-read"`: `test-read scorer: found no "architecture", expected one`,
		`"type":"test-read","architecture":null,"weights":[]`:                        "architecture: found a scorer of 0 features and 0 parameters, expected at least one feature",
		`"type":"test-read","architecture":{"Features":-3},"weights":[]`:             "found a scorer of -3 features",
		`"type":"test-read","architecture":{"Features":"x"},"weights":[1]`:           "cannot unmarshal string",
		`"type":"test-read","architecture":[1],"weights":[1]`:                        "cannot unmarshal array",
		`"type":"test-read","architecture":{"Features":2},"weights":[1]`:             "found 1 weights, expected 2",
		`"type":"test-read","architecture":{"Features":9000000000},"weights":[1]`:    "found 1 weights, expected 9000000000",
		`"type":"test-read","architecture":{"Features":1},"weights":[null]`:          "null",
		`"type":"test-read","architecture":{"Features":1},"weights":{}`:              "object",
		`"type":"test-other","architecture":{"Features":1},"weights":[1]`:            `found a scorer of the kind "test-read", expected "test-other"`,
		`"type":"test-none","architecture":{},"weights":[]`:                          "found no scorer",
		`"type":"Test-Read","architecture":{"Features":1},"weights":[1]`:             `found the type "Test-Read", expected `,
		`"type":"test-read","architecture":{"Features":1},"weights":[1],"weights":2`: `"weights"`,
	} {
		if s, _, err := Decode([]byte("{" + text + "}")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, error %v, want %q", text, s, err, want)
		}
	}
}
