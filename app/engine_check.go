package app

import (
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/featurelog"
	"github.com/listwise/listwise/engine"
	"github.com/listwise/listwise/model"
)

type engineCheckFlags struct {
	connection
	scoring
	name      string
	model     string
	data      string
	request   string
	answers   string
	id        string
	tolerance float64
}

func newEngineCheckCommand(env *environment) *cobra.Command {
	var f engineCheckFlags
	cmd := &cobra.Command{
		Use:   "check --solr URL --name N --model M --data FILE --request FILE",
		Short: "Compare an engine's ranking with the model's scores",
		Long: `Reranks each query of the data by the model in the engine. Compares the engine's scores
with the model's own scores of the features in the data. Documents are matched by id.

` + requestForms + `

check adds the reranking of all documents that the request asks for (default 100), unless
a request to Solr has the parameter rq.

--answers reads stored answers instead, one for each query of the data in the order of the
data, in any form that "listwise data log" reads. The documents need the model's score and
their features: score and [features] of Solr, or _score and _ltrlog of Elasticsearch and
OpenSearch.

Differences are relative for scores beyond 1. An export may omit an intercept: a constant
difference, which the output states. Queries in another order are errors unless the
scores there are equal within the tolerance. The exit code is 1 if the largest
difference exceeds --tolerance or the order differs. The output then has the first
document that differs, with its features in the data and in the engine.`,
		Example: `  listwise engine check --solr http://localhost:8983/solr/products --name shop --model m.json --data logged.csv --request request.json
  listwise engine check --answers answers.json --model m.json --data logged.csv`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "model", "data"); err != nil {
				return err
			}
			if f.answers != "" && (f.solr+f.elasticsearch+f.opensearch+f.index != "" || f.request != "" || f.name != "") {
				return usageErrorf("--answers: found an engine, --request or --name, too, expected stored answers or an engine")
			}
			if f.answers == "" {
				if err := required(cmd, "name", "request"); err != nil {
					return err
				}
			}
			return f.run(cmd, env)
		},
	}
	fl := cmd.Flags()
	f.connection.addTo(fl, true)
	fl.StringVar(&f.name, "name", "", "`name` of the model in the engine")
	fl.StringVar(&f.model, "model", "", "model `file`")
	fl.StringVar(&f.data, "data", "", "data `file` with logged features")
	fl.StringVar(&f.request, "request", "", "JSON `file` with the search request")
	fl.StringVar(&f.answers, "answers", "", "`file` of stored answers, instead of an engine")
	fl.StringVar(&f.id, "id-field", "", "`name` of the field of document ids in --answers (default: id, _id)")
	addReal(fl, &f.tolerance, "tolerance", 1e-5, math.MaxFloat64, "largest accepted `difference` of scores")
	f.scoring.addTo(cmd)
	return cmd
}

func (f *engineCheckFlags) run(cmd *cobra.Command, env *environment) error {
	m, d, err := f.read(cmd, env)
	if err != nil {
		return err
	}
	queries, own, err := ownScores(m, f.model, f.data, d)
	if err != nil {
		return err
	}
	var live [][]featurelog.Document
	if f.answers != "" {
		live, err = f.stored(cmd, len(queries))
	} else {
		live, err = f.rerank(cmd, env, queries)
	}
	if err != nil {
		return err
	}
	p := engine.Compare(queries, own, live, f.tolerance)
	if p.Documents == 0 {
		return fmt.Errorf("the engine returned none of the %d documents of %s, expected documents with the same ids", p.Absent, f.data)
	}
	if p.Absent > 0 {
		env.note("warning: the engine did not return %d of %d documents of %s: a larger \"rows\" or another \"q\" in the request may return them", p.Absent, p.Absent+p.Documents, f.data)
	}
	if err := env.print(parityReport(p)); err != nil {
		return err
	}
	if p.Different > 0 || p.Reordered != nil {
		return fmt.Errorf("the engine ranks differently: %d of %d documents beyond the tolerance %v, %d of %d queries in another order",
			p.Different, p.Documents, f.tolerance, len(p.Reordered), p.Queries)
	}
	return nil
}

func (f *engineCheckFlags) read(cmd *cobra.Command, env *environment) (*model.Model, *dataset.Dataset, error) {
	opts, err := f.options()
	if err != nil {
		return nil, nil, err
	}
	m, err := env.loadModel("model", f.model)
	if err != nil {
		return nil, nil, err
	}
	opts.Table.Ungraded = true
	if err := f.forModels(&opts, m); err != nil {
		return nil, nil, err
	}
	if opts.Negative == dataset.NegativeError { // grades have no influence
		opts.Negative = dataset.NegativeZero
	}
	d, err := env.openAndWarn(cmd.Context(), "data", f.data, opts)
	if err != nil {
		return nil, nil, err
	}
	for i := range d.Queries {
		if d.Queries[i].Len() > 0 && d.Queries[i].DocID(0) == "" {
			return nil, nil, usageErrorf("%s: found documents without ids, expected those of the engine", f.data)
		}
	}
	return m, d, f.checkModel(f.model, m, make(map[string]bool))
}

