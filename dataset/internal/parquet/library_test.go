package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/stream"
)

// Claim: numbers in runs are those that another decoder reads, and those of another encoder are
// read, some at a time.
func TestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := uint(rapid.IntRange(1, 20).Draw(t, "width"))
		var numbers []uint32
		for len(numbers) == 0 || rapid.Bool().Draw(t, "more") {
			v := rapid.Uint32Range(0, 1<<width-1).Draw(t, "v")
			numbers = append(numbers, slices.Repeat([]uint32{v}, rapid.IntRange(1, 30).Draw(t, "times"))...)
		}
		ours := appendRuns(nil, numbers, width)
		theirs := &rle.Encoding{BitWidth: int(width)}
		signed := make([]int32, len(numbers))
		for i, v := range numbers {
			signed[i] = int32(v)
		}
		read, err := theirs.DecodeInt32(nil, ours)
		if err != nil || len(read) < len(signed) || !slices.Equal(read[:len(signed)], signed) {
			t.Fatal(numbers, read, err)
		}
		text, err := theirs.EncodeInt32(nil, signed)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{ours, text} {
			var r runs
			r.begin(text, width)
			got := make([]uint32, len(numbers))
			cut := rapid.IntRange(0, len(numbers)).Draw(t, "cut")
			if err := errors.Join(r.take(got[:cut]), r.take(got[cut:])); err != nil || !slices.Equal(got, numbers) {
				t.Fatal(numbers, got, err)
			}
		}
	})
}

// Claim: levels taken some at a time, as bytes or as runs of ones, are those that were encoded.
func TestLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var numbers []uint32
		for len(numbers) == 0 || rapid.Bool().Draw(t, "more") {
			numbers = append(numbers, slices.Repeat([]uint32{rapid.Uint32Range(0, 1).Draw(t, "v")}, rapid.IntRange(1, 30).Draw(t, "times"))...)
		}
		var r runs
		r.begin(appendRuns(nil, numbers, 1), 1)
		for len(numbers) > 0 {
			n := rapid.IntRange(1, len(numbers)).Draw(t, "n")
			sum := 0
			for _, v := range numbers[:n] {
				sum += int(v)
			}
			if rapid.Bool().Draw(t, "skip") && r.skipOnes(n) {
				if sum != n {
					t.Fatal(numbers[:n])
				}
				numbers = numbers[n:]
				continue
			}
			buf := make([]byte, n)
			ones, err := r.levels(buf)
			if err != nil || ones != sum {
				t.Fatal(ones, sum, err)
			}
			for i, b := range buf {
				if ones != 0 && ones != n && uint32(b) != numbers[i] {
					t.Fatal(buf, numbers[:n])
				}
			}
			numbers = numbers[n:]
		}
	})
}

// Claim: differences of another encoder are read.
func TestDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Int64(), 0, 300).Draw(t, "numbers")
		text, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, numbers)
		if err != nil {
			t.Fatal(err)
		}
		got, rest, err := differences(append(text, 7), len(numbers))
		if err != nil || !slices.Equal(got, numbers) || !bytes.Equal(rest, []byte{7}) {
			t.Fatal(numbers, got, rest, err)
		}
		if _, _, err := differences(text, len(numbers)-1); err == nil && len(numbers) > 0 {
			t.Fatal("found no error about too many")
		}
	})
}

// plainASCII is checked byte by byte.
func TestPlainASCII(t *testing.T) {
	for c := range 256 {
		for at := range 11 {
			text := []byte("a ~b0Z9 ~a ")
			text[at] = byte(c)
			if got, want := plainASCII(text), c >= ' ' && c < 0x7f; got != want {
				t.Errorf("%q is plain: %v", text, got)
			}
		}
	}
}

// encodings are those of a table's columns, which is drawn.
type encodings struct {
	name, number, whole encoding.Encoding
	codec               compress.Codec
	version             int
}

// Claim: what the library writes is read, in all its encodings and codecs but LZ4 and brotli, pages
// of both versions, with nulls and without.
func TestFilesOfTheLibrary(t *testing.T) {
	names := []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaLengthByteArray, &parquet.DeltaByteArray}
	numbers := []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.ByteStreamSplit}
	wholes := []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaBinaryPacked}
	codecs := []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd}
	for i := range 48 {
		e := encodings{names[i%4], numbers[i/4%3], wholes[i/4%3], codecs[(i+i/4)%4], 1 + i/2%2}
		for _, optional := range []bool{false, true} {
			t.Run(fmt.Sprint(i, optional), func(t *testing.T) { checkLibrary(t, e, optional) })
		}
	}
}

