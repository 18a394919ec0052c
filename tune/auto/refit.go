package auto

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// Refit is the way in which members learn from the validation data, too. Trials learn only from the
// training data.
type Refit string

const (
	// Once trains a member on all data, as long as was best on the validation data.
	Once Refit = "once"
	// Committee divides all data into parts. It trains a member once for each part, on the others; the part
	// decides when to stop. All these models are fused.
	Committee Refit = "committee"
	// Turns keeps the model of the trial and adds one that learns from all parts except one, which decides
	// when to stop. The parts take turns. If the trial had other data, Turns adds two such models instead.
	Turns Refit = "turns"
)

// Refits returns all values, the default first.
func Refits() []Refit { return []Refit{Turns, Committee, Once} }

// ParseRefit returns the Refit with that name.
func ParseRefit(name string) (Refit, error) {
	if r := Refit(name); slices.Contains(Refits(), r) {
		return r, nil
	}
	var names []string
	for _, r := range Refits() {
		names = append(names, string(r))
	}
	return "", fmt.Errorf("found %q, expected one of %s", name, strings.Join(names, ", "))
}

// Learned is a model of a fusion, trained by a member on the data or on all parts except one.
type Learned struct {
	Setting tune.Setting
	Tried   bool // the model is that of the trial, and Part is 0

	// Part of Parts, from 1, was held out for validation, as [tune.HoldOut] divides all data by the seed of
	// the configuration. Both are 0 if no part was; then Setting says how long to train, unless Tried.
	Part, Parts int

	Model *model.Model
}

// mostParts is the largest number of parts if every part costs a training.
const mostParts = 10

// partsOf returns the number of parts for the training and validation data of a fold. Each part is about
// as large as the validation data.
func partsOf(f *tune.Fold) int {
	all, valid := len(f.Train.Queries)+len(f.Valid.Queries), len(f.Valid.Queries)
	return min(max(int(math.Round(float64(all)/float64(valid))), 2), mostParts)
}

// partsOfAll returns the number of parts for the data of the last model, that of the folds if there are
// several.
func (r *run) partsOfAll() int {
	switch n := len(r.config.Folds); {
	case n == 1 && r.divided: // as tune.Divide did
		return min(tune.HeldOut, len(r.Whole.Queries))
	case n == 1:
		return partsOf(&r.config.Folds[0])
	case r.config.Folds[0].Tested():
		return min(n, mostParts)
	default: // the folds are this division, and the trials its trainings
		return n
	}
}

// refitsFolds reports whether every fold gets a fusion trained on its training and validation data, for a
// measurement on its test data. The fusion of a single fold is the last model.
func (r *run) refitsFolds() bool { return len(r.config.Folds) > 1 && r.config.Folds[0].Tested() }

// plan sets the trainings of the members on data that are divided into parts. fold is the fold whose
// training and validation data these are, or −1.
func (r *run) plan(f *Fused, all []division, fold int) error {
	parts := len(all) - 1
	tried := slices.IndexFunc(all, func(d division) bool { return fold >= 0 && d.fold == fold }) // a part, or -1
	for i := range f.Members {
		m := &f.Members[i]
		switch r.Refit {
		case Once:
			v, err := tune.Refitted(m.Entry.Method, m.Trial.(method.Values), m.tried)
			if err != nil {
				return err
			}
			m.Learned = []Learned{{Setting: v}}
		case Turns:
			first := Learned{Setting: m.Trial, Part: i%parts + 1, Parts: parts}
			second := Learned{Setting: m.Trial, Part: (i+1)%parts + 1, Parts: parts}
			switch {
			case tried > 0: // the trial's data were one of the divisions
				first.Part, second.Part = tried, (tried+i%(parts-1))%parts+1
			case fold >= 0:
				first, second = Learned{Setting: m.Trial, Tried: true}, first
			}
			m.Learned = []Learned{first, second}
		default:
			for p := range parts {
				m.Learned = append(m.Learned, Learned{Setting: m.Trial, Part: p + 1, Parts: parts})
			}
		}
	}
	return nil
}

// division has the data of a training and the data that decide when to stop, or nil.
type division struct {
	train, valid *dataset.Dataset
	fold         int // the fold whose trials had these data, −1 if none
}

// divisions returns the division without a part held out, then, by part from 1, the divisions with that
// part held out.
func (r *run) divisions(d *dataset.Dataset, parts int) ([]division, error) {
	all := []division{{d, nil, -1}}
	for part := 1; r.Refit != Once && part <= parts; part++ {
		rest, held, err := tune.HoldOut(d, part, parts, r.config.Seed)
		if err != nil {
			return nil, err
		}
		own := division{rest, held, -1}
		for k := range r.config.Folds {
			f := &r.config.Folds[k]
			if f.Train.Fingerprint() == rest.Fingerprint() && f.Valid.Fingerprint() == held.Fingerprint() {
				own.fold = k
			}
		}
		all = append(all, own)
	}
	return all, nil
}

// goal is a fusion to train on data in parts. fold is the fold whose training and validation data these
// are, or −1.
type goal struct {
	of    *Fused
	data  []*dataset.Dataset // taken together
	parts int
	fold  int
}

