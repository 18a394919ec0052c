package papers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model/scorer"
)

// listDescents are the weights that gradient descent and L-BFGS reach with one
// loss.
type listDescents struct {
	at      [][][][]float64 // by rate, number of steps and start
	minimum [][]float64     // by start
	value   []float64       // of the minima
}

// lowest returns the lowest minimum, the first of equals.
func (d *listDescents) lowest() []float64 {
	best := 0
	for i, v := range d.value {
		if v < d.value[best] {
			best = i
		}
	}
	return d.minimum[best]
}

// reached returns the share of starts whose minimum is within a millionth of the lowest.
func (d *listDescents) reached() float64 {
	lowest, n := slices.Min(d.value), 0.0
	for _, v := range d.value {
		if v-lowest <= 1e-6*math.Abs(lowest) {
			n++
		}
	}
	return n / float64(len(d.value))
}

// descend runs every loss from every start.
func (s listSynthetic) descend(ctx context.Context, o Options, stage string, train *dataset.Dataset) ([]listDescents, error) {
	all := make([]listDescents, len(s.losses))
	for i := range all {
		all[i].minimum, all[i].value = make([][]float64, s.starts), make([]float64, s.starts)
		all[i].at = make([][][][]float64, len(s.rates))
		for r := range s.rates {
			all[i].at[r] = make([][][]float64, len(s.steps))
			for e := range s.steps {
				all[i].at[r][e] = make([][]float64, s.starts)
			}
		}
	}
	jobs := len(s.losses) * s.starts
	errs, ended := make([]error, jobs), o.counter(stage, jobs)
	parallel.For(jobs, o.Jobs, func(_, job int) {
		i, start := job/s.starts, job%s.starts
		errs[job] = s.descendFrom(ctx, train, s.losses[i].loss, &all[i], start, o.Seed)
		ended()
	})
	return all, cmp.Or(errs...)
}

// descendFrom runs one loss from one start.
func (s listSynthetic) descendFrom(ctx context.Context, train *dataset.Dataset, l loss.Loss, into *listDescents, start int, seed uint64) error {
	risk, err := objective.New(train, scorer.Linear{Features: train.Features}, l, objective.Options{Seed: seed, Workers: 1})
	if err != nil {
		return err
	}
	w := make([]float64, risk.Dim())
	gaussian(w, random.Stream(seed, "listmle start", strconv.Itoa(start)))
	for r, rate := range s.rates {
		d := optimize.Descent{
			Rate: rate, Decay: 1, Patience: -1, Workers: 1, MaxEpochs: slices.Max(s.steps),
			Observe: func(e optimize.Epoch) error {
				if k := slices.Index(s.steps, e.Number); k >= 0 {
					into.at[r][k][start] = slices.Clone(e.X)
				}
				return nil
			},
		}
		if _, err := d.Minimize(ctx, newMeanRisk(risk, len(train.Queries)), w); err != nil {
			return err
		}
	}
	// Without a penalty nothing certifies the minimum: it is sought closely.
	best, err := optimize.LBFGS{FunctionTolerance: 1e-13}.Minimize(ctx, risk, w)
	if err != nil {
		return err
	}
	into.minimum[start], into.value[start] = best.X, best.F
	return nil
}

func gaussian(w []float64, rng *rand.Rand) {
	for j := range w {
		w[j] = random.Normal(rng)
	}
}

// meanRisk is the mean loss of all queries as one term, so that a descent along its
// terms is plain gradient descent.
type meanRisk struct {
	risk  *objective.Risk
	share float64
	grad  []float64
}

func newMeanRisk(r *objective.Risk, queries int) meanRisk {
	return meanRisk{r, 1 / float64(queries), make([]float64, r.Dim())}
}

func (m meanRisk) Dim() int   { return m.risk.Dim() }
func (m meanRisk) Terms() int { return 1 }

func (m meanRisk) EvalTerm(_ int, x, grad []float64) float64 {
	value := m.risk.Eval(x, m.grad)
	for j, g := range m.grad {
		grad[j] += float64(m.share * g)
	}
	return m.share * value
}

// lessOne is a loss on grades that are one less.
type lessOne struct{ loss.Loss }

func (l lessOne) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	less := make([]float64, len(grades))
	for i, g := range grades {
		less[i] = g - 1
	}
	return l.Loss.Bind(less, rng)
}

// listJudge measures linear rankers on lists whose truth is a whole permutation.
type listJudge struct {
	data      *dataset.Dataset
	exact, ap measure.Averager
	ranker    measure.Ranker
	scores    []float64
}

// newListJudge takes the given number of best documents of a list as relevant.
func newListJudge(d *dataset.Dataset) (*listJudge, error) {
	n := d.Queries[0].Len()
	ap, err := measure.Parse("map", letor3.WithThreshold(float64(n-listRelevant+1)), measure.Options{})
	if err != nil {
		return nil, err
	}
	return &listJudge{data: d, exact: measure.MustParse("exact-match", letor3), ap: ap, scores: make([]float64, n)}, nil
}

// judge returns the share of lists that w ranks exactly right, and MAP.
func (j *listJudge) judge(w []float64) (accuracy, ap float64) {
	queries := j.data.Queries
	for i := range queries {
		q := &queries[i]
		scorer.Linear{Features: len(w)}.Score(j.scores, w, q.X, nil)
		ranked, _ := j.ranker.Rank(q.Grades, j.scores)
		v, _ := j.exact.Value(ranked)
		accuracy += v
		v, _ = j.ap.Value(ranked)
		ap += v
	}
	n := float64(len(queries))
	return accuracy / n, ap / n
}

// trivial returns what random orders and each feature alone have.
func (j *listJudge) trivial() []listTrivial {
	random := listTrivial{system: "random order"}
	for i := range j.data.Queries {
		grades := j.data.Queries[i].Grades
		v, _ := j.exact.Average(grades, []int{len(grades)})
		random.accuracy += v
		v, _ = j.ap.Average(grades, []int{len(grades)})
		random.ap += v
	}
	n := float64(len(j.data.Queries))
	random.accuracy, random.ap = random.accuracy/n, random.ap/n
	all := []listTrivial{random}
	for feature := range j.data.Features {
		w := make([]float64, j.data.Features)
		w[feature] = 1
		accuracy, ap := j.judge(w)
		all = append(all, listTrivial{fmt.Sprintf("feature %d alone", feature+1), accuracy, ap})
	}
	return all
}

// judgeAll judges several weights.
func (j *listJudge) judgeAll(all [][]float64) (accuracy, ap []float64) {
	accuracy, ap = make([]float64, len(all)), make([]float64, len(all))
	for i, w := range all {
		accuracy[i], ap[i] = j.judge(w)
	}
	return accuracy, ap
}
