package datafile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

// oddLines are lines that are mistakes, alone or behind others, and some that are none.
var oddLines = []string{
	"x qid:q 1:0.5", "1 query:q 1:0.5", "-1 qid:q 1:0.5", "1 qid: 1:0.5", "1 qid:a\x01b 1:0.5",
	"1 qid:q 1:a", "1 qid:q 2:1 1:1", "1 qid:q 0:1", "1 qid:q 1:1 5000:x", "1 qid:q 1:1 5000:2 7:3", "1 qid:q 1:1 99999999:2", "1 qid:q 1:nan", "1 qid:q 1:1e39", "1 qid:q 4:0.5",
	"1 qid:q 1:1 # docid = a\x01b", "1 qid:q 1:1#docid = late", "1 qid:q",
	"# features: [\"a\",\"b\",\"c\"]", "# features: [\"a\",\"b\",\"d\"]", "# features: [\"a\",\"b\"]", "# features: no names", "# a comment", "",
	"1 qid:q 1:16777217 2:-33554435", "1 qid:q 3:123456789",
	"1 qid:q 2:2000000.01", "1 qid:q 1:1 2:2000000.02", "0 qid:r 2:-2000000.017 3:0.123456789", "0 qid:r 3:1.23456788e-1",
}

// Claim: of text with mistakes, wherever they are and however it is cut, converting reports the
// one that reading it into memory does; without any, both warn of the same.
func TestConvertFindsTheFirstMistake(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		lines := make([]string, rapid.IntRange(1, 120).Draw(t, "lines"))
		for i := range lines {
			lines[i] = fmt.Sprintf("%d qid:%d 1:0.%d 2:%d 3:1 #docid = d%d", i%3, i/7, i, i*i, i)
		}
		for range rapid.IntRange(0, 3).Draw(t, "odd lines") {
			at := rapid.IntRange(0, len(lines)).Draw(t, "at")
			lines = slices.Insert(lines, at, rapid.SampledFrom(oddLines).Draw(t, "odd line"))
		}
		data := []byte(strings.Join(lines, "\n"))
		name := filepath.Join(dir, "f.txt")
		if rapid.Bool().Draw(t, "compressed") {
			data, name = datatest.Gzip(string(data)), filepath.Join(dir, "f.txt.gz")
			if rapid.IntRange(0, 4).Draw(t, "broken off") == 0 {
				data = data[:len(data)*3/4]
			}
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		opts := dataset.Options{
			Workers:     rapid.IntRange(1, 4).Draw(t, "workers"),
			Negative:    rapid.SampledFrom([]dataset.Negative{dataset.NegativeError, dataset.NegativeDrop, dataset.NegativeZero}).Draw(t, "negative"),
			MinFeatures: rapid.SampledFrom([]int{0, 0, 6}).Draw(t, "least features"),
			FromZero:    rapid.IntRange(0, 3).Draw(t, "from zero") == 0,
			AnyOrder:    rapid.Bool().Draw(t, "any order"),
		}
		c := Conversion{Inputs: []string{name}, Out: filepath.Join(dir, "f.lwd"), Options: opts, chunk: int64(rapid.IntRange(10, 3000).Draw(t, "chunk"))}
		done, err := Convert(c)
		d, want := Open(name, opts)
		if fmt.Sprint(err) != fmt.Sprint(want) {
			t.Fatalf("converting: %v\nreading:    %v", err, want)
		}
		if err == nil && (!slices.Equal(done.Warnings, d.Warnings) || done.Features != d.Features || done.Documents != d.Docs()) {
			t.Fatalf("converting: %+v\nreading:    %d features, %d documents, %q", done, d.Features, d.Docs(), d.Warnings)
		}
	})
}

// Claim: of text that is larger than memory the first mistake is reported, too, whatever the
// number of workers: what is counted of it before that is known ends anywhere.
func TestFirstMistakeOfLargeText(t *testing.T) {
	text := func(odd map[int]string) string {
		var b strings.Builder
		for i := range 60_000 {
			if line, ok := odd[i]; ok {
				b.WriteString(line + "\n")
				continue
			}
			fmt.Fprintf(&b, "1 qid:%d 1:0.5 2:0.25\n", i/20)
		}
		return b.String()
	}
	path := filepath.Join(t.TempDir(), "f.txt")
	for name, c := range map[string]struct {
		text   string
		absent bool
	}{
		"names that come later":      {text(map[int]string{340: "1 qid:17 1:1 645:x", 30_000: "# features: [\"a\",\"b\"]"}), false},
		"features that are left out": {text(map[int]string{999: "1 qid:49 2:1 1:1", 44_999: "1 qid:2249 1:1 3000:1"}), true},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, want := Open(path, dataset.Options{AbsentMissing: c.absent})
		if want == nil {
			t.Fatal("there is no mistake")
		}
		for workers := 1; workers <= 4; workers++ {
			_, err := Open(path, dataset.Options{AbsentMissing: c.absent, Workers: workers, Stream: true, MaxBytes: 1 << 25})
			if fmt.Sprint(err) != want.Error() {
				t.Errorf("%s: %d workers: %v\nin memory: %v", name, workers, err, want)
			}
		}
	}
}
