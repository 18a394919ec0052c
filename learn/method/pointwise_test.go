package method

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/train"
)

// Claim: least squares returns an error before it computes the products of features if they do not fit. The error
// states the memory they need. One byte more than that is enough.
func TestRegressionOfManyFeaturesRefused(t *testing.T) {
	const features, few = 700, 2 << 20
	const need = 8*(2*700*700) + 8*(128+5)*700 + 352*2 - few
	rows := dataset.Rows{Name: "wide", Features: features, X: make([]float32, 4*features), Grades: []float64{1, 0, 0, 2}, Queries: []dataset.Run{{ID: "a", Docs: 2}, {ID: "b", Docs: 2}}}
	for i := range rows.X {
		rows.X[i] = float32(i * i % 7)
	}
	d, err := dataset.FromRows(rows, dataset.MissingZero)
	if err != nil {
		t.Fatal(err)
	}
	held := int64(4 * len(rows.X))
	p := &Problem{Problem: train.Problem{Data: d, Missing: dataset.MissingZero, MaxBytes: held + need - 1}, Values: valuesOf(t, "regression", nil)}
	_, err = lookup(t, "regression").Train(t.Context(), p)
	if !errors.Is(err, dataset.ErrTooLarge) || !strings.Contains(err.Error(), "4 documents × 700 features, whose features take 1.12e-05 GB and learning from them 0.00649 GB") {
		t.Errorf("%v, want an error about memory", err)
	}
	p.MaxBytes++
	if _, err := lookup(t, "regression").Train(t.Context(), p); err != nil {
		t.Error(err)
	}
	p.Normalization = dataset.ZScore // of which a copy is held
	if _, err := lookup(t, "regression").Train(t.Context(), p); !errors.Is(err, dataset.ErrTooLarge) {
		t.Errorf("%v, want an error about memory beside a copy", err)
	}
	p.MaxBytes += held
	if _, err := lookup(t, "regression").Train(t.Context(), p); err != nil {
		t.Error(err)
	}
}

// drawnDocuments are documents with the given number of features and levels. All sums of their features are exact, so that
// what lies on a threshold does so in whatever order they are added.
func drawnDocuments(t *rapid.T, docs, features, levels int) (x []float32, level []int) {
	for range docs {
		for range features {
			x = append(x, float32(rapid.IntRange(-2048, 2048).Draw(t, "x"))/1024)
		}
		level = append(level, rapid.IntRange(0, levels-1).Draw(t, "level"))
	}
	return x, level
}

// figure2 is the algorithm as it is printed: ranks from 1 to k, y_r = ±1, τ_r = y_r where
// (w·x − b_r)y_r ≤ 0. It returns the weights after each document.
func figure2(x []float32, features int, level []int, k int, order []int) (history [][]float64, thresholds []float64) {
	w, b := make([]float64, features), make([]float64, k+1)
	b[k] = math.Inf(1)
	for _, i := range order {
		row, y := x[i*features:(i+1)*features], level[i]+1
		var s float64
		for j, v := range row {
			s = math.FMA(w[j], float64(v), s)
		}
		predicted := 1
		for s-b[predicted] >= 0 {
			predicted++
		}
		if predicted != y {
			var tau float64
			for r := 1; r < k; r++ {
				yr := 1.0
				if y <= r {
					yr = -1
				}
				if (s-b[r])*yr <= 0 {
					tau += yr
					b[r] -= yr
				}
			}
			for j, v := range row {
				w[j] += tau * float64(v)
			}
		}
		history = append(history, slices.Clone(w))
	}
	return history, b[1:k]
}

// The weights are those of the paper's figure 2, and their mean that of its weights after
// every document; the thresholds are in order (Lemma 1).
func TestPRankIsFigure2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs, features, k := rapid.IntRange(1, 12).Draw(t, "docs"), rapid.IntRange(1, 3).Draw(t, "features"), rapid.IntRange(2, 5).Draw(t, "levels")
		x, level := drawnDocuments(t, docs, features, k)
		p := &perceptron{x: x, features: features, level: level, w: make([]float64, features), b: make([]float64, k-1), sum: make([]float64, features)}
		var order []int
		rng := rand.New(rand.NewPCG(1, uint64(docs)))
		for range 3 {
			epoch := rng.Perm(docs)
			if _, err := p.epoch(context.Background(), epoch); err != nil {
				t.Fatal(err)
			}
			order = append(order, epoch...)
		}
		history, thresholds := figure2(x, features, level, k, order)
		mean := make([]float64, features)
		for _, w := range history {
			for j, v := range w {
				mean[j] += v / float64(len(history))
			}
		}
		last, averaged := p.weights(false), p.weights(true)
		for j := range mean {
			if math.Abs(last[j]-history[len(history)-1][j]) > 1e-9 || math.Abs(averaged[j]-mean[j]) > 1e-9 {
				t.Fatalf("weights %v, mean %v; figure 2 has %v, %v", last, averaged, history[len(history)-1], mean)
			}
		}
		if !slices.Equal(p.b, thresholds) || !slices.IsSorted(p.b) {
			t.Fatalf("thresholds %v, figure 2 has %v", p.b, thresholds)
		}
	})
}

// Where thresholds of a unit vector (w, b) separate the levels by a margin γ, the sum of all
// |predicted − true| over any sequence is at most (k − 1)(R² + 1)/γ² (Theorem 2).
func TestPRankMistakeBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		const features, k, docs = 3, 4, 200
		w, b := []float64{1, -0.5, 0.3}, []float64{-1, 0.2, 0.9}
		norm := math.Sqrt(1 + 0.25 + 0.09 + 1 + 0.04 + 0.81)
		var x []float32
		var level []int
		margin, radius := math.Inf(1), 0.0
		for len(level) < docs {
			row := []float32{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}
			var s, square float64
			for j, v := range row {
				s += w[j] * float64(v)
				square += float64(v) * float64(v)
			}
			near := math.Inf(1)
			y := 0
			for r, threshold := range b {
				near = min(near, math.Abs(s-threshold)/norm)
				if s >= threshold {
					y = r + 1
				}
			}
			if near < 0.05 {
				continue
			}
			margin, radius = min(margin, near), max(radius, square)
			x, level = append(x, row...), append(level, y)
		}
		p := &perceptron{x: x, features: features, level: level, w: make([]float64, features), b: make([]float64, k-1), sum: make([]float64, features)}
		total, last := 0, -1
		for epoch := 0; epoch < 2000 && last != 0; epoch++ {
			var err error
			if last, err = p.epoch(context.Background(), rng.Perm(docs)); err != nil {
				t.Fatal(err)
			}
			total += last
		}
		if bound := (k - 1) * (radius + 1) / (margin * margin); float64(total) > bound || last != 0 {
			t.Errorf("%d mistakes, %d in the last epoch, expected %v at most and 0", total, last, bound)
		}
	}
}
