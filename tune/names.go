package tune

import (
	"fmt"

	"github.com/listwise/listwise/dataset"
)

// arrange reorders the features of validation data by their names to the order of the training data, once
// for all trainings. It checks that test data have the same features.
func (c *Config) arrange() error {
	for i := range c.Folds {
		f := &c.Folds[i]
		tested := f.Tested()
		names := f.Train.FeatureNames
		columns, err := dataset.MatchNames(names, f.Valid.FeatureNames, f.Valid.IgnoreOthers)
		if err != nil {
			return fmt.Errorf("%s, validation data, for models of the training data's features: %w", f.Name, err)
		}
		if columns != nil {
			f.Valid = f.Valid.KeepFeatures(columns)
		}
		if !tested {
			f.Test = f.Valid
		}
		if _, err := dataset.MatchNames(names, f.Test.FeatureNames, f.Test.IgnoreOthers); err != nil {
			return fmt.Errorf("%s, test data, for models of the training data's features: %w", f.Name, err)
		}
	}
	return nil
}
