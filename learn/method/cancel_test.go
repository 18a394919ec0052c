package method

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/listwise/listwise/internal/testing/long"
)

// Cancelled at any time, a training ends at once with the context's error, for any method;
// or it has ended before. Resumed from what it left, it gives the same model.
func TestCancelledAtAnyTime(t *testing.T) {
	long.Test(t)
	broken := errors.New("broken off")
	const parts = 4
	for _, m := range List() {
		if m.Name == "random" {
			continue
		}
		for _, kind := range m.Scorers() {
			began := time.Now()
			want := bytesOf(t, mustTrain(t, m, quick(t, m, kind)))
			whole := time.Since(began)
			for part := range parts {
				p := quick(t, m, kind)
				if _, err := p.Values.method.hyperparameter("optimizer"); err == nil && m.Name != "ranksvm" && m.Name != "svmmap" {
					p.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
				}
				ctx, cancel := context.WithCancelCause(context.Background())
				timer := time.AfterFunc(whole*time.Duration(part)/time.Duration(parts), func() { cancel(broken) })
				_, err := m.Train(ctx, p)
				timer.Stop()
				what := fmt.Sprintf("%s, %s, cancelled after %d of %d parts of the time", m.Name, kind, part, parts)
				if err != nil && !errors.Is(err, broken) && !errors.Is(err, context.Canceled) {
					t.Errorf("%s: error %v", what, err)
				}
				if got := bytesOf(t, mustTrain(t, m, p)); got != want {
					t.Errorf("%s: goes on to another model", what)
				}
			}
		}
	}
}
