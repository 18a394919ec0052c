package report

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/listwise/listwise/internal/testing/long"
)

// Claim: the explorer shows the query and the systems that are chosen, by the controls, by
// the keyboard and by a bar of the plot of differences; a click on a document shows the
// contributions to its score.
func TestExplorerSwitches(t *testing.T) {
	_, page := small(t).build(t)
	b := open(t, page, 1200)
	values := func() [2]string {
		return [2]string{eval[string](b, `document.querySelector('.left-value').textContent`), eval[string](b, `document.querySelector('.right-value').textContent`)}
	}
	query := func() string { return eval[string](b, `document.getElementById('explorer-query').value`) }
	expect := func(what string, left, right, m, q int) {
		t.Helper()
		want := [2]string{fmt.Sprintf("%.4f", b.value(left, m, q)), fmt.Sprintf("%.4f", b.value(right, m, q))}
		if got := values(); got != want || query() != strconv.Itoa(q) {
			t.Errorf("%s: query %s shows %v, want query %d with %v", what, query(), got, q, want)
		}
	}
	best, largest := 0, math.Inf(-1)
	for system := 1; system < 4; system++ {
		var sum float64
		for q := range 24 {
			sum += b.value(system, 0, q)
		}
		if sum > largest {
			best, largest = system, sum
		}
	}
	expect("at first, the best beside the baseline", 0, best, 0, 0)
	first := eval[string](b, `document.querySelector('#explorer-lists').textContent`)
	b.choose("explorer-query", "5")
	expect("another query", 0, best, 0, 5)
	if eval[string](b, `document.querySelector('#explorer-lists').textContent`) == first {
		t.Error("the lists did not change with the query")
	}
	b.choose("explorer-right", "3")
	expect("another system", 0, 3, 0, 5)
	b.Run(chromedp.Click("#next"))
	expect("the button", 0, 3, 0, 6)
	b.Run(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	b.Run(chromedp.KeyEvent("k"), chromedp.KeyEvent("k"))
	expect("key k, twice", 0, 3, 0, 4)
	b.Run(chromedp.KeyEvent("j"))
	expect("key j", 0, 3, 0, 5)
	b.Run(chromedp.KeyEvent("x"))
	expect("key x", 3, 0, 0, 5)
	b.Run(chromedp.KeyEvent("m"))
	expect("key m", 3, 0, 1, 5)
	b.Run(chromedp.Focus("#explorer-left"), chromedp.KeyEvent(kb.ArrowUp))
	expect("an arrow in a list of systems", 2, 0, 1, 5)
	b.Run(chromedp.KeyEvent("j"))
	expect("key j with the focus on a list", 2, 0, 1, 6)
	b.Run(chromedp.KeyEvent("k"))

	b.Run(chromedp.Click("#explorer-lists ol li button"))
	if text := eval[string](b, `document.getElementById('why').textContent`); strings.Count(text, "feature ") < 4 || !strings.Contains(text, "rank 1") {
		t.Errorf("a document's reasons are %q", text)
	}
	if !eval[bool](b, `document.activeElement.getAttribute('aria-pressed') === 'true'`) {
		t.Error("the focus does not stay on the document that was chosen")
	}

	b.Run(chromedp.Focus("#differences-plot svg"), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.Enter))
	worst := eval[int](b, `(() => { const a = valuesOf(`+strconv.Itoa(best)+`, 0), b = valuesOf(0, 0); const d = a.map((v, q) => [v - b[q], q]); return d.sort((s, t) => s[0] - t[0] || t[1] - s[1])[0][1]; })()`)
	expect("the last bar", 0, best, 0, worst)
	b.Quiet()
}

