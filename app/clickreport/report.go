// Package clickreport makes an HTML page about a log of pages. The page shows clicks by rank, propensities of slots by
// several methods, click models on held-out pages, and documents of frequent queries with their grades.
//
// Start reading at [Log], which gathers pages, and [Log.Build]. Each subject has a file, and findings.go writes
// the sentences at the beginning of the page. The package must not depend on rankers or features.
package clickreport

import (
	"context"
	"strconv"
	"strings"

	"github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/model"
	"github.com/listwise/listwise/click/propensity"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/random"
)

const (
	// DefaultMaxBytes is the default size limit of a page.
	DefaultMaxBytes = 4_000_000
	// DefaultShare is the default share of the units that is held out.
	DefaultShare = 0.2
	// DefaultQueries is the default number of example queries.
	DefaultQueries = 10
)

// Config contains the options of a report.
type Config struct {
	Title  string
	Source string // name of the log
	Valid  string // name of the held-out pages; "": they are a share of the log

	Share      float64       // share of the units that is held out
	Models     []*model.Kind // without repetition
	Fit        model.Options
	Attraction bool // grade documents by attraction instead of relevance

	Queries   int // number of example queries
	Resamples int // bootstrap samples; 0: no intervals of models and of propensities that need them
	Seed      uint64
	MaxBytes  int // size limit of the page; 0: DefaultMaxBytes

	// During, if not nil, calls do and shows its progress under a label.
	During func(label string, do func() error) error
}

// Log gathers the pages that a report describes.
type Log struct {
	config Config
	mem    *memory.Account

	survey       click.Survey
	propensities propensity.Log
	fitted       click.Counts // of the pages that are not held out
	held         model.Sample
	pagesOf      map[string]int // of the queries, among the fitted pages
	pages        int
}

// NewLog returns an empty log. Its memory counts against an account.
func NewLog(c Config, mem *memory.Account) *Log {
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.During == nil {
		c.During = func(_ string, do func() error) error { return do() }
	}
	l := &Log{config: c, mem: mem, pagesOf: map[string]int{}}
	l.survey.Mem, l.propensities.Mem, l.fitted.Mem, l.held.Mem = mem, mem, mem, mem
	for _, k := range c.Models {
		l.fitted.Keep = l.fitted.Keep || k.Patterns
	}
	return l
}

// queryBytes is the memory of a query and its name.
const queryBytes = 100

// Add adds a page of the log.
func (l *Log) Add(p *click.Page) error {
	l.pages++
	if err := l.survey.Add(p); err != nil || p.Clicks == nil {
		return err
	}
	if err := l.propensities.Add(p); err != nil {
		return err
	}
	if l.config.Valid == "" && l.holds(p) {
		return l.held.Add(p)
	}
	if _, known := l.pagesOf[p.Query]; !known {
		if err := l.mem.Take(queryBytes, "queries"); err != nil {
			return err
		}
	}
	l.pagesOf[strings.Clone(p.Query)]++
	return l.fitted.Add(p)
}

// AddHeld adds a page that is not of the log, to measure models.
func (l *Log) AddHeld(p *click.Page) error { return l.held.Add(p) }

// holds reports whether the unit of a page is held out: its user, or the page if it has none.
func (l *Log) holds(p *click.Page) bool {
	key := "user " + p.User
	if p.User == "" {
		key = "page " + p.ID
	}
	if p.User == "" && p.ID == "" {
		key = strconv.Itoa(l.pages)
	}
	return random.Stream(l.config.Seed, "clicks report", key).Float64() < l.config.Share
}

// Report contains the results. Its JSON form is the output of "clicks report".
type Report struct {
	config      Config
	differences []difference

	Findings     report.Findings   `json:"findings"` // the most important first
	Info         *click.Info       `json:"log"`
	Propensities []propensity.Told `json:"propensities"`
	Models       *Models           `json:"models,omitempty"`   // nil without clicks to fit
	Examples     *Examples         `json:"examples,omitempty"` // nil if no model grades documents
}

// Build makes the report. The tally is that of the reader of the log. The result depends only on the pages and the
// options.
func (l *Log) Build(ctx context.Context, t *click.Tally) (*Report, error) {
	r := &Report{config: l.config}
	r.Info = l.survey.Info(t)
	if err := l.estimate(ctx, r); err != nil {
		return nil, err
	}
	if err := l.config.During("comparing propensities", func() error { return l.compareMethods(ctx, r) }); err != nil {
		return nil, err
	}
	if err := l.fit(ctx, r); err != nil {
		return nil, err
	}
	r.find()
	return r, ctx.Err()
}
