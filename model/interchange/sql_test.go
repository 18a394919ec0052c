package interchange

import (
	"bytes"
	"database/sql"
	"math"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Claim: the SELECT, run by SQLite, gives the model's scores, NULL being a missing value, and a
// NULL where the model has no rule for one.
func TestSQL(t *testing.T) {
	db := openSQL(t)
	for seed := range uint64(1000) {
		m, d := drawAny(t, seed, 11)
		if kind := seed % drawnKinds; kind == drawnNetwork || kind == drawnLayers {
			if _, err := Write(new(bytes.Buffer), m, "sql", WriteOptions{}); err == nil {
				t.Fatal("a network was written as SQL")
			}
			continue
		}
		next := sqlScores(t, db, m, d)
		checkScores(t, m, d, 1e-13, func([]float32) float64 {
			v := next()
			if !v.Valid {
				return math.NaN()
			}
			return v.Float64
		})
		if v := next(); v.Valid != (m.Missing != dataset.MissingError || !usesFeatures(m)) {
			t.Fatalf("%s (missing: %v): a document of NULLs has the score %+v", m.Scorer.Kind(), m.Missing, v)
		}
	}
}

func openSQL(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	return db
}

func usesFeatures(m *model.Model) bool {
	e, err := treesOf(m)
	return err != nil || len(e.trees) > 0
}

// sqlScores puts documents, and one of missing values alone, into a table and returns their scores
// in order.
func sqlScores(t *testing.T, db *sql.DB, m *model.Model, d *dataset.Dataset) func() sql.NullFloat64 {
	t.Helper()
	names, err := engineNames(m, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	columns, marks := make([]string, len(names)), make([]string, len(names))
	for j, name := range names {
		columns[j], marks[j] = sqlName(name)+" REAL", "?"
	}
	exec := func(text string, args ...any) {
		if _, err := db.Exec(text, args...); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	exec(`DROP TABLE IF EXISTS "documents"`)
	exec(`CREATE TABLE "documents" (` + strings.Join(columns, ", ") + ")")
	rows := slices.Collect(slices.Chunk(d.Queries[0].X, d.Features))
	for _, row := range append(rows, slices.Repeat([]float32{float32(math.NaN())}, d.Features)) {
		args := make([]any, len(row))
		for j, v := range row {
			if v == v {
				args[j] = float64(v)
			}
		}
		exec(`INSERT INTO "documents" VALUES (`+strings.Join(marks, ", ")+")", args...)
	}
	text := written(t, m, "sql", WriteOptions{})
	result, err := db.Query(text)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	defer result.Close()
	var scores []sql.NullFloat64
	for result.Next() {
		values := make([]any, len(names)+1)
		for j := range names {
			values[j] = new(any)
		}
		var s sql.NullFloat64
		values[len(names)] = &s
		if err := result.Scan(values...); err != nil {
			t.Fatal(err)
		}
		scores = append(scores, s)
	}
	if err := result.Err(); err != nil || len(scores) != len(rows)+1 {
		t.Fatalf("%d scores of %d documents, %v", len(scores), len(rows)+1, err)
	}
	return func() sql.NullFloat64 {
		s := scores[0]
		scores = scores[1:]
		return s
	}
}

// Claim: a SELECT of thousands of terms still runs.
func TestLargeSQL(t *testing.T) {
	db := openSQL(t)
	var stumps []scorer.Stump
	for i := range 3000 {
		stumps = append(stumps, scorer.Stump{Feature: i % 5, Threshold: float32(i)})
	}
	stumps, weights := scorer.MergeStumps(stumps, make([]float64, len(stumps)))
	for i := range weights {
		weights[i] = float64(i%7) / 8
	}
	s, err := scorer.NewStumps(5, stumps)
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Model{Scorer: s, Params: weights, Missing: dataset.MissingZero}
	d := datasetOf([]float32{1, 1000, 2000, 3000, -5, 7, 8, 9, 10, 11}, 5)
	next := sqlScores(t, db, m, d)
	checkScores(t, m, d, 1e-12, func([]float32) float64 { return next().Float64 })
	m = &model.Model{Scorer: scorer.Linear{Features: mostSQL + 1}, Params: make([]float64, mostSQL+1)}
	if _, err := Write(new(bytes.Buffer), m, "sql", WriteOptions{}); err == nil || !strings.Contains(err.Error(), "more than 20000 parts") {
		t.Errorf("a model of too many weights: %v", err)
	}
}
