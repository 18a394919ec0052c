package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/method"
)

// reopen opens data of a problem that are in memory once more, to be read query by query, as learning has too little
// memory beside them: the validation data or, where there is nothing to gain from these, the training data. It returns
// false if neither can be.
func (f *trainFlags) reopen(ctx context.Context, env *environment, p *method.Problem) (bool, error) {
	if f.valid != "" && !p.Valid.Streamed() && opensAgain(f.valid) {
		valid, err := f.again(ctx, env, "valid", f.valid, p.Valid, f.validOpened)
		if err == nil {
			p.Valid, err = valid, p.Valid.Close()
		}
		return true, err
	}
	if len(f.train) != 1 || f.whole.Streamed() || !opensAgain(f.train[0]) {
		return false, nil
	}
	whole, err := f.again(ctx, env, "train", f.train[0], f.whole, f.opened)
	if err != nil {
		return true, err
	}
	before := f.whole
	f.whole, p.Data = whole, whole
	if f.valid == "" {
		if f.holdOut != "" {
			p.MaxBytes += 4 * int64(before.Docs()) * int64(before.Features)
		}
		p.Data, p.Valid, err = f.divide(ctx, env, &f.learning, f.train[0], whole, f.opened)
	}
	if err != nil {
		return true, err
	}
	return true, before.Close()
}

// opensAgain reports whether a path is of what can be read any number of times: a file, or a folder of shards.
func opensAgain(path string) bool {
	info, err := os.Stat(path)
	return path != "-" && err == nil && (info.Mode().IsRegular() || info.IsDir())
}

// again opens a file whose data are in memory so that they are not. That they are others since is an error.
func (f *trainFlags) again(ctx context.Context, env *environment, flag, path string, held *dataset.Dataset, opts dataset.Options) (*dataset.Dataset, error) {
	env.note("note: %s is read query by query, since learning has too little memory beside it", path)
	opts.Unheld = true
	d, err := env.open(ctx, flag, path, opts)
	switch {
	case err != nil:
		return nil, err
	case !d.Streamed():
		return nil, usageErrorf("--%s: %s cannot be read query by query, and learning has too little memory beside it; raise the limit with --max-memory", flag, path)
	case d.Fingerprint() != held.Fingerprint():
		return nil, errors.Join(fmt.Errorf("%s: %w", path, dataset.ErrChanged), d.Close())
	}
	return d, nil
}
