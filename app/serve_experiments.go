package app

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/listwise/listwise/serve"
	"github.com/listwise/listwise/serve/experiment"
)

// experimentFlags say which models are compared in use.
type experimentFlags struct {
	splits      []string
	interleaves []string
	shadows     []string
	by          string
	log         string
}

func (f *experimentFlags) add(fl *pflag.FlagSet) {
	fl.StringArrayVar(&f.splits, "split", nil, "split users among models, `NAME=MODEL:SHARE,MODEL:SHARE`; repeatable")
	fl.StringArrayVar(&f.interleaves, "interleave", nil, "interleave the rankings of two models, `NAME=MODEL,MODEL`; repeatable")
	fl.StringVar(&f.by, "by", "user", "assign experiments by `user` or query")
	fl.StringArrayVar(&f.shadows, "shadow", nil, "also score the first model's requests by the second, `MODEL=MODEL`; repeatable")
	fl.StringVar(&f.log, "experiment-log", "", "`file` for the log of experiments (JSON lines)")
}

// config sets what the flags say of experiments, and opens the log.
func (f *experimentFlags) config(c *serve.Config) error {
	if f.by != "user" && f.by != "query" {
		return usageErrorf("--by %s: expected user or query", f.by)
	}
	for _, text := range f.splits {
		if err := f.experiment(c, "--split", text, experiment.Split); err != nil {
			return err
		}
	}
	for _, text := range f.interleaves {
		if err := f.experiment(c, "--interleave", text, experiment.Interleave); err != nil {
			return err
		}
	}
	for _, text := range f.shadows {
		of, name, ok := strings.Cut(text, "=")
		if !ok || of == "" || name == "" {
			return usageErrorf("--shadow %s: expected MODEL=MODEL, such as web=web@2", text)
		}
		if c.Shadows == nil {
			c.Shadows = make(map[string][]string)
		}
		c.Shadows[of] = append(c.Shadows[of], name)
	}
	if f.log == "" {
		if len(f.shadows) > 0 {
			return usageErrorf("--shadow: expected --experiment-log FILE, which logs shadow scores")
		}
		return nil
	}
	if len(c.Experiments)+len(c.Shadows) == 0 {
		return usageErrorf("--experiment-log %s: expected it with --split, --interleave or --shadow", f.log)
	}
	records, err := experiment.OpenLog(f.log)
	if err != nil {
		return usageErrorf("--experiment-log: %w", err)
	}
	c.Records = records
	return nil
}

// experiment reads NAME=MODEL:SHARE,….
func (f *experimentFlags) experiment(c *serve.Config, flag, text, kind string) error {
	name, arms, ok := strings.Cut(text, "=")
	if !ok {
		return usageErrorf("%s %s: expected NAME=MODEL,MODEL", flag, text)
	}
	if err := serve.CheckName(name); err != nil {
		return usageErrorf("%s %s: %w", flag, text, err)
	}
	e := serve.Experiment{Name: name, Kind: kind, ByQuery: f.by == "query"}
	for arm := range strings.SplitSeq(arms, ",") {
		model, share, shared := strings.Cut(arm, ":")
		a := serve.Arm{Model: model, Share: 1}
		if shared {
			n, err := strconv.Atoi(share)
			if err != nil || n < 0 || kind == experiment.Interleave {
				return usageErrorf("%s %s: found the share %q of %s, expected a whole number, and of --split alone", flag, text, share, model)
			}
			a.Share = n
		}
		e.Arms = append(e.Arms, a)
	}
	c.Experiments = append(c.Experiments, e)
	return nil
}
