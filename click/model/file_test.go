package model

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/click"
)

// small is a log with two queries and slots.
func small(t testing.TB) *click.Counts {
	pages := []*click.Page{
		{Query: "a", Docs: []string{"x", "y", "z"}, Clicks: []int{0, 1, 0}, Weight: 2},
		{Query: "b", Docs: []string{"x", "w"}, Clicks: []int{1, 1}, Weight: 1},
		{Query: "a", Docs: []string{"y", "v"}, Clicks: []int{0, 0}, Weight: 1, Slots: []string{"2", "ad"}},
		{Query: "b", Docs: []string{"w", "x", "u"}, Clicks: []int{1, 0, 1}, Weight: 3},
	}
	return logOf(t, pages...)
}

// fitted are all models of a log.
func fitted(t testing.TB, c *click.Counts, o Options) (all []*Model) {
	t.Helper()
	d := arrange(t, c)
	for _, k := range Kinds() {
		m, err := d.Fit(context.Background(), k, o)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

func textOf(t testing.TB, m *Model) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Claim: a file holds the whole model: it reads back as a model that writes the same file and predicts the same bits.
func TestFile(t *testing.T) {
	page := &click.Page{Query: "a", Docs: []string{"z", "new", "y"}, Clicks: []int{1, 0, 0}}
	for _, m := range fitted(t, small(t), Options{Exact: true}) {
		text := textOf(t, m)
		back, err := Decode("m", []byte(text))
		if err != nil {
			t.Errorf("%s: %v\n%s", m.Name, err, text)
			continue
		}
		if again := textOf(t, back); again != text {
			t.Errorf("%s: reads back as\n%s\nexpected\n%s", m.Name, again, text)
		}
		for _, of := range []func(*Model) ([]float64, error){
			func(m *Model) ([]float64, error) { return m.Conditional(page) },
			func(m *Model) ([]float64, error) { return m.Full(page) },
			func(m *Model) ([]float64, error) {
				return []float64{m.Relevance("a", "y"), m.Relevance("b", "new")}, nil
			},
		} {
			want, err := of(m)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := of(back); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: found %v, %v, expected %v", m.Name, got, err, want)
			}
		}
	}
}

// Claim: a damaged file is an error that says where and what was found.
func TestFileErrors(t *testing.T) {
	all := fitted(t, small(t), Options{})
	file := func(name string) string {
		i := slices.IndexFunc(all, func(m *Model) bool { return m.Name == name })
		return textOf(t, all[i])
	}
	for _, c := range []struct{ name, from, to, want string }{
		{"pbm", `"listwise click model"`, `"x"`, `m: found "format": "x", expected "listwise click model"`},
		{"pbm", `"version": 1`, `"version": 2`, `m: found format version 2, expected 1`},
		{"pbm", `"pbm"`, `"pbn"`, `m: unknown click model "pbn"`},
		{"pbm", `"mean:3"`, `"mean:0"`, `m: found prior "mean:0", expected laplace or mean:STRENGTH`},
		{"pbm", `"prior"`, `"priors"`, `m: found prior ""`},
		{"pbm", `"pages": 4`, `"pages": 4, "more": 1`, `m:6: found the key "more", which a model pbm does not have`},
		{"pbm", `"pages": 4`, `"pages": -1`, `m: found -1 pages`},
		{"pbm", `"ad"`, `"1"`, `m: found slot "1" twice`},
		{"pbm", `"ad"`, `"ad", "x"`, `numbers in "examination", expected 5`},
		{"ubm", `"ranks": 3`, `"ranks": 1001`, `m: found 1001 ranks, expected at most 1000`},
		{"ubm", `"ranks": 3`, `"ranks": 2`, `found 6 numbers in "examination", expected 3`},
		{"ubm", `"ranks": 3`, `"ranks": 0`, `m: found 0 ranks and 0 slots, expected those of a model ubm`},
		{"dbn", `"unseen"`, `"unsee"`, `found the key "unsee"`},
		{"dbn", "\"x\",\n        \"y\"", `"y"`, `found 4 numbers in "attraction", expected 3`},
		{"dbn", `"x"`, `"y"`, `found document "y" of query "a" twice`},
		{"dbn", `"satisfaction"`, `"satisfactio"`, `found other keys than those of a model dbn`},
		{"gctr", `"pages": 4`, `"pages": 5`, `found "sum": "crc32c:`},
		{"gctr", `    0.`, `    1.`, `in "click_rate", expected a probability`},
	} {
		if !strings.Contains(file(c.name), c.from) {
			t.Errorf("found no %s in\n%s", c.from, file(c.name))
		}
		text := strings.Replace(file(c.name), c.from, c.to, 1)
		if _, err := Decode("m", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s for %s: found %v, expected %s", c.name, c.to, c.from, err, c.want)
		}
	}
}

// FuzzDecode: no text makes Decode panic, and what it reads is a model that writes a file with the same meaning.
func FuzzDecode(f *testing.F) {
	for _, m := range fitted(f, small(f), Options{}) {
		f.Add([]byte(textOf(f, m)))
	}
	page := &click.Page{Query: "a", Docs: []string{"z", "new", "y"}, Clicks: []int{1, 0, 0}}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Decode("m", text)
		if err != nil {
			return
		}
		first := textOf(t, m)
		back, err := Decode("m", []byte(first))
		if err != nil {
			t.Fatalf("%v: %s", err, first)
		}
		if again := textOf(t, back); again != first {
			t.Fatalf("found %s, expected %s", again, first)
		}
		if _, err := m.Full(page); err == nil {
			_, _ = m.Conditional(page) // only for panics
		}
	})
}

// arrange arranges a log.
func arrange(t testing.TB, c *click.Counts) *Data {
	t.Helper()
	d, err := Arrange(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
