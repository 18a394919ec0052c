package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
	"github.com/listwise/listwise/tune/ensemble"
)

// nodes calls fn for every element.
func nodes(n *html.Node, fn func(*html.Node)) {
	if n.Type == html.ElementNode {
		fn(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		nodes(c, fn)
	}
}

func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func text(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(n)
	return b.String()
}

// Claim: one query is not said to be several.
func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 queries", 1: "1 query", 2: "2 queries"} {
		if got := Count(n, "query", "queries"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// Claim: the page is one well-formed document that refers to nothing outside it, for any
// names of systems and queries; ids are unique and references to them resolve; tables have
// captions and scoped headings, sections a heading.
func TestPageIsSelfContained(t *testing.T) {
	_, page := small(t).build(t)
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	ids, references, count := make(map[string]int), []string{}, make(map[string]int)
	nodes(doc, func(n *html.Node) {
		count[n.Data]++
		for _, a := range n.Attr {
			switch a.Key {
			case "id":
				ids[a.Val]++
			case "aria-labelledby":
				references = append(references, a.Val)
			case "data-needs":
				references = append(references, a.Val)
			case "href", "src", "srcset", "action", "data":
				if target, ok := strings.CutPrefix(a.Val, "#"); ok {
					references = append(references, target)
				} else if a.Val != "data:," {
					t.Errorf("<%s> refers to %q", n.Data, a.Val)
				}
			}
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
				t.Errorf("<%s> has the attribute %s", n.Data, a.Key)
			}
		}
		switch n.Data {
		case "table":
			if c := n.FirstChild.NextSibling; c == nil || c.Data != "caption" || text(c) == "" {
				t.Error("a table has no caption")
			}
		case "th":
			if _, ok := attribute(n, "scope"); !ok {
				t.Errorf("the heading %q has no scope", text(n))
			}
		}
	})
	for id, n := range ids {
		if n > 1 {
			t.Errorf("the id %s stands %d times", id, n)
		}
	}
	for _, r := range references {
		if ids[r] == 0 {
			t.Errorf("nothing has the id %q, which is referred to", r)
		}
	}
	for name, want := range map[string]int{"h1": 1, "main": 1, "title": 1, "script": 2, "style": 1, "img": 0, "iframe": 0, "section": 7, "h2": 7} {
		if count[name] != want {
			t.Errorf("%d elements <%s>, want %d", count[name], name, want)
		}
	}
	outside := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9]|@import|url\(`)
	allowed := strings.NewReplacer("http://www.w3.org/2000/svg", "") // a name, not an address
	if hit := outside.FindString(allowed.Replace(style() + script())); hit != "" && !strings.HasPrefix(hit, "// ") {
		t.Errorf("style or script has %q", hit)
	}
	if bytes.Contains(page, []byte("ZgotmplZ")) {
		t.Error("the template did not take some content")
	}
}

// Claim: the policy in the page allows its own script and style alone, by digests
// of just what stands in it.
func TestPolicyFits(t *testing.T) {
	_, page := small(t).build(t)
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var policy string
	found := 0
	nodes(doc, func(n *html.Node) {
		if v, _ := attribute(n, "http-equiv"); v == "Content-Security-Policy" {
			policy, _ = attribute(n, "content")
		}
		_, isData := attribute(n, "type")
		if n.Data == "style" || n.Data == "script" && !isData {
			found++
			if want := n.Data + "-src '" + digest(text(n)) + "'"; !strings.Contains(policy, want) {
				t.Errorf("the policy %q lacks %s", policy, want)
			}
		}
	})
	if found != 2 || !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("%d scripts and styles under the policy %q", found, policy)
	}
}

// Claim: the same input gives the same bytes.
func TestPageIsDeterministic(t *testing.T) {
	_, a := small(t).build(t)
	_, b := small(t).build(t)
	if !bytes.Equal(a, b) {
		t.Error("two pages of one input differ")
	}
}

// tenMethods is a five-fold run of ten linear methods: random weights, alike
// from 0, not at all, to 1.
func tenMethods(t testing.TB, queries, docs, features int, likeness float64) *scenario {
	d := generated(t, queries, docs, features, 9)
	rng := rand.New(rand.NewPCG(3, 4))
	s := &scenario{config: Config{Title: "Ten methods", Measures: mustMeasures(t, "map,ndcg@1,ndcg@5,ndcg@10", "letor3"), Permutations: 100, Resamples: 100}}
	common := make([]float64, d.Features)
	for f := range common {
		common[f] = rng.NormFloat64()
	}
	for k := range 5 {
		var part []int
		for i := k; i < len(d.Queries); i += 5 {
			part = append(part, i)
		}
		div := ensemble.Division{Name: fmt.Sprintf("Fold%d", k+1), Test: d.Subset(part)}
		for i := range 10 {
			params := make([]float64, d.Features)
			for f := range params {
				params[f] = likeness*common[f] + (1-likeness)*rng.NormFloat64()
			}
			m := &model.Model{Method: "mle", Scorer: scorer.Linear{Features: d.Features}, Params: params}
			div.Systems = append(div.Systems, system(t, fmt.Sprintf("method%d", i), m, div.Test))
		}
		s.divisions = append(s.divisions, div)
	}
	return s
}

// Claim: a five-fold run of ten methods on as many queries, documents and features as OHSUMED has
// takes less than the page's size with all rankings and contributions, even if the methods are as
// unlike each other as can be.
func TestTenMethodsFit(t *testing.T) {
	for _, likeness := range []float64{0, 0.5} {
		r, page := tenMethods(t, 106, 152, 45, likeness).build(t)
		explained := 0
		for _, d := range r.pieces {
			if d.Explained != nil {
				explained++
			}
		}
		t.Logf("likeness %v: %d bytes; %d of %d queries, %d with contributions", likeness, len(page), len(r.pieces), r.view.Queries, explained)
		if len(page) > DefaultMaxBytes || len(r.pieces) != 106 || explained != 106 || r.view.Needed != "" {
			t.Errorf("likeness %v: %d bytes with %d queries and %d explained, want at most %d with all 106", likeness, len(page), len(r.pieces), explained, DefaultMaxBytes)
		}
		if s := r.Size(); s.Bytes != len(page) || s.Queries != 106 || s.Explorer != 106 {
			t.Errorf("the size is said to be %+v", s)
		}
	}
}

// Claim: a page keeps within its size; the queries it leaves out differ least.
func TestPageKeepsItsSize(t *testing.T) {
	s := tenMethods(t, 60, 40, 10, 0)
	for _, most := range []int{120_000, 180_000, 250_000} {
		s.config.MaxBytes = most
		r, page := s.build(t)
		if len(page) > most {
			t.Errorf("%d bytes, want at most %d", len(page), most)
		}
		in, err := newInput(&s.config, s.divisions)
		if err != nil {
			t.Fatal(err)
		}
		if err := (&Report{}).measureAll(in); err != nil {
			t.Fatal(err)
		}
		order := in.byDifference()
		if len(r.pieces) == 0 {
			t.Fatalf("no queries in %d bytes", most)
		}
		for i, q := range order {
			kept := slices.ContainsFunc(r.pieces, func(d details) bool { return d.Query == q })
			if kept != (i < len(r.pieces)) {
				t.Errorf("%d bytes: query %d, number %d by difference, is kept: %v", most, q, i, kept)
			}
		}
	}
}

// Claim: the summary's means, marks and p values are those of measure and stats; a
// system that is surely worse is marked, one that is alike is not.
func TestSummaryMarks(t *testing.T) {
	d := generated(t, 40, 20, 4, 2)
	ideal, reverse, nearly := make([]float64, d.Docs()), make([]float64, d.Docs()), make([]float64, d.Docs())
	for i, g := range d.Grades() {
		ideal[i], reverse[i], nearly[i] = g, -g, g
	}
	nearly[0], nearly[1] = nearly[1], nearly[0]
	s := &scenario{
		config:    Config{Title: "t", Measures: mustMeasures(t, "map", "letor3"), Baseline: 1, Permutations: 2000, Resamples: 200},
		divisions: []ensemble.Division{{Test: d, Systems: []ensemble.System{{Name: "reverse", Test: reverse}, {Name: "ideal", Test: ideal}, {Name: "nearly", Test: nearly}}}},
	}
	r, _ := s.build(t)
	cells := make([]cell, 3)
	for i, row := range r.view.Rows {
		cells[i] = row.Cells[0]
		if row.Baseline != (i == 1) {
			t.Errorf("row %d is the baseline: %v", i, row.Baseline)
		}
	}
	if cells[0].Mark != "worse" || cells[0].P != "<0.001" || cells[0].Best {
		t.Errorf("the reverse ranking is %+v", cells[0])
	}
	if cells[1].Mark != "" || cells[1].Mean != "1.0000" || !cells[1].Best || cells[1].P != "" {
		t.Errorf("the ideal ranking is %+v", cells[1])
	}
	if cells[2].Mark != "" {
		t.Errorf("the nearly ideal ranking is %+v", cells[2])
	}
	if f := r.data.Forest[0]; f.System != 0 || f.Difference >= 0 || *f.Low > f.Difference || *f.High < f.Difference || f.Losses != 40 || f.Wins != 0 {
		t.Errorf("reverse minus ideal is %+v", f)
	}
}

// Claim: what the page says of a query's rankings is how the measures took them:
// their ranks are a stable order by score, under every policy of ties, of a run by its places.
func TestRankingsAreTheMeasures(t *testing.T) {
	d := generated(t, 12, 30, 3, 4)
	rng := rand.New(rand.NewPCG(7, 8))
	scores := make([]float64, d.Docs())
	for i := range scores {
		scores[i] = float64(rng.IntN(5))
	}
	m := mustMeasures(t, "map", "letor3")
	places := make([]uint32, d.Docs())
	for i := range places {
		places[i] = uint32(len(places) - i)
	}
	for _, c := range []struct {
		ties   measure.TiePolicy
		places []uint32
	}{{measure.TiesInput, nil}, {measure.TiesInput, places}, {measure.TiesPessimistic, nil}, {measure.TiesPessimistic, places}, {measure.TiesOptimistic, nil}} {
		division := ensemble.Division{Test: d, Systems: []ensemble.System{{Name: "s", Test: scores, Places: c.places}}}
		in, err := newInput(&Config{Measures: m, Ties: c.ties}, []ensemble.Division{division})
		if err != nil {
			t.Fatal(err)
		}
		result, err := division.Evaluate(0, m, c.ties)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range in.queries {
			grades := make([]float64, 0, 30)
			for _, doc := range in.order(0, q) {
				grades = append(grades, in.at(q).Grades[doc])
			}
			want := result.PerQuery(m[0])[i]
			if got, _ := m[0].Value(grades); got != want {
				t.Errorf("%v: MAP of the order is %v, want %v", c.ties, got, want)
			}
		}
	}
}

// Claim: one system, one query, no document with a grade and features that are alike, each
// by itself and all at once, make a page with all queries, whose numbers are JSON.
func TestLittleMakesAPage(t *testing.T) {
	m := &model.Model{Method: "mle", Scorer: scorer.Linear{Features: 1}, Params: []float64{0}}
	for name, c := range map[string]struct {
		queries, systems int
		grades           []float64
		x                []float32
	}{
		"one system":     {3, 1, []float64{0, 1}, []float32{1, 2}},
		"one query":      {1, 2, []float64{0, 1}, []float32{1, 2}},
		"no grade":       {3, 2, []float64{0, 0}, []float32{1, 2}},
		"alike features": {3, 2, []float64{0, 1}, []float32{1, 1}},
		"all of these":   {1, 1, []float64{0, 0}, []float32{1, 1}},
	} {
		var b dataset.Builder
		for i := range c.queries {
			if err := b.Add(strconv.Itoa(i), c.grades, c.x, nil); err != nil {
				t.Fatal(err)
			}
		}
		d := b.Dataset()
		extreme := make([]float64, d.Docs())
		extreme[0], extreme[1] = math.MaxFloat64, -math.MaxFloat64
		systems := []ensemble.System{system(t, "m", m, d), {Name: "extreme", Test: extreme}}
		for _, convention := range []string{"letor3", "letor3-skip", "mslr"} {
			s := &scenario{
				config:    Config{Measures: mustMeasures(t, "ndcg@10,map", convention), Permutations: 1, Resamples: 1},
				divisions: []ensemble.Division{{Test: d, Systems: systems[:c.systems]}},
			}
			r, page := s.build(t)
			if len(r.pieces) != c.queries || r.pieces[0].Docs[1] != "#2" {
				t.Errorf("%s, %s: details are %+v", name, convention, r.pieces)
			}
			text, err := r.json()
			if err != nil || !json.Valid(text) || !bytes.Contains(page, text) {
				t.Errorf("%s, %s: %v, %s in\n%s", name, convention, err, text, page)
			}
			if bytes.Contains(text, []byte(":null")) {
				t.Errorf("%s, %s: found null, which the page's script takes for a list, in %s", name, convention, text)
			}
		}
	}
}

// Claim: arguments that do not fit are errors.
func TestBuildErrors(t *testing.T) {
	d := generated(t, 3, 10, 2, 1)
	one := ensemble.System{Name: "s", Test: make([]float64, d.Docs())}
	m := mustMeasures(t, "map", "letor3")
	for _, c := range []struct {
		config    Config
		divisions []ensemble.Division
		want      string
	}{
		{Config{Measures: m}, nil, "found no systems"},
		{Config{Measures: m}, []ensemble.Division{{Test: d}}, "found no systems"},
		{Config{}, []ensemble.Division{{Test: d, Systems: []ensemble.System{one}}}, "found no measures"},
		{Config{Measures: m, Baseline: 1}, []ensemble.Division{{Test: d, Systems: []ensemble.System{one}}}, "baseline 1 of 1"},
		{Config{Measures: m}, []ensemble.Division{{Test: d, Systems: []ensemble.System{one}}, {Name: "Fold2", Test: d}}, "Fold2 has 0 systems"},
		{Config{Measures: m, MaxBytes: 1000}, []ensemble.Division{{Test: d, Systems: []ensemble.System{one}}}, "more than its limit of 1000"},
		{Config{Measures: m}, []ensemble.Division{{Test: &dataset.Dataset{}, Systems: []ensemble.System{{Name: "s"}}}}, "found no queries"},
		{Config{Measures: m}, []ensemble.Division{{Test: d, Systems: []ensemble.System{{Name: "short", Test: []float64{1}}}}}, "short: "},
	} {
		if _, err := Build(context.Background(), c.config, c.divisions, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v, want one with %q", err, c.want)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Build(cancelled, Config{Measures: m}, []ensemble.Division{{Test: d, Systems: []ensemble.System{one}}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, the error is %v", err)
	}
}
