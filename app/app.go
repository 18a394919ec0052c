// Package app is the command line: flags in, library calls, tables out.
//
// Start reading at [Run] and at the list in commands.go. Each command has a file of its name.
// [Compare], [Evaluate], [Report] and [Tune] are commands as functions, for the Python package. The
// package contains no algorithms: it calls the libraries, and no package below app may know its
// flags or its tables.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/tune"
)

// Exit codes of the commands. They are part of the command-line contract.
const (
	exitDone   = 0
	exitFailed = 1 // the command failed
	exitUsage  = 2 // the input or the flags are wrong
)

// environment contains a command's streams, arguments, global flags and status line.
type environment struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer

	args   []string // of the command line, for the record of experiments
	format string   // text, json or csv
	quiet  bool

	// Set if the command is called as a function:

	warn func(sentence string)  // receives warnings
	take func(result any)       // receives the result instead of standard output
	tell func(p SearchProgress) // receives the progress of auto; may be nil

	details *details // receives the details of compare, tune and auto; nil for a command

	noted sync.Map // causes of the notes that noteOnce has printed

	filesLock sync.Mutex
	files     []io.Closer // to close at the end of the command

	statusLock   sync.Mutex
	status       *status // nil until there is something to show
	statusClosed bool
}

// Run executes the command line args (without the program's name) and returns the exit code: 0 if
// it succeeded, 1 if it failed, 2 if the input or the flags are wrong. If ctx is canceled, the
// command stops and leaves no half-written file. The binary calls it with WithSignals, so that
// signals cancel ctx.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	defer leaveAsFound()()
	env := &environment{stdin: stdin, stdout: stdout, stderr: stderr, args: args}
	if isTerminal(stdout) && isTerminal(stderr) {
		env.stdout = output{stdout, env}
	}
	root := newRoot(env)
	root.SetArgs(args)
	err := checkCommand(root, args)
	if err == nil {
		err = env.guarded(func() error { return root.ExecuteContext(ctx) })
	}
	interruptsOf(ctx).last.Lock()
	if err == nil {
		return exitDone
	}
	if has[*method.OptionError](err) { // the error is about the flag with the option's name
		err = usageErrorf("--%w", err)
	}
	if ctx.Err() != nil { // for any error: the writer of the input may have been stopped too
		fmt.Fprintln(stderr, interrupted)
		return exitFailed
	}
	text := plainMessage(err)
	if !strings.HasPrefix(text, "listwise ") { // as "listwise train needs …"
		text = "listwise: " + text
	}
	fmt.Fprintln(stderr, message(text))
	return exitCode(err)
}

// guarded runs the command and then closes its files and status line. A memory fault caused by a
// truncated cache file is returned as an error. If a file changed while in use, the error names
// that cause alone.
func (env *environment) guarded(run func() error) error {
	err := func() (err error) {
		defer dataset.GuardFaults(&err)()
		return run()
	}()
	if closing := env.closeFiles(); err == nil {
		err = closing
	}
	env.closeStatus()
	for e := err; e != nil; e = errors.Unwrap(e) {
		if errors.Unwrap(e) == dataset.ErrChanged { //nolint:errorlint // the innermost error that names the file
			return e
		}
	}
	return err
}

// Root returns the tree of commands, from which the manual is generated.
func Root() *cobra.Command {
	return newRoot(&environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard})
}

