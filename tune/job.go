package tune

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/learn/train"
	"github.com/listwise/listwise/model"
)

// job is the training of an entry's setting on a fold, and the result of this training.
type job struct {
	entry  *Entry
	fold   *Fold
	values Setting
	train  string // fingerprints of the fold's data
	valid  string

	loss    loss.Loss // loss and learner of an entry without a Method, set by plan
	learner train.Learner

	model      *model.Model
	validation float64
	curve      []byte                        // see Trained.Curve
	shorter    func(rounds int) *model.Model // see Trained.shorter
	dropped    bool                          // dropped by successive halving before it was trained on all queries
}

// name identifies the job in errors: "mle, Fold1, C=0.1".
func (j *job) name() string {
	parts := []string{j.entry.Name, j.fold.Name}
	if s := j.setting(); s != "" {
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

// setting returns the hyperparameters in which the entry's settings differ, such as "C=0.1,
// beta=1".
func (j *job) setting() string {
	var parts []string
	for _, h := range j.entry.varied() {
		parts = append(parts, h+"="+j.values.Text(h))
	}
	return strings.Join(parts, ", ")
}

// jobs returns all trainings, ordered by entry, then fold, then setting.
func (c *Config) jobs() []*job {
	var jobs []*job
	prints := make([][2]string, len(c.Folds))
	for i, f := range c.Folds {
		prints[i] = [2]string{f.Train.Fingerprint(), f.Valid.Fingerprint()}
	}
	for i := range c.Entries {
		for k := range c.Folds {
			for _, v := range c.Entries[i].Settings {
				jobs = append(jobs, &job{entry: &c.Entries[i], fold: &c.Folds[k], values: v, train: prints[k][0], valid: prints[k][1]})
			}
		}
	}
	return jobs
}

// run trains and validates the job, or restores the results from the record of an earlier run.
func (j *job) run(ctx context.Context, c *Config) error {
	if err := j.plan(); err != nil {
		return err
	}
	if err := j.sample(c.variant(j.entry)); err != nil {
		return err
	}
	if c.Dir != "" {
		found, err := j.restore(c)
		if found || err != nil {
			return err
		}
	}
	m, err := c.train(ctx, j)
	if err != nil {
		return err
	}
	if j.model = m; j.fold.Valid != nil {
		if j.validation, err = c.validate(m, j.fold); err != nil {
			return err
		}
	}
	if c.Dir == "" {
		return nil
	}
	return j.save(c)
}

// sample replaces the training data by the sample of the entry's Share.
func (j *job) sample(own Variant) error {
	if !(own.Share > 0 && own.Share < 1) {
		return nil
	}
	all, keep := j.fold.Train, dataset.SampleQueries(own.Share, own.Seed)
	part := all.Filter(func(q *dataset.Query) bool { return keep(q.ID) })
	if err := dataset.CheckKept(len(part.Queries), len(all.Queries), part.QueryWeights()); err != nil {
		return err
	}
	fold := *j.fold
	fold.Train, j.fold, j.train = part, &fold, part.Fingerprint()
	return nil
}

// key identifies the job's inputs. A record with another key belongs to another job.
func (j *job) key(c *Config) string {
	training, convention, own := "", "", c.variant(j.entry)
	if m := j.entry.Measure; m != nil {
		training, convention = m.Name(), measure.ConventionOf(m).Name()
	}
	parts := []any{
		model.FormatVersion, j.trainer(), training, convention, j.values.Typed(), own.Seed, c.Normalization.String(),
		c.Select.Name(), measure.ConventionOf(c.Select).Name(), c.Convention.Threshold(), c.Missing.String(), j.train, j.valid, own.Scorer, recordVersion, transform.Texts(own.Transforms),
	}
	if !own.Views.Raw() {
		parts = append(parts, own.Views.Texts())
	}
	text, err := json.Marshal(parts)
	if err != nil {
		panic(err) // strings and numbers always have a JSON form
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

func (j *job) paths(c *Config) (recordPath, modelPath string) {
	base := filepath.Join(c.entryDir(j.entry), "jobs", j.fold.Name, j.key(c))
	return base + ".json", base + ".model.json"
}

// curvePath returns the path of a record's learning curve.
func curvePath(recordPath string) string {
	return strings.TrimSuffix(recordPath, ".json") + curveEnding
}

// observe adds an epoch or a round to the curve.
func (j *job) observe(it train.Iteration) {
	if text, err := json.Marshal(it.Line()); err == nil { // an error means that the objective is not a number, which the training reports
		j.curve = append(append(j.curve, text...), '\n')
	}
}

// restore reads the job's result from its record. found is false if there is no record, or if its
// model or curve is missing. If a file has content that save did not write, restore returns an
// error, so that run does not overwrite the file.
func (j *job) restore(c *Config) (found bool, err error) {
	recordPath, modelPath := j.paths(c)
	text, err := os.ReadFile(recordPath)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r, err := parseRecord(text, j.key(c))
	if err != nil {
		return false, &RecordError{fmt.Errorf("%s: %w; delete it to train again", recordPath, err)}
	}
	m, err := model.Load(modelPath)
	if err == nil {
		err = checkFile(modelPath, r.Model)
	}
	if err == nil && r.Curve != "" {
		if err = checkFile(curvePath(recordPath), r.Curve); err == nil {
			j.curve, err = os.ReadFile(curvePath(recordPath))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &RecordError{fmt.Errorf("%w; delete %s to train again", err, recordPath)}
	}
	j.model, j.validation = m, r.Validation
	return true, nil
}

// save writes the model, the curve and then the record, so that there is no record without a model
// and a curve.
func (j *job) save(c *Config) error {
	recordPath, modelPath := j.paths(c)
	if err := os.MkdirAll(filepath.Dir(recordPath), 0o755); err != nil {
		return err
	}
	if err := j.model.Save(modelPath); err != nil {
		return err
	}
	sum, err := fileChecksum(modelPath)
	if err != nil {
		return err
	}
	if len(j.curve) > 0 {
		if err := writeText(curvePath(recordPath), j.curve); err != nil {
			return err
		}
	}
	r := record{
		Key:        j.key(c),
		Settings:   j.values.Typed(),
		Select:     c.Select.Name(),
		Validation: j.validation,
		Model:      sum,
	}
	if len(j.curve) > 0 {
		r.Curve = checksum(j.curve)
	}
	if r.Sum, err = r.sum(); err != nil {
		return err
	}
	return atomicfile.Write(recordPath, atomicfile.JSON(r))
}
