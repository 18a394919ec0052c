package cache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/internal/block"
)

// cacheBytes returns the data set as a cache.
func cacheBytes(t rapid.TB, d *dataset.Dataset) []byte {
	t.Helper()
	head, err := metadata(d)
	if err != nil {
		t.Fatal(err)
	}
	return append(head, block.LittleEndian(d.X())...)
}

// cacheBlock returns the block of that number, nil if the lengths before it reach
// beyond the file. The matrix is behind the last block.
func cacheBlock(data []byte, number int) []byte {
	at := uint64(headerSize)
	for i := 0; ; i++ {
		at = (at + alignment - 1) &^ (alignment - 1)
		if at > uint64(len(data)) {
			return nil
		}
		if i == numBlocks {
			return data[at:]
		}
		n := binary.LittleEndian.Uint64(data[offLengths+8*i:])
		if n > uint64(len(data))-at {
			return nil
		}
		if i == number {
			return data[at : at+n]
		}
		at += n
	}
}

// fixSums makes the sizes and checksums of a damaged cache right, so that what is
// behind them is tested.
func fixSums(data []byte) {
	if len(data) < headerSize {
		return
	}
	le := binary.LittleEndian
	copy(data, Magic)
	if le.Uint32(data[offVersion:]) != incomplete {
		le.PutUint32(data[offVersion:], version)
	}
	le.PutUint64(data[offSize:], uint64(len(data)))
	matrix := cacheBlock(data, numBlocks)
	if matrix == nil {
		return
	}
	if sums := cacheBlock(data, blockSums); len(sums) == 4*pieces(len(matrix)) {
		for i := range pieces(len(matrix)) {
			piece := matrix[i*matrixPiece : min((i+1)*matrixPiece, len(matrix))]
			le.PutUint32(sums[4*i:], crc32.Checksum(piece, castagnoli))
		}
	}
	le.PutUint32(data[offSum:], crc32.Checksum(data[offNumbers:len(data)-len(matrix)], castagnoli))
}

// A cache cut or lengthened anywhere is an error that tells both sizes.
func TestTruncatedCache(t *testing.T) {
	data := cacheBytes(t, datatest.Split())
	for n := len(Magic); n < len(data); n++ {
		_, err := readFrom(bytes.NewReader(data[:n]), "f", dataset.Options{})
		var syntax *dataset.SyntaxError
		if !errors.As(err, &syntax) || syntax.Found == "" || syntax.Expected == "" {
			t.Fatalf("cut to %d of %d bytes: error is %v", n, len(data), err)
		}
	}
	for text, cut := range map[string][]byte{
		"f: found a file of 90 bytes, expected a cache's header of 144":                       data[:90],
		"f: found a file of 700 bytes, expected the 864 that its header tells":                data[:700],
		"f: found a file of 865 bytes, expected the 864 that its header tells":                append(slices.Clone(data), 0),
		"f: found a cache of format version 1, expected version 2 or 3; write the cache anew": changed(data, 8, 1),
		"f: found a cache of format version 4, expected version 2 or 3; write the cache anew": changed(data, 8, 4),
	} {
		if _, err := readFrom(bytes.NewReader(cut), "f", dataset.Options{}); err == nil || err.Error() != text {
			t.Errorf("error is\n\t%v\nwant\n\t%s", err, text)
		}
	}
}

func changed(data []byte, at int, to byte) []byte {
	data = slices.Clone(data)
	data[at] = to
	return data
}

// Every changed bit of a file is found on opening, wherever it is.
func TestDamagedCache(t *testing.T) {
	data := cacheBytes(t, datatest.Split())
	for at := range data {
		for bit := range 8 {
			if _, err := readFrom(bytes.NewReader(changed(data, at, data[at]^1<<bit)), "f", dataset.Options{}); err == nil {
				t.Fatalf("bit %d of byte %d of %d changed, and it was opened", bit, at, len(data))
			}
		}
	}
}

// Of several damaged pieces of a large matrix the first is told, whatever the
// number of workers.
func TestDamagedPieces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	var b dataset.Builder
	if err := b.Add("q", make([]float64, 5<<10), make([]float32, 5<<20/4), nil); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, b.Dataset()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	matrix := cacheBlock(data, numBlocks)
	matrix[3*matrixPiece] ^= 1
	matrix[len(matrix)-1] ^= 0x80
	matrix[2*matrixPiece-1] ^= 2
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`: found a checksum of [0-9a-f]{8} of the matrix's bytes 1048576 to 2097151, expected [0-9a-f]{8}; the cache is damaged, write it anew$`)
	for _, workers := range []int{1, 2, 3, 7} {
		if _, err := openFile(path, dataset.Options{Workers: workers}); err == nil || !want.MatchString(err.Error()) {
			t.Errorf("%d workers: error is\n\t%v\nwant\n\t%s", workers, err, want)
		}
	}
}

