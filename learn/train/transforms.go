package train

import (
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
)

// learnTransforms learns the transforms from the training data of weights above 0, or takes them
// from the initial model. It does so once.
func (p *Problem) learnTransforms() error {
	switch {
	case p.learned:
		return nil
	case p.Initial == nil:
		var err error
		const part = 4 // of the memory, which what else is learned of all values takes afterwards
		if p.pipeline, err = transform.LearnWithin(p.Transforms, p.Data.Counting(), dataset.MemoryLimit(p.MaxBytes)/part); err != nil {
			return &ProblemError{err}
		}
	case len(p.Transforms) > 0:
		return BadProblem("found the transform %s with a model to continue, expected none: the model's own are kept", p.Transforms[0])
	default:
		p.pipeline = p.Initial.Transforms
	}
	p.learned = true
	return nil
}

// transforms reports whether features are transformed or, before transforms are learned, may be.
func (p *Problem) transforms() bool {
	if p.learned {
		return p.pipeline != nil
	}
	return len(p.Transforms) > 0 || p.Initial != nil && p.Initial.Transforms != nil
}

// prepared returns data as the scorer takes them, transformed, normalized and in all views: d
// itself if nothing changes, else a copy. Features that d lacks are 0 before they are transformed
// or viewed.
func (p *Problem) prepared(d *dataset.Dataset) *dataset.Dataset {
	if p.Views.Raw() {
		return p.rescaled(d)
	}
	if p.streaming {
		d = asStreamed(d)
	}
	if d.Features < p.Data.Features {
		d = d.Widen(p.Data.Features)
	}
	return p.rescaled(d).View(p.Views)
}

// asStreamed returns d, read query by query, so that preparing it copies no features. Streamed
// data are returned as they are.
func asStreamed(d *dataset.Dataset) *dataset.Dataset {
	if d.Streamed() {
		return d
	}
	return d.Through(dataset.Lens{Features: d.Features, Append: func(dst, x []float32) []float32 { return append(dst, x...) }})
}

// rescaled returns data transformed and normalized.
func (p *Problem) rescaled(d *dataset.Dataset) *dataset.Dataset {
	switch {
	case p.pipeline == nil && p.Normalization == dataset.NoNormalization:
		return d
	case p.streaming || d.Streamed():
		return d.Through(p.lens(d))
	case p.pipeline == nil:
		return dataset.Normalize(d, p.Normalization)
	}
	var c *dataset.Dataset
	if d.Features < p.Data.Features {
		c = d.Widen(p.Data.Features)
	} else {
		c = d.Clone()
	}
	c.Change(func(x []float32) {
		p.pipeline.Apply(x, c.Features)
		p.Normalization.Apply(x, c.Features)
	})
	return c
}

// Inputs returns the number of features of all views, which the scorer takes.
func (p *Problem) Inputs() int { return p.Data.Features * p.Views.Count() }
