package model

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model/scorer"
)

// The sum covers every byte of a file but the white space between its parts: no
// change of a character leaves a model that loads, unless it changes nothing.
func TestSumNoticesDamage(t *testing.T) {
	path, text := save(t, full())
	want, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		for bit := range 8 {
			damaged := []byte(text)
			damaged[i] ^= 1 << bit
			got, err := decode(damaged)
			if err != nil {
				continue
			}
			same, _ := got.encode()
			if wanted, _ := want.encode(); !bytes.Equal(same, wanted) {
				t.Errorf("bit %d of byte %d (%q) changed the model unnoticed", bit, i, text[i])
			}
		}
	}
	// White space, and a file without a sum, are as good.
	for _, other := range []string{fullText, strings.ReplaceAll(text, "\n", "\r\n\t")} {
		if _, err := decode([]byte(other)); err != nil {
			t.Error(err)
		}
	}
}

// What may never end, or is larger than any model, is refused before it is read.
func TestLoadRefusesWithoutReading(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, MaxFileBytes+1); err != nil {
		t.Skip(err)
	}
	_, err := Load(large)
	if err == nil || !strings.HasSuffix(err.Error(), ": found a file of 1073741825 bytes, expected a model file, of at most 1073741824") {
		t.Errorf("a large file: %v", err)
	}
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no device without end")
	}
	_, err = Load("/dev/zero")
	if err == nil || err.Error() != "/dev/zero: found a device or a pipe, expected a regular file that holds a model" {
		t.Errorf("a device: %v", err)
	}
}

// No file is written that could not be read.
func TestSaveIsLimited(t *testing.T) {
	w := &limited{io.Discard, 10}
	if n, err := w.Write(make([]byte, 10)); n != 10 || err != nil {
		t.Errorf("10 bytes: %d, %v", n, err)
	}
	if _, err := w.Write(make([]byte, 1)); err == nil {
		t.Error("11 bytes were written")
	}
}

// A fusion of fusions is bounded by the depth of its file.
func TestNestedFusions(t *testing.T) {
	m := linear(1)
	for depth := 1; ; depth++ {
		next, err := NewFused(fusionRules()[0], []*Model{m}, []float64{1})
		if err != nil {
			t.Fatal(err)
		}
		m = next
		text, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		_, err = decode(text)
		if nested := 3*depth + 3; (err == nil) != (nested <= strictjson.MaxDepth) {
			t.Fatalf("%d fusions, %d levels: %v", depth, nested, err)
		}
		if err != nil {
			return
		}
	}
}

// narrowed are scorers of 7 features that take documents one by one.
func narrowed(t *testing.T) []*Model {
	stumps, err := scorer.NewStumps(7, []scorer.Stump{{Feature: 0, Threshold: 1}, {Feature: 1, Threshold: -1}, {Feature: 6, Threshold: -0.5}})
	if err != nil {
		t.Fatal(err)
	}
	net := scorer.Network{Features: 7, Hidden: 5, Activation: scorer.ELU}
	models := []*Model{linear(3, 0.1, -1, 2, 5, 7, 1), {Scorer: stumps, Params: []float64{1, 0.3, 0.2}}, {Scorer: scorer.Random{Features: 7, Seed: 3}}, {Scorer: net, Params: make([]float64, net.NumParams())}}
	for j := range models[3].Params {
		models[3].Params[j] = math.Sin(float64(j))
	}
	return models
}

// A document's score has the same bits whether its query is widened whole or a few
// documents at a time.
func TestScoreByRows(t *testing.T) {
	d := read(t, strings.Repeat("1 qid:a 1:1.3 2:2.7\n0 qid:a 1:3.1 2:-6\n", 40))
	for _, m := range narrowed(t) {
		if !m.oneByOne() {
			t.Errorf("%s takes documents one by one", m.Scorer.Kind())
		}
		want, err := m.Score(d)
		if err != nil {
			t.Fatal(err)
		}
		var s space
		for rows := 1; rows < 6; rows++ {
			got := make([]float64, len(want))
			for from := 0; from < len(got); from += rows {
				to := min(from+rows, len(got))
				m.scoreQuery(got[from:to], d.Queries[0].X[from*2:to*2], 2, &s)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d documents at a time: scores are %v, want %v", m.Scorer.Kind(), rows, got, want)
			}
		}
	}
}

