package app

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/learn/method"
)

func newMethodsCommand(env *environment) *cobra.Command {
	var kind string
	cmd := &cobra.Command{
		Use:   "methods [NAME]",
		Short: "List learning methods, or the hyperparameters of one",
		Example: `  listwise methods
  listwise methods convexloss
  listwise methods convexloss --scorer trees`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageErrorf("listwise methods: found %d arguments, expected at most one method", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				if kind != "" {
					return usageErrorf("--scorer %s: expected a method whose hyperparameters to show", kind)
				}
				return env.print(methodList())
			}
			m, err := method.Lookup(args[0])
			if err != nil {
				return usageErrorf("%w", err)
			}
			of, err := method.ForScorer(m, kind)
			if err != nil {
				return err
			}
			return env.print(methodReport(m, of))
		},
	}
	cmd.Flags().StringVar(&kind, "scorer", "", "`kind` of scorer: linear, fm, net, trees or pairnet (default: the method's)")
	return cmd
}

// methodJSON is the JSON form of a method. Scripts rely on its names.
type methodJSON struct {
	Name            string               `json:"name"`
	Title           string               `json:"title"`
	Summary         string               `json:"summary"`
	Source          string               `json:"source"`
	Weights         []string             `json:"weights"` // kinds of weights that the method uses with default settings
	UsesMeasure     bool                 `json:"uses_measure"`
	Scorers         []string             `json:"scorers"`
	Hyperparameters []hyperparameterJSON `json:"hyperparameters,omitempty"`
}

type hyperparameterJSON struct {
	Name    string   `json:"name"`
	Default string   `json:"default"`
	Range   string   `json:"range"`
	Grid    []string `json:"grid,omitempty"`
	Network []string `json:"network_grid,omitempty"`
	FM      []string `json:"fm_grid,omitempty"`
	Doc     string   `json:"doc"`
}

func methodList() report {
	r := report{columns: []string{"method", "optimizes", "description"}, wrap: 75}
	var all []methodJSON
	for _, m := range method.List() {
		measure := "-"
		if m.UsesMeasure {
			measure = "--measure"
		}
		r.rows = append(r.rows, []any{m.Name, measure, m.Summary})
		all = append(all, describe(m))
	}
	r.notes = []string{"", `"listwise methods NAME" shows a method's hyperparameters and its source.`}
	r.json = all
	return r
}

func describe(m *method.Method) methodJSON {
	j := methodJSON{Name: m.Name, Title: m.Title, Summary: m.Summary, Source: m.Source, UsesMeasure: m.UsesMeasure, Scorers: m.Scorers(), Weights: weightsTaken(m)}
	for _, h := range m.Hyperparameters {
		j.Hyperparameters = append(j.Hyperparameters, hyperparameterJSON{h.Name, h.Default, h.Range(), h.Grid, h.NetworkGrid, h.FMGrid, h.Doc})
	}
	return j
}

func methodReport(m, of *method.Method) report {
	r := report{
		title:   fmt.Sprintf("%s: %s\n%s\n", m.Title, m.Summary, m.Source),
		columns: []string{"--set", "default", "range", "grid of tune", "meaning"},
		wrap:    60,
		json:    describe(of),
	}
	for _, h := range of.Hyperparameters {
		r.rows = append(r.rows, []any{h.Name, h.Default, h.Range(), gridText(&h), h.Doc})
	}
	r.notes = []string{"", "--scorer: " + strings.Join(m.Scorers(), ", ") + "."}
	r.notes = append(r.notes, "Uses weights of the data: "+cmp.Or(strings.Join(weightsTaken(of), ", "), "none")+".")
	if trees, err := m.For("trees"); err == nil && trees != m && of == m {
		r.notes = append(r.notes, fmt.Sprintf("For the hyperparameters of trees: listwise methods %s --scorer trees.", m.Name))
	}
	if m.UsesMeasure {
		r.notes = append(r.notes, fmt.Sprintf("--measure sets the measure to optimize: %s (default %s).", strings.Join(m.Measures(), ", "), m.DefaultMeasure))
	}
	return r
}

// weightsTaken returns the kinds of weights that a method uses with default settings.
func weightsTaken(m *method.Method) []string {
	names, w := []string{}, m.Weighs()
	if w.Queries {
		names = append(names, "queries")
	}
	if w.Documents {
		names = append(names, "documents")
	}
	return names
}

func gridText(h *method.Hyperparameter) string {
	text := strings.Join(h.Grid, ",")
	if h.NetworkGrid != nil {
		text += " net: " + strings.Join(h.NetworkGrid, ",")
	}
	if h.FMGrid != nil {
		text += " fm: " + strings.Join(h.FMGrid, ",")
	}
	return strings.TrimSpace(text)
}
