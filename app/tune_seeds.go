package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/runs"
)

// parseRepeats reads --seeds.
func (f *tuneFlags) parseRepeats(cmd *cobra.Command) (err error) {
	if !cmd.Flags().Changed("seeds") {
		return nil
	}
	if cmd.Flags().Changed("seed") {
		return usageErrorf("--seed %d and --seeds %s: expected one of them", f.seed, f.seeds)
	}
	f.repeats, err = seedsFlag(f.seeds)
	slices.Sort(f.repeats)
	return err
}

// seedsFlag parses the value of --seeds.
func seedsFlag(text string) ([]uint64, error) {
	seeds, err := parseSeeds(text)
	if err == nil && seeds == nil {
		err = errors.New("found no seed, expected whole numbers such as 1,2,3 or 1-5")
	}
	if err != nil {
		return nil, usageErrorf("--seeds %s: %w", text, err)
	}
	return seeds, nil
}

// seedOf returns the seed of run i, or nil without --seeds.
func (f *tuneFlags) seedOf(i int) *uint64 {
	if f.repeats == nil {
		return nil
	}
	return &f.repeats[i]
}

// configs returns a configuration for each seed of --seeds, or one without it.
func (f *tuneFlags) configs() ([]tune.Config, error) {
	if f.repeats == nil {
		c, err := f.config()
		return []tune.Config{c}, err
	}
	divided := f.seed // of the data, which all seeds share
	defer func() { f.seed = divided }()
	var all []tune.Config
	for _, f.seed = range f.repeats {
		c, err := f.config()
		if err != nil {
			return nil, err
		}
		c.Subfolder = seedFolder + strconv.FormatUint(f.seed, 10)
		all = append(all, c)
	}
	return all, nil
}

// checkSeedFolders returns an error if the output folder of a method has results of other seeds than
// this call. Compare would read them as runs of one system, although their settings may differ.
func (f *tuneFlags) checkSeedFolders(entries []tune.Entry) error {
	for _, e := range entries {
		dir := filepath.Join(f.out, e.Name)
		if f.repeats == nil {
			if seeds := seedsIn(dir); len(seeds) > 0 {
				return usageErrorf("--out %s: %s has results of --seeds %s, expected the same --seeds, or another folder", f.out, dir, seedsText(seeds))
			}
			continue
		}
		for _, seed := range seedsIn(dir) {
			if !slices.Contains(f.repeats, seed) {
				return usageErrorf("--out %s: found results of seed %d in %s, expected only those of --seeds %s; add the seed to --seeds, or name another folder", f.out, seed, dir, f.seeds)
			}
		}
		if models, err := filepath.Glob(filepath.Join(dir, "*.model.json")); err == nil && models != nil {
			return usageErrorf("--out %s: %s has results of a call without --seeds, expected another folder", f.out, dir)
		}
	}
	return nil
}

// seedsText formats ascending seeds: 1-5, 7.
func seedsText(seeds []uint64) string {
	var parts []string
	for i := 0; i < len(seeds); {
		last := i
		for last+1 < len(seeds) && seeds[last+1] == seeds[last]+1 {
			last++
		}
		part := strconv.FormatUint(seeds[i], 10)
		if last > i {
			part += "-" + strconv.FormatUint(seeds[last], 10)
		}
		parts = append(parts, part)
		i = last + 1
	}
	return strings.Join(parts, ", ")
}

// seedMeans returns the means of an entry over seeds, for each measure. In Folds, an element is a mean
// over seeds. values are the means over folds, for each measure and seed.
func seedMeans(results []*tune.Result, row int) (means []tune.Summary, values [][]float64) {
	n := float64(len(results))
	for m, first := range results[0].Rows[row].Measures {
		s := tune.Summary{Measure: first.Measure, Folds: make([]float64, len(first.Folds))}
		var own []float64
		for _, r := range results {
			of := r.Rows[row].Measures[m]
			s.Mean, s.Pooled, s.TieNeutral = s.Mean+of.Mean/n, s.Pooled+of.Pooled/n, s.TieNeutral+of.TieNeutral/n
			for k, v := range of.Folds {
				s.Folds[k] += v / n
			}
			own = append(own, of.Mean)
		}
		means, values = append(means, s), append(values, own)
	}
	return means, values
}

func (f *tuneFlags) seedsSummary(configs []tune.Config, results []*tune.Result) tuneJSON {
	summary := tuneHead(&configs[0], f.repeats)
	for i := range results {
		for k, m := range tuneSummary(&configs[i], results[i], nil).Methods {
			if i == 0 {
				means, values := seedMeans(results, k)
				all := tuneMethodJSON{Method: m.Method, Training: m.Training, Tried: m.Tried, Grid: m.Grid, Measures: measuresJSON(means)}
				for n, s := range means {
					one := all.Measures[s.Measure.Name()]
					one.Deviation = number(deviationOf(values[n]))
					all.Measures[s.Measure.Name()] = one
				}
				summary.Methods = append(summary.Methods, all)
			}
			of := &summary.Methods[k].Seeds
			*of = append(*of, tuneSeedJSON{f.repeats[i], m})
		}
	}
	return summary
}

