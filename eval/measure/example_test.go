package measure_test

import (
	"fmt"
	"slices"

	"github.com/listwise/listwise/eval/measure"
)

// One query's NDCG@2, of grades and scores that are in no data set.
func ExampleEvaluateLists() {
	ndcg := measure.MustParse("ndcg@2", measure.Standard)
	grades := [][]float64{{2, 0, 1}}
	scores := [][]float64{{0.1, 0.9, 0.5}}
	r, err := measure.EvaluateLists(grades, scores, []measure.Measure{ndcg}, measure.TiesAverage)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.4f\n", r.Mean(ndcg))
	// Output: 0.1738
}

// NDCG differs between conventions: in what a query without a relevant document counts,
// and, by the script of MSLR, in what a list shorter than the cutoff does.
func ExampleConvention() {
	grades, scores := [][]float64{{1, 0}, {0, 0}}, [][]float64{{2, 1}, {2, 1}}
	for _, c := range []measure.Convention{measure.LETOR3, measure.MSLR, measure.LightGBM} {
		ndcg := measure.MustParse("ndcg@10", c)
		r, err := measure.EvaluateLists(grades, scores, []measure.Measure{ndcg}, measure.TiesAverage)
		if err != nil {
			panic(err)
		}
		fmt.Println(c.Name(), r.PerQuery(ndcg))
	}
	// Output:
	// letor3 [1 0]
	// mslr [0 0]
	// lightgbm [1 1]
}

// What is relevant where grades are click rates is a threshold of the convention.
func ExampleConvention_WithThreshold() {
	grades, scores := [][]float64{{0.3, 0.02, 0.1}}, [][]float64{{1, 3, 2}}
	for _, threshold := range []float64{0.01, 0.2} {
		m := measure.MustParse("map", measure.Standard.WithThreshold(threshold))
		r, err := measure.EvaluateLists(grades, scores, []measure.Measure{m}, measure.TiesAverage)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%.4f\n", r.Mean(m))
	}
	// Output:
	// 1.0000
	// 0.3333
}

// By how much a measure falls if two documents of a ranking trade places: λ methods ask
// this of every pair.
func ExampleSwapsOf() {
	swaps, err := measure.SwapsOf(measure.MustParse("ndcg@10", measure.Standard), []float64{2, 0, 1})
	if err != nil {
		panic(err)
	}
	x := slices.Clone(swaps.Counts()) // in the ranking's order, which is that of the documents here
	work, falls := make([]float64, swaps.Work(len(x))), make([]float64, len(x))
	ranks := swaps.Prepare(x, work)
	swaps.Row(falls, x, work, 0, ranks)
	fmt.Printf("with the first: %.4f\n", falls[1:])
	// Output:
	// with the first: [0.3049 0.2754]
}
