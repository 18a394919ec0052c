package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/method"
)

// A bar shows nothing before it knows how much there is to do, then how far it
// is, and in the end disappears.
func TestProgress(t *testing.T) {
	var screen bytes.Buffer
	p := &progress{label: "tuning", w: &screen, started: time.Now()}
	p.set(1, 4)
	if got, want := screen.String(), "\rtuning [#######-----------------------] 1/4, 0s left\x1b[K"; got != want {
		t.Errorf("screen shows %q, want %q", got, want)
	}
	p.drawn = time.Time{}
	p.set(4, 4)
	p.set(3, 4) // another goroutine's, late
	if !strings.HasSuffix(screen.String(), "\r\x1b[K") && !strings.Contains(screen.String(), "[##############################] 4/4\x1b[K") {
		t.Errorf("screen shows %q, want a full bar", screen.String())
	}
	p.finish()
	p.set(4, 4)
	if !strings.HasSuffix(screen.String(), "4/4\x1b[K\r\x1b[K") {
		t.Errorf("screen shows %q, want an empty line in the end", screen.String())
	}
	if strings.Contains(screen.String(), "0/0") {
		t.Errorf("screen shows %q, with 0/0", screen.String())
	}
}

// Training whose number of steps is not known shows its iterations.
func TestIterations(t *testing.T) {
	var screen bytes.Buffer
	it := &iterations{&progress{w: &screen, started: time.Now()}, "MLE"}
	it.observe(method.Iteration{Number: 3, Objective: 1.25, GradNorm: 0.5})
	it.observe(method.Iteration{Number: 4}) // too soon after the last
	it.p.drawn = time.Time{}
	it.observe(method.Iteration{Start: 1, Number: 7, Objective: 2, GradNorm: 1e-3})
	want := "\rMLE: iteration 3, objective 1.25, gradient 0.5, 0s\x1b[K" + "\rMLE: start 2, iteration 7, objective 2, gradient 0.001, 0s\x1b[K"
	if got := screen.String(); got != want {
		t.Errorf("screen shows %q, want %q", got, want)
	}
}

// Where standard error is no terminal nothing is drawn.
func TestProgressIsSilentInFiles(t *testing.T) {
	var screen bytes.Buffer
	p := (&environment{stderr: &screen}).startProgress("tuning", 3)
	p.set(2, 3)
	p.finish()
	if screen.Len() > 0 {
		t.Errorf("file holds %q", screen.String())
	}
}
