package datafile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/parquet"
	"github.com/listwise/listwise/dataset/stream"
)

// part is the name of a part, as Spark writes it.
func part(i string) string { return "part-" + i + "-6f1c-c000.snappy.parquet" }

// writeParts writes tables of text as the parts of a folder; names alone make a part without rows.
func writeParts(t *testing.T, dir string, texts ...string) {
	t.Helper()
	for i, text := range texts {
		filled := text
		if text == names {
			filled = firstPart
		}
		d, err := Read(strings.NewReader(filled), "part.csv", dataset.Options{Missing: dataset.MissingKeep})
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(dir, part(fmt.Sprintf("%05d", i))))
		if err != nil {
			t.Fatal(err)
		}
		w, err := parquet.NewWriter(f, stream.ContentsOf(d))
		if err != nil {
			t.Fatal(err)
		}
		if text == names {
			err = w.Close()
		} else {
			err = stream.Write(w, d, nil)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	names     = "query,grade,doc,bm25,ctr"
	firstPart = names + "\na,1,x,1,0.5\nb,0,y,2,0.25\n"
	lastPart  = names + "\nb,2,z,3,0.75\nc,1,w,4,1\n"
	wholeText = names + "\na,1,x,1,0.5\nb,0,y,2,0.25\nb,2,z,3,0.75\nc,1,w,4,1\n"
)

// Claim: a folder of parts is the one table that its parts make in the order of their names: parts may be
// empty, and a query may be in several.
func TestPartsAreOneTable(t *testing.T) {
	dir := t.TempDir()
	writeParts(t, dir, names, firstPart, names, lastPart)
	for _, name := range []string{"_SUCCESS", "._SUCCESS.crc", "." + part("00000") + ".crc"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	csv := filepath.Join(t.TempDir(), "whole.csv")
	if err := os.WriteFile(csv, []byte(wholeText), 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := Open(csv, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Open(dir, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := datatest.SameDocuments(want, got); diff != "" || !slices.Equal(got.FeatureNames, want.FeatureNames) {
		t.Errorf("%s, features %q", diff, got.FeatureNames)
	}
	var bytes [2][]byte
	for i, path := range []string{csv, dir} {
		out := filepath.Join(t.TempDir(), "out.lwd")
		if _, err := Convert(Conversion{Inputs: []string{path}, Out: out}); err != nil {
			t.Fatal(err)
		}
		if bytes[i], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
	}
	if string(bytes[0]) != string(bytes[1]) {
		t.Error("the folder is converted to other bytes than its text")
	}
}

// Claim: parts by the names of other writers are read, by their numbers where names have any.
func TestPartsOfOtherWriters(t *testing.T) {
	for writer, names := range map[string][2]string{
		"Spark":                {"part-00009-6f1c-c000.parquet", "part-00010-6f1c-c000.parquet"},
		"Spark, many parts":    {"part-99999-6f1c-c000.parquet", "part-100000-6f1c-c000.parquet"},
		"pyarrow.dataset":      {"part-9.parquet", "part-10.parquet"},
		"pyarrow.parquet":      {"2c5d4fd9fa7f481eb1eada189b02459b-9.parquet", "2c5d4fd9fa7f481eb1eada189b02459b-10.parquet"},
		"Dask and fastparquet": {"part.9.parquet", "part.10.parquet"},
		"DuckDB":               {"data_9.parquet", "data_10.parquet"},
		"polars":               {"0000000f.parquet", "00000010.parquet"},
	} {
		dir := t.TempDir()
		writeParts(t, dir, firstPart, lastPart)
		for i, name := range names {
			if err := os.Rename(filepath.Join(dir, part(fmt.Sprintf("%05d", i))), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "_metadata"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Open(dir, dataset.Options{})
		if err != nil {
			t.Errorf("%s: %v", writer, err)
			continue
		}
		var got []string
		for _, q := range d.Queries {
			for i := range q.Len() {
				got = append(got, q.DocID(i))
			}
		}
		if want := []string{"x", "y", "z", "w"}; !slices.Equal(got, want) {
			t.Errorf("%s: documents %q, expected %q", writer, got, want)
		}
	}
}

// Claim: what is no whole table of parts is refused with the file and what was expected.
func TestPartsAreRefused(t *testing.T) {
	for want, harm := range map[string]func(dir string) error{
		"_temporary among the parts of a Parquet table, expected a table that is written to its end": func(dir string) error {
			return os.Mkdir(filepath.Join(dir, "_temporary"), 0o700)
		},
		"fold=1 among the parts of a Parquet table, expected parts of one table alone": func(dir string) error {
			return os.Mkdir(filepath.Join(dir, "fold=1"), 0o700)
		},
		part("00002") + ": found column clicks of type FLOAT, expected column ctr of type FLOAT, as in ": func(dir string) error {
			writeParts(t, filepath.Dir(dir), firstPart, firstPart, strings.ReplaceAll(lastPart, "ctr", "clicks"))
			return os.Rename(filepath.Join(filepath.Dir(dir), part("00002")), filepath.Join(dir, part("00002")))
		},
		part("00001") + ": found damage": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, part("00001")), []byte("PAR1 and nothing else"), 0o600)
		},
		part("00001") + ": found nothing in column bm25 of row 2": func(dir string) error {
			writeParts(t, dir, firstPart, strings.ReplaceAll(lastPart, "w,4", "w,"))
			return nil
		},
	} {
		dir := filepath.Join(t.TempDir(), "table")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		writeParts(t, dir, firstPart, lastPart)
		if err := harm(dir); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir, dataset.Options{})
		if s, ok := errors.AsType[*dataset.SyntaxError](err); !ok || !strings.HasPrefix(s.File, dir) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
	dir := t.TempDir()
	writeParts(t, dir, names)
	if _, err := Open(dir, dataset.Options{}); err == nil || !strings.HasSuffix(err.Error(), "found no rows, expected a row for each document") {
		t.Errorf("a table without rows: error %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, part("00000")), []byte("1 qid:1 1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, dataset.Options{Input: "letor"}); err == nil || !strings.Contains(err.Error(), "expected parts in the format parquet") {
		t.Errorf("parts of text: error %v", err)
	}
}
