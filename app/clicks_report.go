package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/app/clickreport"
	"github.com/listwise/listwise/internal/atomicfile"
)

type clicksReportFlags struct {
	clickFit
	models     []string
	valid      []string
	out, title string
	share      float64
	queries    int
	resamples  int
	maxSize    float64 // MB
	seed       uint64
}

// clickReportModels are the models that clicks report compares by default.
var clickReportModels = []string{"rctr", "dctr", "pbm", "ubm", "dbn", "ccm"}

func newClicksReportCommand(env *environment) *cobra.Command {
	var f clicksReportFlags
	cmd := &cobra.Command{
		Use:   "report PAGES... --out FILE",
		Short: "Write an HTML page about a log of pages",
		Long: `Writes one HTML page about a log of pages. It begins with anomalies, and with what the
log can tell and what it cannot. Several files count as one log. The page shows

  clicks by rank, with intervals; arms
  propensities of slots by several methods, with intervals: from shuffled pages, from
  exchanges, from documents that arms put in different slots, and by em
  perplexity of click models by rank, on held-out pages
  attraction and satisfaction of the documents of the queries with the most pages

Held-out pages are those of --valid. Without it, they are the pages of a share of the
users, drawn by hash, or a share of the pages if pages name no users. Models are fitted to
the other pages.`,
		Example: `  listwise clicks report pages.jsonl.gz --out clicks.html
  listwise clicks report monday.csv --valid tuesday.csv --model all --out clicks.html`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "out"); err != nil {
				return err
			}
			return f.run(cmd, env, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "", "HTML `file` to write")
	fl.StringVar(&f.title, "title", "", "page `title` (default: the log's name)")
	fl.StringSliceVar(&f.models, "model", clickReportModels, "click `models` to compare, separated by commas; all: all models")
	fl.StringArrayVar(&f.valid, "valid", nil, "`file` of held-out pages; repeatable")
	addPositive(fl, &f.share, "valid-share", clickreport.DefaultShare, 0.9, "`share` of the users to hold out, without --valid")
	addWhole(fl, &f.queries, "queries", clickreport.DefaultQueries, 0, "`number` of example queries")
	addWhole(fl, &f.resamples, "resamples", 1000, 0, "`number` of bootstrap samples; 0: no bootstrap intervals")
	addPositive(fl, &f.maxSize, "max-size", clickreport.DefaultMaxBytes/1e6, 1000, "page size limit in `MB`")
	fl.Uint64Var(&f.seed, "seed", 1, "random `seed`")
	f.addTo(cmd, true)
	return cmd
}

// config returns the options of the report.
func (f *clicksReportFlags) config(cmd *cobra.Command, env *environment, args []string) (c clickreport.Config, err error) {
	c = clickreport.Config{
		Title: f.title, Source: namesOfFiles(args), Valid: namesOfFiles(f.valid), Share: f.share, Attraction: f.grading == relevanceOfAttraction,
		Queries: f.queries, Resamples: f.resamples, Seed: f.seed, MaxBytes: int(f.maxSize * 1e6), During: env.during,
	}
	if c.Title == "" {
		c.Title = "Clicks: " + c.Source
	}
	if f.valid != nil && cmd.Flags().Changed("valid-share") {
		return c, usageErrorf("--valid-share: found --valid with the held-out pages, expected one of both")
	}
	if c.Fit, err = f.options(); err != nil {
		return c, err
	}
	choice := clicksFitFlags{models: f.models}
	list, err := choice.choose()
	if err != nil {
		return c, err
	}
	for _, m := range list {
		if m.model != nil {
			return c, usageErrorf("--model: found the fitted model %s, expected names of models to fit", m.name)
		}
		c.Models = append(c.Models, m.kind)
	}
	if f.valid != nil && f.resamples == 0 {
		if err := refuse(cmd, "needs --resamples above 0, or held-out pages to draw", "seed"); err != nil {
			return c, err
		}
	}
	return c, f.unused(cmd, c.Models)
}

// namesOfFiles names the files of a log on a page, "" if there are none.
func namesOfFiles(paths []string) string {
	if len(paths) > 1 {
		return fmt.Sprintf("%d files", len(paths))
	}
	return strings.Join(mapped(paths, func(path string) string { return filepath.Base(inputName(path)) }), "")
}

func (f *clicksReportFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	config, err := f.config(cmd, env, args)
	if err != nil {
		return err
	}
	f.tellsFaults = true
	if err := new(targets).reads("", args...).reads("--valid", f.valid...).writes("--out", f.out).check(); err != nil {
		return err
	}
	log := clickreport.NewLog(config, f.account())
	tally, err := f.read(cmd, env, "", args, log.Add)
	if err != nil {
		return err
	}
	if f.valid != nil {
		if err := f.readValid(cmd, env, tally, args, f.valid, log.AddHeld); err != nil {
			return err
		}
	}
	r, err := log.Build(cmd.Context(), tally)
	if err != nil {
		return hintAtMemory(err)
	}
	if err := atomicfile.Write(f.out, r.Write); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	out := report{title: "wrote " + f.out, columns: []string{"", "finding"}, json: r}
	for _, finding := range r.Findings {
		out.rows = append(out.rows, []any{finding.Level, finding.Text})
	}
	return env.print(out)
}
