package auto

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/elementary"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// round is the number of trials that are chosen at a time, by the results of earlier rounds. A fixed number makes the
// choice independent of the number of cores.
const round = 4

// Trial is one setting of a family, trained once for each part that validates.
type Trial struct {
	Number  int // from 0
	Entry   *tune.Entry
	Setting method.Values

	// Mean is the mean of the measure over the validation queries of all parts, where tied documents contribute their
	// expected value. Models has one model for each part, which was validated on this part. Models is nil for a trial
	// without a result.
	Mean     float64
	Interval stats.Interval // of the mean for other queries, 95 %; only in Result.Ranked
	Models   []*model.Model
	Curves   [][]byte // learning curves, one for each part

	// Parts has the setting of each model if the models were trained without validation data, see Result.Ranked. Parts
	// is nil if validation data ended the trainings.
	Parts []method.Values

	Refused string // why the method cannot learn from the data, or why the target cannot express its models
	LeftOut bool   // the trial is listed in Config.Without, or did not end in time

	family    *family
	trained   []*tune.Trained // one for each part; nil if no fusion can choose the trial
	took      time.Duration   // sum of the times of the trainings
	again     time.Duration   // sum of the times of the trainings that finish must repeat
	deviation float64         // standard deviation of the scores on the validation data
	votes     []float64       // votes of the models for the documents of the pool, see [pool.votes]
	values    []float64       // measure of each query of the pool; NaN if it is not defined
}

// search chooses trials and performs them.
type search struct {
	*run
	session *tune.Session
	config  tune.Config // the session's
	planned []planned   // the first trials
	pool    *pool
	trials  []*Trial // performed trials
	offset  int      // number of the first trial

	mu       sync.Mutex
	progress Progress
}

// next returns the trials of the next round, at most most. The trials of the portfolio come first. After them, each
// trial of a round is of the family with the highest index (see indices), so usually of another family than the other
// trials of the round. next returns no trials if every setting has been tried.
func (s *search) next(most int) (trials []*Trial, err error) {
	begun := make(map[*family]int) // in this round
	for len(trials) < min(round, most) {
		var t *Trial
		n := len(s.trials) + len(trials)
		if n < len(s.planned) {
			t, err = s.plan(&s.planned[n])
		} else {
			t, err = s.pick(begun, len(trials) == round-1)
		}
		if t == nil || err != nil {
			return trials, err
		}
		t.Number, t.LeftOut = s.offset+n, slices.Contains(s.Without, n)
		t.family.drawn = append(t.family.drawn, t.Setting)
		begun[t.family]++
		trials = append(trials, t)
	}
	return trials, nil
}

func (s *search) plan(p *planned) (*Trial, error) {
	f := s.families[slices.IndexFunc(s.families, func(f *family) bool { return f.name == p.family() })]
	v, err := f.method.Values(s.leader(f.kind).hurried(f.method, p.set))
	return s.trial(f, v), err
}

func (s *search) trial(f *family, v method.Values) *Trial {
	return &Trial{Entry: &s.config.Entries[f.entry], Setting: v, family: f}
}

// pick returns a trial of the family with the highest index. If other is set, families with the kind of scorer that
// complement returns come first. begun has the number of trials of each family in this round so far.
func (s *search) pick(begun map[*family]int, other bool) (*Trial, error) {
	index := s.indices(begun)
	kind := ""
	if other {
		kind = s.complement()
	}
	order := slices.Clone(s.families)
	slices.SortStableFunc(order, func(a, b *family) int {
		if (a.kind == kind) != (b.kind == kind) {
			if a.kind == kind {
				return -1
			}
			return 1
		}
		return cmp.Compare(index[b], index[a])
	})
	for _, f := range order {
		if math.IsInf(index[f], -1) {
			continue
		}
		v, ok, err := f.draw(s.config.Seed, s.leader(f.kind))
		if err != nil {
			return nil, err
		}
		if ok {
			return s.trial(f, v), nil
		}
	}
	return nil, nil
}

