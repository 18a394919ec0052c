package method

import (
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/measure"
)

// auto is the text of a hyperparameter that the data decide on.
const auto = "auto"

// thresholdName is the hyperparameter that splits documents into relevant and
// irrelevant ones.
const thresholdName = "threshold"

// threshold is that hyperparameter; when tells of which settings it matters.
func threshold(when string) Hyperparameter {
	return Hyperparameter{
		Name: thresholdName, Kind: Number, Default: auto, Auto: true, Min: leastPositive, Max: unbounded,
		Doc: "lowest grade that counts as relevant; auto: that of the measures, 1 among whole grades, else the smallest positive grade" + when,
	}
}

// settled returns the problem with everything put in place that depends on the data:
// the measures' relevance threshold, and the hyperparameter's if that is auto.
func (p *Problem) settled() *Problem {
	s := *p
	sets := []*dataset.Dataset{p.Data}
	if p.Valid != nil {
		sets = append(sets, p.Valid)
	}
	s.Measure, s.Select = measure.For(p.Measure, sets...), measure.For(p.Select, sets...)
	s.settle(s.convention().For(sets...))
	return &s
}

// settle puts the threshold of a convention in place.
func (p *Problem) settle(c measure.Convention) {
	p.relevant = c
	if _, err := p.Values.method.hyperparameter(thresholdName); err == nil && p.Values.Text(thresholdName) == auto {
		p.Values = p.Values.with(thresholdName, c.Threshold())
	}
}

// convention returns that of the measures, of which the training measure comes first.
func (p *Problem) convention() measure.Convention {
	switch {
	case p.Measure != nil:
		return measure.ConventionOf(p.Measure)
	case p.Select != nil:
		return measure.ConventionOf(p.Select)
	}
	return measure.Convention{}
}
