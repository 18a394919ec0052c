package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// samples are plots like those of the papers.
func samples() map[string]*Plot {
	rng := rand.New(rand.NewPCG(1, 1))
	sizes := []float64{50, 100, 200, 500, 1000, 2000, 5000}
	curve := func(name string, top float64) Series {
		s := Series{Name: name, Kind: LineMarkers, X: sizes}
		for _, x := range sizes {
			s.Y = append(s.Y, top*(1-1/math.Sqrt(x))+0.005*rng.NormFloat64())
		}
		return s
	}
	values := func(n int, mean float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = mean + 0.08*rng.NormFloat64()
		}
		return v
	}
	scatter := Series{Name: "rankings", Kind: Scatter}
	for range 100 {
		x := rng.Float64()
		scatter.X, scatter.Y = append(scatter.X, x), append(scatter.Y, -3e-4*x+1e-4*rng.NormFloat64())
	}
	loss := Series{Name: "training loss", X: []float64{}, Y: []float64{}}
	gap := Series{Name: "certified gap"}
	for i := range 80 {
		loss.X, loss.Y = append(loss.X, float64(i)), append(loss.Y, 1e4*math.Exp(-float64(i)/9)+3)
		gap.X, gap.Y = append(gap.X, float64(i)), append(gap.Y, 1e3*math.Exp(-float64(i)/4)*(1+0.5*rng.Float64()))
	}
	loss.Y[40] = math.NaN()
	methods := []Tick{}
	bars := Series{Name: "MAP", Kind: Bars, X: []float64{0.5}}
	for i, name := range []string{"SVMmap", "RankBoost", "RankSVM", "MLE", "ExpGain_AUC", "ExpGain_NDCG", "ConvexLoss_AUC", "ConvexLoss_MAP", "ConvexLoss_NDCG"} {
		methods = append(methods, Tick{float64(i + 1), name})
		bars.X, bars.Y = append(bars.X, float64(i)+1.5), append(bars.Y, 0.6+0.05*rng.Float64())
	}
	return map[string]*Plot{
		"curves": {
			Title:  "Figure 4: test accuracy against the number of sampled rankings (HP2004, ConvexLoss_NDCG)",
			X:      Axis{Label: "rankings per query |Ŷ|", Log: true},
			Y:      Axis{Label: "measure"},
			Series: []Series{curve("MAP", 0.77), curve("NDCG@1", 0.7), curve("NDCG@5", 0.82), curve("NDCG@10", 0.84)},
		},
		"histogram": {
			Title:  "Figure 7: Δ of sampled rankings",
			X:      Axis{Label: "Δ", Max: 1},
			Y:      Axis{Label: "rankings"},
			Series: []Series{Histogram("restart at Δ = 0", values(500, 0.1), 0, 1, 40), Histogram("restart at Δ ≈ ½", values(500, 0.5), 0, 1, 40), Histogram("restart at Δ = 1", values(500, 0.9), 0, 1, 40)},
		},
		"scatter": {
			Title:  "Figure 8: w·φ against Δ",
			X:      Axis{Label: "Δ"},
			Y:      Axis{Label: "mean w·φ(y)"},
			Series: []Series{scatter},
		},
		"logs": {
			Title:  "Convergence <& \"escapes\">",
			X:      Axis{Label: "iteration"},
			Y:      Axis{Label: "value", Log: true},
			Series: []Series{loss, gap},
		},
		"bars": {
			Title:  "MAP by method",
			X:      Axis{Ticks: methods},
			Y:      Axis{Label: "MAP"},
			Series: []Series{bars},
			Width:  520, Height: 380,
		},
		"many": {
			X: Axis{Label: "documents", Min: 1e6, Max: 5e6}, Y: Axis{Min: -1, Max: 1},
			Series: func() (all []Series) {
				for i := range 9 {
					s := Series{Name: "series number " + strconv.Itoa(i+1), Kind: LineMarkers}
					for j := range 11 {
						s.X = append(s.X, float64(j)*6e5)
						s.Y = append(s.Y, math.Sin(float64(i+j)/2)*1.2)
					}
					all = append(all, s)
				}
				return all
			}(),
			Width: 420, Height: 300,
		},
		"empty": {},
	}
}

