package interchange

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// linear is a weighted sum of features. Readers and writers of all formats for linear models use
// it:
//
//	s(x) = constant + Σ_j weights[j]·x_j
type linear struct {
	weights  []float64
	constant float64
	names    []string // feature names, or nil
	notes    []string // what a user of the exported sum must know
}

// linearOf converts a linear model to a weighted sum of the features before their transforms, whose
// effect it includes in the weights and the constant. Missing values count as 0. linearOf returns
// an error for all other models.
func linearOf(m *model.Model) (_ *linear, err error) {
	defer catch(&err)
	check(checkOneDocument(m))
	l := &linear{names: m.FeatureNames}
	switch s := m.Scorer.(type) {
	case scorer.Linear:
		l.weights = slices.Clone(m.Params)
	case *scorer.Layers:
		if layers := s.Layers(); len(layers) > 1 || layers[0].Activation != scorer.Identity {
			return nil, errNotLinear(m)
		}
		n := len(m.Params) - 1
		l.weights, l.constant = slices.Clone(m.Params[:n]), m.Params[n]
	default:
		return nil, errNotLinear(m)
	}
	for _, feature := range m.Transforms.Features() {
		check(l.fold(feature, m.Transforms.Chain(feature)))
	}
	return l, nil
}

func errNotLinear(m *model.Model) error {
	return fmt.Errorf("found the scorer %q, expected linear: the format holds weighted sums of features", m.Scorer.Kind())
}

// fold changes the weight of a feature and the constant such that the sum applies to the feature
// before its transforms.
func (l *linear) fold(feature int, chain transform.Chain) error {
	if !affine(chain) {
		step := 0 // the chain is affine up to this step
		for affine(chain[:step+1]) {
			step++
		}
		return fmt.Errorf("found the transform %s of feature %d%s, expected standard at most: the format holds weighted sums of features; train with --transform standard or a tree method, or let the engine compute %[1]s of the feature and train on that",
			chain[step].Name(), feature+1, l.nameOf(feature))
	}
	slope, intercept, _ := chain.Affine(-transform.Unbounded, transform.Unbounded)
	w := l.weights[feature]
	l.weights[feature] = w * slope
	l.constant += float64(w * intercept)
	for _, s := range chain {
		if fill, ok := s.(transform.Fill); ok {
			l.notes = append(l.notes, fmt.Sprintf("a missing value of feature %d is %v in the model, which the engine must be given in its place", feature+1, fill.Value))
			break
		}
	}
	return nil
}

func affine(chain transform.Chain) bool {
	_, _, ok := chain.Affine(-transform.Unbounded, transform.Unbounded)
	return ok
}

// nameOf returns the name of a feature in brackets, or nothing if features have no names.
func (l *linear) nameOf(feature int) string {
	if l.names == nil {
		return ""
	}
	return " (" + l.names[feature] + ")"
}

// model returns the model of the sum. method names the system from which it was imported. A sum with a
// constant becomes [scorer.Layers] with one unit, because [scorer.Linear] has no constant.
func (l *linear) model(method string, hyperparameters map[string]any) (_ *model.Model, err error) {
	defer catch(&err)
	if len(l.weights) == 0 {
		return nil, errors.New("found no weights, expected one at least")
	}
	for j, w := range l.weights {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("found the weight %v of feature %d, expected a finite number", w, j+1)
		}
	}
	if math.IsNaN(l.constant) || math.IsInf(l.constant, 0) {
		return nil, fmt.Errorf("found the constant %v, expected a finite number", l.constant)
	}
	m := imported(method, hyperparameters, scorer.Linear{Features: len(l.weights)}, l.weights)
	if l.constant != 0 {
		s := must(scorer.NewLayers(len(l.weights), []scorer.Layer{{Units: 1, Activation: scorer.Identity}}))
		m = imported(method, hyperparameters, s, append(slices.Clone(l.weights), l.constant))
	}
	m.FeatureNames, m.Missing = l.names, dataset.MissingZero
	return m, nil
}

// mostFeatures is the largest feature number that readers accept. It limits the memory that readers
// allocate because of a short line of text.
const mostFeatures = 1 << 22

// numbered returns an error if a feature number, counted from 1, is out of range.
func numbered(feature int) error {
	if feature < 1 || feature > mostFeatures {
		return fmt.Errorf("found feature %d, expected a number from 1 to %d", feature, mostFeatures)
	}
	return nil
}

// featureNumber reads a feature number, counted from 1.
func featureNumber(text string) (int, error) {
	feature, err := strconv.Atoi(text)
	if err != nil || numbered(feature) != nil {
		return 0, fmt.Errorf("found the feature %.40q, expected a number from 1 to %d", text, mostFeatures)
	}
	return feature, nil
}

// add adds w to the weight of a feature, counted from 1.
func (l *linear) add(feature int, w float64) error {
	if err := numbered(feature); err != nil {
		return err
	}
	if feature > len(l.weights) {
		l.weights = append(l.weights, make([]float64, feature-len(l.weights))...)
	}
	l.weights[feature-1] += w
	return nil
}

// divideStandards separates the transforms of features whose only step is Standard, for engines with
// their own normalisers. It returns the model with the remaining transforms, and the separated steps by
// feature.
func divideStandards(m *model.Model) (*model.Model, map[int]transform.Standard, error) {
	own, standards, rest := *m, map[int]transform.Standard{}, map[int]transform.Chain{}
	for _, j := range m.Transforms.Features() {
		chain := m.Transforms.Chain(j)
		if s, ok := chain[0].(transform.Standard); ok && len(chain) == 1 && float32(s.Deviation) > 0 {
			standards[j] = s
			continue
		}
		rest[j] = chain
	}
	var err error
	own.Transforms, err = transform.New(rest)
	return &own, standards, err
}

// standardised sets the transforms of an imported model to the normalisers of an engine.
func standardised(m *model.Model, standards map[int]transform.Standard) error {
	chains := make(map[int]transform.Chain, len(standards))
	for j, s := range standards {
		chains[j] = transform.Chain{s}
	}
	var err error
	m.Transforms, err = transform.New(chains)
	return err
}

// standardOf returns the normaliser x ↦ (x − mean)/deviation. The deviation must be positive.
func standardOf(feature string, mean, deviation float32) (transform.Standard, error) {
	s := transform.Standard{Mean: float64(mean), Deviation: float64(deviation)}
	if !(deviation > 0) {
		return s, fmt.Errorf("found a normalizer of %q that divides by %v, expected a number above 0", feature, deviation)
	}
	return s, transform.Chain{s}.Check()
}

// foldInto changes the weights and biases of the first layer of a network such that the network
// applies to features before their transforms.
func foldInto(l *layer, m *model.Model) (notes []string, err error) {
	for u, row := range l.weights {
		sum := linear{names: m.FeatureNames, weights: append([]float64(nil), row...), constant: l.biases[u]}
		for _, j := range m.Transforms.Features() {
			if err := sum.fold(j, m.Transforms.Chain(j)); err != nil {
				return nil, err
			}
		}
		l.weights[u], l.biases[u], notes = sum.weights, sum.constant, sum.notes
	}
	return notes, nil
}
