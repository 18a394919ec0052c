package app

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/internal/suggest"
)

type synthFlags struct {
	dataOutput
	memoryLimit
	shape      string
	options    synth.Options
	grades     string
	polynomial uint64
}

// cubicShape is the name of synth.Cubic on the command line. This shape has flags of its own.
const cubicShape = "cubic"

var (
	cubicFlags = []string{"grades", "polynomial"}
	shapeFlags = []string{"relevant", "noise"} // flags of all shapes except cubicShape
)

func newDataSynthCommand(env *environment) *cobra.Command {
	var f synthFlags
	cmd := &cobra.Command{
		Use:   "synth --shape SHAPE --out FILE",
		Short: "Generate synthetic data like a well-known collection",
		Long:  synthHelp(),
		Example: `  listwise data synth --shape ohsumed --seed 1 --out train.txt
  listwise data synth --shape gov10 --queries 200 --seed 2 --out big.lwd
  listwise data synth --shape cubic --queries 1000 --grades .5,.3,.2 --out cubic.lwd`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, env) },
	}
	f.dataOutput.addTo(cmd)
	f.memoryLimit.addTo(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.shape, "shape", "ohsumed", "`collection` to imitate: "+strings.Join(shapeNames(), ", "))
	addWhole(fl, &f.options.Queries, "queries", 0, 1, "`number` of queries (default: the shape's)")
	addWhole(fl, &f.options.Docs, "docs", 0, 2, "mean `number` of documents per query (default: the shape's)")
	addWhole(fl, &f.options.Features, "features", 0, 1, "`number` of features (default: the shape's)")
	addWhole(fl, &f.options.Relevant, "relevant", 0, 1, "mean `number` of relevant documents per query (default: the shape's)")
	addReal(fl, &f.options.Noise, "noise", 0, 1e6, "`noise` in relevance, relative to the signal (default: the shape's)")
	fl.StringVar(&f.grades, "grades", "6", "cubic: number of grades, or their `shares`, such as .5,.3,.2")
	fl.Uint64Var(&f.polynomial, "polynomial", 1, "cubic: `seed` of the polynomial that defines the task")
	fl.Uint64Var(&f.options.Seed, "seed", 1, "random `seed` of the queries")
	return cmd
}

func shapeNames() []string {
	return append(mapped(synth.Shapes(), func(s synth.Shape) string { return s.Name }), cubicShape)
}

// cubicDefaults returns the artificial data of the RankNet paper with fewer queries.
func cubicDefaults() synth.Cubic {
	return synth.Cubic{Queries: 100, Docs: 50, Features: 50}
}

func synthHelp() string {
	var b strings.Builder
	b.WriteString(`Generates random judged queries. All data of a shape pose the same task, so a model
trained on data of one seed can be tested on data of another. Shapes, with their
default numbers of queries, documents per query, and features:

`)
	for _, s := range synth.Shapes() {
		o := s.Defaults
		fmt.Fprintf(&b, "  %-8s %3d × %4d × %d  %s\n", s.Name, o.Queries, o.Docs, o.Features, s.About)
	}
	c := cubicDefaults()
	fmt.Fprintf(&b, "  %-8s %3d × %4d × %d  %s\n", cubicShape, c.Queries, c.Docs, c.Features,
		"points graded by a random cubic polynomial (papers on RankNet and LambdaRank)")
	return strings.TrimSuffix(b.String(), "\n")
}

func (f *synthFlags) run(cmd *cobra.Command, env *environment) error {
	if !slices.Contains(shapeNames(), f.shape) {
		return usageErrorf("--shape: found %q%s", f.shape, suggest.Or(f.shape, shapeNames(), ", expected one of "+strings.Join(shapeNames(), ", ")))
	}
	if err := f.check(cmd); err != nil {
		return err
	}
	made, err := f.made(cmd)
	if err != nil {
		return usageErrorf("%w", err)
	}
	opts := f.memoryLimit.options()
	opts.Context = cmd.Context()
	return f.convert(env, datafile.Conversion{Made: synthSource{made}, Options: opts}, datafile.Convert, writtenJSON.report)
}

