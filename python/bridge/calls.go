package bridge

import (
	"context"
	"sync"

	"github.com/listwise/listwise/app"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/cache"
	"github.com/listwise/listwise/learn/method"
)

// callRequest is a request for what a function of package app does with files.
type callRequest struct {
	Settings app.Settings
	Systems  []string
	notes    notes
}

// callAnswer has what a function returned.
type callAnswer struct {
	Data  any      `json:"data"`
	Table string   `json:"table,omitempty"`
	Notes []string `json:"notes"` // warnings, which may name files of the request
}

// notes are sentences that several goroutines may add.
type notes struct {
	sync.Mutex
	all []string
}

func (n *notes) add(sentence string) {
	n.Lock()
	defer n.Unlock()
	n.all = append(n.all, sentence)
}

// calling returns the operation that calls a function.
func calling(do func(ctx context.Context, r *callRequest) (callAnswer, error)) func(*job, context.Context, []byte, Arrays) (any, error) {
	return func(_ *job, ctx context.Context, request []byte, _ Arrays) (any, error) {
		var r callRequest
		if err := decode(request, &r); err != nil {
			return nil, err
		}
		answer, err := do(ctx, &r)
		answer.Notes = r.notes.all
		return answer, err
	}
}

func compare(ctx context.Context, r *callRequest) (callAnswer, error) {
	c, err := app.Compare(ctx, r.Settings, r.Systems, r.notes.add)
	if err != nil {
		return callAnswer{}, err
	}
	return callAnswer{Data: c.Data, Table: c.Table}, nil
}

func evaluateFiles(ctx context.Context, r *callRequest) (callAnswer, error) {
	data, err := app.Evaluate(ctx, r.Settings, r.notes.add)
	return callAnswer{Data: data}, err
}

func report(ctx context.Context, r *callRequest) (callAnswer, error) {
	return callAnswer{}, app.Report(ctx, r.Settings, r.Systems, r.notes.add)
}

func tune(ctx context.Context, r *callRequest) (callAnswer, error) {
	data, err := app.Tune(ctx, r.Settings, r.notes.add)
	return callAnswer{Data: data}, err
}

// hyperparameters answers with the names of those of all methods.
func (j *job) hyperparameters(context.Context, []byte, Arrays) (any, error) {
	var names []string
	for _, m := range method.List() {
		for _, h := range m.Hyperparameters {
			names = append(names, h.Name)
		}
	}
	return map[string]any{"names": names}, nil
}

// writeRequest is a request to write documents to a cache, which the other functions read.
type writeRequest struct {
	Data rows
	Path string
}

func (j *job) write(_ context.Context, request []byte, arrays Arrays) (any, error) {
	var r writeRequest
	if err := decode(request, &r); err != nil {
		return nil, err
	}
	d, err := r.Data.dataset(arrays, dataset.MissingKeep)
	if err != nil {
		return nil, err
	}
	return map[string]any{"warnings": d.Warnings}, cache.Write(r.Path, d)
}
