package report

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/explain"
)

// partLevels are numbers of contributions to list for a score. The report uses the largest number
// with which all queries fit on the page.
var partLevels = []int{60, 30, 20, 10, 5, 3, 2}

// explain adds the contributions to the scores of the rankings. It uses the largest number in
// partLevels for which all queries fit into room bytes. If none fits, it adds the smallest number
// for as many queries as fit.
func (r *Report) explain(ctx context.Context, in *input, room int) error {
	parts := partLevels[len(partLevels)-1]
	for _, level := range partLevels {
		if r.explainedBytes(in, level) <= room {
			parts = level
			break
		}
	}
	for i := range r.pieces {
		if err := ctx.Err(); err != nil {
			return err
		}
		x, err := r.explanations(in, r.pieces[i].Query, parts)
		if err != nil {
			return err
		}
		size, err := length(x)
		if err != nil {
			return err
		}
		if room -= size; room < 0 {
			break
		}
		r.pieces[i].Explained = x
	}
	return nil
}

// explainedBytes returns an upper bound of the size of explanations with the given number of
// contributions for a score.
func (r *Report) explainedBytes(in *input, parts int) int {
	total := 0
	for _, piece := range r.pieces {
		q := in.queries[piece.Query]
		systems := 0
		for s := range in.names {
			if in.explained[s][q.division] != nil {
				systems++
			}
		}
		per := min(parts, in.features.size)
		docs := len(in.leaders(q, firstDocs))
		total += 100 + 40*systems + docs*(width(len(in.kept(q)))+systems*per*(r.data.FeatureDigits+2)+
			valueCountDigits+min(systems*per, in.features.size)*(r.data.FeatureDigits+valueDigits))
	}
	return total
}

// explanations returns the largest contributions to the scores of documents, and the values of
// their features. The documents are those that any system ranks first. Contributions of 0 are
// omitted. It returns nil if no system can be explained.
func (r *Report) explanations(in *input, i, most int) (*explained, error) {
	q := in.queries[i]
	shown, kept := in.leaders(q, firstDocs), in.kept(q)
	x := &explained{}
	var places []byte
	for _, doc := range shown {
		at, _ := slices.BinarySearch(kept, doc)
		places = packed(places, at, width(len(kept)))
	}
	x.Docs = string(places)
	var all [][][]contribution // by explained system and shown document
	values := make([]valueList, len(shown))
	for s := range in.names {
		e := in.explained[s][q.division]
		if e == nil {
			continue
		}
		if err := e.query(in.at(q)); err != nil {
			return nil, err
		}
		each, largest := make([][]contribution, len(shown)), 0.0
		for d, doc := range shown {
			each[d] = leading(e.document(doc), most)
			for _, c := range each[d] {
				largest = max(largest, math.Abs(c.value))
				values[d].add(placeOf(e.places, c.feature), e.valueOf(doc, c.feature))
			}
			x.Per = max(x.Per, len(each[d]))
		}
		x.Systems, x.Largest, x.Mean = append(x.Systems, s), append(x.Largest, rounded(largest, 4)), append(x.Mean, rounded(e.score, 6))
		for d := range each {
			for k := range each[d] {
				each[d][k].feature = placeOf(e.places, each[d][k].feature)
			}
		}
		all = append(all, each)
	}
	if x.Systems == nil {
		return nil, nil
	}
	x.pack(all, values, r.data.FeatureDigits)
	return x, nil
}

func (x *explained) pack(all [][][]contribution, values []valueList, digits int) {
	var parts, text []byte
	for k, each := range all {
		for _, list := range each {
			for p := range x.Per {
				var c contribution
				if p < len(list) {
					c = list[p]
				}
				parts = packed(parts, c.feature, digits)
				parts = between(parts, c.value, -x.Largest[k], x.Largest[k])
			}
		}
	}
	for _, list := range values {
		text = packed(text, len(list), valueCountDigits)
		for _, v := range list {
			text = packedValue(packed(text, v.feature, digits), v.value)
		}
	}
	x.Parts, x.Values = string(parts), string(text)
}

// valueList contains the values of some features of a document.
type valueList []struct {
	feature int // index among the page's features
	value   float32
}

// add adds a feature unless it is in the list.
func (l *valueList) add(feature int, value float32) {
	for _, v := range *l {
		if v.feature == feature {
			return
		}
	}
	*l = append(*l, struct {
		feature int
		value   float32
	}{feature, value})
}

// leading returns the contributions with the largest magnitudes, at most the given number.
func leading(all []contribution, most int) []contribution {
	slices.SortStableFunc(all, func(a, b contribution) int { return cmp.Compare(math.Abs(b.value), math.Abs(a.value)) })
	return all[:min(len(all), most)]
}

// explainer computes the contributions of features to the scores of a model. A contribution is the
// value from package explain minus its mean over the query's documents. So a feature that adds the
// same to all documents contributes nothing. The contributions add up to the score minus the
// query's mean score. For a linear scorer they are w_f·(x_f − mean of f in the query). An explainer
// is not safe for concurrent use.
type explainer struct {
	model   *model.Model
	exact   *explain.Explainer
	columns []int // columns of the data for the model's features; nil: the first ones
	places  []int // indices of the model's features on the page; nil: their numbers

	at    *dataset.Query
	parts *explain.Query // contributions for the documents of at
	mean  []float64      // mean contribution of each feature over its documents
	score float64        // mean score of its documents
}

// newExplainer returns the explainer of a model. It returns nil if the model's scores have no exact
// contributions of features.
func newExplainer(m *model.Model, d *dataset.Dataset) *explainer {
	if m == nil {
		return nil
	}
	exact, err := explain.New(m, d, explain.Options{})
	if err != nil || !exact.ByFeature() {
		return nil
	}
	columns, err := m.Columns(d)
	if err != nil {
		return nil
	}
	return &explainer{model: m, exact: exact, columns: columns}
}

// query prepares the explainer for the documents of a query.
func (e *explainer) query(q *dataset.Query) error {
	if e.at == q {
		return nil
	}
	parts, err := e.exact.Explain(q)
	if err != nil {
		return err
	}
	e.at, e.parts, e.mean, e.score = q, parts, slices.Repeat([]float64{0}, len(parts.Row(0))), 0
	n := float64(q.Len())
	for i, s := range parts.Scores {
		e.score += s / n
		for j, v := range parts.Row(i) {
			e.mean[j] += v / n
		}
	}
	return nil
}

// valueOf returns a document's value of a feature of the model. It is 0 if the data lack the
// feature.
func (e *explainer) valueOf(doc, feature int) float32 {
	column := feature
	if e.columns != nil {
		column = e.columns[feature]
	}
	if row := e.at.Row(doc); column < len(row) {
		return row[column]
	}
	return 0
}

type contribution struct {
	feature int
	value   float64
}

// document returns the nonzero contributions to a document's score, in the order of features. The
// caller owns the slice.
func (e *explainer) document(doc int) []contribution {
	var parts []contribution
	for j, v := range e.parts.Row(doc) {
		if v -= e.mean[j]; v != 0 {
			parts = append(parts, contribution{j, v})
		}
	}
	return parts
}
