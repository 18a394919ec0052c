package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/bench"
	"github.com/listwise/listwise/internal/suggest"
)

type benchFlags struct {
	documents string
	features  int
	methods   []string
	folder    string
	plots     string
	plan      string
	memory    float64
	price     float64
	longest   time.Duration
}

// ownProgram returns the path of this program and the name it goes by; tests, whose path is
// that of the tests, put another in its place.
var ownProgram = func() ([]string, error) {
	path, err := os.Executable()
	return []string{path, os.Args[0]}, err
}

func newBenchCommand(env *environment) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure time and memory on this machine, and extrapolate",
		Long: `Generates data of several sizes, runs this program on them, one process at a time, and
measures time, processor time and peak memory. Each method is trained with few and
with more passes over the data, which separates fixed costs from the cost of a pass.
The growth is the exponent of processor time (for the usual number of passes) and of
memory over the number of documents: 1 is linear.

--plan extrapolates to more documents, 100 a query, on machines like this one. If the
data do not fit into memory, time is at least that of reading them from disk: once for
an evaluation or an epoch, a quarter of them for a round of RankBoost, three times for
a tree whose bins do not fit either. Data kept for every document need memory.

A training that exceeds --longest is not measured with more documents. Without
--methods:
` + strings.Join(trainingNames(), ", ") + `.`,
		Example: `  listwise bench --documents 300,900 --features 4 --methods mle,lambdamart
  listwise bench --documents 300,900 --features 4 --methods mle --plan 3.8e6,1e9 --price 0.05 --plots plots`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), env) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.documents, "documents", "50000,200000", "`numbers` of documents to measure with, ascending, such as 1e5,1e6")
	addWhole(fl, &f.features, "features", 136, 1, "`number` of features")
	fl.StringSliceVar(&f.methods, "methods", nil, "`methods` to measure, separated by commas (default: common ones)")
	fl.StringVar(&f.folder, "dir", "", "`folder` for temporary data; its disk is measured; empty: the system's")
	fl.StringVar(&f.plots, "plots", "", "`folder` for the plots time.svg and memory.svg")
	fl.StringVar(&f.plan, "plan", "", "`numbers` of documents to plan for, such as 1e7,1e9")
	addPositive(fl, &f.memory, "plan-memory", 16, 1e9, "memory of the machines to plan for, in `GiB`")
	addReal(fl, &f.price, "price", 0, 1e9, "`cost` of one core hour; adds costs to the plan")
	fl.DurationVar(&f.longest, "longest", 10*time.Minute, "`time` limit of one process")
	return cmd
}

func trainingNames() []string {
	return mapped(bench.Trainings(), func(w bench.Work) string { return w.Name })
}

func (f *benchFlags) run(ctx context.Context, env *environment) error {
	c, err := f.config()
	if err != nil {
		return err
	}
	plans, err := f.numbers("plan", f.plan, 1e15)
	if err != nil {
		return err
	}
	if err := f.targets().check(); err != nil {
		return err
	}
	bar := env.startProgress("measuring", 0)
	c.Observe = bar.observeWorks
	r, err := bench.Run(ctx, *c)
	bar.finish()
	if err != nil {
		return err
	}
	if f.plots != "" {
		if err := f.writePlots(r); err != nil {
			return fmt.Errorf("--plots: %w", err)
		}
	}
	if err := env.printBench(f, r, plans); err != nil {
		return err
	}
	var left []error
	for i := range r.Series {
		if s := &r.Series[i]; len(s.Points) == 0 {
			left = append(left, errors.New(s.Left))
		}
	}
	return errors.Join(left...)
}

// observeWorks shows what is measured at present.
func (p *progress) observeWorks(done, total int, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total = int64(done), int64(total)
	p.detail = p.steps(true) + ", " + what
}

// config checks the flags.
func (f *benchFlags) config() (*bench.Config, error) {
	sizes, err := f.numbers("documents", f.documents, mostOf)
	if err != nil {
		return nil, err
	}
	if sizes == nil {
		return nil, usageErrorf("--documents: found nothing, expected numbers such as 1e5,1e6")
	}
	if f.longest <= 0 {
		return nil, usageErrorf("--longest: found %v, expected more than 0s", f.longest)
	}
	trainings, err := bench.Select(f.methods)
	var unknown *bench.UnknownError
	if errors.As(err, &unknown) {
		return nil, usageErrorf("--methods: found %q%s", unknown.Name, suggest.Or(unknown.Name, unknown.Known, ", expected names among "+strings.Join(unknown.Known, ", ")))
	}
	if f.folder != "" {
		if _, err := os.Stat(f.folder); err != nil {
			return nil, usageErrorf("--dir: %w", err)
		}
	}
	program, err := ownProgram()
	if err != nil {
		return nil, err
	}
	c := &bench.Config{
		Program: program, Features: f.features, Folder: f.folder, Longest: f.longest,
		Works: append(bench.Programs(), trainings...),
	}
	for _, n := range sizes {
		c.Documents = append(c.Documents, int(n))
	}
	return c, nil
}

// leastDocuments is two queries.
const leastDocuments = 2 * bench.Docs

// numbers reads ascending numbers of documents.
func (f *benchFlags) numbers(flag, list string, most float64) ([]float64, error) {
	if list == "" {
		return nil, nil
	}
	var numbers []float64
	for word := range strings.SplitSeq(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(v >= leastDocuments && v <= most) || len(numbers) > 0 && v <= numbers[len(numbers)-1] {
			return nil, usageErrorf("--%s %s: found %q, expected ascending numbers from %d to %g", flag, list, word, leastDocuments, most)
		}
		numbers = append(numbers, v)
	}
	return numbers, nil
}
