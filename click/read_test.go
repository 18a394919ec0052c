package click

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
)

// kept returns a copy of a page that stays valid.
func kept(p *Page) *Page {
	c := *p
	c.Docs, c.Slots, c.Clicks, c.Order, c.Team, c.Propensities = copied(p.Docs), copied(p.Slots), copied(p.Clicks), copied(p.Order), copied(p.Team), copied(p.Propensities)
	c.Softmax, c.Exchanged = copied(p.Softmax), copied(p.Exchanged)
	c.Balanced = [2][]string{copied(p.Balanced[0]), copied(p.Balanced[1])}
	c.Candidates, c.Orders = copied(p.Candidates), copied(p.Orders)
	for i := range c.Orders {
		c.Orders[i].Docs = copied(c.Orders[i].Docs)
	}
	return &c
}

func copied[T any](list []T) []T {
	if list == nil {
		return nil
	}
	return append([]T{}, list...)
}

// readAll returns all pages of a text, which is standard input.
func readAll(text string, o Options) (pages []*Page, err error) {
	o.Stdin = strings.NewReader(text)
	err = Read(context.Background(), "-", o, func(p *Page) error {
		pages = append(pages, kept(p))
		return nil
	})
	return pages, err
}

// rich returns pages with all members, each in some pages.
func rich(n int) []*Page {
	rng := rand.New(rand.NewPCG(3, 4))
	maybe := func() bool { return rng.IntN(3) == 0 }
	names := []string{"a", "b \"x\"", "c,d", "e\tf", "é\\", "1", " g", "h\n", "i\u2028", "#", "null", "true"}
	var pages []*Page
	for i := range n {
		p := &Page{Query: names[rng.IntN(len(names))], Weight: 1}
		for _, k := range rng.Perm(len(names))[:1+rng.IntN(6)] {
			p.Docs = append(p.Docs, names[k])
		}
		docs := len(p.Docs)
		if maybe() {
			p.ID = fmt.Sprint("p", i)
		}
		if maybe() {
			p.User, p.Time = fmt.Sprint("u", rng.IntN(9)), time.Unix(int64(rng.IntN(2e9)), int64(rng.IntN(1e9))).UTC()
		}
		if maybe() {
			p.Experiment, p.Arm, p.Version = "ab", "web@1", "0f"
		}
		if !maybe() {
			p.Clicks = make([]int, docs)
			p.Order = []int{}
			for r := range docs {
				if p.Clicks[r] = rng.IntN(3); p.Clicks[r] > 0 {
					p.Order = append([]int{r}, p.Order...)
				}
			}
			if maybe() {
				p.Order = nil
			}
		}
		if maybe() {
			for r := range docs {
				p.Slots, p.Team, p.Propensities = append(p.Slots, fmt.Sprint("s", r)), append(p.Team, rng.IntN(2)), append(p.Propensities, 1-rng.Float64())
			}
		}
		if maybe() {
			p.Propensity, p.Weight = 1-rng.Float64(), rng.Float64()
		}
		if maybe() && docs > 1 {
			p.Swapped, p.Swap = [2]int{0, 1 + rng.IntN(docs-1)}, maybe()
		}
		if maybe() && docs > 2 {
			p.Pairs, p.Exchanged = 2, []int{1}
			if maybe() {
				p.Pairs, p.Exchanged = 1, []int{}
			}
		}
		if maybe() {
			p.Balanced = [2][]string{copied(p.Docs), {"x"}}
			for range docs {
				p.Softmax = append(p.Softmax, [2]float64{rng.Float64(), 1})
			}
		}
		if maybe() {
			p.Shuffled = rng.IntN(docs + 1)
		}
		if maybe() {
			p.Candidates = append(copied(p.Docs), "z")
			p.Orders = []Order{{p.Docs, 0.25}, {[]string{"z", "y"}, 0.75}}
		}
		pages = append(pages, p)
	}
	return pages
}

