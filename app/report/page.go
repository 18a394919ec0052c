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
	"sync"
)

//go:embed page
var files embed.FS

// scripts are the scripts of the page. A script follows the scripts that it needs.
var scripts = []string{"data.js", "svg.js", "plots.js", "queries.js", "features.js", "trees.js", "measures.js", "explorer.js", "main.js"}

// The page is put together when the first page is written, because most commands write none.
var (
	script = sync.OnceValue(func() string { return mustJoin(scripts...) })
	style  = sync.OnceValue(func() string { return mustJoin("style.css") })
	page   = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("page.gohtml").Funcs(template.FuncMap{"count": Count, "names": Names}).ParseFS(files, "page/page.gohtml"))
	})
)

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

type content struct {
	view
	Details int // number of queries in the explorer
	Data    template.JS
	Script  template.JS
	Style   template.CSS
	Policy  string
}

// Write writes the page as one HTML file.
func (r *Report) Write(w io.Writer) error {
	text, err := r.json()
	if err != nil {
		return err
	}
	return page().Execute(w, content{
		view:    r.view,
		Details: len(r.pieces),
		Data:    template.JS(text), //nolint:gosec // json.Marshal leaves nothing that ends a script
		Script:  template.JS(script()),
		Style:   template.CSS(style()),
		Policy:  policy(),
	})
}

// json returns the data for the scripts. json.Marshal escapes <, > and &.
func (r *Report) json() ([]byte, error) {
	return json.Marshal(struct {
		*data
		Details []details `json:"details"`
	}{&r.data, append([]details{}, r.pieces...)})
}

// policy returns the content security policy. It allows only the page's own script and style, and
// no loading. So a query's name cannot run as code.
func policy() string {
	return "default-src 'none'; img-src data:; script-src '" + digest(script()) + "'; style-src '" + digest(style()) + "'; base-uri 'none'; form-action 'none'"
}

// Count formats a number of things, with the singular one or the plural many.
func Count(n int, one, many string) string {
	if n != 1 {
		one = many
	}
	return strconv.Itoa(n) + " " + one
}

// Style returns the style sheet of the page, for other pages with the same look.
func Style() string { return style() }

// StylePolicy returns a content security policy that allows only the given style.
func StylePolicy(style string) string {
	return "default-src 'none'; img-src data:; style-src '" + digest(style) + "'; base-uri 'none'; form-action 'none'"
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// room returns the number of bytes that MaxBytes leaves for details.
func (r *Report) room() (int, error) {
	var b counter
	if err := r.Write(&b); err != nil {
		return 0, err
	}
	return r.config.MaxBytes - int(b), nil
}

// Size is the size of a page.
type Size struct {
	Bytes    int // length of the page
	Queries  int // number of evaluated queries
	Explorer int // number of queries with rankings in the explorer
}

// Size returns the size of the page and the numbers of its queries.
func (r *Report) Size() Size {
	var b counter
	_ = r.Write(&b) // a counter never fails, and Build has written the page before
	return Size{Bytes: int(b), Queries: r.view.Queries, Explorer: len(r.pieces)}
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// data is the JSON for the scripts. Keys that occur for every query are short.
type data struct {
	Baseline int       `json:"baseline"`
	Best     int       `json:"best"` // index of the system with the largest mean by the first measure, excluding the baseline unless it is alone
	Systems  []string  `json:"systems"`
	Measures []formula `json:"measures"`
	Folds    []string  `json:"folds,omitempty"`    // names of the divisions, if there are several
	Grades   []float64 `json:"grades"`             // distinct grades, ascending
	Relevant int       `json:"relevant"`           // index of the first relevant grade in Grades
	Features []string  `json:"features,omitempty"` // names, if there are any

	FeatureDigits int `json:"featureDigits"` // number of digits of packed features

	Queries  queries     `json:"queries"`
	Values   [][]string  `json:"values"`  // by system and measure: one packed value per query
	Cutoffs  cutoffs     `json:"cutoffs"` // NDCG at 1, 2, …
	Forest   []forest    `json:"forest"`
	Curves   []Curve     `json:"curves"`
	Tunings  []Tuning    `json:"tunings"`
	Weights  []weights   `json:"weights"`
	Samplers []diagnosis `json:"samplers"`
	Trees    []trees     `json:"trees"`
}

// queries contains columns with one entry for each query.
type queries struct {
	ID   []string `json:"id"`
	Fold []int    `json:"fold,omitempty"`
	Docs []int    `json:"docs"`
}

// cutoffs contains the curves of NDCG@k over k = 1 … K, and their differences from the baseline's
// curve.
type cutoffs struct {
	K      int         `json:"k"`
	Values [][]float64 `json:"values"` // by system
	Above  []above     `json:"above"`  // one per system except the baseline
}

// above is a system's difference from the baseline at every cut-off, with its 95 % interval.
type above struct {
	System int       `json:"system"`
	Mean   []float64 `json:"d"`
	Low    []float64 `json:"low"`
	High   []float64 `json:"high"`
}

type forest struct {
	System     int      `json:"system"`
	Measure    int      `json:"measure"`
	Difference float64  `json:"d"`
	Low        *float64 `json:"low,omitempty"` // nil without an interval
	High       *float64 `json:"high,omitempty"`
	P          float64  `json:"p"`
	Holm       float64  `json:"holm"`
	Wins       int      `json:"wins"`
	Ties       int      `json:"ties"`
	Losses     int      `json:"losses"`
}

// details contains the rankings of a query by all systems. Its documents are those that any system
// ranks high, and those with a grade above 0.
type details struct {
	Query  int       `json:"q"`
	Docs   []string  `json:"d"`  // identifiers
	Grades string    `json:"g"`  // packed indices in data.Grades
	Ranks  string    `json:"r"`  // packed ranks from 0, by system and document; the number of the query's documents if a document is not retrieved
	Scores string    `json:"s"`  // scores in the same order, packed between Low and High
	Low    []float64 `json:"lo"` // by system
	High   []float64 `json:"hi"`

	Explained *explained `json:"x,omitempty"`
}

// explained contains the largest contributions of features to scores.
type explained struct {
	Docs    string    `json:"d"` // packed indices of the explained documents in details.Docs
	Per     int       `json:"n"` // number of contributions for each document and system; padded with zeros
	Systems []int     `json:"y"`
	Largest []float64 `json:"m"` // magnitude of the largest contribution, by these systems
	Mean    []float64 `json:"b"` // mean score of the query's documents, by these systems; contributions are added to it
	Parts   string    `json:"c"` // by system and document: pairs of a packed feature and contribution
	Values  string    `json:"v"` // by document: the number of values, then pairs of a packed feature and its value
}
