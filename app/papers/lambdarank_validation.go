package papers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune"
)

// intranetExperiment is the study lambdaRankIntranet with a test of the paper's remark on
// validation sets.
func intranetExperiment() Experiment {
	s := lambdaRankIntranet()
	e := s.experiment()
	e.Run = func(ctx context.Context, o Options) (*Report, error) {
		r, err := s.run(ctx, o)
		if err != nil {
			return nil, err
		}
		return r, largeValidation(ctx, o, r)
	}
	return e
}

// largeValidation tests the remark that a large validation set reduces variance. It trains linear
// nets once with every rate. It then repeatedly draws validation queries with replacement: two
// fifths of all queries, as in the paper, or a quarter of this number. Each draw chooses a rate and
// an epoch. The result is the standard deviation of the test NDCG of these choices.
func largeValidation(ctx context.Context, o Options, r *Report) error {
	sources, _, err := intranetData(o)
	if err != nil {
		return err
	}
	folds, methods := sources[0].folds, []string{"ranknet", "lambdarank"}
	all := len(folds[0].Valid.Queries)
	few := max(1, all/4)
	large, small := make([]float64, len(folds)*len(methods)), make([]float64, len(folds)*len(methods))
	err = onFolds(ctx, o, "validation sets", folds, len(methods), func(fold, at int) error {
		choices, err := everyEpoch(ctx, methods[at], &folds[fold], o.Seed)
		if err != nil {
			return err
		}
		rng := random.Stream(o.Seed, "validation queries", fmt.Sprintf("%s %d", methods[at], fold))
		k := fold*len(methods) + at
		large[k], small[k] = spreadOfChoice(choices, all, rng), spreadOfChoice(choices, few, rng)
		return nil
	})
	if err != nil {
		return err
	}
	verdict, less, apart := steadier(large, small)
	r.found(verdict.once(), "a large validation set reduces variance on a set as small as the intranet's (6.3.2)",
		"synthetic intranet, linear nets, standard deviation of test NDCG@10 over draws of the validation queries: %.4f with %d of them, %.4f with %d; smaller with more in %d of %d folds and methods",
		mean(large), all, mean(small), few, less, apart).Rule = "a sign test at 5 %"
	return nil
}

// steadier returns the verdict on the claim that the deviations large are smaller than the
// deviations small. less and apart count the cases in which they are smaller, and in which they
// differ.
func steadier(large, small []float64) (verdict FindVerdict, less, apart int) {
	for i := range large {
		if large[i] != small[i] {
			apart++
		}
		if large[i] < small[i] {
			less++
		}
	}
	if signTest(less, apart) < stats.Alpha {
		return holdsIf(2*less > apart), less, apart
	}
	return ClaimUndecided, less, apart
}

// epochChoice is the NDCG@10 after an epoch: the value of each validation query, and the mean over
// the test queries.
type epochChoice struct {
	valid []float64
	test  float64
}

// everyEpoch trains a linear net with every rate and returns the results of all epochs.
func everyEpoch(ctx context.Context, name string, fold *tune.Fold, seed uint64) ([]epochChoice, error) {
	m, err := measure.Parse(fmt.Sprintf("ndcg@%d", artificialTop), standard, measure.Options{})
	if err != nil {
		return nil, err
	}
	trained, err := method.Lookup(name)
	if err != nil {
		return nil, err
	}
	var all []epochChoice
	var lost error
	on := func(d *dataset.Dataset, w []float64) *measure.Result {
		scores := make([]float64, d.Docs())
		linearScores(scores, d, w)
		found, err := measure.Evaluate(d, scores, []measure.Measure{m}, measure.TiesInput)
		lost = errors.Join(lost, err)
		return found
	}
	for _, rate := range realRates {
		set := make(map[string]string)
		for key, values := range burgesSchedule([]string{rate}, realEpochs) {
			set[key] = values[0]
		}
		p := &method.Problem{Problem: train.Problem{Data: fold.Train, Valid: fold.Valid, Seed: seed, Workers: 1}, Scorer: "linear"}
		if trained.UsesMeasure {
			p.Measure = m
		}
		if p.Values, err = trained.Values(set); err != nil {
			return nil, err
		}
		p.Observe = func(it method.Iteration) {
			if valid, test := on(fold.Valid, it.Params), on(fold.Test, it.Params); lost == nil {
				all = append(all, epochChoice{slices.Clone(valid.PerQuery(m)), test.Mean(m)})
			}
		}
		if _, err = trained.Train(ctx, p); errors.Join(err, lost) != nil {
			return nil, errors.Join(err, lost)
		}
	}
	return all, nil
}

// choiceDraws is the number of draws of validation queries.
const choiceDraws = 500

// spreadOfChoice returns the standard deviation of the test value of the epoch that n random
// validation queries select.
func spreadOfChoice(all []epochChoice, n int, rng *rand.Rand) float64 {
	drawn, chosen := make([]int, n), make([]float64, choiceDraws)
	for i := range chosen {
		for k := range drawn {
			drawn[k] = rng.IntN(len(all[0].valid))
		}
		most := math.Inf(-1)
		for _, c := range all {
			sum := 0.0
			for _, q := range drawn {
				sum += c.valid[q]
			}
			if sum > most {
				most, chosen[i] = sum, c.test
			}
		}
	}
	return sd(chosen)
}
