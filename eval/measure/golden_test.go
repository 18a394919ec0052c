package measure

import (
	"math"
	"testing"
)

// parse is Parse for tests that mean a valid name.
func parse(t testing.TB, name, convention string) Averager {
	t.Helper()
	c, err := ParseConvention(convention)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(name, c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func valueOf(t testing.TB, name, convention string, ranked []float64) float64 {
	t.Helper()
	v, ok := parse(t, name, convention).Value(ranked)
	if !ok {
		t.Fatalf("%s under %s leaves %v out", name, convention, ranked)
	}
	return v
}

func near(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.12f, want %.12f", what, got, want)
	}
}

// Claim: the golden list has the values that an independent numpy script gave.
func TestGoldenList(t *testing.T) {
	ranked := []float64{0, 2, 1, 0, 0, 1, 2, 0, 0, 1, 0, 0}
	for _, g := range []struct {
		name, convention string
		want             float64
	}{
		{"map", "letor3", .5476190476},
		{"ndcg@1", "letor3", 0}, {"ndcg@2", "letor3", .5}, {"ndcg@3", "letor3", .5475747578},
		{"ndcg@5", "letor3", .4801796872}, {"ndcg@10", "letor3", .7124721780},
		{"ndcg@1", "standard", 0}, {"ndcg@2", "standard", .3868528072}, {"ndcg@3", "standard", .4437016069},
		{"ndcg@5", "standard", .3852925115}, {"ndcg@10", "standard", .6502180512},
	} {
		near(t, g.name+" "+g.convention, valueOf(t, g.name, g.convention, ranked), g.want, 1e-10)
	}
	reversed := []float64{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2}
	ideal := 3 + 3 + 1/math.Log2(3) + 1.0/2 + 1/math.Log2(5)
	want := (1.0/3 + 1/math.Log2(9) + 1/math.Log2(10)) / ideal
	near(t, "reversed", valueOf(t, "ndcg@10", "letor3", reversed), want, 1e-12)
}

// Claim: each measure gives what its definition gives by hand on one list:
// relevant documents at ranks 2, 3 and 6 of 8, the one at 3 highly relevant.
func TestValuesByHand(t *testing.T) {
	ranked := []float64{0, 1, 2, 0, 0, 1, 0, 0}
	log := math.Log2
	for _, g := range []struct {
		name, convention string
		want             float64
	}{
		{"ap", "letor3", (1.0/2 + 2.0/3 + 3.0/6) / 3},
		{"p@1", "letor3", 0}, {"p@5", "letor3", 2.0 / 5}, {"p@10", "letor3", 3.0 / 10},
		{"r@1", "letor3", 0}, {"r@5", "letor3", 2.0 / 3}, {"r@99", "letor3", 1},
		{"mrr", "letor3", 1.0 / 2}, {"mrr@1", "letor3", 0}, {"mrr@2", "letor3", 1.0 / 2},
		{"wta", "letor3", 0},
		// Inverted: 1 bad above each of the first two, 3 above the last, of 3·5.
		{"auc", "letor3", 1 - 5.0/15},
		// The same, and the grade-1 document above the one of grade 2, of 15 + 2.
		{"pairs", "letor3", 1 - 6.0/17},
		{"bpref", "trec", ((1 - 1.0/3) + (1 - 1.0/3) + (1 - 3.0/3)) / 3},
		{"rbp@0.5", "letor3", 0.5 * (0.5 + 0.25 + 1.0/32)},
		{"rbp", "letor3", 0.2 * (0.8 + 0.64 + math.Pow(0.8, 5))},
		// R(1) = 1/16, R(2) = 3/16.
		{"err", "letor3", 1.0/16/2 + 15.0/16*3/16/3 + 15.0/16*13/16/16/6},
		{"err@2", "letor3", 1.0 / 16 / 2},
		{"dcg@3", "letor3", 1 + 3/log(3)},
		{"dcg", "standard", 1/log(3) + 3/2.0 + 1/log(7)},
		// trec: gain = grade, the ideal is 2, 1, 1.
		{"dcg@3", "trec", 1/log(3) + 2/2.0},
		{"ndcg@3", "trec", (1/log(3) + 2/2.0) / (2 + 1/log(3) + 1/2.0)},
		{"ndcg", "trec", (1/log(3) + 2/2.0 + 1/log(7)) / (2 + 1/log(3) + 1/2.0)},
		{"ndcg", "letor3", (1 + 3/log(3) + 1/log(6)) / (3 + 1 + 1/log(3))},
		{"mean-ndcg", "letor4", (0 + 1.0/4 + ((1+3/log(3))/(4+1/log(3)))*3 + ((1+3/log(3)+1/log(6))/(4+1/log(3)))*3) / 8},
		// mslr: only grades from 2 on are relevant.
		{"ap", "mslr", 1.0 / 3}, {"p@5", "mslr", 1.0 / 5}, {"bpref", "mslr", 0},
	} {
		near(t, g.name+" "+g.convention, valueOf(t, g.name, g.convention, ranked), g.want, 1e-12)
	}
}

// Claim: bpref follows trec_eval where there are fewer irrelevant documents than
// relevant ones, or none.
func TestBPrefFewIrrelevant(t *testing.T) {
	near(t, "bpref", valueOf(t, "bpref", "trec", []float64{1, 0, 1, 1}), (1+0+0)/3.0, 1e-12)
	near(t, "bpref", valueOf(t, "bpref", "trec", []float64{1, 1}), 1, 0)
}

// Claim: the conventions differ on one short list, each in the way it says.
func TestConventionsDiffer(t *testing.T) {
	ranked := []float64{1, 0, 2} // three documents, so NDCG@10 meets a short list
	log := math.Log2
	letor := (1 + 3/log(3)) / (3 + 1)
	standard := (1 + 3/2.0) / (3 + 1/log(3))
	for convention, want := range map[string]float64{
		"letor3": letor, "letor4": 0, "mslr": 0,
		"standard": standard, "lightgbm": standard,
		"trec": (1 + 2/2.0) / (2 + 1/log(3)),
	} {
		near(t, "ndcg@10 "+convention, valueOf(t, "ndcg@10", convention, ranked), want, 1e-12)
		near(t, "ndcg@10 "+convention+"-skip", valueOf(t, "ndcg@10", convention+"-skip", ranked), want, 1e-12)
	}
	near(t, "ndcg@3 letor4", valueOf(t, "ndcg@3", "letor4", ranked), letor, 1e-12)
	near(t, "map letor3", valueOf(t, "map", "letor3", ranked), (1+2.0/3)/2, 1e-12)
	near(t, "map mslr", valueOf(t, "map", "mslr", ranked), 1.0/3, 1e-12)
}

// Claim: a query without relevant documents counts what its convention says, or
// is left out; so does, for the pairwise measures, one with no unequal pair.
func TestValuelessQueries(t *testing.T) {
	for _, c := range Conventions() {
		for _, name := range allNames {
			lists := [][]float64{{}, {0}, {0, 0, 0}}
			if name == "auc" || name == "pairs" {
				lists = append(lists, []float64{3, 3})
			}
			for _, ranked := range lists {
				m := parse(t, name, c.Name())
				v, ok := m.Value(ranked)
				if a, aok := m.Average(ranked, eachAlone(len(ranked))); a != v || aok != ok {
					t.Errorf("%s %s of %v: Average %v %v, Value %v %v", name, c.Name(), ranked, a, aok, v, ok)
				}
				want := 0.0
				if c.Name() == "lightgbm" && !isDCG(name) {
					want = 1
				}
				if v != want || ok == c.skip {
					t.Errorf("%s %s of %v = %v %v, want %v %v", name, c.Name(), ranked, v, ok, want, !c.skip)
				}
			}
		}
	}
}

func isDCG(name string) bool { return name == "dcg" || name == "dcg@3" }

// Claim: grades of any size and fraction give finite ratios, and the right ones.
func TestExtremeGrades(t *testing.T) {
	for _, name := range []string{"ndcg", "ndcg@1", "ndcg@2", "mean-ndcg", "pairs", "map", "err"} {
		for _, c := range Conventions() {
			for _, ranked := range [][]float64{
				{0, 5000, 4999}, {1e308, 1.5e308, 1.7e308}, {5e-324, 0}, {0.3, 0.7, 1e-20}, {32, 33.5, 64, 1023, 1024},
			} {
				v, _ := parse(t, name, c.Name()).Value(ranked)
				if !(v >= 0 && v <= 1+1e-12) {
					t.Errorf("%s %s of %v = %v", name, c.Name(), ranked, v)
				}
			}
		}
	}
	near(t, "scaled", valueOf(t, "ndcg", "standard", []float64{0, 5000, 4999}), (1/math.Log2(3)+0.5/2)/(1+0.5/math.Log2(3)), 1e-12)
	near(t, "unscaled", valueOf(t, "ndcg", "standard", []float64{0, 900, 899}), (1/math.Log2(3)+0.5/2)/(1+0.5/math.Log2(3)), 1e-12)
	near(t, "linear", valueOf(t, "ndcg", "trec", []float64{0, 1.6e308, 0.8e308}), (1/math.Log2(3)+0.5/2)/(1+0.5/math.Log2(3)), 1e-12)
	g := math.Sqrt2 - 1
	near(t, "fraction", valueOf(t, "ndcg", "letor3", []float64{0.5, 1, 1.5}), (g+1+(2*math.Sqrt2-1)/math.Log2(3))/(2*math.Sqrt2-1+1+g/math.Log2(3)), 1e-12)
}

// Claim: a threshold other than the convention's changes what is relevant.
func TestThreshold(t *testing.T) {
	m, err := Parse("map", Convention{}.WithThreshold(1.5), Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, _ := m.Value([]float64{1, 2, 1.5, 0})
	near(t, "map", v, (1.0/2+2.0/3)/2, 1e-12)
}

// Claim: the parts a loss takes from a convention make up the measure.
func TestConventionParts(t *testing.T) {
	ranked := []float64{0, 2, 1, 0, 0, 1, 2, 0, 0, 1, 0, 0}
	for _, c := range Conventions() {
		if c.shortZero {
			continue
		}
		for _, k := range []int{0, 1, 5, 12} {
			var sum float64
			for i, l := range ranked[:cutoff(k, len(ranked))] {
				sum += c.Gain(l) * c.Discount(i+1)
			}
			want, _ := ndcg{base{name: "", convention: c}, k}.Value(ranked)
			near(t, c.Name(), sum/c.IdealDCG(ranked, k), want, 1e-12)
		}
	}
}
