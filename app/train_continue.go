package app

import (
	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/method"
)

// continuing are the flags of a training that begins with a model.
type continuing struct {
	from  string
	decay float64
	given func(flag string) bool
}

func (c *continuing) addTo(cmd *cobra.Command) {
	c.given = cmd.Flags().Changed
	cmd.Flags().StringVar(&c.from, "continue", "", "model `file` of trees to continue training")
	cmd.Flags().Float64Var(&c.decay, "refit", 0, "relearn the leaf values of --continue, keeping this `share` (0 to 1)")
}

// settle reads the model and takes its normalization, its views and its rules for missing values
// and for features that text leaves out, unless flags say otherwise.
func (c *continuing) settle(env *environment, p *method.Problem, r *reading) error {
	if c.given("refit") {
		if c.from == "" {
			return usageErrorf("--refit: expected --continue with the model to refit")
		}
		if !(c.decay >= 0 && c.decay <= 1) {
			return usageErrorf("--refit %v: expected a number from 0 to 1", c.decay)
		}
		p.Refit, p.Decay = true, c.decay
	}
	if c.from == "" {
		return nil
	}
	m, err := env.loadModel("continue", c.from)
	if err != nil {
		return err
	}
	p.Initial = m
	if !c.given("normalize") {
		p.Normalization = m.Normalization
	}
	if !c.given("views") {
		p.Views = m.Views
	}
	if !c.given("missing") {
		r.missing = m.Missing.String()
	}
	if !c.given("absent") && m.AbsentMissing {
		r.absent = absentMissing
	}
	return nil
}

// widen makes data have the model's features, if it has more.
func (c *continuing) widen(p *method.Problem, opts *dataset.Options) {
	if p.Initial != nil {
		opts.MinFeatures = max(opts.MinFeatures, p.Initial.NumFeatures())
	}
}
