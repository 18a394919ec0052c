package app

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/tune"
)

// repeatedModel is the model file of commands.sh, which each training overwrites.
const repeatedModel = "repeated.json"

// commands returns the commands that train and evaluate every point again, seed by seed and fold by
// fold.
func (f *ablateFlags) commands(a *ablation) (string, error) {
	how, err := newRetraining(f.cmd, &f.source, nil, a.config.Convention)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# These commands train and evaluate every point of %s again.\n", f.out)
	files := how.files
	if files == nil {
		const folds = "folds"
		files = f.filesOfFolds(folds, a.config.Folds)
		args := append([]string{"data", "fold", f.data, "--folds", strconv.Itoa(f.folds), "--seed", strconv.FormatUint(f.seed, 10), "--out", folds},
			how.given(newDataFoldCommand(new(environment)), "folds")...)
		fmt.Fprintln(&b, commandLine(args...))
	}
	evaluation := append([]string{"--measures", f.measures, "--ties", f.ties}, how.shared(newEvalCommand(new(environment)), "folds", "missing")...)
	for i := range a.points {
		p := &a.points[i]
		for _, seed := range a.seeds {
			for k, fold := range a.config.Folds {
				fmt.Fprintf(&b, "\n# %s, %s\n", a.folderOf(p, seed), fold.Name)
				fmt.Fprintln(&b, commandLine(f.training(how, a, p, seed, files[k], &fold)...))
				fmt.Fprintln(&b, commandLine(append([]string{"eval", "--model", repeatedModel, "--data", files[k].Test}, evaluation...)...))
			}
		}
	}
	return b.String(), nil
}

// training returns the command that trains a point with a seed on a fold.
func (f *ablateFlags) training(how *retraining, a *ablation, p *ablated, seed uint64, files tune.Files, fold *tune.Fold) []string {
	own := []string{"--valid", files.Valid, "--select", a.config.Select.Name()}
	if f.scorer != "" {
		own = append(own, "--scorer", f.scorer)
	}
	if p.share < 1 {
		own = append(own, "--sample", strconv.FormatFloat(p.share, 'g', -1, 64), "--sample-seed", strconv.FormatUint(seed, 10))
	}
	how.transform = append(append([]string{}, f.transform...), transform.Texts(p.zeroed)...)
	return how.train(a.method, own, p.values, seed, material{[]string{files.Train}, []*dataset.Dataset{fold.Train}}, repeatedModel)
}

// filesOfFolds returns the files into which "data fold" divides the file --data.
func (f *ablateFlags) filesOfFolds(dir string, folds []tune.Fold) []tune.Files {
	names := datafile.FoldNames(dir, len(folds), f.data)
	const parts = 3
	endings := len(names) / (parts * len(folds)) // of text, of a table, if the file is one, and of weighted data
	ending := endings - 1
	if folds[0].Train.QueryWeights() == nil {
		ending--
	}
	files := make([]tune.Files, len(folds))
	for k := range files {
		at := func(part int) string { return names[(k*parts+part)*endings+ending] }
		files[k] = tune.Files{Train: at(0), Valid: at(1), Test: at(2)}
	}
	return files
}
