package auto

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/tune"
)

// PartsFor returns how many of the five parts of the data are used for validation. The difference in NDCG between two
// good rankers on a query has a standard deviation of about .1. So the standard error of the mean difference is about
// .002 on 2,500 queries. More validation queries would take more trainings without deciding more comparisons. The parts
// that validate have at least 2,500 queries, if there are as many: all five parts validate for up to 3,124 queries, and
// one part from 12,500 queries on.
func PartsFor(queries int) int {
	const enough = 2500
	return min(max(int(math.Ceil(enough*tune.HeldOut/float64(queries))), 1), tune.HeldOut)
}

// divide returns a fold for each part that validates. It adds the validation data of the configuration to the data,
// unless only these validate.
func (r *run) divide() (folds []tune.Fold, err error) {
	queries := len(r.Data.Queries)
	if r.Valid != nil {
		queries += len(r.Valid.Queries)
	}
	parts := r.Parts
	if r.of = parts; parts <= 1 {
		r.of = min(tune.HeldOut, queries)
	}
	if parts == 0 {
		parts = min(PartsFor(queries), r.of)
	}
	if parts == 1 && r.Valid != nil {
		r.of = 0
		return []tune.Fold{{Name: "part1", Train: r.Data, Valid: r.Valid, Test: r.Valid}}, nil
	}
	if r.Valid != nil {
		if r.Data, err = dataset.Concat(r.Data, r.Valid); err != nil {
			return nil, err
		}
	}
	if r.Parts > 0 {
		return foldsOf(r.Data, parts, r.of, r.Tune.Seed)
	}
	folds, r.of, err = r.fewer(r.Data, parts, r.of)
	return folds, err
}

// fewer returns the folds for the first parts of d, divided into of parts. It divides d into fewer parts if the measure
// does not depend on the order of documents in the training or validation data of some fold. The second result is the
// number of parts.
func (r *run) fewer(d *dataset.Dataset, parts, of int) (folds []tune.Fold, _ int, err error) {
	for ; of >= 2; of-- {
		if folds, err = foldsOf(d, min(parts, of), of, r.Tune.Seed); err != nil {
			return nil, of, err
		}
		if !slices.ContainsFunc(folds, func(f tune.Fold) bool { return r.indifferent(f.Valid) || r.indifferent(f.Train) }) {
			return folds, of, nil
		}
	}
	return folds, 2, nil // checking these folds returns an error that names the part
}

// indifferent reports whether the measure of every query of d is the same for every order of the query's documents.
func (r *run) indifferent(d *dataset.Dataset) bool {
	by := r.Tune.Select
	if by == nil {
		by = measure.MustParse("map", r.Tune.Convention)
	}
	return measure.CheckVaries(measure.For(by, r.Data), d) != nil
}

// foldsOf divides d into of parts and returns a fold for each of the first parts: this part is the validation data, and
// all other parts are the training data.
func foldsOf(d *dataset.Dataset, parts, of int, seed uint64) (folds []tune.Fold, err error) {
	for part := 1; part <= parts; part++ {
		f := tune.Fold{Name: fmt.Sprintf("part%d", part)}
		if f.Train, f.Valid, err = tune.HoldOut(d, part, of, seed); err != nil {
			return nil, err
		}
		f.Test = f.Valid
		folds = append(folds, f)
	}
	return folds, nil
}

// DefaultSampleFrom is the default of Config.SampleFrom.
const DefaultSampleFrom = 20e6

// sample returns the folds of a random sample of the queries, or nil if the data have at most SampleFrom values. A
// sample has about two fifths of SampleFrom values.
func (r *run) sample() ([]tune.Fold, error) {
	d := r.Data
	values := float64(d.Docs()) * float64(d.Features)
	if values <= r.SampleFrom {
		return nil, nil
	}
	n := max(int(0.4*r.SampleFrom/values*float64(len(d.Queries))), min(len(d.Queries), 2*tune.HeldOut))
	queries := random.Stream(r.Tune.Seed, "sample of the search", "").Perm(len(d.Queries))[:n]
	slices.Sort(queries)
	r.sampled = n
	folds, _, err := r.fewer(d.Subset(queries), PartsFor(n), tune.HeldOut)
	return folds, err
}

