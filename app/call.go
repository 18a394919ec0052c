package app

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Settings are flags of a command: their names, without hyphens, and values.
type Settings map[string][]string

// Outcome is the result of a command that was called as a function.
type Outcome struct {
	Data     any      `json:"data"`            // what it prints with --format json, for encoding/json
	Table    string   `json:"table,omitempty"` // of compare what it prints
	Warnings []string `json:"warned"`
}

// Compare is the command of that name as a function. An error of this and of the functions below
// has the words of the command.
func Compare(ctx context.Context, s Settings, systems ...string) (*Outcome, error) {
	o, err := outcome(ctx, "compare", s, systems)
	if err != nil {
		return nil, err
	}
	c := o.Data.(*comparison)
	o.Data, o.Table = c.json(), visibleLines(textOf(c.sheets(), "", 0))
	return o, nil
}

// Evaluate is the command eval as a function, which takes no arguments.
func Evaluate(ctx context.Context, s Settings, args ...string) (*Outcome, error) {
	return outcome(ctx, "eval", s, args)
}

// Report is the command of that name as a function. It writes the page.
func Report(ctx context.Context, s Settings, systems ...string) (*Outcome, error) {
	return outcome(ctx, "report", s, systems)
}

// Tune is the command of that name as a function, which takes no arguments. It writes the folder of
// results.
func Tune(ctx context.Context, s Settings, args ...string) (*Outcome, error) {
	return outcome(ctx, "tune", s, args)
}

// outcome runs a command and returns its result in place of printing it.
func outcome(ctx context.Context, name string, s Settings, args []string) (*Outcome, error) {
	defer leaveAsFound()()
	var mu sync.Mutex
	var o Outcome
	env := &environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, take: func(result any) { o.Data = result }}
	env.warn = func(sentence string) {
		mu.Lock()
		defer mu.Unlock()
		o.Warnings = append(o.Warnings, sentence)
	}
	err := env.guarded(func() error {
		cmd, _, err := newRoot(env).Find([]string{name})
		if err != nil {
			return err
		}
		cmd.SetContext(ctx)
		for _, flag := range slices.Sorted(maps.Keys(s)) {
			for _, value := range s[flag] {
				if err := cmd.Flags().Set(flag, value); err != nil {
					return flagError(cmd, err)
				}
			}
		}
		if err := cmd.ValidateArgs(args); err != nil {
			return err
		}
		if err := emptyPath(cmd); err != nil {
			return err
		}
		return cmd.RunE(cmd, args)
	})
	if err != nil {
		return nil, errors.New(message(plainMessage(err)))
	}
	return &o, nil
}
