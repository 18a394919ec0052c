package method

import (
	"errors"
	"fmt"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/train"
)

// Weighs returns which weights of the training data the method takes with its default
// hyperparameters and scorer. All methods take those of queries that are not on single documents
// with an order of their own, as PRank's are; those of documents are taken by losses over
// documents and pairs.
func (m *Method) Weighs() train.Weighs {
	p := &Problem{Data: twoGrades()}
	if m.UsesMeasure {
		p.Measure = measure.MustParse(m.DefaultMeasure, measure.Convention{})
	}
	whole, err := m.Problem(p)
	if err != nil {
		return train.Weighs{}
	}
	return whole.Weighs()
}

// twoGrades are data that every method can be asked about.
func twoGrades() *dataset.Dataset {
	var b dataset.Builder
	if err := b.Add("1", []float64{1, 0, 0}, []float32{1, 0, 0}, nil); err != nil {
		panic("method: " + err.Error())
	}
	return b.Dataset()
}

// explainWeights adds to the error of weights that are not taken the methods that take them.
func explainWeights(err error) error {
	refused, ok := errors.AsType[*train.WeightsRefused](err)
	if !ok {
		return err
	}
	var names []string
	for _, m := range registry {
		if w := m.Weighs(); refused.Of == "queries" && w.Queries || refused.Of == "documents" && w.Documents {
			names = append(names, m.Name)
		}
	}
	return fmt.Errorf("%w; methods that take them, at their defaults: %s", err, strings.Join(names, ", "))
}
