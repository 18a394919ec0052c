package clickreport

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/listwise/listwise/click/model"
)

// Models compares click models on held-out pages.
type Models struct {
	Fitted  int      `json:"fitted_pages"`
	Pages   int      `json:"held_out_pages"`
	Units   int      `json:"held_out_units"`
	Users   int      `json:"held_out_users"`
	LeftOut int      `json:"left_out"` // held-out pages with slots that a model does not have
	Unknown []string `json:"unknown_slots"`
	Best    string   `json:"best,omitempty"` // by log-likelihood
	Models  []Fit    `json:"models"`

	best int
	why  string // why nothing was measured
}

// Fit is a fitted click model. Its measures are nil if nothing was measured.
type Fit struct {
	Model      string    `json:"model"`
	Title      string    `json:"title"`
	Iterations int       `json:"iterations"`
	Measures   *Measures `json:"measures,omitempty"`
}

// Measures are those of click/model, in a form for JSON.
type Measures struct {
	LogLikelihood Estimate `json:"log_likelihood"`
	Perplexity    Estimate `json:"perplexity"`
	Conditional   Estimate `json:"conditional_perplexity"`
	Less          Estimate `json:"log_likelihood_less_best"`
	Ranks         []Rank   `json:"ranks"`
}

// Rank has the perplexities of a rank.
type Rank struct {
	Perplexity  Estimate `json:"perplexity"`
	Conditional Estimate `json:"conditional_perplexity"`
}

// Estimate is a value with its interval. What is not known is nil.
type Estimate struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

func estimateOf(e model.Estimate) (out Estimate) {
	for _, f := range []struct {
		to *(*float64)
		v  float64
	}{{&out.Value, e.Value}, {&out.Low, e.Low}, {&out.High, e.High}} {
		if v := f.v; !math.IsNaN(v) && !math.IsInf(v, 0) {
			*f.to = &v
		}
	}
	return out
}

// Examples are what a model says of the documents of the queries with the most pages.
type Examples struct {
	Model   string  `json:"model"`
	Queries []Query `json:"queries"`
	Pairs   int     `json:"pairs"` // that the model has
	Rare    int     `json:"rare"`  // of them, shown on fewer than rareBelow pages
	satisfy bool    // the model has satisfaction
}

// Query is an example.
type Query struct {
	Query     string     `json:"query"`
	Pages     int        `json:"pages"`
	Documents []Document `json:"documents"` // those shown most, at most mostDocuments, the most relevant first
	More      int        `json:"more_documents"`
}

// Document is what clicks say of a document of a query.
type Document struct {
	Doc          string   `json:"document"`
	Rank         float64  `json:"mean_rank"`
	Impressions  float64  `json:"impressions"`
	Clicks       float64  `json:"clicks"`
	Examined     float64  `json:"examinations"`
	Attraction   float64  `json:"attraction"`
	Satisfaction *float64 `json:"satisfaction"` // nil if the model has none
	Relevance    float64  `json:"relevance"`
	Low          float64  `json:"low"`
	High         float64  `json:"high"`
}

const (
	// mostDocuments is the largest number of documents of an example.
	mostDocuments = 10
	// rareBelow is the number of pages below which a document's relevance is little more than the prior.
	rareBelow = 10
)

// fit fits the models and measures them.
func (l *Log) fit(ctx context.Context, r *Report) error {
	if l.fitted.Pages == 0 {
		return nil
	}
	d, err := model.Arrange(&l.fitted)
	if errors.Is(err, model.ErrNoClicks) {
		return nil
	}
	if err != nil {
		return err
	}
	out := &Models{Fitted: l.fitted.Pages, Unknown: []string{}}
	var models []*model.Model
	for _, k := range l.config.Models {
		var m *model.Model
		err := l.config.During("fitting "+k.Name, func() (err error) {
			m, err = d.Fit(ctx, k, l.config.Fit)
			return err
		})
		if errors.Is(err, model.ErrNoClicks) {
			return nil
		}
		if err != nil {
			return err
		}
		models = append(models, m)
		out.Models = append(out.Models, Fit{Model: k.Name, Title: k.Title, Iterations: m.Iterations})
	}
	r.Models = out
	if err := l.compare(ctx, out, models); err != nil {
		return err
	}
	return l.config.During("grading documents", func() error { return l.examples(ctx, r, d, models) })
}

