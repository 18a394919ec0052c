package click

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
)

// checkRead checks what every input must fulfil: reading it gives pages that keep the rules and an error about the
// content or none, and the pages, written as JSON lines, read back as they are.
func checkRead(t *testing.T, text string) {
	pages, err := readAll(text, Options{Mem: memory.New("pages", dataset.Options{MaxBytes: 64 << 20})})
	if _, ok := errors.AsType[*dataset.SyntaxError](err); err != nil && !ok {
		t.Fatalf("%v is a %T", err, err)
	}
	var ids []string
	for _, p := range pages {
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		if p.ID != "" {
			ids = append(ids, p.ID)
		}
	}
	if _, twice := repeated(ids); twice {
		t.Fatalf("ids %q", ids)
	}
	for i, p := range pages {
		if checkText(p) != nil {
			return // a table that is not UTF-8
		}
		again, err := readAll(lines(pages[i:i+1]), Options{})
		if p.Weight == 0 && err != nil {
			continue
		}
		if err != nil || len(again) != 1 {
			t.Fatalf("%v, %d pages", err, len(again))
		}
		p.Line = 1
		if !reflect.DeepEqual(again[0], p) {
			t.Fatalf("found\n%+v, expected\n%+v", again[0], p)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add(lines(rich(30)))
	f.Add(`{"query":12,"docs":[1,"2",-3],"clicks":[0,1,2.0],"slots":["ad",2,1.5],"time":1.5e3,"page":7}`)
	f.Add(`{"clicked":["c","a","c"],"docs":["a","b","c"],"query":"\u00e9","orders":[[["a","b"],1e-3]],"x":[{}]}`)
	f.Fuzz(checkRead)
}

// written returns pages in the format of a name.
func written(f testing.TB, name string, pages []*Page) string {
	var b bytes.Buffer
	err := WriteTo(&b, name, func(add func(*Page) error) error {
		for _, p := range pages {
			if err := add(p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	return b.String()
}

func FuzzTables(f *testing.F) {
	f.Add(written(f, "p.csv", rich(20)))
	f.Add(written(f, "p.tsv", rich(20)))
	f.Add("rank,query,doc,clicked,time\n1,q,a,1,1.25\n2,q,b,0,1.25\n1,q,\"")
	f.Fuzz(checkRead)
}

func FuzzParquet(f *testing.F) {
	f.Add(written(f, "p.parquet", rich(20)))
	f.Add(written(f, "p.parquet", rich(1)))
	f.Fuzz(checkRead)
}

func FuzzCompressed(f *testing.F) {
	f.Add(written(f, "p.gz", rich(20)))
	f.Add(written(f, "p.zst", rich(20)))
	f.Fuzz(checkRead)
}
