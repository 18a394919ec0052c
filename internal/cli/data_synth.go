package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset/synth"
)

type synthFlags struct {
	dataOutput
	shape   string
	options synth.Options
}

func newDataSynthCommand(env *environment) *cobra.Command {
	var f synthFlags
	cmd := &cobra.Command{
		Use:   "synth --shape SHAPE --out FILE",
		Short: "Generate data of the shape of a well-known collection",
		Long:  synthHelp(),
		Example: `  listwise data synth --shape ohsumed --seed 1 --out train.txt
  listwise data synth --shape gov10 --queries 200 --seed 2 --out big.lwd`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, env) },
	}
	f.addTo(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.shape, "shape", "ohsumed", "collection to imitate: "+strings.Join(shapeNames(), ", "))
	fl.IntVar(&f.options.Queries, "queries", 0, "number of queries (default: the shape's)")
	fl.IntVar(&f.options.Docs, "docs", 0, "documents a query, on average (default: the shape's)")
	fl.IntVar(&f.options.Features, "features", 0, "number of features (default: the shape's)")
	fl.IntVar(&f.options.Relevant, "relevant", 0, "relevant documents a query, on average (default: the shape's)")
	fl.Float64Var(&f.options.Noise, "noise", 0, "how much of relevance shows in no feature, in units of what does (default: the shape's)")
	fl.Uint64Var(&f.options.Seed, "seed", 1, "seed of everything random")
	return cmd
}

func shapeNames() []string {
	var names []string
	for _, s := range synth.Shapes() {
		names = append(names, s.Name)
	}
	return names
}

func synthHelp() string {
	var b strings.Builder
	b.WriteString(`Generates judged queries at random. All data of a shape pose the same task, so a
model trained on one seed's can be tested on another's. The shapes, with the
numbers of queries, documents a query and features that they have by default:

`)
	for _, s := range synth.Shapes() {
		o := s.Defaults
		fmt.Fprintf(&b, "  %-8s %3d × %4d × %d  %s\n", s.Name, o.Queries, o.Docs, o.Features, s.About)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (f *synthFlags) run(cmd *cobra.Command, env *environment) error {
	shape, err := synth.Lookup(f.shape)
	if err != nil {
		return badCall("--shape: %w", err)
	}
	if err := f.check(cmd); err != nil {
		return err
	}
	d, err := shape.Generate(f.chosen(cmd, shape.Defaults))
	if err != nil {
		return badCall("%w", err)
	}
	r, _ := f.written(d)
	return f.write(cmd.Context(), env, d, r)
}

// chosen returns the shape's options with those that were given put in place.
func (f *synthFlags) chosen(cmd *cobra.Command, o synth.Options) synth.Options {
	given := cmd.Flags().Changed
	if given("queries") {
		o.Queries = f.options.Queries
	}
	if given("docs") {
		o.Docs = f.options.Docs
	}
	if given("features") {
		o.Features = f.options.Features
	}
	if given("relevant") {
		o.Relevant = f.options.Relevant
	}
	if given("noise") {
		o.Noise = f.options.Noise
	}
	o.Seed = f.options.Seed
	return o
}
