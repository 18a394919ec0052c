package report

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/model"
)

const listedDocs = 20

// order returns the indices of a query's documents, best first. Ties are broken as in the measures.
func (in *input) order(system int, q query) []int {
	grades, scores := in.at(q).Grades, in.scores(system, q)
	if in.Ties == measure.TiesTREC {
		scores = slices.Clone(scores)
		for i, s := range scores {
			scores[i] = measure.TRECScore(s)
		}
	}
	places := in.places(system, q)
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		c := cmp.Compare(scores[b], scores[a])
		switch {
		case c != 0:
		case in.Ties == measure.TiesPessimistic:
			c = cmp.Compare(grades[a], grades[b])
		case in.Ties == measure.TiesOptimistic:
			c = cmp.Compare(grades[b], grades[a])
		case in.Ties == measure.TiesTREC:
			c = strings.Compare(in.at(q).DocID(b), in.at(q).DocID(a))
		case places != nil:
			c = cmp.Compare(places[a], places[b])
		}
		return c
	})
	return order
}

// explore adds the rankings and explanations of as many queries as fit into the page. It begins
// with the queries on which the systems differ most.
func (r *Report) explore(ctx context.Context, in *input) error {
	r.view.Needed = "1000" // reserve space for the largest value
	room, err := r.room()
	r.view.Needed = ""
	if err != nil {
		return err
	}
	if room < 0 {
		return fmt.Errorf("the page takes %d bytes without any ranking, more than its limit of %d", r.config.MaxBytes-room, r.config.MaxBytes)
	}
	for _, i := range in.byDifference() {
		if err := ctx.Err(); err != nil {
			return err
		}
		d := r.rankings(in, i)
		size, err := length(d)
		if err != nil {
			return err
		}
		if size > room {
			break
		}
		room -= size
		r.pieces = append(r.pieces, d)
	}
	if n, taken := len(r.pieces), r.config.MaxBytes-room; n > 0 && n < len(in.queries) {
		r.view.Needed = fmt.Sprintf("%.0f", math.Ceil(float64(taken)/1e6*float64(len(in.queries))/float64(n)))
	}
	if err := r.explain(ctx, in, room); err != nil {
		return err
	}
	slices.SortFunc(r.pieces, func(a, b details) int { return cmp.Compare(a.Query, b.Query) })
	return nil
}

// length returns the number of bytes that v takes in the page.
func length(v any) (int, error) {
	text, err := json.Marshal(v)
	return len(text) + len(`,"x":`), err
}

// byDifference returns the indices of all queries, starting with the queries on which the systems
// differ most.
func (in *input) byDifference() []int {
	all := in.values[0]
	spread := make([]float64, len(in.queries))
	for i := range in.queries {
		low, high := math.Inf(1), math.Inf(-1)
		for _, values := range all {
			if v := values[i]; !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
		spread[i] = high - low
	}
	return model.AppendOrder(nil, spread)
}

// leaders returns the documents that any system ranks among its first n, in ascending order.
func (in *input) leaders(q query, n int) []int {
	in1 := make([]bool, in.at(q).Len())
	for s := range in.names {
		order := in.order(s, q)
		for _, doc := range order[:min(n, len(order))] {
			in1[doc] = true
		}
	}
	return indices(in1)
}

// kept returns the documents in a query's details, in ascending order. These are the documents that
// any system ranks high, and all relevant documents, because measures depend on them.
func (in *input) kept(q query) []int {
	chosen := make([]bool, in.at(q).Len())
	for _, doc := range in.leaders(q, listedDocs) {
		chosen[doc] = true
	}
	for doc, g := range in.at(q).Grades {
		chosen[doc] = chosen[doc] || g > 0
	}
	return indices(chosen)
}

func indices(chosen []bool) []int {
	var list []int
	for i, c := range chosen {
		if c {
			list = append(list, i)
		}
	}
	return list
}

func (r *Report) rankings(in *input, i int) details {
	q := in.queries[i]
	set := in.at(q)
	docs := in.kept(q)
	d := details{Query: i, Docs: identifiers(set, docs)}
	var grades, ranks, scores []byte
	for _, doc := range docs {
		grades = packed(grades, r.grades.place(set.Grades[doc]), width(len(r.data.Grades)))
	}
	rank := make([]int, set.Len())
	for s := range in.names {
		for at, doc := range in.order(s, q) {
			rank[doc] = at
		}
		own := in.scores(s, q)
		low, high := rangeOf(own)
		for _, doc := range docs {
			if own[doc] == dataset.NotRetrieved {
				ranks, scores = packed(ranks, set.Len(), width(set.Len()+1)), packed(scores, 0, 2)
				continue
			}
			ranks = packed(ranks, rank[doc], width(set.Len()+1))
			scores = between(scores, own[doc], low, high)
		}
		d.Low, d.High = append(d.Low, low), append(d.High, high)
	}
	d.Grades, d.Ranks, d.Scores = string(grades), string(ranks), string(scores)
	return d
}

// rangeOf returns the lowest and the highest score of retrieved documents, rounded. Both are 0 if
// there are none.
func rangeOf(scores []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range scores {
		if s != dataset.NotRetrieved {
			low, high = min(low, s), max(high, s)
		}
	}
	if low > high {
		return 0, 0
	}
	return rounded(low, 6), rounded(high, 6)
}

// identifiers returns the ids of documents, or their numbers in the query if there are no ids.
func identifiers(q *dataset.Query, docs []int) []string {
	ids, found := make([]string, len(docs)), false
	for i, doc := range docs {
		ids[i] = q.DocID(doc)
		found = found || ids[i] != ""
	}
	for i, doc := range docs {
		if !found {
			ids[i] = "#" + strconv.Itoa(doc+1)
		}
	}
	return ids
}
