package model

import (
	"context"
	"testing"
)

// BenchmarkCells reports the time of an iteration per cell, of pages of a search engine.
func BenchmarkCells(b *testing.B) { benchmarkFit(b, "pbm", "ubm") }

// BenchmarkChains reports the time of an iteration per place.
func BenchmarkChains(b *testing.B) { benchmarkFit(b, "dcm", "sdbn", "dbn", "ccm") }

func benchmarkFit(b *testing.B, names ...string) {
	train, _ := yandex(b)
	d := arrange(b, &train.Counts)
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			k, _ := Lookup(name)
			m, err := d.Fit(context.Background(), k, Options{Exact: true, Iterations: 1, Workers: 1})
			if err != nil {
				b.Fatal(err)
			}
			f := &fitting{Model: m, d: d, o: Options{Workers: 1}, ctx: context.Background()}
			e := estimatorOf(f)
			parts, unit := len(d.pair), "ns/place"
			if c, ok := e.(*cellFit); ok {
				parts, unit = len(c.at), "ns/cell"
			}
			for b.Loop() {
				e.expect()
				e.maximise()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(parts), unit)
		})
	}
}

// BenchmarkAll fits all ten models.
func BenchmarkAll(b *testing.B) {
	train, _ := yandex(b)
	for b.Loop() {
		d := arrange(b, &train.Counts)
		for _, k := range Kinds() {
			if _, err := d.Fit(context.Background(), k, Options{Workers: 1}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