// seedsReport returns the table of --seeds: for each method and measure the mean over folds of each
// seed, and their mean and standard deviation.
func (f *tuneFlags) seedsReport(configs []tune.Config, results []*tune.Result, summary tuneJSON) report {
	c := &configs[0]
	title := fmt.Sprintf("%s, seeds %s", tuneTitle(c, summary.Queries), seedsText(f.repeats))
	if len(c.Folds) > 1 {
		title += "; means over folds"
	}
	out := report{title: title, columns: []string{"method", "measure"}, json: summary}
	for _, seed := range f.repeats {
		out.columns = append(out.columns, fmt.Sprintf("seed %d", seed))
	}
	out.columns = append(out.columns, "mean", "sd of seeds")
	for k := range results[0].Rows {
		means, values := seedMeans(results, k)
		for m, s := range means {
			row := append([]any{results[0].Rows[k].Entry.Name, s.Measure.Name()}, mapped(values[m], number[float64])...)
			out.rows = append(out.rows, append(row, number(s.Mean), number(deviationOf(values[m]))))
		}
		out.notes = append(out.notes, f.seedNotes(configs, results, k)...)
	}
	if len(results) == 1 {
		out.notes = append(out.notes, "one seed shows no spread: compare needs five or more for a claim about methods")
	}
	out.notes = append(out.notes, "", "models, scores and per-query results: "+filepath.Join(f.out, "METHOD", seedFolder+"N"))
	return out
}

// seedNotes returns the notes of all seeds about a method. Equal notes of several seeds become one.
func (f *tuneFlags) seedNotes(configs []tune.Config, results []*tune.Result, row int) []string {
	var notes []string
	with := make(map[string][]uint64)
	for i, r := range results {
		c := &configs[i]
		hint := func() string { return scaleHint(c.Folds[0].Train, c.Normalization, c.Transforms, c.Views) }
		for _, note := range tuneNotes(&r.Rows[row], hint) {
			if with[note] == nil {
				notes = append(notes, note)
			}
			with[note] = append(with[note], f.repeats[i])
		}
	}
	for i, note := range notes {
		switch seeds := with[note]; len(seeds) {
		case len(results):
		case 1:
			notes[i] = fmt.Sprintf("seed %d: %s", seeds[0], note)
		default:
			notes[i] = fmt.Sprintf("seeds %s: %s", seedsText(seeds), note)
		}
	}
	return notes
}

// overSeeds returns the means over seeds of an entry's results on a fold, query by query.
func overSeeds(results []*tune.Result, row, fold int) []runs.Measure {
	var all []runs.Measure
	for _, r := range results {
		own := runs.MeasuresOf(r.Rows[row].Folds[fold].Test)
		if all == nil {
			all = own
			continue
		}
		for m := range own {
			all[m].Mean += own[m].Mean
			all[m].TieNeutral += own[m].TieNeutral
			for q := range own[m].PerQuery {
				all[m].PerQuery[q].Value += own[m].PerQuery[q].Value
			}
		}
	}
	n := runs.Number(len(results))
	for m := range all {
		all[m].Mean /= n
		all[m].TieNeutral /= n
		for q := range all[m].PerQuery {
			all[m].PerQuery[q].Value /= n
		}
	}
	return all
}

// recordSeeds adds the results of tune with --seeds. A method has its means over seeds. The ranker
// METHOD/seed-N has the results of a seed on each fold.
func recordSeeds(rec *recorder, configs []tune.Config, results []*tune.Result) {
	for k := range results[0].Rows {
		first := &results[0].Rows[k]
		means, _ := seedMeans(results, k)
		tests := mapped(first.Folds, func(f tune.FoldResult) *measure.Result { return f.Test })
		rec.result(runs.RankerResult{Ranker: first.Entry.Name, Validation: runs.NaN(), Measures: runs.MeansOf(means, tests)})
		for fold := range first.Folds {
			rec.result(runs.RankerResult{Ranker: first.Entry.Name, Fold: first.Folds[fold].Fold, Validation: runs.NaN(), Measures: overSeeds(results, k, fold)})
		}
		for i, r := range results {
			for _, fold := range runs.ResultsOf(&tune.Result{Rows: r.Rows[k : k+1]})[1:] {
				fold.Ranker += "/" + configs[i].Subfolder
				rec.result(fold)
			}
		}
	}
	for i, r := range results {
		rec.wrote(runs.FilesOf(&configs[i], r)...)
	}
}
