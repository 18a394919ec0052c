package app

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/eval/stats"
)

type planFlags struct {
	share, difference, deviation, correlation, power float64
	planned                                          int
	seed                                             uint64
}

func newClicksPlanCommand(env *environment) *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan --share P | --difference D --deviation S",
		Short: "Compute how many users an experiment needs",
		Long: `Computes how many users an experiment needs to find a difference with a given power, at
the significance level 0.05.

--share is the share of users who prefer the better of two interleaved models, for
"clicks prefer". The size counts users with a preference: those who click as often on
documents of both models do not count.

--difference is the difference of a measure between the arms of a split, for "clicks ab".
--deviation is the standard deviation of the measure between users. --correlation is that
of the measure with its value before the experiment, as "clicks ab --before" uses it. The
size counts the users of each arm.

The first row is a single test at the end. The second is a test that may be looked at any
time: it usually ends earlier than its size, half of the time at the median. Both sizes are
exact for shares. For differences the first is by the normal approximation. The second is
by simulation, with the confidence sequence that is tightest at --planned users.`,
		Example: `  listwise clicks plan --share 0.55
  listwise clicks plan --difference 0.05 --deviation 0.8 --correlation 0.6`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, env) },
	}
	fl := cmd.Flags()
	addReal(fl, &f.share, "share", 0, 1, "`share` of users who prefer the better model")
	addPositive(fl, &f.difference, "difference", 0, 1e300, "`difference` of a measure between arms")
	addPositive(fl, &f.deviation, "deviation", 0, 1e300, "standard `deviation` of the measure between users")
	addReal(fl, &f.correlation, "correlation", 0, 0.999, "`correlation` with values before the experiment")
	addReal(fl, &f.power, "power", stats.Power, 0.999, "`probability` of finding the difference")
	addWhole(fl, &f.planned, "planned", 0, 1, "`users` per arm where the sequence is tightest; 0: the first size")
	fl.Uint64Var(&f.seed, "seed", 1, "random `seed`")
	return cmd
}

type planJSON struct {
	Unit   string  `json:"unit"`
	Power  float64 `json:"power"`
	Fixed  int     `json:"fixed"`
	Any    int     `json:"any_time"`
	Median int     `json:"any_time_median"`
}

func (f *planFlags) run(cmd *cobra.Command, env *environment) error {
	given := cmd.Flags().Changed
	j := planJSON{Unit: "users with a preference", Power: f.power}
	note := "By the normal approximation, the tests find the difference with probability %v; below 50 units they find less."
	var s stats.Size
	var err error
	switch {
	case given("share"):
		if err := refuse(cmd, "is for the difference of a measure, expected it without --share", "difference", "deviation", "correlation", "planned", "seed"); err != nil {
			return err
		}
		note = "The tests find the share with probability %v, by binomial distributions."
		if s, err = stats.SignSize(f.share, f.power); err != nil {
			return usageErrorf("--share, --power: %w", err)
		}
	case !given("difference") || !given("deviation"):
		return needs(cmd, "--share, or --difference and --deviation")
	default:
		j.Unit = "users of each arm"
		unexplained := math.Sqrt(1 - float64(f.correlation*f.correlation)) // of the deviation
		effect := f.difference / f.deviation / unexplained
		if s, err = stats.MeansSize(effect, f.power, f.planned, f.seed, 0); err != nil {
			return usageErrorf("--difference, --deviation, --power: %w", err)
		}
	}
	j.Fixed, j.Any, j.Median = s.Fixed, s.Any, s.Median
	return env.print(report{
		columns: []string{"test", j.Unit, "median"}, keys: 1,
		rows:  [][]any{{"once, at the end", j.Fixed, nil}, {"at any time", j.Any, j.Median}},
		notes: []string{"", fmt.Sprintf(note+" Half of the tests at any time end by the median.", f.power)},
		json:  j,
	})
}
