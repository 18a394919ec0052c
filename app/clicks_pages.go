package app

import (
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/dataset/memory"
)

// pagesFlags are the flags of all commands that read pages.
type pagesFlags struct {
	memoryLimit
	duplicates string
	dropAbove  int

	tellsRobots bool // the command itself reports likely robots

	mem *memory.Account // of all pages that the command reads
}

func (f *pagesFlags) add(cmd *cobra.Command) {
	f.addReading(cmd)
	f.addTo(cmd)
}

// addReading adds the flags that say which pages are used.
func (f *pagesFlags) addReading(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.duplicates, "duplicates", "error", "`how` to treat repeated page ids: error or first")
	addWhole(fl, &f.dropAbove, "drop-users-above", 0, 0, "drop users with more than this `number` of pages; 0: none")
}

// account returns the account of the command's memory, for pages and for what is made of them.
func (f *pagesFlags) account() *memory.Account {
	if f.mem == nil {
		f.mem = memory.New("the pages", f.options())
	}
	return f.mem
}

// read calls use for all pages of the files in order, and then prints notes about what was left out. flag
// names the flag with the paths, and is empty for arguments.
func (f *pagesFlags) read(cmd *cobra.Command, env *environment, flag string, paths []string, use func(*click.Page) error) (*click.Tally, error) {
	tally, err := f.readQuietly(cmd, env, flag, paths, f.account(), use)
	if err != nil {
		return nil, err
	}
	f.notes(env, tally)
	if tally.Pages == 0 {
		return nil, usageErrorf("%s: found no pages, expected at least one", strings.Join(mapped(paths, inputName), ", "))
	}
	return tally, nil
}

// readQuietly reads as read does, without notes. mem counts what the reader itself keeps.
func (f *pagesFlags) readQuietly(cmd *cobra.Command, env *environment, flag string, paths []string, mem *memory.Account, use func(*click.Page) error) (*click.Tally, error) {
	if f.duplicates != "error" && f.duplicates != "first" {
		return nil, usageErrorf("--duplicates: found %q, expected error or first", f.duplicates)
	}
	if len(paths) == 0 {
		return nil, needs(cmd, "a file of pages")
	}
	if i := slices.Index(paths, "-"); i >= 0 && slices.Contains(paths[i+1:], "-") {
		return nil, usageErrorf("found - twice, expected standard input once")
	}
	o := click.Options{Stdin: env.stdin, Mem: mem, KeepFirst: f.duplicates == "first", Tally: new(click.Tally)}
	if f.dropAbove > 0 {
		if slices.Contains(paths, "-") {
			return nil, usageErrorf("--drop-users-above reads pages twice, expected files, not standard input")
		}
		if err := f.pass(cmd, env, flag, paths, o, func(*click.Page) error { return nil }); err != nil {
			return nil, err
		}
		users := &o.Tally.Users
		o.Tally = new(click.Tally)
		o.Drop = func(user string) bool { return users.Pages(user) > f.dropAbove }
	}
	if err := f.pass(cmd, env, flag, paths, o, use); err != nil {
		return nil, err
	}
	return o.Tally, nil
}

// readValid reads held-out pages, and warns of those with ids of the log, of which t is the tally, and of its files.
func (f *pagesFlags) readValid(cmd *cobra.Command, env *environment, t *click.Tally, paths, valid []string, use func(*click.Page) error) error {
	same := 0
	_, err := f.read(cmd, env, "valid", valid, func(p *click.Page) error {
		if t.Has(p) {
			same++
		}
		return use(p)
	})
	if same > 0 {
		env.note("warning: --valid: %s also among the pages of the fit, so the measures are too good", counted(same, "page is", "pages are"))
	} else if path := commonFile(paths, valid); path != "" && err == nil {
		env.note("warning: --valid: %s is also a file of the fit, so the measures are too good", path)
	}
	return err
}

// commonFile returns a path of the second list whose file is in the first one, too, "" if there is none.
func commonFile(a, b []string) string {
	for _, path := range b {
		for _, other := range a {
			x, err := os.Stat(path)
			y, err2 := os.Stat(other)
			if err == nil && err2 == nil && os.SameFile(x, y) {
				return path
			}
		}
	}
	return ""
}

// refuse returns an error about the first of the flags that is given.
func refuse(cmd *cobra.Command, why string, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return usageErrorf("--%s %s", name, why)
		}
	}
	return nil
}

// pass reads all files once.
func (f *pagesFlags) pass(cmd *cobra.Command, env *environment, flag string, paths []string, o click.Options, use func(*click.Page) error) error {
	for _, path := range paths {
		bar := env.startProgress("reading "+inputName(path), 0)
		o.Observe = bar.bytes
		err := click.Read(cmd.Context(), path, o, use)
		bar.finish()
		if err != nil {
			return pagesFault(flag, path, hintAtMemory(err))
		}
	}
	return nil
}

// pagesFault returns the error to report for an error of reading pages.
func pagesFault(flag, path string, err error) error {
	if flag != "" {
		flag = "--" + flag + ": "
	}
	switch {
	case isFolder(path):
		return usageErrorf("%s%s is a folder, expected a file of pages", flag, path)
	case has[*fs.PathError](err):
		return usageErrorf("%s%w", flag, err)
	}
	return err
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// notes prints what the reader left out or found odd.
func (f *pagesFlags) notes(env *environment, t *click.Tally) {
	if len(t.Unknown) > 0 {
		env.note("warning: the pages have members that are not known and were ignored: %s", strings.Join(t.Unknown, ", "))
	}
	if t.Incomplete > 0 {
		env.note("note: %s cut off and left out", counted(t.Incomplete, "last page was", "last pages were"))
	}
	if t.Doubtful > 0 {
		env.note("warning: %s cut off: the last row has no line end, or all other pages have more rows", counted(t.Doubtful, "last page of a table may be", "last pages of tables may be"))
	}
	if t.Weightless > 0 {
		env.note("note: %s weight 0 and %s left out", counted(t.Weightless, "page has", "pages have"), was(t.Weightless))
	}
	if t.Copies > 0 {
		env.note("warning: %s the time, user, query and documents of another page; without page ids, all count", counted(t.Copies, "page repeats", "pages repeat"))
	}
	if t.Repeated > 0 {
		env.note("note: %s an id that occurred before and %s left out", counted(t.Repeated, "page has", "pages have"), was(t.Repeated))
	}
	if t.Dropped > 0 {
		env.note("note: %s of users with more than %s %s left out", counted(t.Dropped, "page", "pages"), counted(f.dropAbove, "page", "pages"), was(t.Dropped))
	}
	if t.Users.Len() == 0 && t.Pages > 0 {
		env.noteOnce("the pages have no users, so the page is the unit of intervals")
	} else if t.Anonymous > 0 {
		env.note("note: %s", counted(t.Anonymous, "page has no user and is counted by itself", "pages have no user and are counted by themselves"))
	}
	if robots := t.Users.LikelyRobots(); robots != "" && !f.tellsRobots {
		env.note("note: %s", robots)
	}
}

// wholeCount returns a cell with a sum of weights, a whole number if it is one.
func wholeCount(v float64) any {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return int(v)
	}
	return v
}