func checkLibrary(t *testing.T, e encodings, optional bool) {
	node := func(n parquet.Node) parquet.Node {
		if optional {
			return parquet.Optional(n)
		}
		return n
	}
	schema := parquet.NewSchema("t", parquet.Group{ // in the order of the names
		"a": node(parquet.Encoded(parquet.Leaf(parquet.FloatType), e.number)),
		"b": node(parquet.Encoded(parquet.Leaf(parquet.DoubleType), e.number)),
		"c": node(parquet.Encoded(parquet.Int(32), e.whole)),
		"d": node(parquet.Encoded(parquet.Int(64), e.whole)),
		"e": node(parquet.Leaf(parquet.BooleanType)),
		"q": parquet.Encoded(parquet.String(), e.name), "r": parquet.Encoded(parquet.Leaf(parquet.DoubleType), e.number),
	})
	const rows = 3000
	var out bytes.Buffer
	w := parquet.NewGenericWriter[any](&out, schema, parquet.Compression(e.codec), parquet.DataPageVersion(e.version), parquet.PageBufferSize(3000))
	want := make([]float32, 0, 5*rows)
	values := make([][]parquet.Value, 7)
	for i := range rows {
		v := i * 7919 % 1000
		for k, x := range []parquet.Value{parquet.FloatValue(float32(v) / 4), parquet.DoubleValue(float64(v) / 8), parquet.Int32Value(int32(v - 500)), parquet.Int64Value(int64(500 - v)), parquet.BooleanValue(v%3 == 0)} {
			number := []float32{float32(v) / 4, float32(v) / 8, float32(v - 500), float32(500 - v), float32(1 - min(v%3, 1))}[k]
			level := 0
			if optional {
				if level = 1; (i/100+k)%3 == 0 && v%2 == 0 || i >= 2000 && i < 2100 {
					x, level, number = parquet.NullValue(), 0, nan
				}
			}
			values[k], want = append(values[k], x.Level(0, level, k)), append(want, number)
		}
		values[5] = append(values[5], parquet.ByteArrayValue([]byte("query "+strconv.Itoa(i/13))).Level(0, 0, 5))
		values[6] = append(values[6], parquet.DoubleValue(float64(i%5)).Level(0, 0, 6))
	}
	for k, c := range w.ColumnWriters() {
		if _, err := c.WriteRowValues(values[k]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := readBytes(out.Bytes(), dataset.Options{Missing: dataset.MissingKeep, Table: dataset.TableOptions{Query: "q", Grade: "r"}})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range d.X() {
		if math.Float32bits(x) != math.Float32bits(want[i]) {
			t.Fatalf("row %d, column %d: %v, expected %v", i/5, i%5, x, want[i])
		}
	}
	q := &d.Queries[1]
	if len(d.X()) != len(want) || q.ID != "query 1" || q.Len() != 13 || q.Grades[0] != 3 {
		t.Errorf("%d values, query %s of %d documents", len(d.X()), q.ID, q.Len())
	}
}

// Claim: the library reads what is written, with checksums, whatever the compression.
func TestLibraryReads(t *testing.T) {
	d := datatest.Split()
	for _, codec := range []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Zstd} {
		var out bytes.Buffer
		w, err := newWriter(&out, stream.ContentsOf(d), codec)
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Write(w, d, nil); err != nil {
			t.Fatal(err)
		}
		f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		rows, row := f.RowGroups()[0].Rows(), make([]parquet.Row, 1)
		for i := range d.Queries {
			for j := range d.Queries[i].Len() {
				if n, err := rows.ReadRows(row); n != 1 || err != nil && !errors.Is(err, io.EOF) {
					t.Fatal(n, err)
				}
				values := row[0][len(row[0])-d.Features:]
				if row[0][0].String() != d.Queries[i].ID || row[0][1].Double() != d.Queries[i].Grades[j] {
					t.Errorf("document %d of query %s: %v", j, d.Queries[i].ID, row[0])
				}
				for k, x := range d.Queries[i].Row(j) {
					if v := values[k]; v.IsNull() != (x != x) || !v.IsNull() && v.Float() != x {
						t.Errorf("document %d of query %s: %v, expected %v", j, d.Queries[i].ID, v, x)
					}
				}
			}
		}
		_ = rows.Close()
	}
}
