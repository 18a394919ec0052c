package serve

import (
	_ "embed" // the files of the page
	"net/http"
)

var (
	//go:embed page/page.html
	pageHTML []byte
	//go:embed page/page.css
	pageCSS []byte
	//go:embed page/page.js
	pageJS []byte
)

// policy allows the page to run its own script and style and to call the service. It prevents text
// in ids or model names from running as a script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// pagePaths are the files of the page for trying a model by hand, by pattern. They contain no data
// of the models.
var pagePaths = map[string]http.HandlerFunc{
	"/{$}":      pageFile(pageHTML, "text/html; charset=utf-8"),
	"/page.css": pageFile(pageCSS, "text/css; charset=utf-8"),
	"/page.js":  pageFile(pageJS, "text/javascript; charset=utf-8"),
}

func pageFile(text []byte, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		_, _ = w.Write(text) // the client is gone
	}
}
