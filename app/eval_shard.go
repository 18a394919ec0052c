package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset/shards"
	"github.com/listwise/listwise/eval/measure"
)

// sharding are the flags of eval for a data set that several machines measure: each the queries of
// a shard, and one puts the parts together.
type sharding struct {
	oneShard
	part, parts string
}

func (s *sharding) addTo(cmd *cobra.Command) {
	s.oneShard.addTo(cmd, "`number` of the shard to evaluate, from 0 (with --part)")
	cmd.Flags().StringVar(&s.part, "part", "", "output `file` for one shard's values (.json)")
	cmd.Flags().StringVar(&s.parts, "parts", "", "`folder` with the parts of all shards, to merge")
}

// checkSharding returns an error for flags that do not go together.
func (s *sharding) checkSharding(f *evalFlags) error {
	switch {
	case s.isOne() != (s.part != ""):
		return usageErrorf("--shard and --part go together: found one of them, expected both or neither")
	case s.isOne() && s.parts != "":
		return usageErrorf("--shard evaluates a part and --parts merges parts: found both, expected one of them")
	case (s.isOne() || s.parts != "") && (f.scores != "" || len(f.by) > 0):
		return usageErrorf("--scores and --by need all data at once: found them with --shard or --parts, expected a model and no slices")
	case s.isOne() && f.perQuery != "":
		return usageErrorf("--per-query is for all queries: found it with --shard, expected it with --parts")
	}
	return nil
}

// settledFor returns the convention and the measures with the threshold for all data of a
// manifest.
func settledFor(m *shards.Manifest, c measure.Convention, measures []measure.Measure) (measure.Convention, []measure.Measure) {
	sample := m.Grades.Sample()
	all := make([]measure.Measure, len(measures))
	for i, one := range measures {
		all[i] = measure.Under(one, measure.ConventionOf(one).ForGrades(sample))
	}
	return c.ForGrades(sample), all
}

// runShard measures one shard, or puts the parts of all together.
func (f *evalFlags) runShard(ctx context.Context, env *environment) error {
	convention, err := f.parseConvention()
	if err != nil {
		return err
	}
	measures, ties, err := f.parseMeasures(convention)
	if err != nil {
		return err
	}
	m, err := manifest(f.data)
	if err != nil {
		return err
	}
	convention, measures = settledFor(m, convention, measures)
	if f.parts == "" {
		return f.measureShard(ctx, env, m, measures, ties)
	}
	result, err := readParts(f.parts, m, f.model, measures, ties)
	if err != nil {
		return err
	}
	if f.perQuery != "" {
		if err := writePerQuery(f.perQuery, convention, result); err != nil {
			return err
		}
	}
	warnOfTies(env, result)
	return env.print(evalReport(convention, result, nil))
}

// measureShard writes the values of a shard's queries.
func (f *evalFlags) measureShard(ctx context.Context, env *environment, m *shards.Manifest, measures []measure.Measure, ties measure.TiePolicy) error {
	data := f.data
	var err error
	if f.data, err = f.fileOf(data); err != nil {
		return err
	}
	read, err := f.read(ctx, env)
	if err != nil {
		return err
	}
	if err := m.Admit(f.shard, read[0].Test); err != nil {
		return err
	}
	result, err := read[0].Evaluate(0, measures, ties)
	if err != nil {
		return usageErrorf("%s: %w", f.data, err)
	}
	return writePart(f.part, m, f.shard, f.model, result)
}
