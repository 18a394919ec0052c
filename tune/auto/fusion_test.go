package auto

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/stats"
	"github.com/listwise/listwise/internal/testing/long"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/tune"
)

// drawn is a pool of queries of ten documents, and trials whose votes are a multiple of the grades and noise. Trials
// share the noise of their group.
func drawn(rng *rand.Rand, queries int, skills []float64) (*pool, []*Trial) {
	const docs = 10
	p := &pool{measure: measure.MustParse("ndcg@10", measure.Standard), docs: queries * docs}
	for q := range queries {
		grades := make([]float64, docs)
		for i := range grades {
			grades[i] = float64(rng.IntN(3))
		}
		grades[0] = 2
		p.queries = append(p.queries, pooled{grades, 1, q * docs})
		p.outer = append(p.outer, q%outerParts)
	}
	var trials []*Trial
	for k, skill := range skills {
		scores := make([]float64, p.docs)
		for _, q := range p.queries {
			for i := range docs {
				scores[q.start+i] = skill*q.grades[i] + rng.NormFloat64()
			}
		}
		t := &Trial{Number: k, family: &family{name: strconv.Itoa(k)}, votes: p.votes(scores), values: p.values(scores)}
		t.Mean = p.mean(t.values, p.all())
		trials = append(trials, t)
	}
	return p, trials
}

func searchOn(p *pool, members int) *search {
	return &search{run: &run{Config: Config{Members: members}}, pool: p, config: tune.Config{Seed: 1}}
}

// Claim: forward selection adds, with replacement, what raises the measure most, until nothing does.
func TestGreedySelection(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		p, trials := drawn(rng, 40, []float64{0.5, 0.4, 0.6, 0.3})
		var picked []int
		best := math.Inf(-1)
		for range 2 * len(trials) {
			add := -1
			for i := range trials {
				sum := make([]float64, p.docs)
				for _, k := range append(slices.Clone(picked), i) {
					for d, v := range trials[k].votes {
						sum[d] += v
					}
				}
				if v := p.mean(p.values(sum), p.all()); v > best {
					best, add = v, i
				}
			}
			if add < 0 {
				break
			}
			picked = append(picked, add)
		}
		want := make([]float64, len(trials))
		for _, i := range picked {
			want[i] += 1 / float64(len(picked))
		}
		got := p.greedy(trials, p.all(), nil, len(trials))
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Fatalf("weights %v, want %v", got, want)
			}
		}
	}
}

// Claim: the weights of stacking minimise the squared error over non-negative weights. By the conditions of Karush, Kuhn
// and Tucker, the slope is 0 for positive weights and not negative for the others.
func TestStackingIsOptimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		n := 1 + rng.IntN(8)
		x := make([][]float64, 30)
		gram, to := make([][]float64, n), make([]float64, n)
		for i := range gram {
			gram[i] = make([]float64, n)
		}
		for k := range x {
			y := rng.NormFloat64()
			for range n {
				x[k] = append(x[k], rng.NormFloat64()+0.3*y)
			}
			for i := range n {
				to[i] += x[k][i] * y
				for j := range n {
					gram[i][j] += x[k][i] * x[k][j]
				}
			}
		}
		w := nonNegative(gram, to)
		largest := 0.0
		for i := range n {
			largest = max(largest, gram[i][i])
		}
		for i := range n {
			slope := -to[i] + 1e-3*largest*w[i]
			for j := range n {
				slope += gram[i][j] * w[j]
			}
			if w[i] < 0 || w[i] > 0 && math.Abs(slope) > 1e-5 || slope < -1e-5 {
				t.Fatalf("weight %d of %v has the slope %v", i, w, slope)
			}
		}
	}
}