func newRoot(env *environment) *cobra.Command {
	v := thisVersion()
	root := &cobra.Command{
		Use:   "listwise",
		Short: "Learn, evaluate and compare ranking functions",
		Long: `Listwise is a learning-to-rank system. It trains ranking functions on judged queries,
evaluates and compares them, and scores new documents.

Start with "listwise demo": it trains and compares rankers on synthetic data.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       v.Version,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return env.checkFormat(cmd, []string{"text", "json", "csv"}, "text, json or csv")
		},
	}
	root.SetIn(env.stdin)
	root.SetOut(env.stdout) // set before the command completion is added, which stores the writer
	root.SetErr(env.stderr)
	root.PersistentFlags().StringVar(&env.format, "format", "text", "output `format`: text, json or csv")
	root.PersistentFlags().BoolVarP(&env.quiet, "quiet", "q", false, "print results only: no progress, no notes")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usage)
	root.SetVersionTemplate(v.line())
	root.SetHelpCommand(newHelpCommand())
	root.CompletionOptions.HiddenDefaultCmd = true
	cobra.EnableCommandSorting = false // list commands in the order of commands.go
	root.AddCommand(commands(env)...)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

// checkFormat checks the flags that all commands have: --format, and flags for file names. list is
// the message that names formats.
func (env *environment) checkFormat(cmd *cobra.Command, formats []string, list string) error {
	if !slices.Contains(formats, env.format) {
		return usageErrorf("--format %q%s", env.format, suggest.Or(env.format, formats, ": expected "+list))
	}
	return emptyPath(cmd)
}

// usageError marks an error of the caller: wrong flags or wrong input.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// usageErrorf returns an error with exit code 2.
func usageErrorf(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// exitCode returns 2 for errors of the caller, such as a missing or invalid file, and 1 for other
// failures.
func exitCode(err error) int {
	if has[*usageError](err) || has[*dataset.SyntaxError](err) || has[*tune.LayoutError](err) || has[*method.ProblemError](err) ||
		has[*tune.SelectionError](err) || has[*dataset.FormatError](err) || has[*dataset.SampleError](err) || has[*tune.RecordError](err) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, dataset.ErrChanged) {
		return exitUsage
	}
	return exitFailed
}

// has reports whether an error of the type is among the causes of err.
func has[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// emptyPath returns an error if the value of a flag for a file or folder is empty, as from an unset
// shell variable. A flag may be empty if its help explains the empty value.
func emptyPath(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		kind, usage := pflag.UnquoteUsage(f)
		given := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			given = list.GetSlice()
		}
		kind = strings.ToLower(strings.TrimPrefix(kind, "[NAME=]"))
		if slices.Contains([]string{"file", "folder", "directory"}, kind) && slices.Contains(given, "") && !strings.Contains(usage, "empty:") {
			err = usageErrorf("--%s: expected the name of a %s", f.Name, kind)
		}
	})
	return err
}

// noArgs accepts no arguments, like cobra.NoArgs. Its error quotes the first argument.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageErrorf("%s: found the argument %q, expected flags only (see %q)", cmd.CommandPath(), args[0], cmd.CommandPath()+" --help")
}

// required returns an error that names the flags that are not given.
func required(cmd *cobra.Command, flags ...string) error {
	var missing []string
	for _, name := range flags {
		if !cmd.Flags().Changed(name) {
			missing = append(missing, "--"+name)
		}
	}
	if missing == nil {
		return nil
	}
	return needs(cmd, strings.Join(missing, ", "))
}

// needs returns the error about a missing flag or argument.
func needs(cmd *cobra.Command, what string) error {
	return usageErrorf("%s needs %s (see %q)", cmd.CommandPath(), what, cmd.CommandPath()+" --help")
}

// note prints one line on standard error, unless --quiet is given. A warning begins with "warning:
// ".
func (env *environment) note(format string, args ...any) {
	line := message(fmt.Sprintf(format, args...))
	if warning, ok := strings.CutPrefix(line, "warning: "); ok && env.warn != nil {
		env.warn(warning)
	}
	if !env.quiet {
		env.noteLine(line)
	}
}

// noteOnce prints a note that begins with a file name. Notes that differ only in the file name are
// printed once.
func (env *environment) noteOnce(sentence string) {
	if _, again := env.noted.LoadOrStore(causeOf(sentence), true); !again {
		env.note("note: %s", sentence)
	}
}

// Settings maps names of a command's flags, without hyphens, to their values.
type Settings map[string][]string

// Outcome is the result of a command that ran as a function.
type Outcome struct {
	Data     any      `json:"data"`              // what the command prints with --format json
	Table    string   `json:"table,omitempty"`   // the text output of compare
	Details  *details `json:"details,omitempty"` // of compare, tune and auto
	Warnings []string `json:"warned"`
}

// SearchProgress is the progress of auto.
type SearchProgress struct {
	Stage  string   `json:"stage"`
	Number int      `json:"number"`          // of the trainings done in the stage
	Total  int      `json:"total,omitempty"` // 0 if it is unknown
	Best   *float64 `json:"validation,omitempty"`
	Name   string   `json:"name,omitempty"` // of the best trial
	Text   string   `json:"text"`
}

// Auto runs the command auto as a function. The command takes no arguments, and writes the folder of
// results. Auto calls observe, unless it is nil, as trainings end.
func Auto(ctx context.Context, s Settings, observe func(SearchProgress), args ...string) (*Outcome, error) {
	return outcome(ctx, "auto", s, observe, args)
}

// ClicksFit runs the command "clicks fit" as a function. Arguments are files of pages, as for ClicksJudge
// and ClicksPropensities. With the setting out, the command writes the fitted model.
func ClicksFit(ctx context.Context, s Settings, pages ...string) (*Outcome, error) {
	return outcome(ctx, "clicks fit", s, nil, pages)
}

// ClicksJudge runs the command "clicks judge" as a function.
func ClicksJudge(ctx context.Context, s Settings, pages ...string) (*Outcome, error) {
	return outcome(ctx, "clicks judge", s, nil, pages)
}

// ClicksPropensities runs the command "clicks propensities" as a function.
func ClicksPropensities(ctx context.Context, s Settings, pages ...string) (*Outcome, error) {
	return outcome(ctx, "clicks propensities", s, nil, pages)
}

// ClicksEvaluate runs the command "clicks evaluate" as a function. The pages are a setting, and arguments are models.
func ClicksEvaluate(ctx context.Context, s Settings, models ...string) (*Outcome, error) {
	return outcome(ctx, "clicks evaluate", s, nil, models)
}

// ClicksWeigh runs the command "clicks weigh" as a function. The command writes the table to the setting out.
func ClicksWeigh(ctx context.Context, s Settings, pages ...string) (*Outcome, error) {
	return outcome(ctx, "clicks weigh", s, nil, pages)
}

// ClicksSimulate runs the command "clicks simulate" as a function. The command takes no arguments, and writes the
// pages.
func ClicksSimulate(ctx context.Context, s Settings, args ...string) (*Outcome, error) {
	return outcome(ctx, "clicks simulate", s, nil, args)
}

// Compare runs the command compare as a function. Its errors have the text that the command prints,
// as for Evaluate, Report and Tune.
func Compare(ctx context.Context, s Settings, systems ...string) (*Outcome, error) {
	o, err := outcome(ctx, "compare", s, nil, systems)
	if err != nil {
		return nil, err
	}
	c := o.Data.(compared)
	o.Data, o.Table = c.json(), visibleLines(textOf(c.sheets(), "", 0))
	return o, nil
}

// Evaluate runs the command eval as a function. The command takes no arguments.
func Evaluate(ctx context.Context, s Settings, args ...string) (*Outcome, error) {
	return outcome(ctx, "eval", s, nil, args)
}

// Report runs the command report as a function. The command writes the HTML page.
func Report(ctx context.Context, s Settings, systems ...string) (*Outcome, error) {
	return outcome(ctx, "report", s, nil, systems)
}

// Tune runs the command tune as a function. The command takes no arguments, and writes the folder
// of results.
func Tune(ctx context.Context, s Settings, args ...string) (*Outcome, error) {
	return outcome(ctx, "tune", s, nil, args)
}

// outcome runs a command and returns its result instead of printing it.
func outcome(ctx context.Context, name string, s Settings, observe func(SearchProgress), args []string) (*Outcome, error) {
	defer leaveAsFound()()
	var mu sync.Mutex
	var o Outcome
	env := &environment{details: new(details), stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, take: func(result any) { o.Data = result }, tell: observe}
	env.warn = func(sentence string) {
		mu.Lock()
		defer mu.Unlock()
		o.Warnings = append(o.Warnings, sentence)
	}
	err := env.guarded(func() error {
		cmd, _, err := newRoot(env).Find(strings.Fields(name))
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
	if env.details.Queries != nil {
		o.Details = env.details
	}
	return &o, nil
}
