package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/featurelog"
	"github.com/listwise/listwise/dataset/trec"
	"github.com/listwise/listwise/engine"
	"github.com/listwise/listwise/internal/atomicfile"
)

type engineLogFlags struct {
	connection
	memoryLimit
	data    string
	column  string
	request string
	store   string
	name    string
	depth   int
	skip    bool
	out     string
	run     string
}

func newEngineLogCommand(env *environment) *cobra.Command {
	var f engineLogFlags
	cmd := &cobra.Command{
		Use:   "log --solr URL --data FILE --request FILE (--store S | --name N) (--out FILE | --run FILE)",
		Short: "Log features and rankings of a search engine",
		Long: `Sends a search request to the engine for each query of the data, which may be a
judgement list. ` + requestForms + `

--store logs all features of a feature store or set. --name reranks by an uploaded model
and logs its features. --depth reranks only the first documents (default: all).

--skip-failed leaves out queries that the engine answers with 400 or 500, such as queries
with wrong syntax. Without it, the first such query ends the command.

--out receives the answers, one a line, for "listwise data log". --run receives the
rankings as a TREC run, for "listwise eval --scores" and "listwise compare". The scores
of a run only state the order: N-1 for the first of N documents, 0 for the last.`,
		Example: `  listwise engine log --solr http://localhost:8983/solr/products --store shop --data quepid.csv --request request.json --out answers.jsonl
  listwise engine log --elasticsearch http://localhost:9200 --index products --store shop --data quepid.csv --request body.json --out answers.jsonl
  listwise engine log --solr http://localhost:8983/solr/products --name shop --depth 20 --data quepid.csv --request request.json --run live.run`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "data", "request"); err != nil {
				return err
			}
			if (f.store == "") == (f.name == "") {
				return usageErrorf("--store and --name: found both or neither, expected a feature store or a model")
			}
			if f.out == "" && f.run == "" {
				return needs(cmd, "--out or --run")
			}
			if f.depth > 0 && f.name == "" {
				return usageErrorf("--depth %d: found no --name, expected the model that reranks", f.depth)
			}
			return f.collect(cmd, env)
		},
	}
	fl := cmd.Flags()
	f.connection.addTo(fl, true)
	f.memoryLimit.addTo(cmd)
	fl.StringVar(&f.data, "data", "", "`file` with the queries: data or a judgement list")
	fl.StringVar(&f.column, "query", "", "`column` of queries in a table (default: query, qid, query_id, …)")
	fl.StringVar(&f.request, "request", "", "JSON `file` with the search request")
	fl.StringVar(&f.store, "store", "", "`name` of the feature store or set to log")
	fl.StringVar(&f.name, "name", "", "`name` of a model in the engine, which reranks")
	addWhole(fl, &f.depth, "depth", 0, 0, "`number` of documents to rerank; 0: all (with --name)")
	fl.BoolVar(&f.skip, "skip-failed", false, "leave out queries that the engine refuses")
	fl.StringVar(&f.out, "out", "", "output `file` for the answers")
	fl.StringVar(&f.run, "run", "", "output `file` for the rankings, a TREC run")
	return cmd
}

func (f *engineLogFlags) targets() *targets {
	return new(targets).reads("--data", f.data).reads("--request", f.request).writes("--out", f.out).writes("--run", f.run)
}

// loggedJSON is the result for scripts.
type loggedJSON struct {
	Queries   int    `json:"queries"`
	Documents int    `json:"documents"`
	Empty     int    `json:"queries_without_documents"`
	Refused   int    `json:"queries_refused,omitempty"`
	Out       string `json:"out,omitempty"`
	Run       string `json:"run,omitempty"`
}

