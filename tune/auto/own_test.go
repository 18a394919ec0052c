package auto

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// doubled is twice ListNet's loss, as a loss of a caller's own.
type doubled struct{ Factor float64 }

func (doubled) Traits() loss.Traits { return loss.ListNet{}.Traits() }

func (l doubled) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	b, err := loss.ListNet{}.Bind(grades, rng)
	return timesFactor{b, l.Factor}, err
}

type timesFactor struct {
	loss.QueryLoss
	factor float64
}

func (t timesFactor) Eval(scores, lambda []float64, s *loss.Scratch) float64 {
	value := t.QueryLoss.Eval(scores, lambda, s)
	for i := range lambda {
		lambda[i] *= t.factor
	}
	return t.factor * value
}

// Claim: the first trials are of the caller's own method, one for each scorer. The later trials equal a run without the
// method. A fusion of its models is saved and loaded. Names that occur twice are refused.
func TestOwnMethod(t *testing.T) {
	own, err := method.Gradient("mine", doubled{2})
	if err != nil {
		t.Fatal(err)
	}
	d := generated(t, 24, 3)
	c := Config{Tune: tune.Config{Seed: 7, Select: measure.MustParse("ndcg@10", measure.Standard)}, Data: d, Parts: 2, Trials: 2}
	without := mustRun(t, c)
	c.Trials, c.Methods = 6, []*method.Method{own}
	r := mustRun(t, c)
	for i, want := range []string{"mine.linear.log1p-standard", "mine.fm.log1p-standard", "mine.net.log1p-standard", "mine.trees.raw"} {
		trial := r.Trials[i]
		if trial.Entry.Name != want || trial.Refused != "" || len(trial.Models) != 2 || trial.Models[0].Method != "mine" || trial.Setting.Number("Factor") != 2 {
			t.Errorf("trial %d is %s (%q), expected %s", i, trial.Entry.Name, trial.Refused, want)
		}
	}
	for i, trial := range without.Trials {
		if got := r.Trials[4+i]; got.Entry.Name != trial.Entry.Name || !bytes.Equal(bytesOf(t, got.Models[0]), bytesOf(t, trial.Models[0])) {
			t.Errorf("trial %d is %s, without the own method %s", 4+i, got.Entry.Name, trial.Entry.Name)
		}
	}
	_, fused, err := r.Fused(&r.Candidates[len(r.Candidates)-1])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.Read(bytes.NewReader(bytesOf(t, fused))); err != nil {
		t.Error(err)
	}
	c.Methods = []*method.Method{own, own}
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "found the method mine twice") {
		t.Errorf("error is %v", err)
	}
}
