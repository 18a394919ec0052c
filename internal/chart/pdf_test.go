package chart

import (
	"bytes"
	"compress/zlib"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func writePDF(t testing.TB, p *Plot) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.WritePDF(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pageOf returns the operators of the page, or "" if there is none.
func pageOf(file []byte) string {
	_, rest, _ := bytes.Cut(file, []byte("stream\n"))
	r, err := zlib.NewReader(bytes.NewReader(rest))
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return ""
	}
	return string(text)
}

// Claim: PDF files have the same bytes every time, no time of writing, and an embedded font.
func TestPDF(t *testing.T) {
	for _, name := range []string{"curves", "bars", "empty"} {
		p := samples()[name]
		b := writePDF(t, p)
		if !bytes.Equal(b, writePDF(t, p)) {
			t.Errorf("%s: two writes differ", name)
		}
		if !bytes.HasPrefix(b, []byte("%PDF-1.")) || !bytes.HasSuffix(bytes.TrimSpace(b), []byte("%%EOF")) {
			t.Errorf("%s: found no PDF file", name)
		}
		for _, date := range regexp.MustCompile(`D:\d+`).FindAllString(string(b), -1) {
			if date != "D:19700101000000" {
				t.Errorf("%s: found the date %s", name, date)
			}
		}
		if !bytes.Contains(b, []byte("/FontFile2")) {
			t.Errorf("%s: found no embedded font", name)
		}
	}
}

// Claim: the PDF page has the points of the SVG path, at 3/4 of a point a pixel, from the lower left corner.
func TestPDFPoints(t *testing.T) {
	p := &Plot{Series: []Series{{X: []float64{1, 2, 4}, Y: []float64{3, 1, 2}}}}
	d := regexp.MustCompile(`class="lw-line" d="([^"]*)"`).FindSubmatch(write(t, p))
	page := pageOf(writePDF(t, p))
	const height = 400 // the default
	for i, at := range strings.FieldsFunc(string(d[1]), func(r rune) bool { return r == 'M' || r == 'L' }) {
		x, y, _ := strings.Cut(at, " ")
		want := point(t, x) + " " + strconv.FormatFloat((height-number64(t, y))*0.75, 'f', 2, 64)
		if op := "ml"[min(i, 1):][:1]; !strings.Contains(page, want+" "+op+"\n") {
			t.Errorf("found no %s %s in\n%s", want, op, page)
		}
	}
}

func number64(t testing.TB, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func point(t testing.TB, s string) string {
	return strconv.FormatFloat(number64(t, s)*0.75, 'f', 2, 64)
}

// Claim: a path's segments end where SVG's rules say, and the curves of a marker stay on its circle.
func TestSegments(t *testing.T) {
	var ends [][2]float64
	for _, s := range segments("M1 2L3 4H5V6h-1v2l1 -3z") {
		ends = append(ends, [2]float64{s.x, s.y})
	}
	want := [][2]float64{{1, 2}, {3, 4}, {5, 4}, {5, 6}, {4, 6}, {4, 8}, {5, 5}, {1, 2}}
	if len(ends) != len(want) {
		t.Fatalf("found %v, expected %v", ends, want)
	}
	for i := range want {
		if ends[i] != want[i] {
			t.Errorf("segment %d ends at %v, expected %v", i, ends[i], want[i])
		}
	}
	p := &Plot{X: Axis{Min: 0, Max: 2}, Y: Axis{Min: 0, Max: 2}, Series: []Series{{Kind: Scatter, X: []float64{1}, Y: []float64{1}}}}
	l, err := p.checked()
	if err != nil {
		t.Fatal(err)
	}
	x, y, _ := l.place(1, 1)
	page := pageOf(writePDF(t, p))
	curves := regexp.MustCompile(`([\d.]+) ([\d.]+) c\n`).FindAllStringSubmatch(page, -1)
	if len(curves) != 4 {
		t.Fatalf("found %d curves, expected 4 in\n%s", len(curves), page)
	}
	for _, c := range curves {
		dx, dy := number64(t, c[1])/0.75-x, 400-number64(t, c[2])/0.75-y
		if r := math.Hypot(dx, dy); math.Abs(r-3.2) > 0.02 {
			t.Errorf("a curve ends %v from the middle, expected 3.2", r)
		}
	}
}

// Claim: horizontal intervals run from Low to High at the height of their marker, and the axis shows them and 0.
func TestHorizontalIntervals(t *testing.T) {
	p := &Plot{X: Axis{Zero: true}, Series: []Series{{Kind: Scatter, Across: true, X: []float64{3}, Y: []float64{7}, Low: []float64{2}, High: []float64{5}}}}
	l, err := p.checked()
	if err != nil {
		t.Fatal(err)
	}
	low, y, _ := l.place(2, 7)
	high, _, _ := l.place(5, 7)
	zero, _ := l.x.at(0)
	file := string(write(t, p))
	for _, want := range []string{"M" + px(low) + " " + px(y) + "H" + px(high), "M" + px(zero) + " " + px(l.top) + "V" + px(l.bottom)} {
		if !strings.Contains(file, want) {
			t.Errorf("found no %s in\n%s", want, file)
		}
	}
	if zero < l.left || high > l.right {
		t.Errorf("0 is at %v and the interval ends at %v, expected both within %v to %v", zero, high, l.left, l.right)
	}
	p.Series[0].Kind = Line
	if err := p.Write(io.Discard); err == nil {
		t.Error("found no error for horizontal intervals of a line")
	}
}

// Claim: any text can be written: invalid UTF-8, controls, characters beyond 16 bits.
func TestPDFOfAnyText(t *testing.T) {
	for _, text := range []string{"\xff\xfe", "a\xe2\x82", "\xf0\x9f", "a\x00\nb", "𝛌😀", "é漢", strings.Repeat("x", 3000)} {
		for _, name := range []string{"curves", "bars"} {
			p := *samples()[name]
			p.Title, p.X.Label, p.Y.Label = text, text, text
			writePDF(t, &p)
		}
	}
}
