package method

import (
	"github.com/listwise/listwise/eval/measure"
)

// measureClass is a class of training measures.
type measureClass int

const (
	additive  measureClass = iota // sums over relevant documents
	anyOne                        // any that package measure can compute
	anyNDCG                       // with or without a cutoff
	wholeNDCG                     // the gain and discount are the convention's, without a cutoff
)

var trainingMeasures = [...]struct {
	accepts  func(measure.Measure) bool
	expected string
	examples []string
}{
	additive: {func(m measure.Measure) bool {
		_, ok := m.(measure.Additive)
		return ok
	}, "one that is a sum over relevant documents, such as map, ndcg@10, auc or mrr", []string{"map", "ndcg@K", "auc", "mrr"}},
	anyOne:    {func(measure.Measure) bool { return true }, "any", []string{"map", "ndcg@K", "auc", "mrr", "err"}},
	anyNDCG:   {func(m measure.Measure) bool { return measure.Family(m) == "ndcg" }, "ndcg or ndcg@K", []string{"ndcg", "ndcg@K"}},
	wholeNDCG: {func(m measure.Measure) bool { return measure.Family(m) == "ndcg" && measure.CutoffOf(m) == 0 }, "ndcg, of whole lists", []string{"ndcg"}},
}
