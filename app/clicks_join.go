package app

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/dataset/memory"
)

type clicksJoinFlags struct {
	memoryLimit
	logs, clicks   []string
	ubi, ubiEvents []string
	metarank       []string
	actions        []string
	queryField     string
	within         time.Duration
	duplicates     string
	out            string
}

func newClicksJoinCommand(env *environment) *cobra.Command {
	var f clicksJoinFlags
	cmd := &cobra.Command{
		Use:   "join --log FILE --clicks FILE --out PAGES",
		Short: "Join logged rankings and clicks to pages",
		Long: `Writes a page for each ranking of a log, with its clicks. A log is one of:
  --log, --clicks        logs of listwise serve, and clicks, one JSON object per line:
                         {"page":"8f3c…","id":"d7"} or
                         {"user":"u1","query":"q1","id":"d7","time":"2026-01-02T15:04:05Z"}
  --ubi, --ubi-events    User Behavior Insights: queries and events, as OpenSearch stores
                         or exports them (also with _source, or as a bulk request)
  --metarank             events of metarank: rankings and interactions

A click that names a ranking (page, query_id, ranking) belongs to it. Any other click
belongs to the last ranking of its user and query that was shown no later and at most
--within before; a click without a time to the last of all. Clicks on documents that were
not shown are left out. Lines that repeat a ranking or click count once. The result counts
all that is left out.

Pages of serve have the model's name as arm; an interleaving has the names of both
teams' models, separated by a comma. Queries of UBI are user_query, and users client_id.
The query of metarank is the field --query-field of a ranking. Rankings without a query
are left out.

Logs are read twice. Clicks are in memory, with about 250 bytes each. A ranking takes 50
bytes, and 30 more if clicks on its user and query name no page.`,
		Example: `  listwise clicks join --log experiments.jsonl --clicks clicks.jsonl --out pages.jsonl.gz
  listwise clicks join --ubi ubi_queries.ndjson --ubi-events ubi_events.ndjson --out pages.jsonl.gz
  listwise clicks join --metarank events.jsonl --action click --out pages.jsonl.gz`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, env) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.logs, "log", nil, "log `file` of listwise serve; repeatable")
	fl.StringArrayVar(&f.clicks, "clicks", nil, "`file` of clicks, one JSON object per line; repeatable")
	fl.StringArrayVar(&f.ubi, "ubi", nil, "`file` of UBI queries, JSON lines; repeatable")
	fl.StringArrayVar(&f.ubiEvents, "ubi-events", nil, "`file` of UBI events, JSON lines; repeatable")
	fl.StringArrayVar(&f.metarank, "metarank", nil, "`file` of metarank events, JSON lines; repeatable")
	fl.StringArrayVar(&f.actions, "action", []string{"click"}, "`name` of UBI or metarank events that are clicks; repeatable")
	fl.StringVar(&f.queryField, "query-field", "query", "metarank: `name` of the field with the query")
	fl.DurationVar(&f.within, "within", 24*time.Hour, "longest `time` from ranking to click; 0: any")
	fl.StringVar(&f.duplicates, "duplicates", "error", "`how` to treat different rankings with one id: error or first")
	fl.StringVar(&f.out, "out", "", "output `file` of pages, format by its ending; - is standard output")
	f.addTo(cmd)
	return cmd
}

func (f *clicksJoinFlags) targets(j *click.Join) *targets {
	return new(targets).reads("", j.Shown...).reads("", j.Clicks...).writes("--out", f.out)
}

