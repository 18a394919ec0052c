package papers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Claim: for any content, the file of times is refused or its times add up, and the file
// that is written in its place is read again.
func FuzzSeconds(f *testing.F) {
	for _, text := range []string{`{"listwise reproduce x --seed 1": 12.5}`, `{}`, `null`, `{"a": -1}`, `{"a": 1e300}`, `[1]`, `{"a": "b"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "seconds.json")
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "training"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		o := Options{Records: dir, Command: "a"}
		s, err := newStopwatch(o)
		if err != nil {
			return
		}
		took, err := s.stop()
		if err != nil {
			t.Fatal(err)
		}
		if before := took.All - took.Run; before < 0 || before > mostSeconds*time.Second {
			t.Fatalf("took %v", took)
		}
		again, err := newStopwatch(o)
		if err != nil {
			t.Fatal(err)
		}
		if len(again.before) < len(s.before) {
			t.Errorf("%d commands have become %d", len(s.before), len(again.before))
		}
	})
}

// Claim: an experiment that fails before anything is recorded leaves no folder, and one
// that has trained keeps its times.
func TestTimedLeavesNothing(t *testing.T) {
	failure := errors.New("the data do not fit")
	records := filepath.Join(t.TempDir(), "out", "x")
	e := Experiment{Run: func(context.Context, Options) (*Report, error) { return nil, failure }}
	if _, _, err := e.Timed(context.Background(), Options{Records: records}); !errors.Is(err, failure) {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(filepath.Dir(records)); err == nil {
		t.Error("there is a folder")
	}
	e.Run = func(context.Context, Options) (*Report, error) {
		return nil, errors.Join(os.MkdirAll(records, 0o777), failure)
	}
	if _, _, err := e.Timed(context.Background(), Options{Records: records}); !errors.Is(err, failure) {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Stat(filepath.Join(records, "seconds.json")); err != nil {
		t.Error(err)
	}
}
