package runs

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Filter says which runs List returns; its zero value is for all.
type Filter struct {
	Kind   Kind   // "" for all
	Method string // runs that have it among their Methods; "" for all
	Status Status // "" for all
	Limit  int    // at most this many, the newest; 0 for all
}

// List returns runs, the newest first, without PerQuery and Curve.
func (s *Store) List(f Filter) ([]Run, error) {
	var list []Run
	err := s.read(func(tx *sql.Tx) error {
		var err error
		if list, err = s.runsOf(tx, "", nil); err != nil {
			return err
		}
		list = f.apply(list)
		return load(tx, list)
	})
	return list, err
}

// apply keeps the runs that the filter wants. It is done here since a run's status
// is not in the database alone.
func (f *Filter) apply(list []Run) []Run {
	var kept []Run
	for i := range list {
		if r := &list[i]; f.matches(r) && (f.Limit <= 0 || len(kept) < f.Limit) {
			kept = append(kept, *r)
		}
	}
	return kept
}

func (f *Filter) matches(r *Run) bool {
	if f.Kind != "" && r.Kind != f.Kind || f.Status != "" && r.Status != f.Status {
		return false
	}
	if f.Method == "" {
		return true
	}
	for _, m := range r.Methods {
		if m == f.Method {
			return true
		}
	}
	return false
}

// Get returns all that is known of a run. The error is a *NotFoundError if there
// is none of that number.
func (s *Store) Get(id int64) (*Run, error) {
	var run *Run
	err := s.read(func(tx *sql.Tx) error {
		list, err := s.runsOf(tx, "WHERE id = ?", []any{id})
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return &NotFoundError{Path: s.path, ID: id}
		}
		if err := load(tx, list); err != nil {
			return err
		}
		run = &list[0]
		return loadDetails(tx, run)
	})
	return run, err
}

func (s *Store) runsOf(tx *sql.Tx, where string, args []any) ([]Run, error) {
	return collect(tx, s.scanRun, `SELECT id, kind, status, begun, seconds, command, methods, config, seed, version, revision, modified, go, program, error
		FROM run `+where+` ORDER BY id DESC`, args...)
}

func (s *Store) scanRun(rows *sql.Rows) (Run, error) {
	var r Run
	var begun string
	var seconds sql.NullFloat64
	var seed sql.NullString
	c := &r.Code
	err := rows.Scan(&r.ID, &r.Kind, &r.Status, &begun, &seconds, fromJSON{&r.Command}, fromJSON{&r.Methods}, fromJSON{&r.Config}, &seed,
		&c.Version, &c.Revision, &c.Modified, &c.Go, &c.Program, &r.Error)
	if err != nil {
		return r, err
	}
	r.Status = s.statusNow(r.ID, r.Status)
	r.Duration = time.Duration(seconds.Float64 * float64(time.Second)).Round(time.Microsecond)
	if r.Begun, err = time.Parse(timeFormat, begun); err != nil {
		return r, fmt.Errorf("run %d: %w", r.ID, err)
	}
	if seed.Valid {
		n, err := strconv.ParseUint(seed.String, 10, 64)
		if err != nil {
			return r, fmt.Errorf("run %d: seed: %w", r.ID, err)
		}
		r.Seed = &n
	}
	return r, nil
}

// child is a row that belongs to run, or to the result of that id.
type child[T any] struct {
	parent int64
	row    T
}

// load adds to runs all but per-query results and curves.
func load(tx *sql.Tx, list []Run) error {
	if len(list) == 0 {
		return nil
	}
	byID := make(map[int64]*Run, len(list))
	low, high := list[0].ID, list[0].ID
	for i := range list {
		byID[list[i].ID] = &list[i]
		low, high = min(low, list[i].ID), max(high, list[i].ID)
	}
	data, err := collect(tx, scanData, "SELECT run, role, path, fingerprint, queries, documents FROM data WHERE run BETWEEN ? AND ? ORDER BY run, place", low, high)
	if err != nil {
		return err
	}
	for _, c := range data {
		if r := byID[c.parent]; r != nil {
			r.Data = append(r.Data, c.row)
		}
	}
	files, err := collect(tx, scanFile, "SELECT run, path FROM file WHERE run BETWEEN ? AND ? ORDER BY run, place", low, high)
	if err != nil {
		return err
	}
	for _, c := range files {
		if r := byID[c.parent]; r != nil {
			r.Files = append(r.Files, c.row)
		}
	}
	return loadResults(tx, byID, low, high)
}

func scanData(rows *sql.Rows) (child[Data], error) {
	var c child[Data]
	d := &c.row
	err := rows.Scan(&c.parent, &d.Role, &d.Path, &d.Fingerprint, &d.Queries, &d.Documents)
	return c, err
}

