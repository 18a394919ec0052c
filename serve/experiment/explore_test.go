package experiment

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/serve/rankjson"
)

// rankedBy is a ranking of documents 0, 1, … with the given scores, which descend.
func rankedBy(scores ...float64) []rankjson.Ranked {
	var r []rankjson.Ranked
	for doc, s := range scores {
		r = append(r, rankjson.Ranked{Doc: doc, Score: s})
	}
	return r
}

// digits is a ranking as text: a digit for each document.
func digits(docs []int) string {
	var b strings.Builder
	for _, doc := range docs {
		b.WriteString(strconv.Itoa(doc))
	}
	return b.String()
}

// order is the documents of a ranking as text.
func order(r []rankjson.Ranked) string {
	var b strings.Builder
	for _, d := range r {
		b.WriteString(strconv.Itoa(d.Doc))
	}
	return b.String()
}

// everyOrder calls do with every order of the documents 0 to n−1.
func everyOrder(n int, do func(order []int)) {
	var extend func(prefix []int)
	extend = func(prefix []int) {
		if len(prefix) == n {
			do(prefix)
			return
		}
		for doc := range n {
			if !slices.Contains(prefix, doc) {
				extend(append(slices.Clone(prefix), doc))
			}
		}
	}
	extend(nil)
}

// laws are the probabilities of the first shown documents of a ranking with these scores, by the
// words of each method, from enumeration.
func laws(e Exploration, scores []float64, shown int) map[string]float64 {
	all := map[string]float64{}
	initial := order(rankedBy(scores...))
	exchanged := func(text string, a, b int) string { // ranks from 1
		c := []byte(text)
		c[a-1], c[b-1] = c[b-1], c[a-1]
		return string(c)
	}
	switch e.Method {
	case Swap:
		for rank := 2; rank <= shown; rank++ {
			p := 1 / float64(shown-1)
			all[initial[:shown]] += p / 2
			all[exchanged(initial, 1, rank)[:shown]] += p / 2
		}
		if shown < 2 {
			all[initial[:shown]] = 1
		}
	case Pairs:
		for first := 1; first <= 2; first++ {
			now := map[string]float64{initial[:shown]: 0.5}
			for a := first; a+1 <= shown; a += 2 {
				next := map[string]float64{}
				for text, p := range now {
					next[text] += p / 2
					next[exchanged(text, a, a+1)] += p / 2
				}
				now = next
			}
			for text, p := range now {
				all[text] += p
			}
		}
	case Top:
		n := min(e.Depth, shown)
		everyOrder(n, func(o []int) {
			p := 1.0
			for k := range n {
				p /= float64(k + 1)
			}
			all[digits(o)+initial[n:shown]] += p
		})
	case Noise:
		everyOrder(len(scores), func(o []int) {
			p := 1.0
			for k, doc := range o {
				sum := 0.0
				for _, other := range o[k:] {
					sum += math.Exp(scores[other] / e.Temperature)
				}
				p *= math.Exp(scores[doc]/e.Temperature) / sum
			}
			all[digits(o[:shown])] += p
		})
	}
	return all
}

