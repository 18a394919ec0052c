package weigh

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
)

// Options are the options of a table. [Defaults] returns them.
type Options struct {
	Debias       Debias
	Propensities *propensity.Estimate // nil for None
	// Uncorrected takes all known propensities for 1. The table is then the uncorrected twin of the one without it: it has the
	// same rows.
	Uncorrected bool

	QueryWeight QueryWeight
	Shrink      float64 // Robust: examinations that the predicted relevance is worth
	Clip        float64 // IPS: least propensity
	MaxMissing  float64 // largest share of impressions without features or propensities

	// Regression predicts relevance for Robust. Its labels are clicks over examinations, which may exceed 1.
	Regression propensity.Regression

	// Keep reports whether to use the pages of a query. nil means all.
	Keep func(query string) bool

	Workers int // 0 is all cores; the result does not depend on it
}

// Defaults returns the default options of a kind of grades.
func Defaults(d Debias) Options {
	return Options{Debias: d, QueryWeight: Sqrt, Shrink: 5, Clip: 0.01, MaxMissing: 0.2}
}

// Table is training data of clicks.
type Table struct {
	// Data has a row for each pair with features and examinations, in the order of the features. Grades may exceed 1,
	// except for Robust.
	Data *dataset.Dataset
	Tally
}

// Tally says what a table was made of.
type Tally struct {
	Pages       float64 // weight of the pages
	Impressions float64 // of documents
	Pairs       int     // of a query and a document, with features
	Clicks      float64 // on documents of the table

	// Effective is the effective number of clicks, (Σ1/θ)²/Σ1/θ², over the clicks on documents of the table.
	Effective float64

	// Misfit is the slot that agrees least with the propensities, nil if all agree.
	Misfit *Misfit

	// Left out:
	Missing        float64  // share of the impressions of documents without features
	MissingDocs    int      // such pairs
	MissingQueries int      // queries without any features
	Slotless       []string // slots without propensities
	SlotlessShare  float64  // their share of the impressions
	Partless       bool     // pages whose value has no propensities of its own have those of all pages

	Below, Above int // grades that were below 0 and set to 0, and for Robust, above 1 and set to 1
}

// PerPair returns the mean number of clicks of a pair.
func (t *Tally) PerPair() float64 { return t.Clicks / float64(max(t.Pairs, 1)) }

// ErrNoClicks is the error of pages without clicks that could be used.
var ErrNoClicks = errors.New("found no clicks on documents with features and propensities, expected some")

var errDocIDs = errors.New("found documents without ids, expected ids that match those of the pages")

// pick is what a table takes of the features: rows of queries with their sums.
type pick struct {
	query int // in the features
	pages float64
	docs  []int
	of    []*sums
}

// Table makes training data. Features of documents are from a data set with the ids of queries and documents. Its
// grades and weights are not used.
func (l *Log) Table(ctx context.Context, features *dataset.Dataset, o Options) (*Table, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	t := &Table{}
	picks, err := l.pick(features, &o, &t.Tally)
	if err != nil {
		return nil, err
	}
	rows, err := l.rows(ctx, features, picks, &o, &t.Tally)
	if err != nil {
		return nil, err
	}
	b, err := l.blocks(ctx, features, picks)
	if err != nil {
		return nil, err
	}
	b.Grades = make([]float64, len(rows))
	for i, r := range rows {
		b.Grades[i] = r.grade
	}
	if o.Debias == Examinations || o.Debias == Robust {
		b.Weights = make([]float64, len(rows))
		for i, r := range rows {
			b.Weights[i] = r.weight
		}
	}
	b.QueryWeights = o.queryWeights(picks)
	t.Data = made(b, features)
	return t, nil
}

// made returns the data set of blocks, with how the features were read.
func made(b *dataset.Blocks, features *dataset.Dataset) *dataset.Dataset {
	d := dataset.FromBlocks(*b)
	d.AbsentMissing, d.IgnoreOthers = features.AbsentMissing, features.IgnoreOthers
	return d
}

// pick finds the features of the pairs.
func (l *Log) pick(features *dataset.Dataset, o *Options, t *Tally) ([]pick, error) {
	if !features.HasDocIDs() {
		return nil, errDocIDs
	}
	looks, err := l.looksOf(o)
	if err != nil {
		return nil, err
	}
	of, lost := l.sums(looks)
	if o.Propensities != nil && !o.Uncorrected {
		t.Misfit = l.misfit(looks, of)
	}
	pages := l.pagesOf()
	t.Slotless, t.Partless = l.slotsNamed(looks.slotless), looks.partless
	found := make([]bool, len(of))
	var picks []pick
	var weight, squares float64
	for i := range features.Queries {
		q := &features.Queries[i]
		if o.Keep != nil && !o.Keep(q.ID) || pages[q.ID] == 0 {
			continue
		}
		p := pick{query: i, pages: pages[q.ID]}
		for j := range q.Len() {
			n := l.Lookup(q.ID, q.DocID(j))
			if n < 0 {
				continue
			}
			if found[n] {
				return nil, fmt.Errorf("found document %q of query %q twice, expected its features once", q.DocID(j), q.ID)
			}
			found[n] = true
			if s := &of[n]; o.evidence(s) {
				p.docs, p.of = append(p.docs, j), append(p.of, s)
				t.Pairs++
				t.Clicks += s.clicks
				weight += s.weight
				squares += s.squares
			}
		}
		if len(p.docs) > 0 {
			picks = append(picks, p)
		}
	}
	if t.Effective = 0; squares > 0 {
		t.Effective = float64(weight*weight) / squares
	}
	return picks, l.missing(o, t, of, lost, found, pages)
}

