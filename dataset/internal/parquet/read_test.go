package parquet

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/table"
)

// The files of testdata are written by tools/parquet/tables.py: those with a .csv beside them have
// what that has.

// Claim: files of pyarrow, fastparquet, polars, DuckDB and Spark are read as the same table in text is.
// They have all types and codecs, columns with nulls and without, dictionaries, pages of both versions,
// pages filled up with zeros, and several row groups and parts.
func TestFilesOfOtherWriters(t *testing.T) {
	files, err := filepath.Glob("testdata/*.csv")
	if err != nil || len(files) < 15 {
		t.Fatal(files, err)
	}
	for _, text := range files {
		for _, policy := range []dataset.Missing{dataset.MissingKeep, dataset.MissingZero, dataset.MissingMin} {
			opts := dataset.Options{Missing: policy}
			want := readFile(t, text, opts, func(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
				return table.ReadCSV(in, opts, ',')
			})
			got := readFile(t, strings.TrimSuffix(text, ".csv")+".parquet", opts, Read)
			if diff := datatest.SameDocuments(want, got); diff != "" {
				t.Errorf("%s, %v: %s", text, policy, diff)
			}
			if got.Missing() != want.Missing() || len(got.FeatureNames) != len(want.FeatureNames) || got.FeatureNames[2] != want.FeatureNames[2] {
				t.Errorf("%s, %v: %d missing values, names %q", text, policy, got.Missing(), got.FeatureNames)
			}
		}
	}
}

