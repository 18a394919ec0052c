package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/eval/measure"
)

// contestant is a system to evaluate: one model or score file, or several runs of a learner.
type contestant struct {
	name  string
	given bool // the user gave the name
	runs  []run
}

// run is a file or folder of a system, and its result on all queries.
type run struct {
	path   string
	result *measure.Result
	depths []*measure.Result // of --rerank, in the order of its depths
}

// results returns the results of the runs.
func (c *contestant) results() []*measure.Result {
	return mapped(c.runs, func(r run) *measure.Result { return r.result })
}

// seedFolder is the beginning of the name of a folder with the results of one random seed, which
// tune --seeds writes into the folder of each method.
const seedFolder = "seed-"

// seedsIn returns the random seeds of the seed folders in a folder, in ascending order.
func seedsIn(dir string) []uint64 {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // a file, or nothing; whoever opens the path reports the error
	}
	var seeds []uint64
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), seedFolder)
		if seed, err := strconv.ParseUint(text, 10, 64); ok && err == nil && strconv.FormatUint(seed, 10) == text {
			seeds = append(seeds, seed)
		}
	}
	slices.Sort(seeds)
	return seeds
}

// inSeedFolder returns the path of the folder of a random seed in a folder.
func inSeedFolder(dir string, seed uint64) string {
	return filepath.Join(dir, seedFolder+strconv.FormatUint(seed, 10))
}

// runsIn returns the runs of a path: one for each seed folder in it, or the path itself if it has none.
func runsIn(path string) []run {
	seeds := seedsIn(path)
	if len(seeds) == 0 {
		return []run{{path: path}}
	}
	return mapped(seeds, func(seed uint64) run { return run{path: inSeedFolder(path, seed)} })
}

// noneMissing returns an error if the folder of a method of tune --seeds has fewer seeds than the
// results.json beside it.
func noneMissing(path string) error {
	found := seedsIn(path)
	if len(found) == 0 {
		return nil
	}
	path = filepath.Clean(path)
	results := filepath.Join(filepath.Dir(path), resultsName)
	text, err := os.ReadFile(results)
	if err != nil {
		return nil //nolint:nilerr // the folder was copied alone
	}
	summary, _ := tuned(text)
	for _, m := range summary.Methods {
		if m.Method != filepath.Base(path) {
			continue
		}
		for _, s := range m.Seeds {
			if !slices.Contains(found, s.Seed) {
				return usageErrorf("%s: found no folder %s%d, expected the results of seed %[3]d, as %s has them; NAME=A,B,… compares some seeds", path, seedFolder, s.Seed, results)
			}
		}
	}
	return nil
}

// seedMark is the part of a path that stands for a random seed.
const seedMark = "{seed}"

const noFoldTests = "a test over the means of folds is refused: folds share training data, so their means are not independent, " +
	"as a t-test assumes, and a few means do not show their spread; " +
	"test the queries of all folds instead: --data DIR with the folders of the systems' scores (OUT/METHOD of tune)"

func namesOf(systems []*contestant) []string {
	return mapped(systems, func(s *contestant) string { return s.name })
}

// systems parses the arguments [NAME=]PATH[,PATH…]. It replaces seedMark in paths by each seed of
// --seeds.
func (f *compareFlags) systems(args []string) ([]*contestant, error) {
	seeds, err := parseSeeds(f.seeds)
	if err != nil {
		return nil, usageErrorf("--seeds %s: %w", f.seeds, err)
	}
	var systems []*contestant
	for _, arg := range args {
		s, err := newContestant(arg, seeds)
		if err != nil {
			return nil, err
		}
		systems = append(systems, s)
	}
	if seeds != nil && !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, seedMark) }) {
		return nil, usageErrorf("--seeds %s: no system has %s in its path", f.seeds, seedMark)
	}
	return systems, nameSystems(systems)
}