func write(t testing.TB, p *Plot) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Claim: plots are well-formed XML, have the same bytes every time, and no
// coordinate is NaN or infinite. With SVG_DIR set, SVG and PDF files are left there to look at.
func TestSamples(t *testing.T) {
	for name, p := range samples() {
		b := write(t, p)
		if !bytes.Equal(b, write(t, p)) {
			t.Errorf("%s: two writes differ", name)
		}
		checkXML(t, b)
		if dir := os.Getenv("SVG_DIR"); dir != "" {
			for ending, content := range map[string][]byte{".svg": b, ".pdf": writePDF(t, p)} {
				if err := os.WriteFile(filepath.Join(dir, name+ending), content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

var noNumber = regexp.MustCompile(`(?i)[ "MLHVhv](nan|[+-]?inf)`)

// checkXML parses b and returns the text of its text elements.
func checkXML(t interface{ Fatalf(string, ...any) }, b []byte) (texts []string) {
	d := xml.NewDecoder(bytes.NewReader(b))
	inText := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, b)
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
			for _, a := range e.Attr {
				if noNumber.MatchString(" " + a.Value) {
					t.Fatalf("%s=%q", a.Name.Local, a.Value)
				}
			}
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				texts = append(texts, string(e))
			}
		}
	}
}

// Claim: any text and any numbers give well-formed XML, and a PDF file, without senseless
// coordinates, and texts come out as they went in.
func TestAnyContent(t *testing.T) {
	anyNumber := rapid.OneOf(rapid.Float64Range(-1e3, 1e3), rapid.Just(math.NaN()), rapid.Just(math.Inf(1)), rapid.Just(0.0),
		rapid.Float64Range(-1e300, 1e300))
	text := rapid.StringMatching(`[a-z<>&"' ]{0,20}`)
	drawn := 0
	rapid.Check(t, func(t *rapid.T) {
		p := &Plot{
			Title: text.Draw(t, "title"),
			X:     Axis{Label: text.Draw(t, "x label"), Log: rapid.Bool().Draw(t, "log x")},
			Y:     Axis{Label: rapid.String().Draw(t, "y label"), Log: rapid.Bool().Draw(t, "log y")},
		}
		for range rapid.IntRange(0, 4).Draw(t, "series") {
			n := rapid.IntRange(0, 6).Draw(t, "n")
			p.Series = append(p.Series, Series{
				Name: text.Draw(t, "name"), Kind: Kind(rapid.IntRange(0, 2).Draw(t, "kind")),
				X: rapid.SliceOfN(anyNumber, n, n).Draw(t, "x"), Y: rapid.SliceOfN(anyNumber, n, n).Draw(t, "y"),
			})
		}
		var b bytes.Buffer
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		texts := checkXML(t, b.Bytes())
		for _, s := range p.Series {
			if s.Name != "" && !slices.Contains(texts, s.Name) {
				t.Fatalf("no text %q in %q", s.Name, texts)
			}
		}
		if p.X.Label != "" && !slices.Contains(texts, p.X.Label) {
			t.Fatalf("no text %q in %q", p.X.Label, texts)
		}
		if drawn++; drawn%25 != 1 { // a PDF file takes long
			return
		}
		b.Reset()
		if err := p.WritePDF(&b); err != nil {
			t.Fatal(err)
		}
		if page := pageOf(b.Bytes()); noNumber.MatchString(page) {
			t.Fatalf("a number that is not finite in\n%s", page)
		}
	})
}

// Claim: a label of the x axis that is longer than the axis stays within the picture.
func TestLongLabelIsNotCut(t *testing.T) {
	p := &Plot{Width: 320, X: Axis{Label: "a label that is longer than its axis, which begins"}, Y: Axis{Ticks: []Tick{{0.5, "a long name of a row"}}}}
	at := regexp.MustCompile(`<text x="([\d.]+)"[^>]*text-anchor="middle">a label`).FindSubmatch(write(t, p))
	x, err := strconv.ParseFloat(string(at[1]), 64)
	if half := textWidth(p.X.Label, labelSize) / 2; err != nil || x+half > 320 {
		t.Errorf("the label ends at %v, expected at most 320: %v", x+half, err)
	}
}

// Claim: a line's points lie where the axes say.
func TestPointsAreOnScale(t *testing.T) {
	p := &Plot{X: Axis{Min: 0, Max: 10}, Y: Axis{Log: true, Min: 1, Max: 1000},
		Series: []Series{{X: []float64{0, 5, 10, math.NaN(), 1}, Y: []float64{1, 10, 1000, 1, 1}}}}
	l, err := p.layout()
	if err != nil {
		t.Fatal(err)
	}
	want := "M" + px(l.left) + " " + px(l.bottom) +
		"L" + px((l.left+l.right)/2) + " " + px(l.bottom+(l.top-l.bottom)/3) +
		"L" + px(l.right) + " " + px(l.top) +
		"M" + px(l.left+(l.right-l.left)/10) + " " + px(l.bottom)
	if b := write(t, p); !bytes.Contains(b, []byte(want)) {
		t.Errorf("no path %s in\n%s", want, b)
	}
	p.Series[0].Kind, p.X.Min = Scatter, 4
	if b := write(t, p); bytes.Count(b, []byte("a3.2 3.2 0 1 0 6.4 0")) != 2 {
		t.Errorf("expected 2 of the points within the axes in\n%s", b)
	}
}

// Claim: an interval is a bar at a marker and a band around a line, up to the edges of which the axis reaches. An
// interval without an end interrupts the band. An inline plot has no style of its own.
func TestIntervals(t *testing.T) {
	nan := math.NaN()
	s := Series{Kind: Scatter, X: []float64{1, 2, 3, 4, 5}, Y: []float64{2, 3, 3, 3, 2}, Low: []float64{1, 2, nan, 2, 1}, High: []float64{3, 4, 4, 4, 9}}
	p := &Plot{Series: []Series{s}, Inline: true}
	l, err := p.layout()
	if err != nil {
		t.Fatal(err)
	}
	at := func(x, y float64) string {
		a, b, _ := l.place(x, y)
		if !l.holds(a, b) {
			t.Errorf("%v, %v is outside the axes", x, y)
		}
		return px(a) + " " + px(b)
	}
	x1, low, _ := l.place(1, 1)
	_, high, _ := l.place(1, 3)
	if b := write(t, p); !bytes.Contains(b, []byte("M"+px(x1)+" "+px(low)+"V"+px(high)+"M")) || bytes.Count(b, []byte("h6")) != 8 {
		t.Errorf("no four bars in\n%s", b)
	} else if bytes.Contains(b, []byte("<style")) {
		t.Error("an inline plot has a style")
	}
	p.Series[0].Kind = LineMarkers
	want := "M" + at(1, 3) + "L" + at(2, 4) + "L" + at(2, 2) + "L" + at(1, 1) + "zM" + at(4, 4) + "L" + at(5, 9) + "L" + at(5, 1) + "L" + at(4, 2) + "z"
	if b := write(t, p); !bytes.Contains(b, []byte(want)) {
		t.Errorf("no band %s in\n%s", want, b)
	}
}

// Claim: ticks are round, increasing, on the axis and about as many as asked for,
// and their labels are distinct and denote their values.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 10).Draw(t, "n")
		low := rapid.Float64Range(-10, 10).Draw(t, "low")
		size := math.Pow(10, rapid.Float64Range(-6, 6).Draw(t, "size"))
		s := scale{log: rapid.Bool().Draw(t, "log"), min: low * size, max: low*size + size*rapid.Float64Range(0.5, 5).Draw(t, "range")}
		if s.log {
			s.min = math.Max(-200, math.Min(200, s.min))
			s.max = math.Min(s.max, s.min+300)
			s.max = math.Max(s.max, s.min+0.1)
			s.max = math.Min(s.max, 300)
		}
		ticks := s.ticks(n)
		if len(ticks) < 2 || len(ticks) > 2*n+2 {
			t.Fatalf("%d ticks of [%v, %v], expected about %d", len(ticks), s.min, s.max, n)
		}
		for i, tick := range ticks {
			if v := value(t, tick.Label); math.Abs(v-tick.Value) > 1e-6*math.Abs(tick.Value)+1e-12 {
				t.Fatalf("tick %v is labelled %q", tick.Value, tick.Label)
			}
			if i > 0 && (tick.Value <= ticks[i-1].Value || tick.Label == ticks[i-1].Label) {
				t.Fatalf("ticks %v", ticks)
			}
		}
	})
}

