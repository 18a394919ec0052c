package loss

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/listwise/listwise/internal/kernel"
)

// benchmarkGrades returns grades like MSLR-WEB10K's: half the documents 0, a third
// 1, and few above.
func benchmarkGrades(n int) []float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	grades := make([]float64, n)
	for i := range grades {
		switch u := rng.Float64(); {
		case u < 0.52:
		case u < 0.84:
			grades[i] = 1
		case u < 0.97:
			grades[i] = 2
		case u < 0.99:
			grades[i] = 3
		default:
			grades[i] = 4
		}
	}
	grades[0] = 1
	return grades
}

// BenchmarkListwise evaluates value and λ of one query. For each loss it reports
// the time a unit of work, and how many times its floor that is: the floor is one
// pass of the kernel that the loss cannot do without over the same units, timed
// beside it.
//
//   - listnet, xendcg, rankcosine: a document; an exponential (for rankcosine a
//     multiplication).
//   - listmle: a document (of all permutations); an exponential and a logarithm.
//   - listnet top 3: half a pair of documents; a logarithm.
//   - listnet whole: a subset; an exponential and a logarithm.
//   - approxndcg: a document with gain and any other; a logistic function.
//   - lambdaloss: the same; a softplus and a logistic function.
//   - softrank: a cell, of document with gain, other document, and rank; three
//     multiply-adds (before, after, and their product).
//
// What is above the floors is memory and scalar arithmetic: subtracting the
// highest score, suffix sums, gathering by rank. For softrank with a cutoff it is
// the error function, some 50 ns a pair of documents.
func BenchmarkListwise(b *testing.B) {
	for _, c := range []struct {
		name  string
		loss  Loss
		units func(n, good int) int
		floor func(dst, x []float64)
		most  int
	}{
		{"listnet", ListNet{}, docsOf(1), kernel.Exp, 1000},
		{"listnet/top2", ListNet{Top: 2}, docsOf(1), kernel.Exp, 1000},
		{"listnet/top3", ListNet{Top: 3}, func(n, _ int) int { return n * (n - 1) / 2 }, kernel.Log, 1000},
		{"listnet/whole", ListNet{Top: 12}, func(n, _ int) int { return 1 << n }, expAndLog, 12},
		{"listmle", ListMLE{}, docsOf(1), expAndLog, 1000},
		{"listmle/average", ListMLE{Ties: MLETiesAverage}, docsOf(defaultMLEDraws), expAndLog, 1000},
		{"listmle/group", ListMLE{Ties: MLETiesGroup}, docsOf(1), expAndLog, 1000},
		{"rankcosine", RankCosine{}, docsOf(1), func(dst, _ []float64) { kernel.Scale(1.1, dst) }, 1000},
		{"xendcg", XENDCG{}, docsOf(1), kernel.Exp, 1000},
		{"approxndcg", ApproxNDCG{}, func(n, good int) int { return n * good }, kernel.Logistic, 1000},
		{"softrank", SoftRank{}, func(n, good int) int { return n * good * n / 2 }, threePasses, 152},
		{"softrank/10", SoftRank{Cutoff: 10}, func(n, good int) int { return n * good * 10 }, threePasses, 1000},
		{"lambdaloss", LambdaLoss{}, func(n, good int) int { return n * good }, softplusAndLogistic, 1000},
	} {
		for _, n := range []int{12, 26, 152, 1000} {
			if n > c.most || (n == 12) != (c.most == 12) {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				grades := benchmarkGrades(n)
				good := 0
				for _, l := range grades {
					if l > 0 {
						good++
					}
				}
				benchmarkAgainstFloor(b, c.loss, grades, c.units(n, good), c.floor)
			})
		}
	}
}

func docsOf(times int) func(n, good int) int { return func(n, _ int) int { return times * n } }

func expAndLog(dst, x []float64) {
	kernel.Exp(dst, x)
	kernel.Log(dst, dst)
}

func softplusAndLogistic(dst, x []float64) {
	kernel.Softplus(dst, x)
	kernel.Logistic(dst, x)
}

func threePasses(dst, x []float64) {
	for range 3 {
		kernel.Axpy(1e-9, x, dst)
	}
}

func benchmarkAgainstFloor(b *testing.B, l Loss, grades []float64, units int, floor func(dst, x []float64)) {
	bound := mustBind(b, l, grades, 1)
	s := normals(rand.New(rand.NewPCG(3, 4)), len(grades), 0.5)
	lambda, dst := make([]float64, len(s)), make([]float64, len(s))
	for i := range dst {
		dst[i] = 1 // for logarithms
	}
	var scratch Scratch
	bound.Eval(s, lambda, &scratch)
	var evals, floors []float64
	for range 200 {
		evals = append(evals, timed(func() { bound.Eval(s, lambda, &scratch) }))
		floors = append(floors, timed(func() { floor(dst, s) }))
	}
	unit := median(evals) / float64(units)
	ratio := unit / (median(floors) / float64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		bound.Eval(s, lambda, &scratch)
	}
	b.ReportMetric(unit, "ns/unit")
	b.ReportMetric(ratio, "×floor")
}
