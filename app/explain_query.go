package app

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model/explain"
)

// query explains one query's documents, one of them, or a pair.
func (e *explaining) query() error {
	i := slices.IndexFunc(e.data.Queries, func(q dataset.Query) bool { return q.ID == e.of })
	if i < 0 {
		ids := mapped(e.data.Queries, func(q dataset.Query) string { return q.ID })
		return usageErrorf("--of %s: found no such query in %s%s", e.of, e.explainFlags.data, suggest.Or(e.of, ids, "; there are "+someOf(ids, "queries")))
	}
	q := &e.data.Queries[i]
	x, err := e.explainer.Explain(q)
	if err != nil {
		return err
	}
	if err := e.data.Changed(); err != nil {
		return err
	}
	if e.above != "" {
		return e.pair(q, x)
	}
	if e.document != "" {
		doc, err := findDocument("document", q, e.document)
		if err != nil {
			return err
		}
		return e.one(q, x, doc)
	}
	return e.documents(q, x)
}

// someOf names the first of a list.
func someOf(names []string, what string) string {
	const most = 8
	text := fmt.Sprintf("%d %s: %s", len(names), what, strings.Join(names[:min(most, len(names))], ", "))
	if len(names) > most {
		text += ", …"
	}
	return text
}

// findDocument returns the row of the document that a flag names: by its id or, where
// documents have none, by its number from 1.
func findDocument(flag string, q *dataset.Query, name string) (int, error) {
	ids := make([]string, q.Len())
	for i := range ids {
		ids[i] = documentName(q, i)
	}
	if i := slices.Index(ids, name); i >= 0 {
		return i, nil
	}
	return 0, usageErrorf("--%s %s: found no such document of query %s%s", flag, name, q.ID, suggest.Or(name, ids, "; there are "+someOf(ids, "documents")))
}

// documentName is a document's id, or its number within the query.
func documentName(q *dataset.Query, doc int) string {
	if id := q.DocID(doc); id != "" {
		return id
	}
	return strconv.Itoa(doc + 1)
}

// explainedJSON is one document's score.
type explainedJSON struct {
	Document  string     `json:"document"`
	Rank      int        `json:"rank"`
	Grade     float64    `json:"grade"`
	Score     float64    `json:"score"`
	Base      float64    `json:"base"`
	Remainder float64    `json:"remainder"`
	Parts     []partJSON `json:"contributions"`
}

// partJSON is what a feature or a member contributes; value is that of the data.
type partJSON struct {
	Feature      string  `json:"feature"`
	Value        any     `json:"value,omitempty"`
	Contribution float64 `json:"contribution"`
}

// queryExplainedJSON is what explain says of a query.
type queryExplainedJSON struct {
	Query     string          `json:"query"`
	About     string          `json:"about"`
	Documents []explainedJSON `json:"documents"`
}

// ranksOf returns the ranks of documents by their scores, ties in the order of the data.
func ranksOf(scores []float64) (ranks, order []int) {
	order, ranks = make([]int, len(scores)), make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for rank, doc := range order {
		ranks[doc] = rank + 1
	}
	return ranks, order
}

// value is a term's value of a document in the data, nil for a member and what is missing.
func value(q *dataset.Query, doc int, t explain.Term) any {
	if t.Column < 0 {
		return nil
	}
	return number(float64(q.Row(doc)[t.Column]))
}

func (e *explaining) json(q *dataset.Query, x *explain.Query, doc, rank int) explainedJSON {
	j := explainedJSON{documentName(q, doc), rank, q.Grades[doc], x.Scores[doc], x.Base, x.Remainder[doc], []partJSON{}}
	terms := e.explainer.Terms()
	for _, k := range bySize(x.Row(doc)) {
		j.Parts = append(j.Parts, partJSON{terms[k].Name, value(q, doc, terms[k]), x.Row(doc)[k]})
	}
	return j
}

// bySize returns the places of values by descending magnitude.
func bySize(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(values[b]), math.Abs(values[a])) })
	return order
}

// documents is the table of a query's documents, each with what contributes most.
func (e *explaining) documents(q *dataset.Query, x *explain.Query) error {
	ranks, order := ranksOf(x.Scores)
	j := queryExplainedJSON{Query: q.ID, About: e.explainer.About()}
	out := report{
		title:   fmt.Sprintf("query %s: %s; base %s\n", q.ID, e.explainer.About(), e.significant(x.Base)),
		columns: []string{"rank", "document", "grade", "score", "largest contributions"},
	}
	terms := e.explainer.Terms()
	for _, doc := range order {
		j.Documents = append(j.Documents, e.json(q, x, doc, ranks[doc]))
		var parts []string
		for _, k := range bySize(x.Row(doc))[:min(3, len(terms))] {
			parts = append(parts, fmt.Sprintf("%s %+.4g", terms[k].Name, x.Row(doc)[k]))
		}
		out.rows = append(out.rows, []any{ranks[doc], documentName(q, doc), dataset.FormatGrade(q.Grades[doc]), x.Scores[doc], strings.Join(parts, ", ")})
	}
	out.json = j
	if e.svg != "" {
		if err := e.drawDocument(q, x, order[0]); err != nil {
			return err
		}
	}
	return e.env.print(out)
}

