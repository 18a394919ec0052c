package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/explain"
	"github.com/listwise/listwise/serve/rankjson"
)

// Absent is the value of a feature that a lenient request omits; see Config.Lenient. "" means
// AbsentByModel.
type Absent string

// The values of [Absent].
const (
	// AbsentByModel makes omitted features missing if the model has feature names. Otherwise, it
	// uses the model's rule for absent features, which is 0 or missing.
	AbsentByModel Absent = "model"
	AbsentZero    Absent = "zero"    // omitted features are 0
	AbsentMissing Absent = "missing" // omitted features are missing values
)

// Loaded is a model that the server uses. It is immutable.
type Loaded struct {
	Name    string       // the name of its [Source]
	Version string       // the first 12 hexadecimal digits of the SHA-256 of the file's bytes
	Model   *model.Model // must not be changed
	Notes   []string     // assumptions made when reading a file of another system
	Since   time.Time    // when the model was loaded

	file   fileState
	schema rankjson.Schema

	nameHeader, versionHeader []string // values of answer headers

	explainer *explain.Explainer // explains against the background; nil without a background
	drift     *drift             // nil if the training data's distribution is unknown
}

// Snapshot is the set of models at one moment. It is immutable.
type Snapshot struct {
	models  map[string]*Loaded
	aliases map[string]string
	faults  map[string]string // by model name, why a changed file could not be loaded
}

// Snapshot returns the current models.
func (s *Server) Snapshot() *Snapshot { return s.snapshot.Load() }

// Find returns the model with the given name or alias.
func (s *Snapshot) Find(name string) (*Loaded, bool) {
	m, ok := s.models[s.canonical(name)]
	return m, ok
}

// canonical returns the name of the model that name refers to. name may be an alias.
func (s *Snapshot) canonical(name string) string {
	if of, ok := s.aliases[name]; ok {
		return of
	}
	return name
}

// Names returns the names of the models in ascending order.
func (s *Snapshot) Names() []string { return slices.Sorted(maps.Keys(s.models)) }

// unknown returns the error about an unknown name.
func (s *Snapshot) unknown(name string) error {
	return suggest.Unknown("model", name, slices.Sorted(maps.Keys(s.known())))
}

// known returns all names and aliases.
func (s *Snapshot) known() map[string]bool {
	all := make(map[string]bool)
	for name := range s.models {
		all[name] = true
	}
	for alias := range s.aliases {
		all[alias] = true
	}
	return all
}

// load reads a model and prepares it for requests. Its errors name the model and the file.
func (s *Server) load(source Source) (*Loaded, error) {
	l, err := source.read()
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", source.Name, err)
	}
	l.Model.Prepare() // takes seconds for a large forest; otherwise the first request would take them
	l.Name, l.Since = source.Name, time.Now()
	l.schema = schemaOf(l.Model, s.config.Absent)
	l.nameHeader, l.versionHeader = []string{l.Name}, []string{l.Version}
	if cells := s.limits.cells(); l.schema.Features > cells {
		return nil, fmt.Errorf("model %s: found %d features, expected at most %d, which is what the largest request may hold", source.Name, l.schema.Features, cells)
	}
	if err := l.compare(s.config.Backgrounds[source.Name]); err != nil {
		return nil, fmt.Errorf("model %s: its background: %w", source.Name, err)
	}
	return l, nil
}

// compare prepares explanations against a background, which may be nil, and the drift from the
// training data.
func (l *Loaded) compare(background *dataset.Dataset) (err error) {
	if background != nil {
		if background, err = ordered(l.Model, background); err != nil {
			return err
		}
		if l.explainer, err = explain.New(l.Model, background, explain.Options{}); err != nil {
			return err
		}
	}
	l.drift = newDrift(l.Model, background)
	return nil
}

// schemaOf returns the schema for decoding requests for a model.
func schemaOf(m *model.Model, absent Absent) rankjson.Schema {
	s := rankjson.Schema{Features: m.NumFeatures(), Names: m.FeatureNames}
	if missing := absentMissing(m, absent); missing {
		s.Absent = float32(math.NaN())
	}
	if categories := m.InputCategories(); categories != nil {
		s.Text = func(column int, text []byte) (v float32, expected string, ok bool) {
			if column >= len(categories) || categories[column] == nil {
				return 0, "", false
			}
			v, ok = categories[column].TextValue(text)
			return v, categories[column].Expected(), ok
		}
	}
	if s.Names == nil {
		return s
	}
	s.Columns = make(map[string]int, len(s.Names))
	for j, name := range s.Names {
		if _, twice := s.Columns[name]; twice {
			s.Unnamed = fmt.Sprintf("found features by name, expected a list: the model has two features named %q", name)
		}
		s.Columns[name] = j
	}
	return s
}

// absentMissing reports whether omitted features are missing values, rather than 0.
func absentMissing(m *model.Model, absent Absent) bool {
	switch absent {
	case AbsentZero:
		return false
	case AbsentMissing:
		return true
	}
	return m.FeatureNames != nil || !slices.ContainsFunc(m.Members(), func(member *model.Model) bool { return !member.AbsentMissing })
}

// Reload reads the model files that have changed, or all files if force is set. If a file cannot be
// read, the server keeps the old model and reports the error on /readyz and in the log. Reload
// returns these errors, joined. It does not concern models in memory.
func (s *Server) Reload(force bool) error {
	s.loading.Lock()
	defer s.loading.Unlock()
	old := s.snapshot.Load()
	next := &Snapshot{models: maps.Clone(old.models), aliases: old.aliases, faults: make(map[string]string)}
	changed := false
	var errs []error
	for _, source := range s.config.Models {
		if source.Model != nil {
			continue
		}
		now, err := source.state()
		if err == nil && !force && now.same(old.models[source.Name].file) {
			continue
		}
		if err == nil && !force && now.same(s.broken[source.Name]) { // unchanged since the last failure
			next.faults[source.Name] = old.faults[source.Name]
			continue
		}
		m, err := s.loadBeside(source)
		if err != nil {
			errs = append(errs, err)
			next.faults[source.Name], s.broken[source.Name] = faultOf(err), now
			if old.faults[source.Name] != faultOf(err) {
				s.log.Error("a model cannot be loaded; the old one stays", "model", source.Name, "version", old.models[source.Name].Version, "error", err)
			}
			continue
		}
		if was := old.models[source.Name].Version; was != m.Version {
			s.log.Info("a model was loaded", "model", m.Name, "version", m.Version, "was", was)
		}
		next.models[source.Name], changed = m, true
	}
	if changed || !maps.Equal(next.faults, old.faults) {
		s.snapshot.Store(next)
	}
	return errors.Join(errs...)
}

// faultOf returns the text of an error without the path of the file.
func faultOf(err error) string {
	if file, ok := errors.AsType[*model.FileError](err); ok {
		return file.Err.Error()
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Op + ": " + path.Err.Error()
	}
	if room, ok := errors.AsType[*roomError](err); ok {
		return room.text
	}
	return err.Error()
}
