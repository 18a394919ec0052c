package app

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/tune"
)

// stopping are the flags of validation data: a file, or a part of the training queries.
type stopping struct {
	valid    string
	holdOut  string
	drawn    uint64 // the seed of the division, for holdOut
	selectBy string

	cmd *cobra.Command
}

func (s *stopping) addTo(cmd *cobra.Command) {
	s.cmd = cmd
	fl := cmd.Flags()
	fl.StringVar(&s.valid, "valid", "", "validation data `file` for early stopping")
	fl.StringVar(&s.holdOut, "hold-out", "", "validate on `part/parts` of the training queries, such as 2/5")
	fl.Uint64Var(&s.drawn, "hold-out-seed", 0, "random `seed` of --hold-out (default: --seed)")
	fl.StringVar(&s.selectBy, "select", "", "validation `measure` for early stopping (default: the training measure)")
}

// check returns an error if the flags contradict one another.
func (s *stopping) check() error {
	switch changed := s.cmd.Flags().Changed; {
	case s.valid != "" && s.holdOut != "":
		return usageErrorf("--hold-out %s: expected either it or --valid %s", s.holdOut, s.valid)
	case changed("hold-out-seed") && s.holdOut == "":
		return usageErrorf("--hold-out-seed %d: expected it with --hold-out", s.drawn)
	case s.selectBy != "" && s.valid == "" && s.holdOut == "":
		return usageErrorf("--select %s: expected it with --valid or --hold-out", s.selectBy)
	}
	_, _, err := s.part()
	return err
}

// part returns the part that is held out, from 1, and of how many; 0 for none.
func (s *stopping) part() (part, parts int, err error) {
	if s.holdOut == "" {
		return 0, 0, nil
	}
	first, second, ok := strings.Cut(s.holdOut, "/")
	part, err = strconv.Atoi(first)
	if err == nil {
		parts, err = strconv.Atoi(second)
	}
	if !ok || err != nil || part < 1 || parts < 2 || part > parts {
		return 0, 0, usageErrorf("--hold-out %s: expected PART/PARTS, such as 2/5", s.holdOut)
	}
	return part, parts, nil
}

// measureOf returns what chooses among the epochs of a problem.
func (s *stopping) measureOf(l *learning, p *method.Problem) (measure.Measure, error) {
	if s.selectBy == "" {
		return p.Select, nil
	}
	return l.recipe().OneMeasure("select", s.selectBy)
}

// divide returns the data to learn from and the validation data, nil if there are none.
func (s *stopping) divide(ctx context.Context, env *environment, l *learning, from string, data *dataset.Dataset, opts dataset.Options) (train, valid *dataset.Dataset, err error) {
	if s.valid != "" {
		opts.FeatureNames, opts.MaxBytes = data.FeatureNames, leftBeside(data, opts.MaxBytes)
		if valid, err = env.openAndWarn(ctx, "valid", s.valid, opts); err == nil {
			warnOfCommon(env, s.valid, valid, from, data)
		}
		return data, valid, err
	}
	part, parts, err := s.part()
	if err != nil || parts == 0 {
		return data, nil, err
	}
	seed := l.seed
	if s.cmd.Flags().Changed("hold-out-seed") {
		seed = s.drawn
	}
	if train, valid, err = tune.HoldOut(data, part, parts, seed); err != nil {
		return nil, nil, usageErrorf("--hold-out %s: %w", s.holdOut, err)
	}
	return train, valid, nil
}

// recordedAs is what the record of a run says of the validation data.
func (s *stopping) recordedAs(from string) string {
	if s.holdOut != "" {
		return fmt.Sprintf("%s, part %s", from, s.holdOut)
	}
	return s.valid
}
