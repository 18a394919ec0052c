package tune

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/testing/childtest"
	"github.com/listwise/listwise/learn/method"
)

// TestMain lets a test tune in a process of its own that may be killed: see
// TestKilledRunEndsInTheSameBytes.
func TestMain(m *testing.M) {
	childtest.Main(m, func(args []string) error {
		c := newConfig(&testing.B{})
		c.Dir, c.Jobs = args[0], 2
		c.Observe = func(done, total int) { _ = childtest.Say(done, total) }
		_, err := Run(context.Background(), c)
		return err
	})
}

// data are judged queries of OHSUMED's shape.
func data(t testing.TB, queries int) *dataset.Dataset {
	t.Helper()
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		t.Fatal(err)
	}
	o := shape.Defaults
	o.Queries, o.Docs, o.Features, o.Relevant = queries, 15, 6, 5
	d, err := shape.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// folds are three folds of eight queries for each part.
func folds(t testing.TB) []Fold {
	d := data(t, 24)
	parts := make([]*dataset.Dataset, 3)
	for p := range parts {
		var queries []int
		for i := range 8 {
			queries = append(queries, 8*p+i)
		}
		parts[p] = d.Subset(queries)
	}
	return []Fold{
		{"Fold1", parts[0], parts[1], parts[2]},
		{"Fold2", parts[1], parts[2], parts[0]},
		{"Fold3", parts[2], parts[0], parts[1]},
	}
}

func parse(t testing.TB, names string) []measure.Measure {
	t.Helper()
	list, err := measure.ParseList(names, measure.Convention{}, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func entry(t testing.TB, name string, grid map[string][]string) Entry {
	t.Helper()
	m, err := method.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEntry(m, grid)
	if err != nil {
		t.Fatal(err)
	}
	if m.UsesMeasure {
		e.Measure = parse(t, m.DefaultMeasure)[0]
	}
	return e
}

func newConfig(t testing.TB) Config {
	return Config{
		Folds: folds(t),
		Entries: []Entry{
			entry(t, "mle", map[string][]string{"C": {"0.001", "0.1", "10"}}),
			entry(t, "l2", map[string][]string{"C": {"0.1", "10"}, "restarts": {"1"}}),
		},
		Select:   parse(t, "map")[0],
		Measures: parse(t, "map,ndcg@3"),
		Seed:     1,
	}
}

func run(t testing.TB, c Config) *Result {
	t.Helper()
	r, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// digest is all of a result but the models' pointers, comparable.
func digest(r *Result) string {
	var b strings.Builder
	for _, row := range r.Rows {
		fmt.Fprintln(&b, row.Entry.Name, row.Measures)
		for _, f := range row.Folds {
			fmt.Fprintln(&b, f.Fold, f.Chosen, f.Tried, f.Validation, f.Model.Params, f.Test.PerQuery(f.Test.Measures()[0]))
		}
	}
	return b.String()
}

// files returns the content of all files below dir, those of writers that were
// killed left out.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, ".tmp") {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[rel] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
