package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Usage is what a process took.
type Usage struct {
	Seconds float64 // from its start to its end
	CPU     float64 // of all its threads, the system's work for them included
	Memory  int64   // peak of its resident memory in bytes, mapped files included; 0 where the system does not tell
}

// output is what of a command's JSON is of use here.
type output struct {
	documents, iterations, evaluations int
}

func (o *output) UnmarshalJSON(text []byte) error {
	var v struct {
		Documents int
		Training  struct{ Iterations, Evaluations int }
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	*o = output{v.Documents, v.Training.Iterations, v.Training.Evaluations}
	return nil
}

func (o *output) passes(w *Work) int {
	if w.Unit == "evaluation" {
		return o.evaluations
	}
	return o.iterations
}

// run starts the program with the arguments and waits for its end.
func (s *size) run(ctx context.Context, args []string) (output, Usage, error) {
	var out output
	limited, stop := context.WithTimeout(ctx, s.Longest)
	defer stop()
	cmd := exec.CommandContext(limited, s.Program[0], args...)
	cmd.Args[0] = s.Program[1]
	cmd.Dir = s.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if ctx.Err() != nil {
		return out, Usage{}, ctx.Err()
	}
	if errors.Is(limited.Err(), context.DeadlineExceeded) {
		return out, Usage{}, fmt.Errorf("it took longer than %v", s.Longest)
	}
	if err != nil {
		return out, Usage{}, fmt.Errorf("listwise %s: %w: %s", strings.Join(args, " "), err, lastLine(stderr.String()))
	}
	if stdout.Len() > 0 && stdout.Bytes()[0] == '{' {
		if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
			return out, Usage{}, fmt.Errorf("listwise %s: %w", strings.Join(args, " "), err)
		}
	}
	state := cmd.ProcessState
	return out, Usage{took.Seconds(), (state.UserTime() + state.SystemTime()).Seconds(), peakMemory(state)}, nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
