package train

import (
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
)

// learnTransforms sets the pipeline. It learns the transforms from the training data without queries and documents of
// weight 0, or takes the transforms of the initial model. A second call does nothing.
func (p *Problem) learnTransforms() error {
	switch {
	case p.learned:
		return nil
	case p.Initial == nil:
		var err error
		const part = 4 // limit to a share of the memory; the rest is for other parts of learning
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

// transforms reports whether features are transformed. Before the pipeline is set, it reports whether they may be.
func (p *Problem) transforms() bool {
	if p.learned {
		return p.pipeline != nil
	}
	return len(p.Transforms) > 0 || p.Initial != nil && p.Initial.Transforms != nil
}

// prepared returns d as the scorer takes it: transformed, normalized and in all views. It returns d itself if nothing
// changes, and a copy otherwise. Features missing in d are 0 before transforms and views.
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

// asStreamed returns d as a data set that is read query by query, so that preparing it copies no features.
func asStreamed(d *dataset.Dataset) *dataset.Dataset {
	if d.Streamed() {
		return d
	}
	return d.Through(dataset.Lens{Features: d.Features, Append: func(dst, x []float32) []float32 { return append(dst, x...) }})
}

// rescaled returns d, transformed and normalized.
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

// Inputs returns the number of inputs of the scorer: features times views.
func (p *Problem) Inputs() int { return p.Data.Features * p.Views.Count() }
