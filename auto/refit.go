package auto

import (
	"context"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// refitsFolds reports whether every fold gets a fusion trained on its training and validation data,
// to be measured on its test data. A single fold's is the last model.
func (r *run) refitsFolds() bool { return len(r.config.Folds) > 1 && r.config.Folds[0].Tested() }

// setLengths sets the settings that train as long without validation data.
func (r *run) setLengths(f *Fused) error {
	for i := range f.Members {
		m := &f.Members[i]
		v, err := tune.Refitted(m.Entry.Method, m.Trial.(method.Values), m.tried)
		if err != nil {
			return err
		}
		m.Setting = v
	}
	return nil
}

// refit trains the members anew and fuses them.
func (r *run) refit(ctx context.Context, result *Result) error {
	type task struct {
		of     *Fused
		member int
		data   *dataset.Dataset
	}
	var tasks []task
	add := func(f *Fused, d *dataset.Dataset) {
		for i := range f.Members {
			tasks = append(tasks, task{f, i, d})
		}
	}
	if r.refitsFolds() {
		for k := range result.Folds {
			d, err := dataset.Concat(r.config.Folds[k].Train, r.config.Folds[k].Valid)
			if err != nil {
				return err
			}
			add(&result.Folds[k], d)
		}
	}
	add(&result.Final, r.Whole)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	done := 0
	parallel.For(len(tasks), r.config.Jobs, func(_, i int) {
		if ctx.Err() != nil {
			return
		}
		m := &tasks[i].of.Members[tasks[i].member]
		trained, err := r.session.Refit(ctx, m.Number, tasks[i].of.Name+".refit", tasks[i].data, m.Setting)
		if err != nil {
			cancel(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		m.Refit = trained
		if done++; r.Observe != nil {
			r.Observe(Progress{Stage: "refitting", Done: done, Total: len(tasks), Best: result.Final.Members[0].Validation, Name: result.Final.Members[0].Entry.Name})
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fuseAll(append(pointers(result.Folds), &result.Final))
}

// fuseAll sets the fusions of refitted members.
func fuseAll(all []*Fused) (err error) {
	for _, f := range all {
		var models []*model.Model
		for i := range f.Members {
			if f.Members[i].Refit != nil {
				models = append(models, f.Members[i].Refit)
			}
		}
		if len(models) == 0 {
			continue
		}
		if f.Model, err = fusion(models); err != nil {
			return err
		}
	}
	return nil
}

// Untrained returns the fusion of some members as they were tried, without the validation data.
func Untrained(members []Member) (*model.Model, error) {
	var models []*model.Model
	for i := range members {
		models = append(models, members[i].Tried)
	}
	return fusion(models)
}
