package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/tune/ensemble"
)

// graded returns data with the grades that a function makes of relevances in [0, 1].
func graded(t *testing.T, grade func(v float64) float64) *dataset.Dataset {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 3))
	var b dataset.Builder
	for q := range 12 {
		grades, x, docs := make([]float64, 15), make([]float32, 30), make([]string, 15)
		for i := range grades {
			x[2*i], x[2*i+1] = rng.Float32(), rng.Float32()
			grades[i] = grade(min(1, max(0, 0.8*float64(x[2*i])+0.2*rng.Float64())))
			docs[i] = fmt.Sprintf("document-%d", i)
		}
		if err := b.Add(fmt.Sprint("q", q), grades, x, docs); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

// Claim: whatever the grades are, from 0 to 9, fractions, large or without a 0, each stands on one line in its own
// box, wholly within the colour of its level, which ascends with the grade, beside the document's name, on a wide
// window and on a phone; the key of the colours has all grades.
func TestAnyGrades(t *testing.T) {
	long.Test(t)
	for name, grade := range map[string]func(v float64) float64{
		"0 to 9":      func(v float64) float64 { return math.Floor(9.99 * v) },
		"fractions":   func(v float64) float64 { return math.Round(1000*v) / 1000 },
		"many digits": func(v float64) float64 { return math.Floor(7*v) / 7 },
		"large":       func(v float64) float64 { return 1e4 * math.Floor(5*v) },
		"without 0":   func(v float64) float64 { return 1 + math.Floor(2.99*v) },
	} {
		d := graded(t, grade)
		s := scenario{
			config: Config{Title: name, Measures: mustMeasures(t, "map,p@5", "letor3"), Permutations: 100, Resamples: 100},
			divisions: []ensemble.Division{{Test: d, Systems: []ensemble.System{
				system(t, "regression", trained(t, d, "regression", nil), d), system(t, "random", trained(t, d, "random", nil), d),
			}}},
		}
		_, page := s.build(t)
		b := open(t, page, 1200)
		for _, width := range []int64{1200, 360} {
			b.Resize(width)
			b.Run(chromedp.Sleep(200 * time.Millisecond))
			wrong := eval[string](b, `[...document.querySelectorAll('#explorer-lists .grade')].map(e => {
				const r = e.getBoundingClientRect(), line = parseFloat(getComputedStyle(e).fontSize), doc = e.nextElementSibling.getBoundingClientRect();
				return r.height > 1.9 * line ? 'wraps ' + e.textContent : e.scrollWidth > e.clientWidth + 1 ? 'overflows ' + e.textContent : r.right > doc.left + 1 ? 'covers ' + e.textContent : '';
			}).filter(Boolean).join('; ')`)
			if n := eval[int](b, `document.querySelectorAll('#explorer-lists .grade').length`); wrong != "" || n < 20 {
				t.Errorf("%s, %d pixels: of %d grades %s", name, width, n, wrong)
			}
		}
		ascend := eval[string](b, `(() => { const shown = [...document.querySelectorAll('#explorer-lists .grade')].map(e => [+e.title.slice(6), +e.className.match(/g(\d)/)[1], e.textContent]);
			shown.sort((a, b) => a[0] - b[0]);
			return shown.filter((s, i) => i && s[1] < shown[i - 1][1] || (s[0] === 0) !== (s[1] === 0) || Math.abs(s[0] - s[2]) > 1e-3 * s[0]).join('; ') })()`)
		if ascend != "" {
			t.Errorf("%s: the colours do not ascend, or grades are not told, at %s", name, ascend)
		}
		if key := eval[string](b, `document.querySelector('#explorer-key li').textContent`); strings.Count(key, ".") > 12 || !strings.HasSuffix(key, "grade") {
			t.Errorf("%s: the key is %q", name, key)
		}
		b.Quiet()
	}
}
