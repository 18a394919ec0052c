package datafile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/cache"
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

var foldFiles = []string{"train.txt", "vali.txt", "test.txt"}

// The official parts give the official folds, byte for byte.
func TestRotateFilesMakesTheOfficialFolds(t *testing.T) {
	script := datatest.RealData(t, "make-folds")
	for _, set := range []string{"ohsumed", "mq2008"} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			if set == "ohsumed" && testing.Short() {
				t.Skip("short")
			}
			want, got := t.TempDir(), t.TempDir()
			if out, err := exec.Command(script, set, want).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", script, err, out)
			}
			if _, err := Rotate(t.Context(), got, datatest.OfficialParts(t, set), dataset.Options{}, nil); err != nil {
				t.Fatal(err)
			}
			for f := range 5 {
				for _, name := range foldFiles {
					fold := fmt.Sprintf("Fold%d", f+1)
					if read(t, got, fold, name) != read(t, want, fold, name) {
						t.Errorf("%s/%s is not the official file", fold, name)
					}
				}
			}
		})
	}
}

const threeParts = `2 qid:1 1:0.50000 2:1 #docid = A inc = 1
# a remark
0 qid:1 1:1e0 #docid = B
|1 qid:2 2:nan # docid = C
0 qid:3 1:1
|1 qid:4 1:3`

func TestRotateFilesKeepsTheLinesAsTheyAre(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "new", "folds")
	text := strings.Split(threeParts, "|")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(text[1]))
	z.Close()
	parts := []string{
		write(t, filepath.Join(dir, "a.txt"), text[0]),
		write(t, filepath.Join(dir, "b.txt.gz"), packed.String()),
		write(t, filepath.Join(dir, "c.txt"), text[2]),
	}
	sizes, err := Rotate(t.Context(), out, parts, dataset.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text[2] += "\n"
	for f := range 3 {
		for i, name := range foldFiles {
			if got := read(t, out, fmt.Sprintf("Fold%d", f+1), name); got != text[(f+i)%3] {
				t.Errorf("Fold%d/%s holds %q, expected %q", f+1, name, got, text[(f+i)%3])
			}
		}
	}
	a, b, c := Size{1, 2}, Size{2, 2}, Size{1, 1}
	if diff := cmp.Diff([]FoldSize{{a, b, c}, {b, c, a}, {c, a, b}}, sizes); diff != "" {
		t.Errorf("sizes (-expected +got):\n%s", diff)
	}
}