// source returns the join of the log that the flags name.
func (f *clicksJoinFlags) source(cmd *cobra.Command) (*click.Join, error) {
	given := func(names ...string) (set []string) {
		for _, n := range names {
			if cmd.Flags().Changed(n) {
				set = append(set, "--"+n)
			}
		}
		return set
	}
	serve, ubi, metarank := given("log", "clicks"), given("ubi", "ubi-events"), given("metarank")
	switch {
	case len(serve)+len(ubi)+len(metarank) == 0:
		return nil, needs(cmd, "--log and --clicks, --ubi and --ubi-events, or --metarank")
	case serve != nil && ubi != nil, serve != nil && metarank != nil, ubi != nil && metarank != nil:
		return nil, usageErrorf("found %s, expected one kind of log", strings.Join(append(append(serve, ubi...), metarank...), ", "))
	case serve != nil:
		if set := given("action", "query-field"); set != nil {
			return nil, usageErrorf("%s: found it with %s, expected it with --ubi or --metarank", set[0], serve[0])
		}
		return &click.Join{Shown: f.logs, Clicks: f.clicks, Format: click.ServeLog{}}, required(cmd, "log", "clicks")
	}
	if set := given("within"); set != nil {
		return nil, usageErrorf("--within: found it with %s, whose clicks name their ranking, expected it with --log", append(ubi, metarank...)[0])
	}
	if ubi != nil {
		if set := given("query-field"); set != nil {
			return nil, usageErrorf("--query-field: found it with %s, expected it with --metarank", ubi[0])
		}
		return &click.Join{Shown: f.ubi, Clicks: f.ubiEvents, Format: &click.UBI{Actions: f.actions}}, required(cmd, "ubi", "ubi-events")
	}
	return &click.Join{Shown: f.metarank, Clicks: f.metarank, Format: &click.Metarank{Actions: f.actions, Query: f.queryField}}, nil
}

func (f *clicksJoinFlags) run(cmd *cobra.Command, env *environment) error {
	j, err := f.source(cmd)
	if err != nil {
		return err
	}
	if err := required(cmd, "out"); err != nil {
		return err
	}
	if f.duplicates != "error" && f.duplicates != "first" {
		return usageErrorf("--duplicates: found %q, expected error or first", f.duplicates)
	}
	if f.within < 0 {
		return usageErrorf("--within %v: expected 0 or more", f.within)
	}
	for _, name := range []string{"log", "clicks", "ubi", "ubi-events", "metarank"} {
		if paths, err := cmd.Flags().GetStringArray(name); err == nil && slices.Contains(paths, "-") {
			return usageErrorf("--%s: found -, expected a file, since logs are read twice", name)
		}
	}
	if err := checkPagesOut(f.out); err != nil {
		return err
	}
	if err := f.targets(j).check(); err != nil {
		return err
	}
	j.Within, j.KeepFirst = f.within, f.duplicates == "first"
	j.Mem = memory.New("the log", f.options())
	bar := env.startProgress("joining", 0)
	defer bar.finish()
	j.Observe = bar.bytes
	tally := new(click.Tally)
	fill := func(add func(*click.Page) error) error {
		err := j.Run(cmd.Context(), func(p *click.Page) error {
			if err := tally.Watch(p, j.Mem); err != nil {
				return err
			}
			return add(p)
		})
		if err == nil && j.Pages == 0 {
			err = usageErrorf("%s: found no rankings with a query and documents, expected at least one", strings.Join(j.Shown, ", "))
		}
		return pagesFault("", strings.Join(j.Shown, ", "), hintAtMemory(err))
	}
	if f.out == "-" {
		return click.WriteTo(env.stdout, "", fill)
	}
	if err := click.Write(f.out, fill); err != nil {
		return err
	}
	bar.finish()
	f.notes(env, j)
	faultNotes(env, tally)
	return env.print(f.report(j))
}

// checkPagesOut returns an error unless pages can be written to a file of this name.
func checkPagesOut(out string) error {
	if out == "-" {
		return nil
	}
	if err := click.WriteTo(io.Discard, out, func(func(*click.Page) error) error { return nil }); err != nil {
		return usageErrorf("--out: %w", err)
	}
	return nil
}

