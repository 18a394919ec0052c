package method

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/train"
)

// Claim: LambdaRank on trees, linear functions and networks learns factors of slots, trees also under pairs. Other
// combinations are refused with a reason, and none ignores the correction or the slots.
func TestMethodsCorrectForSlots(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var b dataset.Builder
	var slots []int
	for page := range 40 {
		grades, x := make([]float64, 6), make([]float32, 12)
		for k := range grades {
			slots = append(slots, k)
			x[2*k], x[2*k+1] = rng.Float32(), rng.Float32()
			if rng.Float32() < x[2*k]/float32(k+1) {
				grades[k] = 1
			}
		}
		if err := b.Add(strconv.Itoa(page), grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		method, scorer string
		by             train.DebiasBy
		refused        string
	}{
		{"lambdamart", "", train.DebiasPosition, ""},
		{"lambdamart", "", train.DebiasPairs, ""},
		{"lambdarank", "linear", train.DebiasPosition, ""},
		{"lambdarank", "net", train.DebiasPosition, ""},
		{"lambdarank", "trees", train.DebiasPosition, ""},
		{"ranknet", "net", train.DebiasPosition, ""},
		{"lambdarank", "linear", train.DebiasPairs, "only trees"},
		{"mart", "", train.DebiasPairs, "takes no weights of documents in pairs"},
		{"listnet", "linear", train.DebiasPosition, "does not correct"},
		{"coordascent", "", train.DebiasPosition, "does not correct"},
		{"lambdamart", "", train.NoDebias, "no correction for them"},
	} {
		m, err := Lookup(c.method)
		if err != nil {
			t.Fatal(err)
		}
		if m, err = m.For(c.scorer); err != nil {
			t.Fatal(err)
		}
		settings := map[string]string{}
		for _, name := range []string{"trees", "epochs"} {
			if _, err := m.hyperparameter(name); err == nil {
				settings[name] = "8"
			}
		}
		values, err := m.Values(settings)
		if err != nil {
			t.Fatal(err)
		}
		p := &Problem{Values: values, Scorer: c.scorer, Debias: train.Debias{By: c.by}, Problem: train.Problem{Data: b.Dataset(), Slots: slots, Seed: 1}}
		if m.UsesMeasure {
			p.Measure = measure.MustParse("ndcg@10", measure.Standard)
		}
		trained, err := m.Train(context.Background(), p)
		switch {
		case c.refused != "":
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s %s %s: error is %v, expected %q in it", c.method, c.scorer, c.by, err, c.refused)
			}
		case err != nil:
			t.Errorf("%s %s %s: %v", c.method, c.scorer, c.by, err)
		case trained.Training.Slots == nil || len(trained.Training.Slots.Position)+len(trained.Training.Slots.Clicked) != 6:
			t.Errorf("%s %s %s: found the factors %v, expected six", c.method, c.scorer, c.by, trained.Training.Slots)
		}
		if p.Slots = nil; c.by != train.NoDebias {
			if _, err := m.Train(context.Background(), p); err == nil || !strings.Contains(err.Error(), "found no slots") {
				t.Errorf("%s %s %s: error is %v without slots", c.method, c.scorer, c.by, err)
			}
		}
	}
}
