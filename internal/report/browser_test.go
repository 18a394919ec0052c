package report

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// chromium is the browser of the tests, "" if there is none.
func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// stop ends the browser that the tests share.
var stop = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	stop()
	os.Exit(code)
}

// browser is a headless browser, of which every test gets a tab. It is started for
// the first that asks. Chromium refuses to run as root with its sandbox.
var browser = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(90*time.Second))
	allocator, closeAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	stop = func() {
		closeBrowser()
		closeAllocator()
	}
	return ctx, chromedp.Do(ctx)
})

// tab is a page open in the browser.
type tab struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // what the console and the network had to say
}

// open shows a page from the disk in a window of the given width.
func open(t *testing.T, page []byte, width int64, features ...*emulation.MediaFeature) *tab {
	t.Helper()
	if chromium() == "" {
		t.Skip("found no chromium: its tests are skipped (Debian: apt-get install chromium)")
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	parent, err := browser()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(parent)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	b.media(emulation.SetEmulatedMediaParams{Features: features})
	b.resize(width)
	b.run(chromedp.Navigate("file://"+file), chromedp.WaitReady("#explorer"))
	return b
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, fmt.Sprint(e.ExceptionDetails.Text, " ", e.ExceptionDetails.LineNumber, " ", e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		b.problems = append(b.problems, fmt.Sprintf("console.%s of %d values", e.Type, len(e.Args)))
	case *log.EventEntryAdded:
		b.problems = append(b.problems, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "data:") {
			b.problems = append(b.problems, "request of "+url)
		}
	}
}

// quiet checks that nothing went wrong, was logged or was asked of the network.
func (b *tab) quiet() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.Errorf("the browser says: %s", p)
	}
}

func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// resize sets the window's width in pixels; a narrow one emulates a phone.
func (b *tab) resize(width int64) {
	b.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 800, DeviceScaleFactor: 1, Mobile: width < 600})
	if err != nil {
		b.Fatal(err)
	}
}

// media sets the emulated medium and its features.
func (b *tab) media(p emulation.SetEmulatedMediaParams) {
	b.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, p); err != nil {
		b.Fatal(err)
	}
}

// eval returns the value of an expression.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// choose picks an option as a user does.
func (b *tab) choose(id, value string) {
	b.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => { const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event('change')); if (e.value !== %q) throw new Error('no such option'); })()`, id, value, value)))
}

// Claim: quiet reports console messages, exceptions and network requests.
func TestBrowserNotices(t *testing.T) {
	for _, bad := range []string{`console.error('x')`, `throw 1`, `new Image().src = 'https://localhost:1/x.png'`} {
		b := open(t, []byte(`<!DOCTYPE html><link rel="icon" href="data:,"><p id="explorer">x</p><script>`+bad+`</script>`), 800)
		b.run(chromedp.Sleep(300 * time.Millisecond))
		b.mu.Lock()
		if len(b.problems) == 0 {
			t.Errorf("%s goes unnoticed", bad)
		}
		b.mu.Unlock()
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
	if got := eval[string](b, `document.querySelector('.verdict').textContent`); !strings.Contains(got, "baseline") || !strings.Contains(got, "randomisation test") {
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
	b.quiet()
}

// Claim: nothing is wider than a phone of 360 pixels, or a window of any other
// width; what is wider scrolls by itself.
func TestPageFits(t *testing.T) {
	_, page := small(t).build(t)
	b := open(t, page, 360)
	for _, width := range []int64{360, 500, 768, 1400} {
		b.resize(width)
		b.run(chromedp.Sleep(200 * time.Millisecond))
		if got := eval[int64](b, `document.documentElement.scrollWidth`); got > width {
			who := eval[string](b, fmt.Sprintf(`[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > %d && !e.closest('.scroll, nav, #tip, svg')).map(e => e.tagName + '#' + e.id + '.' + e.className).join(' ')`, width))
			t.Errorf("the page is %d wide in a window of %d: %s", got, width, who)
		}
	}
	b.quiet()
}

// Claim: on a phone a table that is wider than the window says that it goes on, and where when
// it has been moved.
func TestPageCues(t *testing.T) {
	_, page := small(t).build(t)
	b := open(t, page, 360)
	b.run(chromedp.Sleep(200 * time.Millisecond))
	box := `document.querySelector('#summary .scroll')`
	if !eval[bool](b, box+`.scrollWidth > `+box+`.clientWidth && `+box+`.classList.contains('more') && `+box+`.nextSibling.offsetHeight > 0 && `+box+`.nextSibling.textContent.includes('right')`) {
		t.Error("a table that goes on to the right does not say so")
	}
	b.run(chromedp.Evaluate[chromedp.Void](box+`.scrollLeft = 1e6`), chromedp.Sleep(200*time.Millisecond))
	if !eval[bool](b, `!`+box+`.classList.contains('more') && `+box+`.nextSibling.textContent.includes('left')`) {
		t.Error("at its end the table still says that it goes on")
	}
	if !eval[bool](b, `[...document.querySelectorAll('#explorer .scroll')].every(e => e.nextSibling && e.nextSibling.className.includes('cue'))`) {
		t.Error("a table that the page's script made has no cue")
	}
	b.resize(1400)
	b.run(chromedp.Sleep(200 * time.Millisecond))
	if eval[bool](b, box+`.classList.contains('more') || !`+box+`.nextSibling.hidden`) {
		t.Error("a table that fits says that it goes on")
	}
	b.quiet()
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
		b.quiet()
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
	b.run(chromedp.KeyEvent(kb.Tab))
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
		b.run(chromedp.KeyEvent(kb.Tab))
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
	b.quiet()
}

// Claim: printed, the page has all sections and no controls.
func TestPagePrints(t *testing.T) {
	_, page := small(t).build(t)
	b := open(t, page, 1000)
	pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF())
	if err != nil {
		t.Fatal(err)
	}
	if len(pdf) < 20_000 || !strings.HasPrefix(string(pdf[:5]), "%PDF") {
		t.Errorf("the print has %d bytes", len(pdf))
	}
	b.media(emulation.SetEmulatedMediaParams{Media: "print"})
	if eval[bool](b, `getComputedStyle(document.querySelector('nav')).display !== 'none'`) {
		t.Error("the navigation is printed")
	}
	if got := eval[int64](b, `document.querySelectorAll('section:not([hidden])').length`); got != 7 {
		t.Errorf("%d sections are printed, want 7", got)
	}
	b.quiet()
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
	b.quiet()
}