func (f *engineLogFlags) collect(cmd *cobra.Command, env *environment) error {
	if err := f.targets().check(); err != nil {
		return err
	}
	d, err := f.read(cmd, env)
	if err != nil {
		return err
	}
	s, err := f.searcher(cmd, env)
	if err != nil {
		return err
	}
	done := loggedJSON{Queries: len(d.Queries), Out: f.out, Run: f.run}
	var run []byte
	first := "" // refused query
	answers := func(w io.Writer) error {
		bar := env.startProgress("searching, queries", len(d.Queries))
		defer bar.finish()
		for i := range d.Queries {
			query := d.Queries[i].ID
			docs, err := f.search(cmd.Context(), s, query, w)
			if refused(err) && f.skip {
				if done.Refused++; done.Refused == 1 {
					first = fmt.Sprintf("query %s: %v", query, err)
				}
				continue
			}
			if refused(err) {
				return fmt.Errorf("query %s: %w (--skip-failed leaves such queries out)", query, err)
			}
			if err != nil {
				return fmt.Errorf("query %s: %w", query, err)
			}
			if f.run != "" {
				if run, err = appendRanking(run, query, docs); err != nil {
					return usageErrorf("--run: %w", err)
				}
			}
			done.Documents += len(docs)
			if len(docs) == 0 {
				done.Empty++
			}
			bar.set(i+1, len(d.Queries))
		}
		if done.Refused == len(d.Queries) {
			return fmt.Errorf("the engine refused all %d queries; %s", done.Refused, first)
		}
		return nil
	}
	if f.out == "" {
		err = answers(io.Discard)
	} else {
		err = atomicfile.Write(f.out, answers)
	}
	if err == nil && f.run != "" {
		err = atomicfile.Write(f.run, func(w io.Writer) error {
			_, err := w.Write(run)
			return err
		})
	}
	if err != nil {
		return err
	}
	if done.Refused > 0 {
		env.note("warning: the engine refused %d of %d queries, which are left out; %s", done.Refused, done.Queries, first)
	}
	return env.print(report{
		columns: []string{"what", "value"},
		rows:    [][]any{{"queries", done.Queries}, {"documents", done.Documents}, {"queries without documents", done.Empty}},
		json:    done,
	})
}

// read reads the queries. Grades and features have no influence.
func (f *engineLogFlags) read(cmd *cobra.Command, env *environment) (*dataset.Dataset, error) {
	opts := f.options()
	opts.Missing, opts.Negative, opts.Conflicts, opts.GradesOnly = dataset.MissingKeep, dataset.NegativeZero, dataset.ConflictsLast, true
	opts.Table.Ungraded, opts.Table.Query = true, f.column
	return env.openAndWarn(cmd.Context(), "data", f.data, opts)
}

func (f *engineLogFlags) searcher(cmd *cobra.Command, env *environment) (*engine.Searcher, error) {
	e, _, err := f.open(cmd, env)
	if err != nil {
		return nil, err
	}
	request, err := readRequest(e, f.request)
	if err != nil {
		return nil, err
	}
	if f.store != "" {
		return e.Log(cmd.Context(), f.store, request)
	}
	return e.Rerank(cmd.Context(), f.name, f.depth, request)
}

// requestForms describes --request in help texts.
const requestForms = `"{query}" in a text of --request is replaced by the query.
For Solr, --request is a JSON object with the parameters of a search request:

  {"q": "{query}", "defType": "edismax", "qf": "title", "rows": 100}

Each ${NAME} in the store's features needs a parameter NAME. For Elasticsearch and
OpenSearch, --request is the body of a search request for --index. Its member "params"
has the parameters of the features and is not sent:

  {"query": {"match": {"title": "{query}"}}, "size": 100, "params": {"keywords": "{query}"}}`

// refused reports whether an engine may refuse one query and answer others.
func refused(err error) bool {
	s, ok := errors.AsType[*engine.StatusError](err)
	return ok && (s.Status == http.StatusBadRequest || s.Status == http.StatusInternalServerError)
}

// readRequest reads the file of --request.
func readRequest(e *engine.Engine, path string) (engine.Request, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, usageErrorf("--request: %w", err)
	}
	request, err := e.ParseRequest(text)
	if err != nil {
		return nil, usageErrorf("--request %s: %w", path, err)
	}
	return request, nil
}

// search writes the answer to a query as a line, and returns its documents.
func (f *engineLogFlags) search(ctx context.Context, s *engine.Searcher, query string, w io.Writer) ([]featurelog.Document, error) {
	answer, err := s.Answer(ctx, query)
	if err != nil {
		return nil, err
	}
	docs, err := s.Documents(answer)
	if err != nil {
		return nil, err
	}
	name, err := json.Marshal(query)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(w, "{\"query\":%s,\"answer\":%s}\n", name, answer)
	return docs, err
}

// appendRanking adds a query's documents to a run. A reranked document may have a lower score than one below it, so
// the scores of the run state the order.
func appendRanking(run []byte, query string, docs []featurelog.Document) ([]byte, error) {
	if err := trec.CheckID("the query", query); err != nil {
		return nil, err
	}
	for i, d := range docs {
		if err := trec.CheckID("the document", d.ID); err != nil {
			return nil, err
		}
		run = trec.AppendLine(run, query, d.ID, i+1, float64(len(docs)-1-i), "engine", '\t')
	}
	return run, nil
}
