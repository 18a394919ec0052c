package papers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune"
)

// study declares an experiment of the most common kind. Methods are tuned on the folds of data
// sets, and the results of the chosen models are compared with published numbers. The fields up to
// records describe the training, and parts make the report.
type study struct {
	Experiment // Run is set by experiment

	// data returns the sets to use, and the names of missing sets.
	data     func(Options) (found []source, missing []string, err error)
	sizes    letorSetList // sizes of the published sets; data of another size count as other data
	readings []reading    // readings of the data; default: as published

	rows  []row
	axis  string // name of the axis if the rows are points on one
	seeds int    // number of seeds for every row, from Options.Seed on; 0: 1
	alone bool   // tune every row by itself, instead of one tune.Run for a group

	convention measure.Convention // convention of training, selection and evaluation
	chosenBy   string             // selection measure on validation data
	measures   []string           // measures on test data

	// records is the folder of a row's finished trainings. {set}, {reading}, {row}, {group} and
	// {seed} stand for their values.
	records string

	// published returns the published numbers on a set, or nil.
	published func(set string) numbers
	quoted    bool // the published numbers are of baselines, which the paper quotes or ran for comparison

	// views, if not nil, replaces convention, measures and published. It returns the conventions in
	// which a set's chosen models are evaluated, with the published numbers of each convention.
	views func(set string) []view

	parts []part
}

// row is a row of a study's tables: a method with the settings to try.
type row struct {
	name     string // the published name, if there is one
	method   string // "" for a row of published numbers alone, or a row with among
	training string // training measure; "" for the method's own or none
	trainsBy string // convention of the training measure; "" for the study's
	scorer   string // kind of scorer; "" for the method's own
	grid     map[string][]string

	// among, if not nil, names rows that this row combines. In every fold it is the named row with
	// the best validation value. The result is the same as for one row with all their settings.
	among []string

	on func(*column) bool // reports whether the row is for a set; nil for all sets

	// own, if not nil, returns the loss and the learner for a setting. They replace the method's
	// own.
	own func(settings map[string]any) (loss.Loss, train.Learner, error)

	chosenBy  string // selection measure; "" for the study's
	group     string // rows of a group are tuned together; parts may be limited to groups
	seeds     int    // number of seeds; 0 for the study's
	against   string // published row to compare with, if its name differs
	unplotted bool   // omitted from plots of curves, which have eight line styles
	quoted    bool   // the published number is of a baseline
}

// part is a part of a study's report.
type part interface {
	add(s *results, r *Report)
}

// drawnSeeds is the number of seeds for rows with random components, whose spread is reported.
const drawnSeeds = 5

// partFunc is a part that belongs to one experiment.
type partFunc func(s *results, r *Report)

func (f partFunc) add(s *results, r *Report) { f(s, r) }

// experiment returns the study as an experiment for the registry.
func (s study) experiment() Experiment {
	e := s.Experiment
	e.Run, e.study = s.run, &s
	return e
}

// run trains all rows and returns the report.
func (s study) run(ctx context.Context, o Options) (*Report, error) {
	found, err := s.train(ctx, o)
	if err != nil {
		return nil, err
	}
	r := found.begin(s.Experiment)
	r.add(found, s.parts...)
	return r, nil
}

func (r *Report) add(s *results, parts ...part) {
	for _, p := range parts {
		p.add(s, r)
	}
}

// train tunes every row on every set in every reading.
func (s *study) train(ctx context.Context, o Options) (*results, error) {
	sources, missing, err := s.data(o)
	if err != nil {
		return nil, err
	}
	if len(s.readings) == 0 {
		s.readings = []reading{asPublished}
	}
	s.readings = readingsFor(s.readings, sources)
	found := &results{study: s, options: o, missing: missing}
	for i := range sources {
		folds, err := sources[i].read()
		if err != nil {
			return nil, err
		}
		for _, r := range s.readings {
			c, taken, err := newColumn(&sources[i], r, folds)
			if err == nil {
				err = s.trainColumn(ctx, o, c, taken)
			}
			if err == nil {
				c.views, err = s.measured(ctx, c, taken)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.heading(s), err)
			}
			found.columns = append(found.columns, c)
		}
	}
	return found, nil
}

// trainColumn tunes the rows on a column's folds, seed by seed and group by group.
func (s *study) trainColumn(ctx context.Context, o Options, c *column, folds []tune.Fold) error {
	c.rows = make([][]*tune.Row, len(s.rows))
	most := s.seeds
	for i := range s.rows {
		most = max(most, s.rows[i].seeds)
	}
	for k := range max(1, most) {
		seed := o
		seed.Seed += uint64(k)
		if k > 0 && o.Records != "" && !strings.Contains(s.records, "{seed}") {
			seed.Records = filepath.Join(o.Records, fmt.Sprintf("seed%d", seed.Seed))
		}
		for _, members := range s.groups(c, k) {
			rows, err := s.tune(ctx, seed, c, members, folds)
			if err != nil {
				return err
			}
			for i, at := range members {
				c.rows[at] = append(c.rows[at], &rows[i])
			}
		}
	}
	for i := range s.rows {
		if s.rows[i].among != nil {
			c.rows[i] = s.bestAmong(c, s.rows[i].among)
		}
	}
	return nil
}

