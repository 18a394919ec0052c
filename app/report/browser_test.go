package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/internal/testing/browsertest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.Stop()
	os.Exit(code)
}

// tab is a page open in the browser.
type tab struct{ *browsertest.Tab }

// open shows a page from the disk in a window of the given width.
func open(t *testing.T, page []byte, width int64, features ...*emulation.MediaFeature) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	return &tab{browsertest.Open(t, "file://"+file, "file://", "#explorer", width, features...)}
}

// eval returns the value of an expression.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	return browsertest.Eval[T](b.Tab, expression)
}

// choose picks an option as a user does.
func (b *tab) choose(id, value string) {
	b.Helper()
	b.Run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => { const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event('change')); if (e.value !== %q) throw new Error('no such option'); })()`, id, value, value)))
}

// Claim: quiet reports console messages, exceptions and network requests.
func TestBrowserNotices(t *testing.T) {
	for _, bad := range []string{`console.error('x')`, `throw 1`, `new Image().src = 'https://localhost:1/x.png'`} {
		b := open(t, []byte(`<!DOCTYPE html><link rel="icon" href="data:,"><p id="explorer">x</p><script>`+bad+`</script>`), 800)
		b.Run(chromedp.Sleep(300 * time.Millisecond))
		if len(b.Problems()) == 0 {
			t.Errorf("%s goes unnoticed", bad)
		}
	}
}

// Claim: the page loads from the disk without a word on the console or a request,
// every section is there, and its plots have marks in them.
func TestPageDraws(t *testing.T) {
	_, page := small(t).build(t)
	b := open(t, page, 1200)
	for _, id := range []string{"summary", "cutoffs", "differences", "curves", "features", "sampler", "explorer"} {
		if !eval[bool](b, fmt.Sprintf(`document.getElementById(%q).offsetHeight > 100`, id)) {
			t.Errorf("section %s is not shown", id)
		}
	}
	for _, plot := range []string{"#forest .band", "#cutoffs-plot .line", "#cutoffs-plot .dot", "#differences-plot .up", "#differences-plot .down",
		"#curves-plots .line", "#curves-plots .ring", "#features-plot .up, #features-plot .down", "#sampler-plot .bar0", "#sampler-plot .bar1", ".links .link"} {
		size := eval[float64](b, fmt.Sprintf(`Math.max(0, ...[...document.querySelectorAll(%q)].map(e => e.getTotalLength ? e.getTotalLength() : 0))`, plot))
		if size < 5 {
			t.Errorf("%s is %v pixels long, want something to be seen", plot, size)
		}
	}
	if n := eval[[]int](b, `['.line', '.area', '.zero'].map(c => document.querySelectorAll('#cutoffs-plot ' + c).length)`); !slices.Equal(n, []int{6, 3, 1}) { // 3 systems, and 3 in the legend
		t.Errorf("%d lines, bands and zeros of differences of NDCG@k, want 6, 3 and 1", n)
	}
	b.choose("cutoffs-show", "mean")
	if n := eval[int](b, `document.querySelectorAll('#cutoffs-plot .line').length`); n != 8 { // 4 systems, and 4 in the legend
		t.Errorf("%d lines of NDCG@k, want 8", n)
	}
	forest := `document.querySelector('#forest svg').textContent`
	before := eval[string](b, forest)
	b.choose("forest-measure", "1")
	if eval[string](b, forest) == before {
		t.Error("the intervals of another measure are not shown")
	}
	if !eval[bool](b, `!!(document.getElementById('explorer').compareDocumentPosition(document.getElementById('sampler')) & Node.DOCUMENT_POSITION_FOLLOWING)`) {
		t.Error("the sampler stands before the explorer")
	}
	if got := eval[string](b, `document.querySelector('.verdict').textContent`); !strings.Contains(got, "baseline") || !strings.Contains(got, "randomization test") {
		t.Errorf("the verdict is %q", got)
	}
	if n := eval[int](b, `document.querySelectorAll('#curves-plots h3').length`); n != 2 {
		t.Errorf("%d plots of learning curves, want objective and validation", n)
	}
	if eval[bool](b, `window.stolen !== undefined || document.images.length > 0`) {
		t.Error("a hostile name has become markup")
	}
	if got := eval[string](b, `document.querySelector('h1').textContent`); got != "Rankings "+hostile {
		t.Errorf("the heading is %q", got)
	}
	b.Quiet()
}

// Claim: nothing is wider than a phone of 360 pixels, or a window of any other
// width; what is wider scrolls by itself.
func TestPageFits(t *testing.T) {
	s := *small(t)
	long := slicing.Division{By: hostile, Slices: []slicing.Slice{{Name: strings.Repeat("country", 20)}}}
	for q := range 24 {
		long.Slices[0].Queries = append(long.Slices[0].Queries, q)
	}
	s.config.Slices = []*slicing.Division{&long}
	_, page := s.build(t)
	b := open(t, page, 360)
	for _, width := range []int64{360, 500, 768, 1400} {
		b.Resize(width)
		b.Run(chromedp.Sleep(200 * time.Millisecond))
		if got := eval[int64](b, `document.documentElement.scrollWidth`); got > width {
			who := eval[string](b, fmt.Sprintf(`[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > %d && !e.closest('.scroll, nav, #tip, svg')).map(e => e.tagName + '#' + e.id + '.' + e.className).join(' ')`, width))
			t.Errorf("the page is %d wide in a window of %d: %s", got, width, who)
		}
	}
	b.Quiet()
}

// Claim: on a phone a table that is wider than the window says that it goes on, and where when
// it has been moved.
func TestPageCues(t *testing.T) {
	_, page := small(t).build(t)
	b := open(t, page, 360)
	b.Run(chromedp.Sleep(200 * time.Millisecond))
	box := `document.querySelector('#summary .scroll')`
	if !eval[bool](b, box+`.scrollWidth > `+box+`.clientWidth && `+box+`.classList.contains('more') && `+box+`.nextSibling.offsetHeight > 0 && `+box+`.nextSibling.textContent.includes('right')`) {
		t.Error("a table that goes on to the right does not say so")
	}
	b.Run(chromedp.Evaluate[chromedp.Void](box+`.scrollLeft = 1e6`), chromedp.Sleep(200*time.Millisecond))
	if !eval[bool](b, `!`+box+`.classList.contains('more') && `+box+`.nextSibling.textContent.includes('left')`) {
		t.Error("at its end the table still says that it goes on")
	}
	if !eval[bool](b, `[...document.querySelectorAll('#explorer .scroll')].every(e => e.nextSibling && e.nextSibling.className.includes('cue'))`) {
		t.Error("a table that the page's script made has no cue")
	}
	b.Resize(1400)
	b.Run(chromedp.Sleep(200 * time.Millisecond))
	if eval[bool](b, box+`.classList.contains('more') || !`+box+`.nextSibling.hidden`) {
		t.Error("a table that fits says that it goes on")
	}
	b.Quiet()
}

// Claim: the page follows the reader's colour scheme, and in both all text has the
// contrast that WCAG 2.1 asks for (4.5, of large text 3).
func TestPageContrast(t *testing.T) {
	_, page := small(t).build(t)
	backs := make(map[string]string)
	for _, scheme := range []string{"light", "dark"} {
		b := open(t, page, 1200, &emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme})
		backs[scheme] = eval[string](b, `getComputedStyle(document.body).backgroundColor`)
		for _, low := range eval[[]string](b, contrastScript) {
			t.Errorf("%s: %s", scheme, low)
		}
		b.Quiet()
	}
	if backs["light"] == backs["dark"] {
		t.Errorf("the background is %s in both schemes", backs["light"])
	}
}

// contrastScript lists what text has too little contrast.
const contrastScript = `(() => {
  const rgb = text => (text.match(/[\d.]+/g) || []).map(Number);
  const lum = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
  const low = new Set();
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length || e.closest('script, style, .out, [disabled]')) continue;
    const s = getComputedStyle(e), isSVG = e instanceof SVGElement, ink = rgb(isSVG ? s.fill : s.color).slice(0, 3);
    const a = lum(ink), b = lum(back(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(s.fontSize) >= 24 || parseFloat(s.fontSize) >= 18.66 && +s.fontWeight >= 700;
    if (ratio < (large ? 3 : 4.5)) low.add(e.tagName + '.' + (e.getAttribute('class') || '') + ' ' + e.textContent.trim().slice(0, 30) + ' ' + ratio.toFixed(2));
  }
  return [...low];
})()`

// Claim: everything that can be used can be reached by the tab key, the skip link
// first, and has a name for those who do not see it.
func TestPageKeyboard(t *testing.T) {
	_, page := small(t).build(t)
	b := open(t, page, 1200)
	b.Run(chromedp.KeyEvent(kb.Tab))
	if got := eval[string](b, `document.activeElement.className`); got != "skip" {
		t.Errorf("tab first reaches %q, want the skip link", got)
	}
	reached := make(map[string]bool)
	for range 150 {
		id := eval[string](b, `(() => { const e = document.activeElement, id = e.id || (e.closest('[id]') || {}).id || ''; return id + (e.tagName === 'BODY' ? 'end' : ''); })()`)
		if id == "end" {
			break
		}
		reached[id] = true
		b.Run(chromedp.KeyEvent(kb.Tab))
	}
	for _, id := range []string{"cutoffs-plot", "differences-system", "differences-measure", "differences-plot", "features-system", "sampler-system",
		"explorer-query", "explorer-order", "explorer-left", "exchange", "explorer-right", "explorer-measure", "explorer-depth", "next", "explorer-lists"} {
		if !reached[id] {
			t.Errorf("the tab key does not reach %s", id)
		}
	}
	nameless := eval[[]string](b, `[...document.querySelectorAll('a, button, select, [tabindex], svg[role]')].filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels.length))).map(e => e.outerHTML.slice(0, 80))`)
	for _, e := range nameless {
		t.Errorf("nameless: %s", e)
	}
	b.Quiet()
}

// Claim: printed, the page has all sections and no controls.
func TestPagePrints(t *testing.T) {
	_, page := small(t).build(t)
	b := open(t, page, 1000)
	pdf, err := chromedp.Run(b.Context, chromedp.PrintToPDF())
	if err != nil {
		t.Fatal(err)
	}
	if len(pdf) < 20_000 || !strings.HasPrefix(string(pdf[:5]), "%PDF") {
		t.Errorf("the print has %d bytes", len(pdf))
	}
	b.Media(emulation.SetEmulatedMediaParams{Media: "print"})
	if eval[bool](b, `getComputedStyle(document.querySelector('nav')).display !== 'none'`) {
		t.Error("the navigation is printed")
	}
	if got := eval[int64](b, `document.querySelectorAll('section:not([hidden])').length`); got != 7 {
		t.Errorf("%d sections are printed, want 7", got)
	}
	b.Quiet()
}

// Claim: of a training with several starts, the curve is that of the start that led
// to the best point, however high another one began.
func TestCurveOfTheStartThatWasKept(t *testing.T) {
	s := *small(t)
	s.curves = []Curve{{Name: "restarts", Points: []Point{
		{Epoch: 0, Cost: 5}, {Epoch: 1, Cost: 2}, {Epoch: 0, Restart: 1, Cost: 1e6}, {Epoch: 1, Restart: 1, Cost: 3}, {Epoch: 2, Restart: 1, Cost: 1, Best: true},
		{Epoch: 0, Restart: 2, Cost: 4},
	}}}
	_, page := s.build(t)
	b := open(t, page, 800)
	if got := eval[int](b, `(document.querySelector('#curves-plots .figure .line').getAttribute('d').match(/[ML]/g) || []).length`); got != 3 {
		t.Errorf("the curve has %d points, want the 3 of the second start", got)
	}
	if got := eval[int](b, `document.querySelectorAll('#curves-plots .ring').length`); got != 1 {
		t.Errorf("%d rings, want one", got)
	}
	b.Quiet()
}

// Claim: learning curves of folds are shown a fold at a time, which is chosen, and those of no fold with each.
func TestCurvesOfFolds(t *testing.T) {
	s := *small(t)
	point := func(cost float64) []Point { return []Point{{Epoch: 1, Cost: 9}, {Epoch: 2, Cost: cost, Best: true}} }
	s.curves = []Curve{
		{Name: "a", Fold: "Fold1", Points: point(1)}, {Name: "a", Fold: "Fold2", Points: point(2)}, {Name: "b", Fold: "Fold2", Points: point(3)}, {Name: "plain", Points: point(4)},
	}
	_, page := s.build(t)
	b := open(t, page, 800)
	names := `[...document.querySelectorAll('#curves-plots .legend')].map(l => l.textContent).join('; ')`
	if got := eval[string](b, names); !strings.Contains(got, "a") || !strings.Contains(got, "plain") || strings.Contains(got, "b") {
		t.Errorf("the first fold has the curves %q, want a and plain", got)
	}
	b.choose("curves-fold", "Fold2")
	if got := eval[string](b, names); !strings.Contains(got, "a") || !strings.Contains(got, "b") || !strings.Contains(got, "plain") {
		t.Errorf("the second fold has the curves %q, want a, b and plain", got)
	}
	if n := eval[int](b, `document.querySelectorAll('#curves-plots h3').length`); n != 1 {
		t.Errorf("%d plots, want the one of objectives", n)
	}
	b.Quiet()
}
