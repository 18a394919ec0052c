package runs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite" // the SQLite driver, without cgo
	sqlite3 "modernc.org/sqlite/lib"
)

// Store is the record of a working folder. It may be used by any number of
// goroutines, and by any number of processes on one machine.
type Store struct {
	path string // of the database
	db   *sql.DB

	mu     sync.Mutex
	active map[int64]*lock // of the runs this Store has begun
}

// Path returns where the record of a working folder is.
func Path(dir string) string { return filepath.Join(dir, ".listwise", "runs.db") }

// Open opens the record of the working folder dir, and makes one if there is none.
// Errors name the database's file.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(Path(dir)), 0o755); err != nil {
		return nil, err
	}
	return open(Path(dir), "rwc")
}

// OpenExisting is Open for those who read: without a record it makes none, and the
// error is an fs.ErrNotExist.
func OpenExisting(dir string) (*Store, error) {
	if _, err := os.Stat(Path(dir)); err != nil {
		return nil, err
	}
	return open(Path(dir), "rw")
}

func open(path, mode string) (*Store, error) {
	dsn, err := dataSource(path, mode)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// One connection: goroutines queue for it here and not, at a growing
	// interval, for the database's lock.
	db.SetMaxOpenConns(1)
	s := &Store{path: path, db: db, active: make(map[int64]*lock)}
	if err := s.prepare(); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// patience is how long a process waits for another one that writes.
const patience = time.Minute

// dataSource is the driver's name for the database. Write-ahead logging lets others
// read while one writes; with synchronous=FULL what was committed outlives the
// machine as well as the process.
func dataSource(path, mode string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // as file:///C:/folder
	}
	query := url.Values{
		"mode":          {mode},
		"_txlock":       {"immediate"}, // a write that waits for its turn before it reads cannot be refused later
		"_busy_timeout": {strconv.FormatInt(patience.Milliseconds(), 10)},
		"_pragma":       {"synchronous(FULL)", "foreign_keys(1)"},
	}
	return (&url.URL{Scheme: "file", Path: abs, RawQuery: query.Encode()}).String(), nil
}

// prepare sets up what a new database needs.
func (s *Store) prepare() error {
	ctx := context.Background()
	if err := s.useWAL(ctx); err != nil {
		return err
	}
	return migrate(ctx, s.db, migrations)
}

// useWAL switches to write-ahead logging. While another process does the same,
// SQLite refuses at once instead of waiting.
func (s *Store) useWAL(ctx context.Context) error {
	var mode string
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		err := s.db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
		if err == nil && mode == "wal" {
			return nil
		}
		if err == nil {
			return fmt.Errorf("has the journal mode %q, expected wal, which needs a local file system", mode)
		}
		if !busy(err) || time.Now().After(deadline) {
			return err
		}
	}
}

func busy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// Path returns the database's file.
func (s *Store) Path() string { return s.path }

// Close closes the record. Runs that were begun and not finished count as
// interrupted from then on.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, l := range s.active {
		l.release()
		delete(s.active, id)
	}
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

// write does fn in one transaction: all of it or nothing.
func (s *Store) write(fn func(tx *sql.Tx) error) error {
	return s.transact(nil, fn)
}

// read does fn on one state of the database, whatever others write.
func (s *Store) read(fn func(tx *sql.Tx) error) error {
	return s.transact(&sql.TxOptions{ReadOnly: true}, fn)
}

func (s *Store) transact(opts *sql.TxOptions, fn func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(context.Background(), opts)
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := fn(tx); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}
