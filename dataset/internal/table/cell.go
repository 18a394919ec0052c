package table

import (
	"bytes"
	"fmt"
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/internal/decimal"
	"github.com/listwise/listwise/internal/suggest"
)

// Kind is the kind of a cell's text.
type Kind int

// The kinds.
const (
	Number   Kind = iota // a decimal number that float64 can represent, or true (1) or false (0)
	Missing              // empty text, or a word for a missing value: NA, nan, null, none
	Infinite             // infinity, or a number beyond the range of float64
	Text                 // anything else
)

// Parse reads the text of a cell. It ignores blanks around the text. A number beyond the range of float32 is
// still a Number.
func Parse(text []byte) (v float64, kind Kind) {
	text = bytes.Trim(text, " \t")
	if len(text) == 0 {
		return 0, Missing
	}
	if c := text[0]; c-'0' <= 9 || c == '-' || c == '+' || c == '.' {
		var room [64]byte
		b := append(append(room[:0], text...), "\n               "...)
		if d, next := decimal.Scan(b, 0); next == len(text) {
			if v = d.Float64(text); math.IsInf(v, 0) {
				return v, Infinite
			}
			return v, Number
		}
	}
	return word(text)
}

// word parses a text that is not a decimal number.
func word(text []byte) (v float64, kind Kind) {
	if len(text) > len("-infinity") {
		return 0, Text
	}
	var room [16]byte
	lower := room[:0]
	for _, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower = append(lower, c)
	}
	switch string(lower) {
	case "true":
		return 1, Number
	case "false":
		return 0, Number
	case "na", "n/a", "nan", "-nan", "null", "none", `\n`:
		return 0, Missing
	case "inf", "+inf", "infinity", "+infinity":
		return math.Inf(1), Infinite
	case "-inf", "-infinity":
		return math.Inf(-1), Infinite
	}
	return 0, Text
}

// float32Of returns the float32 nearest to the number in text. ok is false if the number is beyond the range
// of float32.
func float32Of(text []byte) (v float32, ok bool) {
	text = bytes.Trim(text, " \t")
	var room [64]byte
	b := append(append(room[:0], text...), "\n               "...)
	d, next := decimal.Scan(b, 0)
	if next != len(text) { // a word
		w, _ := word(text)
		return float32(w), true
	}
	v = d.Float32(text)
	return v, math.Abs(float64(v)) <= math.MaxFloat32
}

// row stores the cells of a document. The parsers of all kinds of tables share it.
type row struct {
	*ingest.Collector

	columns   *Columns
	wanted    []string // names of attributes
	missingOK bool
	ungraded  bool // a grade may be missing
	checkOnly bool

	// Of the current document:
	features   []float32
	at         int // line of the document, set by the parser
	grade      float64
	weight     float64
	ofQuery    float64 // weight of the document's query
	query, doc []byte
	attributes [][]byte
	nMissing   int
}

// newRow returns a row that writes documents to c. With checkOnly, it discards features.
func newRow(c *ingest.Collector, columns *Columns, opts dataset.Options, checkOnly bool) *row {
	r := &row{Collector: c, columns: columns, missingOK: opts.Missing != dataset.MissingError, ungraded: opts.Table.Ungraded, checkOnly: checkOnly}
	r.wanted, r.attributes = opts.Table.Attributes, make([][]byte, len(opts.Table.Attributes))
	if checkOnly { // the features of all documents are written here and ignored
		r.features = make([]float32, len(columns.Names))
	}
	return r
}

func (r *row) begin() {
	r.grade, r.nMissing, r.query, r.doc = 0, 0, nil, nil
	clear(r.attributes)
	if !r.checkOnly {
		r.features = r.Row(r.Next())
	}
}

// end completes the document. The parser has set its cells before.
func (r *row) end() error {
	if !r.Grade(r.grade) {
		name := r.columns.List[r.columns.grade].Name
		return bad(fmt.Sprintf("%v in column %s", r.grade, name), "a grade, a finite non-negative number"+ingest.NegativeHint)
	}
	if err := r.Query(r.query, r.checkQuery); err != nil {
		return err
	}
	if r.columns.weight >= 0 {
		r.Weight(r.weight)
	}
	if r.columns.queryWeight >= 0 {
		if err := r.QueryWeight(r.ofQuery, r.at); err != nil {
			return err
		}
	}
	if len(r.attributes) > 0 {
		if err := r.Attributes(r.wanted, r.attributes, r.at); err != nil {
			return err
		}
	}
	if len(r.doc) > 0 {
		if fault := ingest.Identifier(r.doc); fault != "" {
			return r.badID(r.columns.doc, r.doc, "a document id "+fault)
		}
		r.Doc(r.doc)
	}
	r.Done(r.nMissing)
	return nil
}