// value reads a tick's label.
func value(t *rapid.T, label string) float64 {
	plain := strings.ReplaceAll(label, "−", "-")
	if power, found := strings.CutPrefix(plain, "10"); found && strings.ContainsAny(power, "⁻⁰¹²³⁴⁵⁶⁷⁸⁹") {
		digits := strings.NewReplacer("⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9")
		plain = "1e" + digits.Replace(power)
	}
	v, err := strconv.ParseFloat(plain, 64)
	if err != nil {
		t.Fatalf("label %q: %v", label, err)
	}
	return v
}

func TestTickLabels(t *testing.T) {
	for _, c := range []struct {
		s    scale
		n    int
		want string
	}{
		{scale{min: 0, max: 1}, 5, "0 0.2 0.4 0.6 0.8 1.0"},
		{scale{min: -0.31, max: 0.29}, 6, "−0.3 −0.2 −0.1 0 0.1 0.2"},
		{scale{min: 0, max: 100}, 4, "0 50 100"},
		{scale{min: 0.762, max: 0.798}, 4, "0.77 0.78 0.79"},
		{scale{min: 1e6, max: 5e6}, 4, "1e6 2e6 3e6 4e6 5e6"},
		{scale{min: 0, max: 3e-7}, 3, "0 1e-7 2e-7 3e-7"},
		{scale{log: true, min: -2, max: 3}, 8, "0.01 0.1 1 10 100 1000"},
		{scale{log: true, min: -12, max: 3}, 5, "10⁻¹² 10⁻⁸ 10⁻⁴ 10⁰"},
		{scale{log: true, min: 1.6, max: 2.5}, 5, "50 100 200"},
		{scale{log: true, min: 1.6, max: 3.8}, 10, "50 100 200 500 1000 2000 5000"},
		{scale{log: true, min: -1.2, max: 0.4}, 10, "0.1 0.2 0.5 1 2"},
		{scale{log: true, min: -8, max: -7.6}, 10, "1e-8 2e-8"},
	} {
		var got []string
		for _, tick := range c.s.ticks(c.n) {
			got = append(got, tick.Label)
		}
		if want := strings.ReplaceAll(c.want, "-", "−"); strings.Join(got, " ") != want {
			t.Errorf("[%v, %v]: %q, expected %q", c.s.min, c.s.max, got, want)
		}
	}
}

