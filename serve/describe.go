package serve

import (
	_ "embed"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/listwise/listwise/serve/experiment"
)

// description describes a model in GET /v1/models.
type description struct {
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Aliases  []string  `json:"aliases,omitempty"`
	Method   string    `json:"method"`
	Scorer   string    `json:"scorer"`
	Features int       `json:"features"`
	Loaded   time.Time `json:"loaded"`
	Fault    string    `json:"fault,omitempty"` // why the changed file could not be loaded

	FeatureNames []string `json:"feature_names,omitempty"`
	Notes        []string `json:"notes,omitempty"`
}

// trialled describes an experiment in GET /v1/models.
type trialled struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	By     string `json:"by"` // whose id chooses the model, or whether to explore: user or query
	Models []arm  `json:"models"`

	Exploration string `json:"exploration,omitempty"` // as experiment.ParseExploration reads it
}

// arm is a model of an experiment.
type arm struct {
	Name  string `json:"name"`
	Share *int   `json:"share,omitempty"` // set for a split only
}

// describe returns the description of an experiment.
func (e *Experiment) describe() trialled {
	t := trialled{Name: e.Name, Kind: e.Kind, By: "user", Models: make([]arm, len(e.Arms))}
	if e.ByQuery {
		t.By = "query"
	}
	if e.Kind == experiment.Explore {
		t.Exploration = e.Explore.String()
	}
	for i := range e.Arms {
		t.Models[i].Name = e.Arms[i].Model
		if e.Kind == experiment.Split {
			t.Models[i].Share = &e.Arms[i].Share
		}
	}
	return t
}

// permitExperiment is [Server.permit] for all models of an experiment.
func (s *Server) permitExperiment(r *http.Request, now *Snapshot, e *Experiment) error {
	for _, a := range e.Arms {
		if m, ok := now.Find(a.Model); ok {
			if err := s.permit(r, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// describe returns the description of a model.
func (s *Snapshot) describe(name string) description {
	m := s.models[name]
	d := description{
		Name: m.Name, Version: m.Version, Method: m.Model.Method, Scorer: m.Model.Scorer.Kind(),
		Features: m.schema.Features, Loaded: m.Since.UTC().Truncate(time.Second), Fault: s.faults[name],
	}
	for alias, of := range s.aliases {
		if of == name {
			d.Aliases = append(d.Aliases, alias)
		}
	}
	slices.Sort(d.Aliases)
	return d
}

// list handles GET /v1/models.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	now := s.Snapshot()
	all := struct {
		Models      []description `json:"models"`
		Experiments []trialled    `json:"experiments,omitempty"`
	}{Models: []description{}}
	for _, name := range now.Names() {
		if s.permit(r, now.models[name]) == nil {
			all.Models = append(all.Models, now.describe(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.experiments)) {
		if e := s.experiments[name]; s.permitExperiment(r, now, e) == nil {
			all.Experiments = append(all.Experiments, e.describe())
		}
	}
	w.Header()["Content-Type"] = jsonType
	writeJSON(w, http.StatusOK, all)
}

// describe handles GET /v1/models/NAME for a model or an experiment.
func (s *Server) describe(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.PathValue("name"), rankSuffix) {
		s.unknownPath(w, r)
		return
	}
	now := s.Snapshot()
	if e := s.experiments[r.PathValue("name")]; e != nil {
		if err := s.permitExperiment(r, now, e); err != nil {
			s.fail(w, r, err)
			return
		}
		w.Header()["Content-Type"] = jsonType
		writeJSON(w, http.StatusOK, e.describe())
		return
	}
	m, ok := now.Find(r.PathValue("name"))
	if !ok {
		s.fail(w, r, problemf(http.StatusNotFound, "%v", s.unknown(now, r.PathValue("name"))))
		return
	}
	if err := s.permit(r, m); err != nil {
		s.fail(w, r, err)
		return
	}
	d := now.describe(m.Name)
	d.FeatureNames, d.Notes = m.schema.Names, m.Notes
	w.Header()["Content-Type"] = jsonType
	writeJSON(w, http.StatusOK, d)
}

// health handles GET /healthz. Any answer means that the process runs.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	w.Header()["Content-Type"] = jsonType
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// readiness is the answer to GET /readyz.
type readiness struct {
	Status string            `json:"status"` // ok, degraded or stopping
	Faults map[string]string `json:"faults,omitempty"`
}

// ready handles GET /readyz, which tells whether the server should get requests. A server whose
// model file is broken still serves the old model. It is ready but degraded, since a file that is
// broken on all servers must not stop the service. A full disk under a log of rankings must not stop
// it either.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	answer, status := readiness{Status: "ok"}, http.StatusOK
	if faults := s.faults(); len(faults) > 0 {
		if answer.Status = "degraded"; s.authorized(r) {
			answer.Faults = faults
		}
	}
	if s.draining.Load() {
		answer.Status, status = "stopping", http.StatusServiceUnavailable
	}
	w.Header()["Content-Type"] = jsonType
	writeJSON(w, status, answer)
}

// faults returns the errors of models and of logs of rankings, by name.
func (s *Server) faults() map[string]string {
	faults := maps.Clone(s.Snapshot().faults)
	for _, l := range s.config.Logs() {
		if _, err := l.Dropped(); err != nil {
			if faults == nil {
				faults = make(map[string]string)
			}
			faults[l.Name] = faultOf(err)
		}
	}
	return faults
}

//go:embed openapi.json
var openAPI []byte

// describeAPI handles GET /openapi.json.
func describeAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header()["Content-Type"] = jsonType
	_, _ = w.Write(openAPI) // the client is gone
}
