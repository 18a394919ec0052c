package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/optimize"
	"github.com/listwise/listwise/model/scorer"
)

// listMLESource names the source of the experiments listmle-….
const listMLESource = "Xia, Liu, Wang, Zhang, Li: Listwise Approach to Learning to Rank: Theory and Algorithm, ICML 2008 (the talk's slides)"

func listSyntheticExperiment() Experiment {
	return Experiment{
		Name:      "listmle-synthetic",
		Paper:     "ListMLE",
		Title:     "ListMLE on synthetic data: lists ranked exactly right, by loss and mapping",
		Shows:     "that the likelihood loss, which has no mapping to choose, ranks nearly as well as the noise allows, and that cross entropy and cosine depend on theirs",
		Data:      "made, 100 lists to train with",
		Scales:    "the numbers of starts and of further data sets (five at least)",
		Untrained: "losses are compared by their minima; random order and single features are in the tables",
		Run:       xiaSynthetic.run,
	}
}

// listSynthetic describes the experiment.
type listSynthetic struct {
	losses []listLoss
	docs   int // documents in a list
	lists  int // lists in each of training, validation and test data
	fresh  int // further lists, for an accurate estimate of the accuracy
	starts int // number of random initial weights
	rates  []float64
	steps  []int // numbers of gradient steps to try, ascending

	sets       int // number of further data sets of the same recipe
	setsStarts int // number of starts on each of these
}

// The recipe. The slides state only the mappings and the 50 initial weights. Other values are from
// the paper if known. The step size and the number of steps are unknown, so several are tried.
var xiaSynthetic = listSynthetic{
	losses: listLosses(), docs: 15, lists: 100, fresh: 5000, starts: 50,
	rates: []float64{0.1, 1, 10}, steps: []int{10, 30, 100, 300, 1000},
	sets: 79, setsStarts: 3,
}

// leastSets is the number of further data sets at the smallest scale. Fewer sets would not show how
// much a number depends on the random lists.
const leastSets = 5

// listWidest is the largest width of an interval in which a published accuracy counts as
// reproduced. It equals the distance between the slides' rows of ListNet.
const listWidest = 0.15

const (
	listNoise    = 0.005 // standard deviation
	listRelevant = 10    // number of documents in a list that count as relevant in MAP
)

// listLoss is a row of the table.
type listLoss struct {
	name string // name on the slides
	loss loss.Loss
}

// listLosses returns the rows of the slides' table, in its order. The r-th document of a list, from
// 0, has grade 15 − r. The mappings apply to grades. On the slides, the mapping log is the
// logarithm of the grade. In the library it is log(1 + grade).
func listLosses() []listLoss {
	var all []listLoss
	for _, s := range slidesLosses(func(m loss.Mapping) loss.Loss { return loss.ListNet{Mapping: m} }) {
		all = append(all, listLoss{s.name, s.loss})
	}
	return all
}

// listData contains the lists of one data set.
type listData struct {
	train, valid, test, fresh *dataset.Dataset
}

// generate draws a data set. Its parts are disjoint.
func (s listSynthetic) generate(seed uint64) (*listData, error) {
	d, err := synth.Square{Queries: 3*s.lists + s.fresh, Docs: s.docs, Noise: listNoise, Seed: seed}.Generate()
	if err != nil {
		return nil, err
	}
	next := 0
	take := func(n int) *dataset.Dataset {
		which := make([]int, n)
		for i := range which {
			which[i] = next + i
		}
		next += n
		return d.Subset(which)
	}
	return &listData{train: take(s.lists), valid: take(s.lists), test: take(s.lists), fresh: take(s.fresh)}, nil
}

// listOutcome is the result of one loss on one data set.
type listOutcome struct {
	rate  float64 // the rate and the number of steps with the best mean validation accuracy over all starts
	steps int

	accuracy []float64 // accuracy on test data with this rate and number of steps, for each start
	ap       []float64
	training float64 // mean accuracy on the training lists
	fresh    float64 // mean accuracy on the fresh lists

	own     []float64   // accuracy on test data if every start chooses its own rate and number of steps
	minimum float64     // accuracy on test data of the lowest minimum found
	slope   float64     // w2/w1 at this minimum; the true value is 10
	reached float64     // share of starts from which L-BFGS comes near this minimum
	budgets [][]float64 // mean accuracy on test data, by rate and number of steps
}

// listSet contains the results on one data set.
type listSet struct {
	rows                  []listOutcome
	bayes, bayesAP, fresh float64 // results of the true weights on test data and fresh lists
	trivial               []listTrivial
}

// listTrivial is the result on the test lists of a system that does not learn.
type listTrivial struct {
	system       string
	accuracy, ap float64
}

func (s listSynthetic) run(ctx context.Context, o Options) (*Report, error) {
	s.starts, s.sets = o.scaled(s.starts), max(min(s.sets, leastSets), o.scaled(s.sets))
	first, err := s.onData(ctx, o, "the data set")
	if err != nil {
		return nil, err
	}
	less := s
	less.starts, less.fresh = s.setsStarts, s.lists // fresh lists are reported for the first data set only
	var again []*listSet
	for k := range s.sets {
		other := o
		other.Seed += uint64(k) + 1
		set, err := less.onData(ctx, other, fmt.Sprintf("data set %d of %d more", k+1, s.sets))
		if err != nil {
			return nil, err
		}
		again = append(again, set)
	}
	return s.report(o, first, again), nil
}

