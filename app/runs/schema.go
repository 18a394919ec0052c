package runs

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations are the steps from an empty database to today's tables; the
// database's user_version is the number of those it has had. A step that was
// published is never changed: what is to change is a new step.
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

// migrate brings the database to the last of the steps, all or nothing. Two
// processes may do so at once.
func migrate(ctx context.Context, db *sql.DB, steps []string) error {
	version, err := userVersion(ctx, db)
	if err == nil && version == len(steps) {
		return nil // without waiting for those who write
	}
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
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
