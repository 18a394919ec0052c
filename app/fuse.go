package app

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/scored"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model/fuse"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/ensemble"
)

type fuseFlags struct {
	evaluating
	valid    string
	rules    string
	scale    string
	k        float64
	weights  string
	selectBy string
	draws    int
	seed     uint64
	out      string
	model    string
	long     bool
}

// fuseFormats lists the values of --format: the formats of all commands, and run, a TREC run with
// the fused ranking.
var fuseFormats = []string{"text", "json", "csv", asRun}

const asRun = "run"

func newFuseCommand(env *environment) *cobra.Command {
	var f fuseFlags
	cmd := &cobra.Command{
		Use:   "fuse [--data FILE|DIR] A B…",
		Short: "Combine the rankings of several systems",
		Long: `Fuses the rankings of several systems, and evaluates each system and each fusion.

--data FILE takes models, files of scores (one per line of FILE) and TREC runs as
systems. If FILE has TREC judgements (qrels), systems are runs. --valid chooses the
weights, and the best of several rules, on validation data. A file of scores then
needs the scores of the validation data after a colon: A.scores:A.valid.scores.

--data DIR, with Fold1 … FoldK, takes folders with Foldk.model.json, or Foldk.scores
and Foldk.valid.scores, for every fold k, such as OUT/METHOD of tune. Weights and rule
are chosen on each fold's validation data.

Rules (documents with equal scores get equal votes):
` + ruleList() + `A document's fused score is the weighted sum of its votes.

--weights tuned (the default with validation data) maximizes --select. With --draws N,
the weights are averages over N samples of the validation queries.

Without --data, systems are runs, nothing is evaluated, and the fusion by one rule
(default: rrf) is written as a run.

--out gets the scores of the chosen fusion. --model gets the fusion as a model for
eval, score and other commands. --format run writes a TREC run, to --out or to
standard output instead of the table. The run includes queries without judgements.`,
		Example: `  listwise fuse --data Fold1/test.txt --valid Fold1/vali.txt --model fused.json a.json b.json
  listwise fuse --data test.txt --rule rrf --out fused.scores a.scores b.scores c.json
  listwise fuse bm25.run dense.run --out fused.run
  listwise fuse --data judged.qrels --rule rrf --format run --out fused.run bm25.run dense.run
  listwise fuse --data MQ2008 --out runs/fusion runs/ranknet runs/listnet runs/coordascent`,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return env.checkFormat(cmd, fuseFormats, suggest.OneOf(fuseFormats))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return needs(cmd, "at least two systems")
			}
			if f.data == "" {
				return f.fuseRuns(cmd, env, args)
			}
			return f.run(cmd.Context(), env, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.valid, "valid", "", "validation data `file` for choosing weights and rule")
	fl.StringVar(&f.rules, "rule", strings.Join(fuse.Kinds(), ","), "fusion `rules`, separated by commas")
	fl.StringVar(&f.scale, "scale", fuse.MinMax.String(), "`how` to rescale scores for combsum and combmnz: "+strings.Join(fuse.Scales(), ", "))
	addReal(fl, &f.k, "k", fuse.DefaultK, 1e30, "`constant` that rrf adds to ranks")
	fl.StringVar(&f.weights, "weights", "", "`weights` of the systems: tuned, equal, or numbers separated by commas")
	fl.StringVar(&f.selectBy, "select", "map", "validation `measure` that selects weights and rule")
	fl.BoolVar(&f.long, "long", false, "print all systems and the weights of every rule")
	addWhole(fl, &f.draws, "draws", 20, 0, "`number` of validation samples to average weights over; 0: none")
	fl.Uint64Var(&f.seed, "seed", 1, "random `seed`")
	fl.StringVar(&f.out, "out", "", "`file` for fused scores, or folder with --data DIR")
	fl.StringVar(&f.model, "model", "", "`file` for the fused model; all systems must be models")
	fl.StringVar(&env.format, "format", "text", "output `format`: text, json, csv, or run (a TREC run)")
	f.addData(cmd)
	f.addTo(cmd, usualMeasures, "`measures` to compute, separated by commas")
	return cmd
}

