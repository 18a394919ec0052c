package input

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
)

// Claim: what CheckBuilder lets pass builds within the limit, as allocations measure it,
// and what it refuses is told with an estimate.
func TestCheckBuilder(t *testing.T) {
	const queries, docs, features = 2000, 50, 20
	var b dataset.Builder
	ids := make([]string, docs)
	for i := range ids {
		ids[i] = fmt.Sprintf("1234-%05d", i)
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for q := range queries {
		if err := b.Add(strconv.Itoa(q), make([]float64, docs), make([]float32, docs*features), ids); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := int64(after.HeapAlloc - before.HeapAlloc)
	if err := CheckBuilder(dataset.Options{MaxBytes: 3 * held}, queries, docs, features); err != nil {
		t.Errorf("%v, though it holds %d bytes", err, held)
	}
	err := CheckBuilder(dataset.Options{MaxBytes: held}, queries, docs, features)
	if !errors.Is(err, dataset.ErrTooLarge) || !strings.Contains(err.Error(), "2000 queries × 50 documents × 20 features, which take some ") {
		t.Errorf("a limit of the %d bytes that it holds: %v", held, err)
	}
	if d := b.Dataset(); d.Docs() != queries*docs {
		t.Errorf("%d documents", d.Docs())
	}
	if err := CheckBuilder(dataset.Options{}, math.MaxInt32, math.MaxInt32, math.MaxInt32); !errors.Is(err, dataset.ErrTooLarge) {
		t.Errorf("all there is: %v", err)
	}
}
