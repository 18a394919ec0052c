package train

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/model/scorer"
)

// learnerFunc is a learner of somebody's own.
type learnerFunc func(*Task) *Learned

func (f learnerFunc) Learn(_ context.Context, t *Task) (*Learned, error) { return f(t), nil }

// boundless is a loss that makes nothing of a query.
type boundless struct{ loss.RankNet }

func (boundless) Bind([]float64, *rand.Rand) (loss.QueryLoss, error) { return nil, nil }

// What a learner, a loss or an architecture of somebody's own returns by mistake is an error
// that names it, not a model that cannot score.
func TestForeignMistakes(t *testing.T) {
	d := smallData(t)
	nothing := func(int) scorer.Scorer { return nil }
	for _, c := range []struct {
		loss    loss.Loss
		learner Learner
		want    string
	}{
		{nil, learnerFunc(func(*Task) *Learned { return nil }), "train.learnerFunc returned no scorer and no error"},
		{nil, learnerFunc(func(*Task) *Learned { return &Learned{} }), "train.learnerFunc returned no scorer and no error"},
		{nil, learnerFunc(func(t *Task) *Learned {
			return &Learned{Scorer: Linear(t.Data.Features), Params: []float64{1}}
		}), "returned 1 parameters of the scorer linear, expected"},
		{boundless{}, LBFGS{}, "loss train.boundless made nothing of the query"},
		{loss.RankNet{}, LBFGS{Architecture: nothing}, "the architecture made no scorer"},
		{loss.RankNet{}, Descent{Architecture: nothing}, "the architecture made no scorer"},
	} {
		_, err := Run(context.Background(), &Problem{Data: d, Loss: c.loss, Learner: c.learner})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T by %T: error is %v, want %s in it", c.loss, c.learner, err, c.want)
		}
	}
}

// A checkpoint of a network is not taken for one of another activation, though both have as
// many parameters and the learners differ in a function alone.
func TestCheckpointKnowsTheScorer(t *testing.T) {
	d := smallData(t)
	for _, learner := range []func(Architecture) Learner{
		func(a Architecture) Learner { return Descent{Architecture: a, Epochs: 40} },
		func(a Architecture) Learner { return LBFGS{Architecture: a, C: 1, Iterations: 40} },
	} {
		path := filepath.Join(t.TempDir(), "checkpoint")
		ctx, cancel := context.WithCancel(context.Background())
		seen := 0
		p := &Problem{Data: d, Loss: loss.RankNet{}, Learner: learner(Network(4, scorer.Tanh)), Checkpoint: path, Observe: func(Iteration) {
			if seen++; seen == 15 {
				cancel()
			}
		}}
		if _, err := Run(ctx, p); err == nil {
			t.Fatal("the training ended before it was interrupted")
		}
		other := *p
		other.Learner, other.Observe = learner(Network(4, scorer.Sigmoid)), nil
		if _, err := Run(context.Background(), &other); err == nil || !strings.Contains(err.Error(), "another training") {
			t.Errorf("%T goes on from the checkpoint of another network: %v", other.Learner, err)
		}
		p.Observe = nil
		if _, err := Run(context.Background(), p); err != nil {
			t.Errorf("%T does not go on from its own checkpoint: %v", p.Learner, err)
		}
	}
}
