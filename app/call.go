package app

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
)

// Settings are flags of a command: their names, without hyphens, and values.
type Settings map[string][]string

// Comparison is the result of [Compare].
type Comparison struct {
	Data  any    // what "listwise compare --format json" prints, for encoding/json
	Table string // what "listwise compare" prints
}

// Compare is the command of that name as a function. The systems are its arguments. Like those of
// the other functions here, an error has the words of the command, and warn gets the command's
// warnings one by one.
func Compare(ctx context.Context, s Settings, systems []string, warn func(string)) (*Comparison, error) {
	result, err := function(ctx, "compare", s, systems, warn)
	if err != nil {
		return nil, err
	}
	c := result.(*comparison)
	return &Comparison{c.json(), visibleLines(textOf(c.sheets(), "", 0))}, nil
}

// Evaluate is the command eval as a function. It returns what "listwise eval --format json" prints,
// for encoding/json.
func Evaluate(ctx context.Context, s Settings, warn func(string)) (any, error) {
	return function(ctx, "eval", s, nil, warn)
}

// Report is the command of that name as a function. It writes the page.
func Report(ctx context.Context, s Settings, systems []string, warn func(string)) error {
	_, err := function(ctx, "report", s, systems, warn)
	return err
}

// Tune is the command of that name as a function. It writes the folder of results and returns what
// "listwise tune --format json" prints, for encoding/json.
func Tune(ctx context.Context, s Settings, warn func(string)) (any, error) {
	return function(ctx, "tune", s, nil, warn)
}

// function runs a command and returns its result in place of printing it.
func function(ctx context.Context, name string, s Settings, args []string, warn func(string)) (result any, err error) {
	defer leaveAsFound()()
	env := &environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, warn: warn, take: func(r any) { result = r }}
	err = env.guarded(func() error {
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
		if err := emptyPath(cmd); err != nil {
			return err
		}
		return cmd.RunE(cmd, args)
	})
	if err != nil {
		return nil, errors.New(message(plainMessage(err)))
	}
	return result, nil
}