// Claim: nested values are those of fresh queries. Of twenty equal rankers the best on validation data looks better
// than it is; its nested mean does not.
func TestNestedValidationIsUnbiased(t *testing.T) {
	repetitions := 15
	if long.Enabled() {
		repetitions = 200
	}
	rng := rand.New(rand.NewPCG(5, 6))
	var naive, nested []float64
	for range repetitions {
		p, trials := drawn(rng, 30, slices.Repeat([]float64{0.3}, 20))
		truth := 0.0
		for _, trial := range trials {
			truth += trial.Mean / 20
		}
		all, _, err := searchOn(p, 5).candidates(func([]int) []*Trial { return trials })
		if err != nil {
			t.Fatal(err)
		}
		naive, nested = append(naive, ranked20(trials)-truth), append(nested, all[0].Mean-truth)
	}
	bias, deviation := meanAndError(nested)
	if optimism, _ := meanAndError(naive); optimism < 0.02 || math.Abs(bias) > 4*deviation {
		t.Errorf("the best is %.4f above the truth on validation data, and %.4f ± %.4f nested", optimism, bias, deviation)
	}
}

// Claim: nested validation also chooses the trials without the queries that it measures on. Fusions of five of the
// sixteen best of a hundred equal rankers look better than they are, if all queries choose the sixteen.
func TestNestedValidationChoosesTheTrials(t *testing.T) {
	repetitions := 10
	if long.Enabled() {
		repetitions = 100
	}
	rng := rand.New(rand.NewPCG(13, 14))
	var fixed, nested []float64
	for range repetitions {
		p, trials := drawn(rng, 30, slices.Repeat([]float64{0.3}, 100))
		truth := 0.0
		for group := range slices.Chunk(trials, 5) {
			values := p.values(p.sum(group, normalised(slices.Repeat([]float64{1}, 5))))
			truth += p.mean(values, p.all()) / 20
		}
		for _, trial := range trials {
			trial.Models = make([]*model.Model, 1)
		}
		s := searchOn(p, 5)
		s.trials = trials
		best := s.eligible(p.all())
		for _, way := range []struct {
			from    chooser
			results *[]float64
		}{{func([]int) []*Trial { return best }, &fixed}, {s.eligible, &nested}} {
			all, _, err := s.candidates(way.from)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(all, func(c Candidate) bool { return c.Name == "equal weights, best 5" })
			*way.results = append(*way.results, all[i].Mean-truth)
		}
		if len(best) != mostFused || len(s.finalists()) <= mostFused {
			t.Errorf("%d trials are eligible, and %d may be", len(best), len(s.finalists()))
		}
	}
	bias, deviation := meanAndError(nested)
	if optimism := measure.Mean(fixed); optimism < bias+0.004 || math.Abs(bias) > 4*deviation {
		t.Errorf("%.4f above the truth with the same trials, and %.4f ± %.4f nested", optimism, bias, deviation)
	}
}