func (f *synthFlags) made(cmd *cobra.Command) (*synth.Queries, error) {
	foreign := cubicFlags
	if f.shape == cubicShape {
		foreign = shapeFlags
	}
	for _, name := range foreign {
		if cmd.Flags().Changed(name) {
			return nil, fmt.Errorf("--%s: found it with --shape %s, which does not use it", name, f.shape)
		}
	}
	if f.shape == cubicShape {
		return f.madeCubic(cmd)
	}
	shape, err := synth.Lookup(f.shape)
	if err != nil {
		return nil, err
	}
	o := f.chosen(cmd, shape.Defaults)
	if err := f.fits(o); err != nil {
		return nil, err
	}
	return shape.Made(o)
}

func (f *synthFlags) madeCubic(cmd *cobra.Command) (*synth.Queries, error) {
	shares, err := parseShares(f.grades)
	if err != nil {
		return nil, fmt.Errorf("--grades: %w", err)
	}
	c := cubicDefaults()
	o := f.chosen(cmd, synth.Options{Queries: c.Queries, Docs: c.Docs, Features: c.Features})
	if err := f.fits(o); err != nil {
		return nil, err
	}
	c.Queries, c.Docs, c.Features = o.Queries, o.Docs, o.Features
	c.Shares, c.Polynomial, c.Seed = shares, f.polynomial, o.Seed
	return c.Made()
}

// fits returns an error if the queries do not fit into memory, which contains all ids and the
// documents of one query.
func (f *synthFlags) fits(o synth.Options) error {
	return hintAtMemory(memory.CheckMade(f.memoryLimit.options(), o.Queries, o.Docs, o.Features))
}

const maxGrades = 1000

// parseShares returns the shares of grades. text is a number of equally frequent grades, or a list
// of shares.
func parseShares(text string) ([]float64, error) {
	if !strings.Contains(text, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 2 || n > maxGrades {
			return nil, fmt.Errorf("found %q, expected a number from 2 to %d or shares as .5,.3,.2", text, maxGrades)
		}
		return synth.EqualShares(n), nil
	}
	var shares []float64
	for word := range strings.SplitSeq(text, ",") {
		p, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, fmt.Errorf("found the share %q, expected a number", word)
		}
		shares = append(shares, p)
	}
	return shares, nil
}

// chosen returns o with the options that flags set.
func (f *synthFlags) chosen(cmd *cobra.Command, o synth.Options) synth.Options {
	given := f.options
	o.Queries, o.Docs, o.Features = cmp.Or(given.Queries, o.Queries), cmp.Or(given.Docs, o.Docs), cmp.Or(given.Features, o.Features)
	o.Relevant = cmp.Or(given.Relevant, o.Relevant)
	if cmd.Flags().Changed("noise") {
		o.Noise = given.Noise
	}
	o.Seed = given.Seed
	return o
}

// synthSource is a stream.Source that generates a query when it is visited.
type synthSource struct{ *synth.Queries }

// Survey implements stream.Source.
func (s synthSource) Survey(visit func(runs []stream.Run) error) (stream.Shape, error) {
	for i := range s.Number {
		run := stream.Run{ID: s.ID(i), Docs: s.Docs(i)}
		for k := range run.Docs {
			run.Bytes += len(s.DocID(i, k))
		}
		if err := visit([]stream.Run{run}); err != nil {
			return stream.Shape{}, err
		}
	}
	return stream.Shape{Features: s.Features, DocIDs: true}, nil
}

// Each implements stream.Source. A query is split into batches of limited size.
func (s synthSource) Each(columns int, visit func(b *stream.Batch) error) error {
	b, most := new(stream.Batch), stream.BatchDocs(columns)
	for i := range s.Number {
		grades, x := s.Query(i)
		for from := 0; from < len(grades); {
			to := min(len(grades), from+most-len(b.Grades))
			b.Runs = append(b.Runs, stream.Run{ID: s.ID(i), Docs: to - from})
			b.Grades = append(b.Grades, grades[from:to]...)
			b.X = append(b.X, x[from*columns:to*columns]...)
			for k := from; k < to; k++ {
				b.DocText = append(b.DocText, s.DocID(i, k)...)
				b.DocEnd = append(b.DocEnd, uint32(len(b.DocText)))
			}
			if from = to; len(b.Grades) < most {
				continue
			}
			if err := visit(b); err != nil {
				return err
			}
			b = new(stream.Batch)
		}
	}
	if len(b.Grades) == 0 {
		return nil
	}
	return visit(b)
}

// Close implements stream.Source.
func (s synthSource) Close() error { return nil }
