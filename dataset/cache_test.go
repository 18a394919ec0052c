package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// cacheBytes returns the data set as a cache.
func cacheBytes(t rapid.TB, d *Dataset) []byte {
	t.Helper()
	head, err := cacheMetadata(d)
	if err != nil {
		t.Fatal(err)
	}
	b := bytes.NewBuffer(head)
	if err := writeFloats(b, d.x); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// fixSums makes the sizes and checksums of damaged metadata right, so that what is
// behind them is tested.
func fixSums(data []byte) {
	if len(data) < cacheHeader {
		return
	}
	le := binary.LittleEndian
	copy(data, cacheMagic)
	le.PutUint32(data[8:], cacheVersion)
	le.PutUint64(data[48:], uint64(len(data)))
	at := uint64(cacheHeader)
	for i := range cacheBlocks {
		at = (at+63)&^63 + le.Uint64(data[64+8*i:])
		if at > uint64(len(data)) {
			return
		}
	}
	at = min((at+63)&^63, uint64(len(data)))
	le.PutUint32(data[12:], crc32.Checksum(data[16:at], castagnoli))
}

// splitData is a data set with all that a cache can hold.
func splitData(t rapid.TB) *Dataset {
	t.Helper()
	d, err := Read(strings.NewReader("1 qid:a 1:0.5 2:1 #docid = x\n0 qid:käse 2:-3\n2 qid:a 1:4 # docid = yz\n0.5 qid:b 1:1e-9\n"), "f", Options{})
	if err != nil {
		t.Fatal(err)
	}
	d.FeatureNames = []string{"bm25", "länge"}
	return d
}

func TestCacheRoundTrip(t *testing.T) {
	roundTrips(t, splitData(t))
	rapid.Check(t, func(t *rapid.T) {
		missing := rapid.SampledFrom([]Missing{MissingError, MissingMin}).Draw(t, "policy")
		d, err := Read(strings.NewReader(drawText(t, missing != MissingError)), "f", Options{Missing: missing})
		if err != nil {
			t.Fatal(err)
		}
		inMemory(t, d)
	})
	rapid.Check(t, func(t *rapid.T) { inMemory(t, randomData(t)) })
}

// A cache cut or lengthened anywhere is an error that tells both sizes.
func TestTruncatedCache(t *testing.T) {
	data := cacheBytes(t, splitData(t))
	for n := len(cacheMagic); n < len(data); n++ {
		_, err := Read(bytes.NewReader(data[:n]), "f", Options{})
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Found == "" || syntax.Expected == "" {
			t.Fatalf("cut to %d of %d bytes: error is %v", n, len(data), err)
		}
	}
	for text, cut := range map[string][]byte{
		"f: found a file of 90 bytes, expected a cache's header of 136":                  data[:90],
		"f: found a file of 700 bytes, expected the 800 that its header tells":           data[:700],
		"f: found a file of 801 bytes, expected the 800 that its header tells":           append(slices.Clone(data), 0),
		"f: found a cache of format version 2, expected version 1; write the cache anew": changed(data, 8, 2),
	} {
		if _, err := Read(bytes.NewReader(cut), "f", Options{}); err == nil || err.Error() != text {
			t.Errorf("error is\n\t%v\nwant\n\t%s", err, text)
		}
	}
}

func changed(data []byte, at int, to byte) []byte {
	data = slices.Clone(data)
	data[at] = to
	return data
}

// Every changed byte is found: in the metadata on opening, in the matrix by Verify.
func TestDamagedCache(t *testing.T) {
	d := splitData(t)
	data := cacheBytes(t, d)
	for at := len(cacheMagic); at < len(data); at++ {
		again, err := Read(bytes.NewReader(changed(data, at, data[at]^0x10)), "f", Options{})
		if err == nil {
			if at < len(data)-4*len(d.x) {
				t.Fatalf("byte %d of the metadata changed, and it was opened", at)
			}
			err = again.Verify()
		}
		if err == nil {
			t.Fatalf("byte %d changed, and it was not found", at)
		}
	}
}

// With right checksums, damaged metadata is an error or a data set, never a panic.
func TestInconsistentCache(t *testing.T) {
	data := cacheBytes(t, splitData(t))
	for at := range data {
		for _, bits := range []byte{1, 0x80, 0xff} {
			bad := changed(data, at, data[at]^bits)
			fixSums(bad)
			useCache(t, bad)
		}
	}
}

// Each claim of the metadata is checked against the others.
func TestInconsistentCacheErrors(t *testing.T) {
	data := cacheBytes(t, splitData(t)) // queries a (2 documents), käse, b
	le := binary.LittleEndian
	block := func(b []byte, number int) []byte {
		at := cacheHeader
		for i := range number {
			at = aligned(at) + int(le.Uint64(b[64+8*i:]))
		}
		return b[aligned(at):]
	}
	for want, damage := range map[string]func(b []byte){
		"a number 0 (of documents), expected a positive one that fits the file":          func(b []byte) { le.PutUint64(b[24:], 0) },
		"a number 801 (of features), expected a positive one that fits the file":         func(b []byte) { le.PutUint64(b[32:], 801) },
		"a block 0 of 8 bytes, expected 12":                                              func(b []byte) { le.PutUint64(b[32:], 3) },
		"a block 2 of 12 bytes, expected 8":                                              func(b []byte) { le.PutUint64(b[40:], 2) },
		"a block 5 of 16 bytes, expected 12":                                             func(b []byte) { le.PutUint64(b[24:], 3) },
		"a block 6 of 9223372036854775808 bytes, expected at most the 224 that are left": func(b []byte) { le.PutUint64(b[64+8*6:], 1<<63) },
		"an end 9 of string 0, expected one from 0 to 7":                                 func(b []byte) { block(b, blockQueryEnds)[0] = 9 },
		"an end 0 of string 1, expected one from 1 to 7":                                 func(b []byte) { block(b, blockQueryEnds)[4] = 0 },
		"two queries of id \"a\", expected different ones":                               func(b []byte) { block(b, blockQueries)[6] = 'a' },
		"0 documents of query \"a\", expected 1 to 4":                                    func(b []byte) { block(b, blockCounts)[0] = 0 },
		"5 documents of query \"a\", expected 1 to 4":                                    func(b []byte) { block(b, blockCounts)[0] = 5 },
		"1 documents of no query, expected none":                                         func(b []byte) { block(b, blockCounts)[0] = 1 },
		"grade -1 of document 0, expected a finite non-negative number":                  func(b []byte) { block(b, blockGrades)[7] |= 0x80 },
		"input place 0 of row 1, expected every number below 4 once":                     func(b []byte) { block(b, blockInput)[8] = 0 },
		"input place 4 of row 1, expected every number below 4 once":                     func(b []byte) { block(b, blockInput)[8] = 4 },
	} {
		bad := slices.Clone(data)
		damage(bad)
		fixSums(bad)
		_, err := Read(bytes.NewReader(bad), "f", Options{})
		if err == nil || err.Error() != "f: found "+want {
			t.Errorf("error is\n\t%v\nwant\n\tf: found %s", err, want)
		}
	}
	bad := append(slices.Clone(data), 0, 0, 0, 0)
	fixSums(bad)
	want := "f: found a matrix of 36 bytes, expected 4 for each of 4 × 2 values"
	if _, err := Read(bytes.NewReader(bad), "f", Options{}); err == nil || err.Error() != want {
		t.Errorf("error is\n\t%v\nwant\n\t%s", err, want)
	}
}

// useCache opens a cache and, if that works, looks at all of it.
func useCache(t rapid.TB, data []byte) {
	d, err := Read(bytes.NewReader(data), "f", Options{})
	if err != nil {
		return
	}
	rows := 0
	for i := range d.Queries {
		q := &d.Queries[i]
		for j := range q.Len() {
			if len(q.Row(j)) != d.Features || len(q.DocID(j)) > len(data) || !(q.Grades[j] >= 0) {
				t.Fatalf("document %d of query %d is %v, %q", j, i, q.Row(j), q.DocID(j))
			}
			rows++
		}
	}
	if rows != d.Docs() || d.FeatureNames != nil && len(d.FeatureNames) != d.Features {
		t.Fatalf("%d documents, %d in queries, %d names", d.Docs(), rows, len(d.FeatureNames))
	}
	values := make([]float64, rows)
	d.ToInputOrder(values, d.Grades())
	if d.Verify() != nil {
		return
	}
	again, err := Read(bytes.NewReader(cacheBytes(t, d)), "f", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := same(d, again); diff != "" {
		t.Fatal(diff)
	}
}

// What is opened from a cache may be changed in place; the file stays as it is.
func TestCacheIsCopiedOnWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	if err := WriteCache(path, splitData(t)); err != nil {
		t.Fatal(err)
	}
	d, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	id, doc := d.Queries[0].ID, d.Queries[0].DocID(0)
	d.X()[0], d.Grades()[0] = 77, 77
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if id != "a" || doc != "x" {
		t.Errorf("identifiers are %q and %q after Close", id, doc)
	}
	d, err = Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.X()[0] != 0.5 || d.Grades()[0] != 1 {
		t.Errorf("the file has changed to %v, %v", d.X(), d.Grades())
	}
	if err := d.Verify(); err != nil {
		t.Error(err)
	}
}

func TestCacheColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	if err := WriteCache(path, splitData(t)); err != nil {
		t.Fatal(err)
	}
	for _, opts := range []Options{{Features: 4}, {MinFeatures: 4}} {
		d, err := Open(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		want := []float32{0.5, 1, 0, 0, 4, 0, 0, 0, 0, -3, 0, 0, 1e-9, 0, 0, 0}
		if d.Features != 4 || !slices.Equal(d.X(), want) || !slices.Equal(d.Queries[1].Row(0), want[8:12]) || d.Queries[2].Grades[0] != 0.5 {
			t.Errorf("%+v: %d features, %v", opts, d.Features, d.X())
		}
		if names := []string{"bm25", "länge", "3", "4"}; !slices.Equal(d.FeatureNames, names) {
			t.Errorf("%+v: names %q, want %q", opts, d.FeatureNames, names)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	want := path + ": found 2 features, expected at most 1"
	if _, err := Open(path, Options{Features: 1}); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestVerifyFindsValuesThatAreNotFinite(t *testing.T) {
	d := splitData(t)
	d.X()[3] = float32(math.Inf(-1))
	d, err := Read(bytes.NewReader(cacheBytes(t, d)), "f", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "f: found value -Inf of feature 2 of document 1, expected a finite number"
	if err := d.Verify(); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// A processor or a buffer for which the file's bytes are not the numbers' own
// gets the same numbers.
func TestViewsOfUnalignedBytes(t *testing.T) {
	b := make([]byte, 25)
	for i := range b {
		b[i] = byte(i * 7)
	}
	for from := range 8 {
		for i, v := range viewFloat32(b[from : from+16]) {
			if want := binary.LittleEndian.Uint32(b[from+4*i:]); math.Float32bits(v) != want {
				t.Errorf("float32 %d from byte %d has bits %x, want %x", i, from, math.Float32bits(v), want)
			}
		}
		for i, v := range viewFloat64(b[from : from+16]) {
			if want := binary.LittleEndian.Uint64(b[from+8*i:]); math.Float64bits(v) != want {
				t.Errorf("float64 %d from byte %d has bits %x, want %x", i, from, math.Float64bits(v), want)
			}
		}
	}
}

func TestWriteCacheToNowhere(t *testing.T) {
	if err := WriteCache(filepath.Join(t.TempDir(), "none", "cache"), splitData(t)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want os.ErrNotExist", err)
	}
	d := splitData(t)
	d.FeatureNames = d.FeatureNames[:1]
	if err := WriteCache(filepath.Join(t.TempDir(), "cache"), d); err == nil || !strings.HasSuffix(err.Error(), "1 feature names for 2 features") {
		t.Errorf("error is %v", err)
	}
}
