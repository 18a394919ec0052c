package serve_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/listwise/listwise/internal/testing/browsertest"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/serve"
)

// Claim: the page is allowed its own files alone, and needs no token, since it holds nothing.
func TestPageHeaders(t *testing.T) {
	s := newServer(t, serve.Config{})
	if err := s.SetTokens([]string{"0123456789abcdef"}); err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]string{"/": "text/html; charset=utf-8", "/page.js": "text/javascript; charset=utf-8", "/page.css": "text/css; charset=utf-8"} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		h := w.Header()
		if w.Code != http.StatusOK || h.Get("Content-Type") != kind || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s is answered with %d %v", path, w.Code, h)
		}
		policy := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; ") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("%s has the policy %q", path, policy)
		}
		for _, inline := range []string{"<script>", "<style", " onclick=", " style=", "innerHTML", "http://", "https://"} {
			if text := strings.ReplaceAll(w.Body.String(), "http://www.w3.org/2000/svg", ""); strings.Contains(text, inline) {
				t.Errorf("%s has %s", path, inline)
			}
		}
	}
	if code, _ := get(t, s, "/v1/models"); code != http.StatusUnauthorized {
		t.Errorf("models are answered with %d without a token", code)
	}
}

// withBrowser ends the browser behind the tests.
type withBrowser struct{ *testing.M }

func (m withBrowser) Run() int {
	defer browsertest.Stop()
	return m.M.Run()
}

// tab is the page of a server, open in the browser.
type tab struct{ *browsertest.Tab }

// open shows the page of a server in a window of the given width.
func open(t *testing.T, s *serve.Server, width int64, features ...*emulation.MediaFeature) *tab {
	t.Helper()
	browsertest.Needed(t)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &tab{browsertest.Open(t, server.URL+"/", server.URL, "#ranking", width, features...)}
}

// eval returns the value of an expression.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	return browsertest.Eval[T](b.Tab, expression)
}

// until waits until an expression is true.
func (b *tab) until(expression string) {
	b.Helper()
	for range 500 {
		if eval[bool](b, expression) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.Fatalf("it does not come to %s; the page says %q", expression, eval[string](b, `document.body.innerText`))
}

// send puts text into the field and ranks.
func (b *tab) send(body string) {
	b.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.Fatal(err)
	}
	b.Run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (document.getElementById('body').value = %s, document.getElementById('rank').click())`, text)))
}

// adds checks that base and contributions add up to the score that is shown.
func (b *tab) adds() {
	b.Helper()
	parts := eval[[]float64](b, `[...document.querySelectorAll('#parts [data-part]')].map(e => Number(e.dataset.part))`)
	if len(parts) < 3 {
		b.Fatalf("%d lines of parts", len(parts))
	}
	sum := 0.0
	for _, v := range parts[:len(parts)-1] {
		sum += v
	}
	if score := parts[len(parts)-1]; math.Abs(sum-score) > 1e-9*(1+math.Abs(score)) {
		b.Errorf("parts add up to %v, not to the score %v: %v", sum, score, parts)
	}
}

const shownIDs = `[...document.querySelectorAll('#ranking .id')].map(e => e.textContent).join()`

// Claim: the page comes with an example of the model's features, ranks what is typed, shows parts that
// add up to the score, and says what the service finds wrong.
func TestPageRanks(t *testing.T) {
	s := newServer(t, serve.Config{})
	b := open(t, s, 1200)
	b.until(`document.querySelectorAll('#ranking li').length === 4`)
	for _, name := range []string{"bm25", "title", "ctr"} {
		if n := eval[int](b, fmt.Sprintf(`document.getElementById('body').value.split('"%s"').length - 1`, name)); n != 4 {
			t.Errorf("the example has %s %d times, want 4", name, n)
		}
	}
	b.adds()
	b.send(`{"documents":[{"id":"a","features":[1,0,0]},{"id":"b","features":[0,1,0]},{"id":"c","features":{"bm25":0,"title":0,"ctr":5}}]}`)
	b.until(shownIDs + ` === 'b,a,c'`)
	b.adds()
	b.Run(chromedp.Evaluate[chromedp.Void](`void document.querySelector('#ranking button[data-id=c]').click()`))
	if got := eval[string](b, `document.getElementById('why-title').textContent`); got != "Why c has the score -5" {
		t.Errorf("the title is %q", got)
	}
	if got := eval[string](b, `document.querySelector('#parts tr:nth-child(2)').textContent`); !strings.HasPrefix(got, "ctr5") {
		t.Errorf("the largest contribution is %q, want that of ctr", got)
	}
	b.adds()
	b.Quiet()
	b.send(`{"documents":[{"id":"a","features":[1,0,"x"]}]}`)
	b.until(`!document.getElementById('problem').hidden`)
	if got := eval[string](b, `document.getElementById('problem').textContent`); !strings.HasPrefix(got, "/documents/0/features/2: found") {
		t.Errorf("the problem is %q", got)
	}
}

// Claim: ids, names of features and names of models that hold HTML are shown as they are and
// run nothing.
func TestPageIsSafe(t *testing.T) {
	evil := `<img src=x onerror="window.stolen=1"><script>window.stolen=1</script>`
	m := &model.Model{Method: evil, FeatureNames: []string{evil, `"><svg onload=window.stolen=1>`, "__proto__"}, Scorer: scorer.Linear{Features: 3}, Params: []float64{1, 2, 3}}
	b := open(t, newServer(t, serve.Config{Models: []serve.Source{{Name: "web", Path: save(t, m)}}}), 1200)
	b.until(`document.querySelectorAll('#ranking li').length === 4`)
	id, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	b.send(fmt.Sprintf(`{"documents":[{"id":%s,"features":[1,2,3]},{"id":"constructor","features":[0,0,0]}]}`, id))
	b.until(`document.querySelectorAll('#ranking li').length === 2`)
	if got := eval[string](b, `document.querySelector('#ranking .id').textContent`); got != evil {
		t.Errorf("the id is shown as %q", got)
	}
	if !eval[bool](b, `window.stolen === undefined && document.images.length === 0 && document.scripts.length === 1`) {
		t.Error("what an id or a name holds was run")
	}
	b.adds()
	b.Quiet()
}