// Claim: each exploration shows each ranking with the probability of its definition, and the
// propensity of a noisy ranking is that probability.
func TestExplorationsAreExact(t *testing.T) {
	const n = 40_000
	scores := []float64{2, 1.5, 1.5, 0.25, -1}
	for _, text := range []string{"swap", "pairs", "top=3", "top=9", "noise=0.5", "noise=2"} {
		e, err := ParseExploration(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, shown := range []int{1, 2, 3, 4, 5} {
			want, got := laws(e, scores, shown), map[string]int{}
			for i := range n {
				ranking := rankedBy(scores...)
				d := e.Apply(ranking, shown, rankjson.Page(i+1))
				seen := order(ranking[:shown])
				got[seen]++
				if p := d.Propensity; e.Method == Noise && math.Abs(p-want[seen]) > 1e-12*want[seen] {
					t.Fatalf("%s of %d: %s has the propensity %v, want %v", text, shown, seen, p, want[seen])
				}
			}
			var counts []int
			var expected []float64
			sum := 0.0
			for key, p := range want {
				sum += p
				counts, expected = append(counts, got[key]), append(expected, n*p)
				delete(got, key)
			}
			if len(got) > 0 || math.Abs(sum-1) > 1e-12 {
				t.Errorf("%s of %d: impossible rankings %v, or a law with the sum %v", text, shown, got, sum)
			}
			if len(counts) > 1 {
				if p := chiSquare(counts, expected); p < 0.001 {
					t.Errorf("%s of %d: counts %v, expected %v, p %v", text, shown, counts, expected, p)
				}
			}
		}
	}
}

// Claim: what a draw says undoes the change, so that the model's ranking is known from the line.
func TestDrawsTellTheChange(t *testing.T) {
	scores := []float64{6, 5, 4, 3, 2, 1}
	changed := map[string]int{}
	for i := range 400 {
		for _, method := range []string{Swap, Pairs} {
			ranking := rankedBy(scores...)
			e := Exploration{Method: method, Share: 1}
			d := e.Apply(ranking, 5, rankjson.Page(i+1))
			if order(ranking) != "012345" {
				changed[method]++
			}
			if d.Swap {
				a, b := d.Swapped[0]-1, d.Swapped[1]-1
				ranking[a], ranking[b] = ranking[b], ranking[a]
			}
			for _, upper := range d.Exchanged {
				if (upper-d.Pairs)%2 != 0 || upper >= 5 {
					t.Fatalf("%+v exchanges what is no pair", d)
				}
				ranking[upper-1], ranking[upper] = ranking[upper], ranking[upper-1]
			}
			if order(ranking) != "012345" {
				t.Fatalf("%+v leaves %s", d, order(ranking))
			}
		}
	}
	if changed[Swap] < 150 || changed[Pairs] < 250 {
		t.Errorf("changed %v of 400 rankings", changed)
	}
}

// Claim: a page's draw is always the same, and draws of different pages are independent: of pages
// with neighbouring ids, too.
func TestDrawsAreOfThePage(t *testing.T) {
	e := Exploration{Method: Noise, Temperature: 1, Share: 1}
	draw := func(page rankjson.Page) string {
		r := rankedBy(2, 1, 0.5, 0)
		e.Apply(r, 4, page)
		return order(r)
	}
	var joint [4]int
	const n = 20_000
	swap := Exploration{Method: Swap, Share: 1}
	side := func(page rankjson.Page) int {
		if swap.Apply(rankedBy(1, 0), 2, page).Swap {
			return 1
		}
		return 0
	}
	for i := rankjson.Page(1); i <= n; i++ {
		joint[2*side(i)+side(i+1)]++
		if again := draw(i); i < 100 && again != draw(i) {
			t.Fatal("the same page twice differs")
		}
	}
	if p := chiSquare(joint[:], []float64{n / 4, n / 4, n / 4, n / 4}); p < 0.001 {
		t.Errorf("neighbouring pages are exchanged as %v, p %v", joint, p)
	}
	// The draws of a page must not change: logs are read after programs are replaced.
	for page, want := range map[rankjson.Page]string{1: "0213", 2: "0312", 0x9f86d081884c7d65: "0132"} {
		if got := draw(page); got != want {
			t.Errorf("the page %s shows %s, before %s", page, got, want)
		}
	}
}

// Claim: scores and temperatures at the ends of their range give a ranking of all documents, and a
// propensity in [0,1].
func TestNoiseOfExtremes(t *testing.T) {
	for _, temperature := range []float64{math.SmallestNonzeroFloat64, 1e-300, 1, 1e300} {
		for _, scores := range [][]float64{{math.MaxFloat64, 0, -math.MaxFloat64}, {1e-300, 0}, {0, 0, 0}, {}} {
			e := Exploration{Method: Noise, Temperature: temperature, Share: 1}
			for page := range rankjson.Page(50) {
				ranking := rankedBy(scores...)
				d := e.Apply(ranking, len(scores), page+1)
				if docs := []byte(order(ranking)); string(slices.Sorted(slices.Values(docs))) != "012"[:len(scores)] {
					t.Fatalf("scores %v: ranks %s", scores, docs)
				}
				if p := d.Propensity; p < 0 || p > 1 {
					t.Fatalf("scores %v, temperature %v: propensity %v", scores, temperature, p)
				}
			}
		}
	}
	many := make([]float64, 400)
	e := Exploration{Method: Noise, Temperature: 1, Share: 1}
	d := e.Apply(rankedBy(many...), len(many), 1)
	if line := string(d.append(nil)); line != `"noise":1,` {
		t.Errorf("a probability of 1/400! is written as %s", line)
	}
}

// Claim: an exploration's text reads back, and a wrong one is refused with what was expected.
func TestParseExploration(t *testing.T) {
	for _, text := range []string{"swap", "pairs:share=0.01", "top=5:share=0.25", "noise=0.5", "noise=1e-09:share=0.5"} {
		if e, err := ParseExploration(text); err != nil || e.String() != text {
			t.Errorf("%s is read as %s, %v", text, e, err)
		}
	}
	if e, err := ParseExploration("share=0.5:swap"); err != nil || e != (Exploration{Method: Swap, Share: 0.5}) {
		t.Errorf("the share first gives %+v, %v", e, err)
	}
	for text, want := range map[string]string{
		"": "expected swap, pairs, top=N or noise=T", "share=0.5": "found no exploration", "swop": `"swop"`, "swap=1": `"swap=1"`, "top": `"top"`, "noise": `"noise"`,
		"top=1": "whole number from 2 on", "top=x": "whole number", "top=99999999999999999999": "whole number", "noise=0": "above 0", "noise=-1": "above 0", "noise=NaN": "above 0", "noise=Inf": "above 0",
		"swap:pairs": "after swap", "swap:share=0": "the share", "swap:share=1.5": "the share", "swap:share=NaN": "the share", "swap:share=1:share=1": "after swap", "swap:": "after swap",
	} {
		if e, err := ParseExploration(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is read as %+v, %v; want %q", text, e, err, want)
		}
	}
}

// Claim: a share of ids is within a share, by the documented hash, and a larger share has all ids of
// a smaller one.
func TestWithin(t *testing.T) {
	const n = 50_000
	counts := [2]int{}
	for i := range n {
		id := []byte("user-" + strconv.Itoa(i))
		few, more := Within("s", id, 0.01), Within("s", id, 0.3)
		if few && !more {
			t.Fatalf("%s is in 1 %% and not in 30 %%", id)
		}
		if few {
			counts[0]++
		}
		if more {
			counts[1]++
		}
		if Within("s", id, 0) || !Within("s", id, 1) {
			t.Fatalf("%s is in no share, or not in the whole", id)
		}
	}
	for k, share := range []float64{0.01, 0.3} {
		if p := chiSquare([]int{counts[k], n - counts[k]}, []float64{n * share, n * (1 - share)}); p < 0.001 {
			t.Errorf("%d of %d ids are in %v, p %v", counts[k], n, share, p)
		}
	}
	// Printed by: python3 -c "import hashlib; print([i for i in range(40) if (int.from_bytes(hashlib.sha256(b'exp\0u%d'%i).digest()[:8],'big')>>11)/2**53 < 0.2])"
	var within []int
	for i := range 40 {
		if Within("exp", []byte("u"+strconv.Itoa(i)), 0.2) {
			within = append(within, i)
		}
	}
	if !slices.Equal(within, pythonsShare) {
		t.Errorf("within a fifth are %v, want %v", within, pythonsShare)
	}
}

// Claim: a line of each kind is JSON with the documented members, and reads back as what was written.
func TestLines(t *testing.T) {
	r := &rankjson.Request{User: []byte("u"), IDs: [][]byte{[]byte("a"), []byte("b"), []byte("c")}, Queries: []rankjson.Query{{ID: []byte("q"), Docs: 3}}}
	base := Line{
		Time: time.Unix(0, 0), Page: 0x0123456789abcdef, Experiment: "e", Kind: Explore, Request: r,
		Models: []rankjson.Version{{Model: "m", Version: "1"}}, Ranking: []rankjson.Ranked{{Doc: 1, Score: 0.5}, {Doc: 0, Score: 1}},
	}
	const head, tail = `{"time":"1970-01-01T00:00:00Z","page":"0123456789abcdef","experiment":"e","kind":"explore","user":"u","query":"q","models":[{"model":"m","version":"1"}],`, `"ranking":[{"id":"b","score":0.5,"team":0},{"id":"a","score":1,"team":0}]`
	for _, c := range []struct {
		set  func(l *Line)
		want string
	}{
		{func(l *Line) { l.Draw = &Draw{Swapped: []int{1, 2}, Swap: true} }, head + `"swapped":[1,2],"swap":true,` + tail + `}`},
		{func(l *Line) { l.Draw = &Draw{Swapped: []int{1, 2}} }, head + `"swapped":[1,2],"swap":false,` + tail + `}`},
		{func(l *Line) { l.Draw = &Draw{} }, head + tail + `}`},
		{func(l *Line) { l.Draw = &Draw{Pairs: 1, Exchanged: []int{1, 3}} }, head + `"pairs":1,"exchanged":[1,3],` + tail + `}`},
		{func(l *Line) { l.Draw = &Draw{Pairs: 2, Exchanged: []int{}} }, head + `"pairs":2,"exchanged":[],` + tail + `}`},
		{func(l *Line) { l.Draw = &Draw{Shuffled: 2} }, head + `"shuffled":2,` + tail + `}`},
		{func(l *Line) { l.Draw = &Draw{Noise: 0.5, Propensity: 0.25} }, head + `"noise":0.5,"propensity":0.25,` + tail + `}`},
		{func(l *Line) { l.Share, l.Kind = []int{9, 1}, Split }, strings.Replace(head, Explore, Split, 1) + `"share":[9,1],` + tail + `}`},
		{func(l *Line) { l.Experiment, l.Kind, l.Candidates = "", Page, []int{0, 2} }, strings.Replace(head, `"experiment":"e","kind":"explore"`, `"kind":"page"`, 1) + tail + `,"candidates":["a","c"]}`},
	} {
		l := base
		c.set(&l)
		got := string(l.Append(nil))
		if got != c.want+"\n" {
			t.Errorf("the line is\n%swant\n%s", got, c.want)
		}
		var back Record
		if err := json.Unmarshal([]byte(got), &back); err != nil {
			t.Fatal(err)
		}
		if l.Draw != nil && fmt.Sprint(back.Draw) != fmt.Sprint(*l.Draw) || !slices.Equal(back.Share, l.Share) || len(back.Candidates) != len(l.Candidates) || back.Page != "0123456789abcdef" || back.Kind != l.Kind {
			t.Errorf("%s reads back as %+v", got, back)
		}
	}
}

var pythonsShare = []int{1, 4, 22, 28, 33}
