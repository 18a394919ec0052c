package explain

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/scorer"
)

func parsed(t testing.TB, name string) measure.Measure {
	t.Helper()
	list, err := measure.ParseList(name, measure.LETOR3, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

// with returns a copy of the data in which a feature's values are those of the rows that perm names.
func with(t testing.TB, d *dataset.Dataset, feature int, perm []int) *dataset.Dataset {
	t.Helper()
	var b dataset.Builder
	for i := range d.Queries {
		q := &d.Queries[i]
		x := slices.Clone(q.X)
		for row := range q.Len() {
			x[row*d.Features+feature] = d.X()[perm[q.Start+row]*d.Features+feature]
		}
		if err := b.Add(q.ID, q.Grades, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Dataset()
}

func valuesOf(t testing.TB, m *model.Model, d *dataset.Dataset, by measure.Measure) []float64 {
	t.Helper()
	scores, err := m.Score(d)
	if err != nil {
		t.Fatal(err)
	}
	r, err := measure.Evaluate(d, scores, []measure.Measure{by}, measure.TiesInput)
	if err != nil {
		t.Fatal(err)
	}
	return r.PerQuery(by)
}

// Claim: every query's loss is what a plain recomputation gives for the same permutations, within
// queries and across them, for a model that normalizes and one of trees; a feature that the
// model does not use loses nothing; and the number of cores does not matter.
func TestPermuteAgainstRecomputation(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	const features, repeats = 4, 3
	d := randomData(t, rng, 12, features)
	by := parsed(t, "ndcg@5")
	all := kindsOf(t, rng, features)
	linear := modelOf(scorer.Linear{Features: features}, rng)
	linear.Params[2], linear.Normalization = 0, dataset.ZScore
	for _, m := range []*model.Model{linear, all["trees"], all["borda fusion"]} {
		for _, across := range []bool{false, true} {
			o := PermuteOptions{Measure: by, Across: across, Repeats: repeats, Seed: 9, Permutations: 100}
			got, err := Permute(context.Background(), m, d, o)
			if err != nil {
				t.Fatal(err)
			}
			for j, f := range got.Features {
				want := make([]float64, len(d.Queries))
				for repeat := range repeats {
					perm := make([]int, d.Docs())
					purpose := "permute " + string(rune('0'+repeat)) + " " + string(rune('1'+j))
					if across {
						copy(perm, random.Stream(9, purpose, "").Perm(d.Docs()))
					} else {
						for i := range d.Queries {
							q := &d.Queries[i]
							for k, v := range random.Stream(9, purpose, q.ID).Perm(q.Len()) {
								perm[q.Start+k] = q.Start + v
							}
						}
					}
					before, after := valuesOf(t, m, d, by), valuesOf(t, m, with(t, d, j, perm), by)
					for i := range want {
						want[i] += (before[i] - after[i]) / repeats
					}
				}
				mean := 0.0
				for i, v := range want {
					mean += v / float64(len(want))
					if f.Used && math.Abs(v-f.PerQuery[i]) > 1e-12 || !f.Used && v != 0 {
						t.Fatalf("%s, feature %d, query %d: loss %v, want %v", m.Method, j+1, i, f.PerQuery[i], v)
					}
				}
				if math.Abs(mean-f.Loss) > 1e-12 || !(f.Interval.Low <= f.Loss && f.Loss <= f.Interval.High) {
					t.Errorf("%s, feature %d: loss %v in %v, want %v", m.Method, j+1, f.Loss, f.Interval, mean)
				}
				if m == linear && f.Used != (j != 2) || !f.Used && f.Loss != 0 {
					t.Errorf("feature %d: used is %v, loss %v", j+1, f.Used, f.Loss)
				}
			}
			cores := runtime.GOMAXPROCS(1)
			again, err := Permute(context.Background(), m, d, o)
			runtime.GOMAXPROCS(cores)
			if diff := cmp.Diff(got, again, cmpopts.EquateNaNs()); err != nil || diff != "" {
				t.Errorf("on one core: %v %s", err, diff)
			}
		}
	}
}

// Claim: the mean over many repeats is that over all permutations of each query's documents,
// enumerated.
func TestPermuteAgainstAllPermutations(t *testing.T) {
	var b dataset.Builder
	rng := rand.New(rand.NewPCG(3, 1))
	for _, id := range []string{"a", "b", "c"} {
		x := make([]float32, 4*2)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		if err := b.Add(id, []float64{2, 0, 1, 0}, x, nil); err != nil {
			t.Fatal(err)
		}
	}
	d, by := b.Dataset(), parsed(t, "ndcg@2")
	m := &model.Model{Scorer: scorer.Linear{Features: 2}, Params: []float64{1, 0.7}}
	const repeats = 3000
	got, err := Permute(context.Background(), m, d, PermuteOptions{Measure: by, Repeats: repeats, Seed: 1, Permutations: 100})
	if err != nil {
		t.Fatal(err)
	}
	before := valuesOf(t, m, d, by)
	orders := permutations(4)
	for j := range 2 {
		for i := range d.Queries {
			var mean, square float64
			for _, order := range orders {
				perm := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
				for k, v := range order {
					perm[4*i+k] = 4*i + v
				}
				loss := before[i] - valuesOf(t, m, with(t, d, j, perm), by)[i]
				mean += loss / float64(len(orders))
				square += loss * loss / float64(len(orders))
			}
			if within := 4 * math.Sqrt((square-mean*mean)/repeats); math.Abs(got.Features[j].PerQuery[i]-mean) > within {
				t.Errorf("feature %d, query %d: loss %v, over all permutations %v ± %v", j+1, i, got.Features[j].PerQuery[i], mean, within)
			}
		}
	}
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return all
}
