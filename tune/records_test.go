package tune

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/testing/childtest"
)

// A run that is killed again and again and started anew leaves the same files,
// byte for byte, as one that was left alone.
func TestKilledRunEndsInTheSameBytes(t *testing.T) {
	c := newConfig(t)
	c.Dir = t.TempDir()
	run(t, c)
	want := files(t, c.Dir)
	dir := t.TempDir()
	for _, after := range []int{1, 4, 9, 12, 100} {
		_, seen := childtest.Start(t, dir).KillAt(after)
		t.Logf("saw %d jobs end", seen)
	}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Errorf("files (-uninterrupted +killed):\n%s", diff)
	}
}

// Anything that changes a training or its selection has a record of its own; anything else
// has not.
func TestRecordsOfOtherSettings(t *testing.T) {
	base := newConfig(t)
	base.Entries = base.Entries[1:]
	key := func(change func(*Config)) string {
		c := base
		c.Entries = slices.Clone(base.Entries)
		c.Folds = slices.Clone(base.Folds)
		change(&c)
		return c.jobs()[0].key(&c)
	}
	ndcg, err := measure.Parse("ndcg@10", measure.LETOR3, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	same := key(func(*Config) {})
	for name, change := range map[string]func(*Config){
		"jobs, measures, ties": func(c *Config) { c.Jobs, c.Measures, c.Ties, c.Dir = 7, nil, measure.TiesAverage, "x" },
		"test part":            func(c *Config) { c.Folds[0].Test = c.Folds[0].Train },
	} {
		if key(change) != same {
			t.Errorf("%s: another record, though nothing of it changes", name)
		}
	}
	seen := map[string]string{same: "none"}
	for name, change := range map[string]func(*Config){
		"seed":             func(c *Config) { c.Seed = 2 },
		"normalization":    func(c *Config) { c.Normalization = dataset.MinMax },
		"selection":        func(c *Config) { c.Select = parse(t, "ndcg@10")[0] },
		"its convention":   func(c *Config) { c.Select = ndcg },
		"training measure": func(c *Config) { c.Entries[0].Measure = parse(t, "map")[0] },
		"and convention":   func(c *Config) { c.Entries[0].Measure = ndcg },
		"setting":          func(c *Config) { c.Entries[0].Settings = c.Entries[0].Settings[1:] },
		"scorer":           func(c *Config) { c.Scorer = "net" },
		"method":           func(c *Config) { c.Entries[0] = entry(t, "mle", nil) },
		"training part":    func(c *Config) { c.Folds[0].Train = c.Folds[0].Test },
		"validation part":  func(c *Config) { c.Folds[0].Valid = c.Folds[0].Test },
	} {
		k := key(change)
		if other, ok := seen[k]; ok {
			t.Errorf("changing the %s gives the same record as changing the %s", name, other)
		}
		seen[k] = name
	}
}

// A record without its model is half of one, and trained again; anything else in
// its place is an error that says what to do.
func TestDamagedRecords(t *testing.T) {
	c := newConfig(t)
	c.Folds, c.Entries = c.Folds[:1], c.Entries[:1]
	c.Dir = t.TempDir()
	run(t, c)
	want := files(t, c.Dir)
	recordPath, modelPath := c.jobs()[0].paths(&c)
	if err := os.Remove(modelPath); err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if diff := cmp.Diff(want, files(t, c.Dir)); diff != "" {
		t.Errorf("after the loss of a model files differ:\n%s", diff)
	}
	otherPath, otherModelPath := c.jobs()[1].paths(&c)
	other, err := os.ReadFile(otherPath)
	if err != nil {
		t.Fatal(err)
	}
	otherModel, err := os.ReadFile(otherModelPath)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct{ path, text, want string }{
		{recordPath, "{", recordPath + ": found no record of a training"},
		{recordPath, string(other), recordPath + ": found the record of training"},
		{modelPath, "{}", modelPath + ": found no \"format\""},
		{modelPath, string(otherModel), modelPath + ": found the checksum"},
		{recordPath, edited(t, recordPath, `"validation": 0.`, `"validation": 0.9`), recordPath + ": found the checksum"},
		{recordPath, edited(t, recordPath, `"select": "map"`, `"select": "mrr"`), recordPath + ": found the checksum"},
		{recordPath, edited(t, recordPath, `"sum": "`, `"sun": "`), recordPath + ": found the checksum"},
	} {
		whole, err := os.ReadFile(bad.path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(bad.path, []byte(bad.text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err = Run(context.Background(), c)
		var changed *RecordError
		if !errors.As(err, &changed) {
			t.Errorf("error is %v, want a RecordError", err)
		}
		if err == nil || !strings.Contains(err.Error(), "mle, Fold1, ") || !strings.Contains(err.Error(), bad.want) || !strings.Contains(err.Error(), "to train again") {
			t.Errorf("error is %v, want %s", err, bad.want)
		}
		if err := os.WriteFile(bad.path, whole, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// edited returns what a file holds with some text, which must be there, replaced.
func edited(t *testing.T, path, part, instead string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), part) {
		t.Fatalf("%s has no %s:\n%s", path, part, text)
	}
	return strings.Replace(string(text), part, instead, 1)
}

// FuzzParseRecord: what is accepted as a record is one whose checksum fits and that
// reads the same once more.
func FuzzParseRecord(f *testing.F) {
	good := record{Key: "k", Settings: map[string]any{"C": 0.1, "form": "sampled"}, Select: "map", Validation: 0.5, Model: checksum(nil)}
	sum, err := good.sum()
	if err != nil {
		f.Fatal(err)
	}
	good.Sum = sum
	text, err := json.Marshal(good)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("{\"key\":\"k\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parseRecord(text, "k")
		if err != nil {
			return
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := parseRecord(again, "k"); err != nil || same.Sum != r.Sum || same.Validation != r.Validation {
			t.Errorf("%s reads as %+v, %v", again, same, err)
		}
	})
}