func TestRotateFilesRefuses(t *testing.T) {
	dir := t.TempDir()
	a := write(t, filepath.Join(dir, "a.txt"), "1 qid:1 1:1\n")
	b := write(t, filepath.Join(dir, "b.txt"), "1 qid:2 1:1\n")
	again := write(t, filepath.Join(dir, "c.txt"), "1 qid:3 1:1\n0 qid:1 1:1\n")
	wrong := write(t, filepath.Join(dir, "d.txt"), "1 qid:3 1:1\n0 qid:4 1:one\n")
	for want, parts := range map[string][]string{
		"2 folds: expected 3 or more":              {a, b},
		`c.txt: found query "1", which is in ` + a: {a, b, again},
		"d.txt:2: found":                           {a, b, wrong},
		"no such file or directory":                {a, b, filepath.Join(dir, "none")},
	} {
		out := filepath.Join(t.TempDir(), "out")
		if _, err := Rotate(t.Context(), out, parts, dataset.Options{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%q left files", want)
		}
	}
}

// manyQueries is text with 7 queries of several documents; query 0 is in pieces.
func manyQueries() (text string, lines []string) {
	for _, id := range []int{0, 1, 1, 2, 0, 3, 4, 4, 4, 5, 6} {
		lines = append(lines, fmt.Sprintf("%d qid:%d 1:0.%d0 2:%d #docid = D%d inc = 1\n", id%3, id, len(lines), id, len(lines)))
	}
	return "# seven queries\n\n" + strings.Join(lines, ""), lines
}

// Every query's lines stand in one test file, in their order, and in K−2 train
// files and one vali file more.
func TestFoldFileDividesTheLines(t *testing.T) {
	dir := t.TempDir()
	text, lines := manyQueries()
	in := write(t, filepath.Join(dir, "all.txt"), text)
	sizes, err := Fold(t.Context(), dir, in, 3, 5, dataset.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for f := range 3 {
		var all []string
		for i, name := range foldFiles {
			part := strings.SplitAfter(read(t, dir, fmt.Sprintf("Fold%d", f+1), name), "\n")
			part = part[:len(part)-1]
			checkOrder(t, lines, part)
			size := []Size{sizes[f].Train, sizes[f].Vali, sizes[f].Test}[i]
			if size.Documents != len(part) || size.Queries < 2 || size.Queries > 3 {
				t.Errorf("size %+v of a file of %d lines", size, len(part))
			}
			all = append(all, part...)
			for _, line := range part {
				seen[name+line]++
			}
		}
		slices.Sort(all)
		if !slices.Equal(all, slices.Sorted(slices.Values(lines))) {
			t.Errorf("fold %d does not hold every line once", f+1)
		}
	}
	for what, n := range seen {
		if n != 1 {
			t.Errorf("%q: %d times", what, n)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".parts*")); left != nil {
		t.Errorf("%v was left", left)
	}
}

// checkOrder checks that the lines of part are in the order of all lines.
func checkOrder(t *testing.T, all, part []string) {
	t.Helper()
	last := -1
	for _, line := range part {
		i := slices.Index(all, line)
		if i <= last {
			t.Errorf("%q is out of order or new", line)
		}
		last = i
	}
}

// A cache gives the same division as the text it was made from.
func TestFoldFileOfACache(t *testing.T) {
	dir, fromText, fromCache := t.TempDir(), t.TempDir(), t.TempDir()
	text, _ := manyQueries()
	in := write(t, filepath.Join(dir, "all.txt"), text)
	d, err := Open(in, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cached := filepath.Join(dir, "all.lwd")
	if err := cache.Write(cached, d); err != nil {
		t.Fatal(err)
	}
	for out, in := range map[string]string{fromText: in, fromCache: cached} {
		if _, err := Fold(t.Context(), out, in, 3, 5, dataset.Options{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range foldFiles {
		var want, got []datatest.Document
		for dir, docs := range map[string]*[]datatest.Document{fromText: &want, fromCache: &got} {
			d, err := Open(filepath.Join(dir, "Fold2", name), dataset.Options{Features: 2})
			if err != nil {
				t.Fatal(err)
			}
			*docs = datatest.Documents(d)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-text +cache):\n%s", name, diff)
		}
	}
}

// Whatever text a reader accepts, splitting finds the same documents in it and
// the same query for each.
func FuzzSplit(f *testing.F) {
	text, _ := manyQueries()
	f.Add([]byte(text))
	f.Add([]byte(threeParts[:40]))
	f.Add([]byte("0\tqid:a:b 1:1#qid:c\r\n \t\r\n  1 qid:qid:x \t 3:2 # qid:\n#\n2 qid:a:b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if compress.Detect(text, "") != compress.Plain || byMagic(text) != nil {
			t.Skip()
		}
		d, err := Read(bytes.NewReader(text), "f", anyText("", dataset.Options{}, nil))
		if err != nil {
			t.Skip()
		}
		part := make(map[string]int)
		for i := range d.Queries {
			part[d.Queries[i].ID] = i % 2
		}
		var out [2]bytes.Buffer
		s := splitter{part: part, out: []*bufio.Writer{bufio.NewWriter(&out[0]), bufio.NewWriter(&out[1])}}
		if err := s.split(append(text[:len(text):len(text)], '\n')); err != nil || s.docs != d.Docs() {
			t.Fatalf("%d documents of %d, %v", s.docs, d.Docs(), err)
		}
		for p, w := range s.out {
			w.Flush()
			want := datatest.Documents(d.Filter(func(q *dataset.Query) bool { return part[q.ID] == p }))
			if len(want) == 0 && out[p].Len() == 0 {
				continue
			}
			opts := anyText("", dataset.Options{}, nil)
			opts.Features = d.Features
			got, err := Read(&out[p], "part", opts)
			if err != nil || !slices.Equal(datatest.Documents(got), want) {
				t.Fatalf("part %d: %v, expected %v", p, err, want)
			}
		}
	})
}

func TestFoldFileRefuses(t *testing.T) {
	text, _ := manyQueries()
	in := write(t, filepath.Join(t.TempDir(), "all.txt"), text)
	for k, want := range map[int]string{2: "2 folds: expected 3 or more", 8: "all.txt: found 7 queries, expected 8 or more for as many parts"} {
		out := filepath.Join(t.TempDir(), "out")
		if _, err := Fold(t.Context(), out, in, k, 1, dataset.Options{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d folds: error %v, expected %q", k, err, want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%d folds left files", k)
		}
	}
}

func TestFoldFileStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	text, _ := manyQueries()
	in := write(t, filepath.Join(dir, "all.txt"), text)
	out := filepath.Join(dir, "out")
	if _, err := Fold(ctx, out, in, 3, 1, dataset.Options{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if !e.IsDir() && path != in {
			t.Errorf("%s was left", path)
		}
		return err
	})
}
