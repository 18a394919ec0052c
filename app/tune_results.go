package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// tuneJSON is the JSON form of a result of tune. Scripts rely on its names.
type tuneJSON struct {
	Convention string           `json:"convention"`
	Threshold  float64          `json:"threshold"`
	Select     string           `json:"select"`
	Seed       *uint64          `json:"seed,omitempty"`
	Seeds      []uint64         `json:"seeds,omitempty"` // instead of Seed, with --seeds
	Queries    int              `json:"queries"`
	Data       string           `json:"data"`                  // fingerprint of all folds
	MeasuredOn string           `json:"measured_on,omitempty"` // "validation" where there are no test data
	Methods    []tuneMethodJSON `json:"methods"`
	Refit      *tuneRefitJSON   `json:"refit,omitempty"`
}

type tuneMethodJSON struct {
	Method     string                     `json:"method"`
	Training   string                     `json:"training_measure,omitempty"`
	Measures   map[string]tuneMeasureJSON `json:"measures"`
	Chosen     []map[string]any           `json:"chosen,omitempty"`   // the best setting of each fold
	Averaged   [][]map[string]any         `json:"averaged,omitempty"` // the settings of each fold whose models are averaged, the best first
	Validation []float64                  `json:"validation,omitempty"`
	Tried      int                        `json:"settings_tried"`
	Grid       int                        `json:"settings_in_grid,omitempty"` // if not all were tried
	AtEdge     []string                   `json:"at_edge_of_grid,omitempty"`
	Constant   []string                   `json:"folds_without_ranking,omitempty"`

	Unconverged int `json:"trainings_not_converged,omitempty"`

	Slices []slicedJSON `json:"slices,omitempty"` // over the queries of all folds

	// With --seeds, Seeds has the results of each seed, and Measures their means.
	Seeds []tuneSeedJSON `json:"seeds,omitempty"`
}

// tuneSeedJSON contains the results of a method with one seed.
type tuneSeedJSON struct {
	Seed uint64 `json:"seed"`
	tuneMethodJSON
}

// tuneMeasureJSON contains the means of a measure. A mean over no queries is null.
type tuneMeasureJSON struct {
	Mean       any   `json:"mean"`
	Pooled     any   `json:"pooled"`
	TieNeutral any   `json:"tie_neutral"`
	Folds      []any `json:"folds"`
	Deviation  any   `json:"sd_of_seeds,omitempty"` // standard deviation of Mean over seeds, with --seeds
}

func measuresJSON(means []tune.Summary) map[string]tuneMeasureJSON {
	all := make(map[string]tuneMeasureJSON)
	for _, s := range means {
		all[s.Measure.Name()] = tuneMeasureJSON{Mean: number(s.Mean), Pooled: number(s.Pooled), TieNeutral: number(s.TieNeutral), Folds: mapped(s.Folds, number[float64])}
	}
	return all
}

// addMeans adds a row for each measure of a method or system. The row contains the value of each
// fold and, if several is set, the means over folds and over all queries.
func (r *report) addMeans(name string, means []tune.Summary, several bool) {
	for _, s := range means {
		cells := append([]any{name, s.Measure.Name()}, mapped(s.Folds, number[float64])...)
		if several {
			cells = append(cells, number(s.Mean), number(s.Pooled))
		}
		r.rows = append(r.rows, cells)
	}
}

// tuneHead returns the part of the summary that all methods in an output folder share.
// seeds are those of --seeds, or nil.
func tuneHead(c *tune.Config, seeds []uint64) tuneJSON {
	head := tuneJSON{Convention: c.Convention.Name(), Threshold: c.Convention.Threshold(), Select: c.Select.Name(), Seeds: seeds}
	if seeds == nil {
		head.Seed = &c.Seed
	}
	sum := sha256.New()
	for _, fold := range c.Folds {
		fmt.Fprintln(sum, fold.Train.Fingerprint(), fold.Valid.Fingerprint(), fold.Test.Fingerprint())
		head.Queries += len(fold.Test.Queries)
		if !fold.Tested() {
			head.MeasuredOn = "validation"
		}
	}
	head.Data = hex.EncodeToString(sum.Sum(nil)[:16])
	return head
}