// indices returns an index of each family, an upper confidence bound (Auer, Cesa-Bianchi and Fischer, Finite-time
// Analysis of the Multiarmed Bandit Problem, Machine Learning 47, 2002). The index is the mean of the better half of
// the family's trials, plus a bonus that falls with the number of trials. For a family without trials, the mean is that
// of families with the same kind of scorer and the same form of the features. The bonus is proportional to the result
// of noise. So the search ignores kinds of scorers that are worse by more than the noise, and does not try a family
// repeatedly for differences below the noise. A family without any result, of which a trial failed or is in this round,
// has the index −∞.
func (s *search) indices(begun map[*family]int) map[*family]float64 {
	values := make(map[*family][]float64) // best first
	refused := make(map[*family]bool)
	for _, t := range s.ranked() {
		values[t.family] = append(values[t.family], t.Mean)
	}
	for _, t := range s.trials {
		refused[t.family] = refused[t.family] || t.Models == nil
	}
	level := make(map[*family]float64)
	for f, v := range values {
		level[f] = measure.Mean(v[:(len(v)+1)/2])
	}
	similar := func(like func(g *family) bool) (mean float64, ok bool) {
		n := 0.0
		for _, g := range s.families { // in order, so that sums do not depend on a map's
			if v, has := level[g]; has && like(g) {
				mean, n = mean+v, n+1
			}
		}
		return mean / n, n > 0
	}
	bonus := s.noise() * math.Sqrt(2*elementary.Log(float64(max(2, len(s.trials)))))
	index := make(map[*family]float64, len(s.families))
	for _, f := range s.families {
		n := len(values[f]) + begun[f]
		v, ok := level[f]
		for _, like := range []func(g *family) bool{
			func(g *family) bool { return g.kind == f.kind && g.form == f.form },
			func(g *family) bool { return g.kind == f.kind },
			func(*family) bool { return true },
		} {
			if !ok {
				v, ok = similar(like)
			}
		}
		index[f] = v + float64(bonus/math.Sqrt(float64(max(1, n))))
		if begun[f] > 0 && values[f] == nil || refused[f] && values[f] == nil {
			index[f] = math.Inf(-1)
		}
	}
	return index
}

// noise returns the standard error of the difference between the best trial and the best trial of another family.
func (s *search) noise() float64 {
	ranked := s.ranked()
	for _, t := range ranked[min(1, len(ranked)):] {
		if t.family != ranked[0].family {
			return s.pool.standardError(ranked[0].values, t.values, s.pool.all())
		}
	}
	return 0
}

// leader returns the best trial so far with a kind of scorer, or nil.
func (s *search) leader(kind string) *Trial {
	list := s.ranked()
	if i := slices.IndexFunc(list, func(t *Trial) bool { return t.family.kind == kind }); i >= 0 {
		return list[i]
	}
	return nil
}

// own returns the trial's value of a hyperparameter from which settings are drawn. t may be nil.
func (t *Trial) own(kind, name string) (value string, ok bool) {
	if t == nil || choices[kind][name] == nil || !slices.Contains(t.Setting.Names(), name) {
		return "", false
	}
	return t.Setting.Text(name), true
}

// slow reports whether the trial's trees learned too slowly: the best round was among the last on average. t may be nil.
func (t *Trial) slow() bool {
	if t == nil || t.family.kind != "trees" {
		return false
	}
	best, all := 0, 0
	for _, m := range t.Models {
		best, all = best+m.Training.BestEpoch, all+m.Training.Iterations
	}
	return 100*best >= 95*all
}

// hurried returns a copy of the hyperparameters set, with the learning rate fastRate if t is slow. t may be nil.
func (t *Trial) hurried(m *method.Method, set map[string]string) map[string]string {
	set = maps.Clone(set)
	if set == nil {
		set = make(map[string]string)
	}
	known := slices.ContainsFunc(m.Hyperparameters, func(h method.Hyperparameter) bool { return h.Name == "rate" })
	if t.slow() && known {
		set["rate"] = fastRate
	}
	return set
}

// ranked returns the trials with a result in descending order of Mean.
func (s *search) ranked() []*Trial { return ranked(s.trials) }

func ranked(trials []*Trial) []*Trial {
	var list []*Trial
	for _, t := range trials {
		if t.Models != nil {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b *Trial) int { return cmp.Compare(b.Mean, a.Mean) })
	return list
}

// fusible returns the trials from which fusions are chosen: the best mostFused of all trials, but at most mostOfFamily
// of each family. ranked must be sorted, best first.
func fusible(ranked []*Trial) (list []*Trial) {
	number := make(map[*family]int)
	for _, t := range ranked {
		if number[t.family]++; number[t.family] <= mostOfFamily && len(list) < mostFused {
			list = append(list, t)
		}
	}
	return list
}

// eligible returns the trials from which fusions are chosen if only the given queries decide, best first.
func (s *search) eligible(queries []int) []*Trial {
	list := s.pool.ranked(s.ranked(), queries)
	if s.Target != nil && len(list) > 0 { // which adds scores of one kind of scorer
		kind := list[0].family.kind
		list = slices.DeleteFunc(list, func(t *Trial) bool { return t.family.kind != kind })
	}
	return fusible(list)
}