func (f *fuseFlags) run(ctx context.Context, env *environment, args []string) error {
	inFolds := isFolder(f.data)
	config, convention, err := f.config(len(args))
	if err != nil {
		return err
	}
	if err := f.checkFlags(inFolds, len(config.Rules), env.format == asRun); err != nil {
		return err
	}
	if err := f.targets(args, inFolds).check(); err != nil {
		return err
	}
	if args, err = f.systems(env, args); err != nil {
		return err
	}
	f.keepUnjudged = env.format == asRun
	var divisions []ensemble.Division
	if inFolds {
		divisions, err = f.readFolds(ctx, env, true, config.Tuned, args)
	} else {
		divisions, err = f.readFile(ctx, env, f.valid, args)
	}
	if err != nil {
		return err
	}
	if convention, config.Measures, err = f.settle(env, convention, config.Measures, args, divisions); err != nil {
		return err
	}
	if err := f.divisible(testsOf(divisions), convention.Threshold()); err != nil {
		return err
	}
	if f.out != "" && divisions[0].Test.Features == 0 && env.format != asRun {
		return usageErrorf("--out: judgements have no order of documents for a file of scores, expected --format run")
	}
	if f.out != "" {
		if err := notTuned(f.out); err != nil {
			return err
		}
	}
	config.Ties = f.tiesOf(config.Ties, divisions)
	config.Tuning.Measure = measure.Under(config.Tuning.Measure, convention)
	bar := env.startProgress("fusing, steps", 0)
	config.Observe = bar.set
	result, err := config.Run(ctx, divisions)
	bar.finish()
	if err != nil {
		return usageErrorf("%s: %w", f.data, err)
	}
	for i := range result.Systems {
		if pooled := measure.Pool(result.Systems[i].Tests...); pooled.TieStats().Over > 0 {
			env.note("%s", tiedSystem(result.Systems[i].Name, pooled.TieStats().Over, tune.Summarise(pooled)))
		}
	}
	sliced, err := f.ofSystems(divisions, convention, result)
	if err != nil {
		return err
	}
	summary := fuseSummary(convention, config, result, sliced)
	err = env.during("writing the fusion", func() error { return f.write(env, divisions, result, summary, inFolds) })
	if err != nil || env.format == asRun && f.out == "" {
		return err
	}
	out := fuseReport(divisions, result, summary, convention, f.long || env.format != "text")
	out.slices, out.sliceIn = sliced, foldRow(len(out.columns))
	return env.print(out)
}

// withoutData lists the flags of fuse that are allowed without --data.
var withoutData = []string{"rule", "scale", "k", "weights", "out", "format", "drop-self", "lower-is-better", "max-memory"}

func (f *fuseFlags) fuseRuns(cmd *cobra.Command, env *environment, args []string) error {
	var fault error
	own := cmd.LocalNonPersistentFlags()
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if fault == nil && own.Lookup(flag.Name) != nil && !slices.Contains(withoutData, flag.Name) {
			fault = usageErrorf("--%s needs --data", flag.Name)
		}
	})
	if fault != nil {
		return fault
	}
	if f := env.format; f != "text" && f != asRun {
		return usageErrorf("--format %s needs --data, expected run", f)
	}
	if !cmd.Flags().Changed("rule") {
		f.rules = string(fuse.RRF)
	}
	rules, err := f.parseRules()
	switch {
	case err != nil:
		return err
	case len(rules) > 1:
		return usageErrorf("--rule %s: found %d rules, expected one without --data", f.rules, len(rules))
	case f.weights == "tuned":
		return usageErrorf("--weights tuned needs --data and --valid")
	}
	weights := fuse.Equal(len(args))
	if f.weights != "" && f.weights != "equal" {
		if weights, err = f.parseWeights(len(args)); err != nil {
			return err
		}
	}
	if err := f.targets(args, false).check(); err != nil {
		return err
	}
	for _, path := range args {
		if found := contentOf(path); found != "" && found != aRun {
			return usageErrorf("%s is %s, expected a run; other systems need --data", path, withArticle(found))
		}
	}
	f.memoryLimit.options()
	bar := env.startProgress("reading, runs", len(args))
	d, err := ensemble.ReadRuns(args, f.systemOptions(cmd.Context()), bar.set)
	bar.finish()
	if err != nil {
		return usageErrorf("%w", hintAtMemory(err))
	}
	env.joinWarnings([]ensemble.Division{*d})
	return f.writeRun(env, d, &ensemble.Fusion{Rule: rules[0], Weights: weights})
}

