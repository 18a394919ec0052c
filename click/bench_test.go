package click

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkJoin joins a log of serve, a ranking an operation.
func BenchmarkJoin(b *testing.B) {
	var log, clicks strings.Builder
	docs := make([]string, 10)
	for i := range b.N {
		for k := range docs {
			docs[k] = fmt.Sprint("doc-", (i+k*k)%500)
		}
		page := fmt.Sprintf("%016x", i*i)
		log.WriteString(shownAt(page, "10:00:00", fmt.Sprint("u", i%5000), fmt.Sprint("query ", i%97), docs...))
		switch i % 5 {
		case 0:
			fmt.Fprintf(&clicks, "{\"page\":%q,\"id\":%q}\n", page, docs[3])
		case 1:
			fmt.Fprintf(&clicks, "{\"user\":\"u%d\",\"query\":\"query %d\",\"id\":%q,\"time\":\"2026-01-02T10:00:09Z\"}\n", i%5000, i%97, docs[0])
		}
	}
	dir := b.TempDir()
	j := &Join{Shown: []string{filepath.Join(dir, "log")}, Clicks: []string{filepath.Join(dir, "clicks")}, Format: ServeLog{}, Within: time.Hour}
	for i, text := range []string{log.String(), clicks.String()} {
		if err := os.WriteFile([]string{j.Shown[0], j.Clicks[0]}[i], []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(log.Len() / b.N))
	b.ResetTimer()
	if err := j.Run(context.Background(), func(*Page) error { return nil }); err != nil {
		b.Fatal(err)
	}
}
