package train

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
)

// onlyValue is a measure that has no expected value under ties.
type onlyValue struct{}

func (onlyValue) Name() string { return "only-value" }

func (onlyValue) Value(ranked []float64) (float64, bool) { return ranked[0], true }

// untouched is a learner that must not be asked.
type untouched struct{ t *testing.T }

func (u untouched) Learn(context.Context, *Task) (*Learned, error) {
	u.t.Error("training began")
	return nil, errors.New("began")
}

// Claim: a measure that cannot choose under ties is an error before training, whatever the
// learner, where there are validation data to choose on.
func TestSelectWithoutAverage(t *testing.T) {
	for what, change := range map[string]func(*Problem){
		"Select":  func(p *Problem) { p.Select = onlyValue{} },
		"Measure": func(p *Problem) { p.Measure = onlyValue{} }, // takes Select's place
	} {
		p := severalStarts(t)
		p.Valid, p.Learner = p.Data, untouched{t}
		change(p)
		var problem *ProblemError
		if _, err := Run(context.Background(), p); !errors.As(err, &problem) || !strings.Contains(err.Error(), "found the measure only-value, expected one that has an expected value") {
			t.Errorf("%s: error is %v", what, err)
		}
	}
}

// Claim: a checkpoint of a training with validation data is refused without them, and the
// other way round, by messages that say what is expected.
func TestCheckpointWithAndWithoutValidation(t *testing.T) {
	without := severalStarts(t)
	without.Learner = Descent{Rate: 0.01, Epochs: 30}
	with := *without
	with.Valid, with.Select = with.Data, measure.MustParse("map", measure.Standard)
	for want, c := range map[string][2]*Problem{
		"), expected one without that; delete it": {&with, without},
		"), expected one with it; delete it":      {without, &with},
	} {
		q := *c[1]
		q.Checkpoint = interrupted(t, c[0], 0, 12)
		if _, err := Run(context.Background(), &q); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "valid=") {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}
