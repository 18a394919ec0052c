package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	page "github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/tune/runs"
)

type reportFlags struct {
	evaluating
	testFlags
	out     string
	title   string
	curves  []string
	maxSize float64 // MB
}

func newReportCommand(env *environment) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report --data FILE|DIR --out FILE [NAME=]A [[NAME=]B…]",
		Short: "Write an HTML report that compares systems query by query",
		Long: `Evaluates systems on the same queries and writes one HTML file, which needs no
network. It shows means with significance marks, means over slices (--by), NDCG@k,
learning curves, and every query's difference from a baseline. It shows the effect of
features, and for trees their splits and the measure by the number of trees. An
explorer shows two systems' rankings of a query side by side.

--data FILE takes models, files of scores (one per line of FILE) and TREC runs as
systems. If FILE has TREC judgements (qrels), systems are runs. --data DIR takes
folders with Foldk.model.json or Foldk.scores for every fold k, such as OUT/METHOD of
tune; the queries of all test folds are pooled. NAME= names a system.

A folder of tune --seeds, or NAME=A,B,C, is one system with several runs. Means, spread
and tests are over all runs; rankings, features and trees are of the first.

A number is a recorded run (see "listwise runs"): the model of a train with its
learning curve, all methods of a tune, the fusions of an auto, or the scores of an
eval. For folders of tune, the page also shows validation results of all settings and
the learning curves of the chosen ones.

If the queries do not fit into --max-size, the explorer shows those on which the
systems differ most. All other parts use all queries.`,
		Example: `  listwise report --data test.txt --out report.html a.json b.json c.scores
  listwise report --data OHSUMED --out report.html --baseline mle runs/mle runs/lambdarank
  listwise report --data judged.qrels --out report.html bm25.run dense.run
  listwise report --data test.txt --out report.html 11 12 better=14
  listwise report --data test.txt --out report.html --curve ranknet=r.curve ranknet=r.json mle=m.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "data", "out"); err != nil {
				return err
			}
			if len(args) == 0 {
				return needs(cmd, "at least one system")
			}
			return f.run(cmd.Context(), env, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "", "HTML `file` to write")
	fl.StringVar(&f.title, "title", "", "page `title` (default: the data's name)")
	addList(fl, &f.curves, "curve", "[NAME=]FILE", "learning curve of train --curve, shown as NAME; repeatable")
	addPositive(fl, &f.maxSize, "max-size", page.DefaultMaxBytes/1e6, 1000, "page size limit in `MB`")
	f.addData(cmd)
	f.evaluating.addTo(cmd, usualMeasures, "`measures` to compute, separated by commas; the first is preselected")
	f.testFlags.addTo(cmd, "the first")
	return cmd
}

func (f *reportFlags) run(ctx context.Context, env *environment, args []string) error {
	config, err := f.config()
	if err != nil {
		return err
	}
	curves, err := f.readCurves()
	if err != nil {
		return err
	}
	systems, recorded, err := f.systems(args)
	if err != nil {
		return err
	}
	if systems, err = env.systemsFor(f.data, systems, 1); err != nil {
		return err
	}
	curves = append(recorded, curves...)
	if config.Tunings, err = tuningsOf(systems); err != nil {
		return err
	}
	tuned, err := tunedCurves(systems)
	if err != nil {
		return err
	}
	curves = append(tuned, curves...)
	if config.Baseline, err = f.baselineOf(systems, 0); err != nil {
		return err
	}
	if err := f.targets(systems).check(); err != nil {
		return err
	}
	var paths []string
	paths, config.Runs = pathsOf(systems)
	divisions, err := f.read(ctx, env, paths)
	if err != nil {
		return err
	}
	var convention measure.Convention
	if convention, config.Measures, err = f.settle(env, measure.ConventionOf(config.Measures[0]), config.Measures, paths, divisions); err != nil {
		return err
	}
	if config.Slices, err = f.divide(testsOf(divisions), convention.Threshold()); err != nil {
		return err
	}
	config.Ties = f.tiesOf(config.Ties, divisions)
	for k := range divisions {
		for i, s := range systems {
			divisions[k].Systems[i].Name = s.name
		}
	}
	stages := stagedProgress{env: env}
	config.Observe = stages.set
	r, err := page.Build(ctx, *config, divisions, curves)
	stages.finish()
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return usageErrorf("%s: %w", f.data, err)
	}
	if err := atomicfile.Write(f.out, r.Write); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return env.print(writtenReport(f.out, r))
}

func (f *reportFlags) config() (_ *page.Config, err error) {
	c := &page.Config{
		Title: f.title, Permutations: f.permutations, Resamples: f.resamples, Seed: f.seed, MaxBytes: int(f.maxSize * 1e6),
	}
	if c.Title == "" {
		c.Title = "Rankings of " + filepath.Base(filepath.Clean(f.data))
	} else {
		c.Source = filepath.Base(filepath.Clean(f.data))
	}
	_, c.Measures, c.Ties, err = f.parse()
	return c, err
}

// pathsOf returns the files of all runs, the first runs of all systems first, and for each system the
// indices of its runs.
func pathsOf(systems []*contestant) (paths []string, runs [][]int) {
	for i, s := range systems {
		paths, runs = append(paths, s.runs[0].path), append(runs, []int{i})
	}
	for i, s := range systems {
		for _, r := range s.runs[1:] {
			paths, runs[i] = append(paths, r.path), append(runs[i], len(paths))
		}
	}
	return paths, runs
}

// systems parses arguments as compare does. A number names a recorded run, which may have learning
// curves.
func (f *reportFlags) systems(args []string) (systems []*contestant, curves []page.Curve, err error) {
	for _, arg := range args {
		if name, id, ok := numbered(arg); ok {
			more, theirs, err := ofRun(name, id)
			if err != nil {
				return nil, nil, err
			}
			systems, curves = append(systems, more...), append(curves, theirs...)
			continue
		}
		s, err := newContestant(arg, nil)
		if err != nil {
			return nil, nil, err
		}
		systems = append(systems, s)
	}
	return systems, curves, nameSystems(systems)
}

// tunedRun is a run of a system, and what its name in plots is.
type tunedRun struct{ folder, name, seed string }

// tunedRuns returns the runs of the systems. If a system has seed folders, the names have the seeds.
func tunedRuns(systems []*contestant) []tunedRun {
	var all []tunedRun
	for _, s := range systems {
		for _, r := range s.runs {
			t := tunedRun{folder: filepath.Clean(r.path), name: s.name}
			if seed, ok := strings.CutPrefix(filepath.Base(t.folder), seedFolder); ok {
				t.seed, t.name = seed, s.name+", seed "+seed
			} else if len(s.runs) > 1 {
				t.name += ", " + t.folder
			}
			all = append(all, t)
		}
	}
	return all
}

// tuningsOf reads the results of all settings for each run that is an output folder of tune.
func tuningsOf(systems []*contestant) ([]page.Tuning, error) {
	var tunings []page.Tuning
	for _, r := range tunedRuns(systems) {
		folder := r.folder
		if r.seed != "" {
			folder = filepath.Dir(folder)
		}
		path := filepath.Join(filepath.Dir(folder), "tuning.jsonl")
		file, err := os.Open(path)
		if err != nil {
			continue // not a folder of tune, or a folder of an older version
		}
		all, err := page.ReadTunings(file)
		if closing := file.Close(); err == nil {
			err = closing
		}
		if err != nil {
			return nil, usageErrorf("%s: %w", path, err)
		}
		for _, t := range all {
			seed := ""
			if t.Seed != nil {
				seed = strconv.FormatUint(*t.Seed, 10)
			}
			if t.Name == filepath.Base(folder) && seed == r.seed {
				t.Name = r.name
				tunings = append(tunings, t)
			}
		}
	}
	return tunings, nil
}

// tunedCurves reads the learning curves of the settings that tune chose, for each run that is an
// output folder of tune.
func tunedCurves(systems []*contestant) ([]page.Curve, error) {
	var curves []page.Curve
	for _, r := range tunedRuns(systems) {
		for k := 1; ; k++ {
			fold := fmt.Sprintf("Fold%d", k)
			base := filepath.Join(r.folder, fold)
			if !exists(base + ".model.json") {
				break
			}
			if path := base + ".curve"; exists(path) {
				c, err := readCurve(path, r.name)
				if err != nil {
					return nil, usageErrorf("%w", err)
				}
				c.Fold = fold
				curves = append(curves, c)
			}
		}
	}
	return curves, nil
}

func readCurve(path, name string) (page.Curve, error) {
	file, err := os.Open(path)
	if err != nil {
		return page.Curve{}, err
	}
	defer file.Close() //nolint:errcheck // only read
	c, err := page.ReadCurve(file, name)
	if err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func curveArgument(arg string) (name, path string) {
	name, path, named := strings.Cut(arg, "=")
	if !named || exists(arg) {
		return strings.TrimSuffix(shortName(arg), ".curve"), arg
	}
	return name, path
}

func (f *reportFlags) readCurves() ([]page.Curve, error) {
	var curves []page.Curve
	for _, arg := range f.curves {
		name, path := curveArgument(arg)
		c, err := readCurve(path, name)
		if err != nil {
			return nil, usageErrorf("--curve: %w", err)
		}
		curves = append(curves, c)
	}
	return curves, nil
}

type reportJSON struct {
	File     string `json:"file"`
	Bytes    int    `json:"bytes"`
	Queries  int    `json:"queries"`
	Explorer int    `json:"explorer_queries"`
}

func writtenReport(path string, r *page.Report) report {
	s := r.Size()
	j := reportJSON{File: path, Bytes: s.Bytes, Queries: s.Queries, Explorer: s.Explorer}
	return report{
		title:   "wrote " + path,
		columns: []string{"file", "bytes", "queries", "explorer_queries"},
		rows:    [][]any{{path, s.Bytes, s.Queries, s.Explorer}},
		json:    j,
	}
}

// numbered parses [NAME=]NUMBER, the number of a recorded run. ok is false if the argument is not a
// number, or if a file has that name.
func numbered(arg string) (name, id string, ok bool) {
	name, id, named := strings.Cut(arg, "=")
	if !named {
		name, id = "", arg
	}
	n, err := strconv.ParseInt(id, 10, 64)
	return name, id, err == nil && n > 0 && !exists(arg) && !exists(id)
}

// ofRun returns the systems of a recorded run and their learning curves.
func ofRun(name, id string) (systems []*contestant, curves []page.Curve, err error) {
	list, err := runsNamed([]string{id})
	if err != nil {
		return nil, nil, err
	}
	r := list[0]
	systems, curves = filesOf(r), curvesOf(r)
	if r.Status != runs.Finished {
		return nil, nil, usageErrorf("run %s is %s, expected one that is finished", id, r.Status)
	}
	if systems == nil {
		return nil, nil, usageErrorf("run %s: the record has no model or scores for it", id)
	}
	if name != "" && len(systems) > 1 {
		return nil, nil, usageErrorf("run %s has %d methods, expected one method to be called %s", id, len(systems), name)
	}
	for _, s := range systems {
		if p := s.runs[0].path; !exists(p) {
			return nil, nil, usageErrorf("run %s: %w", id, &fs.PathError{Op: "open", Path: p, Err: errors.New("the file that the run wrote no longer exists")})
		}
		if name != "" {
			s.name = name
		}
	}
	for i := range curves {
		if name != "" {
			curves[i].Name = name
		}
	}
	return systems, curves, nil
}

// methodFolder returns the folder of a method in which tune has written a file.
func methodFolder(file string) string {
	dir := filepath.Dir(file)
	if strings.HasPrefix(filepath.Base(dir), seedFolder) {
		return filepath.Dir(dir)
	}
	return dir
}

func filesOf(r *runs.Run) []*contestant {
	system := func(name, path string) *contestant {
		return &contestant{name: name, given: true, runs: []run{{path: path}}}
	}
	suffix := " #" + strconv.FormatInt(r.ID, 10)
	var systems []*contestant
	switch r.Kind {
	case runs.Train:
		if len(r.Files) > 0 && len(r.Methods) == 1 {
			systems = append(systems, system(r.Methods[0]+suffix, r.Files[0]))
		}
	case runs.Tune, runs.Ablate:
		names := r.Methods
		if r.Kind == runs.Ablate { // a system is a point with a seed
			names = mapped(summaries(r), func(s runSummary) string { return s.method })
		}
		for _, m := range names {
			i := slices.IndexFunc(r.Files, func(f string) bool { return filepath.Base(methodFolder(f)) == m })
			if i >= 0 {
				s := system(m+suffix, "")
				s.runs = runsIn(methodFolder(r.Files[i]))
				systems = append(systems, s)
			}
		}
	case runs.Auto: // the folds' fusions, or the single model if they were not refitted
		path := r.Files[0]
		if i := slices.IndexFunc(r.Files, func(f string) bool { return filepath.Base(filepath.Dir(f)) == autoSystem }); i >= 0 {
			path = filepath.Dir(r.Files[i])
		}
		systems = append(systems, system(autoSystem+suffix, path))
	case runs.Eval:
		i := slices.IndexFunc(r.Data, func(d runs.Data) bool { return d.Role == "model" || d.Role == "scores" })
		if i >= 0 {
			systems = append(systems, system(shortName(r.Data[i].Path)+suffix, r.Data[i].Path))
		}
	}
	return systems
}

func curvesOf(r *runs.Run) []page.Curve {
	var curves []page.Curve
	for _, p := range r.Curve {
		name := strings.TrimSpace(p.Ranker + " " + p.Fold)
		name += " #" + strconv.FormatInt(r.ID, 10)
		i := slices.IndexFunc(curves, func(c page.Curve) bool { return c.Name == name })
		if i < 0 {
			i = len(curves)
			curves = append(curves, page.Curve{Name: name})
		}
		point := page.Point{Epoch: p.Step, Restart: p.Start, Cost: float64(p.Objective), Best: p.Best}
		if v := float64(p.Validation); number(v) != nil {
			point.Validation = &v
		}
		curves[i].Points = append(curves[i].Points, point)
	}
	return curves
}
