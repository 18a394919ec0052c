package datareport

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/listwise/listwise/app/report"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
)

// made makes data of so many queries of about ten documents; value gives a feature of a
// document, which may be NaN, from the query's number and effect, the document's grade and its place.
func made(seed uint64, queries int, names []string, value func(rng *rand.Rand, feature, query int, effect, grade float64, doc int) float64) *dataset.Dataset {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := dataset.Blocks{Features: len(names), FeatureNames: names}
	for q := range queries {
		n := 8 + rng.IntN(5)
		effect := rng.NormFloat64()
		for range n {
			grade := float64(rng.IntN(3))
			doc := len(b.Grades)
			b.Grades = append(b.Grades, grade)
			for j := range names {
				v := value(rng, j, q, effect, grade, doc)
				if math.IsNaN(v) {
					b.Missing++
				}
				b.X = append(b.X, float32(v))
			}
		}
		b.IDs, b.Counts = append(b.IDs, fmt.Sprintf("q%d-%d", seed, q)), append(b.Counts, n)
	}
	return dataset.FromBlocks(b)
}

func built(t testing.TB, d, against *dataset.Dataset, c Config) *Report {
	t.Helper()
	c.Convention = measure.LETOR3
	r, err := Build(context.Background(), d, against, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// planted are features whose truth is known.
var planted = []string{"good", "bad", "noise", "noise copy", "constant", "of the query", "gappy", "grade", "monotone", "doc_number", "row", "query number", "large", "price_id", "nearly"}

func plant(rng *rand.Rand, feature, query int, effect, grade float64, doc int) float64 {
	noise := math.Mod(float64(doc)*0.754877666, 1)
	switch planted[feature] {
	case "good":
		return grade + 0.8*rng.NormFloat64()
	case "bad":
		return -grade + 0.8*rng.NormFloat64()
	case "noise", "noise copy":
		return noise
	case "constant":
		return 7
	case "of the query":
		return effect
	case "gappy":
		if doc%4 == 0 {
			return math.NaN()
		}
		return float64(rng.IntN(5))
	case "grade":
		return grade
	case "monotone":
		return math.Exp(-grade)
	case "doc_number":
		return float64((doc * 7919) % 104729)
	case "row":
		return float64(doc + 1)
	case "query number":
		return float64(1000 + query)
	case "large":
		return 1e6 * rng.NormFloat64()
	case "price_id":
		return float64(rng.IntN(4))
	}
	return grade + 0.2*rng.NormFloat64()
}

// Claim: what is planted in data is found, and said, and nothing else is suspect.
func TestPlanted(t *testing.T) {
	d := made(1, 60, planted, plant)
	r := built(t, d, nil, Config{})
	suspects := map[string]string{}
	for _, f := range r.Features {
		if f.Suspect != "" {
			suspects[f.Name] = f.Suspect[:12]
		}
	}
	want := map[string]string{
		"grade": "equals the g", "monotone": "orders the d", "nearly": "ranks nearly", "doc_number": "has a differ", "row": "has a differ", "query number": "has a differ", "price_id": "has the name",
	}
	if diff := cmp.Diff(want, suspects); diff != "" {
		t.Errorf("suspects: %s", diff)
	}
	by := map[string]*Feature{}
	for j := range r.Features {
		by[r.Features[j].Name] = &r.Features[j]
	}
	if !by["constant"].Constant || by["noise"].ConstantWithin || !by["of the query"].ConstantWithin || by["of the query"].Constant {
		t.Error("constants are not those planted")
	}
	if f := by["gappy"]; math.Abs(f.Missing-0.25) > 0.01 || f.Min != 0 || f.Max != 4 || f.Distinct != 5 {
		t.Errorf("gappy: %+v", f)
	}
	if diff := cmp.Diff([][]int{{3, 4}}, r.Copies); diff != "" {
		t.Errorf("copies: %s", diff)
	}
	if good, bad := by["good"], by["bad"]; good.Up < good.Down+0.2 || bad.Down < bad.Up+0.2 || !(good.Low < good.Up && good.Up < good.High) || good.WithGrade < 0.4 || bad.WithGrade > -0.4 || math.Abs(by["noise"].WithGrade) > 0.15 {
		t.Errorf("good %+v, bad %+v", good, bad)
	}
	if math.Abs(by["grade"].WithGrade-1) > 1e-12 || by["grade"].Up != 1 || math.Abs(by["monotone"].WithGrade+1) > 1e-12 {
		t.Errorf("the grade as a feature: %+v", by["grade"])
	}
	text := said(r)
	for _, part := range []string{
		"problem grade is probably not a feature: it equals the grade", "problem row is probably not a feature", "and follows the order of the file", "look price_id is probably not a feature",
		"note 1 feature has one value in all documents: constant.", "note 2 features have one value within each query, which cannot rank documents alone but may help trees: of the query, query number.", "look Features that are equal in every document: noise = noise copy.",
		"look 1 feature has missing values, gappy most: 25", "linear functions and networks need --normalize",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the findings lack %q:\n%s", part, text)
		}
	}
	if first := r.Findings[0].Level; first != report.Problem {
		t.Errorf("the first finding is a %s", first)
	}
}

func said(r *Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s %s\n", f.Level, f.Text)
	}
	return b.String()
}

