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

// scripts are the scripts of the page, in order of dependence.
var scripts = []string{"data.js", "svg.js", "plots.js", "queries.js", "features.js", "trees.js", "measures.js", "explorer.js", "main.js"}

var (
	script = mustJoin(scripts...)
	style  = mustJoin("style.css")
	page   = template.Must(template.New("page.gohtml").Funcs(template.FuncMap{"count": Count}).ParseFS(files, "page/page.gohtml"))
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

// policy allows the browser to run the page's own script and style only, and to load nothing. So no
// name of a query can run as code.
func policy() string {
	return "default-src 'none'; img-src data:; script-src '" + digest(script) + "'; style-src '" + digest(style) + "'; base-uri 'none'; form-action 'none'"
}

// Count formats a number of things.
func Count(n int, one, many string) string {
	if n != 1 {
		one = many
	}
	return strconv.Itoa(n) + " " + one
}

// Style returns the style sheet of the page, for other pages with the same look.
func Style() string { return style }

// StylePolicy allows the browser to use a page's own style, and to run and load nothing.
func StylePolicy(style string) string {
	return "default-src 'none'; img-src data:; style-src '" + digest(style) + "'; base-uri 'none'; form-action 'none'"
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// room returns the number of bytes of MaxBytes that the page leaves for details.
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

// data is the JSON for the scripts. Keys that occur once a query are short.
type data struct {
	Baseline int       `json:"baseline"`
	Best     int       `json:"best"` // the system, not the baseline unless it is alone, with the largest mean by the first measure
	Systems  []string  `json:"systems"`
	Measures []formula `json:"measures"`
	Folds    []string  `json:"folds,omitempty"`    // names of the divisions, if there are several
	Grades   []float64 `json:"grades"`             // that occur, ascending
	Relevant int       `json:"relevant"`           // the first of Grades that is
	Features []string  `json:"features,omitempty"` // names, if there are any

	FeatureDigits int `json:"featureDigits"` // of packed features

	Queries  queries     `json:"queries"`
	Values   [][]string  `json:"values"`  // of each system and measure: one packed value a query
	Cutoffs  cutoffs     `json:"cutoffs"` // NDCG at 1, 2, …
	Forest   []forest    `json:"forest"`
	Curves   []Curve     `json:"curves"`
	Tunings  []Tuning    `json:"tunings"`
	Weights  []weights   `json:"weights"`
	Samplers []diagnosis `json:"samplers"`
	Trees    []trees     `json:"trees"`
}

// queries has columns, with one entry for each query.
type queries struct {
	ID   []string `json:"id"`
	Fold []int    `json:"fold,omitempty"`
	Docs []int    `json:"docs"`
}

// cutoffs has the curves of NDCG@k over k = 1 … K, and their differences to the baseline's curve.
type cutoffs struct {
	K      int         `json:"k"`
	Values [][]float64 `json:"values"` // of each system
	Above  []above     `json:"above"`  // of each system but the baseline
}

// above is a system's difference to the baseline at every cutoff, with its 95 % interval.
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

// details are the rankings of a query by all systems, with the documents that any system ranks high
// or that have a grade above 0.
type details struct {
	Query  int       `json:"q"`
	Docs   []string  `json:"d"`  // identifiers
	Grades string    `json:"g"`  // packed places in data.Grades
	Ranks  string    `json:"r"`  // packed, from 0, the number of the query's documents for one not retrieved; all documents of the first system, then of the next
	Scores string    `json:"s"`  // likewise, packed between Low and High
	Low    []float64 `json:"lo"` // of each system
	High   []float64 `json:"hi"`

	Explained *explained `json:"x,omitempty"`
}

// explained has the largest contributions of features to scores.
type explained struct {
	Docs    string    `json:"d"` // packed places in details of the documents that are explained
	Per     int       `json:"n"` // contributions a document and system; padded with zero ones
	Systems []int     `json:"y"`
	Largest []float64 `json:"m"` // of each of these systems: the largest contribution's magnitude
	Mean    []float64 `json:"b"` // of each system: the mean score of the query's documents, to which contributions are added
	Parts   string    `json:"c"` // of each system, document: pairs of a packed feature and contribution
	Values  string    `json:"v"` // of each document: how many, pairs of a packed feature and its value in the data
}
