package datatest

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
)

// PlainDoc is a document that ReadNaively has read.
type PlainDoc struct {
	Query, ID string
	Grade     float64
	X         map[int]float32
	Input     int
}

// ReadNaively reads valid text line by line, with nothing but the standard
// library and no regard for speed. It returns the documents grouped by query.
func ReadNaively(t rapid.TB, text string, missing dataset.Missing) (docs []PlainDoc, features int) {
	t.Helper()
	text = strings.TrimPrefix(text, "\ufeff")
	var order []string
	groups := map[string][]PlainDoc{}
	n := 0
	for _, line := range strings.Split(text, "\n") {
		data, comment, commented := strings.Cut(line, "#")
		fields := strings.Fields(data)
		if len(fields) == 0 {
			continue
		}
		g, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		doc := PlainDoc{Query: strings.TrimPrefix(fields[1], "qid:"), Grade: g, X: map[int]float32{}, Input: n}
		n++
		if words := strings.Fields(comment); commented && len(words) > 2 && words[0] == "docid" && words[1] == "=" {
			doc.ID = words[2]
		}
		for _, pair := range fields[2:] {
			index, value, _ := strings.Cut(pair, ":")
			k, err := strconv.Atoi(index)
			if err != nil {
				t.Fatal(err)
			}
			if strings.EqualFold(value, "null") {
				value = "nan"
			}
			v, err := strconv.ParseFloat(value, 32)
			if err != nil {
				t.Fatal(err)
			}
			doc.X[k] = float32(v)
			features = max(features, k)
		}
		if groups[doc.Query] == nil {
			order = append(order, doc.Query)
		}
		groups[doc.Query] = append(groups[doc.Query], doc)
	}
	for _, id := range order {
		fillNaively(groups[id], features, missing)
		docs = append(docs, groups[id]...)
	}
	return docs, features
}

func fillNaively(docs []PlainDoc, features int, missing dataset.Missing) {
	for k := 1; k <= features; k++ {
		fill := math.Inf(1)
		for _, d := range docs {
			if v := float64(d.X[k]); !math.IsNaN(v) {
				fill = math.Min(fill, v)
			}
		}
		if missing == dataset.MissingZero || math.IsInf(fill, 1) {
			fill = 0
		}
		for _, d := range docs {
			if v := d.X[k]; v != v {
				d.X[k] = float32(fill)
			}
		}
	}
}

// CheckAgainst checks that d has exactly the given documents.
func CheckAgainst(t rapid.TB, d *dataset.Dataset, docs []PlainDoc, features int) {
	t.Helper()
	if d.Docs() != len(docs) || d.Features != features {
		t.Fatalf("%d documents of %d features, want %d of %d", d.Docs(), d.Features, len(docs), features)
	}
	in, rows := make([]float64, len(docs)), make([]float64, len(docs))
	for i := range in {
		in[i] = float64(i)
	}
	d.FromInputOrder(rows, in)
	for i := range d.Queries {
		q := &d.Queries[i]
		for j := range q.Len() {
			want := docs[q.Start+j]
			if q.ID != want.Query || q.DocID(j) != want.ID || q.Grades[j] != want.Grade || int(rows[q.Start+j]) != want.Input {
				t.Fatalf("document %d of query %q (%q, grade %v, input %v), want %+v", j, q.ID, q.DocID(j), q.Grades[j], rows[q.Start+j], want)
			}
			for k, v := range q.Row(j) {
				if math.Float32bits(v) != math.Float32bits(want.X[k+1]) {
					t.Fatalf("feature %d of document %d of query %q is %v, want %v", k+1, j, q.ID, v, want.X[k+1])
				}
			}
		}
	}
}

// Same compares the contents of two data sets. It returns "" or a description of the differences. It ignores
// whether a data set is a view of a file.
func Same(a, b *dataset.Dataset) string { return different(viewOf(a), viewOf(b)) }

// SameDocuments does the work of Same, but ignores names of features, warnings and the order of the input.
func SameDocuments(a, b *dataset.Dataset) string {
	p, q := viewOf(a), viewOf(b)
	for _, v := range []*view{&p, &q} {
		v.Names, v.InputRow, v.Warnings = nil, nil, nil
	}
	return different(p, q)
}

// view is the content of a data set.
type view struct {
	Features int
	Names    []string
	IDs      []string
	Docs     [][]string
	Grades   []float64
	Weights  []float64 // of documents
	Counts   []float64 // weights of queries
	X        []uint32
	InputRow []int
	Warnings []string

	AttributeNames []string
	Attributes     [][]string // of queries
}