func (f *fuseFlags) writeRun(env *environment, d *ensemble.Division, fusion *ensemble.Fusion) error {
	data, scores, err := d.Retrieved(fusion)
	if err != nil {
		return err
	}
	return env.writeRanking(f.out, data, scores, scored.Options{Format: asRun, Tag: fusion.Rule.Kind.String()})
}

// ofSystems returns the means of all systems, all fusions and the chosen fusion on each slice of
// the queries.
func (f *fuseFlags) ofSystems(divisions []ensemble.Division, c measure.Convention, r *ensemble.Result) (*slicedMeans, error) {
	rows := slices.Concat(r.Systems, r.Rules)
	if chosenApart(r) {
		rows = append(rows, *r.Chosen)
	}
	names := mapped(rows, func(row ensemble.Row) string { return row.Name })
	return f.of(testsOf(divisions), c, names, mapped(rows, func(row ensemble.Row) []*measure.Result { return row.Tests }))
}

func (f *fuseFlags) systems(env *environment, args []string) ([]string, error) {
	systems := mapped(args, func(arg string) *contestant { return &contestant{name: arg, runs: []run{{path: arg}}} })
	systems, err := env.systemsFor(f.data, systems, 2)
	if err != nil {
		return nil, err
	}
	if len(systems) < len(args) && f.weights != "" && f.weights != "tuned" && f.weights != "equal" {
		return nil, usageErrorf("--weights %s: found %d systems among %d arguments, expected as many as weights", f.weights, len(systems), len(args))
	}
	return mapped(systems, func(s *contestant) string { return s.runs[0].path }), nil
}

func ruleList() string {
	var b strings.Builder
	for _, name := range fuse.Kinds() {
		fmt.Fprintf(&b, "  %-8s %s\n", name, fuse.Kind(name).About())
	}
	return b.String()
}

// config returns the configuration that the flags describe, and the convention of its measures.
func (f *fuseFlags) config(systems int) (*ensemble.Config, measure.Convention, error) {
	c := &ensemble.Config{Tuned: f.weights == "" || f.weights == "tuned"}
	convention, measures, ties, err := f.parse()
	if err != nil {
		return nil, convention, err
	}
	c.Measures, c.Ties = measures, ties
	c.Tuning = ensemble.Tuning{Draws: f.draws, Seed: f.seed}
	if c.Tuning.Measure, err = measure.Parse(f.selectBy, convention, measure.Options{}); err != nil {
		return nil, convention, usageErrorf("--select: %w", err)
	}
	if c.Rules, err = f.parseRules(); err != nil {
		return nil, convention, err
	}
	if !c.Tuned && f.weights != "equal" {
		c.Weights, err = f.parseWeights(systems)
	}
	return c, convention, err
}

