package train

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

// Continuer is a Learner that can begin with a model ([Problem.Initial]).
type Continuer interface {
	Learner

	// CheckInitial returns an error if the learner cannot begin with the model.
	CheckInitial(m *model.Model) error
}

// checkInitial returns a *ProblemError if there is an initial model that the learner cannot
// begin with, or that is for other features.
func (p *Problem) checkInitial() error {
	m := p.Initial
	if m == nil {
		return nil
	}
	l, ok := p.Learner.(Continuer)
	if !ok {
		return BadProblem("found a model to continue, expected none: this training always begins anew (boosted trees can go on)")
	}
	if m.Scorer == nil {
		return BadProblem("found a model to continue without a scorer, expected one that was trained or loaded")
	}
	if err := l.CheckInitial(m); err != nil {
		return BadProblem("model to continue: %w", err)
	}
	switch {
	case m.InputCategories() != nil:
		return BadProblem("model to continue: found one that keeps the categories of a data frame, expected one whose features are numbers: new trees would not know the categories")
	case m.NumFeatures() != p.Data.Features:
		return BadProblem("model to continue: found one of %d features, expected the %d of the data", m.NumFeatures(), p.Data.Features)
	case m.Normalization != p.Normalization:
		return BadProblem("model to continue: found one with the normalization %s, expected %s", m.Normalization, p.Normalization)
	case !slices.Equal(m.Views.Canonical(), p.Views.Canonical()):
		return BadProblem("model to continue: found one with the views %s, expected %s", m.Views, p.Views)
	case m.Missing != p.Missing && m.Missing != dataset.MissingError:
		return BadProblem("model to continue: found one for which missing values are %s, expected %s", m.Missing, p.Missing)
	}
	return nil
}

// identityOfInitial names the initial model as a word NAME=VALUE, with a space before it; it is
// empty without one.
func (p *Problem) identityOfInitial() (string, error) {
	if p.Initial == nil {
		return "", nil
	}
	sum := sha256.New()
	if err := p.Initial.Write(sum); err != nil {
		return "", err
	}
	return " initial=" + hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

// initialTrees are the trees that training begins with; nil are none.
type initialTrees struct {
	scorer *scorer.Trees
	params []float64
}

// parts returns copies of the trees and of their values.
func (t *initialTrees) parts() (trees [][]scorer.TreeNode, params []float64) {
	if t == nil {
		return nil, nil
	}
	return t.scorer.Trees(), slices.Clone(t.params)
}

// number returns how many trees there are.
func (t *initialTrees) number() int {
	trees, _ := t.parts()
	return len(trees)
}

// score sets dst, all 0, to the scores of the rows of x.
func (t *initialTrees) score(dst []float64, x []float32, features int) {
	if t == nil {
		return
	}
	var ws scorer.Workspace
	t.scorer.Score(dst, t.params, x[:len(dst)*features], &ws)
}

// CheckInitial implements Continuer.
func (l Trees) CheckInitial(m *model.Model) error {
	if _, ok := m.Scorer.(*scorer.Trees); !ok {
		return BadProblem("found one of the scorer %s, expected trees", m.Scorer.Kind())
	}
	return nil
}
