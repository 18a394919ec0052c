package papers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/tune"
)

// writeFolds makes small folds in dir, of documents like OHSUMED's.
func writeFolds(t *testing.T, dir string, queries int, seed uint64) {
	t.Helper()
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		t.Fatal(err)
	}
	o := shape.Defaults
	o.Queries, o.Docs, o.Features, o.Relevant, o.Seed = queries, 20, 8, 6, seed
	d, err := shape.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "all.txt")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(datafile.WriteText(f, d, datafile.TextOptions{}), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := datafile.Fold(context.Background(), dir, file, 3, seed, dataset.Options{}, nil); err != nil {
		t.Fatal(err)
	}
}

// setsOf makes a folder of two sets, the first of 15 queries and the second of 12.
func setsOf(t *testing.T, first, second string) string {
	t.Helper()
	dir := t.TempDir()
	writeFolds(t, filepath.Join(dir, first), 15, 1)
	writeFolds(t, filepath.Join(dir, second), 12, 2)
	return dir
}

// realOHSUMED makes LETOR's folds of OHSUMED in a temporary folder, or skips.
func realOHSUMED(t *testing.T) string {
	t.Helper()
	long.Test(t)
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Dir(root)
	}
	var parts []string
	for k := range 5 {
		parts = append(parts, filepath.Join(root, "..", "shared", "data", "ohsumed", fmt.Sprintf("S%d.txt.gz", k+1)))
		if _, err := os.Stat(parts[k]); err != nil {
			t.Skip("no OHSUMED in ../shared/data")
		}
	}
	dir := t.TempDir()
	if _, err := datafile.Rotate(context.Background(), dir, parts, dataset.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	return dir
}

// with returns a grid with the values of one hyperparameter replaced.
func with(grid map[string][]string, name string, values ...string) map[string][]string {
	g := map[string][]string{}
	for k, v := range grid {
		g[k] = v
	}
	g[name] = values
	return g
}

// reportOf returns the report of a study.
func reportOf(t *testing.T, s study, o Options) *Report {
	t.Helper()
	r, err := s.run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// everything returns all that a report writes, in one piece.
func everything(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	err := errors.Join(r.WriteText(&b), r.WriteJSON(&b))
	for _, s := range r.Sheets {
		err = errors.Join(err, s.WriteCSV(&b))
	}
	for i := range r.Plots {
		err = errors.Join(err, r.Plots[i].Write(&b))
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// cell finds a number of a sheet by the values of its first columns.
func cell(t *testing.T, s Sheet, column string, key ...any) any {
	t.Helper()
	at := slices.Index(s.Columns, column)
	for _, row := range s.Rows {
		if slices.Equal(row[:len(key)], key) {
			return row[at]
		}
	}
	t.Fatalf("no row %v", key)
	return nil
}

// tunedAlone is what tune.Run gives for a row by itself, with the measures of LogRank's
// tables, and the folds it was tuned on.
func tunedAlone(t *testing.T, dir string, r row, selection string, seed uint64) (tune.Row, []tune.Fold) {
	t.Helper()
	folds, err := readFolds(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.entry(letor3)
	if err != nil {
		t.Fatal(err)
	}
	c := tune.Config{Folds: folds, Entries: []tune.Entry{e}, Seed: seed}
	if c.Select, err = measure.Parse(selection, letor3, measure.Options{}); err != nil {
		t.Fatal(err)
	}
	if c.Measures, err = measure.ParseList("ndcg@1,ndcg@5,ndcg@10,map", letor3, measure.Options{}); err != nil {
		t.Fatal(err)
	}
	alone, err := tune.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return alone.Rows[0], folds
}

// checkResumes checks that a study gives the same bytes with one job or many, and when the
// run was interrupted after some trainings and goes on from its records; and others with
// another seed.
func checkResumes(t *testing.T, s study, o Options, after int) {
	t.Helper()
	o.Jobs = 1
	one := reportOf(t, s, o)
	ctx, cancel := context.WithCancel(context.Background())
	trained := 0
	interrupted := o
	interrupted.Records = t.TempDir()
	interrupted.Observe = func(string, int, int) {
		if trained++; trained == after {
			cancel()
		}
	}
	if _, err := s.run(ctx, interrupted); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled run: %v", err)
	}
	if trained > after+5 {
		t.Fatalf("%d trainings after the interruption", trained-after)
	}
	resumed := interrupted
	resumed.Jobs, resumed.Observe = 4, nil
	if everything(t, one) != everything(t, reportOf(t, s, resumed)) {
		t.Error("the resumed run with four jobs differs from the one with one")
	}
	o.Seed++
	if everything(t, one) == everything(t, reportOf(t, s, o)) {
		t.Error("another seed gives the same report")
	}
}
