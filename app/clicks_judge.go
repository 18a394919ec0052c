package app

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/model"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/rows"
	"github.com/listwise/listwise/internal/suggest"
)

type clicksJudgeFlags struct {
	clickFit
	model      string
	bootstrap  int
	seed       uint64
	levels     int
	at         string
	examined   float64
	keepUnsure bool
	out        string
}

// judgeFormats lists the values of --format: the formats of all commands, and qrels, TREC
// judgements.
var judgeFormats = []string{"text", "json", "csv", asQrels}

const asQrels = "qrels"

// mostLevels is the largest number of levels of grades.
const mostLevels = 100

func newClicksJudgeCommand(env *environment) *cobra.Command {
	var f clicksJudgeFlags
	cmd := &cobra.Command{
		Use:   "judge PAGES... [--out FILE]",
		Short: "Make judgements with intervals from clicks",
		Long: `Fits a click model to logs of pages and writes a grade for each query and document. The
grade is the posterior mean of the model's relevance, a number from 0 to 1: attraction,
times satisfaction for sdbn and dbn, squared for ccm. --relevance attraction leaves out
satisfaction.

Columns:
  query, doc         ids
  grade              posterior mean, or level with --levels and --at
  mean               posterior mean, if grade is a level
  low, high          interval of 95 % of the mean
  impressions        pages with the document
  examinations       expected number of users who looked at it, given the clicks above it
                     and not the clicks on it, so clicks may be more
  clicks             pages with a click on it
  document_weight    expected examinations, scaled to mean 1

Intervals are of the Beta distribution with the posterior's mean and variance. They take
the parameters that documents share as known. --bootstrap N widens them to those of N fits
to samples of users, or of pages if pages name no users.

--levels N makes whole grades from 0 to N-1 with equal numbers of the documents with at
least --min-examinations. --at gives the N-1 lowest means of levels 1, 2, … A document
whose interval spans three levels is left out, unless --keep-unsure is given.

The ending of --out sets its format: .csv, .tsv or .qrels. All are lists for "listwise data
join --judgements", which adds grades and weights to features. TREC qrels (--format qrels)
need levels.`,
		Example: `  listwise clicks judge pages.jsonl.gz --out judged.csv
  listwise clicks judge pages.jsonl.gz --model pbm --levels 5 --out judged.qrels
  listwise clicks judge pages.jsonl.gz --at 0.05,0.1,0.2,0.4 --bootstrap 200 --out judged.csv`,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return env.checkFormat(cmd, judgeFormats, suggest.OneOf(judgeFormats))
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, env, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.model, "model", "dcm", "click `model`")
	addWhole(fl, &f.bootstrap, "bootstrap", 0, 0, "`number` of fits to samples of users; 0: none")
	fl.Uint64Var(&f.seed, "seed", 1, "random `seed`")
	addWhole(fl, &f.levels, "levels", 0, 0, "`number` of whole grades; 0: grades are means")
	fl.StringVar(&f.at, "at", "", "lowest `means` of levels 1, 2, …, separated by commas")
	addReal(fl, &f.examined, "min-examinations", 5, 1e18, "least expected `examinations` of documents that divide the levels")
	fl.BoolVar(&f.keepUnsure, "keep-unsure", false, "keep documents whose interval spans three levels")
	fl.StringVar(&f.out, "out", "", "output `file` (default: standard output)")
	fl.StringVar(&env.format, "format", "text", "output `format`: text, json, csv or qrels")
	f.addTo(cmd, true)
	return cmd
}

