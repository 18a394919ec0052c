// Package losstest is the conformance suite that every loss of this project passes. Start reading at
// [Run]. The suite checks the contracts of [loss.Loss] and [loss.QueryLoss], and the properties that the
// loss claims in its [loss.Traits].
//
// The suite compares values of a loss with each other. The tests of each loss compare its values with an
// independent computation. The package must not depend on any particular loss.
package losstest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/listwise/listwise/learn/loss"
)

// Case is a loss under test.
type Case struct {
	Name string
	Loss loss.Loss

	// Sampled says that Bind draws random numbers document by document, so the order of documents
	// changes the loss.
	Sampled bool

	// Refuses, if not nil, reports whether Bind must return an error for the grades.
	Refuses func(grades []float64) bool

	// OneGrade says that the loss learns from queries whose documents all have the same grade, as losses
	// on single documents do. Run then tests such queries like all others. Otherwise, their loss and λ
	// must be 0, as for [loss.Nothing].
	OneGrade bool

	// MaxGrade, if not 0, is an upper bound of the grades in tests, which otherwise go from 0 to 4.
	MaxGrade float64

	// Kinks, if not nil, contains differences of two scores at which the loss or its gradient may have a
	// kink. There, finite differences do not approximate the gradient, so the tests omit such points. An
	// element 0 omits ties.
	Kinks []float64

	// Diagonal requires that Bind returns a [loss.Diagonal]. Run tests a loss.Diagonal even without this
	// field. Kinks must then also contain differences at which λ has a kink.
	Diagonal bool

	// Frozen says that second derivatives treat factors of λ that depend on the scores as constants.
	// They are then not compared with differences of λ.
	Frozen bool

	// Polyhedral says that the loss is convex and piecewise linear with kinks anywhere. λ is then
	// compared with differences to both sides.
	Polyhedral bool
}

// Run checks c on a fixed set of queries.
func Run(t *testing.T, c Case) {
	t.Helper()
	t.Run(c.Name, func(t *testing.T) {
		if !c.OneGrade {
			c.testOneGrade(t)
		}
		for _, q := range c.queries() {
			bound, err := c.bind(q.grades, nil)
			if c.Refuses != nil && c.Refuses(q.grades) {
				if err == nil {
					t.Errorf("%s: Bind accepted a query that it has no form for", q.name)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: Bind: %v", q.name, err)
				continue
			}
			t.Run(q.name, func(t *testing.T) {
				s := &suite{Case: c, query: q, bound: bound, traits: c.Loss.Traits()}
				s.run(t)
			})
			c.runWeighted(t, q)
		}
	})
}

// runWeighted runs the suite with document weights, if the loss accepts them.
func (c Case) runWeighted(t *testing.T, q query) {
	if !loss.WeighsDocuments(c.Loss) {
		return
	}
	rng := newRand()
	q.weights = make([]float64, len(q.grades))
	for i := range q.weights {
		q.weights[i] = 0.25 + 4*rng.Float64()
	}
	bound, err := c.bind(q.grades, q.weights)
	if err != nil {
		t.Errorf("%s: BindDocuments: %v", q.name, err)
		return
	}
	t.Run(q.name+", weighted", func(t *testing.T) {
		s := &suite{Case: c, query: q, bound: bound, traits: c.Loss.Traits()}
		s.run(t)
		s.testOnes(t)
		s.testCopies(t)
		s.testWrongWeights(t)
	})
}

// bind binds the loss, with weights unless weights is nil.
func (c Case) bind(grades, weights []float64) (loss.QueryLoss, error) {
	if weights == nil {
		return c.Loss.Bind(grades, newRand())
	}
	return c.Loss.(loss.DocumentWeighted).BindDocuments(grades, weights, newRand())
}

// query has grades and, unless nil, document weights.
type query struct {
	name            string
	grades, weights []float64
}

func (c Case) queries() []query {
	all := []query{
		{name: "one good one bad", grades: []float64{0, 1}},
		{name: "single good", grades: []float64{0, 0, 1, 0, 0, 0}},
		{name: "single bad", grades: []float64{1, 1, 0, 1}},
		{name: "binary", grades: []float64{0, 1, 0, 0, 1, 0, 1, 0}},
		{name: "graded", grades: []float64{2, 0, 1, 0, 0, 4, 0, 3, 0, 1, 0}},
		{name: "mostly good", grades: []float64{1, 2, 1, 0, 1, 1, 3, 0, 2}},
	}
	long := query{name: "long", grades: make([]float64, 40)}
	rng := newRand()
	for i := range long.grades {
		long.grades[i] = float64(max(0, rng.IntN(9)-4))
	}
	all = append(all, long)
	if c.OneGrade {
		for _, grades := range oneGrade() {
			all = append(all, query{name: fmt.Sprintf("grades %v", grades), grades: grades})
		}
	}
	if c.MaxGrade > 0 {
		for _, q := range all {
			for i, g := range q.grades {
				q.grades[i] = min(g, c.MaxGrade)
			}
		}
	}
	return all
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(11, 13)) }

// oneGrade returns the grades of queries without a pair to rank.
func oneGrade() [][]float64 { return [][]float64{{0}, {1}, {0, 0, 0}, {2, 2, 2, 2}} }

// testOneGrade tests that loss and λ are 0 if all documents have the same grade.
func (c Case) testOneGrade(t *testing.T) {
	for _, grades := range oneGrade() {
		bound, err := c.Loss.Bind(grades, newRand())
		if err != nil {
			t.Errorf("Bind of grades %v: %v", grades, err)
			continue
		}
		scores, lambda := make([]float64, len(grades)), make([]float64, len(grades))
		for i := range scores {
			scores[i], lambda[i] = float64(i), 7
		}
		var scratch loss.Scratch
		if v := bound.Eval(scores, lambda, &scratch); v != 0 {
			t.Errorf("grades %v: loss %v, want 0 (unless the case has OneGrade)", grades, v)
		}
		for i, l := range lambda {
			if l != 0 {
				t.Errorf("grades %v: lambda[%d] = %v, want 0", grades, i, l)
			}
		}
	}
}

// testConstant tests that a loss that is the same for all scores is 0, like [loss.Nothing].
func (s *suite) testConstant(t *testing.T) {
	rng := newRand()
	first, grad := s.eval(make([]float64, len(s.grades)))
	moves := func(d float64) bool { return d != 0 }
	learns := slices.ContainsFunc(grad, moves)
	for round := 0; round < 40 && !learns; round++ { // a measure may differ in few rankings
		value, grad := s.eval(s.apart(rng, 5))
		learns = value != first || slices.ContainsFunc(grad, moves)
	}
	if !learns && first != 0 {
		t.Errorf("the loss is %v for all scores, want that of Nothing, 0", first)
	}
}