// Claim: x tick labels never meet, by their estimated widths, and a legend of any
// length stays above the plotting area and inside the picture.
func TestNothingOverlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e4, 1e4).Draw(t, "low")
		p := &Plot{Width: rapid.IntRange(300, 900).Draw(t, "width"), Height: rapid.IntRange(400, 600).Draw(t, "height")}
		p.X.Min, p.X.Max = low, low+math.Pow(10, rapid.Float64Range(-3, 8).Draw(t, "range"))
		for range rapid.IntRange(0, 12).Draw(t, "series") {
			p.Series = append(p.Series, Series{Name: rapid.StringMatching(`[a-zA-Z@0-9]{1,20}`).Draw(t, "name")})
		}
		l, err := p.layout()
		if err != nil {
			t.Fatal(err)
		}
		if !l.fit() || len(l.xTicks) == 0 {
			t.Fatalf("x ticks %v", l.xTicks)
		}
		for i, e := range l.legend {
			right := e.x + sample + gap + textWidth(e.name, labelSize)
			if right > l.width || e.y+labelSize/2 > l.top {
				t.Fatalf("legend entry %q ends at %v, %v", e.name, right, e.y)
			}
			if i > 0 && l.legend[i-1].y == e.y && l.legend[i-1].x+sample+gap+textWidth(l.legend[i-1].name, labelSize) > e.x {
				t.Fatalf("legend entries %d and %d overlap", i-1, i)
			}
		}
	})
}

// Claim: a histogram counts every value within its range once, in the interval
// whose edges enclose it.
func TestHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-5, 5).Draw(t, "lo")
		hi := lo + rapid.Float64Range(0.1, 5).Draw(t, "width")
		bins := rapid.IntRange(1, 30).Draw(t, "bins")
		values := rapid.SliceOf(rapid.OneOf(rapid.Float64Range(-12, 12), rapid.SampledFrom([]float64{lo, hi, (lo + hi) / 2, math.NaN()}))).Draw(t, "values")
		s := Histogram("h", values, lo, hi, bins)
		for i := range bins {
			want := 0.0
			for _, v := range values {
				if v >= s.X[i] && (v < s.X[i+1] || (i == bins-1 && v <= hi)) {
					want++
				}
			}
			if s.Y[i] != want {
				t.Fatalf("interval %d from %v to %v has %v values, expected %v", i, s.X[i], s.X[i+1], s.Y[i], want)
			}
		}
	})
}

// Claim: impossible plots are errors that name the series or the axis, and
// nothing is written.
func TestErrors(t *testing.T) {
	for want, p := range map[string]*Plot{
		`series "s": 2 values of X and 1 of Y, expected 2`:  {Series: []Series{{Name: "s", X: []float64{1, 2}, Y: []float64{1}}}},
		`series "b": 2 values of X and 2 of Y, expected 1`:  {Series: []Series{{Name: "b", Kind: Bars, X: []float64{1, 2}, Y: []float64{1, 2}}}},
		`series "i": 1 and 0 ends of intervals, expected 1`: {Series: []Series{{Name: "i", X: []float64{1}, Y: []float64{1}, Low: []float64{1}}}},
		`edge 1 after 2`:     {Series: []Series{{Kind: Bars, X: []float64{2, 1}, Y: []float64{1}}}},
		`unknown kind 9`:     {Series: []Series{{Kind: 9}}},
		`x axis from 2 to 1`: {X: Axis{Min: 2, Max: 1}},
		`y axis from 0 to 1`: {Y: Axis{Max: 1, Log: true}},
		`too far apart`:      {Series: []Series{{X: []float64{-1e308, 1e308}, Y: []float64{1, 2}}}},
		`size -1`:            {Width: -1},
		`too small`:          {Width: 40, Height: 30},
	} {
		var b bytes.Buffer
		p.Title = "broken"
		if err := p.Write(&b); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), `plot "broken"`) || b.Len() > 0 {
			t.Errorf("error %v after %d bytes, expected %q", err, b.Len(), want)
		}
	}
	if err := new(Plot).Write(failing{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v of the writer", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
