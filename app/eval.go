package app

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/eval/slicing"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/tune"
	"github.com/listwise/listwise/tune/ensemble"
	"github.com/listwise/listwise/tune/runs"
)

type evalFlags struct {
	evaluating
	recording
	sharding
	model    string
	scores   string
	perQuery string
}

func newEvalCommand(env *environment) *cobra.Command { return new(evalFlags).command(env) }

// command returns the command, whose flags it adds to f.
func (f *evalFlags) command(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "eval --data FILE (--model M | --scores FILE)",
		Short: "Evaluate a model or a file of scores on judged queries",
		Long:  evalHelp(),
		Example: `  listwise eval --data Fold1/test.txt --model m.json
  listwise eval --data test.txt --scores test.scores --measures map,p@10,err@20 --per-query q.csv
  listwise eval --data test.txt --model m.json --convention standard-skip --ties average --format json
  listwise eval --data test-shards --model m.json --shard 3 --part parts/3.json
  listwise eval --data test-shards --model m.json --parts parts
  listwise eval --data judged.qrels --scores bm25.run --measures map,ndcg_cut_10,P_5,recip_rank`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.checkFlags(cmd); err != nil {
				return err
			}
			return f.run(cmd.Context(), env)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.model, "model", "", "model `file`")
	fl.StringVar(&f.scores, "scores", "", "`file` of scores, one per line, or a TREC run")
	fl.StringVar(&f.perQuery, "per-query", "", "`file` for per-query values: CSV, or JSON (.json)")
	f.addData(cmd)
	f.evaluating.addTo(cmd, usualMeasures, "`measures` to compute, separated by commas")
	fl.Lookup("data").Usage = "judged data or TREC judgements, a `file`; - is standard input"
	f.reranking.addTo(cmd)
	f.sharding.addTo(cmd)
	f.recording.addTo(cmd)
	return cmd
}