func (f *clicksJudgeFlags) run(cmd *cobra.Command, env *environment, args []string) error {
	options, err := f.options()
	if err != nil {
		return err
	}
	k, err := model.Lookup(f.model)
	if err != nil {
		return usageErrorf("--model: %w", err)
	}
	if !k.Grades() {
		return usageErrorf("--model %s: the model has no grades of documents, expected another", k.Name)
	}
	if err := f.unused(cmd, []*model.Kind{k}); err != nil {
		return err
	}
	scale, err := f.scale(cmd)
	if err != nil {
		return err
	}
	format, err := f.outputFormat(env.format)
	if err != nil {
		return err
	}
	if err := new(targets).reads("", args...).writes("--out", f.out).check(); err != nil {
		return err
	}
	judged, err := f.judge(cmd, env, args, k, options)
	if err != nil {
		return err
	}
	all := len(judged)
	if f.levels > 0 && scale == nil {
		if scale, err = model.Quantiles(judged, f.levels, f.examined); err != nil {
			return usageErrorf("--levels %d: %w, fewer levels or a lower --min-examinations", f.levels, err)
		}
	}
	if scale != nil && !f.keepUnsure {
		judged = slices.DeleteFunc(judged, func(j model.Judgement) bool { return !scale.Sure(&j) })
	}
	if len(judged) == 0 {
		return usageErrorf("found no document whose interval spans fewer than three levels, expected one (--keep-unsure keeps all)")
	}
	s := &judgedSheet{k, scale, judged, model.Weights(judged), all - len(judged)}
	if s.leftOut > 0 {
		env.note("note: left out %s whose interval spans three levels (--keep-unsure keeps them)", counted(s.leftOut, "document", "documents"))
	}
	if f.out == "" || f.out == "-" {
		if format == asQrels {
			return s.write(env.stdout, format)
		}
		return env.print(s.report())
	}
	err = env.during("writing "+f.out, func() error {
		return atomicfile.Write(f.out, func(w io.Writer) error { return s.write(w, format) })
	})
	if err != nil {
		return err
	}
	if env.format == asQrels { // of the file
		env.format = "text"
	}
	return env.print(s.summary())
}

// scale returns the levels of --at, nil without it. It checks the flags of levels.
func (f *clicksJudgeFlags) scale(cmd *cobra.Command) (scale model.Scale, err error) {
	if f.at != "" {
		for _, text := range strings.Split(f.at, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || !(v > 0 && v < 1) || len(scale) > 0 && v <= scale[len(scale)-1] {
				return nil, usageErrorf("--at: found %q, expected increasing numbers between 0 and 1", text)
			}
			scale = append(scale, v)
		}
		if f.levels > 0 && f.levels != len(scale)+1 {
			return nil, usageErrorf("--at: found %s, expected %d for --levels %d", counted(len(scale), "number", "numbers"), f.levels-1, f.levels)
		}
		f.levels = len(scale) + 1
	}
	if cmd.Flags().Changed("levels") && f.levels < 2 && f.at == "" || f.levels > mostLevels {
		return nil, usageErrorf("--levels: found %d, expected 2 to %d", f.levels, mostLevels)
	}
	if f.levels == 0 && f.keepUnsure {
		return nil, usageErrorf("--keep-unsure needs --levels or --at")
	}
	if cmd.Flags().Changed("min-examinations") && (f.levels == 0 || f.at != "") {
		return nil, usageErrorf("--min-examinations needs --levels without --at")
	}
	if cmd.Flags().Changed("seed") && f.bootstrap == 0 {
		return nil, usageErrorf("--seed needs --bootstrap")
	}
	return scale, nil
}

// judge reads the pages and returns the judgements.
func (f *clicksJudgeFlags) judge(cmd *cobra.Command, env *environment, args []string, k *model.Kind, o model.Options) (judged []model.Judgement, err error) {
	s := new(model.Sample)
	s.Mem, s.Keep = f.account(), k.Patterns
	add := s.Counts.Add
	if f.bootstrap > 0 {
		add = s.Add
	}
	if _, err := f.read(cmd, env, "", args, func(p *click.Page) error { return add(p) }); err != nil {
		return nil, err
	}
	warnOfFixedOrder(env, &s.Counts, []*model.Kind{k})
	d, err := model.Arrange(&s.Counts)
	if err != nil {
		return nil, f.fault(args, err)
	}
	attraction := f.grading == relevanceOfAttraction
	err = env.during("fitting "+k.Name, func() error {
		m, err := d.Fit(cmd.Context(), k, o)
		if err != nil {
			return err
		}
		judged, err = d.Judge(cmd.Context(), m, attraction, 0)
		return err
	})
	if err == nil && f.bootstrap > 0 {
		err = env.during("fitting samples", func() error {
			return s.Widen(cmd.Context(), judged, k, o, attraction, f.bootstrap, f.seed)
		})
	}
	if err != nil {
		return nil, f.fault(args, err)
	}
	return judged, nil
}

// format returns the format of the output: that of --format, or of the ending of --out.
func (f *clicksJudgeFlags) outputFormat(format string) (string, error) {
	toFile := f.out != "" && f.out != "-"
	ending := filepath.Ext(f.out)
	switch {
	case format == asQrels || toFile && ending == ".qrels":
		if f.levels == 0 {
			return "", usageErrorf("qrels have whole grades, expected --levels or --at")
		}
		return asQrels, nil
	case !toFile:
		return format, nil
	case ending == ".csv" || ending == ".tsv":
		return ending[1:], nil
	}
	return "", usageErrorf("--out %s: found the ending %q, expected .csv, .tsv or .qrels, or --format qrels", f.out, ending)
}