// Claim: a query is found by a part of its name, Enter goes to the next one, and what is not there is
// said; the link to a query opens the page on it, with the systems and the measure.
func TestExplorerFindsQueries(t *testing.T) {
	_, page := small(t).build(t)
	b := open(t, page, 1200)
	query := func() string { return eval[string](b, `document.getElementById('explorer-query').value`) }
	found := func() string { return eval[string](b, `document.getElementById('explorer-found').textContent`) }
	name := eval[string](b, `report.queries.id[17]`)
	b.Run(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`), chromedp.KeyEvent("/"), chromedp.Sleep(100*time.Millisecond))
	if !eval[bool](b, `document.activeElement.id === 'explorer-search'`) {
		t.Error("the key / does not go to the search")
	}
	b.Run(chromedp.Evaluate[chromedp.Void](`document.getElementById('explorer-search').value = ''`), chromedp.KeyEvent(name))
	if got := query(); got != "17" {
		t.Errorf("looking for %q shows query %s (%s), want 17", name, got, found())
	}
	b.Run(chromedp.Evaluate[chromedp.Void](`(() => { const e = document.getElementById('explorer-search'); e.value = 'Q1'; e.dispatchEvent(new Event('input')); })()`))
	matching := eval[[]int](b, `report.queries.id.map((id, q) => id.includes('q1') ? q : -1).filter(q => q >= 0)`)
	if len(matching) < 2 || !strings.HasPrefix(found(), strconv.Itoa(len(matching))+" found") {
		t.Fatalf("%d queries match, the page says %q", len(matching), found())
	}
	before := query()
	b.Run(chromedp.Focus("#explorer-search"), chromedp.KeyEvent(kb.Enter))
	if query() == before {
		t.Error("Enter does not go to the next query that matches")
	}
	b.Run(chromedp.Evaluate[chromedp.Void](`(() => { const e = document.getElementById('explorer-search'); e.value = 'no such query'; e.dispatchEvent(new Event('input')); })()`))
	if !strings.HasPrefix(found(), "No query has") {
		t.Errorf("a name that no query has: %q", found())
	}

	b.choose("explorer-query", "9")
	b.choose("explorer-right", "2")
	b.choose("explorer-measure", "1")
	link := eval[string](b, `document.getElementById('explorer-link').href`)
	b.Run(chromedp.Navigate("about:blank"), chromedp.Navigate(link), chromedp.WaitReady("#explorer"))
	got := eval[[]string](b, `['query', 'left', 'right', 'measure'].map(c => document.getElementById('explorer-' + c).value)`)
	if want := []string{"9", "0", "2", "1"}; !slices.Equal(got, want) {
		t.Errorf("the link %s opens %v, want %v", link, got, want)
	}
	onTop := func(what string) {
		b.Run(chromedp.Sleep(300 * time.Millisecond))
		if at := eval[float64](b, `document.getElementById('explorer').getBoundingClientRect().top`); at < 0 || at > 100 {
			t.Errorf("%s leaves the explorer at %v pixels, want it at the top", what, at)
		}
	}
	onTop("the link")
	b.Run(chromedp.Evaluate[chromedp.Void](`scrollTo({ top: 0, behavior: 'instant' })`), chromedp.Evaluate[chromedp.Void](`document.querySelector('#differences-chosen button').click()`))
	onTop("a bar's button")
	b.Quiet()
}

// Claim: a name that is written from right to left, or turns the direction of writing, leaves what stands
// behind it as it is.
func TestNamesKeepTheirDirection(t *testing.T) {
	_, page := small(t).build(t)
	b := open(t, page, 1200)
	for _, name := range []string{"שלום", "turned \u202e"} {
		b.Run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => { report.queries.id[0] = %q; const e = document.getElementById('explorer-query'); e.value = '0'; e.dispatchEvent(new Event('change')); })()`, name)))
		places := eval[[]float64](b, `(() => {
			const text = document.querySelector('#explorer-values span').firstChild, at = text.data.indexOf(' documents');
			return [at + 1, at + 2, at + 9].map(i => { const r = document.createRange(); r.setStart(text, i); r.setEnd(text, i + 1); return r.getBoundingClientRect().left; });
		})()`)
		if !slices.IsSorted(places) {
			t.Errorf("behind %q the letters of \"documents\" stand at %v, want them from left to right", name, places)
		}
	}
	b.Quiet()
}

// Claim: under the lists stand all grades, and what arrows and marks mean; beside them how to see why.
func TestExplorerExplainsItself(t *testing.T) {
	_, page := small(t).build(t)
	b := open(t, page, 1200)
	if got, want := eval[int](b, `document.querySelectorAll('#explorer-key .grade').length`), eval[int](b, `report.grades.length`); got != want || want < 2 {
		t.Errorf("the key has %d grades, want %d", got, want)
	}
	text := eval[string](b, `document.getElementById('explorer').innerText`)
	for _, want := range []string{"Click a document", "ranks higher or lower here", "the exchange of two documents that moves the measure most"} {
		if !strings.Contains(text, want) {
			t.Errorf("the explorer does not say %q", want)
		}
	}
	b.Quiet()
}

