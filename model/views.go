package model

import (
	"errors"
	"fmt"

	"github.com/listwise/listwise/dataset"
)

// viewNames returns the names of the views in a model file, "raw" if the file has none.
func (f *featuresFile) viewNames() []string {
	if f.Views == nil {
		return []string{dataset.RawView.String()}
	}
	return f.Views
}

// viewTexts returns the names of the views for a model file, nil if the features are raw.
func (m *Model) viewTexts() []string {
	if m.Views.Raw() {
		return nil
	}
	return m.Views.Texts()
}

// ofViews describes a scorer's inputs for an error about the number of features.
func ofViews(inputs int, views dataset.Views) string {
	if views.Raw() {
		return ""
	}
	return fmt.Sprintf(", whose %d inputs are the views %s of each", inputs, views)
}

// checkViews returns an error for unknown views and for views that do not match the scorer's
// features. A fusion has no views, since its members have their own.
func (m *Model) checkViews() error {
	if m.Views.Raw() {
		return nil
	}
	if err := m.Views.Check(); err != nil {
		return err
	}
	if n := m.Scorer.NumFeatures(); n%m.Views.Count() != 0 {
		return fmt.Errorf("found a scorer of %d features with the views %s, expected a multiple of %d", n, m.Views, m.Views.Count())
	}
	if _, ok := m.Scorer.(*Fusion); ok {
		return errors.New("found views of a fusion, expected none: its members have their own")
	}
	return nil
}
