package model

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/listwise/listwise/model/scorer"
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

// BenchmarkLoadTrees loads 1,000 trees of 64 leaves, in a file of 6.7 MB. The time is the least
// of many. What any reader must do at least is to read the numbers: 64,000 of 17 digits,
// 63,000 of float32 and 190,000 integers take 10 ms of it.
func BenchmarkLoadTrees(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	trees := make([][]scorer.TreeNode, 1000)
	for k := range trees {
		nodes := make([]scorer.TreeNode, 63)
		for i := range nodes {
			nodes[i] = scorer.TreeNode{Feature: rng.IntN(46), Threshold: rng.Float32(), MissingLeft: rng.IntN(2) == 0, Left: 2*i + 1, Right: 2*i + 2}
			if i >= 31 {
				nodes[i].Left, nodes[i].Right = -1-(2*i-62), -1-(2*i-61)
			}
		}
		trees[k] = nodes
	}
	s, err := scorer.NewTrees(46, trees)
	if err != nil {
		b.Fatal(err)
	}
	m := &Model{Method: "lambdamart", Scorer: s, Params: make([]float64, s.NumParams())}
	for i := range m.Params {
		m.Params[i] = rng.NormFloat64() / 10
	}
	path := filepath.Join(b.TempDir(), "m.json")
	if err := m.Save(path); err != nil {
		b.Fatal(err)
	}
	least := time.Duration(math.MaxInt64)
	for b.Loop() {
		start := time.Now()
		if _, err := Load(path); err != nil {
			b.Fatal(err)
		}
		least = min(least, time.Since(start))
	}
	b.ReportMetric(least.Seconds()*1e3, "ms")
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