// onData runs the experiment on one data set.
func (s listSynthetic) onData(ctx context.Context, o Options, stage string) (*listSet, error) {
	d, err := s.generate(o.Seed)
	if err != nil {
		return nil, err
	}
	descents, err := s.descend(ctx, o, stage, d.train)
	if err != nil {
		return nil, err
	}
	var judges [4]*listJudge
	for i, part := range []*dataset.Dataset{d.train, d.valid, d.test, d.fresh} {
		if judges[i], err = newListJudge(part); err != nil {
			return nil, err
		}
	}
	train, valid, test, fresh := judges[0], judges[1], judges[2], judges[3]
	set := &listSet{trivial: test.trivial()}
	set.bayes, set.bayesAP = test.judge(synth.SquareWeights[:])
	set.fresh, _ = fresh.judge(synth.SquareWeights[:])
	for i := range descents {
		set.rows = append(set.rows, s.outcome(&descents[i], train, valid, test, fresh))
	}
	return set, nil
}

// outcome chooses the rate and the number of steps on validation data, and evaluates the weights.
func (s listSynthetic) outcome(d *listDescents, train, valid, test, fresh *listJudge) listOutcome {
	out := listOutcome{own: make([]float64, s.starts), budgets: make([][]float64, len(s.rates))}
	best, ownBest := math.Inf(-1), slices.Repeat([]float64{math.Inf(-1)}, s.starts)
	var chosen [][]float64
	for r, rate := range s.rates {
		for k, steps := range s.steps {
			validated, _ := valid.judgeAll(d.at[r][k])
			accuracy, ap := test.judgeAll(d.at[r][k])
			out.budgets[r] = append(out.budgets[r], mean(accuracy))
			for i, v := range validated {
				if v > ownBest[i] {
					ownBest[i], out.own[i] = v, accuracy[i]
				}
			}
			if v := mean(validated); v > best {
				best, chosen = v, d.at[r][k]
				out.rate, out.steps, out.accuracy, out.ap = rate, steps, accuracy, ap
			}
		}
	}
	accuracy, _ := fresh.judgeAll(chosen)
	out.fresh = mean(accuracy)
	accuracy, _ = train.judgeAll(chosen)
	out.training = mean(accuracy)
	lowest := d.lowest()
	out.minimum, _ = test.judge(lowest)
	out.slope = lowest[1] / lowest[0]
	out.reached = d.reached()
	return out
}

// listDescents contains the weights that gradient descent and L-BFGS reach with one loss.
type listDescents struct {
	at      [][][][]float64 // by rate, number of steps and start
	minimum [][]float64     // by start
	value   []float64       // objectives at the minima, by start
}

// lowest returns the weights with the lowest objective. The first of several is returned.
func (d *listDescents) lowest() []float64 {
	return d.minimum[slices.Index(d.value, slices.Min(d.value))]
}

// reached returns the share of starts whose minimum exceeds the lowest by at most a millionth of
// its size.
func (d *listDescents) reached() float64 {
	lowest, n := slices.Min(d.value), 0.0
	for _, v := range d.value {
		if v-lowest <= 1e-6*math.Abs(lowest) {
			n++
		}
	}
	return n / float64(len(d.value))
}

// descend minimizes every loss from every start.
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
	err := o.sideBySide(ctx, stage, len(s.losses)*s.starts, func(_, job int) error {
		i, start := job/s.starts, job%s.starts
		return s.descendFrom(ctx, train, s.losses[i].loss, &all[i], start, o.Seed)
	})
	return all, err
}

// descendFrom minimizes one loss from one start.
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
	// Without a penalty there is no certificate of the minimum, so the tolerance is small.
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

// meanRisk is the mean loss of all queries as a single term. Descent by terms is then plain
// gradient descent.
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

// lessOne is a loss that subtracts one from each grade.
type lessOne struct{ loss.Loss }

func (l lessOne) Bind(grades []float64, rng *rand.Rand) (loss.QueryLoss, error) {
	less := make([]float64, len(grades))
	for i, g := range grades {
		less[i] = g - 1
	}
	return l.Loss.Bind(less, rng)
}

// listJudge evaluates linear rankers on lists whose truth is a whole permutation.
type listJudge struct {
	data      *dataset.Dataset
	exact, ap measure.Averager
	ranker    measure.Ranker
	scores    []float64
}

// newListJudge returns a judge for d. The listRelevant best documents of a list count as relevant
// in MAP.
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

// trivial returns the results of random orders and of each single feature.
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

// judgeAll returns the accuracy and MAP of each weight vector.
func (j *listJudge) judgeAll(all [][]float64) (accuracy, ap []float64) {
	accuracy, ap = make([]float64, len(all)), make([]float64, len(all))
	for i, w := range all {
		accuracy[i], ap[i] = j.judge(w)
	}
	return accuracy, ap
}
