package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
)

// Entry is a learner with the settings to try: a method of the catalogue, or the caller's own loss
// and learner (see [OwnOf]).
type Entry struct {
	// Name is the name of the row, unique among entries. Empty means Method's name. With Config.Dir it is also
	// the name of a folder, and must be a plain file name.
	Name string

	Settings []Setting // values of the hyperparameters to try, in order; at least one
	Drawn    bool      // the settings were drawn from ranges and are not a grid

	Method  *method.Method  // nil for the caller's own learner
	Measure measure.Measure // the training measure; nil if there is none
	Scorer  string          // kind of scorer of Method; empty means that of the configuration

	// Own, if not nil, replaces parts of the configuration.
	Own *Variant

	// Plan returns the loss and the learner for a setting. It is required if Method is nil, and
	// otherwise ignored.
	Plan func(s Setting) (loss.Loss, train.Learner, error)
}

// Variant is the part of the configuration that an entry can replace.
type Variant struct {
	Scorer     string           // empty means the method's default
	Views      dataset.Views    // as Config.Views
	Transforms []transform.Spec // as Config.Transforms
	Seed       uint64           // random seed, as Config.Seed

	// Share, if between 0 and 1, is the share of each fold's training queries on which the entry is
	// trained. The sample is drawn by Seed, see [dataset.SampleQueries].
	Share float64
}

// variant returns the Variant of the entry or, if it has none, the values of the configuration.
func (c *Config) variant(e *Entry) Variant {
	if e.Own != nil {
		return *e.Own
	}
	return Variant{Scorer: cmp.Or(e.Scorer, c.Scorer), Views: c.Views, Transforms: c.Transforms, Seed: c.Seed}
}

// Setting contains the values of hyperparameters, by name. [method.Values] is a Setting. If several
// settings have the best validation value, Run chooses the first of them.
type Setting interface {
	Names() []string            // in a fixed order
	Text(name string) string    // text of a value; equal values have the same text
	Number(name string) float64 // a value for which IsNumber is true
	IsNumber(name string) bool  // whether a value is a number
	Typed() map[string]any      // the values as numbers, strings and booleans
	String() string             // all values as text, such as "C=0.1 beta=1"
}

var _ Setting = method.Values{}

// NewEntry returns an entry whose settings are all combinations of the values in the method's grids
// for its default scorer. override has grids, by hyperparameter, that replace the method's. The
// training measure is the default of the method, if it has one, under the zero
// [measure.Convention]. NewEntryOf chooses the kind of scorer, NewEntries takes every kind, and
// NewRandomEntryOf draws settings.
func NewEntry(m *method.Method, override map[string][]string) (Entry, error) {
	return NewEntryOf(m, "", override)
}

// NewEntryOf returns an entry as [NewEntry] does, for a kind of scorer and with its grids. If kind is
// empty, the grids are those for the method's default scorer.
func NewEntryOf(m *method.Method, kind string, override map[string][]string) (Entry, error) {
	m, err := m.For(kind)
	if err != nil {
		return Entry{}, err
	}
	grid, err := m.GridOf(kind, override)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Name: m.Name, Method: m, Scorer: kind}
	if m.UsesMeasure {
		if e.Measure, err = measure.Parse(m.DefaultMeasure, measure.Convention{}, measure.Options{}); err != nil {
			return Entry{}, err
		}
	}
	for _, point := range grid {
		v, err := m.Values(point)
		if err != nil {
			return Entry{}, err
		}
		e.Settings = append(e.Settings, v)
	}
	return e, nil
}

// NewEntries returns an entry for each kind of scorer that the method can train, with the grids for
// that kind. Their names are METHOD.KIND, such as listnet.trees. A grid in override applies to all
// kinds that have the hyperparameter. A name that no kind has is an error.
func NewEntries(m *method.Method, override map[string][]string) (entries []Entry, err error) {
	used := make(map[string]bool)
	for _, kind := range m.Scorers() {
		of, err := m.For(kind)
		if err != nil {
			return nil, err
		}
		grids := make(map[string][]string)
		for _, h := range of.Hyperparameters {
			if values, ok := override[h.Name]; ok {
				grids[h.Name], used[h.Name] = values, true
			}
		}
		e, err := NewEntryOf(m, kind, grids)
		if err != nil {
			return nil, err
		}
		e.Name += "." + kind
		entries = append(entries, e)
	}
	for _, name := range slices.Sorted(maps.Keys(override)) {
		if !used[name] {
			return nil, train.BadProblem("%s has no hyperparameter %q with any of the scorers %s", m.Name, name, strings.Join(m.Scorers(), ", "))
		}
	}
	return entries, nil
}

