package method

import (
	"context"
	"fmt"
	"strconv"
	"testing"
)

// BenchmarkRankNetOHSUMED is an epoch of --method ranknet --scorer net, 10 hidden units,
// on the training part of OHSUMED's fold 1: 63 queries, 9,219 documents of 45 features and
// 367,663 pairs. Its least work is the multiply-adds of two passes over the features, 0.3
// ms, the pairs' divisions, 0.14, and 92,190 hyperbolic tangents, 0.1.
func BenchmarkRankNetOHSUMED(b *testing.B) {
	d := ohsumedFold1(b)
	for _, batch := range []string{"1", "8"} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("batch=%s/workers=%d", batch, workers), func(b *testing.B) {
				m, err := Lookup("ranknet")
				if err != nil {
					b.Fatal(err)
				}
				const epochs = 50
				p := newProblem(b, m, "optimizer", "descent", "epochs", strconv.Itoa(epochs), "batch", batch, "hidden", "10")
				p.Data, p.Scorer, p.Workers = d, "net", workers
				for b.Loop() {
					if _, err := m.Train(context.Background(), p); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/1e3/float64(b.N)/epochs, "ms/epoch")
			})
		}
	}
}
