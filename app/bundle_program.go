package app

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/tune"
)

// bundleGo is the Go program of --source.
type bundleGo struct {
	Files    []string `json:"files"`    // in the bundle
	Module   string   `json:"module"`   // path of the program's module
	Listwise string   `json:"listwise"` // required version; "local" if the module is or replaces listwise by a folder
}

// listwiseModule is the path of this module.
const listwiseModule = "github.com/listwise/listwise"

// localVersion is the version of a listwise that is a folder.
const localVersion = "local"

// addSource adds the files of --source, and go.mod and go.sum of their module.
func (b *bundle) addSource() error {
	if b.source == nil {
		if b.bundleFlags.data != nil {
			return usageErrorf("--data %s: found no --source, expected the files of the Go program that read the data", b.bundleFlags.data[0])
		}
		return nil
	}
	g := &bundleGo{}
	for _, file := range b.source {
		if filepath.Ext(file) != ".go" {
			return usageErrorf("--source %s: expected a Go file", file)
		}
		name := "source/" + safeName(filepath.Base(file))
		if err := b.addFile(name, file); err != nil {
			return usageErrorf("--source: %w", err)
		}
		g.Files = append(g.Files, name)
	}
	dir := filepath.Dir(absolute(b.source[0]))
	for !exists(filepath.Join(dir, "go.mod")) {
		above := filepath.Dir(dir)
		if above == dir {
			return usageErrorf("--source %s: found no go.mod in its folder or above, expected the program's module", b.source[0])
		}
		dir = above
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return usageErrorf("--source: %w", err)
	}
	var portable []byte
	g.Module, g.Listwise, portable = parseModule(text)
	b.manifest.Source = g
	if g.Listwise == localVersion {
		return nil // no go.mod elsewhere finds that folder
	}
	b.files["source/go.mod"] = portable
	err = b.addFile("source/go.sum", filepath.Join(dir, "go.sum"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usageErrorf("--source: %w", err)
	}
	return nil
}

// parseModule returns the path of a module, the version of listwise that it requires, and its
// go.mod without replacements by folders, which other machines do not have.
func parseModule(text []byte) (module, version string, portable []byte) {
	version = "unknown"
	local := false
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		words := strings.Fields(line)
		arrow := slices.Index(words, "=>")
		switch {
		case arrow >= 0 && arrow+1 < len(words) && (strings.HasPrefix(words[arrow+1], ".") || filepath.IsAbs(words[arrow+1])):
			local = local || slices.Contains(words[:arrow], listwiseModule)
			continue
		case len(words) > 1 && words[0] == "module":
			module = words[1]
		case arrow < 0:
			if i := slices.Index(words, listwiseModule); i >= 0 && i+1 < len(words) {
				version = words[i+1]
			}
		}
		portable = append(append(portable, line...), '\n')
	}
	if local || module == listwiseModule {
		version = localVersion
	}
	return module, version, portable
}

// programData are the data of a --data, for programs.
type programData struct {
	path  string
	folds []tune.Fold
	used  bool
}

// ofPrograms reads the data of --data.
func (b *bundle) ofPrograms() ([]*programData, error) {
	if b.programs == nil {
		for _, path := range b.bundleFlags.data {
			folds, err := tune.ReadFolds(path, dataset.Options{})
			if err != nil {
				return nil, folderFault(path, err)
			}
			b.programs = append(b.programs, &programData{path: path, folds: folds})
		}
	}
	return b.programs, nil
}

// unused returns an error if no run needs a --data or --source.
func (b *bundle) unused() error {
	if b.source != nil && !slices.ContainsFunc(b.manifest.Runs, func(r *bundleRun) bool { return r.Kind == programKind }) {
		return usageErrorf("--source %s: found no results of a Go program, expected a folder that tune.Run wrote", b.source[0])
	}
	for _, d := range b.programs {
		if !d.used {
			return usageErrorf("--data %s: no results of a Go program are on these data, expected some", d.path)
		}
	}
	return nil
}

// programKind is the kind of runs of Go programs.
const programKind = "program"

// addProgram adds the results that a Go program wrote to a folder by tune.Run.
func (b *bundle) addProgram(dir string, names []string) error {
	d, threshold, err := b.dataOfProgram(dir, names)
	if err != nil {
		return err
	}
	d.used = true
	name, err := b.addData(d.path)
	if err != nil {
		return err
	}
	run := &bundleRun{Name: unusedName(filepath.Base(absolute(dir)), b.hasRun), Kind: programKind, Data: []string{name}}
	run.Commands = [][]string{{"data/" + name, "runs/" + run.Name}}
	for k := range d.folds {
		f := &d.folds[k]
		if !f.Tested() {
			return usageErrorf("--data %s: found no test data, expected them: validation data chose the settings", d.path)
		}
		for _, part := range []struct {
			role string
			data *dataset.Dataset
		}{{"train", f.Train}, {"valid", f.Valid}, {"test", f.Test}} {
			run.Fingerprints = append(run.Fingerprints, bundleFingerprint{f.Name + " " + part.role, part.data.Fingerprint(), len(part.data.Queries), part.data.Docs()})
		}
	}
	if run.Evaluation, err = evaluationOf(dir, names, d.folds, threshold); err != nil {
		return err
	}
	b.manifest.Runs = append(b.manifest.Runs, run)
	for _, system := range names {
		var folds []bundleFold
		for k := range d.folds {
			m, err := readModelOf(filepath.Join(dir, system, d.folds[k].Name+".model.json"))
			if err != nil {
				return usageErrorf("%w", err)
			}
			folds = append(folds, bundleFold{Fold: d.folds[k].Name, Settings: m.Hyperparameters})
		}
		if err := b.addSystem(run, dir, "", system, folds); err != nil {
			return usageErrorf("%w", err)
		}
	}
	return nil
}

