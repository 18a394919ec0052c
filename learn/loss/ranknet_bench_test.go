package loss

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// webShares are the shares of the grades 0 to 4 in the first fold of MSLR-WEB10K.
var webShares = [...]float64{.5225, .3215, .1314, .0175, .0071}

// rankQuery is a query to measure with.
type rankQuery struct {
	name           string
	grades, scores []float64
	pairs          int
}

// rankQueries are the web queries of the LambdaRank paper with 26 documents, a
// query of OHSUMED's shape and long ones.
func rankQueries() []rankQuery {
	rng := rand.New(rand.NewPCG(26, 1))
	web := func(n int) []float64 {
		grades := make([]float64, n)
		for i := range grades {
			u := rng.Float64()
			for g, share := range webShares {
				if u -= share; u < 0 {
					grades[i] = float64(g)
					break
				}
			}
		}
		return grades
	}
	binary := make([]float64, 152)
	for i := range 45 {
		binary[rng.IntN(3)+3*i] = 1
	}
	all := []rankQuery{{name: "web26", grades: web(26)}, {name: "45x107", grades: binary}, {name: "web1000", grades: web(1000)}}
	for i := range all {
		all[i].scores = normals(rng, len(all[i].grades), 1)
		for range Pairs(all[i].grades) {
			all[i].pairs++
		}
	}
	return all
}

// BenchmarkRankNet evaluates value and λ of one query. The floor of a pair is a
// quarter of a vector division, 0.37 ns on a core of about 3 GHz; measured 0.39 with
// long rows, 0.51 with 107 pairs a row and 1.7 with fifteen, where the exponentials
// and the gathering of the documents are as much as the pairs. The pair-by-pair form
// takes an exponential and a logarithm a pair before any scorer is asked for anything.
func BenchmarkRankNet(b *testing.B) {
	for _, q := range rankQueries() {
		b.Run(q.name, func(b *testing.B) {
			bound, err := RankNet{}.Bind(q.grades, nil)
			if err != nil {
				b.Fatal(err)
			}
			benchmarkRank(b, bound, q, q.pairs)
		})
		b.Run(q.name+"/pairByPair", func(b *testing.B) {
			lambda := make([]float64, len(q.grades))
			for b.Loop() {
				for i, j := range Pairs(q.grades) {
					_, pair := RankNet{}.PairLoss(q.scores[i], q.scores[j])
					lambda[i] += pair
					lambda[j] -= pair
				}
			}
			reportPerUnit(b, q.pairs, "ns/pair")
		})
	}
}

// benchmarkRank measures a bound loss and reports the time a pair.
func benchmarkRank(b *testing.B, bound QueryLoss, q rankQuery, pairs int) {
	lambda := make([]float64, len(q.grades))
	var scratch Scratch
	bound.Eval(q.scores, lambda, &scratch)
	b.ReportAllocs()
	for b.Loop() {
		bound.Eval(q.scores, lambda, &scratch)
	}
	reportPerUnit(b, pairs, "ns/pair")
}

func reportPerUnit(b *testing.B, units int, name string) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(units), name)
}

// TestRankQueries: the queries to measure with are what they are named.
func TestRankQueries(t *testing.T) {
	for _, q := range rankQueries() {
		want := map[string]int{"web26": 26, "45x107": 152, "web1000": 1000}[q.name]
		if len(q.grades) != want || q.pairs == 0 {
			t.Error(fmt.Sprint(q.name, len(q.grades), q.pairs))
		}
		if q.name == "45x107" && q.pairs != 45*107 {
			t.Errorf("%s has %d pairs", q.name, q.pairs)
		}
	}
}