func tuneSummary(c *tune.Config, r *tune.Result, sliced *slicedMeans) tuneJSON {
	summary := tuneHead(c, nil)
	for i := range r.Rows {
		row := &r.Rows[i]
		m := tuneMethodJSON{
			Method:   row.Entry.Name,
			Measures: measuresJSON(row.Measures),
			Tried:    len(row.Entry.Settings),
			AtEdge:   row.AtEdge(),
			Constant: row.ConstantFolds(),
			Slices:   sliced.json(i),
		}
		if row.Grid > m.Tried {
			m.Grid = row.Grid
		}
		_, m.Unconverged = row.Trainings()
		if row.Entry.Measure != nil {
			m.Training = row.Entry.Measure.Name()
		}
		for _, fold := range row.Folds {
			m.Chosen = append(m.Chosen, fold.Chosen.Typed())
			m.Validation = append(m.Validation, fold.Validation)
			if fold.Averaged != nil {
				m.Averaged = append(m.Averaged, mapped(fold.Averaged, func(s tune.Setting) map[string]any { return s.Typed() }))
			}
		}
		summary.Methods = append(summary.Methods, m)
	}
	return summary
}

// tuneTitle describes the test data, the convention and the selection.
func tuneTitle(c *tune.Config, queries int) string {
	what := fmt.Sprintf("test results of %d folds", len(c.Folds))
	switch {
	case !c.Folds[0].Tested():
		what = "validation results, by which settings were chosen, as there are no test data"
	case len(c.Folds) == 1:
		what = "test results of one fold"
	}
	return fmt.Sprintf("%s, %d queries; convention %s, chosen by validation %s", what, queries, conventionText(c.Convention), c.Select.Name())
}

func tuneReport(c *tune.Config, r *tune.Result, summary tuneJSON) report {
	out := report{
		title:   fmt.Sprintf("%s, seed %d", tuneTitle(c, summary.Queries), c.Seed),
		columns: []string{"method", "measure"},
		json:    summary,
	}
	for _, f := range c.Folds {
		out.columns = append(out.columns, f.Name)
	}
	out.columns = append(out.columns, "mean", "pooled")
	hint := sync.OnceValue(func() string { return scaleHint(c.Folds[0].Train, c.Normalization, c.Transforms, c.Views) })
	for i := range r.Rows {
		row := &r.Rows[i]
		out.addMeans(row.Entry.Name, row.Measures, true)
		out.notes = append(out.notes, tuneNotes(row, hint)...)
	}
	out.notes = append(out.notes, "", "models, scores and per-query results: "+c.Dir)
	return out
}

// tuneNotes describes the chosen settings. It warns of grids that are too narrow, of models with
// constant scores, of trainings that did not converge, and of ties. hint is called only after such
// a problem.
func tuneNotes(row *tune.Row, hint func() string) []string {
	name := row.Entry.Name
	var notes []string
	if tried := len(row.Entry.Settings); tried < row.Grid {
		notes = append(notes, fmt.Sprintf("%s: tried %d of %d settings", name, tried, row.Grid))
	}
	if varied := row.Varied(); len(varied) > 0 {
		verb := "chose"
		if row.Folds[0].Averaged != nil {
			verb = "averaged several settings; the best:"
		}
		chosen := make([]string, len(row.Folds))
		for i, f := range row.Folds {
			chosen[i] = f.Fold + ":"
			for _, h := range varied {
				chosen[i] += " " + h + "=" + f.Chosen.Text(h)
			}
		}
		notes = append(notes, name+" "+verb+" "+strings.Join(chosen, "; "))
	}
	if n := len(row.Folds[0].Averaged); n > 0 {
		notes = append(notes, fmt.Sprintf("%s: mean of the scores of the %d best settings of each fold", name, n))
	}
	if fixed := row.Fixed(); len(fixed) > 0 {
		notes = append(notes, name+" has "+strings.Join(fixed, " ")+" in all settings")
	}
	if edge := row.AtEdge(); edge != nil {
		notes = append(notes, fmt.Sprintf("%s: the best %s is at the edge of its grid in some fold; consider a wider --grid", name, strings.Join(edge, " and ")))
	}
	if folds := row.ConstantFolds(); folds != nil {
		notes = append(notes, fmt.Sprintf("warning: all weights of %s are 0 in %s, so all documents get the same score%s", name, strings.Join(folds, ", "), hint()))
	}
	if all, unconverged := row.Trainings(); unconverged > 0 {
		notes = append(notes, fmt.Sprintf("warning: %d of %d trainings of %s did not converge%s", unconverged, all, name, hint()))
	}
	if over := row.TiedQueries(); over > 0 {
		notes = append(notes, tiedSystem(name, over, row.Measures))
	}
	return notes
}

