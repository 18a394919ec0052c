package datareport

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/testing/browsertest"
)

// Claim: numbers have one kind of minus sign, in exponents, too.
func TestShort(t *testing.T) {
	for v, want := range map[float64]string{-6.1063e-5: "−6.106e−05", 2.8e-22: "2.8e−22", -1.5: "−1.5"} {
		if got := short(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

// Claim: on a phone nothing but the tables is wider than the window, and where a table goes on its edge is
// shaded; a name of other data as long as a path does not widen the page.
func TestPageFitsPhones(t *testing.T) {
	value := func(rng *rand.Rand, _, _ int, effect, _ float64, _ int) float64 { return effect + rng.NormFloat64() }
	d, other := made(1, 12, []string{"a", "b"}, value), made(2, 12, []string{"a", "b"}, value)
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(written(t, built(t, d, other, Config{Source: "a", Against: strings.Repeat("long-name/", 12)}))), 0o644); err != nil {
		t.Fatal(err)
	}
	b := browsertest.Open(t, "file://"+file, "file://", "#first", 390)
	if got := browsertest.Eval[int](b, `document.documentElement.scrollWidth`); got > 390 {
		t.Errorf("the page is %d pixels wide", got)
	}
	if !browsertest.Eval[bool](b, `[...document.querySelectorAll('.scroll')].every(e => e.scrollWidth > e.clientWidth && getComputedStyle(e).backgroundImage.includes('gradient') && getComputedStyle(e).backgroundAttachment.includes('local'))`) {
		t.Error("a table that goes on shows no edge")
	}
	b.Quiet()
}

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.Stop()
	os.Exit(code)
}

func written(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func meanGrade(d *dataset.Dataset) (m float64) {
	for _, g := range d.Grades() {
		m += g / float64(d.Docs())
	}
	return m
}
