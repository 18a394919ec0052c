package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/method"
)

func newMethodsCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "methods [NAME]",
		Short: "List the learning methods, or one method's hyperparameters",
		Example: `  listwise methods
  listwise methods convexloss`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageErrorf("listwise methods: found %d arguments, expected at most one method", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return env.print(methodList())
			}
			m, err := method.Lookup(args[0])
			if err != nil {
				return usageErrorf("%w", err)
			}
			return env.print(methodReport(m))
		},
	}
}

// methodJSON is a method in "listwise methods --format json".
type methodJSON struct {
	Name            string               `json:"name"`
	Title           string               `json:"title"`
	Summary         string               `json:"summary"`
	Source          string               `json:"source"`
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
	Doc     string   `json:"doc"`
}

func methodList() report {
	r := report{columns: []string{"method", "optimises", "what it does"}, wrap: 75}
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
	j := methodJSON{Name: m.Name, Title: m.Title, Summary: m.Summary, Source: m.Source, UsesMeasure: m.UsesMeasure, Scorers: m.Scorers()}
	for _, h := range m.Hyperparameters {
		j.Hyperparameters = append(j.Hyperparameters, hyperparameterJSON{h.Name, h.Default, h.Range(), h.Grid, h.NetworkGrid, h.Doc})
	}
	return j
}

func methodReport(m *method.Method) report {
	r := report{
		title:   fmt.Sprintf("%s: %s\n%s\n", m.Title, m.Summary, m.Source),
		columns: []string{"--set", "default", "range", "grid of tune", "meaning"},
		wrap:    60,
		json:    describe(m),
	}
	for _, h := range m.Hyperparameters {
		r.rows = append(r.rows, []any{h.Name, h.Default, h.Range(), gridText(&h), h.Doc})
	}
	r.notes = []string{"", "--scorer: " + strings.Join(m.Scorers(), ", ") + "."}
	if m.UsesMeasure {
		r.notes = append(r.notes, fmt.Sprintf("--measure chooses what it optimises: %s (default %s).", strings.Join(m.Measures(), ", "), m.DefaultMeasure))
	}
	return r
}

// gridText shows what tune tries for linear functions, and for networks if that is
// something else.
func gridText(h *method.Hyperparameter) string {
	text := strings.Join(h.Grid, ",")
	if h.NetworkGrid != nil {
		text = strings.TrimSpace(text + " net: " + strings.Join(h.NetworkGrid, ","))
	}
	return text
}
