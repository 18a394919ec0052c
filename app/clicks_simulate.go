package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/click"
	clickmodel "github.com/listwise/listwise/click/model"
	"github.com/listwise/listwise/click/simulate"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/model"
)

type simulateFlags struct {
	scoring
	data         string
	models       []string
	click, order string
	pages, from  int
	users, top   int
	seed         uint64
	out, truth   string
}

func newClicksSimulateCommand(env *environment) *cobra.Command {
	var f simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate --data FILE --model M --out PAGES",
		Short: "Simulate a log of pages with clicks",
		Long: `Simulates users who click on rankings of judged queries. Each page ranks a query drawn
uniformly, shows its first documents and draws clicks from a click model. A document
attracts with probability ε + (1−ε)(2^grade − 1)/(2^highest − 1).

Click models (--click), each with noise=ε (default 0.1):
  pbm:eta=1              examination of rank k with probability k^−eta
  cascade                users go down to the first click
  ubm:FILE               examination by rank and last click: JSON, [[1], [.7, .9], …]
  dcm:continue=.7        probability to go on after a click, by rank; the last one repeats
  dbn:stop=0,.5,.9,continue=.9   probability of satisfaction by grade, and to go on
  ccm:tau=.95,.9,.5      probability to go on after a skip, a click, a satisfying click
  trust:eta=1            as pbm; users who examine rank k click an attractive document with
                         probability 1 − (k+1)/100 and another with probability .65/k
  FILE                   model file of clicks fit, which clicks by its own parameters

Orders (--order):
  fixed                  by descending score of the model
  noise:T                Plackett–Luce: standardized score / T plus Gumbel noise
  swap                   rank 1 exchanged with a random rank with probability ½
  pairs                  FairPairs: neighbours exchanged with probability ½
  shuffle:N              the first N ranks in random order (default: all shown)
  arms:3,1               several models (--model NAME=FILE) with shares; a user keeps the
                         model if there are --users

Pages have the probability of their ranking (propensity) and of each document in its
place (propensities), given the query. Both are exact. With noise, propensities are
integrals, exact to 1e-12; they are omitted if queries have too many documents.

A page depends on --seed and its number alone. So parts of a log may be made separately
with --from, and the number of cores does not matter. --truth writes the examination by
rank (theta) and the attraction of each document (gamma).`,
		Example: `  listwise clicks simulate --data train.txt --model m.json --pages 20000 --click pbm:eta=1,noise=0.1 --order noise:0.5 --out pages.jsonl.gz
  listwise clicks simulate --data train.txt --model old=a.json --model new=b.json --order arms:9,1 --users 500 --out ab.jsonl.gz`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "data", "model", "out"); err != nil {
				return err
			}
			return f.run(cmd.Context(), env)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.data, "data", "", "`file` of judged queries; - is standard input")
	fl.StringArrayVar(&f.models, "model", nil, "model `file` that ranks, or NAME=FILE; repeatable with --order arms")
	fl.StringVar(&f.click, "click", "pbm:eta=1", "click `model` with its parameters, or a model file")
	fl.StringVar(&f.order, "order", string(simulate.Fixed), "`order` of documents: fixed, noise:T, swap, pairs, shuffle:N or arms:SHARES")
	addWhole(fl, &f.pages, "pages", 10000, 1, "`number` of pages")
	addWhole(fl, &f.from, "from", 0, 0, "`number` of the first page")
	addWhole(fl, &f.users, "users", 0, 0, "`number` of users; 0: pages are independent")
	addWhole(fl, &f.top, "top", 10, 1, "`number` of documents shown")
	fl.Uint64Var(&f.seed, "seed", 1, "random `seed`")
	fl.StringVar(&f.truth, "truth", "", "output `file` of the true parameters, JSON")
	fl.StringVar(&f.out, "out", "", "output `file` of pages, format by its ending; - is standard output")
	f.addTo(cmd)
	return cmd
}

func (f *simulateFlags) targets(models []string) *targets {
	t := new(targets).reads("--data", f.data).reads("--model", models...).reads("--click", strings.TrimPrefix(f.click, "ubm:"))
	return t.writes("--out", f.out).writes("--truth", f.truth)
}

