package ingest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
)

// watchAll has collectors watch decimals of one feature, whose turn it is by deal, and returns the
// warning.
func watchAll(decimals []string, collectors int, deal func(i int) int) string {
	list := make([]*Collector, collectors)
	for i := range list {
		list[i] = NewCollector(&Blocks{Width: 1}, dataset.Options{}, nil)
	}
	for i, text := range decimals {
		c := list[deal(i)]
		exact, _ := strconv.ParseFloat(text, 64)
		if v := float32(exact); len(text) >= LongNumber && c.Watches(0, v) {
			c.WatchText(0, v, []byte(text+"\n               "), 0, len(text))
		}
	}
	return CollapsedWarning("f", []string{"x"}, list...)
}

// Claim: for few distinct values the warning agrees with a grouping of all decimals by their float32,
// for any division among workers.
func TestCollapsedFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom([]float64{0, 2_000_000, 33_000, 12_345_678}).Draw(t, "base")
		decimals := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf("%.7f", base+float64(rapid.IntRange(0, 10).Draw(t, "n"))*rapid.SampledFrom([]float64{.5, .01, .001}).Draw(t, "unit"))
		}), 1, 40).Draw(t, "decimals")
		groups := make(map[float32]map[string]bool)
		for _, text := range decimals {
			v, _ := strconv.ParseFloat(text, 32)
			if groups[float32(v)] == nil {
				groups[float32(v)] = make(map[string]bool)
			}
			groups[float32(v)][text] = true
		}
		several := 0
		for _, g := range groups {
			if len(g) > 1 {
				several++
			}
		}
		want := several > 0 && 10*several >= len(groups)
		got := watchAll(decimals, 1, func(int) int { return 0 })
		if len(groups) <= sketchSize && (got != "") != want {
			t.Fatalf("%q: %d of %d values are several decimals, warning %q", decimals, several, len(groups), got)
		}
		shares := rapid.SliceOfN(rapid.IntRange(0, 2), len(decimals), len(decimals)).Draw(t, "shares")
		if other := watchAll(decimals, 3, func(i int) int { return shares[i] }); other != got {
			t.Fatalf("%q of one worker, %q of three", got, other)
		}
	})
}

// Claim: many decimals are warned of where float32 has few values for them. Random doubles that
// coincide now and then are not, nor are the last digits that arithmetic leaves.
func TestCollapsedMany(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		name string
		next func() string
		want bool
	}{
		{"cents beyond two millions", func() string { return fmt.Sprintf("%.2f", 2e6+draw.Float64()*1000) }, true},
		{"degrees of seven decimals within a town", func() string { return fmt.Sprintf("%.7f", 52.5+draw.Float64()/1000) }, true},
		{"doubles from 0 to 1", func() string { return strconv.FormatFloat(draw.Float64(), 'g', -1, 64) }, false},
		{"float32s", func() string { return strconv.FormatFloat(float64(draw.Float32()), 'g', -1, 64) }, false},
		{"sums of tenths", func() string {
			sum := 0.
			for range 1 + draw.IntN(30) {
				sum += .1
			}
			return strconv.FormatFloat(sum/3*3/7*7, 'g', -1, 64)
		}, false},
		{"cents below a thousand", func() string { return fmt.Sprintf("%.6f", float64(draw.IntN(1e5))/100) }, false},
	} {
		decimals := make([]string, 30_000)
		for i := range decimals {
			decimals[i] = test.next()
		}
		got := watchAll(decimals, 2, func(i int) int { return i % 2 })
		if (got != "") != test.want || test.want && !strings.HasPrefix(got, "f: feature x: different numbers become equal, such as ") {
			t.Errorf("%s: %q", test.name, got)
		}
	}
}
