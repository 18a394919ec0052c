package ascent

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/listwise/listwise/eval/measure"
)

// byColumn has columns of its own, of which each call gives one in the same memory.
type byColumn struct {
	columns [][]float32
	memory  []float32
	calls   int
}

func (b *byColumn) Of(column int) []float32 {
	b.calls++
	b.memory = append(b.memory[:0], b.columns[column]...)
	return b.memory
}

// Claim: a climb by the columns of a source ends where the one by rows does, bit for bit, after the same sweeps, for both
// searches and any number of workers.
func TestSourceOfColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		m := measure.MustParse(rapid.SampledFrom(measures).Draw(t, "measure"), measure.LETOR3)
		const columns = 4
		list := draw(rng, 40, columns, rapid.Bool().Draw(t, "coarse"))
		rows, source := NewData(columns, m), &byColumn{columns: make([][]float32, columns)}
		stored := NewDataOf(columns, m, source)
		for i, q := range list {
			from := len(source.columns[0])
			for k, v := range q.x {
				source.columns[k%columns] = append(source.columns[k%columns], v)
			}
			rows.AddWeighted(q.grades, q.x, float64(i%4))
			stored.AddOf(q.grades, from, float64(i%4))
		}
		c := Climber{
			Search: rapid.SampledFrom([]Search{Steps, Exact}).Draw(t, "search"), MaxSweeps: 4, Workers: 1,
			NonNegative: rapid.Bool().Draw(t, "positive"),
		}
		start := weights(rng, columns, false)
		want, err := c.Climb(t.Context(), rows, start)
		if err != nil {
			t.Fatal(err)
		}
		c.Workers = rapid.IntRange(1, 3).Draw(t, "workers")
		got, err := c.Climb(t.Context(), stored, start)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.W, want.W) || got.Value != want.Value || got.Sweeps != want.Sweeps {
			t.Fatalf("the climb ends at %+v, want %+v", got, want)
		}
	})
}

// Claim: a sweep takes each column of a source twice at most, to search and to compute the scores anew, also where
// crossings are so close that moves to between them have to be taken back.
func TestColumnsTakenOfSource(t *testing.T) {
	const columns = 30
	rng := rand.New(rand.NewPCG(9, 9))
	source := &byColumn{columns: make([][]float32, columns)}
	d := NewDataOf(columns, measure.MustParse("map", measure.LETOR3), source)
	for range 100 {
		n := 2 + rng.IntN(12)
		grades := make([]float64, n)
		grades[rng.IntN(n)] = 1
		d.AddOf(grades, len(source.columns[0]), 1)
		for range n {
			for j := range columns {
				v := rng.NormFloat64()
				if j%10 == 0 {
					v *= 1e6
				}
				source.columns[j] = append(source.columns[j], float32(v))
			}
		}
	}
	start := make([]float64, columns)
	for j := range start {
		start[j] = 1.0 / columns
	}
	for _, search := range []Search{Steps, Exact} {
		source.calls = 0
		r, err := (&Climber{Search: search, MaxSweeps: 5}).Climb(t.Context(), d, start)
		if err != nil {
			t.Fatal(err)
		}
		if most := columns * (1 + 2*r.Sweeps); source.calls > most {
			t.Errorf("search %v: %d columns taken in %d sweeps, want %d at most", search, source.calls, r.Sweeps, most)
		}
	}
}
