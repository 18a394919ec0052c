package cli

import (
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
)

// learnedFills are the values of --missing for which a number is learned for each feature.
var learnedFills = []string{"mean", "median"}

// options are the reader's options that the flags ask for: what is filled in by a learned
// number is kept until then.
func (l *learning) options() (dataset.Options, error) {
	r := l.reading
	if slices.Contains(learnedFills, l.missing) {
		r.missing = dataset.MissingKeep.String()
	}
	if _, err := dataset.ParseMissing(r.missing); err != nil {
		return dataset.Options{}, usageErrorf("--missing: %w, or mean or median", err)
	}
	return r.options()
}

// transforms returns the steps that the flags ask for, that for what is missing first.
func (l *learning) transforms() ([]transform.Spec, error) {
	var specs []transform.Spec
	if slices.Contains(learnedFills, l.missing) {
		fill, err := transform.ParseSpec("fill=" + l.missing)
		if err != nil {
			return nil, err
		}
		specs = append(specs, fill)
	}
	for _, text := range l.transform {
		s, err := transform.ParseSpec(text)
		if err != nil {
			return nil, usageErrorf("--transform %s: %w", text, err)
		}
		specs = append(specs, s)
	}
	return specs, nil
}
