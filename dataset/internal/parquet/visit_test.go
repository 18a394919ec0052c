package parquet

import (
	"bytes"
	"errors"
	"strconv"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
)

// Claim: an error of a visit ends it at once, whichever batch it is of and whatever is being made.
func TestAVisitEndsWithItsError(t *testing.T) {
	const features, queries, docs = 12, 400, 10
	made := dataset.Blocks{Features: features, X: make([]float32, queries*docs*features), Grades: make([]float64, queries*docs)}
	for q := range queries {
		made.IDs, made.Counts = append(made.IDs, strconv.Itoa(q)), append(made.Counts, docs)
	}
	d := dataset.FromBlocks(made)
	var b bytes.Buffer
	w, err := NewWriter(&b, stream.ContentsOf(d))
	if err == nil {
		err = stream.Write(w, d, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	in := &input.Input{R: bytes.NewReader(b.Bytes()), Size: int64(b.Len()), Name: "f", Mem: memory.New("f", dataset.Options{})}
	f, err := open(in, dataset.Options{})
	if err == nil {
		_, err = f.Survey(func([]stream.Run) error { return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken off")
	for k := range 300 {
		r := f.reader(d.Features)
		r.most = 100
		visits := 0
		err := r.each(func(*stream.Batch) error {
			if visits++; visits > k%30 {
				return broken
			}
			return nil
		})
		if !errors.Is(err, broken) || visits != k%30+1 {
			t.Fatalf("after %d visits: %v", visits, err)
		}
	}
}
