package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// listNetByEnumeration is ListNet from its definition, a sum over sequences.
func listNetByEnumeration(m Mapping, grades []float64, top int) func(s []float64) float64 {
	n := len(grades)
	ideal := make([]float64, n)
	for i, l := range grades {
		ideal[i] = m.Score(l)
	}
	return func(s []float64) float64 {
		var value float64
		sequences(n, min(top, n), func(y []int) {
			if p := math.Exp(logPlackettLuce(ideal, y)); p > 0 {
				value -= p * logPlackettLuce(s, y)
			}
		})
		return value
	}
}

// TestListNetAgainstEnumeration: the sums over sets of documents are the
// definition's over all n!/(n−k)! sequences of the first k, in value and gradient.
func TestListNetAgainstEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, grades := range [][]float64{{0, 1}, {2, 0, 1}, {0, 0, 1, 0}, {3, 1, 0, 3, 2}, {0, 6, 5, 6.5, 0}} {
		for m := LogMapping; m <= ExpMapping; m++ {
			for top := 1; top <= len(grades)+1; top++ {
				b := mustBind(t, ListNet{Mapping: m, Top: top}, grades, 1)
				f := listNetByEnumeration(m, grades, top)
				for _, s := range scoresOf(rng, len(grades)) {
					againstReference(t, fmt.Sprintf("top %d, %v of %v", top, m, grades), b, f, s)
				}
			}
		}
	}
}

// TestListNetFormsAgree: sums over sets one by one and over all subsets are two
// ways to the same loss, also where they are too many to enumerate sequences.
func TestListNetFormsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{3, 7, maxWholeList} {
		ideal := normals(rng, n, 2)
		for _, top := range []int{2, 3} {
			if top == n {
				continue
			}
			sets, subsets := newTopCrossEntropy(ideal, top), newSubsetCrossEntropy(ideal, top)
			checkVector(t, "the probability to be among the first", sets.among, subsets.among, 1e-12)
			for _, s := range append(scoresOf(rng, n), normals(rng, n, 200), normals(rng, n, 1e5)) {
				v, grad := evaluated(sets, s)
				want, wantGrad := evaluated(subsets, s)
				if !near(v, want, 1e-12) {
					t.Errorf("top %d of %d at %v: %v by sets, %v by subsets", top, n, s, v, want)
				}
				checkVector(t, fmt.Sprintf("top %d of %d: gradient", top, n), grad, wantGrad, 1e-12)
			}
		}
	}
}

// TestListNetMinimum: scores equal to the mapped grades have no gradient, and the
// value there is the entropy of the first documents' law, below which no other
// scores lead.
func TestListNetMinimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	grades := []float64{2, 0, 1, 4, 0, 3, 1}
	for _, top := range []int{1, 2, 3, 4, 7} {
		b := mustBind(t, ListNet{Mapping: SqrtMapping, Top: top}, grades, 1)
		ideal, _ := SqrtMapping.scores(grades)
		least, grad := evaluated(b, ideal)
		checkVector(t, "gradient at the mapped grades", grad, make([]float64, len(grades)), 1e-14)
		var entropy float64
		sequences(len(grades), top, func(y []int) {
			l := logPlackettLuce(ideal, y)
			entropy -= l * math.Exp(l)
		})
		if !near(least, entropy, 1e-12) {
			t.Errorf("top %d: the least value is %v, the entropy %v", top, least, entropy)
		}
		for range 20 {
			if v, _ := evaluated(b, normals(rng, len(grades), 2)); v < least {
				t.Errorf("top %d: a value of %v below the least, %v", top, v, least)
			}
		}
	}
}

// TestListNetOfSteepGrades: a document that is first almost surely leaves the law
// of the second as it is.
func TestListNetOfSteepGrades(t *testing.T) {
	// e^6.5 − e^6 is 262: exp(−262) is nothing beside 1, but 1 − p must not be 0.
	grades := []float64{0, 6.5, 0.2, 6, 0.4}
	for _, top := range []int{2, 3, 4} {
		b := mustBind(t, ListNet{Mapping: ExpMapping, Top: top}, grades, 1)
		againstReference(t, fmt.Sprintf("top %d", top), b, listNetByEnumeration(ExpMapping, grades, top), []float64{1, 0, -1, 2, 0.5})
	}
}

// TestListNetRefuses: lists that are too long for the n! form, and negative
// numbers of documents.
func TestListNetRefuses(t *testing.T) {
	grades := make([]float64, 40)
	grades[3] = 1
	_, err := ListNet{Top: 4}.Bind(grades, nil)
	wantError(t, "top 4 of 40", err, "top 4", "40 documents", "first 3", "at most 12")
	if _, err := (ListNet{Top: 3}).Bind(grades, nil); err != nil {
		t.Error(err)
	}
	_, err = ListNet{Top: -1}.Bind(grades[:2], nil)
	wantError(t, "top -1", err, "top -1", "positive")
}