// ownScores returns the queries and their documents with the model's scores.
func ownScores(m *model.Model, path, data string, d *dataset.Dataset) (queries []string, own [][]engine.Own, err error) {
	scores, err := scoreWith(m, path, data, d)
	if err != nil {
		return nil, nil, err
	}
	names := d.FeatureNames
	for j := len(names); j < d.Features; j++ {
		names = append(names, fmt.Sprintf("feature_%d", j+1))
	}
	for i := range d.Queries {
		q := &d.Queries[i]
		docs := make([]engine.Own, q.Len())
		for k := range docs {
			docs[k] = engine.Own{ID: q.DocID(k), Score: scores[q.Start+k], Features: make(map[string]float64, d.Features)}
			for j, v := range q.Row(k) {
				docs[k].Features[names[j]] = float64(v)
			}
		}
		queries, own = append(queries, q.ID), append(own, docs)
	}
	return queries, own, nil
}

func (f *engineCheckFlags) stored(cmd *cobra.Command, queries int) ([][]featurelog.Document, error) {
	file, err := os.Open(f.answers)
	if err != nil {
		return nil, usageErrorf("--answers: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	opts := f.memoryLimit.options()
	opts.Context = cmd.Context()
	answers, err := featurelog.ReadDocuments(file, f.answers, f.id, opts)
	if err != nil {
		return nil, logFault("--answers: ", err)
	}
	if len(answers) != queries {
		return nil, usageErrorf("--answers %s: found %d answers, expected one for each of the %d queries of %s", f.answers, len(answers), queries, f.data)
	}
	return answers, nil
}

func (f *engineCheckFlags) rerank(cmd *cobra.Command, env *environment, queries []string) ([][]featurelog.Document, error) {
	e, _, err := f.open(cmd, env)
	if err != nil {
		return nil, err
	}
	request, err := readRequest(e, f.request)
	if err != nil {
		return nil, err
	}
	r, err := e.Rerank(cmd.Context(), f.name, 0, request)
	if err != nil {
		return nil, err
	}
	bar := env.startProgress("reranking, queries", len(queries))
	defer bar.finish()
	live := make([][]featurelog.Document, len(queries))
	for i, query := range queries {
		if live[i], err = r.Query(cmd.Context(), query); err != nil {
			return nil, fmt.Errorf("query %s: %w", query, err)
		}
		bar.set(i+1, len(queries))
	}
	return live, nil
}

type parityJSON struct {
	Queries   int             `json:"queries"`
	Documents int             `json:"documents"`
	Absent    int             `json:"documents_not_returned"`
	Further   int             `json:"documents_not_in_data"`
	Unmatched int             `json:"queries_without_documents"`
	Constant  float64         `json:"constant"`
	Largest   float64         `json:"largest_difference"`
	Different int             `json:"documents_beyond_tolerance"`
	Changed   int             `json:"documents_with_other_features"`
	Reordered []string        `json:"queries_in_another_order"`
	Ties      int             `json:"queries_in_another_order_within_tolerance"`
	First     *differenceJSON `json:"first_difference,omitempty"`
}

type differenceJSON struct {
	Query    string               `json:"query"`
	Document string               `json:"document"`
	Own      float64              `json:"score"`
	Live     float64              `json:"score_of_engine"`
	Features map[string][]float64 `json:"features"` // logged and live; a missing value or an omitted feature is 0
}

func parityReport(p *engine.Parity) report {
	j := parityJSON{
		p.Queries, p.Documents, p.Absent, p.Further, p.Unmatched, p.Constant, p.Largest, p.Different, p.Changed, p.Reordered, p.Ties, nil,
	}
	r := report{
		columns: []string{"what", "value"},
		rows: [][]any{
			{"queries", p.Queries},
			{"documents", p.Documents},
			{"documents that the engine did not return", p.Absent},
			{"documents that the data lack", p.Further},
			{"queries without a common document", p.Unmatched},
			{"constant in the engine's scores", fmt.Sprintf("%.6g", p.Constant)},
			{"largest difference", fmt.Sprintf("%.2e", p.Largest)},
			{"documents beyond the tolerance", p.Different},
			{"documents with other features", p.Changed},
			{"queries in another order", orderCell(p.Reordered)},
			{"queries in another order within the tolerance", p.Ties},
		},
	}
	if first := p.First; first != nil {
		without := ""
		if p.Constant != 0 {
			without = ", without the constant"
		}
		j.First = &differenceJSON{first.Query, first.Document, first.Own, first.Live, make(map[string][]float64)}
		r.notes = append(r.notes, "", fmt.Sprintf("first difference: query %s, document %s: score %.7g, in the engine %.7g%s", first.Query, first.Document, first.Own, first.Live, without))
		for _, c := range first.Features {
			j.First.Features[c.Name] = []float64{orZero(c.Logged), orZero(c.Live)}
			mark := ""
			if c.Differs() {
				mark = "  differs"
			}
			r.notes = append(r.notes, fmt.Sprintf("  %s: %.7g in the data, %.7g in the engine%s", c.Name, c.Logged, c.Live, mark))
		}
	}
	r.json = j
	return r
}

func orderCell(queries []string) string {
	const most = 3
	if len(queries) == 0 {
		return "0"
	}
	text := fmt.Sprintf("%d: %s", len(queries), strings.Join(queries[:min(most, len(queries))], ", "))
	if len(queries) > most {
		text += ", …"
	}
	return text
}

func orZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}
