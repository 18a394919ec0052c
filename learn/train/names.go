package train

import "github.com/listwise/listwise/dataset"

// arranged returns a copy of the problem whose data have their features in one order, where
// these have names: that of the model to continue, else of the training data. Data of another
// order are copied; features of other names are a *ProblemError.
func (p *Problem) arranged() (*Problem, error) {
	a := *p
	var err error
	if p.Initial != nil {
		if a.Data, err = arrange(p.Data, p.Initial.FeatureNames); err != nil {
			return nil, BadProblem("model to continue: %w", err)
		}
	}
	if p.Valid == nil {
		return &a, nil
	}
	if a.Valid, err = arrange(p.Valid, a.featureNames()); err != nil {
		return nil, BadProblem("validation data, for a model of the training data's features: %w", err)
	}
	if a.Valid.Features > a.Data.Features {
		return nil, BadProblem("found %d features in the validation data, expected at most the training data's %d", a.Valid.Features, a.Data.Features)
	}
	return &a, nil
}

// arrange returns d with the features of the given names, d itself if it has them so.
func arrange(d *dataset.Dataset, names []string) (*dataset.Dataset, error) {
	columns, err := dataset.MatchNames(names, d.FeatureNames, d.IgnoreOthers)
	if err != nil || columns == nil {
		return d, err
	}
	return d.KeepFeatures(columns), nil
}

// featureNames returns those of the model: the data's or, if these have none, those of the model
// that training goes on from.
func (p *Problem) featureNames() []string {
	if p.Data.FeatureNames == nil && p.Initial != nil {
		return p.Initial.FeatureNames
	}
	return p.Data.FeatureNames
}
