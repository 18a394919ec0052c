package app

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// country is that of a query of the tables that writeShop writes, "" for none.
func country(q int) string { return []string{"DE", "US", "", "FR"}[q*q%4*q%4] }

// writeShop writes a table of queries whose country, age and weight are columns of their own.
func writeShop(t *testing.T, path string, seed uint64, queries int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var b bytes.Buffer
	b.WriteString("query,grade,country,age,query_weight,bm25,ctr\n")
	for q := range queries {
		weight := 0.5 + rng.Float64()
		for range 2 + rng.IntN(20) {
			x, y := rng.NormFloat64(), rng.NormFloat64()
			grade := max(0, min(2, math.Round(x+0.3*y+rng.NormFloat64())))
			fmt.Fprintf(&b, "s%d-%d,%v,%s,%d,%v,%v,%v\n", seed, q, grade, country(q), q%40, weight, x, y)
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// perQueryOf returns the values of a measure by query, and the queries' weights, as eval leaves them.
func perQueryOf(t *testing.T, name, data string) (values, weights map[string]float64) {
	t.Helper()
	mustCall(t, "eval", "--data", data, "--features", "bm25,ctr", "--model", name, "--measures", "map", "--per-query", "q.csv")
	text, err := os.ReadFile("q.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || strings.Join(rows[0], ",") != "query,weight,map" {
		t.Fatalf("values by query are %v (%v)", rows[0], err)
	}
	values, weights = make(map[string]float64), make(map[string]float64)
	for _, r := range rows[1:] {
		for k, into := range []map[string]float64{weights, values} {
			if into[r[0]], err = strconv.ParseFloat(r[1+k], 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	return values, weights
}

// slicedBy are the slices that commands print as JSON, as scripts read them.
type slicedBy struct {
	By, Note string
	Slices   []struct {
		Slice    string
		NoValue  bool `json:"no_value"`
		Queries  int
		Measures map[string]struct {
			Mean    *float64
			CI      *[2]float64
			Counted int `json:"queries_counted"`
		}
	}
}

// The means of slices are those of the values of eval's --per-query, grouped by hand and by the
// queries' weights; compare prints the same means and intervals, and differences that are theirs.
func TestSlicesAgainstPerQuery(t *testing.T) {
	t.Chdir(t.TempDir())
	writeShop(t, "train.csv", 1, 30)
	writeShop(t, "test.csv", 2, 50)
	for _, m := range []string{"mle", "regression"} {
		mustCall(t, "train", "--method", m, "--train", "train.csv", "--features", "bm25,ctr", "--query-weight", "query_weight", "--model", m+".json")
	}
	values, weights := perQueryOf(t, "mle.json", "test.csv")
	others, _ := perQueryOf(t, "regression.json", "test.csv")
	sums, worse, total, counts := make(map[string]float64), make(map[string]float64), make(map[string]float64), make(map[string]int)
	for id, v := range values {
		q, err := strconv.Atoi(strings.TrimPrefix(id, "s2-"))
		if err != nil {
			t.Fatal(err)
		}
		key := country(q)
		sums[key] += weights[id] * v
		worse[key] += weights[id] * others[id]
		total[key] += weights[id]
		counts[key]++
	}
	var evaluated struct{ Slices []slicedBy }
	decode(t, mustCall(t, "eval", "--data", "test.csv", "--model", "mle.json", "--measures", "map", "--by", "country,length", "--format", "json"), &evaluated)
	if len(evaluated.Slices) != 2 || evaluated.Slices[0].By != "country" || len(evaluated.Slices[0].Slices) != len(counts) {
		t.Fatalf("slices are %+v", evaluated.Slices)
	}
	for _, s := range evaluated.Slices[0].Slices {
		key := s.Slice
		if s.NoValue {
			key = ""
		}
		m := s.Measures["map"]
		if s.Queries != counts[key] || m.Counted != counts[key] || math.Abs(*m.Mean-sums[key]/total[key]) > 1e-12 || m.CI[0] > *m.Mean || m.CI[1] < *m.Mean {
			t.Errorf("slice %+v, by hand %d queries with the mean %v", s, counts[key], sums[key]/total[key])
		}
	}
	var compared struct {
		Slices []struct {
			By, Slice string
			Queries   int
			Systems   []struct {
				Name string
				Mean float64
				CI   [2]float64
			}
			Pairs []struct {
				A, B       string
				Difference float64
			}
		}
	}
	decode(t, mustCall(t, "compare", "--data", "test.csv", "--by", "country,length", "--format", "json", "mle.json", "regression.json"), &compared)
	at := 0
	for _, by := range evaluated.Slices {
		for _, s := range by.Slices {
			c, m := compared.Slices[at], s.Measures["map"]
			if at++; c.By != by.By || c.Slice != s.Slice || c.Queries != s.Queries || math.Abs(c.Systems[0].Mean-*m.Mean) > 1e-12 || m.CI != nil && c.Systems[0].CI != *m.CI {
				t.Errorf("compare has the slice %+v, eval %+v", c, s)
			}
			if len(c.Pairs) > 0 && math.Abs(c.Pairs[0].Difference-(c.Systems[0].Mean-c.Systems[1].Mean)) > 1e-12 {
				t.Errorf("the difference on %s is %v of %+v", c.Slice, c.Pairs[0].Difference, c.Systems)
			}
			if key := strings.ReplaceAll(c.Slice, "(no value)", ""); c.By == "country" && math.Abs(c.Systems[1].Mean-worse[key]/total[key]) > 1e-12 {
				t.Errorf("the second system has %v on %q, by hand %v", c.Systems[1].Mean, key, worse[key]/total[key])
			}
		}
	}
}

// tune, auto and fuse print the same slices of the queries they measured, whose means are those of compare or
// eval on what they leave; so does the file of results.
func TestSlicesOfFolds(t *testing.T) {
	t.Chdir(t.TempDir())
	writeShop(t, "shop.csv", 3, 40)
	data := []string{"--data", "shop.csv", "--features", "bm25,ctr", "--by", "country,age,relevant", "--measures", "map", "--format", "json"}
	var tuned struct {
		Methods []struct {
			Measures map[string]struct{ Pooled float64 }
			Slices   []slicedBy
		}
	}
	out := mustCall(t, append([]string{"tune", "--method", "mle,regression", "--grid", "C=1", "--folds", "3", "--out", "tuned"}, data...)...)
	decode(t, out, &tuned)
	check := func(name string, pooled float64, slices []slicedBy) {
		t.Helper()
		if len(slices) != 3 || slices[1].By != "age" || slices[1].Note == "" {
			t.Fatalf("%s: slices are %+v", name, slices)
		}
		for _, by := range slices {
			queries := 0
			for _, s := range by.Slices {
				queries += s.Queries
			}
			if queries != 40 {
				t.Errorf("%s by %s: %d queries, expected 40", name, by.By, queries)
			}
		}
		if math.IsNaN(pooled) || pooled <= 0 {
			t.Errorf("%s: pooled mean %v", name, pooled)
		}
	}
	for i, m := range tuned.Methods {
		check(fmt.Sprint("method ", i), m.Measures["map"].Pooled, m.Slices)
	}
	text, err := os.ReadFile("tuned/results.json")
	if err != nil || string(text) != out {
		t.Errorf("results.json is not what tune prints (%v)", err)
	}
	var found struct {
		Systems []struct {
			Measures map[string]struct{ Pooled float64 }
			Slices   []slicedBy
		}
	}
	decode(t, mustCall(t, append([]string{"auto", "--trials", "2", "--folds", "2", "--out", "found"}, data...)...), &found)
	for i, s := range found.Systems {
		check(fmt.Sprint("system ", i), s.Measures["map"].Pooled, s.Slices)
	}
	mustCall(t, "train", "--method", "mle", "--train", "shop.csv", "--features", "bm25,ctr", "--model", "m.json")
	mustCall(t, "train", "--method", "regression", "--train", "shop.csv", "--features", "bm25,ctr", "--model", "r.json")
	var fused struct{ Systems, Fusions []struct{ Slices []slicedBy } }
	decode(t, mustCall(t, "fuse", "--data", "shop.csv", "--by", "country", "--rule", "rrf", "--measures", "map", "--format", "json", "m.json", "r.json"), &fused)
	var evaluated struct{ Slices []slicedBy }
	decode(t, mustCall(t, "eval", "--data", "shop.csv", "--by", "country", "--model", "r.json", "--measures", "map", "--format", "json"), &evaluated)
	if got, want := fmt.Sprint(*fused.Systems[1].Slices[0].Slices[0].Measures["map"].Mean), fmt.Sprint(*evaluated.Slices[0].Slices[0].Measures["map"].Mean); got != want || len(fused.Fusions[0].Slices) != 1 {
		t.Errorf("fuse has the mean %s on a slice, eval %s", got, want)
	}
}

// As CSV, the rows of slices stand under the table's own columns, and the key and the slice behind these.
func TestSlicesAsCSV(t *testing.T) {
	t.Chdir(t.TempDir())
	writeShop(t, "shop.csv", 4, 20)
	mustCall(t, "train", "--method", "mle", "--train", "shop.csv", "--features", "bm25,ctr", "--model", "m.json")
	mustCall(t, "train", "--method", "regression", "--train", "shop.csv", "--features", "bm25,ctr", "--model", "r.json")
	for _, args := range [][]string{
		{"eval", "--data", "shop.csv", "--model", "m.json", "--measures", "map"},
		{"compare", "--data", "shop.csv", "m.json", "r.json"},
		{"fuse", "--data", "shop.csv", "--rule", "rrf", "--measures", "map", "m.json", "r.json"},
	} {
		plain := strings.Split(mustCall(t, append(args, "--format", "csv")...), "\n")
		sliced, err := csv.NewReader(strings.NewReader(mustCall(t, append(args, "--format", "csv", "--by", "country")...))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(strings.Join(sliced[0], ","), plain[0]+",by,slice") || len(sliced) <= len(plain)-1 {
			t.Errorf("%s: columns are %v, without --by %s", args[0], sliced[0], plain[0])
		}
		slice := 0
		for i, name := range sliced[0] {
			if name == "slice" {
				slice = i
			}
		}
		for i, row := range sliced[1:] {
			if (row[slice] != "") != (i+1 >= len(plain)-1) {
				t.Errorf("%s: row %d is %v", args[0], i+1, row)
			}
		}
	}
}

// A column that --by names is a feature by the same rules as without: by default it is one in every command that
// learns, and one that is text is refused there; a model reads its own features, whatever --by names.
func TestByChangesNoFeatures(t *testing.T) {
	t.Chdir(t.TempDir())
	writeShop(t, "shop.csv", 5, 20)
	if code, _, errs := call("tune", "--method", "mle", "--grid", "C=1", "--data", "shop.csv", "--by", "country", "--out", "o"); code != exitUsage || !strings.Contains(errs, "--features 'all but country' leaves it out") {
		t.Errorf("a column of text: exit code %d, %s", code, errs)
	}
	features := func(args ...string) string {
		mustCall(t, append([]string{"tune", "--method", "mle", "--grid", "C=1", "--data", "shop.csv", "--folds", "2", "--refit", "--out", "tuned"}, args...)...)
		text, err := os.ReadFile("tuned/model.json")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll("tuned"); err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, choice := range []string{"all but country", "bm25,ctr"} {
		if features("--features", choice) != features("--features", choice, "--by", "country,age") {
			t.Errorf("--features %q: --by makes another model", choice)
		}
	}
	for model, choice := range map[string]string{"with.json": "all but country", "without.json": "bm25,ctr"} {
		mustCall(t, "train", "--method", "mle", "--train", "shop.csv", "--features", choice, "--model", model)
		plain := mustCall(t, "eval", "--data", "shop.csv", "--model", model)
		if sliced := mustCall(t, "eval", "--data", "shop.csv", "--model", model, "--by", "age,country"); !strings.HasPrefix(sliced, plain) {
			t.Errorf("%s: --by changes the means:\n%s\n%s", model, plain, sliced)
		}
	}
}