// evalHelp returns the command's long description. It lists the registries of measures and
// conventions.
func evalHelp() string {
	var b strings.Builder
	b.WriteString(`Ranks the documents of each query by score and prints the mean of each measure over
the queries, weighted if the data have query weights. Document weights are ignored.

Implementations of the measures differ in details. A convention fixes these details.
It is printed with the results.

Each mean is followed by its tie-neutral value: the expectation if documents with
equal scores are ranked in random order. A warning appears if more than 1 % of a
query's pairs of documents with different grades have equal scores.

The data may be judgements (TREC's qrels, or a list of Quepid or of the Rated Ranking
Evaluator), and the scores a TREC run, joined by query and document. Unjudged documents
count as irrelevant, and judged documents that the run lacks as not retrieved. A query
without documents counts 0. The default convention is then trec, with the ties of
trec_eval. --conflicts says what happens to a document with several grades.

--by also prints means over slices of the queries, by keys separated by commas:
  length         number of documents
  relevant       number of relevant documents
  COLUMN         column of a table, or feature, that is constant within queries
  NAME=FILE.tsv  file with lines of query id, tab, value

` + rerankHelp + `

A folder written by "listwise data shard" is one data set. Several machines can
evaluate it: --shard and --part evaluate one shard each, and --parts merges the
values. The result is the same to the last digit. These evaluations are not recorded
as runs.

Measures (K is a rank cutoff; parts in [ ] are optional):
`)
	for _, m := range measure.List() {
		fmt.Fprintf(&b, "  %-11s %s (%s)\n", m.Pattern, m.Explanation, m.Source)
	}
	b.WriteString("\nNames of trec_eval, ir_measures and ranx are accepted, in upper or lower case:\n ")
	for i, a := range measure.Aliases() {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %s (%s)", a.Pattern, a.Means)
	}
	b.WriteString(".\nResults show the first name. They follow the convention; trec is that of trec_eval.\n")
	b.WriteString("\nConventions:\n")
	for _, c := range measure.Conventions() {
		fmt.Fprintf(&b, "  %-14s %s\n", c.Name(), c.Explanation())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (f *evalFlags) checkFlags(cmd *cobra.Command) error {
	if err := required(cmd, "data"); err != nil {
		return err
	}
	if (f.model == "") == (f.scores == "") {
		return usageErrorf("%s needs either --model or --scores", cmd.CommandPath())
	}
	if f.model != "" && f.lowerIsBetter != nil {
		return usageErrorf("--lower-is-better is for files of scores (--scores): models rank by descending score")
	}
	if f.data == "-" && f.scores == "-" {
		return usageErrorf("--data and --scores cannot both be standard input")
	}
	if err := f.parseDepths(); err != nil {
		return err
	}
	if err := f.checkSharding(f); err != nil {
		return err
	}
	return f.targets().check()
}

func (f *evalFlags) run(ctx context.Context, env *environment) error {
	if f.isOne() || f.parts != "" {
		return f.runShard(ctx, env)
	}
	read, convention, measures, ties, err := f.open(ctx, env)
	if err != nil {
		return err
	}
	test, system := read[0].Test, read[0].Systems[0]
	rec := f.begin(env, func() *runs.Run { return f.recorded(test, system.Model, convention, measures) })
	var out report
	err = env.during("measuring "+f.data, func() error {
		result, err := read[0].Evaluate(0, measures, ties)
		if err != nil {
			return usageErrorf("%s: %w", inputName(f.data), err)
		}
		if f.perQuery != "" {
			if err := writePerQuery(f.perQuery, convention, result); err != nil {
				return err
			}
		}
		rec.wrote(f.perQuery)
		rec.result(evalResult(&system, result))
		warnOfTies(env, result)
		sliced, err := f.of([]*dataset.Dataset{test}, convention, []string{system.Name}, [][]*measure.Result{{result}})
		if err != nil {
			return err
		}
		depths, err := f.ofSystem(read, result, measures, ties)
		if err != nil {
			return err
		}
		out = evalReport(convention, result, sliced, depths)
		return nil
	})
	return rec.conclude(out, err)
}

// open reads the data and the scores. It returns the convention, the measures and the order of equal
// scores for these data.
func (f *evalFlags) open(ctx context.Context, env *environment) (read []ensemble.Division, c measure.Convention, list []measure.Measure, ties measure.TiePolicy, err error) {
	if c, list, ties, err = f.parse(); err != nil {
		return nil, c, nil, 0, err
	}
	if read, err = f.read(ctx, env); err != nil {
		return nil, c, nil, 0, err
	}
	c, list, err = f.settle(env, c, list, []string{f.model}, read)
	return read, c, list, f.tiesOf(ties, read), err
}

func (f *evalFlags) read(ctx context.Context, env *environment) ([]ensemble.Division, error) {
	opts, err := f.options()
	if err != nil {
		return nil, err
	}
	system := ensemble.System{Name: f.model}
	if f.model != "" {
		if system.Model, err = env.loadModel("model", f.model); err != nil {
			return nil, err
		}
		if err := f.forModels(&opts, system.Model); err != nil {
			return nil, err
		}
	}
	f.widen(&opts)
	opts.Stream, opts.GradesOnly = true, f.model == "" && f.by == "" && f.first == ""
	test, err := env.openAndWarn(ctx, "data", f.data, opts)
	if err != nil {
		return nil, err
	}
	if test, err = f.withRoom(ctx, env, f.data, test, opts); err != nil {
		return nil, err
	}
	if test, err = f.arranged(test, opts.FeatureNames); err != nil {
		return nil, usageErrorf("%s: %w", inputName(f.data), err)
	}
	d := &ensemble.Division{Test: test}
	err = env.during("scoring "+f.data, func() (err error) {
		if f.model != "" {
			system.Test, err = scoreWith(system.Model, f.model, f.data, test)
			d.Systems = append(d.Systems, system)
			return err
		}
		d, err = ensemble.ReadScores(f.scores, test, f.systemOptions(ctx))
		if err = inputFault("scores", f.scores, scores, hintAtMemory(err)); err != nil && !has[*usageError](err) {
			err = usageErrorf("%w", err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	read := []ensemble.Division{*d}
	env.joinWarnings(read)
	return read, nil
}

// warnOfTies warns if the order of tied documents matters, and prints the tie-neutral values.
func warnOfTies(env *environment, r *measure.Result) {
	t := r.TieStats()
	if t.Over == 0 || r.Ties() == measure.TiesAverage {
		return
	}
	env.note("warning: in %d of %d queries more than %g %% of the pairs with different grades have equal scores (%.1f %% of all pairs); %s",
		t.Over, t.Queries, 100*measure.NotableTies, 100*t.Share(), tieNeutral(tune.Summarise(r)))
}

// tiedSystem returns the warning that ties may change the values of a system.
func tiedSystem(name string, queries int, means []tune.Summary) string {
	return fmt.Sprintf("warning: %s ties more than %g %% of the pairs with different grades of %d queries; %s", name, 100*measure.NotableTies, queries, tieNeutral(means))
}

func tieNeutral(means []tune.Summary) string {
	values := mapped(means, func(s tune.Summary) string { return fmt.Sprintf("%s %.4f", s.Measure.Name(), s.TieNeutral) })
	return "tie-neutral: " + strings.Join(values, ", ")
}

// evalJSON is the JSON form of a result of eval. Scripts rely on its names. A mean over no queries
// is null.
type evalJSON struct {
	Convention string         `json:"convention"`
	Threshold  float64        `json:"threshold"`
	Ties       string         `json:"ties"`
	Queries    int            `json:"queries"`
	Weighted   bool           `json:"weighted,omitempty"`
	Counted    map[string]int `json:"queries_counted"`
	Measures   map[string]any `json:"measures"`
	TieNeutral map[string]any `json:"tie_neutral"`
	TiedPairs  tiedJSON       `json:"tied_pairs"`
	Slices     []slicedJSON   `json:"slices,omitempty"`
	Rerank     []rerankedJSON `json:"rerank,omitempty"`
}

type tiedJSON struct {
	Pairs   int64   `json:"differently_graded"`
	Tied    int64   `json:"tied"`
	Share   float64 `json:"share"`
	Queries int     `json:"queries_over_1_percent"`
}

func evalReport(c measure.Convention, r *measure.Result, sliced *slicedMeans, depths []*reranked) report {
	ties := r.TieStats()
	j := evalJSON{
		Convention: c.Name(), Threshold: c.Threshold(), Ties: r.Ties().String(), Queries: len(r.Queries()), Weighted: r.Weights() != nil,
		Counted: make(map[string]int), Measures: make(map[string]any), TieNeutral: make(map[string]any),
		TiedPairs: tiedJSON{ties.Pairs, ties.Tied, ties.Share(), ties.Over}, Slices: sliced.json(0),
		Rerank: mapped(depths, (*reranked).json),
	}
	out := report{
		title:   fmt.Sprintf("convention %s, ties %s, queries: %d%s\n", conventionText(c), j.Ties, j.Queries, weightsText(r)),
		columns: []string{"measure", "mean", "tie-neutral", "queries"},
		slices:  sliced,
		depths:  depths,
		sliceIn: func(_, name string, m slicing.Mean) []any { return []any{name, number(m.Mean), nil, m.Counted} },
	}
	for _, m := range r.Measures() {
		name, mean, neutral, counted := m.Name(), number(r.Mean(m)), number(r.TieNeutral(m)), r.Counted(m)
		j.Measures[name], j.TieNeutral[name], j.Counted[name] = mean, neutral, counted
		out.rows = append(out.rows, []any{name, mean, neutral, counted})
	}
	out.json = j
	return out
}

func weightsText(r *measure.Result) string {
	if r.Weights() == nil {
		return ""
	}
	return ", weighted"
}

// number returns v as a cell or a JSON value. It returns nil for NaN and infinities, which JSON
// cannot represent.
func number[F ~float64](v F) any {
	if x := float64(v); !math.IsNaN(x) && !math.IsInf(x, 0) {
		return x
	}
	return nil
}

// queryJSON contains one query's values in a --per-query file. A value is null if the convention
// leaves the query out.
type queryJSON struct {
	Query    string         `json:"query"`
	Weight   *float64       `json:"weight,omitempty"`
	Measures map[string]any `json:"measures"`
	Tied     float64        `json:"tied_share"`
}

func writePerQuery(path string, c measure.Convention, r *measure.Result) error {
	write := r.WriteCSV
	if strings.EqualFold(filepath.Ext(path), ".json") {
		write = atomicfile.JSON(map[string]any{"convention": c.Name(), "threshold": c.Threshold(), "ties": r.Ties().String(), "queries": perQuery(r)})
	}
	if err := atomicfile.Write(path, write); err != nil {
		return fmt.Errorf("--per-query: %w", err)
	}
	return nil
}

func perQuery(r *measure.Result) []queryJSON {
	all := make([]queryJSON, len(r.Queries()))
	for i, id := range r.Queries() {
		all[i] = queryJSON{Query: id, Measures: make(map[string]any), Tied: r.TiedShare(i)}
		if w := r.Weights(); w != nil {
			all[i].Weight = &w[i]
		}
		for _, m := range r.Measures() {
			all[i].Measures[m.Name()] = number(r.PerQuery(m)[i])
		}
	}
	return all
}
