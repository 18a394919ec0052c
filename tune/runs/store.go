package runs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite" // the SQLite driver, without cgo
	sqlite3 "modernc.org/sqlite/lib"
)

// Store is the record of a working folder. It is safe for concurrent use by goroutines, and by
// processes on one machine.
type Store struct {
	path     string // path of the database
	db       *sql.DB
	patience time.Duration

	unwritable error // reason why the record is read-only; nil if it can be written

	mu     sync.Mutex
	active map[int64]*lock // locks of the runs that this Store has begun
}

// Path returns the path of the record of a working folder.
func Path(dir string) string { return filepath.Join(dir, ".listwise", "runs.db") }

// Patience is the time that a record opened by OpenExisting waits for other writers.
const Patience = 2 * time.Second

// Open opens the record of the working folder dir. It creates the record if necessary. patience is
// the time to wait for other writers. Errors name the database file.
func Open(dir string, patience time.Duration) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(Path(dir)), 0o755); err != nil {
		return nil, err
	}
	return open(Path(dir), patience, url.Values{"mode": {"rwc"}}, prepare)
}

// OpenExisting opens the record of the working folder dir for reading. It does not create a record.
// The error for a missing record is fs.ErrNotExist.
func OpenExisting(dir string) (*Store, error) {
	path := Path(dir)
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	s, err := open(path, Patience, url.Values{"mode": {"rw"}}, prepare)
	if has(err, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL) {
		// In a read-only folder or on a full disk, the files that readers of a write-ahead log
		// share cannot be created. If there is no log, nobody is writing, and the database can be
		// opened as immutable.
		if wal, none := os.Stat(path + "-wal"); none != nil || wal.Size() == 0 {
			cause := err
			if s, err = open(path, Patience, url.Values{"mode": {"ro"}, "immutable": {"1"}}, checkFormat); err == nil {
				s.unwritable = cause
			}
		}
	}
	return s, err
}

// open opens the database and then calls first.
func open(path string, patience time.Duration, options url.Values, first func(context.Context, *Store) error) (*Store, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: found a %s, expected the file of the record", path, kindOf(info.Mode()))
	}
	dsn, err := dataSource(path, patience, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// Use one connection, so that goroutines wait for it here. Otherwise they would poll for the
	// database's lock at growing intervals.
	db.SetMaxOpenConns(1)
	s := &Store{path: path, db: db, patience: patience, active: make(map[int64]*lock)}
	if err := first(context.Background(), s); err != nil {
		_ = db.Close()
		return nil, named(path, err)
	}
	return s, nil
}

func kindOf(mode fs.FileMode) string {
	if mode.IsDir() {
		return "folder"
	}
	return "device or pipe"
}

// Wait sets the time that later calls wait for other writers. It must not run concurrently with
// other calls.
func (s *Store) Wait(patience time.Duration) error {
	if _, err := s.db.Exec(fmt.Sprintf("PRAGMA busy_timeout = %d", max(0, patience.Milliseconds()))); err != nil {
		return named(s.path, err)
	}
	return nil
}

// dataSource returns the driver's name for the database. With synchronous=FULL, committed data
// survive a crash of the machine.
func dataSource(path string, patience time.Duration, options url.Values) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // such as file:///C:/folder
	}
	options.Set("_txlock", "immediate") // take the write lock before reading; taking it after a read could fail
	options.Set("_busy_timeout", strconv.FormatInt(max(0, patience.Milliseconds()), 10))
	options["_pragma"] = []string{"synchronous(FULL)", "foreign_keys(1)"}
	return (&url.URL{Scheme: "file", Path: abs, RawQuery: options.Encode()}).String(), nil
}

func prepare(ctx context.Context, s *Store) error {
	if err := useWAL(ctx, s); err != nil {
		return err
	}
	return migrate(ctx, s.db, migrations)
}

// checkFormat returns an error unless the database has the current format. It is for a read-only
// database, which cannot be upgraded.
func checkFormat(ctx context.Context, s *Store) error {
	version, err := userVersion(ctx, s.db)
	if err == nil && version != len(migrations) {
		err = fmt.Errorf("has the format %d, expected %d, and cannot be written to", version, len(migrations))
	}
	return err
}

// useWAL switches to write-ahead logging, which allows reading during a write. It retries, because
// SQLite fails at once if another process switches at the same time.
func useWAL(ctx context.Context, s *Store) error {
	var mode string
	for deadline := time.Now().Add(s.patience); ; time.Sleep(5 * time.Millisecond) {
		err := s.db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
		if err == nil && mode == "wal" {
			return nil
		}
		if err == nil {
			return fmt.Errorf("has the journal mode %q, expected wal, which needs a local file system", mode)
		}
		if !has(err, sqlite3.SQLITE_BUSY) || time.Now().After(deadline) {
			return err
		}
	}
}

