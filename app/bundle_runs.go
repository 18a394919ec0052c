package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/runs"
)

// bundleRun is a run in a bundle: one recorded command, or one folder of a Go program.
type bundleRun struct {
	Name string `json:"name"` // its folder in runs
	Kind string `json:"kind"` // tune, auto, train or program

	// Commands has the command. For train, eval of the model follows. For a program, it has the
	// arguments alone.
	Commands [][]string `json:"commands"`

	Data []string `json:"data"`           // names of the data that the commands read, the test data first if they are a file
	Seed *uint64  `json:"seed,omitempty"` // nil with several seeds

	// Budget is the time limit of the command, whose results depend on the machine. It is empty if
	// there is none. check.sh does not repeat such a command.
	Budget string `json:"time_budget,omitempty"`

	// Code is the program that trained. It is nil if it is unknown, as for a Go program.
	Code *runs.Code `json:"code,omitempty"`

	Evaluation   bundleEvaluation    `json:"evaluation"`
	Fingerprints []bundleFingerprint `json:"fingerprints"` // of the data as they were read
	Systems      []bundleSystem      `json:"systems"`

	trained int64 // number of the run of train
}

// bundleEvaluation says how the values of queries were computed.
type bundleEvaluation struct {
	Convention string  `json:"convention"`
	Threshold  float64 `json:"threshold"`
	Ties       string  `json:"ties"`
}

type bundleFingerprint struct {
	Role        string `json:"role"` // such as "Fold1 train"
	Fingerprint string `json:"fingerprint"`
	Queries     int    `json:"queries"`
	Documents   int    `json:"documents"`
}

type bundleSystem struct {
	Name   string       `json:"name"`
	Folder string       `json:"folder"` // in the bundle
	Folds  []bundleFold `json:"folds"`  // with several seeds, those of each seed in turn
}

type bundleFold struct {
	Fold       string         `json:"fold"`                 // name of the test data for train
	Seed       *uint64        `json:"seed,omitempty"`       // of tune --seeds
	Settings   map[string]any `json:"settings,omitempty"`   // chosen
	Validation *float64       `json:"validation,omitempty"` // value that chose them
	Values     string         `json:"values"`               // file in the bundle
	Result     string         `json:"result"`               // the same file in the results folder of the command
	Others     []bundleCopy   `json:"others,omitempty"`     // learning curve, model and scores
}

// bundleCopy is a file in the bundle and the same file in the results folder of the command.
type bundleCopy struct {
	File   string `json:"file"`
	Result string `json:"result"`
}

// check returns an error if the tables cannot be computed from the manifest.
func (m *bundleJSON) check() error {
	if len(m.Runs) == 0 {
		return errors.New("found no runs, expected at least one")
	}
	for _, r := range m.Runs {
		if r == nil || len(r.Data) == 0 || len(r.Systems) == 0 {
			return errors.New("found a run without data or systems, expected both")
		}
		for _, s := range r.Systems {
			if len(s.Folds) == 0 {
				return fmt.Errorf("found no folds of %s, expected at least one", s.Name)
			}
		}
	}
	return nil
}

// bundleRecords are the recorded runs of this folder, the newest first.
type bundleRecords struct{ list []runs.Run }

// recorded returns the recorded runs. There are none without a record.
func (b *bundle) recorded() ([]runs.Run, error) {
	if b.records != nil {
		return b.records.list, nil
	}
	b.records = new(bundleRecords)
	if !exists(runs.Path(".")) {
		return nil, nil
	}
	err := withRuns(func(s *runs.Store) (err error) {
		b.records.list, err = s.List(runs.Filter{})
		return err
	})
	return b.records.list, err
}

// addRuns adds the runs of an argument: a folder of results, a model, or the number of a recorded run.
func (b *bundle) addRuns(ctx context.Context, arg string) error {
	if _, err := strconv.ParseUint(arg, 10, 63); err == nil && !exists(arg) {
		return b.addNumber(ctx, arg)
	}
	switch {
	case isFolder(arg):
		return b.addFolder(ctx, arg)
	case contentOf(arg) == aModel:
		return b.addModel(ctx, arg)
	}
	return usageErrorf("%s: expected a folder of results of tune or auto, a model of train, or the number of a recorded run", arg)
}

