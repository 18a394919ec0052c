package model

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/listwise/listwise/model/fuse"
)

// A fusion knows the distribution of a feature from the first member that has the feature and
// knows it, whatever the order of the members' features.
func TestSummaryOfAFusionIsItsMembers(t *testing.T) {
	named := func(names ...string) *Model {
		m := linear(make([]float64, len(names))...)
		m.FeatureNames = names
		return m
	}
	unknown, first, second := named("c", "a"), named("b", "a"), named("c", "b", "a")
	first.Training.Summary = read(t, "0 qid:q 1:10 2:20\n").Summary()
	second.Training.Summary = read(t, "0 qid:q 1:31 2:11 3:21\n").Summary()
	m, err := NewFused(fuse.Rule{Kind: fuse.Borda}, []*Model{unknown, first, second}, fuse.Equal(3))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float32{"a": 20, "b": 10, "c": 31}
	for j, name := range m.FeatureNames {
		s, k := m.Summary(j)
		if s == nil || s.Bounds(k)[1] != want[name] {
			t.Errorf("feature %s has the distribution %d of %v, want the one of the value %v", name, k, s, want[name])
		}
	}
	if s, _ := unknown.Summary(0); s != nil {
		t.Error("found a summary of a model without one")
	}
}

// A model file keeps the summary, and one for another number of features is refused.
func TestModelFileKeepsItsSummary(t *testing.T) {
	m := linear(1, -2)
	d := read(t, wideQueries)
	m.Training.Summary = read(t, "1 qid:a 1:1 2:2\n0 qid:a 1:3 2:6\n").Summary()
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	back, err := Read(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	s, k := back.Summary(1)
	if s == nil || s.Documents() != 2 || s.Share(k, s.Bin(k, 2)) != 0.5 || s.Share(k, s.Bin(k, float32(math.NaN()))) != 0 {
		t.Errorf("found the summary %v of feature %d, want the one that was written", s, k)
	}
	m.Training.Summary = d.Summary()
	file.Reset()
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(&file); err == nil || !strings.Contains(err.Error(), "feature_summary") {
		t.Errorf("a summary of 3 features for a model of 2: %v, want an error", err)
	}
}
