package clickreport

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/internal/testing/browsertest"
)

// Claim: on a phone and on a desktop, in light and dark, the page is no wider than the window, even with names as long
// as a path. Plots are within the window, their labels can be read, and their colors follow the scheme. The browser has
// nothing to complain about.
func TestPageFits(t *testing.T) {
	long := func(rng *rand.Rand, number int, p *click.Page) {
		exchanged(rng, number, p)
		p.Query = strings.Repeat("query", 20) + p.Query
		p.Experiment, p.Arm = "ab", strings.Repeat("long-name/", number%2*12)
	}
	file := pageFile(t, built(t, pagesOf(2000, long, byPosition), Config{Queries: 3, Resamples: 20}))
	ink := map[string]bool{}
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b := browsertest.Open(t, file, "file://", "#queries", width, &emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme})
			if got := browsertest.Eval[int64](b, `document.documentElement.scrollWidth`); got > width {
				t.Errorf("the page is %d pixels wide in a window of %d", got, width)
			}
			if n := browsertest.Eval[int](b, `document.querySelectorAll('.figure > svg').length`); n != 4 {
				t.Errorf("%d plots, expected 4", n)
			}
			if !browsertest.Eval[bool](b, `[...document.querySelectorAll('.figure > svg')].every(e => { const r = e.getBoundingClientRect(); return r.left >= 0 && r.right <= innerWidth && r.width > 300 && r.height > 200 })`) {
				t.Errorf("a plot is outside the window of %d or small", width)
			}
			if size := browsertest.Eval[float64](b, `Math.min(...[...document.querySelectorAll('.figure text')].map(e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().d).filter(v => v > 0))`); size < 9 {
				t.Errorf("text of a plot has %.1f pixels in a window of %d", size, width)
			}
			ink[browsertest.Eval[string](b, `getComputedStyle(document.querySelector('.lw-plot .lw-0')).color`)] = true
			b.Quiet()
		}
	}
	if len(ink) != 2 {
		t.Errorf("plots have %d colors, expected one for light and one for dark", len(ink))
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.Stop()
	os.Exit(code)
}