// addNumber adds a recorded run.
func (b *bundle) addNumber(ctx context.Context, number string) error {
	list, err := runsNamed([]string{number})
	if err != nil {
		return err
	}
	r := list[0]
	if len(r.Command) == 0 {
		return usageErrorf("run %s: found a run of a Go program, expected one of a command; tune.Run writes a folder, which --source and --data accompany", number)
	}
	if r.Status == runs.Finished {
		switch r.Kind {
		case runs.Tune, runs.Auto:
			i := slices.IndexFunc(r.Files, func(file string) bool { return filepath.Base(file) == resultsName })
			if i < 0 {
				break // the folder of results is unknown
			}
			var names []string
			for k := range r.Results {
				if r.Results[k].Fold == "" {
					names = append(names, r.Results[k].Ranker)
				}
			}
			return b.addRecorded(ctx, filepath.Dir(r.Files[i]), r, names)
		case runs.Train:
			return b.addModel(ctx, r.Files[0])
		case runs.Eval:
			return b.addEval(ctx, r)
		case runs.Ablate:
		}
	}
	return usageErrorf("run %s: found a run of %s that is %s, expected a finished run of tune, auto, train or eval", number, r.Kind, r.Status)
}

// resultsName is the file of tune and auto that has the results of all systems.
const resultsName = "results.json"

// valuesEnding is the ending of files with the values of a fold's queries.
const valuesEnding = ".queries.csv"

