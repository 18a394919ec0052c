package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	Name    string   `json:"name"` // its folder in runs
	Kind    string   `json:"kind"` // tune or program
	Command []string `json:"command"`
	Data    []string `json:"data"` // names of the data that the command reads
	Seed    *uint64  `json:"seed,omitempty"`

	// Budget is the time limit of the command, whose results depend on the machine. It is empty if
	// there is none. check.sh does not repeat such a command.
	Budget string `json:"time_budget,omitempty"`

	// Code is the program that trained. It is nil if it is unknown, as for a Go program.
	Code *runs.Code `json:"code,omitempty"`

	Evaluation   bundleEvaluation    `json:"evaluation"`
	Fingerprints []bundleFingerprint `json:"fingerprints"` // of the data as they were read
	Systems      []bundleSystem      `json:"systems"`
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
	Name  string       `json:"name"`
	Folds []bundleFold `json:"folds"`
}

type bundleFold struct {
	Fold       string         `json:"fold"`
	Settings   map[string]any `json:"settings,omitempty"`   // chosen
	Validation *float64       `json:"validation,omitempty"` // value that chose them
	Values     string         `json:"values"`               // file in the bundle
	Result     string         `json:"result"`               // the same file in the results folder of the command
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

// recorded returns the recorded runs of tune. There are none without a record.
func (b *bundle) recorded() ([]runs.Run, error) {
	if b.records != nil {
		return b.records.list, nil
	}
	b.records = new(bundleRecords)
	if !exists(runs.Path(".")) {
		return nil, nil
	}
	err := withRuns(func(s *runs.Store) (err error) {
		b.records.list, err = s.List(runs.Filter{Kind: runs.Tune})
		return err
	})
	return b.records.list, err
}

// addRuns adds the runs of an argument: a folder of results, or the number of a recorded run.
func (b *bundle) addRuns(ctx context.Context, arg string) error {
	if _, err := strconv.ParseUint(arg, 10, 63); err == nil && !exists(arg) {
		list, err := runsNamed([]string{arg})
		if err != nil {
			return err
		}
		r := list[0]
		dir := ""
		for _, file := range r.Files {
			if filepath.Base(file) == resultsName {
				dir = filepath.Dir(file)
			}
		}
		if r.Kind != runs.Tune || r.Status != runs.Finished || dir == "" {
			return usageErrorf("run %s: found a run of %s that is %s, expected a finished run of tune", arg, r.Kind, r.Status)
		}
		var names []string
		for i := range r.Results {
			if r.Results[i].Fold == "" {
				names = append(names, r.Results[i].Ranker)
			}
		}
		return b.addRecorded(ctx, dir, r, names)
	}
	if !isFolder(arg) {
		return usageErrorf("%s: expected a folder of results of tune, or the number of a recorded run", arg)
	}
	return b.addFolder(ctx, arg)
}

// resultsName is the file of tune that has the results of all methods.
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
		if len(foldsIn(filepath.Join(dir, e.Name()))) > 0 {
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

// addFolder adds the runs that wrote a folder of results.
func (b *bundle) addFolder(ctx context.Context, dir string) error {
	names, err := systemsOf(dir)
	if err != nil {
		return err
	}
	if text, err := os.ReadFile(filepath.Join(dir, resultsName)); err == nil {
		summary, _ := tuned(text)
		for _, m := range summary.Methods {
			if m.Seeds != nil {
				return usageErrorf("%s: found results of tune --seeds, expected one seed; tune each seed with --seed, in a folder of its own", dir)
			}
			if !slices.Contains(names, m.Method) {
				return usageErrorf("%s: found no values of %s, expected those of all methods in %s", dir, m.Method, resultsName)
			}
		}
	}
	if names == nil {
		return usageErrorf("%s: found no folders with Foldk%s, expected the results of tune", dir, valuesEnding)
	}
	list, err := b.recorded()
	if err != nil {
		return err
	}
	var order []int64
	wrote := make(map[int64][]string)
	for _, name := range names {
		id := writerOf(list, filepath.Join(dir, name))
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

// writerOf returns the number of the newest finished run of tune that wrote values to a folder. It
// returns 0 if there is none.
func writerOf(list []runs.Run, dir string) int64 {
	at := absolute(dir)
	for i := range list {
		command := slices.Contains(list[i].Command, string(runs.Tune)) // not a program that calls tune.Run
		if list[i].Status == runs.Finished && command && slices.ContainsFunc(list[i].Files, func(file string) bool {
			return strings.HasSuffix(file, valuesEnding) && absolute(filepath.Dir(file)) == at
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

// addRecorded adds the systems of a recorded run of tune. It returns an error if the files or the
// data differ from the record.
func (b *bundle) addRecorded(ctx context.Context, dir string, r *runs.Run, names []string) error {
	at := fmt.Sprintf("%s, run %d", dir, r.ID)
	if slices.Contains(b.added, r.ID) {
		return usageErrorf("%s: found the run twice, expected each once", at)
	}
	b.added = append(b.added, r.ID)
	f, folds, data, err := reopen(ctx, r)
	if err != nil {
		return usageErrorf("%s: %w", at, err)
	}
	if err := sameData(r.Data, data); err != nil {
		return usageErrorf("%s: %w", at, err)
	}
	run := &bundleRun{
		Name: unusedName(filepath.Base(absolute(dir)), b.hasRun), Kind: string(runs.Tune), Seed: r.Seed, Code: &r.Code,
		Evaluation: bundleEvaluation{configText(r.Config["convention"]), configNumber(r.Config["threshold"]), configText(r.Config["ties"])},
	}
	tested := false
	for _, d := range r.Data {
		tested = tested || strings.HasSuffix(d.Role, " test")
		run.Fingerprints = append(run.Fingerprints, bundleFingerprint{d.Role, d.Fingerprint, d.Queries, d.Documents})
	}
	if !tested {
		return usageErrorf("%s: found values of the validation data, by which settings were chosen, expected values of test data (see tune --data)", at)
	}
	if budget, err := parseBudget(f.budget); err == nil && budget.Time > 0 {
		run.Budget = f.budget
	}
	if run.Command, err = b.command(run, f, r.Command); err != nil {
		return usageErrorf("%s: %w", at, err)
	}
	if err := checkMeans(dir, r, names); err != nil {
		return usageErrorf("%s: %w", at, err)
	}
	b.manifest.Runs = append(b.manifest.Runs, run)
	for _, name := range names {
		var own []bundleFold
		for i := range r.Results {
			result := &r.Results[i]
			if result.Ranker != name || result.Fold == "" {
				continue
			}
			if err := checkValues(filepath.Join(dir, name, result.Fold+valuesEnding), result); err != nil {
				return usageErrorf("%s: %w", at, err)
			}
			if k := slices.IndexFunc(folds, func(f tune.Fold) bool { return f.Name == result.Fold }); b.models && k >= 0 {
				if err := checkModel(filepath.Join(dir, name, result.Fold), folds[k].Test, run.Evaluation); err != nil {
					return usageErrorf("%s: %w", at, err)
				}
			}
			fold := bundleFold{Fold: result.Fold, Settings: result.Settings}
			if v := float64(result.Validation); v == v {
				fold.Validation = &v
			}
			own = append(own, fold)
		}
		if err := b.addSystem(run, dir, name, own); err != nil {
			return usageErrorf("%s: %w", at, err)
		}
	}
	return nil
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

// reopen parses the command of a recorded run of tune and reads its data again. It returns the
// flags, the folds, and the data as they would be recorded now.
func reopen(ctx context.Context, r *runs.Run) (f *tuneFlags, folds []tune.Fold, data []runs.Data, err error) {
	silent := &environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, quiet: true}
	root := newRoot(silent)
	for _, c := range root.Commands() {
		if c.Name() == string(runs.Tune) {
			root.RemoveCommand(c)
		}
	}
	f = new(tuneFlags)
	root.AddCommand(f.command(silent))
	cmd, rest, err := root.Find(r.Command)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("the recorded command: %w", err)
	}
	f.cmd = cmd
	if f.seeds != "" {
		return nil, nil, nil, fmt.Errorf("found results of --seeds %s, expected one seed; tune each seed with --seed, in a folder of its own", f.seeds)
	}
	err = silent.guarded(func() error {
		configs, _, err := f.open(ctx, silent)
		if err == nil {
			folds, data = configs[0].Folds, f.recorded(&configs[0]).Data
		}
		return err
	})
	return f, folds, data, err
}

// sameData returns an error if data differ from the recorded data of a run.
func sameData(recorded, now []runs.Data) error {
	for i, d := range recorded {
		switch {
		case i >= len(now) || now[i].Role != d.Role:
			return fmt.Errorf("the data have changed since: found no %s, expected it as recorded", d.Role)
		case now[i].Fingerprint != d.Fingerprint:
			return fmt.Errorf("the data have changed since: %s, %s: found fingerprint %s, expected %s as recorded", d.Path, d.Role, now[i].Fingerprint, d.Fingerprint)
		}
	}
	if len(now) > len(recorded) {
		return fmt.Errorf("the data have changed since: found %s, which is not recorded", now[len(recorded)].Role)
	}
	return nil
}

// checkMeans returns an error if results.json has other means than the record.
func checkMeans(dir string, r *runs.Run, names []string) error {
	path := filepath.Join(dir, resultsName)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	summary, ok := tuned(text)
	if !ok {
		return fmt.Errorf("%s: found no results of tune, expected those of the run", path)
	}
	for _, name := range names {
		i := slices.IndexFunc(summary.Methods, func(m tuneMethodJSON) bool { return m.Method == name })
		k := slices.IndexFunc(r.Results, func(x runs.RankerResult) bool { return x.Ranker == name && x.Fold == "" })
		if i < 0 || k < 0 {
			return fmt.Errorf("%s: found no results of %s, expected those of the run", path, name)
		}
		for _, m := range r.Results[k].Measures {
			found, ok := summary.Methods[i].Measures[m.Name]
			if !ok || found.Mean != number(m.Mean) {
				return fmt.Errorf("%s, %s: found the mean %v of %s, expected %v as recorded", path, name, found.Mean, m.Name, number(m.Mean))
			}
		}
	}
	return nil
}

// checkValues returns an error if a file has other values of queries than the record.
func checkValues(path string, recorded *runs.RankerResult) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing, expected it as recorded for %s", path, recorded.Fold)
	} else if err != nil {
		return err
	}
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

// command returns the recorded command with the paths of the bundle: data/NAME for data, and
// runs/NAME for the results. It adds the data to the bundle. Flags that change no number are left
// out.
func (b *bundle) command(run *bundleRun, f *tuneFlags, args []string) ([]string, error) {
	paths := map[string]string{"out": "runs/" + run.Name}
	for flag, path := range map[string]string{"data": f.data, "train": f.files.Train, "valid": f.files.Valid, "test": f.files.Test} {
		paths[flag] = path
	}
	for _, flag := range []string{"data", "train", "valid", "test"} {
		if paths[flag] == "" {
			continue
		}
		name, err := b.addData(paths[flag])
		if err != nil {
			return nil, err
		}
		if !slices.Contains(run.Data, name) {
			run.Data = append(run.Data, name)
		}
		paths[flag] = "data/" + name
	}
	var command []string
	for i := 0; i < len(args); i++ {
		flag, value, given := strings.Cut(args[i], "=")
		name := strings.TrimPrefix(flag, "--")
		known := f.cmd.Flags().Lookup(name)
		if name == flag || known == nil {
			command = append(command, args[i])
			continue
		}
		if !given && known.NoOptDefVal == "" && i+1 < len(args) {
			i++
			value, given = args[i], true
		}
		switch {
		case name == "jobs" || name == "by" || name == "max-memory" || name == "quiet":
		case paths[name] != "":
			command = append(command, flag, paths[name])
		case filepath.IsAbs(value):
			return nil, fmt.Errorf("the command has %s %s, expected no absolute paths but those of data", flag, value)
		case given && known.NoOptDefVal != "":
			command = append(command, flag+"="+value)
		case given:
			command = append(command, flag, value)
		default:
			command = append(command, flag)
		}
	}
	return command, nil
}

// addSystem adds the files of a system. The values of folds are already checked.
func (b *bundle) addSystem(run *bundleRun, dir, name string, folds []bundleFold) error {
	for _, fold := range foldsIn(filepath.Join(dir, name)) {
		if !slices.ContainsFunc(folds, func(f bundleFold) bool { return f.Fold == fold }) {
			return fmt.Errorf("%s: found the values of fold %s, expected none, as the run has no such fold", filepath.Join(dir, name, fold+valuesEnding), fold)
		}
	}
	system := "runs/" + run.Name + "/" + unusedName(name, func(name string) bool {
		return slices.ContainsFunc(run.Systems, func(s bundleSystem) bool {
			return strings.EqualFold(filepath.Base(filepath.Dir(s.Folds[0].Values)), name)
		})
	})
	endings := []string{valuesEnding, ".curve"}
	if b.models {
		endings = append(endings, ".model.json", ".scores")
	}
	for i := range folds {
		base := system + "/" + unusedName(folds[i].Fold, func(name string) bool {
			return b.files[system+"/"+name+valuesEnding] != nil
		})
		folds[i].Values, folds[i].Result = base+valuesEnding, name+"/"+folds[i].Fold+valuesEnding
		for _, ending := range endings {
			from := filepath.Join(dir, name, folds[i].Fold+ending)
			if ending == ".curve" && !exists(from) {
				continue
			}
			if err := b.addFile(base+ending, from); err != nil {
				return err
			}
		}
	}
	run.Systems = append(run.Systems, bundleSystem{name, folds})
	return nil
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
	d := bundleData{Name: unusedName(filepath.Base(at), func(name string) bool {
		return slices.ContainsFunc(b.manifest.Data, func(d bundleData) bool { return strings.EqualFold(d.Name, name) })
	})}
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
