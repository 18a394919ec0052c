// Command featurelog writes answers of a search engine with logged features, and judgements of their documents, to
// measure "listwise data log". check.sh does that.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strings"
)

func main() {
	form := flag.String("form", "solr", "form of the answers: solr or elasticsearch")
	documents := flag.Int("documents", 1_000_000, "number of documents")
	features := flag.Int("features", 36, "number of features")
	answers := flag.String("answers", "answers.jsonl", "file to write answers to")
	judgements := flag.String("judgements", "judgements.csv", "file to write judgements to")
	flag.Parse()
	if err := write(*form, *documents, *features, *answers, *judgements); err != nil {
		log.Fatal(err)
	}
}

// perAnswer is the number of documents of an answer.
const perAnswer = 100

func write(form string, documents, features int, answers, judgements string) error {
	a, err := os.Create(answers)
	if err != nil {
		return err
	}
	j, err := os.Create(judgements)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(1, 2))
	out, grades := bufio.NewWriterSize(a, 1<<20), bufio.NewWriterSize(j, 1<<20)
	fmt.Fprintln(grades, "query,docid,rating")
	for first := 0; first < documents; first += perAnswer {
		query := fmt.Sprintf("query %d", first/perAnswer+1)
		begin(out, form, query)
		for d := range min(perAnswer, documents-first) {
			if d > 0 {
				out.WriteByte(',')
			}
			id := fmt.Sprintf("document-%d", first+d+1)
			document(out, form, id, features, r)
			fmt.Fprintf(grades, "%s,%s,%d\n", query, id, r.IntN(5))
		}
		out.WriteString("]}}\n")
	}
	for _, f := range []struct {
		w *bufio.Writer
		f *os.File
	}{{out, a}, {grades, j}} {
		if err := f.w.Flush(); err != nil {
			return err
		}
		if err := f.f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func begin(out *bufio.Writer, form, query string) {
	if form == "solr" {
		fmt.Fprintf(out, `{"responseHeader":{"status":0,"QTime":9,"params":{"q":%q,"fl":"id,score,[features]"}},"response":{"numFound":%d,"start":0,"docs":[`, query, perAnswer)
		return
	}
	fmt.Fprintf(out, `{"query":%q,"took":9,"timed_out":false,"hits":{"max_score":9.5,"hits":[`, query)
}

func document(out *bufio.Writer, form, id string, features int, r *rand.Rand) {
	if form == "solr" {
		fmt.Fprintf(out, `{"id":%q,"title":"A title of some words","score":%v,"[features]":"`, id, value(r))
		for k := range features {
			fmt.Fprintf(out, "%sfeatureNumber%d=%v", strings.Repeat(",", min(k, 1)), k+1, value(r))
		}
		out.WriteString(`"}`)
		return
	}
	fmt.Fprintf(out, `{"_index":"shop","_id":%q,"_score":%v,"_source":{"title":"A title of some words"},"fields":{"_ltrlog":[{"log":[`, id, value(r))
	for k := range features {
		fmt.Fprintf(out, `%s{"name":"featureNumber%d","value":%v}`, strings.Repeat(",", min(k, 1)), k+1, value(r))
	}
	out.WriteString(`]}]}}`)
}

func value(r *rand.Rand) float32 { return float32(20 * r.Float64()) }
