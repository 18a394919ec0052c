package job

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/shards"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/objective"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
)

// ModelFile is the name of the result of train.
const ModelFile = "model.json"

// startFile is the manifest of the shards' own models, which are the parts of the job.
const startFile = "start.json"

// Starting points of a training: the average of the shards' own optima, or 0.
const (
	average = "average"
	zero    = "zero"
)

// training learns one model from all shards by L-BFGS on the driver. The first round is an ordinary job that
// trains a model on every shard alone. Every later round evaluates the risks of all shards at one point.
func training() task {
	return task{
		sharded: true, manifest: startFile, experimental: true,
		ending: func(*Job) string { return ".json" },
		part:   ownOptimum,
		finish: func(ctx context.Context, _ *workspace, j *Job, parts []Done) error {
			return writeJSON(ctx, under(j.Out, startFile), results{Format: resultsFormat, Command: j.Command, Key: j.Key, Parts: parts})
		},
		drive: minimise,
	}
}

// words are the flags of "listwise train" that a training over shards accepts.
type words struct {
	method.Recipe

	method   string
	settings map[string]string
}

// words parses the flags in Args. The default threshold depends on the grades of all shards.
func (j *Job) words(m *shards.Manifest) (*words, error) {
	w := &words{Recipe: method.DefaultRecipe(), settings: make(map[string]string)}
	f := flag.NewFlagSet(j.Command, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	for name, text := range map[string]*string{
		"method": &w.method, "scorer": &w.Scorer, "measure": &w.Measure, "convention": &w.Convention, "threshold": &w.Threshold,
		"normalize": &w.Normalize, "views": &w.Views, "missing": &w.Missing,
	} {
		f.StringVar(text, name, *text, "")
	}
	f.Uint64Var(&w.Seed, "seed", w.Seed, "")
	f.Func("transform", "", func(text string) error { w.Transform = append(w.Transform, text); return nil })
	f.Func("set", "", func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if _, twice := w.settings[name]; !ok || twice {
			return errors.New("expected name=value, each name once")
		}
		w.settings[name] = value
		return nil
	})
	err := f.Parse(j.Args)
	if err == nil && f.NArg() > 0 {
		err = fmt.Errorf("found the argument %q", f.Arg(0))
	}
	if err != nil {
		return nil, fmt.Errorf("%w, expected of the flags of \"listwise train\" --method, --set, --scorer, --measure, --convention, --threshold, --normalize, --views, --missing and --seed", err)
	}
	if w.method == "" {
		return nil, errors.New("expected --method behind --, as of \"listwise train\"")
	}
	c, err := method.ParseConvention(w.Convention, w.Threshold)
	if err != nil {
		return nil, err
	}
	if w.Threshold == method.AutoThreshold {
		w.Threshold = strconv.FormatFloat(c.ForGrades(m.Grades.Sample()).Threshold(), 'g', -1, 64)
	}
	return w, nil
}

// problem returns the training problem for d. It is an error if the problem cannot be divided among shards.
func (w *words) problem(d *dataset.Dataset) (*train.Problem, error) {
	how, p, err := w.Problem(w.method, w.settings)
	if err != nil {
		return nil, err
	}
	p.Settle(d, nil)
	whole, err := how.Problem(p)
	if err == nil {
		err = whole.Divisible()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.method, err)
	}
	return whole, nil
}

// probe returns generated data in the form of the shards' data. It has the given number of queries, with two
// documents each.
func probe(m *shards.Manifest, queries int) (*dataset.Dataset, error) {
	var b dataset.Builder
	for i := range queries {
		if err := b.Add(strconv.Itoa(i), []float64{0, max(1, m.Grades.Least)}, make([]float32, 2*m.Features), nil); err != nil {
			return nil, err
		}
	}
	d := b.Dataset()
	d.FeatureNames = m.Names
	return d, nil
}

