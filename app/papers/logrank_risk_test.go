package papers

import (
	"context"
	"reflect"
	"testing"

	"github.com/listwise/listwise/internal/chart"
)

// Data other than HP2004 are followed by the synthetic data of its shape; HP2004 and the synthetic
// data are run once.
func TestWithHP2004Shape(t *testing.T) {
	for data, want := range map[string][]string{"OHSUMED": {"OHSUMED", "synthetic"}, "HP2004": {"HP2004"}, "": {"synthetic"}} {
		var ran []string
		run := withHP2004Shape(func(_ context.Context, o Options) (*Report, error) {
			name := o.Data
			if name == "" {
				name = "synthetic"
			}
			ran = append(ran, name)
			r := &Report{Title: "experiment — " + name, Tables: []Table{{}}, Sheets: []Sheet{{Rows: [][]any{{name}}}}, Plots: []Plot{{Plot: chart.Plot{}}}}
			r.stated(ClaimHeld, "claim", "%s", name)
			return r, nil
		})
		r, err := run(context.Background(), Options{Data: data})
		if err != nil {
			t.Fatal(err)
		}
		var rows, figures []string
		for i, row := range r.Sheets[0].Rows {
			rows, figures = append(rows, row[0].(string)), append(figures, r.Findings[i].Figure)
		}
		if !reflect.DeepEqual(ran, want) || !reflect.DeepEqual(rows, want) || !reflect.DeepEqual(figures, want) || len(r.Tables) != len(want) || len(r.Notes) != len(want) {
			t.Errorf("%q: ran %v, rows %v, findings %v, expected %v", data, ran, rows, figures, want)
		}
		if len(r.Plots) == 2 && r.plotName(0) == r.plotName(1) {
			t.Errorf("%q: two plots of one name", data)
		}
	}
}
