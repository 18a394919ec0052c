package method_test

import (
	"context"
	"fmt"

	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
)

// Learn by a method of the catalogue, with a hyperparameter of its own.
func ExampleMethod_Train() {
	shape, err := synth.Lookup("ohsumed")
	if err != nil {
		panic(err)
	}
	data, err := shape.Generate(synth.Options{Queries: 10, Docs: 20, Features: 5, Relevant: 4, Seed: 1})
	if err != nil {
		panic(err)
	}
	mle, err := method.Lookup("mle")
	if err != nil {
		panic(err)
	}
	values, err := mle.Values(map[string]string{"C": "10"})
	if err != nil {
		panic(err)
	}
	m, err := mle.Train(context.Background(), &method.Problem{Problem: train.Problem{Data: data}, Values: values})
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Method, m.Scorer.Kind(), m.Scorer.NumFeatures(), *m.Training.Converged)
	// Output:
	// mle linear 5 true
}

// The error for an unknown name suggests a similar one.
func ExampleLookup() {
	_, err := method.Lookup("lambdrank")
	fmt.Println(err)
	// Output:
	// method "lambdrank": did you mean "lambdarank"?
}