// value is Go's value of a system on the pooled queries, by a measure of the configuration.
func (b *tab) value(system, measure, query int) float64 {
	in, err := newInput(&small(b.T).config, small(b.T).divisions)
	if err != nil {
		b.Fatal(err)
	}
	var r Report
	if err := r.measureAll(in); err != nil {
		b.Fatal(err)
	}
	return in.values[measure][system][query]
}

// Claim: the scripts' measures, by which exchanges are valued, equal Go's: on all queries,
// of all kinds they know, under all conventions.
func TestScriptsMeasureAsGo(t *testing.T) {
	long.Test(t)
	s := *small(t)
	s.config.Permutations, s.config.Resamples = 10, 10
	var b *tab
	for _, convention := range []string{"letor3", "letor4", "standard-skip", "mslr", "trec", "lightgbm"} {
		s.config.Measures = mustMeasures(t, "map,mrr,mrr@3,p@5,p@60,r@5,ndcg,ndcg@1,ndcg@10,ndcg@60,dcg@10,dcg", convention)
		_, page := s.build(t)
		if b == nil {
			b = open(t, page, 800)
		} else {
			b.show(page)
		}
		worst := eval[float64](b, `(() => {
			let worst = 0, n = 0;
			for (const q of detailsOf.keys()) report.systems.forEach((_, s) => report.measures.forEach((m, i) => {
				const want = valuesOf(s, i)[q];
				if (Number.isNaN(want)) return;
				const got = measured(m, rankingsOf(q), d => d.rank[s], report.queries.docs[q]);
				n++;
				worst = Math.max(worst, got === undefined ? 1e9 : Math.abs(got - want));
			}));
			return n < 500 ? 1e9 : worst;
		})()`)
		if !(worst <= unit*0.51) {
			t.Errorf("%s: the scripts are up to %v off", convention, worst)
		}
	}
	b.Quiet()
}

// show replaces the page of a tab.
func (b *tab) show(page []byte) {
	b.Helper()
	file := filepath.Join(b.TempDir(), "next.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		b.Fatal(err)
	}
	b.Run(chromedp.Navigate("file://"+file), chromedp.WaitReady("#explorer"))
}

// Claim: what the page says of an exchange is what Go's measure says of the
// ranking with the two documents exchanged, and no exchange among those listed is
// left out that would do more.
func TestSwapsAreTrue(t *testing.T) {
	s := small(t)
	r, page := s.build(t)
	b := open(t, page, 800)
	type swap struct {
		Query, U, V int // ranks on the left, from 1
		Change      float64
	}
	var swaps []swap
	raw := eval[json.RawMessage](b, `[...detailsOf.keys()].map(q => { const e = exchanges(report.measures[0], rankingsOf(q), 0, 3, report.queries.docs[q], 1)[0]; return e ? { Query: q, U: e.u.rank[0], V: e.v.rank[0], Change: e.change } : null; }).filter(e => e)`)
	if err := json.Unmarshal(raw, &swaps); err != nil {
		t.Fatal(err)
	}
	if len(swaps) < 10 {
		t.Fatalf("exchanges on %d queries, want most of 24", len(swaps))
	}
	in, err := newInput(&s.config, s.divisions)
	if err != nil {
		t.Fatal(err)
	}
	m := r.config.Measures[0]
	for _, w := range swaps {
		q := in.queries[w.Query]
		left, right := in.order(0, q), in.order(3, q)
		place := make([]int, len(left))
		for i, doc := range right {
			place[doc] = i
		}
		grades := make([]float64, len(left))
		for i, doc := range left {
			grades[i] = in.at(q).Grades[doc]
		}
		base, _ := m.Value(grades)
		best := 0.0
		kept := in.kept(q)
		listed := func(rank int) bool { return slices.Contains(kept, left[rank]) }
		for u := range left {
			for v := u + 1; v < len(left); v++ {
				if place[left[u]] < place[left[v]] || !listed(u) || !listed(v) {
					continue
				}
				grades[u], grades[v] = grades[v], grades[u]
				value, _ := m.Value(grades)
				grades[u], grades[v] = grades[v], grades[u]
				if u == w.U-1 && v == w.V-1 && math.Abs(value-base-w.Change) > 1e-9 {
					t.Errorf("query %d: exchanging ranks %d and %d does %v, the page says %v", w.Query, u+1, v+1, value-base, w.Change)
				}
				best = max(best, math.Abs(value-base))
			}
		}
		if math.Abs(w.Change) < best-1e-9 {
			t.Errorf("query %d: the page's exchange does %v, another one %v", w.Query, w.Change, best)
		}
	}
	b.Quiet()
}

