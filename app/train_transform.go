package app

import (
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
)

// options are the reader's options that the flags ask for: what is filled in by a learned
// number is kept until then.
func (l *learning) options() (dataset.Options, error) {
	missing, err := l.recipe().ReadMissing()
	if err != nil {
		return dataset.Options{}, flagFault(err)
	}
	r := l.reading
	r.missing = missing.String()
	return r.options()
}

// transforms returns the steps that the flags ask for, that for what is missing first.
func (l *learning) transforms() ([]transform.Spec, error) {
	specs, err := l.recipe().Transforms()
	return specs, flagFault(err)
}
