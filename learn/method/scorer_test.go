package method

import (
	"errors"
	"strings"
	"testing"
)

// Claim: on trees a method has its loss's hyperparameters and those of trees, and none of an
// optimiser, a network or a penalty.
func TestHyperparametersOnTrees(t *testing.T) {
	for _, m := range List() {
		of, err := m.For(treeScorer)
		if err != nil {
			if m.onTrees != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
			continue
		}
		if again, err := of.For(treeScorer); again != of || err != nil {
			t.Errorf("%s on trees is another method on trees: %v", m.Name, err)
		}
		names := make(map[string]bool)
		for _, h := range of.Hyperparameters {
			if names[h.Name] {
				t.Errorf("%s on trees has two hyperparameters %s", m.Name, h.Name)
			}
			names[h.Name] = true
		}
		for _, name := range []string{"C", "optimizer", "epochs", "iterations", "hidden", "activation", "c_scale", "slack"} {
			if _, err := of.hyperparameter(name); err == nil {
				t.Errorf("%s on trees has the hyperparameter %s, which changes nothing there", m.Name, name)
			}
		}
		expected := append(treeParameters(), largestWork)
		if m.Name == "mcrank" {
			expected = treeParameters() // whose losses are linear in documents
		}
		for _, h := range expected {
			if _, err := of.hyperparameter(h.Name); err != nil {
				t.Error(err)
			}
		}
	}
	for _, name := range []string{"boltzrank2", "rankboost", "prank", "random"} {
		if _, err := lookup(t, name).For(treeScorer); !errors.As(err, new(*ProblemError)) {
			t.Errorf("%s on trees: error %v, want a *ProblemError", name, err)
		}
	}
}

// Claim: hyperparameters of another scorer's are refused, not forgotten.
func TestHyperparametersOfAnotherScorer(t *testing.T) {
	m := lookup(t, "ranknet")
	of, err := m.For(treeScorer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := of.Values(map[string]string{"epochs": "3"}); err == nil || !strings.Contains(err.Error(), `ranknet on trees has no hyperparameter "epochs"`) {
		t.Errorf("error is %v", err)
	}
	if _, err := m.Values(map[string]string{"leaves": "3"}); err == nil || !strings.Contains(err.Error(), `ranknet has no hyperparameter "leaves"`) {
		t.Errorf("error is %v", err)
	}
	p := newProblem(t, m)
	p.Scorer = treeScorer
	if _, err := m.Train(t.Context(), p); err == nil || !strings.Contains(err.Error(), "found the hyperparameters of ranknet, expected those of ranknet on trees") {
		t.Errorf("error is %v", err)
	}
}
