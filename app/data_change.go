package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
)

type cleanFlags struct {
	dataInput
	dataOutput
	reading   string
	dropEmpty bool
	relevant  relevance
}

func newDataCleanCommand(env *environment) *cobra.Command {
	var f cleanFlags
	cmd := &cobra.Command{
		Use:   "clean FILE... --out FILE",
		Short: "Drop contradictory documents and queries without a relevant one",
		Long:  cleanHelp(),
		Example: `  listwise data clean train.txt --reading R2 --out clean.txt
  listwise data clean train.txt --reading R0 --drop-empty --out some-relevant.txt`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	f.dataInput.addTo(cmd)
	f.dataOutput.addTo(cmd)
	cmd.Flags().StringVar(&f.reading, "reading", "R2", "`rule` for contradictory documents: R0, R1, R2 or R3 (see above)")
	cmd.Flags().BoolVar(&f.dropEmpty, "drop-empty", false, "also drop queries without a relevant document")
	f.relevant.addTo(cmd)
	return cmd
}

func cleanHelp() string {
	var b strings.Builder
	b.WriteString(`Drops contradictory documents: documents of one query that look the same, although one
is relevant (good) and the other is not (bad). Dubey et al. (ICDM 2009) cleaned their
data in one of these ways, but do not say which:

`)
	for _, r := range dataset.ConflictPolicies() {
		fmt.Fprintf(&b, "  %s  %s\n", r, r.About())
	}
	b.WriteString("\nResults on cleaned data are not comparable to published results on LETOR. Data larger\nthan --max-memory are read query by query.")
	return b.String()
}

type cleanJSON struct {
	writtenJSON
	dataset.CleanReport
	EmptyQueries int `json:"empty_queries_removed"`
}

func (f *cleanFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	reading, err := dataset.ParseConflictPolicy(f.reading)
	if err != nil {
		return usageErrorf("--reading: %w", err)
	}
	if _, err := f.relevant.parse(); err != nil {
		return err
	}
	if err := f.check(cmd, slices.Concat(f.data, args)...); err != nil {
		return err
	}
	f.stream, f.rewrite = true, true
	d, err := f.readAndWarn(cmd, env, args)
	if err != nil {
		return err
	}
	if reading == dataset.DropBadByID && !d.HasDocIDs() {
		return usageErrorf("--reading R3 compares document ids, but the data have none")
	}
	threshold, err := f.relevant.of(env, d)
	if err != nil {
		return err
	}
	bar := env.startProgress("cleaning, queries", 0)
	d, cleaned := dataset.CleanObserved(d, reading, threshold, bar.set)
	bar.finish()
	var empty []string
	if f.dropEmpty {
		d, empty = dataset.DropEmptyQueries(d, threshold)
	}
	r, w := f.written(d)
	r.rows = append(r.rows,
		[]any{"contradictions", cleaned.Contradictions},
		[]any{"good documents dropped", cleaned.Good},
		[]any{"bad documents dropped", cleaned.Bad},
		[]any{"queries dropped with all their documents", cleaned.Queries},
	)
	if f.dropEmpty {
		r.rows = append(r.rows, []any{"queries dropped without a relevant document", len(empty)})
	}
	r.json = cleanJSON{w, cleaned, len(empty)}
	f.memory = max(1, f.left/2)
	return f.write(cmd.Context(), env, d, r)
}

// change reads data, changes them with do, and writes them.
func change(cmd *cobra.Command, env *environment, args []string, in *dataInput, out *dataOutput, do func(d *dataset.Dataset)) error {
	if err := out.check(cmd, slices.Concat(in.data, args)...); err != nil {
		return err
	}
	d, err := in.readAndWarn(cmd, env, args)
	if err != nil {
		return err
	}
	do(d)
	out.memory = max(1, in.left/2)
	r, _ := out.written(d)
	return out.write(cmd.Context(), env, d, r)
}

func newDataNormalizeCommand(env *environment) *cobra.Command {
	var in dataInput
	var out dataOutput
	var kind string
	cmd := &cobra.Command{
		Use:   "normalize FILE... --out FILE",
		Short: "Rescale features within each query",
		Long: `Rescales each feature over the documents of each query:

  minmax  (x - min) / (max - min), as in LETOR's QueryLevelNorm
  zscore  (x - mean) / standard deviation
  none    x

A feature that is constant within a query becomes 0. Models trained with --normalize
apply it themselves when they score. A cache larger than --max-memory is read query by
query.`,
		Example: `  listwise data normalize raw.txt --out train.txt
  listwise data normalize raw.txt --kind zscore --out train.lwd`,
		RunE: func(cmd *cobra.Command, args []string) error {
			normalization, err := dataset.ParseNormalization(kind)
			if err != nil {
				return usageErrorf("--kind: %w", err)
			}
			if normalization != dataset.NoNormalization && in.missing == dataset.MissingKeep.String() {
				return usageErrorf("--missing keep: expected error, zero or min: missing values cannot be rescaled by --kind %s", kind)
			}
			in.stream, in.rewrite = true, true
			return change(cmd, env, args, &in, &out, func(d *dataset.Dataset) {
				bar := env.startProgress("normalizing, queries", 0)
				defer bar.finish()
				dataset.NormalizeObserved(d, normalization, bar.set)
			})
		},
	}
	in.addTo(cmd)
	out.addTo(cmd)
	cmd.Flags().StringVar(&kind, "kind", "minmax", "`how` to rescale features: minmax, zscore or none")
	return cmd
}
