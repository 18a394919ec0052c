package scored

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/datatest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/letor"
	"github.com/listwise/listwise/dataset/internal/parquet"
	"github.com/listwise/listwise/dataset/internal/table"
	"github.com/listwise/listwise/dataset/trec"
	"github.com/listwise/listwise/eval/measure"
)

// apart are two queries, of which the documents of the first stand in two places of the
// input: a, x, b of q1 and, between them, the only one of q2, which has no identifier.
func apart(t testing.TB) *dataset.Dataset {
	t.Helper()
	text := "0 qid:q1 1:1 # docid = a\n0 qid:q1 1:1 # docid = x\n0 qid:q2 1:1\n0 qid:q1 1:1 # docid = b\n"
	in, err := input.Hold(strings.NewReader(text), "f", dataset.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := letor.Read(in, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func written(t testing.TB, d *dataset.Dataset, scores []float64, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, d, scores, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Claim: every format has query, document, rank and score in the order asked for, ties in
// the order of the input, in a run by identifier, and no more than the top of every query.
func TestFormats(t *testing.T) {
	d := apart(t)
	scores := []float64{2, 1e-7, 2, 0.5} // rows: a, x, b of q1, then q2's
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{}, "2\n1e-07\n0.5\n2\n"},
		{Options{Format: "tsv"}, "query\tdocument\trank\tscore\nq1\ta\t1\t2\nq1\tx\t3\t1e-07\nq2\t1\t1\t0.5\nq1\tb\t2\t2\n"},
		{Options{Format: "tsv", BestFirst: true}, "query\tdocument\trank\tscore\nq1\ta\t1\t2\nq1\tb\t2\t2\nq1\tx\t3\t1e-07\nq2\t1\t1\t0.5\n"},
		{Options{Format: "csv", Top: 2}, "query,document,rank,score\nq1,a,1,2\nq2,1,1,0.5\nq1,b,2,2\n"},
		{Options{Format: "csv", Top: 1, BestFirst: true}, "query,document,rank,score\nq1,a,1,2\nq2,1,1,0.5\n"},
		{Options{Format: "jsonl", Top: 1}, `{"query":"q1","document":"a","rank":1,"score":2}` + "\n" + `{"query":"q2","document":"1","rank":1,"score":0.5}` + "\n"},
		{Options{Format: "json", Top: 1}, "[\n" + `{"query":"q1","document":"a","rank":1,"score":2},` + "\n" + `{"query":"q2","document":"1","rank":1,"score":0.5}` + "\n]\n"},
		{Options{Format: "run"}, "q1 Q0 b 1 2 listwise\nq1 Q0 a 2 2 listwise\nq1 Q0 x 3 1e-07 listwise\nq2 Q0 1 1 0.5 listwise\n"},
		{Options{Format: "run", Top: 1, Tag: "m-1"}, "q1 Q0 b 1 2 m-1\nq2 Q0 1 1 0.5 m-1\n"},
	} {
		if diff := cmp.Diff(c.want, written(t, d, scores, c.options)); diff != "" {
			t.Errorf("%+v: %s", c.options, diff)
		}
	}
	if names := Formats(); names[0] != "text" || strings.Count(About(), "\n") != len(names) {
		t.Errorf("formats %v, described by\n%s", names, About())
	}
}

// Claim: equal scores stand in a run as trec_eval takes them, by descending names as bytes compare,
// be these numbers within the query or ids; what it would take for one document twice is an error.
func TestTiesOfRuns(t *testing.T) {
	run := func(ids []string) (string, error) {
		var b dataset.Builder
		if err := b.Add("q", make([]float64, len(ids)), make([]float32, len(ids)), ids); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err := Write(&out, b.Dataset(), make([]float64, len(ids)), Options{Format: "run"})
		var names []string
		for line := range strings.Lines(out.String()) {
			names = append(names, strings.Fields(line)[2])
		}
		return strings.Join(names, " "), err
	}
	for _, c := range []struct {
		ids  []string
		want string
	}{
		{make([]string, 11), "9 8 7 6 5 4 3 2 11 10 1"},
		{[]string{"", "b", "", "é", "10", "B"}, "é b B 3 10 1"},
	} {
		if got, err := run(c.ids); err != nil || got != c.want {
			t.Errorf("%q: %s, %v, expected %s", c.ids, got, err, c.want)
		}
	}
	for _, ids := range [][]string{{"a", "3", ""}, {"x", "a", "b", "a"}} {
		if _, err := run(ids); err == nil || !strings.Contains(err.Error(), `twice in query "q", its documents 2 and `) {
			t.Errorf("%q: error %v", ids, err)
		}
	}
	if got, err := run([]string{"=1", "-x", "@y"}); err != nil || got != "@y =1 -x" {
		t.Errorf("%s, %v", got, err)
	}
}

// Claim: documents that were not retrieved are left out and take no rank.
func TestNotRetrieved(t *testing.T) {
	no := dataset.NotRetrieved
	got := written(t, apart(t), []float64{no, 1, 3, no}, Options{Format: "csv"})
	if want := "query,document,rank,score\nq1,x,2,1\nq1,b,1,3\n"; got != want {
		t.Errorf("%q", got)
	}
}

// Claim: what a format cannot say is an error that names it, and options that contradict
// each other are one before anything is written.
func TestErrors(t *testing.T) {
	build := func(query, doc string) *dataset.Dataset {
		var b dataset.Builder
		if err := b.Add(query, []float64{0}, []float32{1}, []string{doc}); err != nil {
			t.Fatal(err)
		}
		return b.Dataset()
	}
	for _, c := range []struct {
		query, doc string
		score      float64
		options    Options
		want       string
	}{
		{"q", "a\tb", 1, Options{Format: "run"}, `found the document id "a\tb", expected one without tabs`},
		{" q", "a", 1, Options{Format: "run"}, `found the query id " q", expected one without tabs`},
		{"q", "a\tb", 1, Options{Format: "tsv"}, `found the identifier "a\tb", expected one without tabs and line ends, or the format csv or jsonl`},
		{"q", "a", math.NaN(), Options{Format: "csv"}, "score NaN of document a of query q"},
		{"q", "a", math.Inf(1), Options{Format: "run"}, "score +Inf of document a of query q"},
		{"q", "a", dataset.NotRetrieved, Options{}, "score -Inf of document 1"},
		{"q", "a", 1, Options{BestFirst: true}, "found the format text, which has scores alone, expected another to choose or order documents"},
		{"q", "a", 1, Options{Top: 3}, "found the format text"},
		{"q", "a", 1, Options{Top: -1, Format: "run"}, "found the rank -1"},
		{"q", "a", 1, Options{Format: "csv", Tag: "t"}, `found the tag "t", expected the format run`},
		{"q", "a", 1, Options{Format: "run", Tag: "my tag"}, `found the tag "my tag", expected one without blanks`},
		{"q", "a", 1, Options{Format: "jsno"}, `unknown format "jsno": did you mean "json"?`},
	} {
		err := Write(new(bytes.Buffer), build(c.query, c.doc), []float64{c.score}, c.options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c, err, c.want)
		}
	}
}

// drawScored draws queries with hostile identifiers, and finite scores of any size.
func drawScored(t *rapid.T) (*dataset.Dataset, []float64) {
	var b dataset.Builder
	var scores []float64
	for i := range rapid.IntRange(1, 4).Draw(t, "queries") {
		n := rapid.IntRange(1, 6).Draw(t, "documents")
		ids, grades := make([]string, n), make([]float64, n)
		for j := range ids {
			ids[j] = rapid.SampledFrom([]string{"", "=1+1", `"`, ",", "é", "-", "a,b"}).Draw(t, "id") + strconv.Itoa(j)
			grades[j] = float64(rapid.IntRange(0, 2).Draw(t, "grade"))
			scores = append(scores, rapid.Float64().Filter(func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }).Draw(t, "score"))
		}
		if err := b.Add(fmt.Sprint(rapid.SampledFrom([]string{"", "@", "#", "'"}).Draw(t, "query"), i), grades, make([]float32, n), ids); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset(), scores
}

// Claim: what is written reads back as the same scores of the same documents, bit by bit: a
// run by its own reader, CSV and JSON by the standard library's.
func TestReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, scores := drawScored(t)
		want := map[string]float64{}
		for i := range d.Queries {
			q := &d.Queries[i]
			for j := range q.Len() {
				want[q.ID+" "+q.DocID(j)] = scores[q.Start+j]
			}
		}
		write := func(format string) []byte {
			var b bytes.Buffer
			if err := Write(&b, d, scores, Options{Format: format}); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}
		same := func(format string, got map[string]float64) {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: %s", format, diff)
			}
		}
		run, err := trec.ReadRun(bytes.NewReader(write("run")), "f", dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, q := range run.Queries() {
			run.Each(q, func(doc string, score float64) { got[q+" "+doc] = score })
		}
		same("run", got)

		records, err := csv.NewReader(bytes.NewReader(write("csv"))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		got = map[string]float64{}
		for _, r := range records[1:] {
			v, err := strconv.ParseFloat(r[3], 64)
			if err != nil {
				t.Fatal(err)
			}
			got[r[0]+" "+r[1]] = v
		}
		same("csv", got)

		var list []struct {
			Query, Document string
			Score           float64
		}
		if err := json.Unmarshal(write("json"), &list); err != nil {
			t.Fatal(err)
		}
		got = map[string]float64{}
		for _, e := range list {
			got[e.Query+" "+e.Document] = e.Score
		}
		same("json", got)

		plainScores, err := letor.ReadScores(bytes.NewReader(write("text")), compress.Plain, "f", len(scores), dataset.Options{})
		if diff := cmp.Diff(scores, plainScores); err != nil || diff != "" {
			t.Fatalf("text: %v %s", err, diff)
		}
	})
}