// A model of any number of features is refused, not widened to.
func TestScoreRefusesHugeWidth(t *testing.T) {
	d := read(t, twoQueries)
	m := &Model{Scorer: scorer.Random{Features: 1 << 40}}
	if _, err := m.Score(d); err == nil || err.Error() != "found 2 features, expected the model's 1099511627776: to fill up a query of them would take 4096 GiB, and at most 1 are taken" {
		t.Errorf("error is %v", err)
	}
}

// hostileSeeds are a file of every scorer.
func hostileSeeds(f *testing.F) [][]byte {
	seeds := [][]byte{
		[]byte(fullText),
		[]byte(strings.ReplaceAll(fullText, "0.25", "null")),
		[]byte(`{"format":"listwise-model","version":2,"scorer":{"type":"linear","weights":[1,2]},"features":{"count":2,"names":["a","b"],"transforms":[{"feature":1,"steps":[{"step":"clip","low":0,"high":9.5},{"step":"log1p"}]},{"feature":2,"steps":[{"step":"fill","value":0},{"step":"standard","mean":3,"deviation":0.5}]}]},"normalization":"none"}`),
		[]byte(`{"format":"listwise-model","version":1,"scorer":{"type":"linear","weights":[1]},"features":{"count":1},"normalization":"none"}`),
		[]byte(`{"format":"listwise-model","version":1,"scorer":{"type":"linear","weights":[1]},"features":{"count":1,"names":[]},"normalization":"none"}`),
		[]byte(`{"format":"listwise-model","version":1,"scorer":null}`),
		[]byte(`{"format":"listwise-model","version":1,"scorer":{"type":"pairnet","activation":"tanh","features":1,"hidden":1,"pair_hidden":1,"weights":[1,2,3,4,5,6,7]},"features":{"count":1},"normalization":"zscore"}`),
		[]byte(`{"format":"listwise-model","version":1,"scorer":{"type":"stumps","features":3,"stumps":[{"feature":1,"threshold":0.5,"weight":1},{"feature":3,"threshold":-1e-9,"weight":-2}]},"features":{"count":3},"normalization":"none"}`),
		[]byte(`{"format":"listwise-model","version":1,"scorer":{"type":"random","features":3,"seed":7},"features":{"count":3},"normalization":"minmax"}`),
	}
	for _, r := range fusionRules() {
		m, err := NewFused(r, members(), []float64{1, 0, 0.3})
		if err != nil {
			f.Fatal(err)
		}
		text, err := m.encode()
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, text)
	}
	return seeds
}

// Any bytes give an error or a model, never a panic; a model that is saved again is the
// same; and it scores data of as many features or fewer, or says why not.
func FuzzLoad(f *testing.F) {
	for _, text := range hostileSeeds(f) {
		f.Add(text)
	}
	var data []*dataset.Dataset
	for _, text := range []string{wideQueries, "1 qid:a 1:1\n0 qid:a 1:-3e38\n", "0 qid:a 1:0\n1 qid:a\n"} {
		d, err := datafile.Read(strings.NewReader(text), "f", dataset.Options{})
		if err != nil {
			f.Fatal(err)
		}
		data = append(data, d)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := decode(text)
		if err != nil {
			if e := Locate("f", text, err); e.Line < 0 || e.Error() == "" {
				t.Fatalf("error %+v", e)
			}
			return
		}
		saved, err := m.encode()
		if err != nil {
			t.Fatalf("%q loads and does not save: %v", text, err)
		}
		again, err := decode(saved)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := again.encode(); err != nil || !bytes.Equal(saved, twice) {
			t.Fatalf("%q was saved as\n%s, then as\n%s, %v", text, saved, twice, err)
		}
		if m.Scorer.NumFeatures() > 1e6 {
			return // takes long
		}
		for _, d := range data {
			a, err := m.Score(d)
			b, errAgain := again.Score(d)
			if !slices.Equal(a, b) || (err == nil) != (errAgain == nil) {
				t.Fatalf("%q scores %v, %v, and after a round trip %v, %v", text, a, err, b, errAgain)
			}
		}
	})
}
