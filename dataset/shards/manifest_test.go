package shards_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/shards"
)

// folder writes two shards and their manifest.
func folder(t *testing.T) (dir string, m *shards.Manifest) {
	t.Helper()
	dir, m = t.TempDir(), &shards.Manifest{Features: 3}
	for i := range 2 {
		name := fmt.Sprintf("part-%d.txt", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("x", i+5)), 0o600); err != nil {
			t.Fatal(err)
		}
		size, sum, err := shards.Checksum(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		m.Shards = append(m.Shards, shards.Shard{Name: name, Queries: 1 + i, Documents: 4, Bytes: size, SHA256: sum})
	}
	if err := m.Save(filepath.Join(dir, shards.FileName)); err != nil {
		t.Fatal(err)
	}
	return dir, m
}

// TestManifestReadsBack: a manifest is found by its folder and by its name, and says what was saved.
func TestManifestReadsBack(t *testing.T) {
	dir, want := folder(t)
	for _, path := range []string{dir, filepath.Join(dir, shards.FileName)} {
		at, ok := shards.Find(path)
		if !ok {
			t.Fatalf("%s: not found", path)
		}
		m, err := shards.Load(at)
		if err != nil {
			t.Fatal(err)
		}
		if m.Queries != 3 || m.Documents != 8 || len(m.Shards) != 2 || m.Shards[1] != want.Shards[1] || m.First(1) != 1 {
			t.Errorf("found %+v, expected %+v", m, want)
		}
		for i := range m.Shards {
			if err := m.Verify(i); err != nil {
				t.Error(err)
			}
		}
	}
	for _, path := range []string{filepath.Join(dir, "part-0.txt"), filepath.Join(dir, "none"), t.TempDir()} {
		if _, ok := shards.Find(path); ok {
			t.Errorf("%s is taken for a manifest", path)
		}
	}
}

// TestVerify: a shard that is missing, shorter or another file is an error that says which.
func TestVerify(t *testing.T) {
	dir, m := folder(t)
	path := filepath.Join(dir, "part-1.txt")
	for _, c := range []struct{ text, want string }{
		{"yyyyyy", "SHA-256"},
		{"xxx", "found 3 bytes"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := m.Verify(1); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "shard 1") {
			t.Errorf("found %v, expected an error with %q and the shard", err, c.want)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(1); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("found %v, expected that there is no file", err)
	}
}

// TestParseRefuses has manifests that cannot be true.
func TestParseRefuses(t *testing.T) {
	_, m := folder(t)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	good := string(text)
	if _, err := shards.Parse(text); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, replaced, want string }{
		{"part-1.txt", "../part-1.txt", "below"},
		{"part-1.txt", "/etc/passwd", "below"},
		{"part-1.txt", "part-0.txt", "twice"},
		{`"queries":3`, `"queries":4`, "4 queries"},
		{`"version":1`, `"version":2`, "version 2"},
		{`"version":1`, `"version":1,"names":["bm25"]`, "1 names of 3 features"},
		{`listwise-shards`, `else`, "format"},
		{m.Shards[0].SHA256, "abc", "SHA-256"},
		{`"documents":4`, `"documents":0`, "0 documents"},
		{`"features":3`, `"features":0`, "features"},
		{`"bytes":5`, `"bytes":-5`, "bytes"},
		{`"least":0`, `"least":-1`, "least"},
	} {
		changed := strings.Replace(good, c.old, c.replaced, 1)
		if changed == good {
			t.Fatalf("%s is not in %s", c.old, good)
		}
		if _, err := shards.Parse([]byte(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: found %v, expected an error with %q", c.replaced, c.old, err, c.want)
		}
	}
}

// TestGradesStandForTheData: the default of the threshold is that of all grades, whatever part
// of them is in which shard.
func TestGradesStandForTheData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		grade := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 2, 3, 4}), rapid.Float64Range(0, 4))
		lists := rapid.SliceOfN(rapid.SliceOf(grade), 1, 5).Draw(t, "grades")
		var g shards.Grades
		for _, list := range lists {
			g.Add(list)
		}
		for _, whole := range []float64{1, 2} {
			if got, want := dataset.Threshold(whole, g.Sample()), dataset.Threshold(whole, lists...); math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("found the threshold %v, expected %v of %v (%+v)", got, want, lists, g)
			}
		}
	})
}

// FuzzParse feeds damaged manifests: none panics, and those accepted are written as they are read.
func FuzzParse(f *testing.F) {
	sum := strings.Repeat("0a", 32)
	f.Add([]byte(`{"format":"listwise-shards","version":1,"queries":1,"documents":2,"features":3,"grades":{"fractions":false,"least":1},"shards":[{"name":"a","queries":1,"documents":2,"bytes":5,"sha256":"` + sum + `"}]}`))
	f.Add([]byte(`{"format":"listwise-shards","version":1,"shards":[{"name":"../a","documents":9223372036854775807}]}`))
	f.Add([]byte(`{"":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := shards.Parse(text)
		if err != nil {
			return
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := shards.Parse(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}