// Claim: where no scores of a query are equal, the run of scores measures as the scores do,
// by every measure, through writing, reading and joining.
func TestRunMeasuresAsScores(t *testing.T) {
	measures, err := measure.ParseList("map,ndcg,ndcg@3,p@2,r@3,mrr,bpref,err,auc,rprec,success@2", measure.TREC, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		d, _ := drawScored(t)
		scores := rapid.SliceOfNDistinct(rapid.Float64Range(-1e9, 1e9), d.Docs(), d.Docs(), rapid.ID[float64]).Draw(t, "scores")
		var b bytes.Buffer
		if err := Write(&b, d, scores, Options{Format: "run"}); err != nil {
			t.Fatal(err)
		}
		run, err := trec.ReadRun(&b, "f", dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		pool, err := trec.Pool(d, run)
		if err != nil {
			t.Fatal(err)
		}
		joined, err := run.Join(pool)
		if err != nil || joined.Missed != (trec.Missed{}) {
			t.Fatalf("%v, %+v", err, joined)
		}
		want, err := measure.Evaluate(d, scores, measures, measure.TiesInput)
		if err != nil {
			t.Fatal(err)
		}
		got, err := measure.Evaluate(pool, joined.Scores, measures, measure.TiesInput)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range measures {
			if diff := cmp.Diff(want.PerQuery(m), got.PerQuery(m)); diff != "" {
				t.Fatalf("%s: %s", m.Name(), diff)
			}
		}
	})
}

// Claim: a Parquet file has the rows that a table of text has, of any number of row groups.
func TestParquet(t *testing.T) {
	d := apart(t)
	scores := []float64{2, 1e-7, 2, -0.5}
	for _, o := range []Options{{}, {BestFirst: true}, {Top: 1}} {
		read := func(format string, read func(*input.Input, dataset.Options) (*dataset.Dataset, error)) *dataset.Dataset {
			o.Format = format
			opts := dataset.Options{Table: dataset.TableOptions{Ungraded: true}}
			in, err := input.Hold(strings.NewReader(written(t, d, scores, o)), "f", opts, nil)
			if err != nil {
				t.Fatal(err)
			}
			again, err := read(in, opts)
			if err != nil {
				t.Fatal(err)
			}
			return again
		}
		want := read("csv", func(in *input.Input, opts dataset.Options) (*dataset.Dataset, error) {
			return table.ReadCSV(in, opts, ',')
		})
		got := read("parquet", parquet.Read)
		if diff := datatest.SameDocuments(want, got); diff != "" || strings.Join(got.FeatureNames, " ") != "rank score" {
			t.Errorf("%+v: %s; names %q", o, diff, got.FeatureNames)
		}
	}
}