// learnsBy returns the training problem without reading data. It is an error if the problem depends on the
// number of queries, because a shard has only some of them.
func (j *Job) learnsBy(m *shards.Manifest) (*train.Problem, error) {
	w, err := j.words(m)
	if err != nil {
		return nil, err
	}
	var found [2]*train.Problem
	var identities [2]string
	for i := range found {
		d, err := probe(m, 1+i)
		if err != nil {
			return nil, err
		}
		p, err := w.problem(d)
		if err != nil {
			return nil, err
		}
		found[i], identities[i] = p, train.IdentityOf(p.Method, p.Loss, p.Learner, p.Settings)
	}
	if identities[0] != identities[1] {
		return nil, fmt.Errorf("%s: found settings by which the loss depends on the number of queries, expected others (of ranksvm c_scale=sum): a shard has some of them", w.method)
	}
	return found[0], nil
}

// checkTraining returns an error if the model cannot be trained over shards. It is called before any work is
// done.
func (j *Job) checkTraining(m *shards.Manifest) error {
	_, err := j.learnsBy(m)
	return err
}

// openShard opens the data of a shard and binds the loss to them.
func (j *Job) openShard(ctx context.Context, w *workspace, part int) (_ *train.Part, d *dataset.Dataset, err error) {
	dir, err := w.shard(ctx, j.Data, part)
	if err != nil {
		return nil, nil, err
	}
	m, err := shards.Load(filepath.Join(dir, shards.FileName))
	if err != nil {
		return nil, nil, err
	}
	how, err := j.words(m)
	if err != nil {
		return nil, nil, err
	}
	opts := dataset.Options{Stream: true}
	if opts.Missing, err = how.ReadMissing(); err != nil {
		return nil, nil, err
	}
	if d, err = datafile.OpenShard(m, part, opts); err != nil {
		return nil, nil, err
	}
	p, err := how.problem(d)
	if err == nil {
		var risk *train.Part
		if risk, err = train.NewPart(ctx, p); err == nil {
			return risk, d, nil
		}
	}
	return nil, nil, errors.Join(fmt.Errorf("%s: %w", m.Path(part), err), d.Close())
}

// ownOptimum trains a model on one shard alone. The model also describes the data of the shard.
func ownOptimum(ctx context.Context, _ *workspace, j *Job, part int, file string) (Done, error) {
	return Done{}, j.onPart(ctx, part, func(risk *train.Part) error {
		share := 0.0
		if j.Start == average {
			m, _, err := manifestOf(ctx, j.Data)
			if err != nil {
				return err
			}
			share = float64(m.Shards[part].Queries) / float64(m.Queries)
		}
		own, err := risk.Model(ctx, share)
		if err != nil {
			return err
		}
		return own.Save(file)
	})
}

// minimise learns from all shards and writes the model. It reads the models that the first round has trained
// on single shards.
func minimise(ctx context.Context, w *workspace, j *Job, run func(ctx context.Context, p *beam.Pipeline) error) error {
	text, err := read(ctx, under(j.Out, startFile))
	if err != nil {
		return err
	}
	var start results
	if err := json.Unmarshal(text, &start); err != nil || start.Key != j.Key {
		return fmt.Errorf("%s: found another file than the first round has written (%w)", under(j.Out, startFile), err)
	}
	m, _, err := manifestOf(ctx, j.Data)
	if err != nil {
		return err
	}
	d := train.Divided{Average: j.Start == average}
	if d.Problem, err = j.learnsBy(m); err != nil {
		return err
	}
	rounds := &rounds{ctx: ctx, job: j, run: run}
	for i, p := range start.Parts {
		file := filepath.Join(w.dir, p.Name)
		if err := download(ctx, under(j.Out, p.Name), file); err != nil {
			return err
		}
		own, err := model.Load(file)
		if err != nil {
			return err
		}
		d.Models, d.Parts = append(d.Models, own), append(d.Parts, objective.PartialRisk(part{rounds, i}))
	}
	trained, err := d.Learn(ctx)
	if err != nil {
		return err
	}
	file := filepath.Join(w.dir, ModelFile)
	if err := trained.Save(file); err != nil {
		return err
	}
	done := Done{Name: ModelFile}
	if done.Bytes, done.SHA256, err = shards.Checksum(file); err != nil {
		return err
	}
	if err := upload(ctx, file, under(j.Out, ModelFile)); err != nil {
		return err
	}
	return writeJSON(ctx, under(j.Out, ResultsFile), results{resultsFormat, j.Command, j.Key, append(start.Parts, done)})
}