// With right checksums, damaged metadata is an error or a data set, never a panic.
func TestInconsistentCache(t *testing.T) {
	data := cacheBytes(t, datatest.Split())
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
	data := cacheBytes(t, datatest.Split()) // queries a (2 documents), käse, b
	le := binary.LittleEndian
	for want, damage := range map[string]func(b []byte){
		"a number 0 (of documents), expected a positive one that fits the file":          func(b []byte) { le.PutUint64(b[offNumbers:], 0) },
		"a number 865 (of features), expected a positive one that fits the file":         func(b []byte) { le.PutUint64(b[offNumbers+8:], 865) },
		"a block 0 of 8 bytes, expected 12":                                              func(b []byte) { le.PutUint64(b[offNumbers+8:], 3) },
		"a block 2 of 12 bytes, expected 8":                                              func(b []byte) { le.PutUint64(b[offNumbers+16:], 2) },
		"a block 5 of 16 bytes, expected 12":                                             func(b []byte) { le.PutUint64(b[offNumbers:], 3) },
		"a block 6 of 9223372036854775808 bytes, expected at most the 288 that are left": func(b []byte) { le.PutUint64(b[offLengths+8*blockDocs:], 1<<63) },
		"an end 9 of string 0, expected one from 0 to 7":                                 func(b []byte) { cacheBlock(b, blockQueryEnds)[0] = 9 },
		"an end 0 of string 1, expected one from 1 to 7":                                 func(b []byte) { cacheBlock(b, blockQueryEnds)[4] = 0 },
		"two queries of id \"a\", expected different ones":                               func(b []byte) { cacheBlock(b, blockQueries)[6] = 'a' },
		"0 documents of query \"a\", expected 1 to 4":                                    func(b []byte) { cacheBlock(b, blockCounts)[0] = 0 },
		"5 documents of query \"a\", expected 1 to 4":                                    func(b []byte) { cacheBlock(b, blockCounts)[0] = 5 },
		"1 documents of no query, expected none":                                         func(b []byte) { cacheBlock(b, blockCounts)[0] = 1 },
		"grade -1 of document 0, expected a finite non-negative number":                  func(b []byte) { cacheBlock(b, blockGrades)[7] |= 0x80 },
		"input place 0 of row 1, expected every number below 4 once":                     func(b []byte) { cacheBlock(b, blockInput)[8] = 0 },
		"input place 4 of row 1, expected every number below 4 once":                     func(b []byte) { cacheBlock(b, blockInput)[8] = 4 },
	} {
		bad := slices.Clone(data)
		damage(bad)
		fixSums(bad)
		_, err := readFrom(bytes.NewReader(bad), "f", dataset.Options{})
		if err == nil || err.Error() != "f: found "+want {
			t.Errorf("error is\n\t%v\nwant\n\tf: found %s", err, want)
		}
	}
	bad := append(slices.Clone(data), 0, 0, 0, 0)
	fixSums(bad)
	want := "f: found a matrix of 36 bytes, expected 4 for each of 4 × 2 values"
	if _, err := readFrom(bytes.NewReader(bad), "f", dataset.Options{}); err == nil || err.Error() != want {
		t.Errorf("error is\n\t%v\nwant\n\t%s", err, want)
	}
}

