package app

import (
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/dataset/memory"
)

// pagesFlags are the flags of all commands that read pages.
type pagesFlags struct {
	memoryLimit
	duplicates   string
	dropAbove    int
	dropAlike    bool
	since, until string

	tellsFaults bool // the command itself reports faults of the log

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
	fl.BoolVar(&f.dropAlike, "drop-alike", false, "drop users whose pages are all alike, likely robots")
	fl.StringVar(&f.since, "since", "", "leave out pages before this `time`, such as 2026-01-31 or 2026-01-31T12:00:00Z")
	fl.StringVar(&f.until, "until", "", "leave out pages at this `time` or later")
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
	if err := f.limit(&o); err != nil {
		return nil, err
	}
	if f.dropAbove > 0 || f.dropAlike {
		if slices.Contains(paths, "-") {
			name := "--drop-users-above"
			if f.dropAlike {
				name = "--drop-alike"
			}
			return nil, usageErrorf("%s reads pages twice, expected files, not standard input", name)
		}
		if err := f.pass(cmd, env, flag, paths, o, func(*click.Page) error { return nil }); err != nil {
			return nil, err
		}
		o.Drop, o.Tally = f.dropped(&o.Tally.Users), new(click.Tally)
	}
	if err := f.pass(cmd, env, flag, paths, o, use); err != nil {
		return nil, err
	}
	return o.Tally, nil
}

// limit sets the times of the pages that are read.
func (f *pagesFlags) limit(o *click.Options) (err error) {
	for _, t := range []struct {
		flag, text string
		to         *time.Time
	}{{"since", f.since, &o.Since}, {"until", f.until, &o.Until}} {
		if t.text == "" {
			continue
		}
		if *t.to, err = time.Parse(time.RFC3339, t.text); err != nil {
			*t.to, err = time.Parse(time.DateOnly, t.text)
		}
		if err != nil {
			return usageErrorf("--%s: found %q, expected a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z", t.flag, t.text)
		}
	}
	if !o.Since.IsZero() && !o.Until.IsZero() && !o.Since.Before(o.Until) {
		return usageErrorf("--since %s --until %s: expected an earlier time first", f.since, f.until)
	}
	return nil
}

// dropped returns a function that reports whether to leave out the pages of a user.
func (f *pagesFlags) dropped(users *click.Users) func(user string) bool {
	alike := func(string) bool { return false }
	if f.dropAlike {
		if a := users.Alike(); a != nil {
			alike = a
		}
	}
	return func(user string) bool { return f.dropAbove > 0 && users.Pages(user) > f.dropAbove || alike(user) }
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
		var whose []string
		if f.dropAbove > 0 {
			whose = append(whose, "with more than "+counted(f.dropAbove, "page", "pages"))
		}
		if f.dropAlike {
			whose = append(whose, "whose pages are all alike")
		}
		env.note("note: %s of users %s %s left out", counted(t.Dropped, "page", "pages"), strings.Join(whose, " or "), was(t.Dropped))
	}
	if t.Outside > 0 {
		env.note("note: %s outside of --since and --until %s left out", counted(t.Outside, "page", "pages"), was(t.Outside))
	}
	if t.Users.Len() == 0 && t.Pages > 0 {
		env.noteOnce("the pages have no users, so the page is the unit of intervals")
	} else if t.Anonymous > 0 {
		env.note("note: %s", counted(t.Anonymous, "page has no user and is counted by itself", "pages have no user and are counted by themselves"))
	}
	if !f.tellsFaults {
		faultNotes(env, t)
	}
}

// faultNotes prints what is wrong with the pages of a log.
func faultNotes(env *environment, t *click.Tally) {
	for _, fault := range t.Faults() {
		env.note("warning: %s", fault.Text)
	}
}

// wholeCount returns a cell with a sum of weights, a whole number if it is one.
func wholeCount(v float64) any {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return int(v)
	}
	return v
}