func (f *simulateFlags) run(ctx context.Context, env *environment) error {
	s := &simulate.Simulation{Top: f.top, Users: f.users, Seed: f.seed}
	var err error
	if s.Clicks, err = f.clickModel(); err != nil {
		return usageErrorf("--click: %w", err)
	}
	if s.Order, err = simulate.ParseOrder(f.order); err != nil {
		return usageErrorf("--order: %w", err)
	}
	if f.from > mostOf-f.pages {
		return usageErrorf("--from %d --pages %d: expected at most %d pages in all", f.from, f.pages, mostOf)
	}
	var paths []string
	if s.Rankers, paths, err = f.rankers(&s.Order); err != nil {
		return err
	}
	if err := checkPagesOut(f.out); err != nil {
		return err
	}
	if err := f.targets(paths).check(); err != nil {
		return err
	}
	if s.Queries, err = f.queries(ctx, env, paths); err != nil {
		return err
	}
	err = s.Prepare()
	if has[*clickmodel.UnknownError](err) {
		return usageErrorf("--click %s, --top %d: %w", f.click, f.top, err)
	}
	if err != nil {
		return usageErrorf("%s: %w", inputName(f.data), err)
	}
	if m, ok := s.Clicks.(*simulate.Fitted); ok && m.Unseen > 0 {
		env.note("note: %s not in the log of %s; its parameters of unseen pairs apply", counted(m.Unseen, "pair of a query and a document is", "pairs of a query and a document are"), f.click)
	}
	if n := s.Unplaced(); n > 0 {
		env.note("note: pages of %s have no propensities of documents, which would take too long to compute", counted(n, "query", "queries"))
	}
	counts, err := f.write(ctx, env, s)
	if err != nil {
		return err
	}
	if f.truth != "" {
		if err := atomicfile.Write(f.truth, atomicfile.JSON(s.Truth())); err != nil {
			return err
		}
	}
	if f.out == "-" {
		return nil
	}
	return env.print(f.report(s, &counts))
}

// clickModel returns the click model.
func (f *simulateFlags) clickModel() (simulate.Model, error) {
	if !exists(f.click) {
		return simulate.ParseModel(f.click)
	}
	m, err := clickmodel.Load(f.click)
	if err != nil {
		return nil, err
	}
	return &simulate.Fitted{Model: m}, nil
}

// rankers returns the models' names with their shares, and their files.
func (f *simulateFlags) rankers(o *simulate.Order) (rankers []simulate.Ranker, paths []string, err error) {
	if o.Shares != nil && len(o.Shares) != len(f.models) {
		return nil, nil, usageErrorf("--order %s: found %s, expected %d, one for each --model", f.order, counted(len(o.Shares), "share", "shares"), len(f.models))
	}
	if len(f.models) > 1 && o.Kind != simulate.Arms {
		return nil, nil, usageErrorf("--model: found %d models with --order %s, expected one, or --order arms", len(f.models), f.order)
	}
	for i, arg := range f.models {
		name, path, ok := strings.Cut(arg, "=")
		if !ok || exists(arg) {
			path = arg
			name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		}
		if slices.ContainsFunc(rankers, func(r simulate.Ranker) bool { return r.Name == name }) {
			return nil, nil, usageErrorf("--model: found the name %q twice, expected different names as NAME=FILE", name)
		}
		share := 1
		if o.Shares != nil {
			share = o.Shares[i]
		}
		rankers, paths = append(rankers, simulate.Ranker{Name: name, Share: share}), append(paths, path)
	}
	return rankers, paths, nil
}