// finalists returns the trials that need final models. They are eligible if all queries decide, or if all but the
// queries of an outer part decide.
func (s *search) finalists() []*Trial {
	list := s.eligible(s.pool.all())
	for part := range s.pool.parts() {
		for _, t := range s.eligible(s.pool.inner(part, false)) {
			if !slices.Contains(list, t) {
				list = append(list, t)
			}
		}
	}
	return list
}

// complement returns the kind of scorer with the largest weight in a fusion of the trials so far, except the kind of
// the best trial. It returns "" if no other kind has a positive weight.
func (s *search) complement() string {
	list := s.ranked()
	if len(list) == 0 {
		return ""
	}
	list = fusible(list)
	share := make(map[string]float64)
	for i, w := range s.pool.greedy(list, s.pool.all(), nil, s.Members) {
		share[list[i].family.kind] += w
	}
	best := ""
	for _, t := range list {
		if k := t.family.kind; k != list[0].family.kind && share[k] > share[best] {
			best = k
		}
	}
	return best
}

// try performs trials until their number is reached, the time is over, or every setting has been tried. share returns
// the fraction of the time that trials may take.
func (s *search) try(ctx context.Context, share func() float64) error {
	most := cmp.Or(s.Trials, math.MaxInt)
	s.begin("trials", s.Trials*len(s.config.Folds))
	for len(s.trials) < most {
		trials, err := s.next(most - len(s.trials))
		if err != nil {
			return err
		}
		if len(trials) == 0 {
			return nil
		}
		over, err := s.do(ctx, trials, s.until(share()))
		if err != nil {
			return err
		}
		if over { // what has not ended is left out
			for i := len(trials) - 1; i >= 0 && trials[i].LeftOut; i-- {
				trials = trials[:i]
			}
			s.trials = append(s.trials, trials...)
			return nil
		}
		s.trials = append(s.trials, trials...)
		final := s.finalists()
		for _, t := range s.trials { // further trials hardly ever make a trial eligible, which then trains its final models again
			if !slices.Contains(final, t) {
				t.trained = nil
			}
		}
	}
	return nil
}

// errTimeOver is the cause with which the context of trainings is cancelled when the time is over.
var errTimeOver = errors.New("the time is over")

// do performs trials in parallel. over reports whether the time was over before all trials ended.
func (s *search) do(ctx context.Context, trials []*Trial, until time.Time) (over bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !until.IsZero() {
		timer := time.AfterFunc(time.Until(until), func() { cancel(errTimeOver) })
		defer timer.Stop()
	}
	folds := len(s.config.Folds)
	trained := make([][]*tune.Trained, len(trials))
	for i := range trained {
		trained[i] = make([]*tune.Trained, folds)
	}
	times := make([]time.Duration, len(trials)*folds)
	parallel.For(len(trials)*folds, s.config.Jobs, func(_, k int) {
		t := trials[k/folds]
		if ctx.Err() != nil || t.LeftOut {
			return
		}
		begun := time.Now()
		m, err := s.session.Train(ctx, t.family.entry, k%folds, t.Setting)
		times[k] = time.Since(begun)
		if problem, refused := errors.AsType[*train.ProblemError](err); refused && ctx.Err() == nil {
			s.mu.Lock()
			t.Refused = problem.Error()
			s.mu.Unlock()
		} else if err != nil {
			cancel(err)
		}
		trained[k/folds][k%folds] = m
		s.tell()
	})
	over = errors.Is(context.Cause(ctx), errTimeOver)
	if cause := context.Cause(ctx); cause != nil && !over {
		return false, cause
	}
	for i, t := range trials {
		if t.Refused == "" && slices.Contains(trained[i], nil) {
			t.LeftOut = true
		}
		if t.Refused == "" && !t.LeftOut {
			if err := s.conclude(t, trained[i]); err != nil {
				return false, err
			}
			if s.Budget <= 0 {
				continue // nothing asks for the times
			}
			for k := range t.Models { // none if the target cannot run them
				m, _, err := s.shorter(t, k)
				if err != nil {
					return false, err
				}
				t.took += times[i*folds+k]
				if m == nil {
					t.again += times[i*folds+k]
				}
			}
		}
	}
	return over, nil
}

