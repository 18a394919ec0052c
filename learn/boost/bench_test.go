package boost

import (
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
)

// ohsumed returns generated data of the shape of OHSUMED's training data of a fold.
func ohsumed(b *testing.B) *dataset.Dataset {
	b.Helper()
	return ofShape(b, 63)
}

// ofShape returns as many queries of OHSUMED's shape.
func ofShape(b *testing.B, queries int) *dataset.Dataset {
	b.Helper()
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		b.Fatal(err)
	}
	o := shape.Defaults
	o.Queries = queries
	d, err := shape.Generate(o)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// BenchmarkRankBoost measures a round on one thread. x-floor is its ratio to the time of
// the least work a round must do: add every potential to a bin of every feature.
func BenchmarkRankBoost(b *testing.B) {
	d := ohsumed(b)
	for name, o := range map[string]Options{"values": {Workers: 1}, "cuts10": {Workers: 1, Cuts: 10}} {
		b.Run(name, func(b *testing.B) {
			r := newRankBoost(b, d, o, false)
			b.ReportAllocs()
			var floor, rounds time.Duration
			for b.Loop() {
				start := time.Now()
				r.Next()
				rounds += time.Since(start)
				b.StopTimer()
				start = time.Now()
				for i := range r.search.columns {
					r.search.byBin(0, i, r.potential)
				}
				floor += time.Since(start)
				b.StartTimer()
			}
			b.ReportMetric(float64(rounds)/float64(floor), "x-floor")
		})
	}
}

// BenchmarkRankBoostManyDocuments measures ten rounds and what comes before them on some 150,000
// documents, by a largeSearch and by a search.
func BenchmarkRankBoostManyDocuments(b *testing.B) {
	d := ofShape(b, 1000)
	for name, docs := range map[string]int{"large": 1, "search": 1 << 30} {
		b.Run(name, func(b *testing.B) {
			setManyDocs(b, docs)
			b.ReportAllocs()
			for b.Loop() {
				r := newRankBoost(b, d, Options{Workers: 1, Up: true}, false)
				for range 10 {
					r.Next()
				}
			}
		})
	}
}

// BenchmarkRankBoostRounds measures rounds of a largeSearch alone, the 100 after the first, of some 150,000 documents.
func BenchmarkRankBoostRounds(b *testing.B) {
	d := ofShape(b, 1000)
	setManyDocs(b, 1)
	for b.Loop() {
		b.StopTimer()
		r := newRankBoost(b, d, Options{Workers: 1}, true)
		r.Next()
		b.StartTimer()
		for range 100 {
			r.Next()
		}
	}
}

// BenchmarkRankBoostStart measures arranging and sorting.
func BenchmarkRankBoostStart(b *testing.B) {
	d := ohsumed(b)
	b.ReportAllocs()
	for b.Loop() {
		newRankBoost(b, d, Options{Workers: 1}, false)
	}
}

func BenchmarkFRank(b *testing.B) {
	d := ohsumed(b)
	for name, o := range map[string]FRankOptions{"formula": {}, "minimum": {Alpha: FRankMinimum}, "features": {Search: ByFeature}} {
		o.Workers = 1
		b.Run(name, func(b *testing.B) {
			f := newFRank(b, d, o)
			b.ReportAllocs()
			for b.Loop() {
				f.Next()
			}
		})
	}
}

// BenchmarkAdaRank measures a round on one thread.
func BenchmarkAdaRank(b *testing.B) {
	d := ohsumed(b)
	for _, name := range []string{"map", "ndcg@10"} {
		b.Run(name, func(b *testing.B) {
			a := newAdaRank(b, d, AdaRankOptions{Measure: measure.MustParse(name, measure.LETOR3), Stop: StopNever, Reweight: ReweightCumulative, Rate: 1, Workers: 1})
			b.ReportAllocs()
			for b.Loop() {
				a.Next()
			}
		})
	}
}

// BenchmarkAdaRankStart measures making the table.
func BenchmarkAdaRankStart(b *testing.B) {
	d := ohsumed(b)
	b.ReportAllocs()
	for b.Loop() {
		newAdaRank(b, d, AdaRankOptions{Measure: measure.MustParse("map", measure.LETOR3), Workers: 1})
	}
}
