// Package job runs commands of listwise as Apache Beam pipelines. The elements of score, eval and
// convert are the shards of a data set, and those of tune are trainings. As an experiment, one
// training runs over all shards, with a pipeline per round.
//
// A worker runs the command itself, on its shard or training, and so writes the bytes that the
// command line writes. Start reading at [Job] and [Run]; tasks.go has the commands, train.go and rounds.go the
// training over shards.
package job

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/shards"
)

// Job is a command over the shards of a data set or the trainings of a search. Paths are local
// files that all workers see under the same name, or files of Beam's filesystems.
type Job struct {
	Command string   // score, eval, tune, convert or train
	Data    string   // a folder of shards; of tune, what its --data takes
	Model   string   // of score and eval
	Out     string   // a folder
	As      string   // of convert: the ending of the files to write
	Args    []string // other flags of the command

	// Of train, which is an experiment that must be asked for:

	Experimental bool
	Start        string // average or zero

	// Set by Run, before the workers know of them:

	Key    string   // identifies what is done, but for the shards
	Inputs []string // of every part, what identifies its input: what was done with another is done anew
}

// version is part of the key, so that parts of another version of this package are done again.
const version = 2

// task is what is particular to a command.
type task struct {
	// model says that the command takes one; sharded, that its data are shards.
	model, sharded bool

	// ending is that of the names of the parts.
	ending func(j *Job) string

	// part does one part, and writes the file.
	part func(ctx context.Context, w *workspace, j *Job, part int, file string) (Done, error)

	// finish, unless nil, puts the parts together, and writes the results but for their manifest.
	finish func(ctx context.Context, w *workspace, j *Job, parts []Done) error

	// manifest is the name of the manifest, which finish of the others does not write.
	manifest string

	// experimental says that the command requires a flag. drive, unless nil, runs when all parts
	// are done, and writes ResultsFile.
	experimental bool
	drive        func(ctx context.Context, w *workspace, j *Job, run func(ctx context.Context, p *beam.Pipeline) error) error
}

