package synth

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/listwise/listwise/dataset"
)

// averagePrecision is the measure as Baeza-Yates and Ribeiro-Neto define it, 0
// for a query without relevant document, as in LETOR.
func averagePrecision(grades []float64, order []int) float64 {
	sum, seen := 0.0, 0
	for r, i := range order {
		if grades[i] >= 1 {
			seen++
			sum += float64(seen) / float64(r+1)
		}
	}
	return sum / float64(max(seen, 1))
}

// meanAP is MAP under the linear scores of w, and of the order the documents
// stand in, which is random.
func meanAP(d *dataset.Dataset, w []float64) (ranked, random float64) {
	n := float64(len(d.Queries))
	for i := range d.Queries {
		q := &d.Queries[i]
		order := make([]int, q.Len())
		scores := make([]float64, q.Len())
		for k := range order {
			order[k] = k
			for j, v := range q.Row(k) {
				scores[k] += w[j] * float64(v)
			}
		}
		random += averagePrecision(q.Grades, order) / n
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		ranked += averagePrecision(q.Grades, order) / n
	}
	return ranked, random
}

// leastSquares fits grades, centred per query, by ridge regression.
func leastSquares(t *testing.T, d *dataset.Dataset) []float64 {
	t.Helper()
	f := d.Features
	a, b := mat.NewSymDense(f, nil), mat.NewVecDense(f, nil)
	for j := range f {
		a.SetSym(j, j, 1)
	}
	row := make([]float64, f)
	for i := range d.Queries {
		q := &d.Queries[i]
		meanX, meanY := make([]float64, f), 0.0
		for k := range q.Len() {
			for j, v := range q.Row(k) {
				meanX[j] += float64(v) / float64(q.Len())
			}
			meanY += q.Grades[k] / float64(q.Len())
		}
		for k := range q.Len() {
			for j, v := range q.Row(k) {
				row[j] = float64(v) - meanX[j]
			}
			x := mat.NewVecDense(f, row)
			a.SymRankOne(a, 1, x)
			b.AddScaledVec(b, q.Grades[k]-meanY, x)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		t.Fatal("normal equations are singular")
	}
	w := mat.NewVecDense(f, nil)
	if err := chol.SolveVecTo(w, b); err != nil {
		t.Fatal(err)
	}
	return w.RawVector().Data
}

func generate(t *testing.T, name string, change func(*Options)) *dataset.Dataset {
	t.Helper()
	s, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	o := s.Defaults
	if change != nil {
		change(&o)
	}
	d, err := s.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The shapes have the published sizes, shares of grades and difficulty.
func TestShapesResembleTheirCollections(t *testing.T) {
	if testing.Short() {
		t.Skip("statistics of large data")
	}
	for _, c := range []struct {
		shape            string
		queries          int
		minDocs, maxDocs int        // of any query
		meanDocs         float64    // within 8 %
		shares           [3]float64 // of grades 0, 1, 2, within 0.03
		without          float64    // share of queries without relevant documents, within 0.06
		random, linear   [2]float64 // range of MAP in random order and of a linear ranker
	}{
		{"gov1", 75, 1000, 1000, 1000, [3]float64{0.999, 0.001, 0}, 0, [2]float64{0, 0.03}, [2]float64{0.4, 0.75}},
		{"gov10", 50, 1000, 1000, 1000, [3]float64{0.99, 0.01, 0}, 0, [2]float64{0, 0.04}, [2]float64{0.2, 0.45}},
		{"ohsumed", 106, 40, 320, 152, [3]float64{0.70, 0.16, 0.14}, 0.01, [2]float64{0.26, 0.37}, [2]float64{0.45, 0.60}},
		{"mq2008", 784, 5, 121, 19.4, [3]float64{0.807, 0.132, 0.061}, 0.28, [2]float64{0.25, 0.35}, [2]float64{0.40, 0.52}},
	} {
		t.Run(c.shape, func(t *testing.T) {
			train := generate(t, c.shape, nil)
			test := generate(t, c.shape, func(o *Options) { o.Seed = 2 })
			info := dataset.Describe(train, 1)
			per := info.DocumentsPerQuery
			if info.Queries != c.queries || per.Min < c.minDocs || per.Max > c.maxDocs || math.Abs(per.Mean/c.meanDocs-1) > 0.08 {
				t.Errorf("%d queries of %d to %d documents, mean %v", info.Queries, per.Min, per.Max, per.Mean)
			}
			for grade, want := range c.shares {
				got := 0.0
				for _, g := range info.Grades {
					if g.To == float64(grade) {
						got = float64(g.Documents) / float64(info.Documents)
					}
				}
				if math.Abs(got-want) > 0.03*min(1, 10*want) {
					t.Errorf("%.4f of the documents have grade %d, expected %v", got, grade, want)
				}
			}
			if got := float64(info.QueriesWithoutRelevant) / float64(info.Queries); math.Abs(got-c.without) > 0.06 {
				t.Errorf("%.3f of the queries have no relevant document, expected %v", got, c.without)
			}
			linear, random := meanAP(test, leastSquares(t, train))
			t.Logf("MAP: linear %.3f, random %.3f", linear, random)
			if random < c.random[0] || random > c.random[1] || linear < c.linear[0] || linear > c.linear[1] {
				t.Errorf("MAP of a linear ranker %.3f, of a random one %.3f; expected %v and %v", linear, random, c.linear, c.random)
			}
		})
	}
}

func small(o *Options) { o.Queries, o.Docs, o.Relevant = 6, 30, 3 }

// Features lie in [0, 1], reach both ends within a query or are constant, have
// six decimals, many zeros and a heavy tail, and some go together.
func TestFeaturesAreRealistic(t *testing.T) {
	d := generate(t, "ohsumed", nil)
	again := dataset.Normalize(d, dataset.MinMax)
	if !slices.Equal(again.X(), d.X()) {
		t.Error("features are not normalised per query")
	}
	zeros, low := 0, 0
	for _, v := range d.X() {
		if float32(math.Round(float64(v)*1e6)/1e6) != v {
			t.Fatalf("%v has more than six decimals", v)
		}
		if v == 0 {
			zeros++
		} else if v < 0.2 {
			low++
		}
	}
	n := float64(len(d.X()))
	if share := float64(zeros) / n; share < 0.2 || share > 0.6 {
		t.Errorf("%.3f of the values are 0, expected 0.2 to 0.6", share)
	}
	if share := float64(low) / (n - float64(zeros)); share < 0.25 {
		t.Errorf("%.3f of the values above 0 are below 0.2: no heavy tail", share)
	}
	if same, other := correlation(d, 0, properties), correlation(d, 0, authority); same < 0.5 || math.Abs(other) > 0.1 {
		t.Errorf("correlation %.3f with a statistic of the same field, %.3f with authority", same, other)
	}
	if across := correlation(d, 0, 1); across < 0.15 || across > 0.6 {
		t.Errorf("correlation %.3f between fields", across)
	}
}

func correlation(d *dataset.Dataset, a, b int) float64 {
	var n, sa, sb, saa, sbb, sab float64
	for row := range slices.Chunk(d.X(), d.Features) {
		u, v := float64(row[a]), float64(row[b])
		n, sa, sb, saa, sbb, sab = n+1, sa+u, sb+v, saa+u*u, sbb+v*v, sab+u*v
	}
	return (n*sab - sa*sb) / math.Sqrt((n*saa-sa*sa)*(n*sbb-sb*sb))
}

func TestSameSeedSameData(t *testing.T) {
	for _, s := range Shapes() {
		a, b := generate(t, s.Name, small), generate(t, s.Name, small)
		if !same(a, b, len(a.Queries)) {
			t.Errorf("%s: the same seed gave different data", s.Name)
		}
		more := generate(t, s.Name, func(o *Options) { small(o); o.Queries = 9 })
		if !same(a, more, len(a.Queries)) {
			t.Errorf("%s: asking for more queries changed the first ones", s.Name)
		}
		other := generate(t, s.Name, func(o *Options) { small(o); o.Seed = 2 })
		if same(a, other, 1) {
			t.Errorf("%s: another seed gave the same data", s.Name)
		}
	}
}

// same compares the first n queries of both.
func same(a, b *dataset.Dataset, n int) bool {
	for i := range n {
		p, q := &a.Queries[i], &b.Queries[i]
		if p.ID != q.ID || !slices.Equal(p.Grades, q.Grades) || !slices.Equal(p.X, q.X) || p.DocID(0) != q.DocID(0) {
			return false
		}
	}
	return true
}

func TestDocumentIDsAreUnique(t *testing.T) {
	d := generate(t, "gov10", small)
	if n := dataset.Describe(d, 1).Duplicates.RepeatedIDs; n != 0 || !d.HasDocIDs() {
		t.Errorf("%d repeated ids, ids at all: %v", n, d.HasDocIDs())
	}
}

// With Noise 0 the hidden properties alone decide, so a linear ranker does far
// better than with the shape's own noise, and with much noise it does no better
// than chance.
func TestNoiseDecidesTheDifficulty(t *testing.T) {
	at := func(noise float64) float64 {
		options := func(seed uint64) func(*Options) {
			return func(o *Options) { o.Queries, o.Noise, o.Seed = 60, noise, seed }
		}
		ranked, random := meanAP(generate(t, "ohsumed", options(2)), leastSquares(t, generate(t, "ohsumed", options(1))))
		return ranked - random
	}
	none, usual, much := at(0), at(2.4), at(1000)
	if none < usual+0.15 || usual < much+0.1 || math.Abs(much) > 0.05 {
		t.Errorf("MAP above chance: %.3f without noise, %.3f with the usual, %.3f with much", none, usual, much)
	}
}

func TestOptionsAreRespected(t *testing.T) {
	d := generate(t, "gov1", func(o *Options) { o.Queries, o.Docs, o.Features, o.Relevant = 4, 50, 7, 5 })
	if len(d.Queries) != 4 || d.Docs() != 200 || d.Features != 7 {
		t.Errorf("%d queries, %d documents, %d features", len(d.Queries), d.Docs(), d.Features)
	}
	for i := range d.Queries {
		if n := d.Queries[i].Relevant(1); n != 5 {
			t.Errorf("%d relevant documents, expected 5", n)
		}
	}
	few := generate(t, "ohsumed", func(o *Options) { o.Relevant = 10 })
	if got := float64(relevant(few)) / float64(len(few.Queries)); got < 8 || got > 12.5 {
		t.Errorf("%.1f relevant documents a query, expected about 10", got)
	}
}

func relevant(d *dataset.Dataset) int {
	n := 0
	for i := range d.Queries {
		n += d.Queries[i].Relevant(1)
	}
	return n
}

func TestOptionsAreChecked(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"0 queries: expected 1 or more":                              func(o *Options) { o.Queries = 0 },
		"1 documents a query: expected 2 or more":                    func(o *Options) { o.Docs = 1 },
		"-1 features: expected 1 or more":                            func(o *Options) { o.Features = -1 },
		"1000 relevant of 1000 documents a query: expected 1 to 999": func(o *Options) { o.Relevant = 1000 },
		"noise NaN: expected 0 to 1e+06":                             func(o *Options) { o.Noise = math.NaN() },
		"noise -1: expected 0 to 1e+06":                              func(o *Options) { o.Noise = -1 },
	} {
		o := gov1.Defaults
		change(&o)
		if _, err := gov1.Generate(o); err == nil || err.Error() != "shape gov1: "+want {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
	if _, err := Lookup("trec"); err == nil {
		t.Error("an unknown shape was accepted")
	}
}

// The mean over the normal distribution, by the trapezoidal rule.
func TestMeanLogit(t *testing.T) {
	for _, c := range [][2]float64{{0.01, 0.7}, {0.3, 1}, {0.21, 2}, {0.5, 0}} {
		m := meanLogit(c[0], c[1])
		mean, step := 0.0, 0.001
		for z := -9.0; z < 9; z += step {
			mean += step * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / (1 + math.Exp(-m-c[1]*z))
		}
		if math.Abs(mean/c[0]-1) > 0.02 {
			t.Errorf("mean %v, expected %v", mean, c[0])
		}
	}
}

// The shape intranet has the size of LambdaRank's section 6.3.2: 400 queries of 59.4 documents
// in the mean, 87 features, grades 0 to 3. It is as difficult as its Figure 2 shows. A linear
// ranker's NDCG@10 is about .6, well above that of the order of the file.
func TestIntranetIsThePapers(t *testing.T) {
	if testing.Short() {
		t.Skip("statistics of large data")
	}
	train := generate(t, "intranet", nil)
	info := dataset.Describe(train, 1)
	if info.Queries != 400 || train.Features != 87 || len(info.Grades) != 4 || info.Grades[3].To != 3 {
		t.Errorf("%d queries, %d features, %d grades", info.Queries, train.Features, len(info.Grades))
	}
	for g, share := range []float64{0.796, 0.122, 0.057, 0.024} {
		if got := float64(info.Grades[g].Documents) / float64(info.Documents); math.Abs(got/share-1) > 0.1 {
			t.Errorf("%.4f of the documents have grade %d, expected %v", got, g, share)
		}
	}
	many := generate(t, "intranet", func(o *Options) { o.Queries, o.Features, o.Seed = 20_000, 1, 2 })
	if mean := float64(many.Docs()) / 20_000; math.Abs(mean-59.4) > 0.5 {
		t.Errorf("%v documents a query in the mean, expected 59.4", mean)
	}
	test := generate(t, "intranet", func(o *Options) { o.Seed = 2 })
	w := leastSquares(t, train)
	var linear, file float64
	for i := range test.Queries {
		q := &test.Queries[i]
		scores := make([]float64, q.Len())
		order := make([]int, q.Len())
		for k := range scores {
			order[k] = k
			for j, v := range q.Row(k) {
				scores[k] += w[j] * float64(v)
			}
		}
		dcg := func() (sum float64) {
			for r, k := range order[:min(10, len(order))] {
				sum += (math.Exp2(q.Grades[k]) - 1) / math.Log2(float64(r+2))
			}
			return sum
		}
		atFirst := dcg()
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		ranked := dcg()
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(q.Grades[b], q.Grades[a]) })
		if ideal := dcg(); ideal > 0 {
			linear, file = linear+ranked/ideal/400, file+atFirst/ideal/400
		}
	}
	if linear < 0.54 || linear > 0.68 || file > 0.3 {
		t.Errorf("NDCG@10 %v of a linear ranker, %v of the order of the file", linear, file)
	}
}
