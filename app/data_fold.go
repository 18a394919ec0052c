package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
)

type foldFlags struct {
	tables
	memory memoryLimit
	data   []string
	folds  int
	seed   uint64
	parts  bool
	out    string

	division string // text of the flag; "" for the division of LETOR
}

func newDataFoldCommand(env *environment) *cobra.Command {
	var f foldFlags
	cmd := &cobra.Command{
		Use:   "fold (FILE | --parts FILE FILE FILE...) --out DIR",
		Short: "Divide queries into cross-validation folds",
		Long: `Writes DIR/Fold1 to DIR/FoldK, each with train.txt, vali.txt and test.txt (train.csv
and so on from CSV), as "listwise tune" reads them. The queries of FILE are divided at
random into K parts; with --parts, the K files are the parts. Fold 1 trains on parts 1
to K-2, validates on part K-1 and tests on part K. Each further fold moves on by one
part, so that each part is test data once. This is LETOR's rotation: its five parts
give its five folds, byte for byte. With --division 2+2+1, a fold trains on two parts,
validates on two and tests on one, and each further fold moves on by the number of
test parts.

Lines of LETOR text are copied unchanged. The rows of a cache are written as text;
folds of a table are tables of the same kind. Folds of data with weights are caches.`,
		Example: `  listwise data fold all.txt.gz --folds 5 --seed 1 --out folds
  listwise data fold all.txt.gz --division 2+2+1 --out folds
  listwise data fold --parts S1.txt S2.txt S3.txt S4.txt S5.txt --out MQ2008`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.data, "data", nil, "data `file`, like an argument")
	f.addTo(cmd)
	addWhole(fl, &f.folds, "folds", 5, dataset.MinFolds, "`number` of folds, at least 3")
	fl.StringVar(&f.division, "division", "", "`parts` for training, validation and testing, such as 2+2+1")
	fl.Uint64Var(&f.seed, "seed", 1, "random `seed`")
	f.memory.addTo(cmd)
	fl.BoolVar(&f.parts, "parts", false, "the given files are the parts")
	fl.StringVar(&f.out, "out", "", "output `folder`")
	return cmd
}

type foldJSON struct {
	Fold int `json:"fold"`
	datafile.FoldSize
}

func (f *foldFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	files := slices.Concat(f.data, args)
	division, err := f.check(cmd, files)
	if err != nil {
		return err
	}
	opts := f.memory.options()
	opts.Note = env.noteOnce
	if err := f.apply(&opts); err != nil {
		return err
	}
	var sizes []datafile.FoldSize
	stages := stagedProgress{env: env}
	defer stages.finish()
	if f.parts {
		sizes, err = datafile.RotateBy(cmd.Context(), f.out, files, division, opts, stages.setUnit)
	} else {
		sizes, err = datafile.Divide(cmd.Context(), f.out, files[0], division, f.seed, opts, stages.setUnit)
	}
	stages.finish()
	if err != nil {
		return hintAtMemory(err)
	}
	return env.print(foldReport(f.out, sizes))
}

// check returns the division into parts, or an error for invalid arguments.
func (f *foldFlags) check(cmd *cobra.Command, files []string) (division dataset.Division, err error) {
	if err := required(cmd, "out"); err != nil {
		return division, err
	}
	k := f.folds
	if f.parts {
		if cmd.Flags().Changed("folds") || cmd.Flags().Changed("seed") {
			return division, usageErrorf("--folds and --seed are for dividing one file; with --parts each file is a part")
		}
		k = len(files)
	} else if len(files) != 1 {
		return division, usageErrorf("%s: found %d files, expected one, or --parts", cmd.CommandPath(), len(files))
	}
	if division, err = f.divided(cmd, k); err != nil {
		return division, err
	}
	if slices.Contains(files, "-") {
		return division, usageErrorf("%s reads its input more than once: expected a file, not standard input", cmd.CommandPath())
	}
	if err := f.targets(files, division.Folds()).check(); err != nil {
		return division, err
	}
	return division, target{"--out", f.out}.checkFolder()
}

// divided returns the division of --division. Without the flag, it divides into k parts as LETOR
// does.
func (f *foldFlags) divided(cmd *cobra.Command, k int) (division dataset.Division, err error) {
	if f.division == "" {
		if k < dataset.MinFolds {
			return division, usageErrorf("%d folds: expected %d or more, for separate training, validation and test parts", k, dataset.MinFolds)
		}
		return dataset.LETORDivision(k), nil
	}
	if cmd.Flags().Changed("folds") {
		return division, usageErrorf("--folds and --division: expected one of them")
	}
	counts := [3]*int{&division.Train, &division.Vali, &division.Test}
	words := strings.Split(f.division, "+")
	if len(words) != len(counts) {
		return division, usageErrorf("--division: found %q, expected three numbers of parts, as 2+2+1", f.division)
	}
	for i, word := range words {
		if *counts[i], err = strconv.Atoi(word); err != nil || *counts[i] > maxParts {
			return division, usageErrorf("--division: found %q, expected three numbers of parts up to %d, as 2+2+1", f.division, maxParts)
		}
	}
	if err := division.Validate(); err != nil {
		return division, usageErrorf("--%w", err)
	}
	if n := division.Parts(); f.parts && n != k {
		return division, usageErrorf("--division %s: found %d files, expected %d parts", f.division, k, n)
	}
	return division, nil
}

const maxParts = 1_000_000

func foldReport(out string, sizes []datafile.FoldSize) report {
	r := report{
		title:   "wrote " + out,
		written: true,
		columns: []string{"fold", "train queries", "train documents", "vali queries", "vali documents", "test queries", "test documents"},
	}
	folds := make([]foldJSON, len(sizes))
	for i, s := range sizes {
		folds[i] = foldJSON{i + 1, s}
		r.rows = append(r.rows, []any{fmt.Sprintf("Fold%d", i+1),
			s.Train.Queries, s.Train.Documents, s.Vali.Queries, s.Vali.Documents, s.Test.Queries, s.Test.Documents})
	}
	r.json = struct {
		Out   string     `json:"out"`
		Folds []foldJSON `json:"folds"`
	}{out, folds}
	return r
}
