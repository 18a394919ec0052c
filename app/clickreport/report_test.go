package clickreport

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/app/report"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/model"
	"github.com/listwise/listwise/click/propensity"
)

const ranks = 5

// pagesOf makes n pages of queries with eight documents. Query i has twice as many pages as query i+1. edit may change a
// page before its clicks are drawn by clicks, from the attraction of each document.
func pagesOf(n int, edit func(rng *rand.Rand, number int, p *click.Page), clicks func(rng *rand.Rand, attraction []float64) []int) (pages []click.Page) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		query := 0
		for query < 5 && rng.IntN(2) == 0 {
			query++
		}
		p := click.Page{Query: fmt.Sprint("query <i>", query), Weight: 1, User: fmt.Sprint("u", i/4)}
		for d := range ranks {
			p.Docs = append(p.Docs, fmt.Sprint("d", d))
		}
		if edit != nil {
			edit(rng, i, &p)
		}
		var attraction []float64
		for _, d := range p.Docs {
			k, _ := strconv.Atoi(d[1:])
			attraction = append(attraction, 0.8-0.12*float64(k))
		}
		p.Clicks = clicks(rng, attraction)
		pages = append(pages, p)
	}
	return pages
}

// examined are the propensities of clicks by byPosition.
var examined = [ranks]float64{1, 0.7, 0.5, 0.35, 0.25}

func byPosition(rng *rand.Rand, attraction []float64) (clicks []int) {
	for r, a := range attraction {
		clicks = append(clicks, 0)
		if rng.Float64() < a*examined[r] {
			clicks[r] = 1
		}
	}
	return clicks
}

// cascade makes users stop at their first click.
func cascade(rng *rand.Rand, attraction []float64) []int {
	clicks := make([]int, len(attraction))
	for r, a := range attraction {
		if rng.Float64() < a {
			clicks[r] = 1
			break
		}
	}
	return clicks
}

func exchanged(rng *rand.Rand, _ int, p *click.Page) {
	k := 1 + rng.IntN(ranks-1)
	p.Swapped = [2]int{0, k}
	if p.Swap = rng.IntN(2) == 0; p.Swap {
		p.Docs[0], p.Docs[k] = p.Docs[k], p.Docs[0]
	}
}

func kinds(t testing.TB, names ...string) (list []*model.Kind) {
	t.Helper()
	for _, name := range names {
		k, err := model.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, k)
	}
	return list
}

