package memory

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Claim: what is made a query at a time counts its queries and the documents of one, not of all.
func TestCheckMade(t *testing.T) {
	of := func(limit int64, queries, docs int) error {
		return CheckMade(dataset.Options{MaxBytes: limit}, queries, docs, 100)
	}
	if err := of(1<<20, 1000, 100); err != nil {
		t.Errorf("40 MB of documents, 40 kB a query: %v", err)
	}
	for _, queries := range []int{10, 10_000} {
		docs := 10_000_000 / queries
		err := of(1<<20, queries, docs)
		if !errors.Is(err, dataset.ErrTooLarge) || !strings.Contains(err.Error(), fmt.Sprintf("%d queries, one at a time with %d documents × 100 features, which take some ", queries, docs)) {
			t.Errorf("%d queries: %v", queries, err)
		}
	}
	if err := of(0, math.MaxInt32, math.MaxInt32); !errors.Is(err, dataset.ErrTooLarge) {
		t.Errorf("all there is: %v", err)
	}
}
