package app

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/explain"
)

// query explains all documents of a query, one document, or a pair of documents.
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

func someOf(names []string, what string) string {
	const most = 8
	text := fmt.Sprintf("%d %s: %s", len(names), what, strings.Join(names[:min(most, len(names))], ", "))
	if len(names) > most {
		text += ", …"
	}
	return text
}

// findDocument returns the row of the document that a flag names. The name is an id, or a number
// from 1 if documents have no ids.
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

func documentName(q *dataset.Query, doc int) string {
	if id := q.DocID(doc); id != "" {
		return id
	}
	return strconv.Itoa(doc + 1)
}

type explainedJSON struct {
	Document  string     `json:"document"`
	Rank      int        `json:"rank"`
	Grade     float64    `json:"grade"`
	Score     float64    `json:"score"`
	Base      float64    `json:"base"`
	Remainder float64    `json:"remainder"`
	Parts     []partJSON `json:"contributions"`
}

// partJSON is the contribution of a feature or a member of a fusion. Value is the feature's value
// in the data.
type partJSON struct {
	Feature      string  `json:"feature"`
	Value        any     `json:"value,omitempty"`
	Contribution float64 `json:"contribution"`
}

type queryExplainedJSON struct {
	Query     string          `json:"query"`
	About     string          `json:"about"`
	Documents []explainedJSON `json:"documents"`
}

// ranksOf returns the ranks of documents by descending score, from 1, and the documents in this
// order. Tied documents keep the order of the data.
func ranksOf(scores []float64) (ranks, order []int) {
	order, ranks = model.AppendOrder(nil, scores), make([]int, len(scores))
	for rank, doc := range order {
		ranks[doc] = rank + 1
	}
	return ranks, order
}

// value returns the value of a term in the data. It is nil if the value is missing or if the term
// is a member of a fusion.
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

// bySize returns the indices of values by descending magnitude.
func bySize(values []float64) []int { return model.AppendOrder(nil, mapped(values, math.Abs)) }

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

func (e *explaining) one(q *dataset.Query, x *explain.Query, doc int) error {
	ranks, _ := ranksOf(x.Scores)
	out := report{
		title: fmt.Sprintf("query %s, document %s (rank %d of %d, grade %s): score %s\n%s\n", q.ID, documentName(q, doc), ranks[doc], q.Len(),
			dataset.FormatGrade(q.Grades[doc]), e.significant(x.Scores[doc]), e.explainer.About()),
		columns: []string{e.termWord(), "value", "contribution"},
		json:    queryExplainedJSON{q.ID, e.explainer.About(), []explainedJSON{e.json(q, x, doc, ranks[doc])}},
	}
	value := func(t explain.Term) []any { return []any{e.shownValue(q, doc, t)} }
	e.addParts(&out, value, x.Row(doc), x.Remainder[doc], "score", x.Scores[doc], x.Base)
	if e.svg != "" {
		if err := e.drawDocument(q, x, doc); err != nil {
			return err
		}
	}
	return e.env.print(out)
}

// addParts adds the rows of a sum: the base if given, the largest parts with their feature values,
// the sum of the other parts, the remainder and the total.
func (e *explaining) addParts(out *report, values func(explain.Term) []any, parts []float64, remainder float64, name string, total float64, base ...float64) {
	decimals := decimalsFor(map[int]float64{0: total, 1: parts[bySize(parts)[0]]})
	none, terms := make([]any, len(out.columns)-2), e.explainer.Terms()
	add := func(name string, values []any, v float64) {
		out.rows = append(out.rows, slices.Concat([]any{name}, values, []any{e.fixed(v, decimals)}))
	}
	for _, v := range base {
		add("base", none, v)
	}
	shown, rest, others := e.shown(parts)
	for _, k := range shown {
		add(terms[k].Name, values(terms[k]), parts[k])
	}
	if others > 0 {
		add(fmt.Sprintf("%d others", others), none, rest)
	}
	if math.Abs(remainder) > 1e-9*(1+math.Abs(total)) { // larger than rounding errors
		add("remainder", none, remainder)
	}
	add(name, none, total)
	out.keys = 1
	out.alignNumbers()
}

// shown returns the indices of the terms that a table lists. rest and others are the sum and the
// number of the other nonzero terms.
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

func (e *explaining) shownValue(q *dataset.Query, doc int, t explain.Term) any {
	v := value(q, doc, t)
	if v == nil || e.env.format == "csv" {
		return v
	}
	return strconv.FormatFloat(v.(float64), 'g', 6, 32)
}

func (e *explaining) termWord() string {
	if e.explainer.ByFeature() {
		return "feature"
	}
	return "member"
}

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
	values := func(t explain.Term) []any { return []any{e.shownValue(q, above, t), e.shownValue(q, below, t)} }
	e.addParts(&out, values, parts, remainder, "difference of the scores", difference)
	if e.svg != "" {
		if err := e.drawPair(q, parts); err != nil {
			return err
		}
	}
	return e.env.print(out)
}

// pairTitle states which document of a pair is ranked above the other.
func (e *explaining) pairTitle(q *dataset.Query, above, below int, difference float64) string {
	relation := "is ranked above"
	if above > below {
		relation = "is not ranked above"
	}
	return fmt.Sprintf("query %s: %s (rank %d) %s %s (rank %d), the scores differ by %s\n%s\n", q.ID, e.above, above, relation, e.below, below, e.significant(difference), e.explainer.About())
}
