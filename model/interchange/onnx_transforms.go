package interchange

import (
	"math"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/model"
)

// transforms adds what the model does to features before it scores. The first steps of all
// features are done at once, then the second ones and so on, each by operators that leave other
// features as they are.
func (g *onnxGraph) transforms(m *model.Model) error {
	most := 0
	for _, j := range m.Transforms.Features() {
		most = max(most, len(m.Transforms.Chain(j)))
	}
	n := m.Scorer.NumFeatures()
	for k := range most {
		steps := make([]transform.Step, n)
		for _, j := range m.Transforms.Features() {
			if chain := m.Transforms.Chain(j); k < len(chain) {
				steps[j] = chain[k]
			}
		}
		for _, do := range []func([]transform.Step) error{g.clips, g.logarithms, g.standards} {
			if err := do(steps); err != nil {
				return err
			}
		}
		if m.Missing != dataset.MissingKeep {
			continue
		}
		if err := g.fills(steps); err != nil {
			return err
		}
	}
	return nil
}

// columns returns a number for every feature that has a step of a type, otherwise a neutral one,
// and whether any has.
func columns[S transform.Step](steps []transform.Step, neutral float64, number func(S) float64) (numbers []float64, found bool) {
	numbers = make([]float64, len(steps))
	for j, s := range steps {
		numbers[j] = neutral
		if own, ok := s.(S); ok {
			numbers[j], found = number(own), true
		}
	}
	return numbers, found
}

// with adds an operator that takes the value at hand and a number for every feature.
func (g *onnxGraph) with(kind string, numbers []float64) error {
	c, err := g.tensor(numbers, len(numbers))
	if err != nil {
		return err
	}
	g.add(kind, "", nil, c)
	return nil
}

func (g *onnxGraph) clips(steps []transform.Step) error {
	low, found := columns(steps, -math.MaxFloat32, func(s transform.Clip) float64 { return s.Low })
	if !found {
		return nil
	}
	high, _ := columns(steps, math.MaxFloat32, func(s transform.Clip) float64 { return s.High })
	if err := g.with("Max", low); err != nil {
		return err
	}
	return g.with("Min", high)
}

// logarithms adds sign(x)·log(1 + |x|): where the mask is 0, x itself.
func (g *onnxGraph) logarithms(steps []transform.Step) error {
	mask, found := columns(steps, 0, func(transform.Log1p) float64 { return 1 })
	if !found {
		return nil
	}
	x := g.at
	one, err := g.tensor([]float64{1}, 1)
	if err != nil {
		return err
	}
	g.add("Sign", "", nil)
	sign := g.at
	g.at = x
	g.add("Abs", "", nil)
	g.add("Add", "", nil, one)
	g.add("Log", "", nil)
	g.add("Mul", "", nil, sign)
	return g.choose(mask, g.at, x)
}

// choose adds: where a feature's mask is not 0, yes, else no.
func (g *onnxGraph) choose(mask []float64, yes, no string) error {
	c, err := g.tensor(mask, len(mask))
	if err != nil {
		return err
	}
	g.at = c
	g.add("Cast", "", intAttribute("to", onnxTensorBool))
	g.add("Where", "", nil, yes, no)
	return nil
}

func (g *onnxGraph) standards(steps []transform.Step) error {
	mean, found := columns(steps, 0, func(s transform.Standard) float64 { return s.Mean })
	if !found {
		return nil
	}
	// A deviation of 0 makes 0 of every number: 0·(x − mean).
	factor, _ := columns(steps, 1, func(s transform.Standard) float64 {
		if s.Deviation == 0 {
			return 0
		}
		return 1 / s.Deviation
	})
	if err := g.with("Sub", mean); err != nil {
		return err
	}
	return g.with("Mul", factor)
}

func (g *onnxGraph) fills(steps []transform.Step) error {
	by, found := columns(steps, 0, func(s transform.Fill) float64 { return s.Value })
	if !found {
		return nil
	}
	mask, _ := columns(steps, 0, func(transform.Fill) float64 { return 1 })
	x := g.at
	if err := g.fill(by); err != nil {
		return err
	}
	return g.choose(mask, g.at, x)
}