// missing counts what is left out, and returns an error if it is too much.
func (l *Log) missing(o *Options, t *Tally, of []sums, lost []float64, found []bool, pages map[string]float64) error {
	without, slotless := 0.0, 0.0
	featured := make(map[string]bool, len(pages))
	for n := range of {
		query, _ := l.Name(n)
		if o.Keep != nil && !o.Keep(query) {
			continue
		}
		all := of[n].shown + lost[n]
		t.Impressions += all
		if found[n] {
			featured[query] = true
			slotless += lost[n]
			continue
		}
		if all > 0 {
			t.MissingDocs++
			without += all
		}
	}
	for i, c := range l.Cells.List {
		if query, _ := l.Name(int(c.Pair)); c.Rank == 0 && (o.Keep == nil || o.Keep(query)) {
			t.Pages += l.Cells.Counts[i].Shown
		}
	}
	for query := range pages {
		if !featured[query] && (o.Keep == nil || o.Keep(query)) {
			t.MissingQueries++
		}
	}
	if t.Impressions == 0 || t.Clicks == 0 && without == 0 && slotless == 0 {
		return ErrNoClicks
	}
	t.Missing, t.SlotlessShare = without/t.Impressions, slotless/t.Impressions
	if t.Missing > o.MaxMissing {
		return fmt.Errorf("found %.3g %% of the impressions of documents without features, expected at most %.3g %%", 100*t.Missing, 100*o.MaxMissing)
	}
	if t.SlotlessShare > o.MaxMissing {
		return fmt.Errorf("found %.3g %% of the impressions in slots without propensities (%s), expected at most %.3g %%", 100*t.SlotlessShare, firstOf(t.Slotless), 100*o.MaxMissing)
	}
	if t.Clicks == 0 {
		return ErrNoClicks
	}
	return nil
}

// firstOf lists the first of some names.
func firstOf(names []string) string {
	const most = 10
	if n := len(names); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n-most)
	}
	return strings.Join(names, ", ")
}

// rows returns the grades and weights of all pairs.
func (l *Log) rows(ctx context.Context, features *dataset.Dataset, picks []pick, o *Options, t *Tally) ([]row, error) {
	var predicted []float64
	if o.Debias == Robust {
		var pairs []propensity.Pair
		var of []*sums
		for i := range picks {
			q := &features.Queries[picks[i].query]
			for k, j := range picks[i].docs {
				p := propensity.Pair{Query: q.ID, Doc: q.DocID(j)}
				if !o.Regression.Has(p) {
					return nil, fmt.Errorf("found a regression without features of document %q of query %q, expected those of all documents", p.Doc, p.Query)
				}
				pairs, of = append(pairs, p), append(of, picks[i].of[k])
			}
		}
		var err error
		if predicted, err = o.predict(ctx, pairs, of); err != nil {
			return nil, err
		}
	}
	var rows []row
	for i := range picks {
		for _, s := range picks[i].of {
			guess := 0.0
			if predicted != nil {
				guess = predicted[len(rows)]
			}
			r := o.of(s, picks[i].pages, guess)
			if r.grade < 0 {
				r.grade = 0
				t.Below++
			}
			if o.Debias == Robust && r.grade > 1 {
				r.grade = 1
				t.Above++
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// queryWeights returns the weights of queries, scaled to mean 1.
func (o *Options) queryWeights(picks []pick) []float64 {
	weights, sum := make([]float64, len(picks)), 0.0
	for i := range picks {
		weights[i] = o.QueryWeight.of(picks[i].pages)
		sum += weights[i]
	}
	for i := range weights {
		weights[i] *= float64(len(weights)) / sum
	}
	return weights
}

// blocks copies the features of documents.
func (l *Log) blocks(ctx context.Context, features *dataset.Dataset, picks []pick) (*dataset.Blocks, error) {
	b := &dataset.Blocks{Features: features.Features, FeatureNames: features.FeatureNames, AttributeNames: features.AttributeNames}
	docs := 0
	for i := range picks {
		docs += len(picks[i].docs)
	}
	const besideFeatures = 40 // bytes of a row: grade, weight and id
	if l.Mem != nil {
		if err := l.Mem.Take(int64(docs)*(4*int64(b.Features)+besideFeatures), "training data"); err != nil {
			return nil, err
		}
	}
	b.X = block.New(docs * b.Features)
	var ids strings.Builder
	b.Docs.End = make([]uint32, 0, docs)
	reader, at := features.Reader(), 0
	for i := range picks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q := reader.Query(picks[i].query)
		b.IDs, b.Counts = append(b.IDs, q.ID), append(b.Counts, len(picks[i].docs))
		if b.AttributeNames != nil {
			b.Attributes = append(b.Attributes, q.Attributes)
		}
		for _, j := range picks[i].docs {
			ids.WriteString(q.DocID(j))
			if ids.Len() > math.MaxUint32 {
				return nil, errors.New("found ids of documents that take more than 4 GiB, expected shorter ones")
			}
			b.Docs.End = append(b.Docs.End, uint32(ids.Len()))
			at += copy(b.X[at:], q.X[j*b.Features:(j+1)*b.Features])
		}
	}
	b.Docs.Text = ids.String()
	for _, v := range b.X {
		if v != v {
			b.Missing++
		}
	}
	return b, nil
}
