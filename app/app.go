// Package app is the command line: flags in, library calls, tables out.
//
// One file a command, found under the command's name; this file has the root
// and what all commands share. No algorithm lives here: what a command computes,
// a library package computes for it.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// Exit codes of the command-line contract.
const (
	exitDone   = 0
	exitFailed = 1 // it failed
	exitUsage  = 2 // the input or the flags are wrong
)

// environment gives a command its streams, arguments, global flags and status line.
type environment struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer

	args   []string // of the command line, for the record of experiments
	format string   // text, json or csv
	quiet  bool

	// Of a command that is called as a function; else nil:

	warn func(sentence string) // gets what would be warned of on standard error
	take func(result any)      // gets the result in place of standard output

	noted sync.Map // causes of what noteOnce has printed

	filesLock sync.Mutex
	files     []io.Closer // to close at the end of the command

	statusLock   sync.Mutex
	status       *status // nil until there is something to show
	statusClosed bool
}

// Run executes the command line args (without the program's name) and returns
// the process's exit code: 0 done, 1 it failed, 2 the input or the flags are
// wrong. Cancelling ctx makes a command stop cleanly, leaving no half-written
// file.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return execute(ctx, args, stdin, stdout, stderr, new(sync.Mutex))
}

// execute is Run for a process that may be ended meanwhile: whoever locks last, and keeps
// the lock, alone prints the final message and sets the exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, last sync.Locker) int {
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
	last.Lock()
	if err == nil {
		return exitDone
	}
	if has[*method.OptionError](err) { // of the flag of that name
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

// guarded runs the command and then closes its files and status line. A memory fault caused by a truncated cache file is returned as
// an error. If the cause of an error is that a file changed while in use, that cause alone
// is returned.
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

// Root returns the command and its children, to be described: for pages of the manual.
func Root() *cobra.Command {
	return newRoot(&environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard})
}

func newRoot(env *environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "listwise",
		Short: "Learn, evaluate and compare ranking functions",
		Long: `Listwise is a learning-to-rank system. It trains ranking functions on judged queries,
evaluates and compares them, and scores new documents.

Start with "listwise demo": it trains and compares rankers on synthetic data.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return env.checkFormat(cmd, []string{"text", "json", "csv"}, "text, json or csv")
		},
	}
	root.SetIn(env.stdin)
	root.SetOut(env.stdout) // before the command completion is added, which keeps it
	root.SetErr(env.stderr)
	root.PersistentFlags().StringVar(&env.format, "format", "text", "output `format`: text, json or csv")
	root.PersistentFlags().BoolVarP(&env.quiet, "quiet", "q", false, "print results only: no progress, no notes")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usage)
	root.SetVersionTemplate(versionLine())
	root.SetHelpCommand(newHelpCommand())
	root.CompletionOptions.HiddenDefaultCmd = true
	cobra.EnableCommandSorting = false // commands stand in the order of commands.go
	root.AddCommand(commands(env)...)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

// checkFormat checks the flags that all commands have: the format, listed in words, and
// names of files.
func (env *environment) checkFormat(cmd *cobra.Command, formats []string, list string) error {
	if !slices.Contains(formats, env.format) {
		return usageErrorf("--format %q%s", env.format, suggest.Or(env.format, formats, ": expected "+list))
	}
	return emptyPath(cmd)
}

// usageError marks an error as the caller's: wrong flags or wrong input.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// usageErrorf makes an error that exits with code 2.
func usageErrorf(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// exitCode returns 2 if err is a wrong call, such as a file that cannot be found or is not
// of the expected kind, and 1 for any other failure.
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

// emptyPath returns an error if a flag that names a file or a folder was given
// nothing, as by a script's variable that is not set, unless that means something.
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

// noArgs is cobra.NoArgs with an error that quotes the arguments found.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageErrorf("%s: found the argument %q, expected flags only (see %q)", cmd.CommandPath(), args[0], cmd.CommandPath()+" --help")
}

// required returns an error that names the missing ones of the given flags.
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

// needs is the error about what a command line lacks.
func needs(cmd *cobra.Command, what string) error {
	return usageErrorf("%s needs %s (see %q)", cmd.CommandPath(), what, cmd.CommandPath()+" --help")
}

// note prints one line on standard error, unless --quiet. Warnings begin with "warning: ".
func (env *environment) note(format string, args ...any) {
	line := message(fmt.Sprintf(format, args...))
	if warning, ok := strings.CutPrefix(line, "warning: "); ok && env.warn != nil {
		env.warn(warning)
	}
	if !env.quiet {
		env.noteLine(line)
	}
}

// noteOnce is note for a sentence that begins with the name of a file; of sentences that
// differ in nothing else the first is printed.
func (env *environment) noteOnce(sentence string) {
	if _, again := env.noted.LoadOrStore(causeOf(sentence), true); !again {
		env.note("note: %s", sentence)
	}
}