// Claim: many features are listed by their contributions, the others as one line, and all on demand.
func TestPageOfManyFeatures(t *testing.T) {
	m := &model.Model{Method: "test", Scorer: scorer.Linear{Features: 136}, Params: make([]float64, 136)}
	for i := range m.Params {
		m.Params[i] = math.Sin(float64(i))
	}
	b := open(t, newServer(t, serve.Config{Models: []serve.Source{{Name: "web", Path: save(t, m)}}}), 1200)
	b.until(`document.querySelectorAll('#ranking li').length === 4`)
	b.adds()
	if n := eval[int](b, `document.querySelectorAll('#parts tr').length`); n > 20 {
		t.Errorf("%d lines at first", n)
	}
	b.Run(chromedp.Evaluate[chromedp.Void](`void document.getElementById('more').click()`))
	if n := eval[int](b, `document.querySelectorAll('#parts tr').length`); n < 136 {
		t.Errorf("%d lines of all features", n)
	}
	b.adds()
	b.Quiet()
}

// Claim: a server with tokens is used by typing one, and a phone shows the page without
// scrolling sideways. With LISTWISE_SCREENSHOTS set, pictures go to that folder.
func TestPageOnPhoneWithToken(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int64
		dark  string
	}{{"desktop", 1200, "light"}, {"phone", 390, "light"}, {"dark", 1200, "dark"}} {
		s := newServer(t, serve.Config{})
		const token = "0123456789abcdef"
		if err := s.SetTokens([]string{token}); err != nil {
			t.Fatal(err)
		}
		b := open(t, s, c.width, &emulation.MediaFeature{Name: "prefers-color-scheme", Value: c.dark})
		b.until(`!document.getElementById('token-field').hidden`)
		b.Run(chromedp.Evaluate[chromedp.Void](`(() => { const e = document.getElementById('token'); e.value = '` + token + `'; e.dispatchEvent(new Event('change')); })()`))
		b.until(`document.querySelectorAll('#ranking li').length === 4`)
		if wide := eval[int](b, `document.documentElement.scrollWidth`); int64(wide) > c.width {
			t.Errorf("%s: the page is %d wide in a window of %d", c.name, wide, c.width)
		}
		if folder := os.Getenv("LISTWISE_SCREENSHOTS"); folder != "" {
			shot, err := chromedp.Call(b.Context, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: new(true)})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, c.name+".png"), shot.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