func newContestant(arg string, seeds []uint64) (*contestant, error) {
	name, rest, err := cutName(arg)
	if err != nil {
		return nil, usageErrorf("system %w", err)
	}
	s := &contestant{name: name, given: name != ""}
	paths := []string{rest}
	if !exists(rest) {
		paths = strings.Split(rest, ",")
	}
	if len(paths) > 1 && s.name == "" {
		return nil, usageErrorf("system %q: found several runs without a name, expected NAME=A,B,…", arg)
	}
	for _, p := range paths {
		switch {
		case p == "":
			return nil, usageErrorf("system %q: found the empty name of a file, expected NAME=A,B,…", arg)
		case !strings.Contains(p, seedMark):
			if err := noneMissing(p); err != nil {
				return nil, err
			}
			s.runs = append(s.runs, runsIn(p)...)
		case seeds == nil:
			return nil, usageErrorf("system %q: found %s, expected --seeds", arg, seedMark)
		default:
			for _, seed := range seeds {
				s.runs = append(s.runs, run{path: strings.ReplaceAll(p, seedMark, strconv.FormatUint(seed, 10))})
			}
		}
	}
	if s.name == "" {
		s.name = shortName(rest)
	}
	for i, r := range s.runs {
		if slices.ContainsFunc(s.runs[:i], func(other run) bool { return filepath.Clean(other.path) == filepath.Clean(r.path) }) {
			return nil, usageErrorf("system %s: found %s twice, expected a run for each random seed", s.name, r.path)
		}
	}
	return s, nil
}

// cutName splits an argument [NAME=]PATH. Without NAME, it returns an empty name.
func cutName(arg string) (name, path string, err error) {
	name, path, ok := strings.Cut(arg, "=")
	if !ok || exists(arg) || strings.ContainsRune(name, filepath.Separator) {
		return "", arg, nil
	}
	if name == "" || path == "" {
		return "", "", fmt.Errorf("%q: expected NAME=PATH", arg)
	}
	return name, path, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// shortName returns the last part of a path that distinguishes systems. It removes the endings of
// models and scores, seedMark and dataMark.
func shortName(path string) string {
	path = filepath.Clean(path)
	for dir := path; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		name := bareName(dir)
		bare := strings.NewReplacer(seedMark, "", dataMark, "").Replace(name)
		if bare == name {
			return name
		}
		name = strings.Trim(bare, "-_.")
		if name != "" && name != "seed" {
			return name
		}
	}
	return bareName(path)
}

// bareName returns the last part of a path without the endings of models and scores.
func bareName(path string) string {
	name := filepath.Base(path)
	for _, ending := range []string{".gz", ".zst", ".json", ".scores", ".run", ".model"} {
		if stem := strings.TrimSuffix(name, ending); stem != "" {
			name = stem
		}
	}
	return name
}

// nameSystems replaces the names of systems with equal names by their paths. It returns an error if
// names are still equal.
func nameSystems(systems []*contestant) error {
	count := make(map[string]int)
	for _, s := range systems {
		count[s.name]++
	}
	seen := make(map[string]bool)
	for _, s := range systems {
		if count[s.name] > 1 {
			s.name = filepath.Clean(s.runs[0].path)
			if len(s.runs) > 1 && strings.HasPrefix(filepath.Base(s.name), seedFolder) {
				s.name = filepath.Dir(s.name)
			}
		}
		if seen[s.name] {
			return usageErrorf("system %s is named twice; NAME=PATH gives it another name", s.name)
		}
		seen[s.name] = true
	}
	return nil
}

// parseSeeds parses whole numbers and ranges of them, separated by commas.
func parseSeeds(text string) ([]uint64, error) {
	if text == "" {
		return nil, nil
	}
	var seeds []uint64
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.ParseUint(from, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("found %q, expected whole numbers such as 1,2,3 or 1-5", part)
		}
		last := first
		if isRange {
			if last, err = strconv.ParseUint(to, 10, 64); err != nil || last < first || last-first >= 10_000 {
				return nil, fmt.Errorf("found %q, expected a range such as 1-5", part)
			}
		}
		for k := first; ; k++ {
			if slices.Contains(seeds, k) {
				return nil, fmt.Errorf("%d is named twice", k)
			}
			if seeds = append(seeds, k); k == last {
				break
			}
		}
	}
	return seeds, nil
}

// foldMeans returns the number of folds in a summary of tune or fuse. It returns 0 for any other
// file.
func foldMeans(path string) int {
	const enough = 1 << 24 // bytes; every summary is shorter
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > enough || contentOf(path) != aSummary {
		return 0
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return 0 // the next reader of the file reports the error
	}
	type row struct {
		Measures map[string]struct {
			Folds []any `json:"folds"`
		} `json:"measures"`
	}
	var summary struct{ Methods, Systems, Fusions []row }
	if json.Unmarshal(data, &summary) != nil {
		return 0
	}
	for _, r := range slices.Concat(summary.Methods, summary.Systems, summary.Fusions) {
		for _, m := range r.Measures {
			if len(m.Folds) > 0 {
				return len(m.Folds)
			}
		}
	}
	return 0
}

