package runs

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Filter selects the runs of List. The zero value selects all runs.
type Filter struct {
	Kind   Kind   // "" for all
	Method string // selects runs with this name in Methods; "" for all
	Limit  int    // largest number of runs, of which the newest are kept; 0: no limit
}

// List returns the selected runs, the newest first. PerQuery and Curve are not set.
func (s *Store) List(f Filter) (list []Run, err error) {
	err = s.read(func(tx *sql.Tx) error {
		if list, err = s.runsOf(tx, ""); err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(r Run) bool {
			return f.Kind != "" && r.Kind != f.Kind || f.Method != "" && !slices.Contains(r.Methods, f.Method)
		})
		if f.Limit > 0 {
			list = list[:min(len(list), f.Limit)]
		}
		return load(tx, list)
	})
	return list, err
}

// Get returns a run with all details. The error is a *NotFoundError if the run does not exist.
func (s *Store) Get(id int64) (run *Run, err error) {
	err = s.read(func(tx *sql.Tx) error {
		list, err := s.runsOf(tx, "WHERE id = ?", id)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return &NotFoundError{Path: s.path, ID: id}
		}
		run = &list[0]
		if err := load(tx, list); err != nil {
			return err
		}
		return loadDetails(tx, run)
	})
	return run, err
}

func (s *Store) runsOf(tx *sql.Tx, where string, args ...any) (list []Run, err error) {
	err = each(tx, func(rows *sql.Rows) error {
		r, err := s.scanRun(rows)
		list = append(list, r)
		return err
	}, `SELECT id, kind, status, begun, seconds, command, methods, config, seed, version, revision, modified, go, program, error
		FROM run `+where+` ORDER BY id DESC`, args...)
	return list, err
}

func (s *Store) scanRun(rows *sql.Rows) (Run, error) {
	var r Run
	var begun string
	var seconds sql.NullFloat64
	c := &r.Code
	err := rows.Scan(&r.ID, &r.Kind, &r.Status, &begun, &seconds, fromJSON{&r.Command}, fromJSON{&r.Methods}, fromJSON{&r.Config}, fromJSON{&r.Seed},
		&c.Version, &c.Revision, &c.Modified, &c.Go, &c.Program, &r.Error)
	if err != nil {
		return r, err
	}
	r.Status = s.statusNow(r.ID, r.Status)
	r.Duration = time.Duration(seconds.Float64 * float64(time.Second)).Round(time.Microsecond)
	if r.Begun, err = time.Parse(timeFormat, begun); err != nil {
		return r, fmt.Errorf("run %d: %w", r.ID, err)
	}
	return r, nil
}

// load adds all details to the runs except per-query results and curves.
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
	err := each(tx, func(rows *sql.Rows) error {
		var run int64
		var d Data
		err := rows.Scan(&run, &d.Role, &d.Path, &d.Fingerprint, &d.Queries, &d.Documents)
		if r := byID[run]; r != nil {
			r.Data = append(r.Data, d)
		}
		return err
	}, "SELECT run, role, path, fingerprint, queries, documents FROM data WHERE run BETWEEN ? AND ? ORDER BY run, place", low, high)
	if err != nil {
		return err
	}
	err = each(tx, func(rows *sql.Rows) error {
		var run int64
		var path string
		err := rows.Scan(&run, &path)
		if r := byID[run]; r != nil {
			r.Files = append(r.Files, path)
		}
		return err
	}, "SELECT run, path FROM file WHERE run BETWEEN ? AND ? ORDER BY run, place", low, high)
	if err != nil {
		return err
	}
	return loadResults(tx, byID, low, high)
}

func loadResults(tx *sql.Tx, byID map[int64]*Run, low, high int64) error {
	measures := make(map[int64][]Measure) // by id of the result
	err := each(tx, func(rows *sql.Rows) error {
		var result int64
		var m Measure
		err := rows.Scan(&result, &m.Name, &m.Mean, &m.TieNeutral, &m.Queries)
		measures[result] = append(measures[result], m)
		return err
	}, `SELECT result.id, measure.name, measure.mean, measure.tie_neutral, measure.queries
		FROM measure JOIN result ON result.id = measure.result WHERE result.run BETWEEN ? AND ? ORDER BY result.id, measure.place`, low, high)
	if err != nil {
		return err
	}
	return each(tx, func(rows *sql.Rows) error {
		var id, run int64
		var result RankerResult
		err := rows.Scan(&id, &run, &result.Ranker, &result.Fold, fromJSON{&result.Settings}, fromJSON{&result.Training}, &result.Validation, fromJSON{&result.Trials})
		result.Measures = measures[id]
		if r := byID[run]; r != nil {
			r.Results = append(r.Results, result)
		}
		return err
	}, "SELECT id, run, ranker, fold, settings, training, validation, trials FROM result WHERE run BETWEEN ? AND ? ORDER BY run, place", low, high)
}

func loadDetails(tx *sql.Tx, r *Run) error {
	err := each(tx, func(rows *sql.Rows) error {
		var result, measure int
		var v Value
		if err := rows.Scan(&result, &measure, &v.Query, &v.Value); err != nil {
			return err
		}
		if result < 0 || result >= len(r.Results) || measure < 0 || measure >= len(r.Results[result].Measures) {
			return fmt.Errorf("run %d: found a value of measure %d of result %d, of which there is none", r.ID, measure, result)
		}
		m := &r.Results[result].Measures[measure]
		m.PerQuery = append(m.PerQuery, v)
		return nil
	}, `SELECT result.place, measure.place, per_query.query, per_query.value
		FROM per_query JOIN measure ON measure.id = per_query.measure JOIN result ON result.id = measure.result
		WHERE result.run = ? ORDER BY result.place, measure.place, per_query.place`, r.ID)
	if err != nil {
		return err
	}
	return each(tx, func(rows *sql.Rows) error {
		var p Point
		err := rows.Scan(&p.Ranker, &p.Fold, &p.Start, &p.Step, &p.Epoch, &p.Objective, &p.GradNorm, &p.Rate, &p.Validation, &p.Best)
		r.Curve = append(r.Curve, p)
		return err
	}, "SELECT ranker, fold, start, step, epoch, objective, grad_norm, rate, validation, best FROM curve WHERE run = ? ORDER BY place", r.ID)
}

// each runs a query and calls row for each of its rows.
func each(tx *sql.Tx, row func(rows *sql.Rows) error, query string, args ...any) error {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows); err != nil {
			if cause := errors.Unwrap(err); cause != nil {
				err = cause // drop the text of database/sql about columns
			}
			return fmt.Errorf("found a row that is damaged: %w", err)
		}
	}
	return rows.Err()
}

// fromJSON scans JSON text into the value that into points to. NULL leaves the value unchanged.
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