func readFile(t *testing.T, path string, opts dataset.Options, read func(in *input.Input, opts dataset.Options) (*dataset.Dataset, error)) *dataset.Dataset {
	t.Helper()
	var d *dataset.Dataset
	err := input.WithParts(path, opts, nil, func(in *input.Input) (err error) {
		d, err = read(in, opts)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Claim: what cannot be read, and what is wrong, is refused with the file, the column and what
// was expected.
func TestRefusedTables(t *testing.T) {
	for _, test := range []struct {
		file string
		opts dataset.Options
		want string
	}{
		{"nested", dataset.Options{}, "nested values in column nested, expected numbers"},
		{"struct", dataset.Options{}, "nested values in column struct, expected numbers"},
		{"unnamed", dataset.Options{}, "found no name of column 4, expected a name of every column"},
		{"timestamp", dataset.Options{}, "values of type TIMESTAMP"},
		{"time", dataset.Options{}, "values of type TIME("},
		{"interval", dataset.Options{}, "values of type INTERVAL in column interval"},
		{"int96", dataset.Options{}, "values of type INT96 (timestamps) in column int96"},
		{"bytes", dataset.Options{}, "bytes of the fixed length 3 in column bytes"},
		{"duckdb_lz4_v1", dataset.Options{Missing: dataset.MissingKeep, Table: dataset.TableOptions{Doc: "grade", Grade: "doc"}}, "text in column doc, expected a grade"},
		{"date", dataset.Options{}, "values of type DATE"},
		{"words", dataset.Options{}, "text in column words, expected numbers (--one-hot words"},
		{"words", dataset.Options{Table: dataset.TableOptions{Grade: "words", Except: []string{"grade"}}}, "text in column words, expected a grade"},
		{"runs", dataset.Options{Table: dataset.TableOptions{Query: "flag", Except: []string{"query"}}}, "no identifiers in column flag"},
		{"runs", dataset.Options{Table: dataset.TableOptions{OneHot: []string{"flag"}}}, "text or numbers to make features of"},
		{"words", dataset.Options{Table: dataset.TableOptions{Query: "none"}}, `no column "none" (--query)`},
		{"v1_dictionary", dataset.Options{}, "found nothing in column d of row 6, expected a number (or --missing"},
		{"v1_dictionary", dataset.Options{Missing: dataset.MissingZero, Table: dataset.TableOptions{Grade: "i", Except: []string{"grade"}}}, "expected a grade, a finite non-negative number"},
	} {
		path := filepath.Join("testdata", test.file+".parquet")
		err := input.With(path, test.opts, nil, func(in *input.Input) error {
			_, err := Read(in, test.opts)
			return err
		})
		if s, ok := errors.AsType[*dataset.SyntaxError](err); !ok || s.File != path || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, expected %q", test.file, err, test.want)
		}
	}
}

// Claim: columns of text, or of numbers that are named, become features, true and false in pages of version 2 are read, and columns
// left out may be of any type.
func TestChosenColumns(t *testing.T) {
	read := func(file string, o dataset.TableOptions) *dataset.Dataset {
		t.Helper()
		return readFile(t, filepath.Join("testdata", file+".parquet"), dataset.Options{Table: o}, Read)
	}
	d := read("words", dataset.TableOptions{OneHotAuto: true})
	if got, want := strings.Join(d.FeatureNames, " "), "x words=green words=red"; got != want {
		t.Errorf("features %s, expected %s", got, want)
	}
	if got := d.X(); got[1] != 0 || got[2] != 1 || got[4] != 1 || got[5] != 0 {
		t.Errorf("values %v", got)
	}
	d = read("words", dataset.TableOptions{OneHot: []string{"x"}, Except: []string{"words"}})
	if got, want := strings.Join(d.FeatureNames, " "), "x=0.5 x=1.5"; got != want {
		t.Errorf("features %s, expected %s", got, want)
	}
	if d := read("runs", dataset.TableOptions{}); d.Features != 2 || d.X()[1] != 1 || d.X()[3] != 0 {
		t.Errorf("true and false in runs: %v", d.X())
	}
	if d := read("nested", dataset.TableOptions{Except: []string{"nested"}}); d.Features != 1 || d.X()[1] != 1.5 {
		t.Errorf("without the nested column: %v", d.X())
	}
}

// Claim: a negative grade is an error, 0, or drops its document, as the options say.
func TestNegativeGrades(t *testing.T) {
	opts := dataset.Options{Missing: dataset.MissingKeep, Negative: dataset.NegativeDrop, Table: dataset.TableOptions{Grade: "f"}}
	for _, file := range []string{"v2_dictionary", "v1_plain", "v2_plain"} {
		for _, negative := range []dataset.Negative{dataset.NegativeZero, dataset.NegativeDrop} {
			opts.Negative = negative
			path := filepath.Join("testdata", file)
			var want, got *dataset.Dataset
			wantErr := input.With(path+".csv", opts, nil, func(in *input.Input) (err error) {
				want, err = table.ReadCSV(in, opts, ',')
				return err
			})
			gotErr := input.With(path+".parquet", opts, nil, func(in *input.Input) (err error) {
				got, err = Read(in, opts)
				return err
			})
			if wantErr != nil || gotErr != nil {
				if (wantErr == nil) != (gotErr == nil) {
					t.Errorf("%s: %v, expected %v", file, gotErr, wantErr)
				}
				continue
			}
			if diff := datatest.SameDocuments(want, got); diff != "" || strings.Join(got.Warnings, "") != strings.ReplaceAll(strings.Join(want.Warnings, ""), ".csv", ".parquet") {
				t.Errorf("%s, %v: %s; warnings %q", file, negative, diff, got.Warnings)
			}
		}
	}
}

// Claim: texts of categories become their codes and numbers stay; a text that is neither is an error
// with its row. categories.parquet is of pandas: colour is tan, red, nothing, 1, tan, and left text.
func TestCategories(t *testing.T) {
	options := func(colours ...string) dataset.Options {
		c, err := dataset.NewTextCategories(colours)
		if err != nil {
			t.Fatal(err)
		}
		sizes, err := dataset.NewNumberCategories([]float64{30, 10})
		if err != nil {
			t.Fatal(err)
		}
		return dataset.Options{
			Missing: dataset.MissingKeep, FeatureNames: []string{"x", "colour", "size", "left"},
			Categories: map[string]*dataset.Categories{"colour": c, "size": sizes, "left": dataset.NewUnusedCategories()},
		}
	}
	path := filepath.Join("testdata", "categories.parquet")
	notes := ""
	known := options("red", "tan")
	known.Note = func(note string) { notes += note }
	x := readFile(t, path, known, Read).X()
	if !strings.Contains(notes, "features from 4 columns") {
		t.Errorf("the notes are %q, expected all the columns that are read", notes)
	}
	for i, want := range []float32{1, 1, 30, 2, 0, 10, 3, 99, 30, 4, 1, 30, 5, 1, 10} { // 1 is a code; 99 is missing
		got := x[i/3*4+i%3]
		if got != got {
			got = 99
		}
		if got != want {
			t.Errorf("value %d is %v, expected %v", i, got, want)
		}
	}
	opts := options("tan", "blue")
	err := input.With(path, opts, nil, func(in *input.Input) error {
		_, err := Read(in, opts)
		return err
	})
	const want = `found "red" in column colour of row 2, expected one of the model's categories: "tan", "blue", or its code, a number from 0 to 1`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, expected %s", err, want)
	}
}
