package loss

import "testing"

// BenchmarkLambdaRank evaluates value and λ of one query; a pair is one that is
// looked at, of the ranks that count with all below. The floor of a logistic pair
// is a division, which is measured beside it; the loops around it are plain Go. In
// short lists and with few ranks that count, what is done once a document weighs as
// much: an exponential, finding the first ranks, gathering and scattering, and the
// measure itself. Without a cutoff it is the sort of the whole list. Measures
// without a formula (p@10) cost themselves once a pair.
func BenchmarkLambdaRank(b *testing.B) {
	for _, c := range []struct {
		measure string
		kind    Lambda
	}{
		{"ndcg@10", LambdaLogistic}, {"ndcg", LambdaLogistic}, {"map", LambdaLogistic}, {"err", LambdaLogistic},
		{"ndcg@10", LambdaStep}, {"ndcg@10", LambdaSpring}, {"ndcg@10", LambdaLogisticNearest}, {"ndcg@10", LambdaDifference},
		{"p@10", LambdaLogistic},
	} {
		for _, q := range rankQueries() {
			m := additiveOrOther(b, c.measure)
			n := len(q.grades)
			cut := depthOf(m)
			rows := min(cut, n-1)
			pairs := rows*n - rows*(rows+1)/2
			b.Run(c.kind.String()+"/"+c.measure+"/"+q.name, func(b *testing.B) {
				benchmarkRank(b, bind(b, LambdaRank{Measure: m, Kind: c.kind}, q.grades), q, pairs)
			})
			if c.kind == LambdaLogistic && c.measure != "p@10" {
				b.Run("floor/"+c.measure+"/"+q.name, func(b *testing.B) { benchmarkDivisions(b, rows, n, pairs) })
			}
		}
	}
}

// BenchmarkLambdaRankSecond is BenchmarkLambdaRank with second derivatives, as boosted trees
// evaluate the loss.
func BenchmarkLambdaRankSecond(b *testing.B) {
	for _, name := range []string{"ndcg@10", "ndcg", "map"} {
		for _, q := range rankQueries() {
			m := additiveOrOther(b, name)
			n := len(q.grades)
			rows := min(depthOf(m), n-1)
			bound := bind(b, LambdaRank{Measure: m}, q.grades).(Diagonal)
			b.Run(name+"/"+q.name, func(b *testing.B) {
				lambda, second := make([]float64, n), make([]float64, n)
				var scratch Scratch
				bound.EvalSecond(q.scores, lambda, second, &scratch)
				b.ReportAllocs()
				for b.Loop() {
					bound.EvalSecond(q.scores, lambda, second, &scratch)
				}
				reportPerUnit(b, rows*n-rows*(rows+1)/2, "ns/pair")
			})
		}
	}
}

// benchmarkDivisions divides once a pair and does nothing else.
func benchmarkDivisions(b *testing.B, rows, n, pairs int) {
	e := make([]float64, n)
	for i := range e {
		e[i] = 1 / float64(i+1)
	}
	var total float64
	for b.Loop() {
		for a := range rows {
			upper := e[a]
			for _, v := range e[a+1:] {
				total += v / (upper + v)
			}
		}
	}
	if total < 0 {
		b.Fatal(total)
	}
	reportPerUnit(b, pairs, "ns/pair")
}

// BenchmarkYetiRank evaluates YetiRank and YetiLoss with second derivatives, by document and draw.
func BenchmarkYetiRank(b *testing.B) {
	for _, name := range []string{"", "ndcg@10", "map"} {
		for _, q := range rankQueries() {
			l := YetiRank{}
			if name != "" {
				l.Measure = additiveOrOther(b, name)
			}
			n := len(q.grades)
			bound := mustBind(b, l, q.grades, 1).(Diagonal)
			b.Run(name+"/"+q.name, func(b *testing.B) {
				lambda, second := make([]float64, n), make([]float64, n)
				var scratch Scratch
				bound.EvalSecond(q.scores, lambda, second, &scratch)
				b.ReportAllocs()
				for b.Loop() {
					bound.EvalSecond(q.scores, lambda, second, &scratch)
				}
				reportPerUnit(b, n*defaultYetiDraws, "ns/document")
			})
		}
	}
}
