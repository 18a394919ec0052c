package method

import "github.com/listwise/listwise/eval/measure"

// auto is the text of a hyperparameter that the data decide on.
const auto = "auto"

// thresholdName is the hyperparameter that splits documents into relevant and
// irrelevant ones.
const thresholdName = "threshold"

// threshold is that hyperparameter; when reports for which settings it matters.
func threshold(when string) Hyperparameter {
	return Hyperparameter{
		Name: thresholdName, Kind: Number, Default: auto, Auto: true, Min: leastPositive, Max: unbounded,
		Doc: "lowest grade that counts as relevant; auto: that of the measures, 1 among whole grades, else the smallest positive grade" + when,
	}
}

// settle puts the threshold of a convention in place.
func (p *Problem) settle(c measure.Convention) {
	p.relevant = c
	if _, err := p.Values.method.hyperparameter(thresholdName); err == nil && p.Values.Text(thresholdName) == auto {
		p.Values = p.Values.with(thresholdName, c.Threshold())
	}
}
