package method

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/model/scorer"
)

// BenchmarkScoreMQ2008 scores the test part of MQ2008's fold 1, 128 documents at a time, by
// trees that LambdaMART learned on its training part. The time is the least of many blocks.
func BenchmarkScoreMQ2008(b *testing.B) {
	train, test := mq2008(b, "S1", "S2", "S3"), mq2008(b, "S5")
	for _, shape := range []struct{ trees, leaves int }{{300, 10}, {1000, 31}, {1000, 64}} {
		b.Run(fmt.Sprintf("%dx%d", shape.trees, shape.leaves), func(b *testing.B) {
			m, err := Lookup("lambdamart")
			if err != nil {
				b.Fatal(err)
			}
			p := newProblem(b, m, "trees", strconv.Itoa(shape.trees), "leaves", strconv.Itoa(shape.leaves), "patience", "0")
			p.Data = train
			learned, err := m.Train(context.Background(), p)
			if err != nil {
				b.Fatal(err)
			}
			const docs = 128
			var ws scorer.Workspace
			dst, x, least, block := make([]float64, docs), test.X(), time.Duration(math.MaxInt64), 0
			for b.Loop() {
				start := time.Now()
				learned.Scorer.Score(dst, learned.Params, x[block*docs*test.Features:][:docs*test.Features], &ws)
				least, block = min(least, time.Since(start)), (block+1)%(test.Docs()/docs)
			}
			b.ReportMetric(least.Seconds()*1e6/docs, "µs/document")
		})
	}
}

func mq2008(b *testing.B, names ...string) *dataset.Dataset {
	b.Helper()
	dir := datatest.RealData(b, "mq2008")
	var parts []*dataset.Dataset
	for _, name := range names {
		d, err := datafile.Open(filepath.Join(dir, name+".txt.gz"), dataset.Options{})
		if err != nil {
			b.Fatal(err)
		}
		parts = append(parts, d)
	}
	d, err := dataset.Concat(parts...)
	if err != nil {
		b.Fatal(err)
	}
	return d
}