// The arguments of compare, report and fuse name systems: models, score files and runs. For data in
// folds they name folders of these files. A pattern such as runs/* also matches other files, which
// are ignored.

// systemsFor returns the systems that can be evaluated on the data. It skips other arguments and
// prints a note. A skipped argument is an error if the user named it, or if fewer than least
// systems remain.
func (env *environment) systemsFor(data string, systems []*contestant, least int) ([]*contestant, error) {
	inFolds := isFolder(data)
	var kept []*contestant
	var left []string
	var first error
	for _, s := range systems {
		problem, err := s.misfit(data, inFolds)
		if err != nil {
			return nil, err
		}
		switch {
		case problem == nil:
			kept = append(kept, s)
		case s.given:
			return nil, problem
		default:
			left = append(left, s.runs[0].path)
			if first == nil {
				first = problem
			}
		}
	}
	if first != nil && len(kept) < least {
		return nil, first
	}
	if left != nil {
		env.note("note: ignored, because they cannot be evaluated on %s: %s", data, strings.Join(left, ", "))
	}
	return kept, nil
}

// misfit returns the reason why a system cannot be evaluated on the data, or nil. If the data are a
// file, misfit replaces a folder with one fold by the path of its file.
func (c *contestant) misfit(data string, inFolds bool) (problem, err error) {
	for i := range c.runs {
		path := &c.runs[i].path
		file, _, _ := strings.Cut(*path, ":") // for fuse: test scores, then validation scores
		if exists(*path) {
			file = *path
		}
		info, err := os.Stat(file)
		if err != nil {
			return nil, usageErrorf("system %w", err)
		}
		if info.IsDir() && !inFolds {
			if one := onlyFold(file); one != "" {
				*path = one
				continue
			}
		}
		if problem := misfitOf(file, info.IsDir(), data, inFolds); problem != nil {
			return problem, nil
		}
	}
	return nil, nil
}

func misfitOf(path string, isDir bool, data string, inFolds bool) error {
	switch {
	case inFolds && !isDir:
		if k := foldMeans(path); k > 0 {
			return usageErrorf("%s: found the means of %d folds, expected a folder with Fold1.model.json or Fold1.scores and so on; %s", path, k, noFoldTests)
		}
		return usageErrorf("%s is a file: with --data %s, a folder, expected one with Fold1.model.json or Fold1.scores and so on", path, data)
	case inFolds && !exists(filepath.Join(path, "Fold1.model.json")) && !exists(filepath.Join(path, "Fold1.scores")):
		return usageErrorf("%s: found neither Fold1.model.json nor Fold1.scores%s", path, seedsHint(path))
	case inFolds:
		return nil
	case isDir:
		return usageErrorf("%s is a folder: with --data %s, a file, expected a model, a file of scores or a run%s", path, data, seedsHint(path))
	}
	if k := foldMeans(path); k > 0 {
		return usageErrorf("%s: found the means of %d folds, expected a model or scores; %s", path, k, noFoldTests)
	}
	switch found := contentOf(path); found {
	case "", aModel, scores, aRun:
		return nil
	default:
		return usageErrorf("%s is %s, expected a model, a file of scores or a run", path, withArticle(found))
	}
}

// seedsHint is the end of an error about a folder from which one run is expected.
func seedsHint(path string) string {
	seeds := seedsIn(path)
	if len(seeds) == 0 {
		return ""
	}
	return fmt.Sprintf("; it has the runs of %d random seeds, such as %s", len(seeds), inSeedFolder(path, seeds[0]))
}

// onlyFold returns the model or score file in an output folder of tune that has a single fold. It
// returns "" for other folders.
func onlyFold(dir string) string {
	for _, ending := range []string{".model.json", ".scores"} {
		path := func(fold int) string { return filepath.Join(dir, fmt.Sprintf("Fold%d%s", fold, ending)) }
		if exists(path(1)) && !exists(path(2)) {
			return path(1)
		}
	}
	return ""
}

// isFolder reports whether a path is a folder. Folders of shards or of Parquet parts do not count,
// because they are read like files.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && !datafile.IsSharded(path)
}
