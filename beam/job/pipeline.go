package job

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/listwise/listwise/dataset/shards"
)

// partFn does one part of a job.
type partFn struct {
	Job string // as JSON
}

// ProcessElement does one part, unless it is finished, and emits its record.
func (f *partFn) ProcessElement(ctx context.Context, part int, emit func(int, []byte)) error {
	var j Job
	if err := json.Unmarshal([]byte(f.Job), &j); err != nil {
		return err
	}
	done, err := j.do(ctx, part)
	if err != nil {
		return fmt.Errorf("%s, part %d of %d: %w", j.Command, part, len(j.Inputs), err)
	}
	text, err := json.Marshal(message{part, done.Skipped, done})
	if err != nil {
		return err
	}
	emit(0, text)
	return nil
}

// message is sent from a part to the end of the pipeline, as bytes. Runners in Java can decode numbers and
// bytes, but not Go structures.
type message struct {
	Part    int
	Skipped bool
	Done    Done
}

// record is the file of a finished part. It identifies the input of the part.
type record struct {
	Key   string `json:"key"`
	Input string `json:"input"`
	Done  Done   `json:"done"`
}

func (j *Job) recordAt(part int) string {
	return under(j.Out, "records", fmt.Sprintf("part-%05d.json", part))
}

// nameOf returns the name of a part's file.
func (j *Job) nameOf(part int) string {
	return fmt.Sprintf("part-%05d%s", part, tasks()[j.Command].ending(j))
}

// do does a part and then writes its record.
func (j *Job) do(ctx context.Context, part int) (Done, error) {
	if done, ok := j.standing(ctx, part); ok {
		log.Infof(ctx, "%s: part %d stands", j.Command, part)
		return done, nil
	}
	w, err := newWorkspace()
	if err != nil {
		return Done{}, err
	}
	defer w.remove()
	t := tasks()[j.Command]
	name := j.nameOf(part)
	file := filepath.Join(w.dir, name)
	done, err := t.part(ctx, w, j, part, file)
	if err != nil {
		return Done{}, err
	}
	done.Part, done.Name = part, name
	if done.Bytes, done.SHA256, err = shards.Checksum(file); err != nil {
		return Done{}, err
	}
	if err := upload(ctx, file, under(j.Out, name)); err != nil {
		return Done{}, err
	}
	log.Infof(ctx, "%s: wrote part %d, %s", j.Command, part, name)
	return done, writeJSON(ctx, j.recordAt(part), record{j.Key, j.Inputs[part], done})
}

// standing returns a part that an earlier job has finished, if its input is the same and its file is
// unchanged.
func (j *Job) standing(ctx context.Context, part int) (Done, bool) {
	var r record
	text, err := read(ctx, j.recordAt(part))
	if err != nil || json.Unmarshal(text, &r) != nil || r.Key != j.Key || r.Input != j.Inputs[part] {
		return Done{}, false
	}
	size, sum, err := checksum(ctx, under(j.Out, r.Done.Name))
	if err != nil || size != r.Done.Bytes || sum != r.Done.SHA256 {
		return Done{}, false
	}
	r.Done.Part, r.Done.Skipped = part, true
	return r.Done, true
}

// finishFn combines the parts and writes the manifest.
type finishFn struct {
	Job string // as JSON
}

// ProcessElement is called once, with all parts.
func (f *finishFn) ProcessElement(ctx context.Context, _ int, next func(*[]byte) bool) error {
	var j Job
	if err := json.Unmarshal([]byte(f.Job), &j); err != nil {
		return err
	}
	var parts []Done
	var text []byte
	for next(&text) {
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			return err
		}
		m.Done.Part, m.Done.Skipped = m.Part, m.Skipped
		parts = append(parts, m.Done)
	}
	if err := j.finish(ctx, parts); err != nil {
		return fmt.Errorf("%s: %w", j.Command, err)
	}
	return nil
}

// results is the manifest of a job.
type results struct {
	Format  string `json:"format"`
	Command string `json:"command"`
	Key     string `json:"key"`
	Parts   []Done `json:"parts"`
}

// ResultsFile is the name of the manifest of score, eval, tune and train. The manifest of convert is
// [shards.FileName].
const ResultsFile = "results-manifest.json"

const resultsFormat = "listwise-results"

// finish checks that every part exists, combines the parts and writes the manifest. A runner may do a part
// twice; both results must have the same checksum.
func (j *Job) finish(ctx context.Context, parts []Done) error {
	slices.SortFunc(parts, func(a, b Done) int { return cmp.Compare(a.Part, b.Part) })
	unique := slices.CompactFunc(parts, func(a, b Done) bool { return a.Part == b.Part && a.SHA256 == b.SHA256 })
	if len(unique) != len(j.Inputs) {
		return fmt.Errorf("found %d parts, expected %d", len(unique), len(j.Inputs))
	}
	standing := 0
	for i, p := range unique {
		if p.Part != i {
			return fmt.Errorf("found part %d in the place of part %d", p.Part, i)
		}
		if p.Skipped {
			standing++
		}
	}
	t := tasks()[j.Command]
	if t.finish != nil {
		w, err := newWorkspace()
		if err != nil {
			return err
		}
		defer w.remove()
		if err := t.finish(ctx, w, j, unique); err != nil {
			return err
		}
	}
	log.Infof(ctx, "%s: %d parts, of which %d stood from before", j.Command, len(j.Inputs), standing)
	if t.manifest != ResultsFile {
		return nil // written by finish
	}
	return writeJSON(ctx, under(j.Out, ResultsFile), results{resultsFormat, j.Command, j.Key, unique})
}

// writeJSON writes a value as indented JSON.
func writeJSON(ctx context.Context, path string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	return write(ctx, path, &b)
}

// workspace is a temporary local folder for the inputs and results of a part.
type workspace struct{ dir string }

func newWorkspace() (*workspace, error) {
	dir, err := os.MkdirTemp("", "listwise-beam-")
	return &workspace{dir}, err
}

func (w *workspace) remove() { _ = os.RemoveAll(w.dir) } // an error has no consequence

// absent reports whether err says that a file does not exist.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }
