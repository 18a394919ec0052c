package engine

import (
	"math"
	"testing"

	"github.com/listwise/listwise/dataset/featurelog"
)

const solrAnswer = `{"response":{"docs":[{"id":"a","score":3.5,"[features]":"bm25=1.5,ctr=1.0"},{"id":7,"score":-1,"[features]":""}]}}`

func TestRerank(t *testing.T) {
	s, e := solrStandIn(t, Options{})
	s.Models["m"] = []byte(solrBody)
	s.Answer = solrAnswer
	request, err := ParseRequest([]byte(`{"q":"{!dismax v=$text}","text":"{query}","now":7,"fq":["a","b"]}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Rerank(t.Context(), "m", 0, request)
	if err != nil {
		t.Fatal(err)
	}
	if rq := r.request["rq"][0]; rq != "{!ltr model=m reRankDocs=100 efi.text=$text efi.now=$now}" {
		t.Errorf("found rq=%s", rq)
	}
	docs, err := r.Query(t.Context(), "shoes")
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) != 2 || docs[0].Features["bm25"] != 1.5 || docs[1].ID != "7" || docs[1].Score != -1 {
		t.Errorf("found %+v", docs)
	}

	delete(request, "now")
	_, err = e.Rerank(t.Context(), "m", 0, request)
	wantError(t, err, `the request has no parameter "now", which features of the store "shop" need: age`)
	request["rq"] = []string{"{!ltr model=m2 reRankDocs=10}"}
	_, err = e.Rerank(t.Context(), "m", 0, request)
	wantError(t, err, "expected model=m in it")
	request["rq"] = []string{"{!ltr reRankDocs=10 model=m}"}
	if _, err = e.Rerank(t.Context(), "m", 0, request); err != nil {
		t.Error(err)
	}
	_, err = e.Rerank(t.Context(), "other", 0, request)
	wantError(t, err, `Solr has no model "other"`)
}

// Claim: the depth is in rq, and the logging of a store asks for all its features with the request's parameters.
func TestSearcher(t *testing.T) {
	s, e := solrStandIn(t, Options{})
	s.Models["m"] = []byte(solrBody)
	s.Answer = solrAnswer
	request := Request{"q": {"{query}"}, "text": {"{query}"}, "now": {"7"}, "rows": {"50"}, "fl": {"*"}}
	reranked, err := e.Rerank(t.Context(), "m", 20, request)
	if err != nil {
		t.Fatal(err)
	}
	if rq := reranked.request["rq"][0]; rq != "{!ltr model=m reRankDocs=20 efi.text=$text efi.now=$now}" {
		t.Errorf("found rq=%s", rq)
	}
	logged, err := e.Log(t.Context(), "shop", request)
	if err != nil {
		t.Fatal(err)
	}
	if fl, rows := logged.request["fl"][0], logged.request["rows"][0]; fl != "id,score,[features store=shop efi.text=$text efi.now=$now]" || rows != "50" {
		t.Errorf("found fl=%s, rows=%s", fl, rows)
	}
	if request["fl"][0] != "*" || request["rq"] != nil {
		t.Errorf("the request was changed: %v", request)
	}
	answer, err := logged.Answer(t.Context(), "shoes")
	if err != nil || string(answer) != solrAnswer {
		t.Errorf("found %s, %v", answer, err)
	}
	_, err = e.Log(t.Context(), "shop", Request{"q": {"{query}"}, "text": {"{query}"}})
	wantError(t, err, `the request has no parameter "now", which features of the store "shop" need: age`)
	_, err = e.Log(t.Context(), "films", request)
	wantError(t, err, `Solr has no feature store "films"`)
	_, err = e.Log(t.Context(), "a b", request)
	wantError(t, err, "feature store")
}

func TestParseRequestErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                            "expected a JSON object of parameters",
		`["q"]`:                       "expected a JSON object of parameters",
		`{"q":"{query}"} {}`:          "more than one JSON value",
		`{"q":{"lucene":"x"}}`:        `parameter "q": found map`,
		`{"text":"{query}"}`:          `found no parameter "q"`,
		`{"q":"*:*"}`:                 "found no {query}",
		`{"q":"{query}","fq":[null]}`: `parameter "fq": found <nil>`,
	} {
		_, err := ParseRequest([]byte(text))
		wantError(t, err, want)
	}
}

func ownDocs(scores ...float64) []Own {
	list := make([]Own, len(scores))
	for i, s := range scores {
		list[i] = Own{ID: string(rune('a' + i)), Score: s, Features: map[string]float64{"x": s, "y": math.NaN()}}
	}
	return list
}

// docs are an engine's documents in its order: ids and scores.
func docs(ids string, scores ...float64) []featurelog.Document {
	list := make([]featurelog.Document, len(scores))
	for i, s := range scores {
		list[i] = featurelog.Document{ID: ids[i : i+1], Score: s, Features: map[string]float64{"x": s}}
	}
	return list
}

func TestCompare(t *testing.T) {
	const tolerance = 1e-5
	own := [][]Own{ownDocs(3, 2, 1)}
	one := func(live []featurelog.Document) *Parity {
		return Compare([]string{"q"}, own, [][]featurelog.Document{live}, tolerance)
	}

	p := one(docs("abcz", 3, 2, 1.000001, 0))
	if p.Different != 0 || p.Reordered != nil || p.Documents != 3 || p.Further != 1 || p.Absent != 0 || math.Abs(p.Largest-1e-6) > 1e-9 || p.Changed != 0 {
		t.Errorf("equal scores: found %+v", p)
	}
	p = one(docs("abc", 13, 12, 11))
	if p.Constant != 10 || p.Different != 0 || p.Reordered != nil || p.Changed != 3 {
		t.Errorf("a constant: found %+v", p)
	}
	p = one(docs("acb", 3, 2.5, 2))
	if p.Different != 1 || len(p.Reordered) != 1 || p.First.Document != "c" || p.First.Own != 1 || p.First.Live != 2.5 || p.Changed != 1 {
		t.Errorf("another order: found %+v", p)
	}
	if c := p.First.Features[0]; c.Name != "x" || !c.Differs() || p.First.Features[1].Differs() {
		t.Errorf("found the features %+v", p.First.Features)
	}
	if p = one(docs("b", 2)); p.Absent != 2 || p.Documents != 1 || p.Queries != 1 {
		t.Errorf("absent documents: found %+v", p)
	}
	if p = one(nil); p.Absent != 3 || p.Unmatched != 1 || p.Documents != 0 {
		t.Errorf("no documents: found %+v", p)
	}

	own = [][]Own{ownDocs(2, 2, 1.999999, 1)}
	if p = one(docs("cbad", 2, 2, 2, 1)); p.Reordered != nil || p.Ties != 1 || p.Different != 0 {
		t.Errorf("near ties: found %+v", p)
	}
	if p = one(docs("bacd", 2, 2, 2, 1)); p.Reordered != nil || p.Ties != 0 {
		t.Errorf("equal scores in another order: found %+v", p)
	}
	own = [][]Own{ownDocs(1e6, 2e6)} // float32 has 0.125 there
	if p = one(docs("ba", 2e6+1, 1e6)); p.Different != 0 || p.Largest > 1e-6 {
		t.Errorf("large scores: found %+v", p)
	}
}
