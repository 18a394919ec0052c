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
// published say how to train; the parts make the report.
type study struct {
	Experiment // Run is left to the study

	// data returns the sets to run on and the names of the missing ones.
	data     func(Options) (found []source, missing []string, err error)
	sizes    letorSetList // of the published sets: data of another size are other data
	readings []reading    // how documents and grades are taken; by default as they are

	rows  []row
	axis  string // what the rows are points of, if they are
	seeds int    // that every row is trained with, from Options.Seed on; 0 means 1
	alone bool   // every row is tuned by itself, not all of a group in one tune.Run

	convention measure.Convention // of training, choice and measures
	chosenBy   string             // the measure on validation data that settings are chosen by
	measures   []string           // on test data

	// records is the folder of a row's finished trainings, with {set}, {reading},
	// {row}, {group} and {seed} in their places.
	records string

	// published returns the published numbers on a set, nil if there are none.
	published func(set string) numbers
	quoted    bool // the published numbers are of baselines, quoted or run for comparison

	// views, if not nil, returns the conventions to measure a set's chosen models in,
	// with the published numbers of each, instead of convention, measures and published.
	views func(set string) []view

	parts []part
}

// row is a row of a study's tables: a method with what is tried.
type row struct {
	name     string // as published, where it is
	method   string // "" if there is none here: the row has published numbers alone, or is among others
	training string // the training measure, "" for the method's own or none
	trainsBy string // its convention, "" for the study's
	scorer   string // "" for the method's own
	grid     map[string][]string

	// among, if not nil, names rows with a method. This row has none: in every fold it is the
	// named row with the best validation value, as one row with all their settings would be.
	among []string

	on func(*column) bool // the sets that the row is for; nil for all

	// own, if not nil, makes of a setting of the method the loss and the learner that are
	// trained in place of the method's own.
	own func(settings map[string]any) (loss.Loss, train.Learner, error)

	chosenBy  string // "" for the study's
	group     string // rows of a group are tuned together, and parts may be about some groups
	seeds     int    // 0 for the study's
	against   string // the published row that its claims are about, if not its namesake
	unplotted bool   // left out of curves, which have eight looks
	quoted    bool   // the published number is of a baseline
}

// part is a piece of a study's report.
type part interface {
	add(s *results, r *Report)
}

// drawnSeeds is the number of seeds of rows that draw something, where the spread between
// them is to be known.
const drawnSeeds = 5

// partFunc is a part of one experiment's own.
type partFunc func(s *results, r *Report)

func (f partFunc) add(s *results, r *Report) { f(s, r) }

// experiment returns what the registry lists.
func (s study) experiment() Experiment {
	e := s.Experiment
	e.Run, e.study = s.run, &s
	return e
}

// run trains and reports.
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

// train tunes every row on every set as every reading takes it.
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

// groups returns the numbers of the rows that are tuned together on a column with the k-th seed.
// They agree in the settings of a whole tune.Run.
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

// tune computes some rows; their common settings are read from the first. Ties stay in the order of the
// file, as in LETOR's evaluation.
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

// stage names a tune.Run for progress messages.
func (s *study) stage(c *column, r *row, seed uint64) string {
	var words []string
	if strings.Contains(s.records, "{set}") { // there may be several
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

// chooser is the measure on validation data that a row's settings are chosen by.
func (s *study) chooser(r *row) string { return cmp.Or(r.chosenBy, s.chosenBy) }

// entry returns what tune.Run needs of the row.
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
		settings := make([]map[string]any, len(e.Settings))
		for i, s := range e.Settings {
			settings[i] = s.Typed()
		}
		e = tune.Own(r.name, settings, r.own)
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

// reported are the measures of LogRank's tables, in its order.
var reported = []string{"ndcg@1", "ndcg@5", "ndcg@10", "map"}

// ndcgUpTo names NDCG@1 … NDCG@k.
func ndcgUpTo(k int) []string {
	names := make([]string, k)
	for i := range names {
		names[i] = fmt.Sprintf("ndcg@%d", i+1)
	}
	return names
}

// letor3 is the convention of most experiments here.
var letor3 = measure.LETOR3

// title of a measure: "NDCG@10".
func title(m string) string { return strings.ToUpper(m) }

// rowNamed returns the number of the row of that name, −1 if there is none.
func (s *study) rowNamed(name string) int {
	return slices.IndexFunc(s.rows, func(r row) bool { return r.name == name })
}