// judgedSheet is what clicks judge writes.
type judgedSheet struct {
	kind    *model.Kind
	scale   model.Scale
	judged  []model.Judgement
	weights []float64
	leftOut int
}

// columns are the names of the columns of cells.
func (s *judgedSheet) columns() []string {
	columns := []string{"query", "doc", "grade", "mean", "low", "high", "impressions", "examinations", "clicks", "document_weight"}
	if s.scale == nil {
		columns = slices.Delete(columns, 3, 4)
	}
	return columns
}

func (s *judgedSheet) cells(i int) []any {
	j := &s.judged[i]
	row := []any{rows.ID(j.Query), rows.ID(j.Doc), j.Grade}
	if s.scale != nil {
		row = []any{row[0], row[1], s.scale.Level(j.Grade), j.Grade}
	}
	return append(row, j.Low, j.High, wholeCount(j.Impressions), j.Examined, wholeCount(j.Clicks), s.weights[i])
}

// write writes the judgements in a format for files.
func (s *judgedSheet) write(w io.Writer, format string) error {
	b := bufio.NewWriter(w)
	if format == asQrels {
		for i := range s.judged {
			j := &s.judged[i]
			if err := trecIDs(j.Query, j.Doc); err != nil {
				return err
			}
			fmt.Fprintf(b, "%s 0 %s %d\n", j.Query, j.Doc, s.scale.Level(j.Grade))
		}
		return b.Flush()
	}
	out := csv.NewWriter(b)
	if format == "tsv" {
		out.Comma = '\t'
	}
	record := s.columns()
	err := out.Write(record)
	for i := 0; i < len(s.judged) && err == nil; i++ {
		for k, cell := range s.cells(i) {
			if v, ok := cell.(float64); ok {
				record[k] = strconv.FormatFloat(v, 'g', -1, 64)
			} else {
				record[k] = fmt.Sprint(cell)
			}
		}
		err = out.Write(record)
	}
	out.Flush()
	return errors.Join(err, out.Error(), b.Flush())
}

// trecIDs returns an error if white space separates ids otherwise than the file does.
func trecIDs(ids ...string) error {
	for _, id := range ids {
		if strings.ContainsFunc(id, unicode.IsSpace) {
			return usageErrorf("found the id %q with a space, which qrels cannot have, expected --out with the ending .csv or .tsv", id)
		}
	}
	return nil
}

// report is the table of the judgements.
func (s *judgedSheet) report() report {
	r := report{columns: s.columns(), keys: 2}
	all := make([]map[string]any, len(s.judged))
	for i := range s.judged {
		row := s.cells(i)
		r.rows = append(r.rows, row)
		all[i] = make(map[string]any, len(row))
		for k, cell := range row {
			all[i][r.columns[k]] = cell
		}
	}
	r.json = all
	return r
}

// summary tells what was written to a file.
func (s *judgedSheet) summary() report {
	queries := make(map[string]bool)
	clicks, examined := 0.0, 0.0
	grades := make([]int, len(s.scale)+1)
	for i := range s.judged {
		j := &s.judged[i]
		queries[j.Query] = true
		clicks, examined = clicks+j.Clicks, examined+j.Examined
		grades[s.scale.Level(j.Grade)]++
	}
	r := report{columns: []string{"what", "value"}, written: true}
	out := judgedWrittenJSON{Model: s.kind.Name, Documents: len(s.judged), Queries: len(queries), LeftOut: s.leftOut, Clicks: clicks, Examinations: examined}
	r.rows = [][]any{{"documents", out.Documents}, {"queries", out.Queries}, {"clicks", wholeCount(clicks)}, {"expected examinations", examined}}
	if s.scale != nil {
		r.rows = append(r.rows, []any{"documents left out", s.leftOut})
		out.Cuts, out.Grades = s.scale, grades
		for level, n := range grades {
			r.rows = append(r.rows, []any{fmt.Sprintf("grade %d", level), n})
		}
	}
	r.json = out
	return r
}

// judgedWrittenJSON is the JSON form of what clicks judge wrote. Scripts rely on its names.
type judgedWrittenJSON struct {
	Model        string    `json:"model"`
	Documents    int       `json:"documents"`
	Queries      int       `json:"queries"`
	LeftOut      int       `json:"left_out"`
	Clicks       float64   `json:"clicks"`
	Examinations float64   `json:"expected_examinations"`
	Cuts         []float64 `json:"cuts,omitempty"`   // lowest means of levels 1, 2, …
	Grades       []int     `json:"grades,omitempty"` // documents by level
}