// dataOfProgram returns the data of --data on which the models of a folder were trained, and the
// threshold of relevance in the models.
func (b *bundle) dataOfProgram(dir string, names []string) (*programData, float64, error) {
	all, err := b.ofPrograms()
	if err != nil {
		return nil, 0, err
	}
	var problem error
	for _, d := range all {
		var threshold float64
		if threshold, problem = trainedOn(dir, names, d.folds); problem == nil {
			return d, threshold, nil
		}
	}
	if len(all) == 1 {
		return nil, 0, usageErrorf("--data %s: %w", all[0].path, problem)
	}
	return nil, 0, usageErrorf("%s: found none of the data on which its models were trained in %d --data, expected one", dir, len(all))
}

// trainedOn returns an error unless there is a model of each fold that was trained on its data.
func trainedOn(dir string, names []string, folds []tune.Fold) (threshold float64, err error) {
	for _, name := range names {
		for k := range folds {
			path := filepath.Join(dir, name, folds[k].Name+".model.json")
			m, err := readModelOf(path)
			if err != nil {
				return 0, err
			}
			if now := folds[k].Train.Fingerprint(); m.Training.Fingerprint != now {
				return 0, fmt.Errorf("%s: found training data with fingerprint %s, expected %s as in the model %s", folds[k].Name, now, m.Training.Fingerprint, path)
			}
			threshold = m.Threshold
		}
	}
	return threshold, nil
}

// evaluationOf returns the convention and the treatment of ties under which the scores of a folder
// give its values. It returns an error if there is none. Measures of one's own, whose names
// listwise does not know, are not computed.
func evaluationOf(dir string, names []string, folds []tune.Fold, threshold float64) (bundleEvaluation, error) {
	values := make([][]*measure.Result, len(names))
	scores := make([][][]float64, len(names))
	for i, name := range names {
		for k := range folds {
			v, ordered, err := readFold(filepath.Join(dir, name, folds[k].Name), folds[k].Test)
			if err != nil {
				return bundleEvaluation{}, err
			}
			values[i], scores[i] = append(values[i], v), append(scores[i], ordered)
		}
	}
	var first error // under the usual convention
	for _, c := range slices.Insert(measure.Conventions(), 0, measure.Standard) {
		if threshold > 0 {
			c = c.WithThreshold(threshold)
		}
		for _, ties := range measure.TiePolicies() {
			policy, err := measure.ParseTies(ties)
			if err != nil {
				return bundleEvaluation{}, err
			}
			for i, name := range names {
				for k := range folds {
					if err == nil {
						err = agrees(filepath.Join(dir, name, folds[k].Name+valuesEnding), values[i][k], folds[k].Test, scores[i][k], c, policy)
					}
				}
			}
			if err == nil {
				return bundleEvaluation{c.Name(), c.Threshold(), ties}, nil
			}
			if first == nil {
				first = err
			}
		}
	}
	return bundleEvaluation{}, usageErrorf("%w; nor do other conventions give all values", first)
}

// readFold reads the values of a fold's queries, and its test scores in the order of the data set. base
// is the path of the files without their endings.
func readFold(base string, test *dataset.Dataset) (v *measure.Result, scores []float64, err error) {
	text, err := os.ReadFile(base + valuesEnding)
	if err != nil {
		return nil, nil, usageErrorf("%w", err)
	}
	if v, err = readValues(base+valuesEnding, text); err != nil {
		return nil, nil, err
	}
	input, err := datafile.ReadScores(base+".scores", test.Docs(), dataset.Options{})
	if err != nil {
		return nil, nil, usageErrorf("%w", err)
	}
	scores = make([]float64, len(input))
	test.FromInputOrder(scores, input)
	return v, scores, nil
}

// agrees returns an error if scores do not give the values under a convention.
func agrees(path string, v *measure.Result, test *dataset.Dataset, scores []float64, c measure.Convention, ties measure.TiePolicy) error {
	var known []measure.Measure
	for _, name := range columnNames(v) {
		m, err := measure.Parse(name, c, measure.Options{})
		if err == nil && measure.Family(m) != "err" { // the values of err depend on its highest grade
			known = append(known, m)
		}
	}
	r, err := measure.Evaluate(test, scores, known, ties)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if !slices.Equal(r.Queries(), v.Queries()) {
		return fmt.Errorf("%s: found other queries than those of the test data", path)
	}
	for _, m := range known {
		if !slices.Contains(columnNames(v), m.Name()) {
			return fmt.Errorf("%s: found no column %s, expected the measure's usual name", path, m.Name())
		}
		found := v.PerQuery(measure.Column(m.Name()))
		for q, want := range r.PerQuery(m) {
			if found[q] != want && !(math.IsNaN(want) && math.IsNaN(found[q])) {
				return fmt.Errorf("%s: found %v for %s of query %s, but the scores give %v by convention %s, ties %s", path, number(found[q]), m.Name(), v.Queries()[q], number(want), conventionText(c), ties)
			}
		}
	}
	return nil
}
