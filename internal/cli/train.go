package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/method"
	"github.com/listwise/listwise/model"
)

// learning are the flags that train and tune have in common.
type learning struct {
	measure    string
	convention string
	normalize  string
	missing    string
	threshold  float64
	seed       uint64
}

func (l *learning) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&l.measure, "measure", "", "`measure` to optimise (map, ndcg@10, auc, mrr), for the methods that do; each has a default")
	f.StringVar(&l.convention, "convention", "letor3", "`convention` of the measures: "+strings.Join(conventionNames(), ", "))
	f.StringVar(&l.normalize, "normalize", "none", "rescale features per query: none, minmax or zscore; stored in the model")
	f.StringVar(&l.missing, "missing", "error", "what nan and NULL stand for: error, zero, or min (of the query)")
	f.Uint64Var(&l.seed, "seed", 1, "seed of everything random")
}

// measures parses a list of measures under the convention asked for.
func (l *learning) measures(names string) ([]measure.Measure, error) {
	c, err := measure.ParseConvention(l.convention)
	if err != nil {
		return nil, badCall("--convention: %w", err)
	}
	list, err := measure.ParseList(names, c, measure.Options{Threshold: l.threshold})
	if err != nil {
		return nil, badCall("%w", err)
	}
	return list, nil
}

// trainingMeasure returns what the method is to optimise, nil if it has no
// choice.
func (l *learning) trainingMeasure(m *method.Method) (measure.Measure, error) {
	if !m.UsesMeasure {
		return nil, nil
	}
	name := l.measure
	if name == "" {
		name = m.DefaultMeasure
	}
	list, err := l.measures(name)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, badCall("--measure %s: expected one measure", name)
	}
	return list[0], nil
}

func (l *learning) normalization() (dataset.Normalization, error) {
	n, err := dataset.ParseNormalization(l.normalize)
	if err != nil {
		return n, badCall("--normalize: %w", err)
	}
	return n, nil
}

// readOptions are the reader's options that the flags ask for.
func (l *learning) readOptions() (dataset.Options, error) {
	missing, err := dataset.ParseMissing(l.missing)
	if err != nil {
		return dataset.Options{}, badCall("--missing: %w", err)
	}
	return dataset.Options{Missing: missing}, nil
}

func conventionNames() []string {
	var names []string
	for _, c := range measure.Conventions() {
		names = append(names, c.Name())
	}
	return names
}

// settings reads repeated k=v flags.
func settings(flag string, pairs []string) (map[string]string, error) {
	set := make(map[string]string)
	for _, p := range pairs {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, badCall("--%s %s: expected name=value", flag, p)
		}
		if _, twice := set[name]; twice {
			return nil, badCall("--%s %s: %s is given twice", flag, p, name)
		}
		set[name] = value
	}
	return set, nil
}

type trainFlags struct {
	learning
	method     string
	scorer     string
	set        []string
	train      string
	model      string
	checkpoint string
}

func newTrainCommand(env *environment) *cobra.Command {
	var f trainFlags
	cmd := &cobra.Command{
		Use:   "train --method M --train FILE --model OUT",
		Short: "Learn a ranking function and store it in a file",
		Long: `Learns a ranking function from the judged queries of a file and writes a model,
a JSON file that holds the weights and everything needed to score with them.

The same command gives the same file, byte for byte, on any number of cores.`,
		Example: `  listwise train --method convexloss --measure ndcg@10 --train Fold1/train.txt --model m.json
  listwise train --method mle --set C=0.01 --normalize minmax --train train.txt.gz --model m.json`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "method", "train", "model"); err != nil {
				return err
			}
			return f.run(cmd, env)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.method, "method", "", "`method` to learn with (see \"listwise methods\")")
	fl.StringVar(&f.scorer, "scorer", "linear", "what maps features to scores: linear")
	fl.StringArrayVar(&f.set, "set", nil, "a hyperparameter, `name=value`; may be repeated (see \"listwise methods M\")")
	fl.StringVar(&f.train, "train", "", "judged queries to learn from: LETOR text (.txt, .gz, .zst), a .lwd cache, or -")
	fl.StringVar(&f.model, "model", "", "`file` to write the model to")
	fl.StringVar(&f.checkpoint, "checkpoint", "", "`file` that keeps the optimiser's state; if it exists, training goes on from it")
	f.addTo(cmd)
	return cmd
}

func (f *trainFlags) run(cmd *cobra.Command, env *environment) error {
	problem, m, err := f.problem(env)
	if err != nil {
		return err
	}
	bar := env.startIterations(m.Title)
	problem.Observe = bar.observe
	trained, err := m.Train(cmd.Context(), problem)
	bar.finish()
	if err != nil {
		return err
	}
	if err := trained.Save(f.model); err != nil {
		return err
	}
	return env.print(trainReport(f.model, trained))
}

// problem puts together what the flags describe.
func (f *trainFlags) problem(env *environment) (*method.Problem, *method.Method, error) {
	m, err := method.Lookup(f.method)
	if err != nil {
		return nil, nil, badCall("--method: %w", err)
	}
	if f.scorer != "linear" {
		return nil, nil, badCall("--scorer %s: expected linear", f.scorer)
	}
	set, err := settings("set", f.set)
	if err != nil {
		return nil, nil, err
	}
	values, err := m.Values(set)
	if err != nil {
		return nil, nil, badCall("--set: %w", err)
	}
	training, err := f.trainingMeasure(m)
	if err != nil {
		return nil, nil, err
	}
	if training == nil && f.measure != "" {
		env.note("note: %s has no training measure, --measure %s changes nothing", m.Name, f.measure)
	}
	norm, err := f.normalization()
	if err != nil {
		return nil, nil, err
	}
	opts, err := f.readOptions()
	if err != nil {
		return nil, nil, err
	}
	d, err := env.openData(f.train, opts)
	if err != nil {
		return nil, nil, err
	}
	return &method.Problem{
		Data: d, Measure: training, Values: values, Normalization: norm,
		Seed: f.seed, Checkpoint: f.checkpoint,
	}, m, nil
}

func trainReport(path string, m *model.Model) report {
	t := m.Training
	gap := any("unknown")
	if t.Gap != nil {
		gap = fmt.Sprintf("%.3g", *t.Gap)
	}
	return report{
		columns: []string{"model", "method", "queries", "documents", "objective", "above minimum by at most", "iterations", "stopped because"},
		rows: [][]any{{
			path, m.Method, t.Queries, t.Documents, t.Objective, gap, t.Iterations, t.Status,
		}},
		json: map[string]any{
			"model": path, "method": m.Method, "measure": m.Measure, "hyperparameters": m.Hyperparameters, "training": t,
		},
	}
}
