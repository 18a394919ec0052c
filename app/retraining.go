package app

import (
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/tune"
)

// retraining constructs the train command that repeats a training of another command.
type retraining struct {
	cmd        *cobra.Command // the other command
	transform  []string
	source     *source
	files      []tune.Files // of the folds; nil if one file was divided
	convention measure.Convention
}

func newRetraining(cmd *cobra.Command, s *source, transform []string, c measure.Convention) (*retraining, error) {
	r := &retraining{cmd: cmd, transform: transform, source: s, files: []tune.Files{s.files}, convention: c}
	var err error
	switch {
	case s.isFile():
		r.files = nil
	case s.data != "":
		r.files, err = tune.FilesOf(s.data)
	}
	return r, err
}

// whole returns the files whose queries tune.Whole combines.
func (r *retraining) whole() []string {
	if r.files == nil {
		return []string{r.source.data}
	}
	first := r.files[0]
	if len(r.files) > 1 {
		return []string{first.Train, first.Valid, first.Test}
	}
	return []string{first.Train, first.Valid}
}

// material is the training data of a model: the files, and the data sets read from them.
type material struct {
	files []string
	data  []*dataset.Dataset
}

// width returns the flag --min-features with the number of features of all files. Without it, a
// file read alone might have fewer. It returns nil if the data fix the number: they have names, or
// a value in the last feature.
func (m *material) width() []string {
	for _, d := range m.data {
		if d.FeatureNames != nil || d.Features == 0 {
			return nil
		}
		rows := d.Reader()
		for i := range d.Queries {
			for row := range slices.Chunk(rows.At(i), d.Features) {
				if row[d.Features-1] != 0 { // true for NaN, too
					return nil
				}
			}
		}
	}
	return []string{"--min-features", strconv.Itoa(m.data[0].Features)}
}

// train returns the command that trains a method with the setting v. own contains further flags,
// and path is the model file.
func (r *retraining) train(m *method.Method, own []string, v method.Values, seed uint64, from material, path string) []string {
	args := append([]string{"train", "--method", m.Name}, own...)
	for _, word := range settingWords(v) {
		args = append(args, "--set", word)
	}
	args = append(args, r.shared(newTrainCommand(new(environment)))...)
	for _, t := range r.transform {
		args = append(args, "--transform", t)
	}
	args = append(append(args, from.width()...), "--seed", strconv.FormatUint(seed, 10))
	for _, file := range from.files {
		args = append(args, "--train", file)
	}
	return append(args, "--model", path)
}

// settingWords returns the settings that differ from their defaults, each as NAME=VALUE.
func settingWords(v method.Values) (words []string) {
	for _, name := range v.Names() {
		if !v.IsDefault(name) {
			words = append(words, name+"="+v.Text(name))
		}
	}
	return words
}

// ownFlags contains the flags whose values are not copied to the new command.
var ownFlags = map[string]bool{
	"seed": true, "transform": true, "threshold": true, "data": true, "train": true, "valid": true, "test": true, "select": true, "measures": true, "ties": true,
	"format": true, "quiet": true, "method": true, "scorer": true, "refit": true, "model": true, "out": true, "no-record": true, "by": true, "max-grade": true,
	"set": true, "seeds": true, "baseline": true,
}

// given returns the given flags that both commands have, except ownFlags and but.
func (r *retraining) given(by *cobra.Command, but ...string) (args []string) {
	r.cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains(but, flag.Name) && !ownFlags[flag.Name] && by.Flags().Lookup(flag.Name) != nil {
			args = append(args, "--"+flag.Name, flag.Value.String())
		}
	})
	return args
}

// shared returns the flags of given. If the data determined the threshold of relevance, it adds
// --threshold with its value.
func (r *retraining) shared(by *cobra.Command, but ...string) []string {
	args := r.given(by, but...)
	if own, err := measure.ParseConvention(r.convention.Name()); err != nil || own.Threshold() != r.convention.Threshold() {
		args = append(args, "--threshold", strconv.FormatFloat(r.convention.Threshold(), 'g', -1, 64))
	}
	return args
}
