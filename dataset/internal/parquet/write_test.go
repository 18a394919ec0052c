package parquet

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// Claim: what is written is read again, bit by bit, whatever the number of row groups.
func TestWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := datatest.Random(t)
		again, err := readBytes(written(t, d, rapid.SampledFrom([]int{0, 1, 7}).Draw(t, "group")), dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := *d
		want.Warnings = nil
		if diff := datatest.SameDocuments(&want, again); diff != "" {
			t.Fatal(diff)
		}
	})
}
