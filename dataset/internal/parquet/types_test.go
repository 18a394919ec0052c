package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// doubles is a row with identifiers that are numbers.
type doubles struct {
	Query float64 `parquet:"query"`
	Grade float64 `parquet:"grade"`
	Doc   float64 `parquet:"doc"`
	Small float32 `parquet:"small"`
	X     float32 `parquet:"x"`
}

// asDoubles returns rows as a file.
func asDoubles(t *testing.T, rows ...doubles) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[doubles](&b)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Claim: identifiers of type double are the numbers as text has them, and NaN is none. Numbers that the
// type may have rounded are refused, since two ids could have become one.
func TestNumbersAsIdentifiers(t *testing.T) {
	d, err := readBytes(asDoubles(t, doubles{7, 1, 1 << 53, 1, 0}, doubles{7, 0, -2.5, 2, 0}, doubles{8, 0, math.NaN(), 3, 0}), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range d.Queries {
		q := &d.Queries[i]
		for k := range q.Len() {
			got = append(got, q.ID+":"+q.DocID(k))
		}
	}
	if want := []string{"7:9007199254740992", "7:-2.5", "8:"}; !slices.Equal(got, want) {
		t.Errorf("identifiers %q, expected %q", got, want)
	}
	for want, test := range map[string]struct {
		row  doubles
		opts dataset.TableOptions
	}{
		"found the number 9.007199254740994e+15 of type DOUBLE in column doc, about row 1, expected text or whole numbers, for this type is exact up to 2^53 only": {row: doubles{1, 1, 1<<53 + 2, 1, 0}},
		"found the number +Inf of type DOUBLE in column doc": {row: doubles{1, 1, math.Inf(1), 1, 0}},
		"found no query in column query of row 1":            {row: doubles{math.NaN(), 1, 1, 1, 0}},
		"found the number 1.6777218e+07 of type FLOAT in column small, about row 1, expected text or whole numbers, for this type is exact up to 2^24 only": {doubles{1, 1, 1, 1<<24 + 2, 0}, dataset.TableOptions{Doc: "small", Except: []string{"doc"}}},
	} {
		if _, err := readBytes(asDoubles(t, test.row), dataset.Options{Table: test.opts}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}

// Claim: a page is read that is filled up with zeros behind its values, and no page that has more values.
func TestFilledPages(t *testing.T) {
	for _, codec := range []format.CompressionCodec{format.Uncompressed, format.Snappy} {
		for _, end := range []struct {
			text string
			ok   bool
		}{{"", true}, {strings.Repeat("\x00", 3), true}, {strings.Repeat("\x00", 50_000), true}, {"\x00\x01", false}, {strings.Repeat("\x00", 50_000) + "\x01", false}} {
			var out bytes.Buffer
			s := newSheet(&out, codec, []*sheetColumn{{name: "query", kind: format.ByteArray}, {name: "grade", kind: format.Double}, {name: "x", kind: format.Float, nullable: true}})
			err := s.each(func(k int, v *pageValues) {
				v.rows = 2
				switch k {
				case 0:
					v.plain = appendText(appendText(nil, "a"), "a")
				case 1:
					v.plain = append(appendDoubles(nil, []float64{0, 3}), end.text...)
				default:
					v.plain = append([]byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}, end.text...)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.close(); err != nil {
				t.Fatal(err)
			}
			d, err := readBytes(out.Bytes(), dataset.Options{})
			switch {
			case !end.ok && (err == nil || !strings.Contains(err.Error(), errMany.Error())):
				t.Errorf("%v, %d bytes behind the values: error %v", codec, len(end.text), err)
			case end.ok && (err != nil || d.Queries[0].Grades[1] != 3 || d.X()[0] != 1 || d.X()[1] != 2):
				t.Errorf("%v, %d bytes behind the values: %v", codec, len(end.text), err)
			}
		}
	}
}

// Claim: no flipped bit of the description of a file of this package changes the names of its features.
func TestNamesAreGuarded(t *testing.T) {
	d := datatest.Split()
	data := written(t, d, 0)
	size := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	for i := 8 * (len(data) - 8 - size); i < 8*len(data); i++ {
		data[i/8] ^= 1 << (i % 8)
		again, err := readBytes(data, dataset.Options{})
		if err == nil && !slices.Equal(again.FeatureNames, d.FeatureNames) {
			t.Errorf("bit %d: features %q", i, again.FeatureNames)
		}
		data[i/8] ^= 1 << (i % 8)
	}
}

// Claim: decimal numbers have the text that their whole number, in two's complement with the first byte first,
// and the digits behind the point make.
func TestDecimals(t *testing.T) {
	for _, test := range []struct {
		bytes string
		scale int
		want  string
	}{
		{"\x00\x05", 3, "0.005"}, {"\xff\xfb", 3, "-0.005"}, {"\x04\xd2", 0, "1234"}, {"\x04\xd2", 2, "12.34"},
		{"\x80\x00", 1, "-3276.8"}, {"\x00\x00", 2, "0.00"}, {"\x7f\xff\xff\xff\xff\xff\xff\xff\xff", 4, "236118324143482260.6847"},
	} {
		c := column{kind: format.FixedLenByteArray, size: len(test.bytes), decimal: true, scale: test.scale}
		if got := string(c.appendDecimal(nil, []byte(test.bytes), 0)); got != test.want {
			t.Errorf("%x with %d digits: %s, expected %s", test.bytes, test.scale, got, test.want)
		}
	}
}