// OwnOf returns an entry for the caller's own loss and learner. plan returns both for a setting. S is a struct, and
// each of its fields is a setting: an exported field with a number, text or truth value. Results and models record
// the values by the names of the fields. [Run] and [Open] return an error for any other field, and for a number that
// is not finite.
//
// With [Config.Dir], recorded trainings are not repeated. A record matches a training if the name,
// the setting, and the types and fields of the loss and the learner are the same (see
// [train.IdentityOf]). The comparison ignores data behind pointers, in lists or in functions (such
// as an Architecture), and the code of the types. If only such data or code change, use another
// name or folder.
//
// The entry trains what plan returns. For a grid of the catalogue's learners, and for trees, see [method.Gradient].
func OwnOf[S any](name string, settings []S, plan func(S) (loss.Loss, train.Learner, error)) Entry {
	e := Entry{Name: name}
	if plan != nil {
		e.Plan = func(s Setting) (loss.Loss, train.Learner, error) { return plan(s.(own).value.(S)) }
	}
	for _, s := range settings {
		e.Settings = append(e.Settings, own{s})
	}
	return e
}

// own is a Setting of OwnOf: a struct with a field for each value.
type own struct{ value any }

func (o own) field(name string) reflect.Value { return reflect.ValueOf(o.value).FieldByName(name) }

// fields returns the fields of the struct, in order. It replaces an embedded struct by its fields.
func (o own) fields() (fields []reflect.StructField) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(o.value)) {
		if !f.Anonymous || f.Type.Kind() != reflect.Struct {
			fields = append(fields, f)
		}
	}
	return fields
}

// check returns an error for a value that is not a struct, and for a field that cannot be recorded.
func (o own) check() error {
	if t := reflect.TypeOf(o.value); t == nil || t.Kind() != reflect.Struct {
		return fmt.Errorf("found settings of type %T, expected a struct", o.value)
	}
	for _, f := range o.fields() {
		if !f.IsExported() {
			return fmt.Errorf("found the unexported field %s of %T, expected exported fields: results record them by name", f.Name, o.value)
		}
		v := o.field(f.Name)
		if basic(v) == nil {
			return fmt.Errorf("found the field %s of type %v, expected a number, text or a truth value", f.Name, f.Type)
		}
		if v.CanFloat() && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)) {
			return fmt.Errorf("found %s=%v, expected a finite number", f.Name, v.Float())
		}
	}
	return nil
}

// basic returns v as int64, uint64, float64, string or bool. It returns nil for other kinds.
func basic(v reflect.Value) any {
	switch {
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	case v.CanFloat():
		return v.Float()
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	}
	return nil
}

func (o own) Names() []string {
	var names []string
	for _, f := range o.fields() {
		names = append(names, f.Name)
	}
	return names
}

func (o own) Text(name string) string { return fmt.Sprint(basic(o.field(name))) }

func (o own) Number(name string) float64 {
	v, err := strconv.ParseFloat(o.Text(name), 64)
	if err != nil {
		panic(fmt.Sprintf("tune: %s is no number: %v", name, err))
	}
	return v
}

func (o own) IsNumber(name string) bool {
	v := o.field(name)
	return v.CanInt() || v.CanUint() || v.CanFloat()
}

func (o own) Typed() map[string]any {
	typed := make(map[string]any)
	for _, name := range o.Names() {
		typed[name] = basic(o.field(name))
	}
	return typed
}

func (o own) String() string {
	var parts []string
	for _, name := range o.Names() {
		parts = append(parts, name+"="+o.Text(name))
	}
	return strings.Join(parts, " ")
}

// check returns an error for an entry that cannot be trained.
func (e *Entry) check(scorer string) error {
	switch {
	case e.Name == "":
		return errors.New("found an entry without a name, expected one")
	case len(e.Settings) == 0:
		return fmt.Errorf("%s: no settings to try, expected at least one", e.Name)
	case e.Method == nil && e.Plan == nil:
		return fmt.Errorf("%s: neither a method nor a plan, expected one of them", e.Name)
	case e.Method == nil:
		return e.checkOwn()
	}
	for _, s := range e.Settings {
		if _, ok := s.(method.Values); !ok {
			return fmt.Errorf("%s: found a setting of type %T, expected the method's own, as NewEntry makes them", e.Name, s)
		}
	}
	if err := e.Method.CheckMeasure(e.Measure); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	if err := e.Method.CheckScorer(scorer); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	return nil
}

// checkOwn returns an error for settings that a record cannot store.
func (e *Entry) checkOwn() error {
	for _, s := range e.Settings {
		if o, ok := s.(own); ok {
			if err := o.check(); err != nil {
				return fmt.Errorf("%s: %w", e.Name, err)
			}
		}
	}
	return nil
}

