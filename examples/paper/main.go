// Command paper tunes a loss of one's own and two published methods on a data set, for the tables of a paper.
//
//	paper DATA OUT
//
// DATA is a folder with folds in LETOR's layout. OUT gets models, scores and the values of each test query, which
// "listwise compare" and "listwise bundle" read.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/tune"
)

// margin is the squared hinge loss over pairs, weighted by the difference of their grades:
//
//	L(s) = ½ Σ_{l_i > l_j} (l_i − l_j) max(0, 1 − s_i + s_j)²
type margin struct{}

func (margin) Traits() loss.Traits {
	return loss.Traits{Convex: true, ShiftInvariant: true, Smooth: true}
}

// Bind prepares the loss for a query whose documents have the grades g.
func (margin) Bind(g []float64, _ *rand.Rand) (loss.QueryLoss, error) { return graded(g), nil }

// graded is the loss of a query whose documents have these grades.
type graded []float64

// Eval returns the loss of a query's scores. lambda becomes −∂L/∂s.
func (l graded) Eval(scores, lambda []float64, _ *loss.Scratch) (sum float64) {
	clear(lambda)
	for i, j := range loss.Pairs(l) {
		short := max(0, 1-scores[i]+scores[j])
		pull := (l[i] - l[j]) * short
		sum += pull * short / 2
		if lambda != nil {
			lambda[i] += pull
			lambda[j] -= pull
		}
	}
	return sum
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: paper DATA OUT")
	}
	measures := must(measure.ParseList("map,ndcg@10", measure.Standard, measure.Options{}))
	c := tune.Config{Folds: must(tune.ReadFolds(os.Args[1], dataset.Options{})), Dir: os.Args[2], Measures: measures, Select: measures[1], Seed: 1}
	for _, m := range []*method.Method{must(method.Gradient("own-margin", margin{})), must(method.Lookup("mle")), must(method.Lookup("regression"))} {
		c.Entries = append(c.Entries, must(tune.NewEntry(m, map[string][]string{"C": {"0.01", "1"}})))
	}
	for _, row := range must(tune.Run(context.Background(), c)).Rows {
		for _, m := range row.Measures {
			fmt.Printf("%-10s  %-7s  %.4f\n", row.Entry.Name, m.Measure.Name(), m.Mean)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
