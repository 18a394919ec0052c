package cli

import (
	"context"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/method"
)

// reopen opens data of a problem that are in memory once more, to be read query by query, as learning has too little
// memory beside them: the validation data or, where there is nothing to gain from these, the training data. It returns
// false if neither can be.
func (f *trainFlags) reopen(ctx context.Context, env *environment, p *method.Problem) (bool, error) {
	if f.valid != "" && f.valid != "-" && !p.Valid.Streamed() {
		valid, err := f.again(ctx, env, "valid", f.valid, p.Valid, f.validOpened)
		if err == nil {
			p.Valid, err = valid, p.Valid.Close()
		}
		return true, err
	}
	if len(f.train) != 1 || slices.Contains(f.train, "-") || f.whole.Streamed() {
		return false, nil
	}
	whole, err := f.again(ctx, env, "train", f.train[0], f.whole, f.opened)
	if err != nil {
		return true, err
	}
	before := f.whole
	f.whole, p.Data = whole, whole
	if f.valid == "" {
		p.Data, p.Valid, err = f.divide(ctx, env, &f.learning, f.train[0], whole, f.opened)
	}
	if err != nil {
		return true, err
	}
	return true, before.Close()
}

// again opens a file whose data are in memory so that they are not.
func (f *trainFlags) again(ctx context.Context, env *environment, flag, path string, held *dataset.Dataset, opts dataset.Options) (*dataset.Dataset, error) {
	env.note("note: %s is read query by query, since learning has too little memory beside it", path)
	opts.MaxBytes = max(1, 4*int64(held.Docs())*int64(held.Features)-1) // less than they need
	return env.open(ctx, flag, path, opts)
}