// systemsOf returns the systems in a folder of results: the folders with values of queries.
func systemsOf(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, usageErrorf("%w", err)
	}
	var names []string
	for _, e := range list {
		if slices.ContainsFunc(runsIn(filepath.Join(dir, e.Name())), func(r run) bool { return len(foldsIn(r.path)) > 0 }) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// foldsIn returns the folds whose values are in a folder of a system.
func foldsIn(dir string) []string {
	list, _ := os.ReadDir(dir) // a file has no folds
	var folds []string
	for _, e := range list {
		if fold, ok := strings.CutSuffix(e.Name(), valuesEnding); ok {
			folds = append(folds, fold)
		}
	}
	return folds
}

// resultsIn returns the folder that has a folder for each system: that of tune, or folds in that of auto.
func resultsIn(dir string, kind runs.Kind) string {
	if kind == runs.Auto {
		return filepath.Join(dir, foldsName)
	}
	return dir
}

// addFolder adds the runs that wrote a folder of results.
func (b *bundle) addFolder(ctx context.Context, dir string) error {
	means := meansIn(filepath.Join(dir, resultsName))
	kind := runs.Tune
	if _, searched := means[autoSystem]; searched && isFolder(resultsIn(dir, runs.Auto)) {
		kind = runs.Auto
	}
	names, err := systemsOf(resultsIn(dir, kind))
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(means)) {
		if names != nil && !slices.Contains(names, name) {
			return usageErrorf("%s: found no values of %s, expected those of all systems in %s", dir, name, resultsName)
		}
	}
	if names == nil {
		return usageErrorf("%s: found no folders with Foldk%s, expected the results of tune, or of auto with test data", dir, valuesEnding)
	}
	list, err := b.recorded()
	if err != nil {
		return err
	}
	var order []int64
	wrote := make(map[int64][]string)
	for _, name := range names {
		id := writerOf(list, filepath.Join(resultsIn(dir, kind), name))
		if _, known := wrote[id]; !known {
			order = append(order, id)
		}
		wrote[id] = append(wrote[id], name)
	}
	for _, id := range order {
		if id == 0 {
			if b.source == nil || exists(filepath.Join(dir, resultsName)) {
				return usageErrorf("%s: found no recorded run of this folder that wrote %s (see \"listwise runs list\"), expected one; results of a Go program need --source and --data", dir, strings.Join(wrote[id], ", "))
			}
			err = b.addProgram(dir, wrote[id])
		} else {
			var found []*runs.Run
			if found, err = runsNamed([]string{strconv.FormatInt(id, 10)}); err == nil {
				err = b.addRecorded(ctx, dir, found[0], wrote[id])
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writerOf returns the number of the newest finished run of tune or auto that wrote values to the folder of
// a system. It returns 0 if there is none.
func writerOf(list []runs.Run, dir string) int64 {
	at, name := placeOf(dir), filepath.Base(dir)
	for i := range list {
		kind := list[i].Kind
		command := slices.Contains(list[i].Command, string(kind)) // not a program that calls tune.Run
		if list[i].Status == runs.Finished && command && (kind == runs.Tune || kind == runs.Auto) && slices.ContainsFunc(list[i].Files, func(file string) bool {
			folder := methodFolder(file)
			return strings.HasSuffix(file, valuesEnding) && filepath.Base(folder) == name && placeOf(folder).is(at)
		}) {
			return list[i].ID
		}
	}
	return 0
}

// absolute returns the absolute form of a path, or the path itself if there is none.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// addRecorded adds the systems of a recorded run of tune or auto. It returns an error if the files or the
// data differ from the record.
func (b *bundle) addRecorded(ctx context.Context, dir string, r *runs.Run, names []string) error {
	at := fmt.Sprintf("%s, run %d", dir, r.ID)
	if slices.Contains(b.added, r.ID) {
		return usageErrorf("%s: found the run twice, expected each once", at)
	}
	b.added = append(b.added, r.ID)
	env := silent()
	if err := env.guarded(func() error { return b.addChecked(ctx, env, dir, r, names) }); err != nil {
		return usageErrorf("%s: %w", at, err)
	}
	return nil
}

func (b *bundle) addChecked(ctx context.Context, env *environment, dir string, r *runs.Run, names []string) error {
	if r.Kind == runs.Auto && r.Config["budget"] != nil {
		return errBudget(r, dir)
	}
	if !slices.ContainsFunc(r.Data, func(d runs.Data) bool { return strings.HasSuffix(d.Role, testRole) }) {
		return errNoTests
	}
	o, err := reopen(ctx, env, r)
	if err != nil {
		return err
	}
	run := b.newRun(filepath.Base(absolute(dir)), r)
	run.Evaluation = bundleEvaluation{configText(r.Config["convention"]), configNumber(r.Config["threshold"]), configText(r.Config["ties"])}
	if limit := configText(r.Config["budget"]); r.Kind == runs.Tune {
		if budget, err := parseBudget(limit); err == nil && budget.Time > 0 {
			run.Budget = limit
		}
	}
	command, err := b.portable(run, o, map[string]string{"out": "runs/" + run.Name})
	if err != nil {
		return err
	}
	run.Commands = [][]string{command}
	if err := checkMeans(dir, r, names); err != nil {
		return err
	}
	b.manifest.Runs = append(b.manifest.Runs, run)
	for _, name := range names {
		folds := foldsOf(r, name)
		for i := range folds {
			f := &folds[i]
			base := filepath.Join(resultsIn(dir, r.Kind), f.in(name))
			text, err := os.ReadFile(base + valuesEnding)
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s is missing, expected it as recorded for %s", base+valuesEnding, f.Fold)
			} else if err != nil {
				return err
			}
			if err := checkValues(base+valuesEnding, text, f.recorded); err != nil {
				return err
			}
			if b.models {
				if err := checkModel(base, o.testOf(f.Fold), run.Evaluation); err != nil {
					return err
				}
			}
		}
		below, err := filepath.Rel(dir, resultsIn(dir, r.Kind))
		if err != nil {
			return err
		}
		if err := b.addSystem(run, dir, below, name, mapped(folds, func(f recordedFold) bundleFold { return f.bundleFold })); err != nil {
			return err
		}
	}
	return nil
}

// testRole ends the roles of test data.
const testRole = "test"

// newRun returns a run of the bundle for a recorded run.
func (b *bundle) newRun(name string, r *runs.Run) *bundleRun {
	run := &bundleRun{Name: unusedName(name, b.hasRun), Kind: string(r.Kind), Seed: r.Seed, Code: &r.Code}
	run.addFingerprints(r.Data)
	return run
}

func (r *bundleRun) addFingerprints(data []runs.Data) {
	for _, d := range data {
		r.Fingerprints = append(r.Fingerprints, bundleFingerprint{d.Role, d.Fingerprint, d.Queries, d.Documents})
	}
}

// recordedFold is a fold of a system with its recorded values.
type recordedFold struct {
	bundleFold

	recorded *runs.RankerResult
}

// foldsOf returns the recorded folds of a system. With tune --seeds, these are the folds of each seed.
func foldsOf(r *runs.Run, name string) (folds []recordedFold) {
	for i := range r.Results {
		result := &r.Results[i]
		f := recordedFold{bundleFold{Fold: result.Fold, Settings: result.Settings}, result}
		text, seeded := strings.CutPrefix(result.Ranker, name+"/"+seedFolder)
		if seeded {
			seed, err := strconv.ParseUint(text, 10, 64)
			if seeded = err == nil; seeded {
				f.Seed = &seed
			}
		}
		if result.Fold == "" || seeded != (r.Seed == nil) || !seeded && result.Ranker != name {
			continue // a mean over folds or seeds, or another system
		}
		if v := float64(result.Validation); v == v {
			f.Validation = &v
		}
		folds = append(folds, f)
	}
	return folds
}

// in returns the path of the files of a fold, without their endings, in the folder of results. system is the
// folder of the system.
func (f *bundleFold) in(system string) string {
	if f.Seed != nil {
		system = inSeedFolder(system, *f.Seed)
	}
	return filepath.Join(system, f.Fold)
}

func (b *bundle) hasRun(name string) bool {
	return slices.ContainsFunc(b.manifest.Runs, func(r *bundleRun) bool { return strings.EqualFold(r.Name, name) })
}

// configText returns a setting of the record that is a text.
func configText(v any) string {
	s, _ := v.(string)
	return s
}

// configNumber returns a setting of the record that is a number.
func configNumber(v any) float64 {
	x, _ := v.(float64)
	return x
}

// meansIn returns the means of the systems in a results.json of tune or auto. There are none in other
// files.
func meansIn(path string) map[string]map[string]tuneMeasureJSON {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var summary struct {
		Methods []tuneMethodJSON
		Systems []autoSystemJSON
	}
	if json.Unmarshal(text, &summary) != nil {
		return nil
	}
	means := make(map[string]map[string]tuneMeasureJSON)
	for _, m := range summary.Methods {
		means[m.Method] = m.Measures
	}
	for _, s := range summary.Systems {
		means[s.System] = s.Measures
	}
	return means
}

// checkMeans returns an error if results.json has other means than the record.
func checkMeans(dir string, r *runs.Run, names []string) error {
	path := filepath.Join(dir, resultsName)
	means := meansIn(path)
	for _, name := range names {
		k := slices.IndexFunc(r.Results, func(x runs.RankerResult) bool { return x.Ranker == name && x.Fold == "" })
		if means[name] == nil || k < 0 {
			return fmt.Errorf("%s: found no results of %s, expected those of the run", path, name)
		}
		for _, m := range r.Results[k].Measures {
			found, ok := means[name][m.Name]
			if !ok || found.Mean != number(m.Mean) {
				return fmt.Errorf("%s, %s: found the mean %v of %s, expected %v as recorded", path, name, found.Mean, m.Name, number(m.Mean))
			}
		}
	}
	return nil
}

// checkValues returns an error if the text of a file has other values of queries than the record.
func checkValues(path string, text []byte, recorded *runs.RankerResult) error {
	v, err := readValues(path, text)
	if err != nil {
		return err
	}
	names := mapped(recorded.Measures, func(m runs.Measure) string { return m.Name })
	if !slices.Equal(columnNames(v), names) {
		return fmt.Errorf("%s: found the measures %s, expected %s as recorded", path, strings.Join(columnNames(v), ", "), strings.Join(names, ", "))
	}
	queries := v.Queries()
	for _, m := range recorded.Measures {
		if len(m.PerQuery) != len(queries) {
			return fmt.Errorf("%s: found %d queries, expected %d as recorded", path, len(queries), len(m.PerQuery))
		}
		values := v.PerQuery(measure.Column(m.Name))
		for q, want := range m.PerQuery {
			if found := values[q]; queries[q] != want.Query || math.Float64bits(found) != math.Float64bits(float64(want.Value)) && (found == found || !math.IsNaN(float64(want.Value))) {
				return fmt.Errorf("%s: found %v for %s of query %s, expected %v for query %s as recorded", path, number(found), m.Name, queries[q], number(want.Value), want.Query)
			}
		}
	}
	return nil
}

// checkModel returns an error if the model of a fold does not give the scores, or if the scores do
// not give the values of the queries. base is the path of the files without their endings.
func checkModel(base string, test *dataset.Dataset, e bundleEvaluation) error {
	v, scores, err := readFold(base, test)
	if err != nil {
		return err
	}
	convention, err := measure.ParseConvention(e.Convention)
	if err != nil {
		return err
	}
	ties, err := measure.ParseTies(e.Ties)
	if err != nil {
		return err
	}
	if err := agrees(base+valuesEnding, v, test, scores, convention.WithThreshold(e.Threshold), ties); err != nil {
		return err
	}
	m, err := model.Load(base + ".model.json")
	if err != nil {
		return err
	}
	given, err := m.Score(test)
	if err == nil && !slices.Equal(given, scores) {
		err = errors.New("found a model that does not give the scores beside it")
	}
	if err != nil {
		return fmt.Errorf("%s.model.json: %w", base, err)
	}
	return nil
}

// addSystem adds the files of a system, which are in the folder below of a run's folder dir. The values of
// folds are already checked.
func (b *bundle) addSystem(run *bundleRun, dir, below, name string, folds []bundleFold) error {
	own := filepath.Join(dir, below)
	for _, r := range runsIn(filepath.Join(own, name)) {
		for _, fold := range foldsIn(r.path) {
			base := filepath.Join(r.path, fold)
			if !slices.ContainsFunc(folds, func(f bundleFold) bool { return filepath.Join(own, f.in(name)) == base }) {
				return fmt.Errorf("%s: found the values of fold %s, expected none, as the run has no such fold", base+valuesEnding, fold)
			}
		}
	}
	system := b.newSystem(run, name)
	endings := []string{".curve"}
	if b.models {
		endings = append(endings, ".model.json", ".scores")
	}
	for i := range folds {
		f := &folds[i]
		inBundle := bundleFold{Fold: safeName(f.Fold), Seed: f.Seed}
		base := unusedPath(filepath.ToSlash(inBundle.in(system)), func(path string) bool { return b.files[path+valuesEnding] != nil })
		result := filepath.ToSlash(filepath.Join(below, f.in(name)))
		f.Values, f.Result = base+valuesEnding, result+valuesEnding
		if err := b.addFile(f.Values, filepath.Join(own, f.in(name))+valuesEnding); err != nil {
			return err
		}
		for _, ending := range endings {
			from := filepath.Join(own, f.in(name)) + ending
			if ending == ".curve" && !exists(from) {
				continue
			}
			if err := b.addFile(base+ending, from); err != nil {
				return err
			}
			f.Others = append(f.Others, bundleCopy{base + ending, result + ending})
		}
	}
	run.Systems = append(run.Systems, bundleSystem{name, system, folds})
	return nil
}

// newSystem returns the folder in the bundle of a new system of a run.
func (b *bundle) newSystem(run *bundleRun, name string) string {
	return unusedPath("runs/"+run.Name+"/"+safeName(name), func(path string) bool {
		return slices.ContainsFunc(run.Systems, func(s bundleSystem) bool { return strings.EqualFold(s.Folder, path) })
	})
}

// bundleData is a file or folder of data, without its content.
type bundleData struct {
	Name  string       `json:"name"`
	Files []bundleFile `json:"files"`
}

// openedData is where the data of a bundle are on this machine.
type openedData struct{ path string }

// addData adds the fingerprints of data and returns their name in the bundle.
func (b *bundle) addData(path string) (string, error) {
	at := absolute(path)
	for i, d := range b.data {
		if d.path == at {
			return b.manifest.Data[i].Name, nil
		}
	}
	stem, ending := filepath.Base(at), "" // the ending names the format
	if !isFolder(path) {
		stem, ending = nameOfData(at), strings.TrimPrefix(stem, nameOfData(at))
	}
	d := bundleData{Name: unusedName(stem, func(stem string) bool {
		return slices.ContainsFunc(b.manifest.Data, func(d bundleData) bool { return strings.EqualFold(d.Name, stem+safeEnding(ending)) })
	}) + safeEnding(ending)}
	files, err := filesOfData(path)
	if err != nil {
		return "", err
	}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(path, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		if strings.ContainsAny(name, "\n\r\\") {
			return "", fmt.Errorf("%s: found the file name %q, expected one without backslashes and ends of lines", path, name)
		}
		d.Files = append(d.Files, bundleFile{name, sha256Of(text), len(text)})
	}
	b.data = append(b.data, openedData{at})
	b.manifest.Data = append(b.manifest.Data, d)
	return d.Name, nil
}

// safeEnding returns the ending of a file, without characters that need quotes.
func safeEnding(ending string) string { return strings.TrimPrefix(safeName("x"+ending), "x") }

// filesOfData returns the files of a path of data. For a folder, these are the files that tune
// reads, relative to the folder. For a file, it is ".".
func filesOfData(path string) ([]string, error) {
	if !isFolder(path) {
		if len(filesOfShards(path)) > 0 {
			return nil, fmt.Errorf("%s: found data in shards, expected a file, or a folder with folds", path)
		}
		return []string{"."}, nil
	}
	folds, err := tune.FilesOf(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range folds {
		for _, part := range []string{f.Train, f.Valid, f.Test} {
			files := filesOfShards(part)
			if files == nil && part != "" {
				files = []string{part}
			}
			for _, file := range files {
				name, err := filepath.Rel(path, file)
				if err != nil {
					return nil, err
				}
				if !filepath.IsLocal(name) {
					return nil, fmt.Errorf("%s: found the file %s outside the folder, expected all data in it", path, file)
				}
				if name = filepath.ToSlash(name); !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// modelOf is what a bundle reads from a model file.
type modelOf struct {
	Threshold       float64        `json:"threshold"`
	Hyperparameters map[string]any `json:"hyperparameters"`
	Training        struct {
		Fingerprint string `json:"fingerprint"`
	} `json:"training"`
}

func readModelOf(path string) (*modelOf, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m modelOf
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Training.Fingerprint == "" {
		return nil, fmt.Errorf("%s: found no fingerprint of the training data, expected a model of tune", path)
	}
	return &m, nil
}