// tunedFolder contains the results of other methods in the output folder.
type tunedFolder struct {
	methods []tuneMethodJSON
	refit   *tuneRefitJSON
	lines   []tunedJSON // of tuning.jsonl
}

// otherMethods reads the results of other methods in the output folder, which the new summary
// keeps. Results on other data or with other options are an error, because no table may mix them.
func (f *tuneFlags) otherMethods(c *tune.Config) (o tunedFolder, err error) {
	path := filepath.Join(f.out, "results.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	} else if err != nil {
		return o, usageErrorf("--out: %w", err)
	}
	earlier, ok := tuned(text)
	if !ok {
		return o, usageErrorf("--out %s: found results.json of another command, expected a folder of tune, or an empty one", f.out)
	}
	now := func(name string) bool {
		return slices.ContainsFunc(c.Entries, func(e tune.Entry) bool { return e.Name == name })
	}
	var names []string
	for _, m := range earlier.Methods {
		if !now(m.Method) {
			o.methods, names = append(o.methods, m), append(names, m.Method)
		}
	}
	if names == nil {
		return o, nil
	}
	head := tuneHead(c, f.repeats)
	sameSeeds := slices.Equal(earlier.Seeds, head.Seeds) && (head.Seed == nil || earlier.Seed != nil && *earlier.Seed == *head.Seed)
	seedName, seedFlag := "another seed", "--seed"
	if f.repeats != nil || earlier.Seeds != nil {
		seedName, seedFlag = "other seeds", "--seeds"
	}
	for _, what := range []struct {
		name  string
		equal bool
	}{
		{"other data", earlier.Data == head.Data && earlier.Queries == head.Queries && earlier.MeasuredOn == head.MeasuredOn},
		{"convention " + earlier.Convention, earlier.Convention == head.Convention && earlier.Threshold == head.Threshold},
		{"--select " + earlier.Select, earlier.Select == head.Select},
		{seedName, sameSeeds},
	} {
		if !what.equal {
			return o, usageErrorf("--out %s: found results of %s with %s, expected the same data, convention, --select and %s, or another folder", f.out, strings.Join(names, ", "), what.name, seedFlag)
		}
	}
	if earlier.Refit != nil && !now(earlier.Refit.Method) {
		o.refit = earlier.Refit
	}
	text, err = os.ReadFile(filepath.Join(f.out, "tuning.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return o, usageErrorf("--out: %w", err)
	}
	for line := range bytes.Lines(text) {
		var l tunedJSON
		if json.Unmarshal(line, &l) == nil && slices.Contains(names, l.Method) {
			o.lines = append(o.lines, l)
		}
	}
	return o, nil
}

// tuned parses results.json of tune. It returns false for a file of another command.
func tuned(text []byte) (summary tuneJSON, ok bool) {
	err := json.Unmarshal(text, &summary)
	return summary, err == nil && len(summary.Methods) > 0
}

// notTuned returns an error if a folder contains results of tune, which another command would
// overwrite.
func notTuned(out string) error {
	text, err := os.ReadFile(filepath.Join(out, "results.json"))
	if err != nil {
		return nil //nolint:nilerr // no results; writing to the folder will report other problems
	}
	if _, ok := tuned(text); ok {
		return usageErrorf("--out %s: found results.json of tune, expected another folder", out)
	}
	return nil
}

type tuneRefitJSON struct {
	Model      string         `json:"model"`
	Method     string         `json:"method"`
	Settings   map[string]any `json:"settings"`   // of the refitted model
	Validation float64        `json:"validation"` // mean over folds of the chosen setting
	Command    string         `json:"command"`
}

// bestSetting returns the row and the setting with the best mean validation value over folds. A
// setting that successive halving kept in more folds precedes all settings kept in fewer.
func bestSetting(r *tune.Result) (row, setting int, mean float64) {
	most := 0
	for i := range r.Rows {
		for s := range r.Rows[i].Entry.Settings {
			sum, folds := 0.0, 0
			for _, f := range r.Rows[i].Folds {
				if v := f.Tried[s]; !math.IsNaN(v) {
					sum += v
					folds++
				}
			}
			if m := sum / float64(folds); folds > most || folds == most && m > mean {
				row, setting, mean, most = i, s, m, folds
			}
		}
	}
	return row, setting, mean
}

func (f *tuneFlags) refitBest(ctx context.Context, env *environment, c *tune.Config, r *tune.Result, whole *dataset.Dataset) (*tuneRefitJSON, error) {
	i, s, mean := bestSetting(r)
	row := &r.Rows[i]
	var models []*model.Model
	for _, fold := range row.Folds {
		if m := fold.Models[s]; m != nil {
			models = append(models, m)
		}
	}
	v, err := tune.Refitted(row.Entry.Method, row.Entry.Settings[s].(method.Values), models)
	if err != nil {
		return nil, err
	}
	how, err := newRetraining(f.cmd, &f.source, f.transform, c.Convention)
	if err != nil {
		return nil, err
	}
	if whole == nil {
		if whole, err = tune.Whole(c.Folds); err != nil {
			return nil, usageErrorf("--refit: %w", err)
		}
	}
	own := *c
	own.Entries = []tune.Entry{row.Entry}
	session, err := tune.Open(own)
	if err != nil {
		return nil, err
	}
	var trained *model.Model
	err = env.during("training on all data", func() (err error) {
		trained, err = session.Refit(ctx, 0, "all.refit", whole, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(f.out, modelName)
	if err := trained.Save(path); err != nil {
		return nil, err
	}
	var kind []string
	if s := f.scorers[row.Entry.Name]; s != "" {
		kind = []string{"--scorer", s}
	}
	command := commandLine(how.train(row.Entry.Method, kind, v, f.seed, material{how.whole(), []*dataset.Dataset{whole}}, path)...)
	return &tuneRefitJSON{path, row.Entry.Name, v.Typed(), mean, command}, nil
}

func (r *tuneRefitJSON) note(selectBy string) string {
	return fmt.Sprintf("%s: %s, the method with the best mean validation %s (%.4f), trained on all data by\n%s", r.Model, r.Method, selectBy, r.Validation, r.Command)
}

type tunedJSON struct {
	Method     string         `json:"method"`
	Seed       *uint64        `json:"seed,omitempty"` // with --seeds
	Settings   map[string]any `json:"settings"`
	Validation []any          `json:"validation"` // one value per fold; null if successive halving dropped the setting
	Best       any            `json:"best"`       // best mean over folds up to this line
}

// tunedOf returns the tuning curve, a line for each setting in the order of the grids. seed is nil
// without --seeds.
func tunedOf(r *tune.Result, seed *uint64) (lines []tunedJSON) {
	for i := range r.Rows {
		row := &r.Rows[i]
		for s, setting := range row.Entry.Settings {
			line := tunedJSON{Method: row.Entry.Name, Seed: seed, Settings: setting.Typed()}
			for _, f := range row.Folds {
				line.Validation = append(line.Validation, number(f.Tried[s]))
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// writeTuning writes a tuning curve as lines of JSON. It sets Best in each line to the best mean so
// far.
func writeTuning(path string, lines []tunedJSON) error {
	best := math.NaN()
	for i := range lines {
		sum := 0.0
		for _, v := range lines[i].Validation {
			value, ok := v.(float64)
			if !ok {
				value = math.NaN() // dropped in a fold
			}
			sum += value
		}
		if mean := sum / float64(len(lines[i].Validation)); !(mean <= best) && !math.IsNaN(mean) {
			best = mean
		}
		lines[i].Best = number(best)
	}
	return writeLines(path, lines)
}

// writeLines writes each value as a line of JSON.
func writeLines[T any](path string, lines []T) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		for _, line := range lines {
			if err := e.Encode(line); err != nil {
				return err
			}
		}
		return nil
	})
}
