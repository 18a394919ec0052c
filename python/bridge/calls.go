package bridge

import (
	"context"
	"encoding/json"

	"github.com/listwise/listwise/app"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/learn/method"
)

// callRequest is a request to call a function of package app on files.
type callRequest struct {
	Settings app.Settings
	Systems  []string
}

// calling returns the operation that calls a function. Its warnings may name files of the request.
func calling(do func(context.Context, app.Settings, ...string) (*app.Outcome, error)) operation {
	return taking(func(_ *job, ctx context.Context, r callRequest, _ Arrays) (any, error) {
		return do(ctx, r.Settings, r.Systems...)
	})
}

// auto searches and tells its progress.
func (j *job) auto(ctx context.Context, r callRequest, _ Arrays) (any, error) {
	return app.Auto(ctx, r.Settings, func(p app.SearchProgress) {
		if text, err := json.Marshal(p); err == nil { // else a number is not finite
			j.tell(string(text))
		}
	}, r.Systems...)
}

// hyperparameters answers with the names of the hyperparameters of all methods.
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

func (j *job) write(_ context.Context, r writeRequest, arrays Arrays) (any, error) {
	d, err := r.Data.dataset(arrays, dataset.MissingKeep)
	if err != nil {
		return nil, err
	}
	return map[string]any{"warnings": d.Warnings}, datafile.WriteCache(r.Path, d)
}