// named adds the file name to an error. It adds a hint at a full disk, which SQLite reports only by
// an error code.
func named(path string, err error) error {
	if has(err, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL) {
		return fmt.Errorf("%s: the disk may be full: %w", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// has reports whether err is an SQLite error with one of these codes.
func has(err error, codes ...int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && slices.Contains(codes, e.Code()&0xff)
}

// Close closes the record. Runs that have begun and not finished become interrupted.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, l := range s.active {
		l.release()
		delete(s.active, id)
	}
	if err := s.db.Close(); err != nil {
		return named(s.path, err)
	}
	return nil
}

// write runs fn in a transaction that may write.
func (s *Store) write(fn func(tx *sql.Tx) error) error {
	if s.unwritable != nil {
		return s.unwritable
	}
	return s.transact(nil, fn)
}

// read runs fn on a snapshot of the database. Other writers do not affect the snapshot.
func (s *Store) read(fn func(tx *sql.Tx) error) error {
	return s.transact(&sql.TxOptions{ReadOnly: true}, fn)
}

func (s *Store) transact(opts *sql.TxOptions, fn func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(context.Background(), opts)
	if err != nil {
		return named(s.path, err)
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	if err := fn(tx); err != nil {
		return named(s.path, err)
	}
	if err := tx.Commit(); err != nil {
		return named(s.path, err)
	}
	return nil
}

// migrations are the steps from an empty database to the current tables. The user_version of a
// database is the number of steps applied to it. A published step never changes. A change of the
// tables is a new step.
var migrations = []string{firstTables}

const firstTables = `
CREATE TABLE run (
	id       INTEGER PRIMARY KEY AUTOINCREMENT, -- a number is never used twice
	kind     TEXT NOT NULL,                     -- train, tune, eval
	status   TEXT NOT NULL,                     -- running, finished, failed, interrupted
	begun    TEXT NOT NULL,                     -- UTC, as 2006-01-02T15:04:05.000Z
	seconds  REAL,
	command  TEXT NOT NULL,                     -- JSON: list of arguments
	methods  TEXT NOT NULL,                     -- JSON: list of names
	config   TEXT NOT NULL,                     -- JSON: settings by name
	seed     TEXT,                              -- decimal
	version  TEXT NOT NULL,
	revision TEXT NOT NULL,
	modified INTEGER NOT NULL,
	go       TEXT NOT NULL,
	program  TEXT NOT NULL,
	error    TEXT NOT NULL
);
CREATE TABLE data (
	run         INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
	place       INTEGER NOT NULL,
	role        TEXT NOT NULL,
	path        TEXT NOT NULL,
	fingerprint TEXT NOT NULL,
	queries     INTEGER NOT NULL,
	documents   INTEGER NOT NULL,
	PRIMARY KEY (run, place)
) WITHOUT ROWID;
CREATE TABLE file (
	run   INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
	place INTEGER NOT NULL,
	path  TEXT NOT NULL,
	PRIMARY KEY (run, place)
) WITHOUT ROWID;
CREATE TABLE result (
	id         INTEGER PRIMARY KEY,
	run        INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
	place      INTEGER NOT NULL,
	ranker     TEXT NOT NULL,
	fold       TEXT NOT NULL,                   -- '' is the mean over folds, or no folds
	settings   TEXT,                            -- JSON: hyperparameters by name
	training   TEXT,                            -- JSON: how the training ended
	validation REAL,
	trials     TEXT,                            -- JSON: what was tried
	UNIQUE (run, place)
);
CREATE TABLE measure (
	id          INTEGER PRIMARY KEY,
	result      INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
	place       INTEGER NOT NULL,
	name        TEXT NOT NULL,
	mean        REAL,
	tie_neutral REAL,
	queries     INTEGER NOT NULL,
	UNIQUE (result, place)
);
CREATE TABLE per_query (
	measure INTEGER NOT NULL REFERENCES measure ON DELETE CASCADE,
	place   INTEGER NOT NULL,
	query   TEXT NOT NULL,
	value   REAL,                               -- NULL: left out by the convention
	PRIMARY KEY (measure, place)
) WITHOUT ROWID;
CREATE TABLE curve (
	run        INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
	place      INTEGER NOT NULL,
	ranker     TEXT NOT NULL,
	fold       TEXT NOT NULL,
	start      INTEGER NOT NULL,
	step       INTEGER NOT NULL,
	epoch      INTEGER NOT NULL,
	objective  REAL,
	grad_norm  REAL,
	rate       REAL,
	validation REAL,
	best       INTEGER NOT NULL,
	PRIMARY KEY (run, place)
) WITHOUT ROWID;
`

// migrate applies the missing steps in one transaction. Two processes may call it at once.
func migrate(ctx context.Context, db *sql.DB, steps []string) error {
	version, err := userVersion(ctx, db)
	if err == nil && version == len(steps) {
		return nil // does not wait for writers
	}
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	if version, err = userVersion(ctx, tx); err != nil {
		return err
	}
	if version > len(steps) {
		return fmt.Errorf("was written by a newer listwise (format %d, this one knows up to %d): use that, or another folder", version, len(steps))
	}
	for i := version; i < len(steps); i++ {
		if _, err := tx.ExecContext(ctx, steps[i]); err != nil {
			return fmt.Errorf("bringing it to format %d: %w", i+1, err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(steps))); err != nil {
		return err
	}
	return tx.Commit()
}

func userVersion(ctx context.Context, q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (int, error) {
	var version int
	err := q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}
