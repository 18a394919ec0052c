package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/listwise/listwise/app"
	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/shards"
)

// listwise runs a command line of the program and returns its output. The error has the program's message.
func listwise(ctx context.Context, args ...string) ([]byte, error) {
	var out, errs bytes.Buffer
	if code := app.Run(ctx, append(args, "--quiet"), strings.NewReader(""), &out, &errs); code != 0 {
		return nil, errors.New(strings.TrimPrefix(strings.TrimSpace(errs.String()), "listwise: "))
	}
	return out.Bytes(), nil
}

// with returns a command line with Args appended.
func (j *Job) with(args ...string) []string { return append(args, j.Args...) }

// score scores the documents of every shard. The concatenated parts are the scores of all
// documents.
func score() task {
	return task{
		model: true, sharded: true, manifest: ResultsFile,
		ending: func(*Job) string { return ".scores" },
		part: func(ctx context.Context, w *workspace, j *Job, part int, file string) (Done, error) {
			return Done{}, onShard(ctx, w, j, part, "score", "--out", file)
		},
	}
}

// onShard runs a command with a model on a shard.
func onShard(ctx context.Context, w *workspace, j *Job, part int, command string, args ...string) error {
	dir, err := w.shard(ctx, j.Data, part)
	if err != nil {
		return err
	}
	model, err := w.file(ctx, j.Model)
	if err != nil {
		return err
	}
	line := append([]string{command, "--data", dir, "--model", model, "--shard", strconv.Itoa(part)}, args...)
	if _, err = listwise(ctx, j.with(line...)...); err != nil && remote(j.Data) {
		return fmt.Errorf("of %s: %w", j.Data, err)
	}
	return err
}

// EvalFile is the name of the result of eval. It is the output of the command with --format json.
const EvalFile = "eval.json"

// eval measures every shard and combines the values of the queries.
func eval() task {
	return task{
		model: true, sharded: true, manifest: ResultsFile,
		ending: func(*Job) string { return ".json" },
		part: func(ctx context.Context, w *workspace, j *Job, part int, file string) (Done, error) {
			return Done{}, onShard(ctx, w, j, part, "eval", "--part", file)
		},
		finish: func(ctx context.Context, w *workspace, j *Job, parts []Done) error {
			dir := filepath.Join(w.dir, "parts")
			for _, p := range parts {
				if err := download(ctx, under(j.Out, p.Name), filepath.Join(dir, p.Name)); err != nil {
					return err
				}
			}
			_, text, err := manifestOf(ctx, j.Data)
			if err != nil {
				return err
			}
			data := filepath.Join(w.dir, shards.FileName)
			if err := os.WriteFile(data, text, 0o600); err != nil {
				return err
			}
			model, err := w.file(ctx, j.Model)
			if err != nil {
				return err
			}
			out, err := listwise(ctx, j.with("eval", "--data", data, "--model", model, "--parts", dir, "--format", "json")...)
			if err != nil {
				return err
			}
			return write(ctx, under(j.Out, EvalFile), bytes.NewReader(out))
		},
	}
}

// convert converts every shard to another format. It writes the manifest of the new shards.
func convert() task {
	return task{
		sharded: true, manifest: shards.FileName,
		ending: func(j *Job) string { return j.As },
		part:   convertShard,
		finish: func(ctx context.Context, w *workspace, j *Job, parts []Done) error {
			all := new(shards.Manifest)
			for _, p := range parts {
				one := p.Shard
				s := one.Shards[0]
				s.Name, s.Bytes, s.SHA256 = p.Name, p.Bytes, p.SHA256
				all.Shards, all.Features = append(all.Shards, s), max(all.Features, one.Features)
				if all.Names == nil {
					all.Names = one.Names
				}
				all.Grades.Fractions = all.Grades.Fractions || one.Grades.Fractions
				if one.Grades.Least > 0 {
					all.Grades.Add([]float64{one.Grades.Least})
				}
			}
			if len(all.Names) != all.Features {
				all.Names = nil // a shard without names has more features
			}
			at := filepath.Join(w.dir, shards.FileName)
			if err := all.Save(at); err != nil {
				return err
			}
			return upload(ctx, at, under(j.Out, shards.FileName))
		},
	}
}

// convertShard converts one shard and describes the result.
func convertShard(ctx context.Context, w *workspace, j *Job, part int, file string) (Done, error) {
	dir, err := w.shard(ctx, j.Data, part)
	if err != nil {
		return Done{}, err
	}
	m, err := shards.Load(filepath.Join(dir, shards.FileName))
	if err != nil {
		return Done{}, err
	}
	if _, err := listwise(ctx, j.with("data", "convert", dir, "--shard", strconv.Itoa(part), "--out", file)...); err != nil {
		return Done{}, err
	}
	d, err := datafile.Open(file, dataset.Options{Missing: dataset.MissingKeep, Context: ctx})
	if err != nil {
		return Done{}, err
	}
	made := shards.Manifest{Features: d.Features, Names: d.FeatureNames, Grades: shards.GradesOf(d), Shards: []shards.Shard{{Queries: len(d.Queries), Documents: d.Docs()}}}
	return Done{Shard: made}, errors.Join(m.Admit(part, d), d.Close())
}

// trial is a training of tune, as --trial list prints it.
type trial struct {
	Trial                 int
	Method, Fold, Setting string
}

// trialsOf lists the trainings of a search.
func trialsOf(ctx context.Context, w *workspace, j *Job) ([]trial, error) {
	data, err := w.folder(ctx, j.Data)
	if err != nil {
		return nil, err
	}
	out, err := listwise(ctx, j.with("tune", "--data", data, "--out", filepath.Join(w.dir, "none"), "--trial", "list", "--format", "json")...)
	if err != nil {
		return nil, err
	}
	var list []trial
	return list, json.Unmarshal(out, &list)
}

// TuneFolder is the folder of tune's results, the files that the command writes to its --out.
const TuneFolder = "tuned"

// tune runs every training separately. Then the command selects settings by the records of all trainings.
func tune() task {
	return task{
		manifest: ResultsFile,
		ending:   func(*Job) string { return ".tar" },
		part: func(ctx context.Context, w *workspace, j *Job, part int, file string) (Done, error) {
			data, err := w.folder(ctx, j.Data)
			if err != nil {
				return Done{}, err
			}
			dir := filepath.Join(w.dir, "trial")
			if _, err := listwise(ctx, j.with("tune", "--data", data, "--out", dir, "--trial", strconv.Itoa(part))...); err != nil {
				return Done{}, err
			}
			return Done{}, pack(dir, file)
		},
		finish: func(ctx context.Context, w *workspace, j *Job, parts []Done) error {
			data, err := w.folder(ctx, j.Data)
			if err != nil {
				return err
			}
			dir := filepath.Join(w.dir, TuneFolder)
			for _, p := range parts {
				file := filepath.Join(w.dir, p.Name)
				if err := download(ctx, under(j.Out, p.Name), file); err != nil {
					return err
				}
				if err := unpack(file, dir); err != nil {
					return fmt.Errorf("%s: %w", p.Name, err)
				}
			}
			if _, err := listwise(ctx, j.with("tune", "--data", data, "--out", dir, "--no-record")...); err != nil {
				return err
			}
			return uploadAll(ctx, dir, under(j.Out, TuneFolder))
		},
	}
}
