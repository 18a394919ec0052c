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

// Store is the record of a working folder. It may be used by any number of
// goroutines, and by any number of processes on one machine.
type Store struct {
	path     string // of the database
	db       *sql.DB
	patience time.Duration

	unwritable error // why it can only be read; nil if it can be written

	mu     sync.Mutex
	active map[int64]*lock // of the runs this Store has begun
}

// Path returns where the record of a working folder is.
func Path(dir string) string { return filepath.Join(dir, ".listwise", "runs.db") }

// Patience is how long a record that OpenExisting returns waits for other processes
// that write.
const Patience = 2 * time.Second

// Open opens the record of the working folder dir, and makes one if there is none.
// patience is how long it waits for other processes that write. Errors name the
// database's file.
func Open(dir string, patience time.Duration) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(Path(dir)), 0o755); err != nil {
		return nil, err
	}
	return open(Path(dir), patience, url.Values{"mode": {"rwc"}}, prepare)
}

// OpenExisting is Open for those who read: without a record it makes none, and the
// error is an fs.ErrNotExist.
func OpenExisting(dir string) (*Store, error) {
	path := Path(dir)
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	s, err := open(path, Patience, url.Values{"mode": {"rw"}}, prepare)
	if has(err, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL) {
		// In a folder that cannot be written to, or on a full disk, the files that readers of a
		// write-ahead log share cannot be made. Without a log nobody writes.
		if wal, none := os.Stat(path + "-wal"); none != nil || wal.Size() == 0 {
			cause := err
			if s, err = open(path, Patience, url.Values{"mode": {"ro"}, "immutable": {"1"}}, checkFormat); err == nil {
				s.unwritable = cause
			}
		}
	}
	return s, err
}

// open opens the database and does to it what comes first.
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
	// One connection: goroutines queue for it here and not, at a growing
	// interval, for the database's lock.
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

// Wait sets how long all that follows waits for other processes that write. It is
// not for use side by side with other calls.
func (s *Store) Wait(patience time.Duration) error {
	if _, err := s.db.Exec(fmt.Sprintf("PRAGMA busy_timeout = %d", max(0, patience.Milliseconds()))); err != nil {
		return named(s.path, err)
	}
	return nil
}

// dataSource is the driver's name for the database. Write-ahead logging lets others
// read while one writes; with synchronous=FULL what was committed outlives the
// machine as well as the process.
func dataSource(path string, patience time.Duration, options url.Values) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // as file:///C:/folder
	}
	options.Set("_txlock", "immediate") // a write that waits for its turn before it reads cannot be refused later
	options.Set("_busy_timeout", strconv.FormatInt(max(0, patience.Milliseconds()), 10))
	options["_pragma"] = []string{"synchronous(FULL)", "foreign_keys(1)"}
	return (&url.URL{Scheme: "file", Path: abs, RawQuery: options.Encode()}).String(), nil
}

// prepare sets up what a new database needs.
func prepare(ctx context.Context, s *Store) error {
	if err := useWAL(ctx, s); err != nil {
		return err
	}
	return migrate(ctx, s.db, migrations)
}

// checkFormat is for a database that cannot be brought to today's format.
func checkFormat(ctx context.Context, s *Store) error {
	version, err := userVersion(ctx, s.db)
	if err == nil && version != len(migrations) {
		err = fmt.Errorf("has the format %d, expected %d, and cannot be written to", version, len(migrations))
	}
	return err
}

// useWAL switches to write-ahead logging. While another process does the same,
// SQLite refuses at once instead of waiting.
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

// named puts the file before an error. Of a disk that is full SQLite says no more than a number.
func named(path string, err error) error {
	if has(err, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL) {
		return fmt.Errorf("%s: the disk may be full: %w", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// has reports whether err is one of SQLite's with one of these codes.
func has(err error, codes ...int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && slices.Contains(codes, e.Code()&0xff)
}

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
		return named(s.path, err)
	}
	return nil
}

// write does fn in one transaction: all of it or nothing.
func (s *Store) write(fn func(tx *sql.Tx) error) error {
	if s.unwritable != nil {
		return s.unwritable
	}
	return s.transact(nil, fn)
}

// read runs fn on a snapshot of the database, unaffected by what others write.
func (s *Store) read(fn func(tx *sql.Tx) error) error {
	return s.transact(&sql.TxOptions{ReadOnly: true}, fn)
}

func (s *Store) transact(opts *sql.TxOptions, fn func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(context.Background(), opts)
	if err != nil {
		return named(s.path, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := fn(tx); err != nil {
		return named(s.path, err)
	}
	if err := tx.Commit(); err != nil {
		return named(s.path, err)
	}
	return nil
}
