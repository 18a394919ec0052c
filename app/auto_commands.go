package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/tune/auto"
)

// autoCommands are the commands that make what auto made.
type autoCommands struct {
	*retraining
	flags  *autoFlags
	result *auto.Result
	text   strings.Builder

	folders []string // that models are written to
}

// into remembers the folder of a file.
func (c *autoCommands) into(path string) {
	if dir := filepath.Dir(path); !slices.Contains(c.folders, dir) {
		c.folders = append(c.folders, dir)
	}
}

// commands returns the content of commands.sh.
func (f *autoFlags) commands(r *auto.Result) (string, error) {
	how, err := newRetraining(f.cmd, &f.source, f.transform, r.Tune.Convention)
	if err != nil {
		return "", err
	}
	c := autoCommands{retraining: how, flags: f, result: r}
	c.comment("%d of %d trials were done. All that is in the folder comes of\n%s", r.Trials, r.Of, commandLine(c.all()...))
	header := c.text.String()
	c.text.Reset()
	fmt.Fprintln(&c.text)
	c.comment("The model, of all data:")
	c.fusion(&r.Final, material{c.whole(), []*dataset.Dataset{r.Whole}}, 0, filepath.Join(f.out, modelName))
	for k := range r.Folds {
		if len(r.Folds) > 1 && r.Folds[k].Model != nil {
			fmt.Fprintln(&c.text)
			c.comment("%s, whose test data it has not seen:", r.Folds[k].Name)
			fold := &r.Tune.Folds[k]
			from := material{[]string{c.files[k].Train, c.files[k].Valid}, []*dataset.Dataset{fold.Train, fold.Valid}}
			c.fusion(&r.Folds[k], from, k, f.foldModel(autoSystem, r.Folds[k].Name))
		}
	}
	return header + shellLine(append([]string{"mkdir", "-p"}, operands(c.folders)...)...) + "\n" + c.text.String(), nil
}

// comment adds a comment. Names in it may hold line feeds, which must not end it.
func (c *autoCommands) comment(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Fprintf(&c.text, "# %s\n", strings.ReplaceAll(text, "\n", "\n# "))
}

// all returns the auto command itself, with the number of trials in place of a time.
func (c *autoCommands) all() []string {
	f := c.flags
	args := []string{"auto"}
	f.cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "trials", "without", "budget", "out", "format", "quiet", "jobs", "no-record":
		case "transform":
			for _, t := range f.transform {
				args = append(args, "--transform", t)
			}
		default:
			args = append(args, "--"+flag.Name, flag.Value.String())
		}
	})
	args = append(args, "--trials", strconv.Itoa(c.result.Trials))
	if c.result.Without != nil {
		args = append(args, "--without", strings.Join(mapped(c.result.Without, func(i int) string { return strconv.Itoa(i + 1) }), ","))
	}
	return append(args, "--out", f.out)
}

// fusion writes the commands of the members and of their fusion; fold is that of trials whose models are in it.
func (c *autoCommands) fusion(of *auto.Fused, from material, fold int, model string) {
	var members []string
	for i := range of.Members {
		m := &of.Members[i]
		for j := range m.Learned {
			path := c.flags.memberFile(of, i, j)
			if len(of.Members) == 1 && len(m.Learned) == 1 {
				path = model
			}
			members = append(members, path)
			c.into(path)
			fmt.Fprintln(&c.text, commandLine(c.member(m, &m.Learned[j], from, fold, path)...))
		}
	}
	c.into(model)
	if len(members) > 1 {
		args := append([]string{"fuse", "--data", from.files[0]}, c.shared(newFuseCommand(new(environment)), "missing")...)
		args = append(args, "--rule", auto.Rule().Kind.String(), "--scale", auto.Rule().Scale.String(), "--weights", "equal", "--model", model)
		fmt.Fprintln(&c.text, commandLine(append(args, operands(members)...)...))
	}
}

// member returns the command that trains a model of a member anew.
func (c *autoCommands) member(m *auto.Member, l *auto.Learned, from material, fold int, path string) []string {
	own := []string{"--scorer", m.Entry.Own.Scorer, "--views", m.Entry.Own.Views.String()}
	if l.Tried {
		f := c.files[fold]
		own = append(own, "--valid", f.Valid, "--select", c.result.Tune.Select.Name())
		from = material{[]string{f.Train}, []*dataset.Dataset{c.result.Tune.Folds[fold].Train}}
	}
	if l.Part > 0 {
		own = append(own, "--hold-out", fmt.Sprintf("%d/%d", l.Part, l.Parts), "--select", c.result.Tune.Select.Name())
		if base := c.result.Tune.Seed; m.Entry.Own.Seed != base {
			own = append(own, "--hold-out-seed", strconv.FormatUint(base, 10))
		}
	}
	return c.train(m.Entry.Method, own, l.Setting.(method.Values), m.Entry.Own.Seed, from, path)
}