// conclude sets the results of a trial, given the trained model of each part.
func (s *search) conclude(t *Trial, trained []*tune.Trained) error {
	var scores []float64
	for k, m := range trained {
		if t.Refused = s.refusalOf(m.Model); t.Refused != "" {
			return nil
		}
		own, err := m.Model.Score(s.config.Folds[k].Valid)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Entry.Name, err)
		}
		scores = append(scores, own...)
	}
	t.Models, t.Curves, t.trained = nil, nil, trained
	for _, m := range trained {
		t.Models, t.Curves = append(t.Models, m.Model), append(t.Curves, m.Curve)
	}
	t.deviation = deviationOf(scores)
	t.votes = s.pool.votes(scores)
	t.values = s.pool.values(scores)
	t.Mean = s.pool.mean(t.values, s.pool.all())
	if s.progress.Name == "" || t.Mean > s.progress.Best {
		s.progress.Best, s.progress.Name = t.Mean, t.Entry.Name
	}
	return nil
}

// refusalOf returns the reason why the target cannot run a model, or "".
func (s *search) refusalOf(m *model.Model) string {
	if s.Target == nil {
		return ""
	}
	if err := s.Target.Check(m); err != nil {
		return err.Error()
	}
	return ""
}

// finish returns the trials with final models from which fusions are chosen. They are copies of [search.eligible], with
// unbiased values. In a trial, the validation data of a part determine when the training of the part's model ends, so the
// model's value on these data is too optimistic. finish trains each part's model again, without validation data, for as
// long as was best on average on the other parts. It omits trials that cannot learn without validation data. If only one
// part validates, nothing is trained again.
func (s *search) finish(ctx context.Context) (chooser, error) {
	folds := len(s.config.Folds)
	if folds == 1 {
		return s.eligible, nil
	}
	trials := s.finalists()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	list, models := make([]*Trial, len(trials)), make([][]*tune.Trained, len(trials))
	for i, t := range trials {
		own := *t
		own.Models, own.Parts, models[i] = nil, make([]method.Values, folds), make([]*tune.Trained, folds)
		list[i] = &own
	}
	refused := make([]bool, len(trials))
	s.begin("final models", len(trials)*folds)
	parallel.For(len(trials)*folds, s.config.Jobs, func(_, n int) {
		i, k := n/folds, n%folds
		if ctx.Err() != nil {
			return
		}
		m, v, err := s.again(ctx, trials[i], k)
		if _, ok := errors.AsType[*train.ProblemError](err); ok && ctx.Err() == nil {
			s.mu.Lock()
			refused[i] = true
			s.mu.Unlock()
			return
		}
		if err != nil {
			cancel(err)
			return
		}
		list[i].Parts[k], models[i][k] = v, &tune.Trained{Model: m, Curve: trials[i].Curves[k]}
		s.tell()
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for i, t := range list {
		if !refused[i] {
			if err := s.conclude(t, models[i]); err != nil {
				return nil, err
			}
		}
	}
	return func(queries []int) []*Trial {
		var final []*Trial
		for _, t := range s.eligible(queries) {
			if own := list[slices.Index(trials, t)]; own.Models != nil {
				final = append(final, own)
			}
		}
		if len(final) == 0 { // all of them failed, so the others must do
			final = ranked(list)
		}
		return s.pool.ranked(final, queries)
	}, nil
}

// again returns the model of a part as trained without validation data, and its setting. It trains the model unless
// shorter has it.
func (s *search) again(ctx context.Context, t *Trial, part int) (*model.Model, method.Values, error) {
	m, v, err := s.shorter(t, part)
	if m != nil || err != nil {
		return m, v, err
	}
	f := &s.config.Folds[part]
	m, err = s.session.Refit(ctx, t.family.entry, f.Name, f.Train, v)
	return m, v, err
}

// shorter returns what again returns, but a nil model if it must be trained. Boosted trees usually need no training,
// because the model has the first trees of the trial's training.
func (s *search) shorter(t *Trial, part int) (*model.Model, method.Values, error) {
	v, err := tune.Refitted(t.family.method, t.Setting, slices.Delete(slices.Clone(t.Models), part, part+1))
	if err != nil || len(t.Models) == 1 || t.trained == nil {
		return nil, v, err
	}
	return t.trained[part].Shorter(v), v, nil
}

// begin starts a stage of the progress. total is the number of trainings of the stage, or 0 if it is unknown.
func (s *search) begin(stage string, total int) {
	s.progress.Stage, s.progress.Done, s.progress.Total = stage, 0, total
}

// tell counts a finished training and calls Observe.
func (s *search) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress.Done++
	if s.Observe != nil {
		s.Observe(s.progress)
	}
}