// compare measures models on the held-out pages.
func (l *Log) compare(ctx context.Context, out *Models, models []*model.Model) error {
	if l.held.Pages == 0 {
		out.why = "the log is too small: no page was held out"
		return nil
	}
	var c *model.Comparison
	err := l.config.During("measuring click models", func() (err error) {
		c, err = model.Compare(ctx, models, &l.held, model.CompareOptions{Resamples: l.config.Resamples, Seed: l.config.Seed})
		return err
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		out.why = err.Error()
		return nil //nolint:nilerr // the page says why it has no measures
	}
	out.Pages, out.Units, out.Users, out.LeftOut, out.Unknown = c.Pages, c.Units, l.held.Users, c.LeftOut, append(out.Unknown, c.Unknown...)
	out.best, out.Best = c.Best, out.Models[c.Best].Model
	for i := range c.Models {
		from := &c.Models[i]
		m := &Measures{estimateOf(from.LogLikelihood), estimateOf(from.Perplexity), estimateOf(from.Conditional), estimateOf(from.Less.LogLikelihood), []Rank{}}
		for _, k := range from.Ranks {
			m.Ranks = append(m.Ranks, Rank{estimateOf(k.Perplexity), estimateOf(k.Conditional)})
		}
		out.Models[i].Measures = m
	}
	return nil
}

// grader returns the index of the model that grades the examples, −1 if there is none: the best by log-likelihood
// of those with satisfaction, or else of those with attraction.
func (m *Models) grader(models []*model.Model) int {
	best := -1
	value := func(i int) (satisfies int, likelihood float64) {
		if models[i].Satisfaction != nil {
			satisfies = 1
		}
		if ms := m.Models[i].Measures; ms != nil {
			likelihood = *ms.LogLikelihood.Value
		}
		return satisfies, likelihood
	}
	for i := range models {
		if !models[i].Grades() {
			continue
		}
		if best < 0 {
			best = i
			continue
		}
		s, v := value(i)
		if bs, bv := value(best); s > bs || s == bs && v > bv {
			best = i
		}
	}
	return best
}

// examples describes the documents of the queries with the most pages.
func (l *Log) examples(ctx context.Context, r *Report, d *model.Data, models []*model.Model) error {
	i := r.Models.grader(models)
	if i < 0 {
		return nil
	}
	m := models[i]
	judged, err := d.Judge(ctx, m, l.config.Attraction, 0)
	if err != nil {
		return err
	}
	e := &Examples{Model: m.Name, Pairs: len(judged), satisfy: m.Satisfaction != nil, Queries: []Query{}}
	of := map[string]int{}
	for _, name := range l.frequent() {
		of[name] = len(e.Queries)
		e.Queries = append(e.Queries, Query{Query: name, Pages: l.pagesOf[name], Documents: []Document{}})
	}
	for k := range judged {
		j := &judged[k]
		if j.Impressions < rareBelow {
			e.Rare++
		}
		at, is := of[j.Query]
		if !is {
			continue
		}
		p, _ := m.Pair(j.Query, j.Doc)
		doc := Document{Doc: j.Doc, Impressions: j.Impressions, Clicks: j.Clicks, Examined: j.Examined, Attraction: p.Attraction, Relevance: j.Grade, Low: j.Low, High: j.High}
		if e.satisfy {
			doc.Satisfaction = &p.Satisfaction
		}
		e.Queries[at].Documents = append(e.Queries[at].Documents, doc)
	}
	ranks := l.ranks(of)
	for k := range e.Queries {
		q := &e.Queries[k]
		slices.SortFunc(q.Documents, func(a, b Document) int {
			return cmp.Or(cmp.Compare(b.Impressions, a.Impressions), cmp.Compare(a.Doc, b.Doc))
		})
		q.More = max(0, len(q.Documents)-mostDocuments)
		q.Documents = q.Documents[:len(q.Documents)-q.More]
		slices.SortStableFunc(q.Documents, func(a, b Document) int { return cmp.Compare(b.Relevance, a.Relevance) })
		for i := range q.Documents {
			doc := &q.Documents[i]
			if doc.Impressions > 0 { // weights may be 0
				doc.Rank = ranks[[2]string{q.Query, doc.Doc}] / doc.Impressions
			}
		}
	}
	r.Examples = e
	return nil
}

// frequent returns the queries with the most pages.
func (l *Log) frequent() []string {
	names := make([]string, 0, len(l.pagesOf))
	for name := range l.pagesOf {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(l.pagesOf[b], l.pagesOf[a]), cmp.Compare(a, b)) })
	return names[:min(l.config.Queries, len(names))]
}

// ranks returns the sums of ranks, from 1, over the pages with each document of some queries.
func (l *Log) ranks(of map[string]int) map[[2]string]float64 {
	sums := map[[2]string]float64{}
	for i, c := range l.fitted.Cells.List {
		query, doc := l.fitted.Name(int(c.Pair))
		if _, is := of[query]; is {
			sums[[2]string{query, doc}] += float64(l.fitted.Cells.Counts[i].Shown * float64(c.Rank+1))
		}
	}
	return sums
}