// notes prints hints at mistakes.
func (f *clicksJoinFlags) notes(env *environment, j *click.Join) {
	if j.NotShown > j.Used {
		env.note("warning: %d of %d clicks are on documents that were not shown; the ids of rankings and of clicks may differ", j.NotShown, j.NotShown+j.Used)
	}
	if j.Before > 0 {
		env.note("warning: %d of %d clicks (%.3g %%) are earlier than the ranking that they name, by %v in the mean: the clocks differ, or clicks name other rankings; correct the times, as tests over time rely on them",
			j.Before, j.Used, 100*float64(j.Before)/float64(max(1, j.Used)), j.Lead.Round(time.Millisecond))
	}
	if j.Early > 0 {
		env.note("warning: %s left out, although the user and query have a ranking later: the clocks differ, or rankings are missing; log the page with each click",
			counted(j.Early, "click without a ranking is", "clicks without a ranking are"))
	}
	if j.Ambiguous > 0 {
		env.note("note: %s no time and a user and query with several rankings; the last one counts", counted(j.Ambiguous, "click has", "clicks have"))
	}
	if f.metarank != nil && j.Unasked > 0 {
		env.note("note: %s no field %q, which --query-field names", counted(j.Unasked, "ranking has", "rankings have"), f.queryField)
	}
}

type joinedJSON struct {
	Out      string       `json:"out"`
	Pages    int          `json:"pages"`
	Clicked  int          `json:"clicked"` // pages with a click
	Clicks   int          `json:"clicks"`
	Rankings leftRankings `json:"rankings_left_out"`
	Left     leftClicks   `json:"clicks_left_out"`

	Before     int `json:"clicks_before_their_ranking"` // which are used
	Ambiguous  int `json:"clicks_with_several_rankings"`
	Others     int `json:"other_events"`
	Damaged    int `json:"damaged_lines"`
	Incomplete int `json:"incomplete_lines"`
}

type leftRankings struct {
	Shadows     int `json:"shadows"`
	Unasked     int `json:"without_query"`
	Empty       int `json:"without_documents"`
	Repeated    int `json:"repeated"`
	Conflicting int `json:"other_with_known_id"`
}

type leftClicks struct {
	NotShown  int `json:"document_not_shown"`
	Unmatched int `json:"without_ranking"`
	Early     int `json:"too_early"` // of those without a ranking
	Late      int `json:"too_late"`
	Unnamed   int `json:"without_id_of_ranking"`
	Repeated  int `json:"repeated"`
}

func (f *clicksJoinFlags) report(j *click.Join) report {
	out := joinedJSON{
		f.out, j.Pages, j.Clicked, j.Used, leftRankings{j.Shadows, j.Unasked, j.Empty, j.Repeated, j.Conflicting},
		leftClicks{j.NotShown, j.Unmatched, j.Early, j.Late, j.Unnamed, j.RepeatedClicks}, j.Before, j.Ambiguous, j.Others, j.Damaged, j.Incomplete,
	}
	r := report{title: fmt.Sprintf("wrote %s", f.out), columns: []string{"what", "number"}, json: out, written: true}
	r.rows = [][]any{{"pages", j.Pages}, {"pages with a click", j.Clicked}, {"clicks", j.Used}}
	for _, left := range []struct {
		what string
		n    int
	}{
		{"left out: shadow rankings", j.Shadows},
		{"left out: rankings without a query", j.Unasked},
		{"left out: rankings without documents", j.Empty},
		{"left out: repeated rankings", j.Repeated},
		{"left out: other rankings with a known id", j.Conflicting},
		{"left out: clicks on documents that were not shown", j.NotShown},
		{"left out: clicks without a ranking", j.Unmatched},
		{"left out: clicks later than --within", j.Late},
		{"left out: clicks that name no ranking", j.Unnamed},
		{"left out: repeated clicks", j.RepeatedClicks},
		{"left out: other events", j.Others},
		{"left out: lines that are not JSON", j.Damaged},
		{"left out: last lines that were cut off", j.Incomplete},
	} {
		if left.n > 0 {
			r.rows = append(r.rows, []any{left.what, left.n})
		}
	}
	return r
}
