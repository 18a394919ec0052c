package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/method"
)

// Every line is in the file as soon as it is observed; a training that goes on
// from a checkpoint adds to the curve, another one replaces it.
func TestCurveIsWrittenWhileItRuns(t *testing.T) {
	path, checkpoint := filepath.Join(t.TempDir(), "c.jsonl"), filepath.Join(t.TempDir(), "checkpoint")
	lines := func() int {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
	for run, before := range []int{0, 0, 2} {
		if run == 2 {
			if err := os.WriteFile(checkpoint, nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		c, err := newCurve(path, checkpoint, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			c.observe(method.Iteration{Number: i + 1, Epoch: true, Rate: 0.1})
			if got := lines(); got != before+i+1 {
				t.Errorf("%d lines after epoch %d, want %d", got, i+1, before+i+1)
			}
		}
		if err := c.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A curve that cannot be written ends the training, once, and is the error.
func TestCurveFailure(t *testing.T) {
	failed := 0
	c, err := newCurve(filepath.Join(t.TempDir(), "c.jsonl"), "", func(error) { failed++ })
	if err != nil {
		t.Fatal(err)
	}
	c.file.Close()
	c.observe(method.Iteration{})
	c.observe(method.Iteration{})
	if err := c.close(); !errors.Is(err, fs.ErrClosed) || !strings.HasPrefix(err.Error(), "--curve: ") || failed != 1 {
		t.Errorf("error is %v, told %d times", err, failed)
	}
}