// goals returns the fusions to train.
func (r *run) goals(result *Result) (all []goal) {
	if r.refitsFolds() {
		for k := range result.Folds {
			f := &r.config.Folds[k]
			all = append(all, goal{&result.Folds[k], []*dataset.Dataset{f.Train, f.Valid}, partsOf(f), k})
		}
	}
	last := goal{&result.Final, []*dataset.Dataset{r.Whole}, r.partsOfAll(), -1}
	if len(r.config.Folds) == 1 {
		last.fold = 0
	}
	return append(all, last)
}

// learning is a training to do.
type learning struct {
	of     *Fused
	member *Member
	model  *Learned
	from   division
}

// tasks plans the trainings of a goal.
func (r *run) tasks(g *goal) (tasks []learning, err error) {
	d := g.data[0]
	if len(g.data) > 1 {
		if d, err = dataset.Concat(g.data...); err != nil {
			return nil, err
		}
	}
	all, err := r.divisions(d, g.parts)
	if err == nil {
		err = r.plan(g.of, all, g.fold)
	}
	if err != nil {
		return nil, err
	}
	for i := range g.of.Members {
		m := &g.of.Members[i]
		for j := range m.Learned {
			from := all[m.Learned[j].Part]
			if m.Learned[j].Tried {
				from.fold = g.fold
			}
			tasks = append(tasks, learning{g.of, m, &m.Learned[j], from})
		}
	}
	return tasks, nil
}

// refit trains the members of all fusions and fuses them. It does one fusion after the other, since the
// divisions copy its data.
func (r *run) refit(ctx context.Context, result *Result) error {
	goals := r.goals(result)
	done, total := 0, 0
	for i := range goals {
		total += len(goals[i].of.Members) * r.models(goals[i].parts)
	}
	for i := range goals {
		tasks, err := r.tasks(&goals[i])
		if err != nil {
			return err
		}
		err = r.learnAll(ctx, result, tasks, func() {
			if done++; r.Observe != nil {
				best := &result.Final.Members[0]
				r.Observe(Progress{Stage: "refitting", Done: done, Total: total, Best: best.Validation, Name: best.Entry.Name})
			}
		})
		if err != nil {
			return err
		}
	}
	return fuseAll(append(pointers(result.Folds), &result.Final))
}

// models returns the number of models of a member for data in parts.
func (r *run) models(parts int) int {
	return map[Refit]int{Once: 1, Turns: 2, Committee: parts}[r.Refit]
}

// learnAll does trainings in parallel and calls ended after each, never concurrently.
func (r *run) learnAll(ctx context.Context, result *Result, tasks []learning, ended func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	parallel.For(len(tasks), r.config.Jobs, func(_, i int) {
		if ctx.Err() != nil {
			return
		}
		trained, err := r.learn(ctx, result, &tasks[i])
		if err != nil {
			cancel(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		tasks[i].model.Model = trained
		ended()
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// learn does a training, or takes an equal trial. It returns nil if the method cannot learn without the
// part held out, or cannot stop by that part. The member's other models, or other members, are fused then.
func (r *run) learn(ctx context.Context, result *Result, t *learning) (*model.Model, error) {
	if k := t.from.fold; k >= 0 {
		return result.Outcomes[t.member.outcome].Folds[k].Model, nil
	}
	if t.model.Part == 0 {
		return r.session.Refit(ctx, t.member.Number, t.of.Name+".refit", t.from.train, t.model.Setting)
	}
	name := fmt.Sprintf("%s.part%d-%d", t.of.Name, t.model.Part, t.model.Parts)
	trained, err := r.session.TrainOn(ctx, t.member.Number, name, t.from.train, t.from.valid, t.model.Setting)
	if _, refused := errors.AsType[*train.ProblemError](err); refused && ctx.Err() == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return trained.Model, nil
}

// fuseAll sets the fusions of the members' models. It removes members without any model.
func fuseAll(all []*Fused) (err error) {
	for _, f := range all {
		if len(f.Members[0].Learned) == 0 { // measured on validation data alone
			continue
		}
		for i := range f.Members {
			m := &f.Members[i]
			m.Learned = slices.DeleteFunc(m.Learned, func(l Learned) bool { return l.Model == nil })
		}
		f.Members = slices.DeleteFunc(f.Members, func(m Member) bool { return len(m.Learned) == 0 })
		if len(f.Members) == 0 {
			return fmt.Errorf("%s: found no member that learns without a part of the queries, expected more queries with relevant documents", f.Name)
		}
		if f.Model, err = fusion(modelsOf(f.Members)); err != nil {
			return err
		}
	}
	return nil
}

// modelsOf returns the learned models of members.
func modelsOf(members []Member) (models []*model.Model) {
	for i := range members {
		for _, l := range members[i].Learned {
			models = append(models, l.Model)
		}
	}
	return models
}

// Model returns the member alone, or the fusion of its models.
func (m *Member) Model() (*model.Model, error) { return fusion(modelsOf([]Member{*m})) }

// Untrained returns the fusion of the members' trials, which did not learn from the validation data.
func Untrained(members []Member) (*model.Model, error) {
	var models []*model.Model
	for i := range members {
		models = append(models, members[i].Tried)
	}
	return fusion(models)
}