// queries reads the data and scores them with the models.
func (f *simulateFlags) queries(ctx context.Context, env *environment, paths []string) ([]simulate.Query, error) {
	opts, err := f.options()
	if err != nil {
		return nil, err
	}
	var models []*model.Model
	for _, path := range paths {
		m, err := env.loadModel("model", path)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	if err := f.forModels(&opts, models...); err != nil {
		return nil, err
	}
	opts.Stream = true
	d, err := env.openAndWarn(ctx, "data", f.data, opts)
	if err != nil {
		return nil, err
	}
	if d, err = f.withRoom(ctx, env, f.data, d, opts); err != nil {
		return nil, err
	}
	scores := make([][]float64, len(models))
	for k, m := range models {
		err := env.during("scoring "+f.data, func() (err error) {
			scores[k], err = f.scores(m, paths[k], d)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return simulate.Queries(d, scores...), nil
}

// scores returns a model's scores.
func (f *simulateFlags) scores(m *model.Model, path string, d *dataset.Dataset) ([]float64, error) {
	scores, err := scoreWith(m, path, f.data, d)
	if err != nil {
		return nil, err
	}
	return scores, f.checkModel(path, m, make(map[string]bool))
}

// write writes the pages. Chunks of JSON lines are encoded and compressed by themselves, on the core that draws them.
func (f *simulateFlags) write(ctx context.Context, env *environment, s *simulate.Simulation) (counts simulate.Counts, err error) {
	bar := env.startProgress("drawing pages", 0)
	defer bar.finish()
	draw := func(w io.Writer) error {
		if !isJSONLines(f.out) {
			return click.WriteTo(w, f.out, func(add func(*click.Page) error) error {
				drawer := s.Drawer()
				for i := range f.pages {
					if i%simulate.Chunk == 0 {
						bar.set(i, f.pages)
						if err := ctx.Err(); err != nil {
							return err
						}
					}
					p := drawer.Draw(f.from + i)
					counts.Add(p)
					if err := add(p); err != nil {
						return err
					}
				}
				return nil
			})
		}
		var finish func(chunk []byte) ([]byte, error)
		if e := compress.ByName(f.out); e != compress.Plain {
			finish = func(chunk []byte) ([]byte, error) { return compressed(chunk, e) }
		}
		done := 0
		counts, err = s.Each(f.from, f.from+f.pages, click.AppendJSON, finish, func(chunk []byte) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			done++
			bar.set(min(f.pages, done*simulate.Chunk), f.pages)
			_, err := w.Write(chunk)
			return err
		})
		return err
	}
	if f.out == "-" {
		return counts, draw(env.stdout)
	}
	err = atomicfile.Write(f.out, draw)
	return counts, err
}

// isJSONLines reports whether click.Write writes JSON lines to a file of this name.
func isJSONLines(name string) bool {
	if compress.ByName(name) != compress.Plain {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return !slices.Contains([]string{".csv", ".tsv", ".tab", ".parquet"}, strings.ToLower(filepath.Ext(name)))
}

// compressed returns text as a whole compressed file. Files behind one another are one.
func compressed(text []byte, e compress.Encoding) ([]byte, error) {
	var b bytes.Buffer
	w, err := compress.Writer(&b, e)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

type simulatedJSON struct {
	Out     string              `json:"out"`
	From    int                 `json:"from"`
	Pages   int                 `json:"pages"`
	Clicked int                 `json:"clicked"` // pages with a click
	Clicks  int                 `json:"clicks"`
	Ranks   []simulatedRankJSON `json:"ranks"`
}

type simulatedRankJSON struct {
	Rank   int      `json:"rank"`
	Pages  int      `json:"pages"`
	Clicks int      `json:"clicks"`
	Rate   float64  `json:"rate"`
	Theta  *float64 `json:"theta"` // probability of examination; null if it depends on the clicks above
}

func (f *simulateFlags) report(s *simulate.Simulation, c *simulate.Counts) report {
	j := simulatedJSON{Out: f.out, From: f.from, Pages: c.Pages, Clicked: c.Clicked}
	r := report{columns: []string{"rank", "pages", "clicks", "rate", "theta"}, keys: 1, written: true}
	theta := s.Theta()
	for k, n := range c.Shown {
		j.Clicks += c.Clicks[k]
		rank := simulatedRankJSON{Rank: k + 1, Pages: n, Clicks: c.Clicks[k], Rate: float64(c.Clicks[k]) / float64(n)}
		var cell any
		if k < len(theta) {
			rank.Theta, cell = &theta[k], theta[k]
		}
		j.Ranks = append(j.Ranks, rank)
		r.rows = append(r.rows, []any{rank.Rank, rank.Pages, rank.Clicks, rank.Rate, cell})
	}
	r.title = fmt.Sprintf("wrote %s: pages %d, with a click %d, clicks %d", f.out, c.Pages, c.Clicked, j.Clicks)
	r.json = j
	return r
}
