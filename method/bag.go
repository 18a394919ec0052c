package method

import (
	"context"
	"fmt"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/optimize"
	"github.com/listwise/listwise/scorer"
)

// member is a finished descent of a bag, in its checkpoints too.
type member struct {
	Params []float64      `json:"params"`
	Record model.Training `json:"training"`
}

// descentCheckpoint is how far the training of a bag is.
type descentCheckpoint struct {
	Members []member               // finished
	State   *optimize.DescentState // of the next, nil at its beginning
}

// readDescent returns the file's checkpoint of a bag, or that of the beginning if
// there is no file. If the file is no undamaged checkpoint of this training, that
// is a *ProblemError.
func (f checkpointFile) readDescent(bag, dim int) (*descentCheckpoint, error) {
	text, err := f.load()
	if text == nil || err != nil {
		return &descentCheckpoint{}, err
	}
	t, err := f.open(text)
	if err != nil {
		return nil, f.unfit(err)
	}
	if len(t.Members) >= bag {
		return nil, f.unfit(fmt.Errorf("found %d finished members, expected fewer than %d", len(t.Members), bag))
	}
	for i, m := range t.Members {
		if len(m.Params) != dim {
			return nil, f.unfit(fmt.Errorf("found %d parameters of member %d, expected %d", len(m.Params), i+1, dim))
		}
	}
	c := &descentCheckpoint{Members: t.Members, State: new(optimize.DescentState)}
	if err := c.State.UnmarshalBinary(t.State); err != nil {
		return nil, f.unfit(err)
	}
	return c, nil
}

func (f checkpointFile) writeDescent(c *descentCheckpoint) error {
	state, err := c.State.MarshalBinary()
	if err != nil {
		return err
	}
	return f.save(checkpointText{Members: c.Members, State: state})
}

// members trains so many descents one after the other, each from weights and in
// orders of its own, going on from the checkpoint if there is one.
func (r *descent) members(ctx context.Context, bag int) ([]member, error) {
	at, err := r.file.readDescent(bag, r.risk.Dim())
	if err != nil {
		return nil, err
	}
	for len(at.Members) < bag {
		best, err := r.minimize(ctx, at)
		if err != nil {
			return nil, err
		}
		at.Members = append(at.Members, member{best.X, r.training(best)})
		at.State = nil
	}
	return at.Members, nil
}

// bag returns the model whose scores are the means of the members': bagging as L.
// Breiman, Bagging Predictors (Machine Learning 24, 1996), has it, but that the
// members differ by their random weights and orders only, all having learned from
// all queries.
func (r *descent) bag(members []member) (*model.Model, error) {
	if len(members) == 1 {
		return r.model(members[0].Params, members[0].Record), nil
	}
	averager, ok := r.scorer.(scorer.Averager)
	if !ok {
		return nil, badProblem("found bag=%d with the scorer %s, which has no averages; expected bag=1", len(members), r.scorer.Kind())
	}
	all := make([][]float64, len(members))
	for i, m := range members {
		all[i] = m.Params
	}
	s, params := averager.Average(all)
	trained := r.model(params, sumUp(members))
	trained.Scorer = s
	if r.selection != nil {
		value, err := r.validation(trained)
		if err != nil {
			return nil, err
		}
		trained.Training.Validation = &value
	}
	return trained, nil
}

// sumUp describes the training of a bag: how it went for each member, in the mean
// and in total.
func sumUp(members []member) model.Training {
	t := model.Training{Status: members[0].Record.Status}
	for _, m := range members {
		r := m.Record
		t.Objective += r.Objective / float64(len(members))
		t.GradNorm += r.GradNorm / float64(len(members))
		t.Iterations += r.Iterations
		t.Evaluations += r.Evaluations
		t.Members = append(t.Members, model.Member{Objective: r.Objective, BestEpoch: r.BestEpoch, Validation: r.Validation})
	}
	return t
}
