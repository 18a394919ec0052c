package method

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/model"
)

// LogRankOf returns what a model trained by one of LogRank's methods was trained with; ok
// is false for other models. With the model's seed, and a query's id, it is all that
// decides which rankings the sampled form draws. It returns an error for hyperparameters
// that the method does not have.
func LogRankOf(m *model.Model) (config logrank.Options, ok bool, err error) {
	i := slices.IndexFunc(List(), func(known *Method) bool { return known.Name == m.Method && known.isLogRank() })
	if i < 0 {
		return logrank.Options{}, false, nil
	}
	method := List()[i]
	if m.Scorer != nil && m.Scorer.Kind() == treeScorer && method.onTrees != nil {
		method = method.onTrees
	}
	set := make(map[string]string, len(m.Hyperparameters))
	for name, v := range m.Hyperparameters {
		set[name] = settingText(v)
	}
	p := &Problem{}
	if p.Values, err = method.Values(set); err != nil {
		return logrank.Options{}, false, err
	}
	var convention measure.Convention
	if method.UsesMeasure {
		if convention, err = measure.ParseConvention(m.Convention); err != nil {
			return logrank.Options{}, false, err
		}
	}
	if m.Threshold > 0 {
		convention = convention.WithThreshold(m.Threshold)
	}
	p.settle(convention)
	if method.UsesMeasure {
		if p.Measure, err = measure.Parse(m.Measure, convention, measure.Options{}); err != nil {
			return logrank.Options{}, false, err
		}
	}
	config, err = logRankConfig(p)
	return config, err == nil, err
}

// isLogRank reports whether a method has the options of LogRank's sampler.
func (m *Method) isLogRank() bool {
	_, err := m.hyperparameter("sampler")
	return err == nil
}

// settingText is a hyperparameter of a model as Values reads it.
func settingText(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