// useCache opens a cache and, if that works, looks at all of it.
func useCache(t rapid.TB, data []byte) {
	d, err := readFrom(bytes.NewReader(data), "f", dataset.Options{})
	if kept, err := readFrom(bytes.NewReader(data), "f", dataset.Options{Missing: dataset.MissingKeep}); err == nil && kept.Missing() > 0 {
		again, err := readFrom(bytes.NewReader(cacheBytes(t, kept)), "f", dataset.Options{Missing: dataset.MissingKeep})
		if err != nil || again.Missing() != kept.Missing() || again.Fingerprint() != kept.Fingerprint() {
			t.Fatalf("%d missing values have become %v, %v", kept.Missing(), again, err)
		}
	}
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
	datatest.CheckFinite(t, d)
	again, err := readFrom(bytes.NewReader(cacheBytes(t, d)), "f", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := datatest.Same(d, again); diff != "" {
		t.Fatal(diff)
	}
}

// What is opened from a cache may be changed in place; the file stays as it is.
func TestCacheIsCopiedOnWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	if err := Write(path, datatest.Split()); err != nil {
		t.Fatal(err)
	}
	d, err := openFile(path, dataset.Options{})
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
	d, err = openFile(path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.X()[0] != 0.5 || d.Grades()[0] != 1 {
		t.Errorf("the file has changed to %v, %v", d.X(), d.Grades())
	}
}

func TestCacheColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	if err := Write(path, datatest.Split()); err != nil {
		t.Fatal(err)
	}
	for _, opts := range []dataset.Options{{Features: 4}, {Features: 4, MinFeatures: 3}} {
		d, err := openFile(path, opts)
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
	// Features with names are all that there are.
	if d, err := openFile(path, dataset.Options{MinFeatures: 4}); err != nil || d.Features != 2 {
		t.Errorf("%d features, %v, expected the 2 that have names", d.Features, err)
	}
	want := path + ": found 2 features, expected at most 1"
	if _, err := openFile(path, dataset.Options{Features: 1}); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// A value that is not finite is refused with its place, by the reader and by the
// writer.
func TestCacheValuesThatAreNotFinite(t *testing.T) {
	for bits, name := range map[uint32]string{0x7f800000: "+Inf", 0xff800000: "-Inf", 0x7fc00000: "NaN", 0xffffffff: "NaN", 0x7f800001: "NaN"} {
		d := datatest.Split()
		data := cacheBytes(t, d)
		binary.LittleEndian.PutUint32(cacheBlock(data, numBlocks)[4*3:], bits)
		fixSums(data)
		want := "found value " + name + " of feature 2 of document 2 of query \"a\" (\"yz\"), expected a finite number"
		if _, err := readFrom(bytes.NewReader(data), "f", dataset.Options{}); err == nil || err.Error() != "f: "+want {
			t.Errorf("error is %v, want f: %s", err, want)
		}
		d.X()[3] = math.Float32frombits(bits)
		path := filepath.Join(t.TempDir(), "cache")
		if err := Write(path, d); err == nil || err.Error() != path+": "+want {
			t.Errorf("error is %v, want %s: %s", err, path, want)
		}
	}
}

// The test of two values at a time agrees with the definition, for every exponent
// and sign and wherever the value stands.
func TestFiniteness(t *testing.T) {
	for n := range 20 {
		b := make([]byte, 4*n)
		for at := range n {
			for high := range 1 << 10 { // sign, exponent and the highest bit of the fraction
				for _, low := range []uint32{0, 1, 1<<22 - 1} {
					bits := uint32(high)<<22 | low
					binary.LittleEndian.PutUint32(b[4*at:], bits)
					v := float64(math.Float32frombits(bits))
					finite := !math.IsNaN(v) && !math.IsInf(v, 0)
					_, bad, none := sumPiece(b, false)
					if block.AllFinite(b) != finite || finite && bad != -1 || !finite && bad != at || none != 0 {
						t.Fatalf("%v at %d of %d values: finite is %v, the first bad one %d", v, at, n, block.AllFinite(b), bad)
					}
					_, bad, missing := sumPiece(b, true)
					if (missing == 1) != math.IsNaN(v) || math.IsInf(v, 0) != (bad == at) || !math.IsInf(v, 0) && bad != -1 {
						t.Fatalf("%v at %d of %d values: %d are missing, the first infinite one is %d", v, at, n, missing, bad)
					}
				}
			}
			binary.LittleEndian.PutUint32(b[4*at:], math.Float32bits(-math.MaxFloat32))
		}
	}
}

func TestWriteCacheToNowhere(t *testing.T) {
	if err := Write(filepath.Join(t.TempDir(), "none", "cache"), datatest.Split()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want os.ErrNotExist", err)
	}
	d := datatest.Split()
	d.FeatureNames = d.FeatureNames[:1]
	if err := Write(filepath.Join(t.TempDir(), "cache"), d); err == nil || !strings.HasSuffix(err.Error(), "1 feature names for 2 features") {
		t.Errorf("error is %v", err)
	}
}

// Claim: a cache whose names of features are not UTF-8 is refused.
func TestCacheNamesAreUTF8(t *testing.T) {
	data := bytes.Replace(cacheBytes(t, datatest.Split()), []byte("bm25"), []byte("bm\xff5"), 1)
	fixSums(data)
	const want = `f: found the name of a feature "bm\xff5", expected text in UTF-8`
	if _, err := readFrom(bytes.NewReader(data), "f", dataset.Options{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, expected %s", err, want)
	}
}

func FuzzCache(f *testing.F) {
	f.Add(cacheBytes(f, datatest.Split()))
	var b dataset.Builder
	if err := b.Add("q", []float64{0, 1}, make([]float32, 6), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(cacheBytes(f, b.Dataset()))
	f.Add(cacheBytes(f, withHoles()))
	f.Add(cacheBytes(f, weighted(f)))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = slices.Clone(data)
		useCache(t, data)
		fixSums(data)
		useCache(t, data)
	})
}