func (f *fuseFlags) parseRules() ([]fuse.Rule, error) {
	scale, err := fuse.ParseScale(f.scale)
	if err != nil {
		return nil, usageErrorf("--scale: %w", err)
	}
	var rules []fuse.Rule
	seen := make(map[fuse.Kind]bool)
	for name := range strings.SplitSeq(f.rules, ",") {
		kind, err := fuse.ParseKind(strings.TrimSpace(name))
		if err != nil {
			return nil, usageErrorf("--rule: %w", err)
		}
		if seen[kind] {
			return nil, usageErrorf("--rule %s: %s is named twice", f.rules, kind)
		}
		seen[kind] = true
		r := fuse.Rule{Kind: kind, Scale: scale, K: f.k}
		if err := r.Check(); err != nil {
			return nil, usageErrorf("--rule %s: %w", kind, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func (f *fuseFlags) parseWeights(systems int) ([]float64, error) {
	parts := strings.Split(f.weights, ",")
	if len(parts) != systems {
		return nil, usageErrorf("--weights %s: found %s, expected tuned, equal, or one for each of %d systems", f.weights, counted(len(parts), "weight", "weights"), systems)
	}
	weights := make([]float64, systems)
	for i, p := range parts {
		w, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || !(w >= -1e100 && w <= 1e100) {
			return nil, usageErrorf("--weights %s: found %q, expected a number", f.weights, p)
		}
		weights[i] = w
	}
	return weights, nil
}

// checkFlags returns an error if flags contradict each other. It runs before any file is read.
func (f *fuseFlags) checkFlags(inFolds bool, rules int, run bool) error {
	chooses := inFolds || f.valid != ""
	switch {
	case inFolds && run:
		return usageErrorf("--format run: --data %s is a folder, expected a file: each fold has its own fusion", f.data)
	case rules > 1 && !chooses && run:
		return usageErrorf("--format run writes one fusion: give one --rule, or --valid to choose")
	case inFolds && (f.valid != "" || f.model != ""):
		return usageErrorf("--data %s is a folder, whose folds have validation data and get models in --out: expected neither --valid nor --model", f.data)
	case f.weights == "tuned" && !chooses:
		return usageErrorf("--weights tuned needs --valid")
	case rules > 1 && !chooses && (f.out != "" || f.model != ""):
		return usageErrorf("--out and --model write one fusion: give one --rule, or --valid to choose")
	case f.data == "-" && f.valid == "-":
		return usageErrorf("--data and --valid cannot both be standard input")
	}
	return nil
}

// write writes the files of --out and --model.
func (f *fuseFlags) write(env *environment, divisions []ensemble.Division, r *ensemble.Result, summary fuseJSON, inFolds bool) error {
	if inFolds {
		if f.out == "" {
			return nil
		}
		if err := r.WriteFolds(f.out, divisions); err != nil {
			return usageErrorf("--out: %w", err)
		}
		return atomicfile.Write(filepath.Join(f.out, "results.json"), atomicfile.JSON(summary))
	}
	if f.model != "" {
		m, err := divisions[0].Model(r.Chosen.Fusions[0])
		if err != nil {
			return usageErrorf("--model: %w", err)
		}
		if err := m.Save(f.model); err != nil {
			return err
		}
	}
	if env.format == asRun {
		return f.writeRun(env, &divisions[0], r.Chosen.Fusions[0])
	}
	if f.out == "" {
		return nil
	}
	if slices.Contains(r.Chosen.Fusions[0].Scores, dataset.NotRetrieved) {
		return usageErrorf("--out: some documents were retrieved by no system and have no score, expected --format run")
	}
	return divisions[0].WriteScores(f.out, r.Chosen.Fusions[0])
}

// fuseJSON is the JSON form of a result of fuse. Scripts rely on its names.
type fuseJSON struct {
	Convention string       `json:"convention"`
	Threshold  float64      `json:"threshold"`
	Ties       string       `json:"ties"`
	Select     string       `json:"select"`
	Seed       uint64       `json:"seed"`
	Queries    int          `json:"queries"`
	Systems    []fusedJSON  `json:"systems"`
	Fusions    []fusionJSON `json:"fusions"`
	Chosen     *fusionJSON  `json:"chosen,omitempty"`
}

type fusedJSON struct {
	Name     string                     `json:"name"`
	Measures map[string]tuneMeasureJSON `json:"measures"`
	Slices   []slicedJSON               `json:"slices,omitempty"`
}

// fusionJSON is the JSON form of a fusion. Rules, Weights and Validation have one element for each
// fold.
type fusionJSON struct {
	fusedJSON
	Rules      []string    `json:"rules"`
	Weights    [][]float64 `json:"weights"`
	Validation []float64   `json:"validation,omitempty"`
}

func fuseSummary(convention measure.Convention, c *ensemble.Config, r *ensemble.Result, sliced *slicedMeans) fuseJSON {
	s := fuseJSON{
		Convention: convention.Name(), Threshold: convention.Threshold(), Ties: c.Ties.String(), Select: c.Tuning.Measure.Name(), Seed: c.Tuning.Seed,
		Queries: len(measure.Pool(r.Systems[0].Tests...).Queries()),
	}
	for i := range r.Systems {
		s.Systems = append(s.Systems, fusedSummary(&r.Systems[i], sliced.json(i)))
	}
	for i := range r.Rules {
		s.Fusions = append(s.Fusions, fusionSummary(&r.Rules[i], sliced.json(len(r.Systems)+i)))
	}
	if r.Chosen != nil {
		at := len(r.Systems)
		if chosenApart(r) {
			at += len(r.Rules)
		}
		chosen := fusionSummary(r.Chosen, sliced.json(at))
		s.Chosen = &chosen
	}
	return s
}

func fusedSummary(row *ensemble.Row, sliced []slicedJSON) fusedJSON {
	return fusedJSON{row.Name, measuresJSON(tune.Summarise(row.Tests...)), sliced}
}

func fusionSummary(row *ensemble.Row, sliced []slicedJSON) fusionJSON {
	j := fusionJSON{fusedJSON: fusedSummary(row, sliced)}
	for _, f := range row.Fusions {
		j.Rules = append(j.Rules, f.Rule.Kind.String())
		j.Weights = append(j.Weights, f.Weights)
		if f.Value > 0 {
			j.Validation = append(j.Validation, f.Value)
		}
	}
	return j
}

func fuseReport(divisions []ensemble.Division, r *ensemble.Result, summary fuseJSON, convention measure.Convention, long bool) report {
	out := report{
		title:   fmt.Sprintf("test results of %d queries; convention %s, ties %s, chosen by validation %s, seed %d", summary.Queries, conventionText(convention), summary.Ties, summary.Select, summary.Seed),
		columns: []string{"system", "measure"},
		json:    summary,
	}
	if divisions[0].Valid == nil {
		out.title = fmt.Sprintf("test results of %d queries; convention %s, ties %s", summary.Queries, conventionText(convention), summary.Ties)
	}
	if len(divisions) == 1 {
		out.columns = append(out.columns, "value")
	} else {
		for _, d := range divisions {
			out.columns = append(out.columns, d.Name)
		}
		out.columns = append(out.columns, "mean", "pooled")
	}
	shown := r.Systems
	if !long {
		shown, out.notes = bestSystems(shown)
		out.hidden = missingOf(r.Systems, shown)
	}
	shown = slices.Concat(shown, r.Rules)
	if chosenApart(r) {
		shown = append(shown, *r.Chosen)
	}
	for _, row := range shown {
		out.addMeans(row.Name, tune.Summarise(row.Tests...), len(divisions) > 1)
	}
	if long || len(r.Systems) <= shortLines {
		for i := range r.Rules {
			out.notes = append(out.notes, weightNotes(divisions, &r.Rules[i])...)
		}
	}
	if chosenApart(r) {
		var rules []string
		for k, f := range r.Chosen.Fusions {
			rules = append(rules, strings.TrimSpace(divisions[k].Name+" "+f.Rule.Kind.String()))
		}
		out.notes = append(out.notes, "chosen: "+strings.Join(rules, ", "))
	}
	return out
}

// chosenApart reports whether the chosen fusion gets a row besides the rows of the rules.
func chosenApart(r *ensemble.Result) bool { return r.Chosen != nil && len(r.Rules) > 1 }

func missingOf(all, shown []ensemble.Row) (names []string) {
	for _, row := range all {
		if !slices.ContainsFunc(shown, func(s ensemble.Row) bool { return s.Name == row.Name }) {
			names = append(names, row.Name)
		}
	}
	return names
}

// bestSystems returns the best shortLines systems by the first measure, in the order of all. notes
// states the number of omitted systems.
func bestSystems(all []ensemble.Row) (best []ensemble.Row, notes []string) {
	if len(all) <= shortLines {
		return all, nil
	}
	values := make([]float64, len(all))
	first := all[0].Tests[0].Measures()[0]
	for i := range all {
		values[i] = measure.Pool(all[i].Tests...).Mean(first)
	}
	least := slices.Sorted(slices.Values(values))[len(values)-shortLines]
	for i := range all {
		if values[i] >= least && len(best) < shortLines {
			best = append(best, all[i])
		}
	}
	return best, []string{fmt.Sprintf("… and %d systems with no higher %s, and all weights (--long)", len(all)-len(best), first.Name())}
}

func weightNotes(divisions []ensemble.Division, row *ensemble.Row) []string {
	var notes []string
	for k, f := range row.Fusions {
		weights := mapped(f.Weights, func(w float64) string { return fmt.Sprintf("%.3f", w) })
		name := row.Name
		if divisions[k].Name != "" {
			name += ", " + divisions[k].Name
		}
		notes = append(notes, fmt.Sprintf("weights of %s: %s", name, strings.Join(weights, " ")))
	}
	return notes
}
