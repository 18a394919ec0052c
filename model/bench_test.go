package model

import (
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/listwise/listwise/scorer"
)

// wide is a linear model with the given number of random weights.
func wide(weights int) *Model {
	rng := rand.New(rand.NewPCG(1, 2))
	m := &Model{Method: "mle", Scorer: scorer.Linear{Features: weights}, Params: make([]float64, weights)}
	for j := range m.Params {
		m.Params[j] = rng.NormFloat64()
	}
	return m
}

func BenchmarkLoad(b *testing.B) {
	for _, weights := range []int{1e5, 1e7} {
		b.Run(strconv.Itoa(weights), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "m.json")
			if err := wide(weights).Save(path); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Load(path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSave(b *testing.B) {
	for _, weights := range []int{1e5, 1e7} {
		b.Run(strconv.Itoa(weights), func(b *testing.B) {
			m, path := wide(weights), filepath.Join(b.TempDir(), "m.json")
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Save(path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
