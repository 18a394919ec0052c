package cli

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/listwise/listwise/auto"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/method"
	"github.com/listwise/listwise/tune"
)

// autoCommands are the commands that make what auto made.
type autoCommands struct {
	flags  *autoFlags
	result *auto.Result
	files  []tune.Files // of the folds; nil where one file was divided
	text   strings.Builder
}

// commands returns the content of commands.sh.
func (f *autoFlags) commands(r *auto.Result) (string, error) {
	c := autoCommands{flags: f, result: r, files: []tune.Files{f.files}}
	var err error
	switch {
	case f.isFile():
		c.files = nil
	case f.data != "":
		if c.files, err = tune.FilesOf(f.data); err != nil {
			return "", err
		}
	}
	fmt.Fprintf(&c.text, "# %d of %d trials were done. All that is in the folder comes of\n# %s\n", r.Trials, r.Of, commandLine(c.whole()...))
	fmt.Fprintf(&c.text, "\n# The model, of all data:\n")
	c.fusion(&r.Final, c.wholeFiles(), filepath.Join(f.out, modelName))
	for k := range r.Folds {
		if len(r.Folds) > 1 && r.Folds[k].Model != nil {
			fmt.Fprintf(&c.text, "\n# %s, whose test data it has not seen:\n", r.Folds[k].Name)
			c.fusion(&r.Folds[k], []string{c.files[k].Train, c.files[k].Valid}, f.foldModel(autoSystem, r.Folds[k].Name))
		}
	}
	return c.text.String(), nil
}

// whole returns the auto command itself, with the number of trials in place of a time.
func (c *autoCommands) whole() []string {
	f := c.flags
	args := []string{"auto"}
	f.cmd.Flags().Visit(func(flag *pflag.Flag) {
		switch flag.Name {
		case "trials", "without", "budget", "out", "format", "quiet", "jobs":
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

// wholeFiles are those of the data that the last model learns from, as tune.Whole puts them together.
func (c *autoCommands) wholeFiles() []string {
	if c.files == nil {
		return []string{c.flags.data}
	}
	first := c.files[0]
	if len(c.files) > 1 {
		return []string{first.Train, first.Valid, first.Test}
	}
	return []string{first.Train, first.Valid}
}

// fusion writes the commands of the members and of their fusion.
func (c *autoCommands) fusion(of *auto.Fused, train []string, model string) {
	var members []string
	for i := range of.Members {
		path := c.flags.memberFile(of, i)
		if len(of.Members) == 1 {
			path = model
		}
		members = append(members, path)
		fmt.Fprintln(&c.text, commandLine(c.member(&of.Members[i], train, path)...))
	}
	if len(members) > 1 {
		args := append([]string{"fuse", "--data", train[0]}, c.shared(newFuseCommand(new(environment)), "missing")...)
		args = append(args, "--rule", auto.Rule().Kind.String(), "--scale", auto.Rule().Scale.String(), "--weights", "equal", "--model", model)
		fmt.Fprintln(&c.text, commandLine(append(args, members...)...))
	}
}

// member returns the command that trains a member anew.
func (c *autoCommands) member(m *auto.Member, train []string, path string) []string {
	args := []string{"train", "--method", m.Entry.Method.Name, "--scorer", m.Entry.Own.Scorer, "--views", m.Entry.Own.Views.String()}
	for _, word := range settingWords(m.Setting.(method.Values)) {
		args = append(args, "--set", word)
	}
	args = append(args, c.shared(newTrainCommand(new(environment)))...)
	for _, t := range c.flags.transform {
		args = append(args, "--transform", t)
	}
	args = append(args, "--seed", strconv.FormatUint(m.Entry.Own.Seed, 10))
	for _, file := range train {
		args = append(args, "--train", file)
	}
	return append(args, "--model", path)
}

// settingWords returns the settings that are not their defaults, as NAME=VALUE.
func settingWords(v method.Values) (words []string) {
	for _, name := range v.Names() {
		if !v.IsDefault(name) {
			words = append(words, name+"="+v.Text(name))
		}
	}
	return words
}

// shared returns the flags of how data are read and judged that another command takes as well, as
// they were given, but for some; the threshold in its number where the data decided it.
func (c *autoCommands) shared(other *cobra.Command, but ...string) (args []string) {
	except := map[string]bool{"seed": true, "transform": true, "threshold": true, "data": true, "train": true, "valid": true, "select": true, "measures": true, "ties": true, "format": true, "quiet": true}
	for _, name := range but {
		except[name] = true
	}
	c.flags.cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !except[flag.Name] && other.Flags().Lookup(flag.Name) != nil && flag.Name != "model" && flag.Name != "out" {
			args = append(args, "--"+flag.Name, flag.Value.String())
		}
	})
	convention := c.result.Tune.Convention
	if own, err := measure.ParseConvention(convention.Name()); err != nil || own.Threshold() != convention.Threshold() {
		args = append(args, "--threshold", strconv.FormatFloat(convention.Threshold(), 'g', -1, 64))
	}
	return args
}