// finalists is the largest number of trials on all data after trials on a sample.
const finalists = 4

// promote repeats, on all data, the best trials of on, which is a search on a sample. It repeats one trial of each of
// the best families. The best trial with trees comes first, since trees gain most from more data. It is also repeated
// with four times as many leaves. Trees are added as long as the value on validation data improves. If the time is
// limited, the first trial gets about half of the remaining time, and the other trials get equal parts of the other
// half. A training of trees whose time is over keeps the trees so far.
func (r *run) promote(ctx context.Context, on *search, whole []tune.Fold) (*search, error) {
	s, err := r.open(whole[:1])
	if err != nil {
		return nil, err
	}
	s.offset = len(on.trials)
	begun, end := time.Now(), r.until(searchShare)
	trials, err := s.promoted(on)
	if err != nil {
		return nil, err
	}
	s.begin("trials on all data", len(trials))
	for i, t := range trials {
		var until time.Time
		if !end.IsZero() {
			part := float64(i+len(trials)) / float64(2*len(trials)-1) // a half, then equal parts
			until = begun.Add(time.Duration(part * float64(end.Sub(begun))))
		}
		if err := s.repeat(ctx, t, until); err != nil {
			return nil, err
		}
		s.trials = append(s.trials, t)
	}
	return s, nil
}

// promoted returns the trials that promote performs.
func (s *search) promoted(on *search) (trials []*Trial, err error) {
	add := func(of *Trial, set map[string]string) error {
		v := of.Setting.Map()
		maps.Copy(v, set)
		setting, err := of.family.method.Values(v)
		if err == nil {
			t := s.trial(of.family, setting)
			t.Number = s.offset + len(trials)
			trials = append(trials, t)
		}
		return err
	}
	best := bestOfFamilies(on.ranked())
	if i := slices.IndexFunc(best, func(t *Trial) bool { return t.family.kind == "trees" }); i >= 0 {
		trees := best[i]
		best = slices.Insert(slices.Delete(best, i, i+1), 0, trees)
	}
	longer := map[string]string{"trees": "20000", "patience": "100"}
	for i, t := range best[:min(finalists-1, len(best))] {
		if t.family.kind != "trees" {
			if err := add(t, nil); err != nil {
				return nil, err
			}
			continue
		}
		if i == 0 {
			more := maps.Clone(longer)
			more["leaves"] = strconv.Itoa(min(4*t.Setting.Int("leaves"), 255))
			if err := add(t, more); err != nil {
				return nil, err
			}
		}
		if err := add(t, longer); err != nil {
			return nil, err
		}
	}
	return trials, nil
}

// bestOfFamilies returns the first trial of each family in ranked.
func bestOfFamilies(ranked []*Trial) (best []*Trial) {
	seen := make(map[*family]bool)
	for _, t := range ranked {
		if !seen[t.family] {
			best = append(best, t)
		}
		seen[t.family] = true
	}
	return best
}

// repeat performs a trial on all data, with all cores, until the given time.
func (s *search) repeat(ctx context.Context, t *Trial, until time.Time) error {
	trained, err := s.session.TrainUntil(ctx, t.family.entry, 0, t.Setting, until)
	if problem, refused := errors.AsType[*train.ProblemError](err); refused && ctx.Err() == nil {
		t.Refused = problem.Error()
		return nil
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		t.LeftOut = true
		return nil
	}
	if err != nil {
		return err
	}
	t.Setting = trained.Setting.(method.Values)
	s.tell()
	return s.conclude(t, []*tune.Trained{trained})
}
