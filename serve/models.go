package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/explain"
	"github.com/listwise/listwise/model/interchange"
	"github.com/listwise/listwise/serve/rankjson"
)

// Absent is the value of a feature that a lenient request leaves out.
type Absent string

// The values of [Absent].
const (
	// AbsentByModel means missing if the model names its features, as in a table whose line lacks
	// the value. Otherwise it means the model's rule for absent features: 0 or missing.
	AbsentByModel Absent = "model"
	AbsentZero    Absent = "zero"
	AbsentMissing Absent = "missing"
)

// Loaded is a model as it was read from its file. It is immutable.
type Loaded struct {
	Name    string
	Version string // the first 12 hexadecimal digits of the SHA-256 of the file's bytes
	Model   *model.Model
	Notes   []string // what was assumed of a file of another system
	Since   time.Time

	path   string
	file   fileState
	schema rankjson.Schema

	nameHeader, versionHeader []string // of answers

	explainer *explain.Explainer // against the background; nil without
	drift     *drift             // nil if nothing is known of the training data
}

// Snapshot is the models as they are at one moment. It is immutable.
type Snapshot struct {
	models  map[string]*Loaded
	aliases map[string]string
	faults  map[string]string // by name, why a model is not what its file is now
}

// Snapshot returns the models as they are now.
func (s *Server) Snapshot() *Snapshot { return s.snapshot.Load() }

// Find returns the model of a name or an alias.
func (s *Snapshot) Find(name string) (*Loaded, bool) {
	m, ok := s.models[s.canonical(name)]
	return m, ok
}

// canonical returns the name of the model that a name or an alias leads to.
func (s *Snapshot) canonical(name string) string {
	if of, ok := s.aliases[name]; ok {
		return of
	}
	return name
}

// Names returns the names of the models in ascending order.
func (s *Snapshot) Names() []string { return slices.Sorted(maps.Keys(s.models)) }

// unknown is the error about an unknown name.
func (s *Snapshot) unknown(name string) error {
	return suggest.Unknown("model", name, slices.Sorted(maps.Keys(s.known())))
}

// known are all names and aliases.
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

// fileState detects changes of a file.
type fileState struct {
	info os.FileInfo
}

func stateOf(path string) (fileState, error) {
	info, err := os.Stat(path)
	return fileState{info}, err
}

func (f fileState) same(g fileState) bool {
	return f.info != nil && g.info != nil && os.SameFile(f.info, g.info) && f.info.Size() == g.info.Size() && f.info.ModTime().Equal(g.info.ModTime())
}

// load reads a model. Errors name the file.
func (s *Server) load(source Source) (*Loaded, error) {
	state, err := stateOf(source.Path) // before it is read, so that a change meanwhile is seen later
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", source.Name, err)
	}
	data, err := model.ReadFile(source.Path)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", source.Name, err)
	}
	m, notes, err := interchange.Decode(data, interchange.ReadOptions{File: source.Path})
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", source.Name, err)
	}
	sum := sha256.Sum256(data)
	if len(data) >= largeModel {
		runtime.GC() // data are not used any more
	}
	m.Prepare() // takes seconds for a large forest, and one of the first requests would otherwise take them
	l := &Loaded{Name: source.Name, Version: hex.EncodeToString(sum[:6]), Model: m, Notes: notes, Since: time.Now(), path: source.Path, file: state}
	l.schema = schemaOf(m, s.config.Absent)
	l.nameHeader, l.versionHeader = []string{l.Name}, []string{l.Version}
	if cells := s.limits.cells(); l.schema.Features > cells {
		return nil, fmt.Errorf("model %s: %s: found %d features, expected at most %d, which is what the largest request may hold", source.Name, source.Path, l.schema.Features, cells)
	}
	if err := l.compare(s.config.Backgrounds[source.Name]); err != nil {
		return nil, fmt.Errorf("model %s: its background: %w", source.Name, err)
	}
	return l, nil
}

// compare prepares what compares requests with other data: those given, which may be nil, and
// the training data.
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

// schemaOf returns what reading requests needs to know of a model.
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

// absentMissing reports whether features that are not there are missing, and not 0.
func absentMissing(m *model.Model, absent Absent) bool {
	switch absent {
	case AbsentZero:
		return false
	case AbsentMissing:
		return true
	}
	return m.FeatureNames != nil || !slices.ContainsFunc(m.Members(), func(member *model.Model) bool { return !member.AbsentMissing })
}

// Reload reads the files that have changed since they were read, all of them if force is set.
// What cannot be read keeps its old model, shows on /readyz and in the log, and is joined to the
// error that is returned.
func (s *Server) Reload(force bool) error {
	s.loading.Lock()
	defer s.loading.Unlock()
	old := s.snapshot.Load()
	next := &Snapshot{models: maps.Clone(old.models), aliases: old.aliases, faults: make(map[string]string)}
	changed := false
	var errs []error
	for _, source := range s.config.Models {
		now, err := stateOf(source.Path)
		if err == nil && !force && now.same(old.models[source.Name].file) {
			continue
		}
		if err == nil && !force && now.same(s.broken[source.Name]) { // as it was when it could not be read
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

// faultOf is the text of an error without the name of the folder.
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
