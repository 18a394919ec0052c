package dataset

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// plainDoc is one document as the naive reader sees it.
type plainDoc struct {
	Query, ID string
	Grade     float64
	X         map[int]float32
	Input     int
}

// readNaively reads valid text line by line, with nothing but the standard
// library and no regard for speed. It returns the documents grouped by query.
func readNaively(t rapid.TB, text string, missing Missing) (docs []plainDoc, features int) {
	t.Helper()
	text = strings.TrimPrefix(text, "\ufeff")
	var order []string
	groups := map[string][]plainDoc{}
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
		doc := plainDoc{Query: strings.TrimPrefix(fields[1], "qid:"), Grade: g, X: map[int]float32{}, Input: n}
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

func fillNaively(docs []plainDoc, features int, missing Missing) {
	for k := 1; k <= features; k++ {
		fill := math.Inf(1)
		for _, d := range docs {
			if v := float64(d.X[k]); !math.IsNaN(v) {
				fill = math.Min(fill, v)
			}
		}
		if missing == MissingZero || math.IsInf(fill, 1) {
			fill = 0
		}
		for _, d := range docs {
			if v := d.X[k]; v != v {
				d.X[k] = float32(fill)
			}
		}
	}
}

// checkAgainst checks that d holds exactly the given documents.
func checkAgainst(t rapid.TB, d *Dataset, docs []plainDoc, features int) {
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

// same compares all of two data sets that does not depend on where they live.
func same(a, b *Dataset) string {
	type plain struct {
		Features int
		Names    []string
		IDs      []string
		Docs     [][]string
		Grades   []float64
		X        []uint32
		InputRow []int
		Warnings []string
	}
	view := func(d *Dataset) plain {
		p := plain{Features: d.Features, Names: d.FeatureNames, Grades: d.grades, InputRow: d.inputRow, Warnings: d.Warnings}
		for _, v := range d.x {
			p.X = append(p.X, math.Float32bits(v))
		}
		for i := range d.Queries {
			q := &d.Queries[i]
			ids := make([]string, q.Len())
			for j := range ids {
				ids[j] = q.DocID(j)
			}
			p.IDs, p.Docs = append(p.IDs, q.ID), append(p.Docs, ids)
		}
		return p
	}
	p, q := view(a), view(b)
	if slices.Equal(p.X, q.X) { // which cmp takes long to find
		p.X, q.X = nil, nil
	}
	return cmp.Diff(p, q)
}

// drawNumber draws a decimal number in one of the forms that files hold.
func drawNumber(t *rapid.T) string {
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

// drawText draws valid text with everything the format allows.
func drawText(t *rapid.T, missing bool) string {
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
			v := drawNumber(t)
			if missing && rapid.IntRange(0, 4).Draw(t, "missing") == 0 {
				v = rapid.SampledFrom([]string{"nan", "NaN", "NULL", "null"}).Draw(t, "name")
			}
			b.WriteString(blank() + strconv.Itoa(k) + ":" + v)
		}
		if b.Len() == before {
			b.WriteString(" ") // a query id holds no #
		}
		b.WriteString(rapid.SampledFrom([]string{"", "", " ", "#", " # about it", " #docid = 17", "#docid = GX1-2 inc = 1 prob = 0.5", " # docid = x#y", " #docid", " #docid 5", " #docid = "}).Draw(t, "comment"))
		if i < lines-1 || rapid.Bool().Draw(t, "closed") {
			b.WriteString(end)
		}
	}
	return b.String()
}

func gzipOf(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

func zstdOf(text string) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll([]byte(text), nil)
}

// Whatever the number of workers, the size of chunks and the compression, a text
// gives the documents that reading it line by line gives.
func TestReadAgreesWithNaiveReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		missing := rapid.SampledFrom([]Missing{MissingError, MissingZero, MissingMin}).Draw(t, "policy")
		text := drawText(t, missing != MissingError)
		docs, features := readNaively(t, text, missing)
		gz, zst := gzipOf(text), zstdOf(text)
		var first *Dataset
		for _, workers := range []int{1, 2, 3, 7} {
			for _, chunk := range []int64{1, 7, 64, 1000} {
				for i, data := range [][]byte{[]byte(text), gz, zst} {
					if i > 0 && chunk != 7 {
						continue // decompressors take long to set up
					}
					d, err := Read(bytes.NewReader(data), "f", Options{Missing: missing, Workers: workers, chunk: chunk})
					if err != nil {
						t.Fatal(err)
					}
					if first == nil {
						first = d
						checkAgainst(t, d, docs, features)
					}
					if diff := same(first, d); diff != "" {
						t.Fatalf("%d workers, chunks of %d bytes: %s", workers, chunk, diff)
					}
				}
			}
		}
	})
}

// Whatever the number of workers and the size of chunks, the first wrong line is
// reported.
func TestFirstErrorIsReported(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		for i := range rapid.IntRange(2, 40).Draw(t, "lines") {
			lines = append(lines, fmt.Sprintf("1 qid:%d 1:0.5 2:3", i/5))
		}
		bad := rapid.SliceOfNDistinct(rapid.IntRange(0, len(lines)-1), 1, min(4, len(lines)), rapid.ID[int]).Draw(t, "bad")
		for _, i := range bad {
			lines[i] = rapid.SampledFrom([]string{"x", "1 qid:1 2:1 1:1", "1 qid:1 999999999:1", "1 1:1", "1 qid:1 3:inf"}).Draw(t, "wrong")
		}
		want := fmt.Sprintf("f:%d: found ", slices.Min(bad)+1)
		text := strings.Join(lines, "\n")
		gz := gzipOf(text)
		var first string
		for _, workers := range []int{1, 2, 3, 7} {
			for _, chunk := range []int64{1, 20, 100, 1000} {
				for _, data := range [][]byte{[]byte(text), gz} {
					_, err := Read(bytes.NewReader(data), "f", Options{Workers: workers, chunk: chunk})
					if err == nil || !strings.HasPrefix(err.Error(), want) {
						t.Fatalf("error is %v, want %s…", err, want)
					}
					if first == "" {
						first = err.Error()
					}
					if err.Error() != first {
						t.Fatalf("%d workers, chunks of %d bytes: %v, before: %s", workers, chunk, err, first)
					}
				}
			}
		}
	})
}