// Claim: with five parts an interval is 1.5 times as wide as the bootstrap interval of the same values, √(1 + 5/4), and
// with one part it is this interval. It ends at the bounds of the measure.
func TestIntervalCountsSharedTrainingData(t *testing.T) {
	for parts, wider := range map[int]float64{5: 1.5, 1: 1} {
		c := tune.Config{Seed: 1, Select: measure.MustParse("ndcg@10", measure.Standard)}
		for k := range parts {
			c.Folds = append(c.Folds, tune.Fold{Train: generated(t, 80, 10), Valid: generated(t, 20, uint64(k))})
		}
		s := &search{run: &run{}, pool: newPool(&c, false), config: c}
		rng := rand.New(rand.NewPCG(7, 8))
		values := make([]float64, 20*parts)
		for i := range values {
			values[i] = rng.Float64()
		}
		got, err := s.interval(values)
		if err != nil {
			t.Fatal(err)
		}
		want, err := stats.MeanOf(values, stats.Config{Resamples: 2000, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, half := range [][2]float64{{want.Mean - got.Low, want.Mean - want.Interval.Low}, {got.High - want.Mean, want.Interval.High - want.Mean}} {
			if math.Abs(half[0]-wider*half[1]) > 1e-12 {
				t.Errorf("%d parts: half of the interval is %v, %v times the bootstrap's", parts, half[0], half[0]/half[1])
			}
		}
		for i := range values {
			values[i] = 1
		}
		values[0] = 0.5
		if got, err = s.interval(values); err != nil || got.High != 1 {
			t.Errorf("%d parts: the interval ends at %v, above all values of the measure", parts, got.High)
		}
	}
}

func ranked20(trials []*Trial) float64 {
	best := 0.0
	for _, t := range trials {
		best = max(best, t.Mean)
	}
	return best
}

func meanAndError(values []float64) (mean, standardError float64) {
	mean = measure.Mean(values)
	for _, v := range values {
		standardError += (v - mean) * (v - mean)
	}
	n := float64(len(values))
	return mean, math.Sqrt(standardError / (n - 1) / n)
}

// Claim: a fusion is chosen if it is clearly better, as for equal rankers with independent errors. Otherwise the best
// single is chosen, as for one good ranker among bad ones.
func TestChoice(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		skills []float64
		single bool
	}{{slices.Repeat([]float64{0.5}, 8), false}, {[]float64{1, 0, 0, 0, 0, 0}, true}} {
		p, trials := drawn(rng, 300, c.skills)
		all, _, err := searchOn(p, 8).candidates(func([]int) []*Trial { return trials })
		if err != nil {
			t.Fatal(err)
		}
		chosen := 0
		for i := range all {
			if all[i].Chosen {
				chosen++
				if (i == 0) != c.single {
					t.Errorf("skills %v: chose %s", c.skills, all[i].Name)
				}
			}
			if all[i].Members > 8 || all[i].Members < 1 {
				t.Errorf("%s has %d members", all[i].Name, all[i].Members)
			}
		}
		if chosen != 1 {
			t.Errorf("%d are chosen", chosen)
		}
	}
}

// Claim: a family of a kind of scorer that is far behind is left alone; one that was refused is never tried again.
func TestIndexLeavesTheDominatedAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	p, trials := drawn(rng, 300, []float64{1, 0.95, 0.2, 0.1})
	s := searchOn(p, 5)
	kinds := []string{"trees", "trees", "linear", "linear"}
	for i, trial := range trials {
		trial.family.kind = kinds[i]
		trial.Models = make([]*model.Model, 1)
		s.families = append(s.families, trial.family)
	}
	refused := &Trial{family: &family{name: "refused", kind: "trees"}, Refused: "no"}
	fresh := &family{name: "fresh", kind: "linear"}
	s.families = append(s.families, refused.family, fresh)
	s.trials = slices.Concat(trials, []*Trial{refused})
	index := s.indices(nil)
	if !math.IsInf(index[refused.family], -1) {
		t.Errorf("a refused family has the index %v", index[refused.family])
	}
	if index[fresh] >= index[trials[1].family] {
		t.Errorf("the index of a linear family is %v, that of the second best trees %v", index[fresh], index[trials[1].family])
	}
}

// Claim: trials are ranked by their mean, best first. A trial without models has no rank. Fusions take the best trials,
// at most mostOfFamily of each family.
func TestTrialsAreRankedByMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	_, trials := drawn(rng, 20, []float64{0.3, 1, 0.1, 0.7, 0.9, 0.5, 2, 0.2})
	for _, trial := range trials[:7] {
		trial.Models = make([]*model.Model, 1)
		trial.family = trials[trial.Number/6].family
	}
	got := ranked(trials)
	if len(got) != 7 {
		t.Fatalf("%d trials have a rank, expected 7", len(got))
	}
	for i, trial := range got {
		better := 0
		for _, other := range trials[:7] {
			if other.Mean > trial.Mean {
				better++
			}
		}
		if better != i {
			t.Errorf("a trial with rank %d has %d better ones", i, better)
		}
	}
	chosen := fusible(got)
	for _, trial := range got {
		better := 0 // trials of the same family
		for _, other := range trials[:7] {
			if other.family == trial.family && other.Mean > trial.Mean {
				better++
			}
		}
		if in := slices.Contains(chosen, trial); in != (better < mostOfFamily) {
			t.Errorf("a trial with %d better ones of its family: chosen %v", better, in)
		}
	}
}