// Done is a finished part in the output folder.
type Done struct {
	Part    int    `json:"-"`
	Name    string `json:"name"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Skipped bool   `json:"-"` // it was there

	Shard shards.Manifest `json:"shard,omitzero"` // of convert: what the part holds
}

// tasks are the commands.
func tasks() map[string]task {
	return map[string]task{"score": score(), "eval": eval(), "tune": tune(), "convert": convert(), "train": training()}
}

// Commands returns the names of the commands, in order.
func Commands() []string {
	var names []string
	for name := range tasks() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// check returns an error for a job without what it needs.
func (j *Job) check() error {
	t, ok := tasks()[j.Command]
	switch {
	case !ok:
		return fmt.Errorf("found the command %q, expected one of %s", j.Command, strings.Join(Commands(), ", "))
	case j.Data == "" || j.Out == "":
		return fmt.Errorf("%s: expected --data and --out", j.Command)
	case oneFolder(j.Data, j.Out):
		return fmt.Errorf("--data and --out are one folder, %s: expected another for the results", j.Out)
	case t.model && j.Model == "":
		return fmt.Errorf("%s: expected --model", j.Command)
	case !t.model && j.Model != "":
		return fmt.Errorf("%s: found --model, which it has no use for", j.Command)
	case (j.As != "") != (j.Command == "convert"):
		return errors.New("--as says what convert writes: expected it there, and only there")
	case j.As != "" && datafile.CheckEnding(j.As) != nil:
		return fmt.Errorf("--as: %w", datafile.CheckEnding(j.As))
	case j.ownFlag() != "":
		return fmt.Errorf("%s: found %s behind --, which the job gives each part itself, expected other flags", j.Command, j.ownFlag())
	case t.experimental && !j.Experimental:
		return fmt.Errorf("%s: found no --experimental, expected it: a training over several machines waits for a pipeline in every round, and one machine, "+
			"by \"listwise train --train %s\", finds the same optimum sooner below 10^8 to 10^9 documents (docs/beam.md)", j.Command, j.Data)
	case !t.experimental && (j.Experimental || j.Start != ""):
		return errors.New("--experimental and --start are for train: expected them there, and only there")
	case t.experimental && j.Start != average && j.Start != zero:
		return fmt.Errorf("--start: found %q, expected %s or %s", j.Start, average, zero)
	}
	return nil
}

// ownFlag returns the first of Args that the job gives the commands itself, "" if there is none.
func (j *Job) ownFlag() string {
	for _, arg := range j.Args {
		name, _, _ := strings.Cut(arg, "=")
		if slices.Contains([]string{"--data", "--model", "--out", "--shard", "--part", "--parts", "--trial"}, name) || name == "--format" && j.Command == "eval" {
			return name
		}
	}
	return ""
}

// Run builds the pipeline of a job and executes it by run. It first removes the manifest of earlier
// results and their parts that do not belong to this job. The pipeline writes the new manifest
// last, so a failed job leaves none. Finished parts of the same inputs are not done again.
func Run(ctx context.Context, j Job, run func(ctx context.Context, p *beam.Pipeline) error) (err error) {
	if j.Command == "train" && j.Start == "" {
		j.Start = average
	}
	if err := j.check(); err != nil {
		return err
	}
	w, err := newWorkspace()
	if err != nil {
		return err
	}
	defer w.remove()
	if err := j.plan(ctx, w); err != nil {
		return err
	}
	t := tasks()[j.Command]
	if err := j.checkApart(ctx); err != nil {
		return err
	}
	if t.drive != nil {
		if err := discard(ctx, under(j.Out, ResultsFile)); err != nil {
			return err
		}
	}
	if err := discard(ctx, under(j.Out, t.manifest)); err != nil {
		return err
	}
	if err := j.discardOthers(ctx); err != nil {
		return err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.closeAll()) }()
	if err := run(ctx, pipeline(len(j.Inputs), &partFn{Job: string(text)}, &finishFn{Job: string(text)})); err != nil || t.drive == nil {
		return err
	}
	if err := t.drive(ctx, w, &j, run); err != nil {
		return fmt.Errorf("%s: %w", j.Command, err)
	}
	return nil
}

// pipeline returns the pipeline that does every part, and then has all results finished at once.
func pipeline(parts int, do, finish any) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	numbers := make([]int, parts)
	for i := range numbers {
		numbers[i] = i
	}
	done := beam.ParDo(s, do, beam.Reshuffle(s, beam.CreateList(s, numbers)))
	beam.ParDo0(s, finish, beam.GroupByKey(s, done))
	return p
}

// plan settles the parts and what identifies them.
func (j *Job) plan(ctx context.Context, w *workspace) error {
	t := tasks()[j.Command]
	inputs := []any{version, j.Command, j.As, j.Args}
	if t.sharded {
		m, _, err := manifestOf(ctx, j.Data)
		if err != nil {
			return err
		}
		for i, s := range m.Shards {
			j.Inputs = append(j.Inputs, fmt.Sprintf("%s from query %d", s.SHA256, m.First(i)))
		}
		inputs = append(inputs, m.Grades, m.Features, m.Names)
		if t.drive != nil {
			if err := j.checkTraining(m); err != nil {
				return fmt.Errorf("%s: %w", j.Command, err)
			}
			inputs = append(inputs, j.Start, m.Queries)
		}
	}
	if t.model {
		model, err := w.file(ctx, j.Model)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(model)
		if err != nil {
			return err
		}
		inputs = append(inputs, sum(text))
	}
	if !t.sharded {
		trials, err := trialsOf(ctx, w, j)
		if err != nil {
			return err
		}
		for _, one := range trials {
			j.Inputs = append(j.Inputs, fmt.Sprintf("%+v", one))
		}
		data, err := w.folder(ctx, j.Data)
		if err != nil {
			return err
		}
		sums, err := checksums(data)
		if err != nil {
			return err
		}
		inputs = append(inputs, sums)
	}
	text, err := json.Marshal(inputs)
	if err != nil {
		return err
	}
	j.Key = sum(text)
	return nil
}

// sum returns the SHA-256 of a text in hexadecimal.
func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

func init() {
	register.DoFn3x1[context.Context, int, func(int, []byte), error](&partFn{})
	register.DoFn3x1[context.Context, int, func(*[]byte) bool, error](&finishFn{})
	register.DoFn3x1[context.Context, int, func(int, []byte), error](&evaluateFn{})
	register.DoFn3x1[context.Context, int, func(*[]byte) bool, error](&roundFn{})
	register.Emitter2[int, []byte]()
	register.Iter1[[]byte]()
}