func (e *explaining) significant(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// one is the table of one document.
func (e *explaining) one(q *dataset.Query, x *explain.Query, doc int) error {
	ranks, _ := ranksOf(x.Scores)
	out := report{
		title: fmt.Sprintf("query %s, document %s (rank %d of %d, grade %s): score %s\n%s\n", q.ID, documentName(q, doc), ranks[doc], q.Len(),
			dataset.FormatGrade(q.Grades[doc]), e.significant(x.Scores[doc]), e.explainer.About()),
		columns: []string{e.termWord(), "value", "contribution"},
		json:    queryExplainedJSON{q.ID, e.explainer.About(), []explainedJSON{e.json(q, x, doc, ranks[doc])}},
	}
	row, terms := x.Row(doc), e.explainer.Terms()
	decimals := decimalsFor(map[int]float64{0: x.Scores[doc], 1: row[bySize(row)[0]]})
	cell := func(v float64) any { return e.fixed(v, decimals) }
	out.rows = append(out.rows, []any{"base", nil, cell(x.Base)})
	shown, rest, others := e.shown(row)
	for _, k := range shown {
		out.rows = append(out.rows, []any{terms[k].Name, e.shownValue(q, doc, terms[k]), cell(row[k])})
	}
	if others > 0 {
		out.rows = append(out.rows, []any{fmt.Sprintf("%d others", others), nil, cell(rest)})
	}
	if e.remains(x.Remainder[doc], x.Scores[doc]) {
		out.rows = append(out.rows, []any{"remainder", nil, cell(x.Remainder[doc])})
	}
	out.rows = append(out.rows, []any{"score", nil, cell(x.Scores[doc])})
	out.keys = 1
	out.alignNumbers()
	if e.svg != "" {
		if err := e.drawDocument(q, x, doc); err != nil {
			return err
		}
	}
	return e.env.print(out)
}

// shown returns the places of the terms that a table lists, those of largest values, and the
// sum and number of the others that are not 0.
func (e *explaining) shown(values []float64) (shown []int, rest float64, others int) {
	for _, k := range bySize(values) {
		switch {
		case values[k] == 0:
		case e.top == 0 || len(shown) < e.top:
			shown = append(shown, k)
		default:
			rest += values[k]
			others++
		}
	}
	return shown, rest, others
}

// remains reports whether a remainder is more than an error of rounding.
func (e *explaining) remains(remainder, score float64) bool {
	return math.Abs(remainder) > 1e-9*(1+math.Abs(score))
}

// shownValue is the value of the data as a cell.
func (e *explaining) shownValue(q *dataset.Query, doc int, t explain.Term) any {
	v := value(q, doc, t)
	if v == nil || e.env.format == "csv" {
		return v
	}
	return strconv.FormatFloat(v.(float64), 'g', 6, 32)
}

// termWord is what contributes.
func (e *explaining) termWord() string {
	if e.explainer.ByFeature() {
		return "feature"
	}
	return "member"
}

// pairJSON is why one document stands above another.
type pairJSON struct {
	Query      string         `json:"query"`
	About      string         `json:"about"`
	Above      string         `json:"above"`
	Below      string         `json:"below"`
	Scores     [2]float64     `json:"scores"`
	Difference float64        `json:"difference"`
	Remainder  float64        `json:"remainder"`
	Parts      []pairPartJSON `json:"contributions"`
}

type pairPartJSON struct {
	Feature    string  `json:"feature"`
	Values     [2]any  `json:"values"`
	Difference float64 `json:"difference"`
}

// pair is the table of the differences of two documents.
func (e *explaining) pair(q *dataset.Query, x *explain.Query) error {
	above, err := findDocument("above", q, e.above)
	if err != nil {
		return err
	}
	below, err := findDocument("below", q, e.below)
	if err != nil {
		return err
	}
	if above == below {
		return usageErrorf("--above and --below name the same document %s, expected two", e.above)
	}
	ranks, _ := ranksOf(x.Scores)
	parts, remainder := x.Pair(above, below)
	difference, terms := x.Scores[above]-x.Scores[below], e.explainer.Terms()
	j := pairJSON{Query: q.ID, About: e.explainer.About(), Above: e.above, Below: e.below, Scores: [2]float64{x.Scores[above], x.Scores[below]}, Difference: difference, Remainder: remainder}
	for _, k := range bySize(parts) {
		j.Parts = append(j.Parts, pairPartJSON{terms[k].Name, [2]any{value(q, above, terms[k]), value(q, below, terms[k])}, parts[k]})
	}
	out := report{title: e.pairTitle(q, ranks[above], ranks[below], difference), columns: []string{e.termWord(), "value of " + e.above, "value of " + e.below, "difference"}, json: j}
	decimals := decimalsFor(map[int]float64{0: difference, 1: parts[bySize(parts)[0]]})
	cell := func(v float64) any { return e.fixed(v, decimals) }
	shown, rest, others := e.shown(parts)
	for _, k := range shown {
		out.rows = append(out.rows, []any{terms[k].Name, e.shownValue(q, above, terms[k]), e.shownValue(q, below, terms[k]), cell(parts[k])})
	}
	if others > 0 {
		out.rows = append(out.rows, []any{fmt.Sprintf("%d others", others), nil, nil, cell(rest)})
	}
	if e.remains(remainder, difference) {
		out.rows = append(out.rows, []any{"remainder", nil, nil, cell(remainder)})
	}
	out.rows = append(out.rows, []any{"difference of the scores", nil, nil, cell(difference)})
	out.keys = 1
	out.alignNumbers()
	if e.svg != "" {
		if err := e.drawPair(q, parts); err != nil {
			return err
		}
	}
	return e.env.print(out)
}

// pairTitle says which document stands above the other, which may be the one that was asked
// to stand below.
func (e *explaining) pairTitle(q *dataset.Query, above, below int, difference float64) string {
	relation := "stands above"
	if above > below {
		relation = "does not stand above"
	}
	return fmt.Sprintf("query %s: %s (rank %d) %s %s (rank %d), the scores differ by %s\n%s\n", q.ID, e.above, above, relation, e.below, below, e.significant(difference), e.explainer.About())
}