// Claim: the panel of a document has each feature's value as the data have it, and the numbers it
// prints add up to the score that it prints, for both systems and for every document listed.
func TestPanelAddsUp(t *testing.T) {
	s := small(t)
	_, page := s.build(t)
	b := open(t, page, 1200)
	in, err := newInput(&s.config, s.divisions)
	if err != nil {
		t.Fatal(err)
	}
	type panel struct {
		Document string
		Sums     []float64 // of each system: the numbers added up, minus the score
		Values   map[string]string
	}
	for _, query := range []int{0, 7, 13} {
		b.choose("explorer-query", strconv.Itoa(query))
		var panels []panel
		raw := eval[json.RawMessage](b, `(() => {
			const number = text => Number(text.replace('−', '-').replace('+', ''));
			return [...document.querySelectorAll('#explorer-lists ol:first-child li, #explorer-lists ol li')].map(li => li.dataset.doc).filter((d, i, all) => all.indexOf(d) === i).map(d => {
				document.querySelector('#explorer-lists [data-doc="' + d + '"] button').click();
				const why = document.getElementById('why'), values = {};
				const sums = [...why.querySelectorAll('.columns > div')].filter(side => side.querySelector('.bars')).map(side => {
					const rows = [...side.querySelectorAll('.bars:not(.head)')].flatMap(grid => { const cells = [...grid.children], rows = []; for (let i = 0; i < cells.length; i += 4) rows.push(cells.slice(i, i + 4).map(c => c.textContent)); return rows; });
					for (const row of rows) if (row[1]) values[row[0]] = row[1];
					const total = rows.pop();
					return rows.reduce((sum, row) => sum + number(row[3]), 0) - number(total[3]);
				});
				const id = rankingsOf(state())[+d].id;
				document.querySelector('#explorer-lists [data-doc="' + d + '"] button').click();
				return { Document: id, Sums: sums, Values: values };
			});
			function state() { return +document.getElementById('explorer-query').value; }
		})()`)
		if err := json.Unmarshal(raw, &panels); err != nil {
			t.Fatal(err)
		}
		if len(panels) < 10 {
			t.Fatalf("query %d: %d panels, want those of ten documents at least", query, len(panels))
		}
		set := in.at(in.queries[query])
		ids := identifiers(set, indices(slices.Repeat([]bool{true}, set.Len())))
		for _, p := range panels {
			for _, sum := range p.Sums {
				if math.Abs(sum) > 1e-9 {
					t.Errorf("query %d, document %s: the numbers are %v off the score", query, p.Document, sum)
				}
			}
			doc := slices.Index(ids, p.Document)
			if len(p.Values) < 5 || len(p.Sums) == 0 {
				t.Fatalf("query %d, document %s: %d values, %d sums", query, p.Document, len(p.Values), len(p.Sums))
			}
			for name, text := range p.Values {
				var f int
				if _, err := fmt.Sscanf(name, "feature %d", &f); err != nil {
					t.Fatalf("feature %q", name)
				}
				got, err := strconv.ParseFloat(strings.Replace(text, "−", "-", 1), 64)
				if want := float64(set.Row(doc)[f-1]); err != nil || math.Abs(got-want) > 1e-4*math.Abs(want) {
					t.Errorf("query %d, document %s: %s is %s, want %v", query, p.Document, name, text, want)
				}
			}
		}
	}
	b.Quiet()
}

// Claim: a feature's value comes back from its digits to five significant ones, whatever its size.
func TestValuesComeBack(t *testing.T) {
	_, page := small(t).build(t)
	b := open(t, page, 800)
	for _, v := range []float32{0, 1, -1, 0.1, 99999, 999995, -123456, 1e-7, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 1e-38, 0.099999994} {
		got := eval[float64](b, fmt.Sprintf(`featureValue(unpack(%q, 0, 4))`, packedValue(nil, v)))
		if math.Abs(got-float64(v)) > 5.1e-5*math.Abs(float64(v)) {
			t.Errorf("%v comes back as %v", v, got)
		}
	}
	if !eval[bool](b, fmt.Sprintf(`Number.isNaN(featureValue(unpack(%q, 0, 4)))`, packedValue(nil, float32(math.NaN())))) {
		t.Error("a missing value does not come back")
	}
	b.Quiet()
}