func scanFile(rows *sql.Rows) (child[string], error) {
	var c child[string]
	err := rows.Scan(&c.parent, &c.row)
	return c, err
}

func loadResults(tx *sql.Tx, byID map[int64]*Run, low, high int64) error {
	measures, err := collect(tx, scanMeasure, `SELECT result.id, measure.name, measure.mean, measure.tie_neutral, measure.queries
		FROM measure JOIN result ON result.id = measure.result WHERE result.run BETWEEN ? AND ? ORDER BY result.id, measure.place`, low, high)
	if err != nil {
		return err
	}
	ofResult := make(map[int64][]Measure)
	for _, c := range measures {
		ofResult[c.parent] = append(ofResult[c.parent], c.row)
	}
	results, err := collect(tx, func(rows *sql.Rows) (child[Result], error) { return scanResult(rows, ofResult) },
		"SELECT id, run, ranker, fold, settings, training, validation, trials FROM result WHERE run BETWEEN ? AND ? ORDER BY run, place", low, high)
	if err != nil {
		return err
	}
	for _, c := range results {
		if r := byID[c.parent]; r != nil {
			r.Results = append(r.Results, c.row)
		}
	}
	return nil
}

func scanMeasure(rows *sql.Rows) (child[Measure], error) {
	var c child[Measure]
	m := &c.row
	err := rows.Scan(&c.parent, &m.Name, number{&m.Mean}, number{&m.TieNeutral}, &m.Queries)
	return c, err
}

func scanResult(rows *sql.Rows, measures map[int64][]Measure) (child[Result], error) {
	var c child[Result]
	var id int64
	r := &c.row
	err := rows.Scan(&id, &c.parent, &r.Ranker, &r.Fold, fromJSON{&r.Settings}, fromJSON{&r.Training}, number{&r.Validation}, fromJSON{&r.Trials})
	r.Measures = measures[id]
	return c, err
}

// loadDetails adds per-query results and curves.
func loadDetails(tx *sql.Tx, r *Run) error {
	values, err := collect(tx, scanValue, `SELECT result.place, measure.place, per_query.query, per_query.value
		FROM per_query JOIN measure ON measure.id = per_query.measure JOIN result ON result.id = measure.result
		WHERE result.run = ? ORDER BY result.place, measure.place, per_query.place`, r.ID)
	if err != nil {
		return err
	}
	for _, v := range values {
		if v.result < 0 || v.result >= len(r.Results) || v.measure < 0 || v.measure >= len(r.Results[v.result].Measures) {
			return fmt.Errorf("run %d: found a value of measure %d of result %d, of which there is none: the record is damaged", r.ID, v.measure, v.result)
		}
		m := &r.Results[v.result].Measures[v.measure]
		m.PerQuery = append(m.PerQuery, v.Value)
	}
	r.Curve, err = collect(tx, scanPoint, `SELECT ranker, fold, start, step, epoch, objective, grad_norm, rate, validation, best
		FROM curve WHERE run = ? ORDER BY place`, r.ID)
	return err
}

// placedValue is a Value of the measure and result at these places.
type placedValue struct {
	result, measure int
	Value
}

func scanValue(rows *sql.Rows) (placedValue, error) {
	var v placedValue
	err := rows.Scan(&v.result, &v.measure, &v.Query, number{&v.Value.Value})
	return v, err
}

func scanPoint(rows *sql.Rows) (Point, error) {
	var p Point
	err := rows.Scan(&p.Ranker, &p.Fold, &p.Start, &p.Step, &p.Epoch, number{&p.Objective}, number{&p.GradNorm}, number{&p.Rate}, number{&p.Validation}, &p.Best)
	return p, err
}

// collect runs a query and reads all its rows.
func collect[T any](tx *sql.Tx, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			if cause := errors.Unwrap(err); cause != nil {
				err = cause // of database/sql's words on columns of a query
			}
			return nil, fmt.Errorf("found a row that is damaged: %w", err)
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// number scans a float64, null as NaN.
type number struct{ v *float64 }

// Scan implements sql.Scanner.
func (n number) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*n.v = math.NaN()
	case float64:
		*n.v = v
	case int64:
		*n.v = float64(v)
	default:
		return fmt.Errorf("found %T %v, expected a number", value, value)
	}
	return nil
}

// fromJSON scans JSON text into what into points at; null leaves it alone.
type fromJSON struct{ into any }

// Scan implements sql.Scanner.
func (j fromJSON) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(v), j.into)
	}
	return fmt.Errorf("found %T %v, expected JSON text", value, value)
}