func viewOf(d *dataset.Dataset) view {
	p := view{Features: d.Features, Names: d.FeatureNames, Grades: d.Grades(), Weights: d.Weights(), Counts: d.QueryWeights(), InputRow: d.InputRows(), Warnings: d.Warnings, AttributeNames: d.AttributeNames}
	for i := range d.Queries {
		q := &d.Queries[i]
		for _, v := range q.X {
			p.X = append(p.X, math.Float32bits(v))
		}
		ids := make([]string, q.Len())
		for j := range ids {
			ids[j] = q.DocID(j)
		}
		p.IDs, p.Docs = append(p.IDs, q.ID), append(p.Docs, ids)
		p.Attributes = append(p.Attributes, q.Attributes)
	}
	return p
}

func different(p, q view) string {
	if slices.Equal(p.X, q.X) { // cmp would take long for equal slices
		p.X, q.X = nil, nil
	}
	return cmp.Diff(p, q)
}

// DrawNumber draws a decimal number in one of the forms that occur in files.
func DrawNumber(t *rapid.T) string {
	switch rapid.IntRange(0, 7).Draw(t, "form") {
	case 0:
		return "0"
	case 1, 2:
		return strconv.FormatFloat(rapid.Float64Range(0, 1).Draw(t, "v"), 'f', 6, 64)
	case 3:
		return strconv.FormatFloat(rapid.Float64Range(-1e3, 1e3).Draw(t, "v"), 'f', rapid.IntRange(0, 12).Draw(t, "digits"), 64)
	case 4:
		return strconv.FormatFloat(rapid.Float64Range(-1e30, 1e30).Draw(t, "v"), 'g', -1, 64)
	case 5:
		return strconv.FormatFloat(float64(rapid.Float32().Draw(t, "v")), 'e', -1, 32)
	case 6:
		return strconv.Itoa(rapid.IntRange(-99999999, 99999999).Draw(t, "v"))
	default:
		return rapid.SampledFrom([]string{"1.", ".5", "+3", "-0", "-.25", "1E2", "00012.500", "16777217", "0.0000001", "1e-50"}).Draw(t, "v")
	}
}

// DrawText draws valid LETOR text with everything that the format allows. With missing, some values are
// missing.
func DrawText(t *rapid.T, missing bool) string {
	var b strings.Builder
	if rapid.Bool().Draw(t, "mark") {
		b.WriteString("\ufeff")
	}
	end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
	blank := func() string { return rapid.SampledFrom([]string{" ", " ", " ", "  ", "\t", " \t "}).Draw(t, "blank") }
	dense := rapid.Bool().Draw(t, "dense")
	features := rapid.IntRange(1, 12).Draw(t, "features")
	lines := rapid.IntRange(1, 25).Draw(t, "lines")
	for i := range lines {
		if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
			b.WriteString(rapid.SampledFrom([]string{"", "# 1 qid:2 3:4", "  ", "\t# : ", "#"}).Draw(t, "nothing") + end)
		}
		b.WriteString(rapid.SampledFrom([]string{"", "", " "}).Draw(t, "indent"))
		b.WriteString(rapid.SampledFrom([]string{"0", "1", "2", "0.5", "1e1", "31"}).Draw(t, "grade"))
		b.WriteString(blank() + "qid:" + rapid.SampledFrom([]string{"1", "2", "käse", "a:b"}).Draw(t, "query"))
		before := b.Len()
		for k := 1; k <= features; k++ {
			if i > 0 && !dense && rapid.Bool().Draw(t, "absent") {
				continue
			}
			v := DrawNumber(t)
			if missing && rapid.IntRange(0, 4).Draw(t, "missing") == 0 {
				v = rapid.SampledFrom([]string{"nan", "NaN", "NULL", "null"}).Draw(t, "name")
			}
			b.WriteString(blank() + strconv.Itoa(k) + ":" + v)
		}
		if b.Len() == before {
			b.WriteString(" ") // a query id cannot contain #
		}
		b.WriteString(rapid.SampledFrom([]string{"", "", " ", "#", " # about it", " #docid = 17", "#docid = GX1-2 inc = 1 prob = 0.5", " # docid = x#y", " #docid", " #docid 5", " #docid = "}).Draw(t, "comment"))
		if i < lines-1 || rapid.Bool().Draw(t, "closed") {
			b.WriteString(end)
		}
	}
	return b.String()
}

// Gzip returns the text compressed by gzip.
func Gzip(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // to memory: it cannot fail
	_ = w.Close()
	return b.Bytes()
}

// Zstd returns the text compressed by zstandard.
func Zstd(text string) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll([]byte(text), nil)
}