func lines(pages []*Page) string {
	var b []byte
	for _, p := range pages {
		b = AppendJSON(b, p)
	}
	return string(b)
}

// Claim: what is written in any format reads back as the same pages, from a file and from a stream.
func TestRoundTrips(t *testing.T) {
	pages := rich(2000)
	dir := t.TempDir()
	for _, name := range []string{"p.jsonl", "p.jsonl.gz", "p.jsonl.zst", "p.csv", "p.csv.gz", "p.tsv", "p.parquet", "no-ending"} {
		path := filepath.Join(dir, name)
		err := Write(path, func(add func(*Page) error) error {
			for _, p := range pages {
				if err := add(p); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(name, err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tally := new(Tally)
		streamed, err := readAll(string(text), Options{Tally: tally})
		if err != nil {
			t.Fatal(name, err)
		}
		var got []*Page
		if err = Read(context.Background(), path, Options{}, func(p *Page) error {
			got = append(got, kept(p))
			return nil
		}); err != nil {
			t.Fatal(name, err)
		}
		if len(got) != len(pages) || tally.Unknown != nil || tally.Pages != len(pages) {
			t.Fatalf("%s: found %d pages, a tally of %d and unknown members %q, expected %d", name, len(got), tally.Pages, tally.Unknown, len(pages))
		}
		for i, p := range pages {
			want := *p
			want.Line = got[i].Line
			if strings.HasPrefix(name, "p.jsonl") && want.Line != i+1 {
				t.Errorf("%s: page %d is in line %d", name, i, want.Line)
			}
			if !reflect.DeepEqual(got[i], &want) {
				t.Fatalf("%s: page %d: found\n%+v, expected\n%+v", name, i, got[i], &want)
			}
			if !reflect.DeepEqual(streamed[i], &want) {
				t.Fatalf("%s: page %d of a stream: found\n%+v, expected\n%+v", name, i, streamed[i], &want)
			}
		}
	}
	if err := Write(filepath.Join(dir, "p.parquet.gz"), nil); err == nil {
		t.Error("a Parquet file was compressed as a whole")
	}
}

// Claim: every form that the documentation names is read.
func TestForms(t *testing.T) {
	for text, want := range map[string]Page{
		`{"query":12,"docs":[1,"2",-3],"clicks":[0,1,2.0],"slots":["ad",2,1.5],"time":1,"page":7}`: {
			ID: "7", Query: "12", Docs: []string{"1", "2", "-3"}, Clicks: []int{0, 1, 2}, Slots: []string{"ad", "2", "1.5"}, Time: time.Unix(1, 0).UTC(), Weight: 1,
		},
		`{"clicked":["c","a","c"],"docs":["a","b","c"],"query":"q","time":"2026-11-23T02:37:43.5+01:00"}`: {
			Query: "q", Docs: []string{"a", "b", "c"}, Clicks: []int{1, 0, 2}, Order: []int{2, 0, 2}, Time: time.Date(2026, 11, 23, 1, 37, 43, 5e8, time.UTC), Weight: 1,
		},
		`{"query":"q","docs":["a","b"],"user":null,"clicks":null,"swapped":[2,1],"swap":true,"time":1e3}`: {
			Query: "q", Docs: []string{"a", "b"}, Swapped: [2]int{1, 0}, Swap: true, Time: time.Unix(1000, 0).UTC(), Weight: 1,
		},
		"rank,query,doc,clicked,time\n1,q,a,1,1.25\n2,q,b,0,1.25\n": {
			Query: "q", Docs: []string{"a", "b"}, Clicks: []int{1, 0}, Time: time.Unix(1, 25e7).UTC(), Weight: 1,
		},
		"\ufeffpage\tquery\tdocs\tclick\ttime\r\np\tq\ta\t1.0\t2019-11-24 00:01:03.979311+00:00\r\np\tq\tb\t0\t2019-11-24 00:01:03.979311+00:00": {
			ID: "p", Query: "q", Docs: []string{"a", "b"}, Clicks: []int{1, 0}, Time: time.Date(2019, 11, 24, 0, 1, 3, 979311000, time.UTC), Weight: 1,
		},
	} {
		got, err := readAll(text, Options{})
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %v, found %d pages", text, err, len(got))
			continue
		}
		want.Line = got[0].Line
		if !reflect.DeepEqual(got[0], &want) {
			t.Errorf("%s: found\n%+v, expected\n%+v", text, got[0], &want)
		}
	}
}

// Claim: pages that break a rule are errors with their line, and nothing is repaired.
func TestBadPages(t *testing.T) {
	const good = `{"query":"q","docs":["a","b"],"clicks":[0,1]}` + "\n"
	with := func(more string) string { return `{"query":"q","docs":["a","b"],` + more + `}` }
	for _, c := range []struct{ line, want string }{
		{`{"docs":["a"]}`, "no query, expected its id"},
		{`{"query":"q"}`, "no documents, expected at least one"},
		{`{"query":"q","docs":[]}`, "no documents, expected at least one"},
		{`{"query":"q","docs":["a","a"]}`, `document "a" twice, expected each document once`},
		{`{"query":"q","docs":["a",""]}`, "a document without an id, expected an id of each"},
		{`{"query":"q","docs":["a",1.5]}`, `"1.5", expected an id, a string or a whole number`},
		{`{"query":["q"],"docs":["a"]}`, `"[", expected a value: a number, a string, true, false or null`},
		{`{"query":true,"docs":["a"]}`, `"true", expected an id, a string or a whole number`},
		{`{"query":"q","query":"q","docs":["a"]}`, "the member query a second time, expected it once"},
		{with(`"clicks":[1]`), "1 clicks, expected 2, one for each document"},
		{with(`"clicks":[]`), "0 clicks, expected 2, one for each document"},
		{with(`"clicks":[1,-1]`), `"-1" in clicks, expected a whole number of 0 or more`},
		{with(`"clicks":[1,0.5]`), `"0.5" in clicks, expected a whole number of 0 or more`},
		{with(`"clicks":[1,"1"]`), `"\"1\"" in clicks, expected a number`},
		{with(`"clicks":[true,false]`), `"true" in clicks, expected a number`},
		{with(`"clicks":[1,null]`), `"null" in clicks, expected a number`},
		{with(`"clicked":["c"]`), `a click on "c", expected clicks on documents of the page`},
		{with(`"clicked":["a"],"clicks":[1,0]`), "clicks and clicked, expected one of them"},
		{with(`"clicks":[1,0],"order":[2]`), "rank 2 in order, expected ranks with clicks"},
		{with(`"order":[3]`), "rank 3 in order, expected ranks from 1 to 2"},
		{with(`"slots":["1"]`), "1 slots, expected 2, one for each document"},
		{with(`"propensity":0`), "propensity 0, expected more: the log says that a ranking was shown that could not have been shown"},
		{with(`"propensity":1.01`), "propensity 1.01, expected a number above 0 and at most 1"},
		{with(`"propensity":NaN`), `"NaN" in propensity, expected a number`},
		{with(`"propensities":[1,0]`), `propensity of document "b" 0, expected more: the log says that a ranking was shown that could not have been shown`},
		{with(`"propensities":[1,-1]`), `propensity of document "b" -1, expected a number above 0 and at most 1`},
		{with(`"propensities":[1]`), "1 propensities, expected 2, one for each document"},
		{with(`"swapped":[1,2]`), "swapped without swap, expected swap, which says whether the ranks were exchanged"},
		{with(`"swapped":[1,3],"swap":true`), "swapped ranks 1 and 3, expected two different ranks from 1 to 2"},
		{with(`"swapped":[1],"swap":true`), "swapped ranks [1], expected two different ranks, counted from 1"},
		{with(`"swap":true`), "swap without swapped, expected swapped, the ranks that were exchanged"},
		{with(`"swap":1`), `"1" in swap, expected true or false`},
		{with(`"pairs":1`), "pairs without exchanged, expected exchanged, the upper ranks of the exchanged pairs, [] if none were"},
		{with(`"pairs":3,"exchanged":[]`), "pairs 3, expected 1 or 2, the upper rank of the first pair"},
		{with(`"pairs":2,"exchanged":[1]`), "exchanged rank 1 with pairs 2, expected upper ranks of pairs, each once"},
		{with(`"exchanged":[1]`), "exchanged rank 1 with pairs 0, expected upper ranks of pairs, each once"},
		{with(`"shuffled":3`), "3 shuffled documents, expected 0 to 2"},
		{with(`"candidates":["a"]`), `document "b", which is no candidate, expected all documents among the candidates`},
		{with(`"candidates":["a","b","a"]`), `candidate "a" twice, expected each document once`},
		{with(`"orders":[[["a"],0.5],[["b"],0.6]]`), "orders with probabilities of 1.1 in total, expected 1"},
		{with(`"orders":[[["a","b"],0.5],[["b","a"],0.4]]`), "orders with probabilities of 0.9 in total, expected 1"},
		{with(`"orders":[[["b","a"],1]]`), "orders without the ranking shown, expected it among them: the log says that a ranking was shown that could not have been shown"},
		{with(`"orders":[[["a"]]]`), "a ranking of orders without a probability, expected [[ids], probability]"},
		{with(`"orders":[[[],1]]`), "no documents in ranking 1 of orders, expected at least one"},
		{with(`"weight":-1`), "weight -1, expected a finite number of 0 or more"},
		{with(`"weight":1e999`), `"1e999" in weight, expected a number that float64 can hold`},
		{with(`"team":[0]`), "1 team, expected 2, one for each document"},
		{with(`"time":"yesterday"`), `the time "yesterday", expected one such as 2006-01-02T15:04:05Z, or Unix seconds`},
		{with(`"time":1e12`), `the time "1e12", expected seconds since 1970, below 1e11`},
		{with(`"user":"u"`) + " x", `"x" behind the page, expected the end of the line`},
		{`{"query":"q"`, `the end of the line behind a value, expected a comma or the end of a page, }`},
		{`[]`, `"[", expected a page as an object, {…}`},
	} {
		pages, err := readAll(good+good+c.line+"\n"+good, Options{})
		if want := "standard input:3: found " + c.want; err == nil || err.Error() != want {
			t.Errorf("%s: found\n%v, expected\n%s", c.line, err, want)
		}
		if s, ok := errors.AsType[*dataset.SyntaxError](err); !ok || s.Line != 3 || len(pages) != 2 {
			t.Errorf("%s: the error is %T after %d pages", c.line, err, len(pages))
		}
	}
}

// Claim: tables that break a rule are errors with their line.
func TestBadTables(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"x,y\n1,2\n", `1: found the columns "x, y", expected a column query`},
		{"query,page\nq,p\n", `1: found the columns "query, page", expected a column docs`},
		{"query,docs\nq,a\n", "1: found neither a column page nor a column rank, expected one of them, which tells where a page begins"},
		{"query,docs,doc,page\nq,a,a,p\n", "1: found the column docs a second time, expected it once"},
		{"page,query,docs\np,q,a\np,r,b\n", `3: found query "r" in row 2 of a page, expected "q", as in its first row`},
		{"page,query,docs\np,q,a\n,q,b\n", "3: found no id in column page, expected an id in each row, or a column rank"},
		{"page,rank,query,docs\np,1,q,a\np,3,q,b\n", `3: found rank "3", expected 2: the rows of a page are together, from top to bottom`},
		{"page,query,docs\np,q,a\nr,q,b\np,q,c\n", "4: found page \"p\", which is also in standard input:2, expected each page once"},
		{"page,query,docs,clicks\np,q,a,1\np,q,b,\n", "2: found clicks in 1 of 2 rows of a page, expected all rows or none"},
		{"page,query,docs,clicks\np,q,a,x\n", `2: found "x" in clicks, expected a number`},
		{"page,query,docs,clicks\np,q,a,1 1\n", `2: found "1 1" in clicks, expected a value without more text`},
		{"page,query,docs,weight\np,q,a,NaN\n", `2: found "NaN" in weight, expected a number`},
		{"page,query,docs\np,q,a,b\n", "2: found a row of another number of cells, expected as many as the first line has"},
		{"page,query,docs\np,\"q,a\n", "2: found a wrong quote, expected cells with quotes as \"…\", doubled inside"},
		{"page,query,docs,swapped\np,q,a,\"[1,2]\"\n", "2: found swapped without swap, expected swap, which says whether the ranks were exchanged"},
		{"page,query,docs,swapped,swap\np,q,a,\"[1,2]\",\n", "2: found swapped without swap, expected swap, which says whether the ranks were exchanged"},
		{"page,query,docs,pairs\np,q,a,1\np,q,b,1\n", "2: found pairs without exchanged, expected exchanged, the upper ranks of the exchanged pairs, [] if none were"},
		{"page,query,docs,pairs,exchanged\np,q,a,1,\np,q,b,1,\n", "2: found pairs without exchanged, expected exchanged, the upper ranks of the exchanged pairs, [] if none were"},
		{"hello\n", "1: found \"hello\", expected pages: JSON lines, a CSV or TSV table or Parquet"},
	} {
		_, err := readAll(c.text, Options{})
		if want := "standard input:" + c.want; err == nil || err.Error() != want {
			t.Errorf("%q: found\n%v, expected\n%s", c.text, err, want)
		}
	}
}

// Claim: a page id that occurs again is an error that names both lines, also in another file, or its page is left out.
func TestDuplicates(t *testing.T) {
	const text = `{"page":"a","query":"q","docs":["1"]}` + "\n\n" + `{"page":"b","query":"q","docs":["1"]}` + "\n" + `{"page":"a","query":"q","docs":["2"]}` + "\n"
	_, err := readAll(text, Options{})
	if err == nil || err.Error() != `standard input:4: found page "a", which is also in standard input:1, expected each page once` {
		t.Error(err)
	}
	o := Options{KeepFirst: true, Tally: new(Tally)}
	if pages, err := readAll(text, o); err != nil || len(pages) != 2 || o.Tally.Repeated != 1 {
		t.Errorf("%v, %d pages, tally %+v", err, len(pages), o.Tally)
	}
	path := filepath.Join(t.TempDir(), "more.jsonl")
	if err := os.WriteFile(path, []byte("\n"+`{"page":"b","query":"q","docs":["1"]}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	o.KeepFirst = false
	err = Read(context.Background(), path, o, func(*Page) error { return nil })
	if err == nil || err.Error() != path+`:2: found page "b", which is also in standard input:3, expected each page once` {
		t.Error(err)
	}
}

// Claim: a last line that is cut off is left out and counted; with more lines behind, it is an error.
func TestIncompleteLastLine(t *testing.T) {
	line := strings.TrimSuffix(lines(rich(40)[39:]), "\n")
	for n := 1; n < len(line); n++ {
		o := Options{Tally: new(Tally)}
		pages, err := readAll(lines(rich(3))+line[:n], o)
		if err != nil || len(pages) != 3 || o.Tally.Incomplete != 1 {
			t.Fatalf("%s: %v, %d pages, %d incomplete lines", line[:n], err, len(pages), o.Tally.Incomplete)
		}
		if _, err := readAll(line[:n]+"\n", Options{}); err == nil {
			t.Errorf("%s is no error", line[:n])
		}
	}
	o := Options{Tally: new(Tally)}
	if pages, err := readAll(lines(rich(3))+line, o); err != nil || len(pages) != 4 || o.Tally.Incomplete != 0 {
		t.Errorf("without a line feed: %v, %d pages", err, len(pages))
	}
	const table = "page,query,docs\np,q,a\nr,q,a\nr,q,b\n"
	for _, last := range []string{"s", "s,q", `s,q,"x`} {
		o := Options{Tally: new(Tally)}
		pages, err := readAll(table+last, o)
		if err != nil || len(pages) != 1 || o.Tally.Incomplete != 1 {
			t.Errorf("%q: %v, %d pages, %d incomplete lines", last, err, len(pages), o.Tally.Incomplete)
		}
		if _, err := readAll(table+last+"\n", Options{}); err == nil {
			t.Errorf("%q is no error", last)
		}
	}
}

// Claim: where a table may be cut off between rows or within the last cell, the last page is counted as doubtful.
func TestDoubtfulLastPage(t *testing.T) {
	var text strings.Builder
	text.WriteString("page,query,docs,clicks\n")
	for n := range 6 {
		fmt.Fprintf(&text, "p%d,q,a,1\np%d,q,b,0\np%d,q,c,10\n", n, n, n)
	}
	whole := text.String()
	for cut, want := range map[string]int{
		whole:                                      0,
		strings.TrimSuffix(whole, "\n"):            1, // or the last cell is cut off
		strings.TrimSuffix(whole, "0\n"):           1,
		strings.TrimSuffix(whole, "p5,q,c,10\n"):   1, // all other pages have three rows
		whole + "p6,q,a,1\n" + "p7,q,a,1\n":        0, // pages differ
		"page,query,docs\np,q,a\np,q,b\nr,q,a\n":   0, // too few pages to tell
		strings.ReplaceAll(whole, ",", "\t") + "p": 0, // the last row is incomplete, so its page is left out
	} {
		o := Options{Tally: new(Tally)}
		if _, err := readAll(cut, o); err != nil || o.Tally.Doubtful != want {
			t.Errorf("%q: found %d doubtful pages, %v, expected %d", cut[max(0, len(cut)-30):], o.Tally.Doubtful, err, want)
		}
	}
}

// Claim: compressed files that are cut off are errors, whatever their format.
func TestCutOffCompressedFiles(t *testing.T) {
	for _, name := range []string{"p.jsonl.gz", "p.jsonl.zst", "p.csv.gz", "p.csv.zst", "p.parquet"} {
		path := filepath.Join(t.TempDir(), name)
		err := Write(path, func(add func(*Page) error) error {
			for _, p := range rich(300) {
				if err := add(p); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{len(text) / 2, len(text) - 9, len(text) - 1} {
			if err := os.WriteFile(path, text[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			if err := Read(context.Background(), path, Options{}, func(*Page) error { return nil }); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s, %d of %d bytes: found %v, expected an error that names the file", name, n, len(text), err)
			}
		}
	}
}

// Claim: pages of weight 0 are left out and counted.
func TestPagesWithoutWeight(t *testing.T) {
	o := Options{Tally: new(Tally)}
	pages, err := readAll(`{"query":"q","user":"u","docs":["1"],"weight":0}`+"\n"+`{"query":"q","docs":["2"]}`+"\n", o)
	if err != nil || len(pages) != 1 || pages[0].Docs[0] != "2" || o.Tally.Weightless != 1 || o.Tally.Users.Len() != 0 || o.Tally.Pages != 1 {
		t.Errorf("found %d pages, %v, %+v", len(pages), err, o.Tally)
	}
}

// Claim: weights that are all 0 and pages without clicks are errors where they are needed.
func TestNeeds(t *testing.T) {
	if _, err := readAll(`{"query":"q","docs":["1"],"weight":0}`, Options{}); err == nil || err.Error() != "standard input: found weights of 0 alone, expected a page with a positive weight" {
		t.Error(err)
	}
	c := Counts{}
	err := Read(context.Background(), "-", Options{Stdin: strings.NewReader(`{"query":"q","docs":["1"]}`)}, c.Add)
	if err == nil || err.Error() != "standard input:1: found a page without clicks, expected clicks or clicked" {
		t.Error(err)
	}
}

// Claim: names of unknown members are told, once each.
func TestUnknownMembers(t *testing.T) {
	for _, text := range []string{
		`{"query":"q","docs":["1"],"device":"phone","Clicks":[1]}` + "\n" + `{"query":"q","docs":["1"],"device":[{}]}`,
		"device,page,query,docs,Clicks\nphone,p,q,1,1\n",
	} {
		o := Options{Tally: new(Tally)}
		if _, err := readAll(text, o); err != nil || strings.Join(o.Tally.Unknown, " ") != "device Clicks" {
			t.Errorf("%v, %q", err, o.Tally.Unknown)
		}
	}
}

// Claim: users are counted, dropped by name, and told if they are likely robots.
func TestUsers(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		user := fmt.Sprint("u", i%2000)
		if i%10 == 0 {
			user = "robot"
		}
		fmt.Fprintf(&b, "{\"query\":\"q\",\"docs\":[1,2],\"clicks\":[1,0],\"user\":%q}\n", user)
	}
	b.WriteString(`{"query":"q","docs":[1,2],"clicks":[1,0]}` + "\n")
	o := Options{Tally: new(Tally)}
	if _, err := readAll(b.String(), o); err != nil {
		t.Fatal(err)
	}
	users := &o.Tally.Users
	if got := users.Robots(); len(got) != 1 || got[0] != (User{"robot", 500, 500}) || users.Len() != 1801 || users.Pages("u1") != 3 || users.Pages("none") != 0 {
		t.Errorf("robots %v, %d users, %d pages of u1", got, users.Len(), users.Pages("u1"))
	}
	o = Options{Tally: new(Tally), Drop: func(user string) bool { return users.Pages(user) > 100 }}
	pages, err := readAll(b.String(), o)
	if err != nil || len(pages) != 4501 || o.Tally.Dropped != 500 || o.Tally.Users.Len() != 1800 {
		t.Errorf("%v, %d pages, tally %+v", err, len(pages), o.Tally)
	}
}

// Claim: a user of few pages who clicks all documents is a likely robot.
func TestRobotsByClicks(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "{\"query\":\"q\",\"docs\":[1,2,3,4,5],\"clicks\":[1,0,0,0,0],\"user\":\"u%d\"}\n", i%500)
		if i%50 == 0 {
			b.WriteString(`{"query":"q","docs":[1,2,3,4,5],"clicks":[1,1,1,1,1],"user":"eager"}` + "\n")
		}
	}
	o := Options{Tally: new(Tally)}
	if _, err := readAll(b.String(), o); err != nil {
		t.Fatal(err)
	}
	if got := o.Tally.Users.Robots(); len(got) != 1 || got[0] != (User{"eager", 40, 200}) {
		t.Errorf("robots %v", got)
	}
}

// Claim: where activity has a long tail, at most one log in a hundred names its most active users robots. A user with a
// tenth of the pages of such a log is a robot. So is a user with 200 pages where all others have about ten.
func TestActiveUsersAreNoRobots(t *testing.T) {
	alarms, found := 0, 0
	const logs = 100
	for seed := range uint64(logs) {
		rng := rand.New(rand.NewPCG(seed, 2))
		u, page := new(Users), &Page{Query: "q", Docs: []string{"1", "2"}, Clicks: []int{1, 0}}
		add := func(user string, pages int) {
			page.User = user
			for range pages {
				if err := u.add(page, 1, 0, nil, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		all, deviation := 0, 0.6+0.8*rng.Float64()
		for i := range 1000 {
			pages := int(math.Exp(1 + deviation*rng.NormFloat64()))
			add(fmt.Sprint("u", i), pages)
			all += pages
		}
		alarms += min(1, len(u.Robots()))
		add("robot", all/9+1)
		if r := u.Robots(); len(r) > 0 && r[0].Name == "robot" {
			found++
		}
	}
	if alarms > logs/100 || found != logs {
		t.Errorf("%d of %d logs without robots have likely robots, and %d of those with one", alarms, logs, found)
	}
	u, page := new(Users), &Page{Query: "q", Docs: []string{"1", "2"}, Clicks: []int{1, 0}}
	rng := rand.New(rand.NewPCG(1, 3))
	for i := range 10200 {
		if page.User = fmt.Sprint("u", rng.IntN(1000)); i%51 == 0 {
			page.User = "robot"
		}
		if err := u.add(page, 1, 0, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if r := u.Robots(); len(r) != 1 || r[0].Name != "robot" {
		t.Errorf("found %v, expected the user with 2 %% of the pages", r)
	}
}

// Claim: pages without ids that repeat another one are counted, and still used. Pages without a time are not compared.
func TestCopies(t *testing.T) {
	page := func(time, user, docs string) string {
		return `{"query":"q","docs":[` + docs + `],"clicks":[1,0],"user":"` + user + `"` + time + "}\n"
	}
	const noon, later = `,"time":"2026-11-01T12:00:00Z"`, `,"time":"2026-11-01T12:00:01Z"`
	text := page(noon, "u", "1,2") + page(noon, "u", "1,2") + page(noon, "u", "2,1") + page(noon, "v", "1,2") + page(later, "u", "1,2") + page("", "u", "1,2") + page("", "u", "1,2")
	o := Options{Tally: new(Tally)}
	pages, err := readAll(text, o)
	if err != nil || len(pages) != 7 || o.Tally.Copies != 1 {
		t.Errorf("%v, %d pages, %d copies, expected 7 and 1", err, len(pages), o.Tally.Copies)
	}
}

// Claim: ids, users, pairs and long lines count against the memory limit.
func TestMemory(t *testing.T) {
	var b bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&b, "{\"page\":\"p%d\",\"user\":\"u%d\",\"query\":\"q%d\",\"docs\":[1,2],\"clicks\":[1,0]}\n", i, i, i)
	}
	long := `{"query":"q","docs":["` + strings.Repeat("x", 8<<20) + `"]}`
	for text, limits := range map[string][2]int64{b.String(): {600_000, 3_000_000}, long: {6 << 20, 64 << 20}} {
		for i, limit := range limits {
			mem := memory.New("pages", dataset.Options{MaxBytes: limit})
			_, err := readAll(text, Options{Mem: mem})
			if small := i == 0; small != errors.Is(err, dataset.ErrTooLarge) || !small && err != nil {
				t.Errorf("%.20s… with %d bytes: %v", text, limit, err)
			}
		}
	}
	c := Counts{Mem: memory.New("pages", dataset.Options{MaxBytes: 3_000_000})}
	if err := Read(context.Background(), "-", Options{Stdin: &b}, c.Add); !errors.Is(err, dataset.ErrTooLarge) {
		t.Errorf("%d pairs in 3 MB: %v", c.Pairs(), err)
	}
}

// Claim: the result, errors included, is the same on any number of cores.
func TestCores(t *testing.T) {
	text := lines(rich(20_000))
	bad := text[:len(text)/2] + "\n{}\n" + text[len(text)/2:]
	var want []*Page
	var fault error
	for _, cores := range []int{1, 2, 4} {
		before := runtime.GOMAXPROCS(cores)
		pages, err := readAll(text, Options{})
		_, second := readAll(bad, Options{})
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want, fault = pages, second
		}
		if len(pages) != 20_000 || !reflect.DeepEqual(pages, want) || second == nil || second.Error() != fault.Error() {
			t.Errorf("%d cores: %d pages, %v", cores, len(pages), second)
		}
	}
}

// Claim: reading stops when the context is cancelled, also at a pipe that stays silent.
func TestCancelled(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // nothing was written
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := w.WriteString(strings.Repeat(" ", 5000) + lines(rich(3))); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := Read(ctx, "-", Options{Stdin: r}, func(*Page) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
