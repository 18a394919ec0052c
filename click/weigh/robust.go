package weigh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// Folds is the number of parts of the queries. The relevance of the pairs of a part is predicted by a regression on
// the others.
const Folds = 5

// A regression is fitted until its predictions change by less than fitTolerance, and at most mostFits times.
const (
	fitTolerance = 1e-9
	mostFits     = 100
)

// predict returns the relevance of pairs, predicted out of fold and clipped to [0, 1]. Pairs of a query are adjacent.
func (o *Options) predict(ctx context.Context, pairs []propensity.Pair, of []*sums) ([]float64, error) {
	fold, err := folds(pairs)
	if err != nil {
		return nil, err
	}
	labels, out, errs := make([]float64, len(pairs)), make([]float64, len(pairs)), make([]error, Folds)
	for i, s := range of {
		labels[i] = max(0, s.net/s.looked)
	}
	parallel.For(Folds, o.Workers, func(_, k int) {
		weights, predictions := make([]float64, len(pairs)), make([]float64, len(pairs))
		for i, s := range of {
			if fold[i] != k {
				weights[i] = s.looked
			}
		}
		if errs[k] = fit(ctx, o.Regression.Start(pairs), labels, weights, predictions); errs[k] != nil {
			return
		}
		for i, p := range predictions {
			if fold[i] == k {
				out[i] = min(max(p, 0), 1)
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, errors.Join(errs...)
}

// fit fits until the predictions stay.
func fit(ctx context.Context, f propensity.Fitter, labels, weights, predictions []float64) error {
	before := make([]float64, len(predictions))
	for range mostFits {
		if err := ctx.Err(); err != nil {
			return err
		}
		copy(before, predictions)
		if err := f.Fit(labels, weights, predictions); err != nil {
			return fmt.Errorf("regression of clicks over examinations: %w", err)
		}
		change := 0.0
		for i, p := range predictions {
			if math.IsNaN(p) {
				return errors.New("regression of clicks over examinations: found a prediction that is not a number")
			}
			change = max(change, math.Abs(p-before[i]))
		}
		if change < fitTolerance {
			return nil
		}
	}
	return nil
}

// folds returns the part of each pair. Queries are dealt in the order of a hash of their ids, so parts do not depend
// on the order of the data.
func folds(pairs []propensity.Pair) ([]int, error) {
	type drawn struct {
		key  uint64
		from int
	}
	var queries []drawn
	for i, p := range pairs {
		if i == 0 || pairs[i-1].Query != p.Query {
			queries = append(queries, drawn{random.Stream(0, "fold of clicks", p.Query).Uint64(), i})
		}
	}
	if len(queries) < Folds {
		return nil, fmt.Errorf("found %d queries with features and examinations, expected %d or more, for robust predicts each query from others", len(queries), Folds)
	}
	order := slices.Clone(queries)
	slices.SortFunc(order, func(a, b drawn) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.from, b.from)) })
	starts := make(map[int]int, len(order))
	for n, q := range order {
		starts[q.from] = n % Folds
	}
	fold := make([]int, len(pairs))
	for i := range pairs {
		if k, first := starts[i]; first {
			fold[i] = k
		} else {
			fold[i] = fold[i-1]
		}
	}
	return fold, nil
}