// plan sets the loss and the learner of a job whose entry has a Plan. It returns the error of Plan.
func (j *job) plan() (err error) {
	if j.entry.Method == nil {
		j.loss, j.learner, err = j.entry.Plan(j.values)
	}
	return err
}

// trainer identifies the method or learner of the job, for the job's key.
func (j *job) trainer() string {
	if j.entry.Method == nil {
		return "own: " + train.IdentityOf(j.entry.Name, j.loss, j.learner, j.values.Typed())
	}
	return j.entry.Method.Identity()
}

// train trains a job after plan.
func (c *Config) train(ctx context.Context, j *job) (*model.Model, error) {
	e, s, f, own := j.entry, j.values, j.fold, c.variant(j.entry)
	var observe func(train.Iteration)
	if f.Valid != nil {
		observe = j.observe
	}
	return c.within(f, func(maxBytes int64) (*model.Model, error) {
		j.curve = nil
		p := train.Problem{
			Data: f.Train, Valid: f.Valid, Select: c.Select, Measure: e.Measure, Loss: j.loss, Learner: j.learner, Method: e.Name, Settings: s.Typed(),
			Missing: c.Missing, Normalization: c.Normalization, Views: own.Views, Transforms: own.Transforms, Seed: own.Seed,
			MaxBytes: maxBytes, Bindings: c.bindings, Workers: c.workers, Until: c.until, Observe: observe, EpochsAlone: true,
		}
		if c.session && c.until.IsZero() {
			p.Shorter = func(trained func(rounds int) *model.Model) { j.shorter = trained }
		}
		if e.Method != nil {
			return e.Method.Train(ctx, &method.Problem{Problem: p, Values: s.(method.Values), Scorer: own.Scorer})
		}
		return train.Run(ctx, &p)
	})
}

// varied returns the names of the hyperparameters that have several values among the settings.
func (e *Entry) varied() []string {
	var names []string
	for _, name := range e.Settings[0].Names() {
		first := e.Settings[0].Text(name)
		if slices.ContainsFunc(e.Settings, func(s Setting) bool { return s.Text(name) != first }) {
			names = append(names, name)
		}
	}
	return names
}

// NewRandomEntryOf returns an entry as [NewEntryOf] does, with the given number of settings, which
// it draws at random from the ranges of the grids. A number is drawn between the least and the
// largest value of its grid, on a logarithmic scale if all values are positive. Integers are
// rounded. Any other hyperparameter gets one of the values of its grid. Equal settings are drawn
// again. If the ranges do not contain enough different settings, the entry has fewer.
func NewRandomEntryOf(m *method.Method, kind string, override map[string][]string, settings int, seed uint64) (Entry, error) {
	e, err := NewEntryOf(m, kind, override)
	if err != nil {
		return e, err
	}
	of, err := m.For(kind)
	if err != nil {
		return e, err
	}
	grid := e.Settings
	e.Settings, e.Drawn = nil, true
	rng := random.Stream(seed, "random settings", e.Name)
	known := make(map[string]bool)
	for tries := 0; len(e.Settings) < settings && tries < 100*settings; tries++ {
		set := make(map[string]string)
		for _, h := range of.Hyperparameters {
			set[h.Name] = drawValue(grid, h, rng.Float64())
		}
		v, err := of.Values(set)
		if err != nil {
			return e, fmt.Errorf("a setting drawn from the ranges of the grids: %w", err)
		}
		if !known[v.String()] {
			known[v.String()] = true
			e.Settings = append(e.Settings, v)
		}
	}
	return e, nil
}

// drawValue returns the value of a hyperparameter that belongs to u, a random number in [0, 1).
func drawValue(grid []Setting, h method.Hyperparameter, u float64) string {
	var values []string
	for _, s := range grid {
		if !slices.Contains(values, s.Text(h.Name)) {
			values = append(values, s.Text(h.Name))
		}
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, text := range values {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || len(values) == 1 || h.Kind != method.Number && h.Kind != method.Integer {
			return values[int(u*float64(len(values)))]
		}
		low, high = min(low, n), max(high, n)
	}
	drawn := low + float64(u*(high-low))
	if low > 0 {
		drawn = low * elementary.Pow(high/low, u)
	}
	if h.Kind == method.Integer {
		return strconv.FormatFloat(math.Round(drawn), 'f', -1, 64)
	}
	const digits = 4 // of a drawn number, enough for any hyperparameter
	return strconv.FormatFloat(drawn, 'g', digits, 64)
}
