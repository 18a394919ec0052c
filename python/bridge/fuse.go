package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/fuse"
)

// fuseRequest is a request to make one ranking of several: of models, or of the scores of documents.
type fuseRequest struct {
	Models  []uint64
	Scores  []int // places of arrays, []float64, one a document of Data
	Data    *rows
	Rule    string
	Scale   string
	K       float64
	Weights []float64 // null: equal, and 1 together
	Runs    bool      // the scores are those of runs
}

// fuse answers with the bytes of a model file, or with scores.
func (j *job) fuse(_ context.Context, r fuseRequest, arrays Arrays) (any, error) {
	rule, err := r.rule()
	if err != nil {
		return nil, err
	}
	systems := len(r.Models) + len(r.Scores)
	if r.Weights == nil {
		r.Weights = fuse.Equal(systems)
	}
	if len(r.Weights) != systems {
		return nil, fmt.Errorf("weights: found %d, expected one for each of %d systems", len(r.Weights), systems)
	}
	if len(r.Models) > 0 {
		return j.fuseModels(&r, rule)
	}
	return j.fuseScores(&r, rule, arrays)
}

func (r *fuseRequest) rule() (fuse.Rule, error) {
	kind, err := fuse.ParseKind(r.Rule)
	if err != nil {
		return fuse.Rule{}, fmt.Errorf("rule: %w", err)
	}
	scale, err := fuse.ParseScale(r.Scale)
	if err != nil {
		return fuse.Rule{}, fmt.Errorf("scale: %w", err)
	}
	rule := fuse.Rule{Kind: kind, Scale: scale, K: r.K}
	if r.Runs {
		rule = rule.OfRuns()
	}
	return rule, rule.Check()
}

func (j *job) fuseModels(r *fuseRequest, rule fuse.Rule) (any, error) {
	var members []*model.Model
	for _, number := range r.Models {
		m, err := held(number)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	fused, err := model.NewFused(rule, members, r.Weights)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := fused.Write(&file); err != nil {
		return nil, err
	}
	j.arrays = []any{file.Bytes()}
	return map[string]any{"model": describeModel(keep(fused), fused)}, nil
}

func (j *job) fuseScores(r *fuseRequest, rule fuse.Rule, arrays Arrays) (any, error) {
	if r.Data == nil || len(r.Scores) == 0 {
		return nil, errors.New("systems: found none, expected models, or scores of documents")
	}
	d, err := r.Data.dataset(arrays, dataset.MissingKeep)
	if err != nil {
		return nil, err
	}
	systems := make([][]float64, len(r.Scores))
	for s := range r.Scores {
		given, err := array[float64](arrays, &r.Scores[s], "scores")
		if err != nil {
			return nil, err
		}
		for i, v := range given {
			if v-v != 0 && v != dataset.NotRetrieved {
				return nil, fmt.Errorf("scores: found %v of system %d for document %d, expected a finite number, or -inf for a document that was not retrieved", v, s+1, i+1)
			}
		}
		if len(given) != d.Docs() {
			return nil, fmt.Errorf("scores: found %d of system %d, expected %d: one a document", len(given), s+1, d.Docs())
		}
		systems[s] = make([]float64, len(given))
		d.FromInputOrder(systems[s], given)
	}
	sums := make([]float64, d.Docs())
	votes := make([][]float64, len(systems))
	for i := range d.Queries {
		from, to := d.Queries[i].Start, d.Queries[i].Start+d.Queries[i].Len()
		for s := range systems {
			votes[s] = systems[s][from:to]
		}
		rule.Votes(votes)
		for s, w := range r.Weights {
			for k, v := range votes[s] {
				sums[from+k] += w * v
			}
		}
	}
	fused := make([]float64, len(sums))
	d.ToInputOrder(fused, sums)
	j.arrays = []any{fused}
	return map[string]any{"warnings": d.Warnings}, nil
}