// Claim: single-feature NDCG@10 is what evaluation gives for the feature as scores, and its
// opposite, and the reference that of random order.
func TestSingleFeatures(t *testing.T) {
	d := made(3, 30, []string{"a", "b"}, func(rng *rand.Rand, _, _ int, _, grade float64, _ int) float64 { return grade/2 + rng.NormFloat64() })
	r := built(t, d, nil, Config{})
	by, err := measure.ParseList("ndcg@10", measure.LETOR3, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	value := func(ties measure.TiePolicy, score func(x float64) float64, feature int) float64 {
		scores := make([]float64, d.Docs())
		for i := range scores {
			scores[i] = score(float64(d.X()[i*2+feature]))
		}
		e, err := measure.Evaluate(d, scores, by, ties)
		if err != nil {
			t.Fatal(err)
		}
		return e.Mean(by[0])
	}
	for j, f := range r.Features {
		up, down := value(measure.TiesInput, func(x float64) float64 { return x }, j), value(measure.TiesInput, func(x float64) float64 { return -x }, j)
		if math.Abs(f.Up-up) > 1e-12 || math.Abs(f.Down-down) > 1e-12 {
			t.Errorf("feature %d: %v and %v, want %v and %v", j+1, f.Up, f.Down, up, down)
		}
	}
	if want := value(measure.TiesAverage, func(float64) float64 { return 0 }, 0); math.Abs(r.Random-want) > 1e-12 {
		t.Errorf("random order has %v, want %v", r.Random, want)
	}
}

// clustered gives features that resemble each other within a query.
func clustered(rng *rand.Rand, _, _ int, effect, _ float64, _ int) float64 {
	return 2*effect + 0.3*rng.NormFloat64()
}

// Claim: two files of one kind, whose queries' documents resemble each other, are said to differ
// no more often than the level allows, where a test on documents would nearly always.
func TestNoDriftByChance(t *testing.T) {
	names := []string{"a", "b", "c"}
	alarms, large := 0, 0
	const trials = 150
	for k := range uint64(trials) {
		r := built(t, made(100+k, 20, names, clustered), made(900+k, 25, names, clustered), Config{})
		for _, m := range append(r.Drift.Features, r.Drift.Grades, r.Drift.Lengths) {
			if m.Holm < movedLevel {
				alarms++
				break
			}
		}
		if r.Drift.Features[0].Stability > movedMuch {
			large++
		}
	}
	if alarms > 16 { // 7.5 and three standard errors
		t.Errorf("%d false alarms in %d", alarms, trials)
	}
	if large < trials/2 {
		t.Errorf("documents differ much in %d of %d only: the data test nothing", large, trials)
	}
}

// Claim: a shifted feature, one of another spread, other grades and longer lists are found, and
// one that is the same is not; queries in both are counted, by content and by id.
func TestDrift(t *testing.T) {
	names := []string{"same", "shifted", "wider", "lost"}
	value := func(moved bool) func(rng *rand.Rand, feature, query int, effect, grade float64, doc int) float64 {
		return func(rng *rand.Rand, feature, _ int, _, _ float64, doc int) float64 {
			v := rng.NormFloat64()
			switch {
			case moved && names[feature] == "shifted":
				v += 2
			case moved && names[feature] == "wider":
				v *= 3
			case moved && names[feature] == "lost" && doc%2 == 0:
				v = math.NaN()
			}
			return v
		}
	}
	d, other := made(1, 40, names, value(false)), made(2, 40, names, value(true))
	r := built(t, d, other, Config{})
	var moved []string
	for j, m := range r.Drift.Features {
		if m.Holm < movedLevel {
			moved = append(moved, names[j])
		}
	}
	if !slices.Equal(moved, []string{"shifted", "wider"}) {
		t.Errorf("moved are %v", moved)
	}
	if lost := r.Drift.Features[3]; math.Abs(lost.Missing-0.5) > 0.02 || lost.Stability < movedMuch {
		t.Errorf("lost: %+v", lost)
	}
	if text := said(r); !strings.Contains(text, "problem 2 features have a very different distribution (p < 0.05, corrected; stability index 0.25 or more): shifted, wider.") {
		t.Errorf("found\n%s", text)
	}
	means := regexp.MustCompile(`<tr><th scope="row">grades</th><td class="n">(0\.[0-9]+|1\.[0-9]+|1)</td><td class="n">(0\.[0-9]+|1\.[0-9]+|1)</td>`).FindStringSubmatch(written(t, r))
	if want := []string{short(meanGrade(d)), short(meanGrade(other))}; len(means) != 3 || !slices.Equal(means[1:], want) {
		t.Errorf("the means of the grades are %v, want %v", means, want)
	}
	both := built(t, d, d.Subset([]int{0, 1, 2, 3, 4, 5, 6}), Config{})
	if both.Drift.SharedQueries != 7 || both.Drift.SharedIDs != 7 || both.Findings[0].Level != report.Problem || !strings.Contains(both.Findings[0].Text, "7 of 40 queries are in both") {
		t.Errorf("shared: %+v\n%s", both.Drift.SharedQueries, said(both))
	}
	few := built(t, d, d.Subset([]int{0, 1, 2}), Config{})
	if few.Drift.Tested || few.Drift.Features[0].Holm != 1 {
		t.Error("three queries are tested")
	}
	if _, err := Build(context.Background(), d, made(1, 9, []string{"same", "shifted", "wider", "other"}, value(false)), Config{Convention: measure.LETOR3}); err == nil {
		t.Error("other features are no error")
	}
}

// Claim: the stability index is Σ (q − p)·log(q/p), by hand.
func TestStability(t *testing.T) {
	a, b := make([]float64, 100), make([]float64, 100)
	for i := range a {
		a[i] = float64(i % 2)
		b[i] = float64(i % 4 / 3) // a quarter
	}
	// the cuts are 0 and 1: parts up to 0, up to 1, above, missing
	p := []float64{50.5 / 102, 50.5 / 102, 0.5 / 102, 0.5 / 102}
	q := []float64{75.5 / 102, 25.5 / 102, 0.5 / 102, 0.5 / 102}
	want := 0.0
	for i := range p {
		want += (q[i] - p[i]) * math.Log(q[i]/p[i])
	}
	if got := stability(a, b, a); math.Abs(got-want) > 1e-12 {
		t.Errorf("index %v, want %v", got, want)
	}
	if got := stability(a, a, a); got != 0 {
		t.Errorf("index of the same data %v", got)
	}
}

// Claim: rank correlations of features are Spearman's, by the definition with the ranks of a plain
// sort.
func TestCorrelated(t *testing.T) {
	d := made(5, 30, []string{"a", "b", "c", "d"}, func(rng *rand.Rand, feature, _ int, effect, _ float64, doc int) float64 {
		base := math.Mod(float64(doc)*0.754877666, 1)
		switch feature {
		case 0:
			return base
		case 1:
			return -math.Exp(5*base) + 0.01*rng.NormFloat64()
		case 2:
			return base + 0.1*rng.NormFloat64()
		}
		return effect
	})
	features := make([]Feature, 4)
	pairs := correlated(d, features)
	plain := func(a, b int) float64 {
		rank := func(j int) []float64 {
			ranks := make([]float64, d.Docs())
			for i := range ranks {
				for k := range ranks {
					if x, y := d.X()[k*4+j], d.X()[i*4+j]; x < y {
						ranks[i]++
					} else if x == y {
						ranks[i] += 0.5
					}
				}
			}
			return ranks
		}
		x, y, n := rank(a), rank(b), float64(d.Docs())
		var sx, sy, sxy, sxx, syy float64
		for i := range x {
			sx, sy, sxy, sxx, syy = sx+x[i], sy+y[i], sxy+x[i]*y[i], sxx+x[i]*x[i], syy+y[i]*y[i]
		}
		return (sxy - sx*sy/n) / math.Sqrt((sxx-sx*sx/n)*(syy-sy*sy/n))
	}
	if len(pairs) != 3 {
		t.Fatalf("found the pairs %v", pairs)
	}
	for _, p := range pairs {
		if want := plain(p.A-1, p.B-1); math.Abs(p.Correlation-want) > 1e-9 {
			t.Errorf("%d and %d: %v, want %v", p.A, p.B, p.Correlation, want)
		}
	}
}

// Claim: a page of 700 features with long names, drift and suspects is within 4 MB and has them all;
// a smaller limit leaves out features and says so; names cannot be markup; the same data make the same bytes.
func TestPage(t *testing.T) {
	names := make([]string, 700)
	for j := range names {
		names[j] = fmt.Sprintf("<script>alert(%d)</script> %s", j, strings.Repeat("x", 200))
	}
	value := func(rng *rand.Rand, _, _ int, effect, _ float64, _ int) float64 { return effect + rng.NormFloat64() }
	d, other := made(1, 12, names, value), made(2, 12, names, value)
	write := func(c Config) string {
		var b bytes.Buffer
		if err := built(t, d, other, c).Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	whole := write(Config{Title: "<b>", Source: "a", Against: "b"})
	if n := strings.Count(whole, `<tr class="feature">`); len(whole) > DefaultMaxBytes || n != 700 {
		t.Errorf("%d bytes with %d features", len(whole), n)
	}
	if strings.Contains(whole, "<script") || strings.Contains(whole, "<b><") || strings.Contains(whole, "ZgotmplZ") {
		t.Error("a name became markup")
	}
	if again := write(Config{Title: "<b>", Source: "a", Against: "b"}); again != whole {
		t.Error("the same data make another page")
	}
	small := write(Config{MaxBytes: 300_000})
	if n := strings.Count(small, `<tr class="feature">`); len(small) > 300_000 || n == 0 || !strings.Contains(small, fmt.Sprintf("%d features of lower NDCG@10 are left out", 700-n)) {
		t.Errorf("%d bytes with %d features", len(small), n)
	}
}

// Claim: large data are described by whole queries, as many as asked for, and it is said.
func TestSample(t *testing.T) {
	d := made(1, 50, []string{"a"}, clustered)
	r := built(t, d, nil, Config{MaxDocs: 100})
	if r.Sampled < 100 || r.Sampled > 112 || r.Info.Documents != d.Docs() {
		t.Errorf("%d documents are sampled of %d", r.Sampled, d.Docs())
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil || !strings.Contains(b.String(), fmt.Sprintf("Of %d documents: whole queries drawn at random", r.Sampled)) {
		t.Errorf("the page does not tell of the sample: %v", err)
	}
}
