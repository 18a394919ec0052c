// Package browsertest opens pages in a headless Chromium, for tests of pages. [Open] returns a tab,
// which records console messages and network requests. Tests are skipped if Chromium is not
// installed. A package that uses browsertest calls [Stop] in its TestMain.
//
// Start reading at [Open]. The package must not depend on any page.
package browsertest

import (
	"context"
	"fmt"
	"os/exec"
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
)

// chromium returns the path of the browser, or "" if there is none.
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

// Stop ends the browser, if one was started.
func Stop() { stop() }

// browser starts a headless browser when the first test asks for one. Every test gets a tab of the
// browser. Chromium refuses to run as root with its sandbox.
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

// Tab is a page open in the browser.
type Tab struct {
	*testing.T
	Context context.Context // for chromedp

	mu       sync.Mutex
	problems []string // messages of the console and requests to other hosts
}

// Needed skips the test if Chromium is not installed.
func Needed(t *testing.T) {
	t.Helper()
	if chromium() == "" {
		t.Skip("found no chromium: its tests are skipped (Debian: apt-get install chromium)")
	}
}

// Open loads a URL in a window of the given width and waits for the element that the selector
// element matches. It records requests as problems if their URLs do not begin with own.
func Open(t *testing.T, url, own, element string, width int64, features ...*emulation.MediaFeature) *Tab {
	t.Helper()
	Needed(t)
	parent, err := browser()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(parent)
	t.Cleanup(cancel)
	b := &Tab{T: t, Context: ctx}
	if err := chromedp.Listen(ctx, func(event any) { b.listen(event, own) }); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	b.Media(emulation.SetEmulatedMediaParams{Features: features})
	b.Resize(width)
	b.Run(chromedp.Navigate(url), chromedp.WaitReady(element))
	return b
}

func (b *Tab) listen(event any, own string) {
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
		if url := e.Request.URL; !strings.HasPrefix(url, own) && !strings.HasPrefix(url, "data:") {
			b.problems = append(b.problems, "request of "+url)
		}
	}
}

// Problems returns the exceptions, log messages and requests to other hosts so far.
func (b *Tab) Problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.problems)
}

// Quiet fails the test if there are problems.
func (b *Tab) Quiet() {
	b.Helper()
	for _, p := range b.Problems() {
		b.Errorf("the browser says: %s", p)
	}
}

// Run runs actions in the tab.
func (b *Tab) Run(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// Resize sets the window's width in pixels. A width below 600 emulates a phone.
func (b *Tab) Resize(width int64) {
	b.Helper()
	_, err := chromedp.Call(b.Context, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 800, DeviceScaleFactor: 1, Mobile: width < 600})
	if err != nil {
		b.Fatal(err)
	}
}

// Media sets the emulated medium and its features.
func (b *Tab) Media(p emulation.SetEmulatedMediaParams) {
	b.Helper()
	if _, err := chromedp.Call(b.Context, emulation.SetEmulatedMedia, p); err != nil {
		b.Fatal(err)
	}
}

// Eval returns the value of an expression.
func Eval[T any](b *Tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.Context, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatal(err)
	}
	return v
}
