package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/learn/method"
)

// reopen opens data of a problem that are in memory once more, to be read query by query, as learning has too little
// memory beside them: the validation data or, where there is nothing to gain from these, the training data. It returns
// false if neither can be.
func (f *trainFlags) reopen(ctx context.Context, env *environment, p *method.Problem) (bool, error) {
	if f.valid != "" && !p.Valid.Streamed() && opensAgain(f.valid) {
		held, err := held(&p.Valid)
		if err == nil {
			p.Valid, err = f.again(ctx, env, "valid", f.valid, held, f.validOpened)
		}
		return true, err
	}
	if len(f.train) != 1 || f.whole.Streamed() || !opensAgain(f.train[0]) {
		return false, nil
	}
	if f.holdOut != "" {
		p.MaxBytes += featureBytes(f.whole)
		p.Valid = nil
	}
	p.Data = nil
	held, err := held(&f.whole)
	if err != nil {
		return true, err
	}
	if f.whole, err = f.again(ctx, env, "train", f.train[0], held, f.opened); err != nil {
		return true, err
	}
	p.Data = f.whole
	if f.valid == "" {
		p.Data, p.Valid, err = f.divide(ctx, env, &f.learning, f.train[0], f.whole, f.opened)
	}
	return true, err
}

// held returns the fingerprint of data in memory and gives up their memory, so that there is room to read them once more.
func held(d **dataset.Dataset) (fingerprint string, err error) {
	fingerprint = (*d).Fingerprint()
	err = (*d).Close()
	*d = nil
	return fingerprint, err
}

// leftBeside returns how many of so many bytes there are for other data beside data: their features, if they are in memory,
// and what is known of their queries, of which a few MB are not counted.
func leftBeside(data *dataset.Dataset, bytes int64) int64 {
	const few = 2 << 20
	held := max(0, memory.QueryBytes*int64(len(data.Queries))-few)
	if !data.Streamed() {
		held += featureBytes(data)
	}
	return max(1, bytes-held)
}

// featureBytes returns the bytes of the features of data in memory.
func featureBytes(d *dataset.Dataset) int64 { return 4 * int64(d.Docs()) * int64(d.Features) }

// opensAgain reports whether a path is of what can be read any number of times: a file, or a folder of shards.
func opensAgain(path string) bool {
	info, err := os.Stat(path)
	return path != "-" && err == nil && (info.Mode().IsRegular() || info.IsDir())
}

// again opens a file whose data are in memory so that they are not. That they are others since is an error.
func (f *trainFlags) again(ctx context.Context, env *environment, flag, path, held string, opts dataset.Options) (*dataset.Dataset, error) {
	env.note("note: %s is read query by query, to leave memory for training", path)
	opts.Unheld = true
	d, err := env.open(ctx, flag, path, opts)
	switch {
	case err != nil:
		return nil, err
	case !d.Streamed():
		return nil, usageErrorf("--%s: %s cannot be read query by query and leaves too little memory for training; raise the limit with --max-memory", flag, path)
	case d.Fingerprint() != held:
		return nil, errors.Join(fmt.Errorf("%s: %w", path, dataset.ErrChanged), d.Close())
	}
	return d, nil
}
