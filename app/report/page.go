package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"strconv"
)

//go:embed page
var files embed.FS

// scripts are the page's, in the order in which they need each other.
var scripts = []string{"data.js", "svg.js", "plots.js", "queries.js", "features.js", "trees.js", "measures.js", "explorer.js", "main.js"}

var (
	script = mustJoin(scripts...)
	style  = mustJoin("style.css")
	page   = template.Must(template.New("page.gohtml").Funcs(template.FuncMap{"count": Count}).ParseFS(files, "page/page.gohtml"))
)

// mustJoin returns embedded files, one after the other.
func mustJoin(names ...string) string {
	var b bytes.Buffer
	for _, name := range names {
		text, err := files.ReadFile("page/" + name)
		if err != nil {
			panic(err) // the files are part of the program
		}
		b.Write(text)
	}
	return b.String()
}

// content is what the template gets.
type content struct {
	view
	Details int // queries that the explorer knows
	Data    template.JS
	Script  template.JS
	Style   template.CSS
	Policy  string
}

// Write writes the page.
func (r *Report) Write(w io.Writer) error {
	text, err := r.json()
	if err != nil {
		return err
	}
	return page.Execute(w, content{
		view:    r.view,
		Details: len(r.pieces),
		Data:    template.JS(text), //nolint:gosec // json.Marshal leaves nothing that ends a script
		Script:  template.JS(script),
		Style:   template.CSS(style),
		Policy:  policy(),
	})
}

// json returns what the scripts get. json.Marshal escapes <, > and &.
func (r *Report) json() ([]byte, error) {
	return json.Marshal(struct {
		*data
		Details []details `json:"details"`
	}{&r.data, append([]details{}, r.pieces...)})
}

// policy lets the browser run the page's own script and style and nothing else, nor load
// anything: no name of a query can be run as code.
func policy() string {
	return "default-src 'none'; img-src data:; script-src '" + digest(script) + "'; style-src '" + digest(style) + "'; base-uri 'none'; form-action 'none'"
}

// Count writes a number of things, with their name in the singular where it is one.
func Count(n int, one, many string) string {
	if n != 1 {
		one = many
	}
	return strconv.Itoa(n) + " " + one
}

// Style returns the style sheet of the page, for other pages of the same look.
func Style() string { return style }

// StylePolicy lets the browser use a page's own style, and run and load nothing.
func StylePolicy(style string) string {
	return "default-src 'none'; img-src data:; style-src '" + digest(style) + "'; base-uri 'none'; form-action 'none'"
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// room returns the number of bytes that the page, without details, leaves of
// MaxBytes.
func (r *Report) room() (int, error) {
	var b counter
	if err := r.Write(&b); err != nil {
		return 0, err
	}
	return r.config.MaxBytes - int(b), nil
}

// Size counts what a page holds.
type Size struct {
	Bytes    int // of the page
	Queries  int // measured
	Explorer int // those of them whose rankings the explorer has
}

// Size returns the counts of what the page holds.
func (r *Report) Size() Size {
	var b counter
	_ = r.Write(&b) // a counter never fails, and Build has written the page before
	return Size{Bytes: int(b), Queries: r.view.Queries, Explorer: len(r.pieces)}
}

// counter counts what is written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
