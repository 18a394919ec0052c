package model

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/listwise/listwise/click"
)

// yandex returns the pages of a search engine, or skips the test if they are not there.
func yandex(t testing.TB) (train, test *Sample) {
	t.Helper()
	both, err := yandexOnce()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no pages of a search engine in ../shared/data")
	}
	if err != nil {
		t.Fatal(err)
	}
	return both[0], both[1]
}

var yandexOnce = sync.OnceValues(func() (both [2]*Sample, err error) {
	root, err := os.Getwd()
	if err != nil {
		return both, err
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Dir(root)
	}
	for i, name := range []string{"train", "test-a"} {
		both[i] = new(Sample)
		path := filepath.Join(root, "..", "shared", "data", "clicks", "yandex", name+".jsonl.gz")
		if err := click.Read(context.Background(), path, click.Options{}, both[i].Add); err != nil {
			return both, err
		}
	}
	return both, nil
})

// Claim: with the prior of Laplace and 50 iterations, perplexity, conditional perplexity and log-likelihood on held-out
// pages of a search engine equal an independent implementation's.
func TestYandex(t *testing.T) {
	train, test := yandex(t)
	d := arrange(t, &train.Counts)
	for name, want := range map[string][3]float64{
		"gctr": {1.547066, 1.547066, -.415184},
		"rctr": {1.483633, 1.483633, -.382565},
		"dctr": {1.446179, 1.446179, -.361194},
		"pbm":  {1.431703, 1.431703, -.350911},
		"ubm":  {1.431993, 1.395355, -.323268},
		"dcm":  {1.439610, 1.469859, -.376765},
		"sdbn": {1.434290, 1.460481, -.370701},
		"dbn":  {1.436270, 1.404979, -.330078},
		"ccm":  {1.435567, 1.403348, -.328909},
	} {
		k, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Fit(context.Background(), k, Options{Prior: Laplace})
		if err != nil {
			t.Fatal(err)
		}
		c, err := Compare(context.Background(), []*Model{m}, test, CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := c.Models[0]
		for i, v := range []float64{got.Perplexity.Value, got.Conditional.Value, got.LogLikelihood.Value} {
			if math.Abs(v-want[i]) > 1e-6 {
				t.Errorf("%s: found measure %d %.7f, expected %.6f", name, i, v, want[i])
			}
		}
		t.Logf("%s: %d steps, shared %.6f", name, len(m.Steps), m.Shared[:min(3, len(m.Shared))])
		shared := map[string][]float64{"dbn": {.822307}, "ccm": {.812573, .920154, .520601}}[name]
		for i, v := range shared {
			if math.Abs(m.Shared[i]-v) > 1e-6 {
				t.Errorf("%s: found parameter %d %.7f, expected %.6f", name, i, m.Shared[i], v)
			}
		}
	}
}
