// Package job runs commands of listwise as Apache Beam pipelines. The elements of a pipeline are the shards of
// a data set (score, eval, convert) or trainings (tune). As an experiment, train trains one model over all
// shards, with a pipeline per round.
//
// A worker runs the command itself on its shard or training, so it writes the same bytes as the command line.
// Start reading at [Job] and [Run]. tasks.go has the commands, and train.go and rounds.go have the training
// over shards.
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

// Job is a command over the shards of a data set or the trainings of a search. Paths are local files with the
// same name on all workers, or files of Beam's filesystems.
type Job struct {
	Command string   // score, eval, tune, convert or train
	Data    string   // folder of shards; for tune, the value of its --data
	Model   string   // model file, for score and eval
	Out     string   // output folder
	As      string   // for convert, the ending of the files to write
	Args    []string // other flags of the command

	// For train, an experiment that must be enabled:

	Experimental bool
	Start        string // average or zero

	// Set by Run before the pipeline starts:

	Key    string   // identifies the job, except for the inputs of its parts
	Inputs []string // identify the input of each part; a part with another input is done again
}

// version is part of the key, so a new version of this package does all parts again.
const version = 2

// task is the definition of a command.
type task struct {
	// model reports that the command takes a model. sharded reports that its data are shards.
	model, sharded bool

	// ending returns the ending of the names of the parts.
	ending func(j *Job) string

	// part does one part and writes its result to file.
	part func(ctx context.Context, w *workspace, j *Job, part int, file string) (Done, error)

	// finish, if not nil, combines the parts and writes the results. It also writes the manifest, unless that
	// is ResultsFile.
	finish func(ctx context.Context, w *workspace, j *Job, parts []Done) error

	// manifest is the name of the manifest.
	manifest string

	// experimental reports that the command requires a flag. drive, if not nil, runs after all parts are done,
	// and writes ResultsFile.
	experimental bool
	drive        func(ctx context.Context, w *workspace, j *Job, run func(ctx context.Context, p *beam.Pipeline) error) error
}

// Done describes a finished part in the output folder.
type Done struct {
	Part    int    `json:"-"`
	Name    string `json:"name"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	Skipped bool   `json:"-"` // an earlier job has finished it

	Shard shards.Manifest `json:"shard,omitzero"` // for convert, the description of the part
}

// tasks returns the commands by name.
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

// check returns an error if the job is invalid.
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

// ownFlag returns the first flag in Args that the job sets itself, or "".
func (j *Job) ownFlag() string {
	for _, arg := range j.Args {
		name, _, _ := strings.Cut(arg, "=")
		if slices.Contains([]string{"--data", "--model", "--out", "--shard", "--part", "--parts", "--trial"}, name) || name == "--format" && j.Command == "eval" {
			return name
		}
	}
	return ""
}

// Run builds the pipeline of a job and executes it with run. It first removes the manifest of earlier results,
// and parts that do not belong to this job. The pipeline writes the new manifest last, so a failed job leaves
// none. Finished parts with the same inputs are not done again.
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

// pipeline returns a pipeline that applies do to every part, and then finish once to all results.
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

// plan sets Inputs and Key.
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