// groups returns the indices of the rows that one tune.Run tunes together on a column, for the k-th
// seed. These rows agree in the settings that tune.Run has for all methods.
func (s *study) groups(c *column, k int) [][]int {
	type key struct {
		scorer, chosenBy, group string
		alone                   int
	}
	var keys []key
	var groups [][]int
	for i := range s.rows {
		r := &s.rows[i]
		if r.method == "" || k >= max(1, s.seeds, r.seeds) || r.on != nil && !r.on(c) {
			continue
		}
		own := key{scorer: r.scorer, chosenBy: r.chosenBy, group: r.group}
		if s.alone {
			own.alone = i
		}
		at := slices.Index(keys, own)
		if at < 0 {
			at, keys, groups = len(keys), append(keys, own), append(groups, nil)
		}
		groups[at] = append(groups[at], i)
	}
	return groups
}

// tune tunes the rows in members, which have the common settings of the first. Tied documents keep
// the order of the file, as in LETOR's evaluation.
func (s *study) tune(ctx context.Context, o Options, c *column, members []int, folds []tune.Fold) ([]tune.Row, error) {
	first := &s.rows[members[0]]
	config := tune.Config{Folds: folds, Convention: s.convention, Scorer: first.scorer, Seed: o.Seed, Jobs: o.Jobs, KeepModels: s.published != nil || s.views != nil}
	var err error
	if config.Measures, err = measure.ParseList(strings.Join(s.measures, ","), s.convention, measure.Options{}); err != nil {
		return nil, err
	}
	if config.Select, err = measure.Parse(s.chooser(first), s.convention, measure.Options{}); err != nil {
		return nil, err
	}
	for _, at := range members {
		e, err := s.rows[at].entry(s.convention)
		if err != nil {
			return nil, err
		}
		config.Entries = append(config.Entries, e)
	}
	stage := s.stage(c, first, o.Seed)
	config.Observe = func(done, total int) { o.observe(stage, done, total) }
	if o.Records != "" {
		config.Dir = filepath.Join(o.Records, filepath.FromSlash(strings.NewReplacer(
			"{set}", c.name, "{reading}", cmp.Or(c.reading.folder, c.reading.name), "{row}", first.name, "{group}", first.group, "{seed}", strconv.FormatUint(o.Seed, 10),
		).Replace(s.records)))
	}
	result, err := tune.Run(ctx, config)
	if err != nil {
		return nil, err
	}
	return result.Rows, nil
}

// stage returns the name of a tune.Run for progress messages.
func (s *study) stage(c *column, r *row, seed uint64) string {
	var words []string
	if strings.Contains(s.records, "{set}") { // there may be several sets
		words = append(words, c.heading(s))
	}
	if s.alone {
		words = append(words, r.name)
	} else if r.group != "" {
		words = append(words, r.group)
	}
	if r.chosenBy != "" {
		words = append(words, "chosen by "+r.chosenBy)
	}
	if strings.Contains(s.records, "{seed}") || max(s.seeds, r.seeds) > 1 {
		words = append(words, fmt.Sprintf("seed %d", seed))
	}
	return strings.Join(words, ", ")
}

// chooser returns the measure on validation data that selects a row's settings.
func (s *study) chooser(r *row) string { return cmp.Or(r.chosenBy, s.chosenBy) }

// entry returns the row in the form that tune.Run needs.
func (r *row) entry(c measure.Convention) (tune.Entry, error) {
	m, err := method.Lookup(r.method)
	if err != nil {
		return tune.Entry{}, err
	}
	e, err := tune.NewEntry(m, maps.Clone(r.grid))
	if err != nil {
		return tune.Entry{}, err
	}
	if r.own != nil {
		e = tune.Entry{Settings: e.Settings, Plan: func(s tune.Setting) (loss.Loss, train.Learner, error) { return r.own(s.Typed()) }}
	}
	e.Name = r.name
	training := r.training
	if training == "" && m.UsesMeasure {
		training = m.DefaultMeasure
	}
	if training != "" {
		if r.trainsBy != "" {
			c = conventionNamed(r.trainsBy)
		}
		e.Measure, err = measure.Parse(training, c, measure.Options{})
	}
	return e, err
}

// reported are the measures of LogRank's tables, in their order.
var reported = []string{"ndcg@1", "ndcg@5", "ndcg@10", "map"}

// ndcgUpTo returns the names of NDCG@1 … NDCG@k.
func ndcgUpTo(k int) []string {
	names := make([]string, k)
	for i := range names {
		names[i] = fmt.Sprintf("ndcg@%d", i+1)
	}
	return names
}

// letor3 is the convention of most experiments.
var letor3 = measure.LETOR3

// title returns the printed name of a measure: "NDCG@10".
func title(m string) string { return strings.ToUpper(m) }

// rowNamed returns the index of the named row, or −1 if there is none.
func (s *study) rowNamed(name string) int {
	return slices.IndexFunc(s.rows, func(r row) bool { return r.name == name })
}