func built(t testing.TB, pages []click.Page, c Config) *Report {
	t.Helper()
	if c.Models == nil {
		c.Models = kinds(t, "rctr", "pbm", "dbn")
	}
	if c.Share == 0 {
		c.Share = DefaultShare
	}
	c.Title, c.Source = "Clicks", "pages.jsonl"
	l := NewLog(c, nil)
	tally := new(click.Tally)
	file := filepath.Join(t.TempDir(), "pages.jsonl")
	err := click.Write(file, func(add func(*click.Page) error) error {
		for i := range pages {
			if err := add(&pages[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := click.Read(context.Background(), file, click.Options{Tally: tally}, l.Add); err != nil {
		t.Fatal(err)
	}
	r, err := l.Build(context.Background(), tally)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func written(t testing.TB, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// said reports whether a finding of a level contains a text.
func said(r *Report, level, text string) bool {
	return slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Level == level && strings.Contains(f.Text, text) })
}

// Claim: exchanges tell the propensities of clicks by position, and the page shows them. In a fixed order no
// method tells them. The page then says what would supply them.
func TestPropensities(t *testing.T) {
	r := built(t, pagesOf(20000, exchanged, byPosition), Config{Resamples: 20})
	swap := r.Propensities[1]
	if swap.Method != propensity.Swap || swap.Estimate == nil || len(swap.Estimate.Slots) != ranks {
		t.Fatalf("found %+v", swap)
	}
	for k, s := range swap.Estimate.Slots {
		if k > 0 && !(*s.Low < examined[k] && examined[k] < *s.High && *s.High-*s.Low < 0.2) {
			t.Errorf("slot %s: %v to %v, expected an interval around %v", s.Slot, *s.Low, *s.High, examined[k])
		}
	}
	if !said(r, report.Note, "Swap tells the propensities of 5 of 5 slots") || said(r, report.Look, "cannot tell position from relevance") || said(r, report.Look, "names no arms") {
		t.Errorf("found %+v", r.Findings)
	}
	if text := written(t, r); !strings.Contains(text, ">swap</text>") || strings.Contains(text, ">shuffle</text>") {
		t.Error("the plot has other methods than the log tells")
	}
	r = built(t, pagesOf(2000, nil, byPosition), Config{Resamples: 20})
	if !said(r, report.Look, "The log cannot tell position from relevance") {
		t.Errorf("found %+v", r.Findings)
	}
	if text := written(t, r); !strings.Contains(text, "listwise serve --explore NAME=MODEL:swap") {
		t.Error("the page does not say what would supply propensities")
	}
}

// Claim: where only the first slots are shuffled, their propensities are told, and why the others are not.
func TestPartOfTheSlots(t *testing.T) {
	r := built(t, pagesOf(5000, func(rng *rand.Rand, _ int, p *click.Page) {
		p.Shuffled = 3
		rng.Shuffle(3, func(i, j int) { p.Docs[i], p.Docs[j] = p.Docs[j], p.Docs[i] })
	}, byPosition), Config{})
	c := r.Propensities[0]
	if c.Estimate == nil || len(c.Estimate.Slots) != 3 || c.Lacks == nil || !strings.Contains(c.Lacks.Reason(), "slots 4, 5 are not connected") {
		t.Errorf("found %+v", c)
	}
	if !said(r, report.Note, "Shuffle tells the propensities of 3 of 5 slots") {
		t.Errorf("found %+v", r.Findings)
	}
}

// Claim: documents that moved in a log without arms are a finding, since the log does not tell why they moved.
func TestUnexplainedMoves(t *testing.T) {
	moved := func(rng *rand.Rand, _ int, p *click.Page) {
		rng.Shuffle(ranks, func(i, j int) { p.Docs[i], p.Docs[j] = p.Docs[j], p.Docs[i] })
	}
	if r := built(t, pagesOf(3000, moved, byPosition), Config{}); !said(r, report.Look, "names no arms") {
		t.Errorf("found %+v", r.Findings)
	}
}

// Claim: the held-out pages are those of a share of the users. They are measured, and the others are fitted.
func TestHeldOut(t *testing.T) {
	pages := pagesOf(4000, nil, byPosition)
	l := NewLog(Config{Share: 0.3}, nil)
	users := map[string]map[bool]bool{}
	for i := range pages {
		if users[pages[i].User] == nil {
			users[pages[i].User] = map[bool]bool{}
		}
		users[pages[i].User][l.holds(&pages[i])] = true
	}
	held := 0
	for user, is := range users {
		if len(is) != 1 {
			t.Errorf("user %s is in both parts", user)
		}
		if is[true] {
			held++
		}
	}
	if held < 250 || held > 350 {
		t.Errorf("%d of 1000 users are held out, expected about 300", held)
	}
	r := built(t, pages, Config{Share: 0.3})
	if m := r.Models; m.Units != held || m.Users != held || m.Pages != 4*held || m.Fitted != 4000-4*held {
		t.Errorf("found %d fitted and %d held-out pages of %d units, expected %d units", m.Fitted, m.Pages, m.Units, held)
	}
	if text := written(t, r); !strings.Contains(text, "30&nbsp;% of the users are held out by hash") {
		t.Error("the page does not say how pages were held out")
	}
	for i := range pages {
		pages[i].User, pages[i].ID = "", strconv.Itoa(i)
	}
	if m := built(t, pages, Config{}).Models; m.Users != 0 || m.Pages < 700 || m.Pages > 900 {
		t.Errorf("%d of 4000 pages are held out, expected about 800", m.Pages)
	}
}

// Claim: pages that are given to measure models are not fitted, and none of the log are held out.
func TestGivenValidation(t *testing.T) {
	pages := pagesOf(1000, nil, byPosition)
	l := NewLog(Config{Valid: "held.jsonl", Share: 0.3, Models: kinds(t, "pbm")}, nil)
	tally := new(click.Tally)
	for i := range pages {
		add := l.Add
		if i >= 900 {
			add = l.AddHeld
		}
		if err := add(&pages[i]); err != nil {
			t.Fatal(err)
		}
	}
	r, err := l.Build(context.Background(), tally)
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Models; m.Fitted != 900 || m.Pages != 100 || r.Info.Pages != 900 {
		t.Errorf("found %d fitted, %d held-out and %d pages", m.Fitted, m.Pages, r.Info.Pages)
	}
	if !strings.Contains(written(t, r), "Measured on 100 pages of 25 users of held.jsonl") {
		t.Error("the page does not name the held-out pages")
	}
}

// Claim: where users stop at a click, a model that knows the clicks above is the best, and the findings say so.
// Where they do not, pbm is not worse than any other.
func TestModels(t *testing.T) {
	r := built(t, pagesOf(4000, nil, cascade), Config{Resamples: 100})
	if r.Models.Best != "dbn" || !said(r, report.Note, "Clicks depend on the clicks above") || !said(r, report.Note, "dbn predicts the clicks of held-out pages best") {
		t.Errorf("found %s and %+v", r.Models.Best, r.Findings)
	}
	r = built(t, pagesOf(4000, exchanged, byPosition), Config{Resamples: 100})
	if said(r, report.Note, "Clicks depend on the clicks above") {
		t.Errorf("found %+v", r.Findings)
	}
}

// Claim: the examples are the queries with the most fitted pages. Their numbers equal sums over the pages.
func TestExamples(t *testing.T) {
	pages := pagesOf(2000, exchanged, byPosition)
	r := built(t, pages, Config{Queries: 2})
	l := NewLog(Config{Share: DefaultShare}, nil)
	type sums struct{ shown, clicks, ranks float64 }
	of := map[string]*sums{}
	n := 0
	for i := range pages {
		if p := &pages[i]; !l.holds(p) && p.Query == "query <i>0" {
			n++
			for r, d := range p.Docs {
				if of[d] == nil {
					of[d] = &sums{}
				}
				of[d].shown++
				of[d].ranks += float64(r + 1)
				of[d].clicks += float64(p.Clicks[r])
			}
		}
	}
	e := r.Examples
	if len(e.Queries) != 2 || e.Queries[0].Query != "query <i>0" || e.Queries[0].Pages != n || e.Queries[1].Query != "query <i>1" || e.Model != "dbn" {
		t.Fatalf("found %+v", e)
	}
	for k, d := range e.Queries[0].Documents {
		if s := of[d.Doc]; d.Impressions != s.shown || d.Clicks != s.clicks || d.Rank != s.ranks/s.shown {
			t.Errorf("%s: found %+v, expected %+v", d.Doc, d, s)
		}
		if k > 0 && d.Relevance > e.Queries[0].Documents[k-1].Relevance || !(d.Low < d.Relevance && d.Relevance < d.High) || d.Satisfaction == nil {
			t.Errorf("place %d has %+v", k+1, d)
		}
	}
	if text := written(t, r); strings.Contains(text, "query <i>0") || !strings.Contains(text, "query &lt;i&gt;0") {
		t.Error("the page has the name of a query as HTML")
	}
}

// Claim: only the most frequent documents of a long list are on the page, and models without attraction grade none.
func TestFrequentDocuments(t *testing.T) {
	many := func(_ *rand.Rand, number int, p *click.Page) {
		p.Query = "q"
		for r := range p.Docs {
			p.Docs[r] = fmt.Sprint("d", r)
		}
		p.Docs[ranks-1] = fmt.Sprint("d", 5+number%20)
	}
	r := built(t, pagesOf(400, many, func(rng *rand.Rand, _ []float64) []int { return []int{0, 1, 0, 0, rng.IntN(2)} }), Config{Queries: 3})
	q := r.Examples.Queries[0]
	if len(q.Documents) != mostDocuments || q.More != 14 {
		t.Errorf("found %d documents and %d more", len(q.Documents), q.More)
	}
	for d := range ranks - 1 {
		if !slices.ContainsFunc(q.Documents, func(own Document) bool { return own.Doc == fmt.Sprint("d", d) }) {
			t.Errorf("document d%d is left out of %+v", d, q.Documents)
		}
	}
	if r := built(t, pagesOf(400, nil, byPosition), Config{Models: kinds(t, "rctr")}); r.Examples != nil || strings.Contains(written(t, r), `id="queries"`) {
		t.Error("click rates by rank grade documents")
	}
}

// Claim: arms have their pages and clicks.
func TestArms(t *testing.T) {
	r := built(t, pagesOf(1000, func(_ *rand.Rand, number int, p *click.Page) {
		p.Experiment, p.Arm = "ab", []string{"web", "new"}[number%2]
	}, func(_ *rand.Rand, _ []float64) []int { return []int{1, 2, 0, 0, 0} }), Config{})
	for k, a := range r.Info.Arms {
		if a.Experiment != "ab" || a.Arm != []string{"web", "new"}[k] || a.Pages != 500 || a.Weight != 500 || a.Clicks != 1000 || a.Clicked != 500 {
			t.Errorf("found %+v", a)
		}
	}
	if text := written(t, r); !strings.Contains(text, `id="arms"`) || strings.Contains(written(t, built(t, pagesOf(50, nil, byPosition), Config{})), `id="arms"`) {
		t.Error("the section of arms is where there are none, or the other way round")
	}
}

// Claim: logs from which little can be learned have a page and findings, not an error.
func TestPoorLogs(t *testing.T) {
	none := func(_ *rand.Rand, attraction []float64) []int { return make([]int, len(attraction)) }
	for name, c := range map[string]struct {
		pages       []click.Page
		level, want string
	}{
		"no clicks":    {pagesOf(100, nil, none), report.Problem, "No document was clicked."},
		"no member":    {pagesOf(100, nil, func(*rand.Rand, []float64) []int { return nil }), report.Problem, "100 pages have neither clicks nor clicked."},
		"one page":     {pagesOf(1, nil, func(*rand.Rand, []float64) []int { return []int{1, 0, 0, 0, 0} }), report.Look, ""},
		"one document": {pagesOf(100, func(_ *rand.Rand, _ int, p *click.Page) { p.Docs = p.Docs[:1] }, byPosition), report.Look, "All pages have one document"},
		"few units":    {pagesOf(40, nil, byPosition), report.Look, "units are held out, so the intervals of click models are rough"},
		"weights":      {pagesOf(40, func(_ *rand.Rand, number int, p *click.Page) { p.Weight = float64(1 + number%2) }, byPosition), report.Look, "the weights of 40 pages"[4:]},
	} {
		t.Run(name, func(t *testing.T) {
			r := built(t, c.pages, Config{Queries: 2, Resamples: 10})
			if !said(r, c.level, c.want) {
				t.Errorf("found %+v, expected %s %q", r.Findings, c.level, c.want)
			}
			written(t, r)
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
		})
	}
}

// Claim: the same log gives the same bytes on any number of cores.
func TestSameBytes(t *testing.T) {
	pages := pagesOf(3000, exchanged, byPosition)
	var texts []string
	for _, workers := range []int{1, 2, 4} {
		c := Config{Queries: 3, Resamples: 50}
		c.Fit.Workers = workers
		r := built(t, pages, c)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, written(t, r)+string(text))
	}
	if texts[0] != texts[1] || texts[0] != texts[2] {
		t.Error("the number of cores changes the page")
	}
}

// Claim: a page beyond its size has fewer queries and says so.
func TestSizeLimit(t *testing.T) {
	pages := pagesOf(1000, nil, byPosition)
	whole := written(t, built(t, pages, Config{Queries: 6}))
	small := written(t, built(t, pages, Config{Queries: 6, MaxBytes: len(whole) - 1}))
	if len(small) >= len(whole) || !strings.Contains(small, "3 queries with fewer pages are left out") || strings.Contains(whole, "left out, so that") {
		t.Errorf("%d bytes of %d", len(small), len(whole))
	}
}

// Claim: numbers have as many digits as asked for, one kind of minus sign, and no decimals if they are whole.
func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{1: "1", 0: "0", 0.5: "0.500", 0.0412345: "0.0412", 12.345: "12.3", 1234.5: "1.23e+03", -0.25: "−0.250", 1.5e-7: "1.50e−07", 0.99999: "1.00", 13561: "13561"} {
		if got := brief(v); got != want {
			t.Errorf("%v is written %s, expected %s", v, got, want)
		}
	}
}

func pageFile(t *testing.T, r *Report) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(written(t, r)), 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + file
}
