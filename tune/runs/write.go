package runs

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// timeFormat sorts as text. It has the precision of Run.Begun.
const timeFormat = "2006-01-02T15:04:05.000Z"

// Begin adds a new run and sets its ID, Status, Begun and Code. The caller may set Kind, Command,
// Methods, Config, Seed and Data, and Begun if the run began earlier. Finish records the other
// fields.
func (s *Store) Begin(r *Run) error {
	r.Status, r.Code = Running, ThisCode()
	if r.Begun.IsZero() {
		r.Begun = time.Now()
	}
	r.Begun = r.Begun.UTC().Truncate(time.Millisecond)
	var l *lock
	err := s.write(func(tx *sql.Tx) (err error) {
		if err := s.buryDead(tx); err != nil {
			return err
		}
		if r.ID, err = insertRun(tx, r); err != nil {
			return err
		}
		if err := insertData(tx, r); err != nil {
			return err
		}
		// Lock the run before other processes can see it.
		l, err = acquire(s.lockPath(r.ID))
		return err
	})
	if err != nil {
		if l != nil {
			l.release()
		}
		return err
	}
	s.mu.Lock()
	s.active[r.ID] = l
	s.mu.Unlock()
	return nil
}

// Finish ends a run in one transaction. After it returns, the run and its results survive any
// crash. Status must be Finished, Interrupted, or Failed with Error set. Only a finished run keeps
// results, files and curve. Finish sets Duration. After an error the run is still running, and
// Finish may be called again.
func (s *Store) Finish(r *Run) error {
	s.mu.Lock()
	l := s.active[r.ID]
	s.mu.Unlock()
	if l == nil {
		return fmt.Errorf("%s: run %d was not begun here, or has ended", s.path, r.ID)
	}
	r.Duration = time.Since(r.Begun)
	err := s.write(func(tx *sql.Tx) error {
		if err := updateRun(tx, r); err != nil {
			return err
		}
		if err := insertData(tx, r); err != nil {
			return err
		}
		if r.Status != Finished {
			return nil
		}
		return insertOutcome(tx, r)
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.active, r.ID)
	s.mu.Unlock()
	l.release()
	return nil
}

func insertRun(tx *sql.Tx, r *Run) (int64, error) {
	config, err := json.Marshal(r.Config)
	if err != nil {
		return 0, err
	}
	result, err := tx.Exec(`INSERT INTO run (kind, status, begun, command, methods, config, seed, version, revision, modified, go, program, error)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')`,
		string(r.Kind), string(r.Status), r.Begun.Format(timeFormat), asJSON{append([]string{}, r.Command...)}, asJSON{append([]string{}, r.Methods...)}, string(config),
		asJSON{r.Seed}, r.Code.Version, r.Code.Revision, r.Code.Modified, r.Code.Go, r.Code.Program)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

func updateRun(tx *sql.Tx, r *Run) error {
	result, err := tx.Exec("UPDATE run SET status = ?, seconds = ?, error = ? WHERE id = ?",
		string(r.Status), r.Duration.Seconds(), r.Error, r.ID)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return fmt.Errorf("run %d was deleted while it went on", r.ID)
}

// insertData replaces the data sets that Begin stored, because fingerprints may have been computed
// since.
func insertData(tx *sql.Tx, r *Run) error {
	if _, err := tx.Exec("DELETE FROM data WHERE run = ?", r.ID); err != nil {
		return err
	}
	return insertRows(tx, "data", "run, place, role, path, fingerprint, queries, documents", len(r.Data), func(i int) []any {
		d := &r.Data[i]
		return []any{r.ID, i, d.Role, d.Path, d.Fingerprint, d.Queries, d.Documents}
	})
}

func insertOutcome(tx *sql.Tx, r *Run) error {
	err := insertRows(tx, "file", "run, place, path", len(r.Files), func(i int) []any { return []any{r.ID, i, r.Files[i]} })
	if err != nil {
		return err
	}
	for i := range r.Results {
		if err := insertResult(tx, r.ID, i, &r.Results[i]); err != nil {
			return err
		}
	}
	return insertRows(tx, "curve", "run, place, ranker, fold, start, step, epoch, objective, grad_norm, rate, validation, best", len(r.Curve), func(i int) []any {
		p := &r.Curve[i]
		return []any{r.ID, i, p.Ranker, p.Fold, p.Start, p.Step, p.Epoch, p.Objective, p.GradNorm, p.Rate, p.Validation, p.Best}
	})
}

func insertResult(tx *sql.Tx, run int64, place int, r *RankerResult) error {
	row, err := tx.Exec("INSERT INTO result (run, place, ranker, fold, settings, training, validation, trials) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		run, place, r.Ranker, r.Fold, asJSON{r.Settings}, asJSON{r.Training}, r.Validation, asJSON{r.Trials})
	if err != nil {
		return err
	}
	id, err := row.LastInsertId()
	if err != nil {
		return err
	}
	for i := range r.Measures {
		if err := insertMeasure(tx, id, i, &r.Measures[i]); err != nil {
			return err
		}
	}
	return nil
}

func insertMeasure(tx *sql.Tx, result int64, place int, m *Measure) error {
	row, err := tx.Exec("INSERT INTO measure (result, place, name, mean, tie_neutral, queries) VALUES (?, ?, ?, ?, ?, ?)",
		result, place, m.Name, m.Mean, m.TieNeutral, m.Queries)
	if err != nil {
		return err
	}
	id, err := row.LastInsertId()
	if err != nil {
		return err
	}
	return insertRows(tx, "per_query", "measure, place, query, value", len(m.PerQuery), func(i int) []any {
		return []any{id, i, m.PerQuery[i].Query, m.PerQuery[i].Value}
	})
}

// insertRows inserts n rows with as few statements as possible.
func insertRows(tx *sql.Tx, table, columns string, n int, row func(i int) []any) error {
	const most = 250 // rows in a statement
	one := "(?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
	statement := func(rows int) string {
		return "INSERT INTO " + table + " (" + columns + ") VALUES " + one + strings.Repeat(", "+one, rows-1)
	}
	var full *sql.Stmt
	for start := 0; start < n; start += most {
		rows := min(most, n-start)
		var args []any
		for i := start; i < start+rows; i++ {
			args = append(args, row(i)...)
		}
		if rows < most {
			_, err := tx.Exec(statement(rows), args...)
			return err
		}
		if full == nil {
			var err error
			if full, err = tx.Prepare(statement(most)); err != nil {
				return err
			}
			defer func() { _ = full.Close() }()
		}
		if _, err := full.Exec(args...); err != nil {
			return err
		}
	}
	return nil
}

// Delete deletes all given runs or none. The error is a *NotFoundError if a run does not exist. A
// run that is still running is an error. Files that a run wrote remain.
func (s *Store) Delete(ids ...int64) error {
	return s.write(func(tx *sql.Tx) error {
		for _, id := range ids {
			var status string
			err := tx.QueryRow("SELECT status FROM run WHERE id = ?", id).Scan(&status)
			if errors.Is(err, sql.ErrNoRows) {
				return &NotFoundError{Path: s.path, ID: id}
			}
			if err != nil {
				return err
			}
			if s.statusNow(id, Status(status)) == Running {
				return fmt.Errorf("run %d is still running; end it first", id)
			}
			if _, err := tx.Exec("DELETE FROM run WHERE id = ?", id); err != nil {
				return err
			}
			_ = os.Remove(s.lockPath(id)) // remains if the process was killed
		}
		return nil
	})
}

// buryDead marks runs as interrupted if their process no longer exists.
func (s *Store) buryDead(tx *sql.Tx) error {
	var ids []int64
	err := each(tx, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, "SELECT id FROM run WHERE status = ?", string(Running))
	if err != nil {
		return err
	}
	for _, id := range ids {
		if held(s.lockPath(id)) {
			continue
		}
		if _, err := tx.Exec("UPDATE run SET status = ? WHERE id = ?", string(Interrupted), id); err != nil {
			return err
		}
		_ = os.Remove(s.lockPath(id))
	}
	return nil
}

// statusNow returns a run's status, given its status in the database. A running run without a lock
// is interrupted.
func (s *Store) statusNow(id int64, status Status) Status {
	if status == Running && !held(s.lockPath(id)) {
		return Interrupted
	}
	return status
}

// lockPath returns the path of the file that is locked during a run.
func (s *Store) lockPath(id int64) string {
	return filepath.Join(filepath.Dir(s.path), strconv.FormatInt(id, 10)+".running")
}

// asJSON is a value that the database stores as JSON text. A null value is stored as NULL.
type asJSON struct{ v any }

// Value implements driver.Valuer. A value without JSON form, such as an infinite number, is an
// error.
func (j asJSON) Value() (driver.Value, error) {
	text, err := json.Marshal(j.v)
	if err != nil || string(text) == "null" {
		return nil, err
	}
	return string(text), nil
}