func (r *row) checkQuery(id []byte) error {
	if len(id) == 0 {
		return bad("no query in column "+r.columns.List[r.columns.query].Name, "a query id in every row")
	}
	if fault := ingest.Identifier(id); fault != "" {
		return r.badID(r.columns.query, id, "a query id "+fault)
	}
	if _, kind := Parse(id); kind == Missing {
		r.columns.word(id)
	}
	return nil
}

func (r *row) badID(column int, id []byte, expected string) error {
	return bad(suggest.Quote(id)+" in column "+r.columns.List[column].Name, expected)
}

func bad(found, expected string) error {
	return &dataset.SyntaxError{Found: found, Expected: expected}
}

// set stores a cell of a column that is read. The text must stay valid until end returns.
func (r *row) set(column int, text []byte) error {
	f := &r.columns.List[column]
	if f.Attribute > 0 {
		value, err := AttributeOf(f.Name, text)
		if err != nil {
			return err
		}
		r.attributes[f.Attribute-1] = value
	}
	switch f.Role {
	case Query:
		r.query = text
	case Doc:
		r.doc = text
	case Grade:
		v, kind := Parse(text)
		if r.grade = v; kind != Number && (kind != Missing || !r.ungraded) {
			return bad(found(text)+" in column "+f.Name, "a grade, a finite non-negative number")
		}
	case Weight:
		return weightOf(f, text, &r.weight)
	case QueryWeight:
		return weightOf(f, text, &r.ofQuery)
	case OneHot:
		r.oneHot(f, text)
	case Feature:
		return r.feature(f, text)
	case Skip, Coded:
	}
	return nil
}

// AttributeOf returns the attribute in a cell of a column. It returns nil if the cell means a missing value.
func AttributeOf(column string, text []byte) ([]byte, error) {
	text = bytes.TrimSpace(text)
	if _, kind := Parse(text); kind == Missing {
		return nil, nil
	}
	if fault := ingest.Identifier(text); fault != "" {
		return nil, bad(suggest.Quote(text)+" in column "+column, "a value "+fault)
	}
	return text, nil
}

// weightOf parses a weight and stores it in w.
func weightOf(f *Column, text []byte, w *float64) error {
	v, kind := Parse(text)
	if kind != Number || dataset.CheckWeight(v) != nil {
		return bad(found(text)+" in column "+f.Name, "a weight, a finite non-negative number")
	}
	*w = v + 0 // −0 becomes 0
	return nil
}

// feature parses a cell and stores it as the feature of column f.
func (r *row) feature(f *Column, text []byte) error {
	if f.Categories != nil {
		if code, ok := f.Categories.TextValue(text); ok {
			r.features[f.Feature] = code
			return nil
		}
	}
	exact, kind := Parse(text)
	if (kind == Number || kind == Infinite) && r.StandsIn(exact) {
		kind = Missing
	}
	if kind == Number || kind == Infinite {
		if v, ok := float32Of(text); ok && kind == Number {
			if err := f.CheckNumber(v, text); err != nil {
				return err
			}
			r.features[f.Feature] = v
			r.Rounded(f.Feature, exact)
			if len(text) >= ingest.LongNumber && r.Watches(f.Feature, v) {
				r.Watch(f.Feature, v, exact)
			}
			return nil
		}
		return bad(found(text)+" in column "+f.Name, "a finite value within the range of float32, ±3.4e38 (or --missing-value for one that stands for a missing value)")
	}
	switch {
	case kind == Text && f.Categories != nil:
		return bad(found(text)+" in column "+f.Name, f.Categories.Expected())
	case kind == Text:
		return bad(found(text)+" in column "+f.Name, fmt.Sprintf("a number (--one-hot %s makes features of text, --features 'all but %s' leaves it out)", quoteName(f.Name), f.Name))
	case !r.missingOK:
		return bad(found(text)+" in column "+f.Name, "a number (or --missing zero, min or keep, which says what missing values become)")
	}
	r.features[f.Feature] = float32(math.NaN())
	r.nMissing++
	return nil
}

// CheckNumber returns an error if the column has categories and v is neither a category nor a code.
func (f *Column) CheckNumber(v float32, text []byte) error {
	if f.Categories != nil {
		if _, ok := f.Categories.Code(v); !ok {
			return bad(found(text)+" in column "+f.Name, f.Categories.Expected())
		}
	}
	return nil
}

// oneHot sets the feature that belongs to a text to 1.
func (r *row) oneHot(f *Column, text []byte) {
	if k, known := f.Values[string(text)]; known {
		r.features[k] = 1
		return
	}
	if _, kind := Parse(text); kind != Missing && !r.checkOnly {
		r.columns.Unknown()
	}
}

// found returns the text of a cell for an error message.
func found(text []byte) string {
	if len(bytes.TrimSpace(text)) == 0 {
		return "nothing"
	}
	return suggest.Quote(text)
}

// quoteName quotes a name for a shell if necessary.
func quoteName(name string) string {
	if bytes.ContainsAny([]byte(name), " '\"$&;|<>()*?") {
		return "'" + name + "'"
	}
	return name
}
