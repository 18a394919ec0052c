package tune

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/internal/atomicfile"
)

// record is the content of the record file of a finished job. Files with the same base name contain
// the model and, if there is one, the learning curve. Checksums detect changes of the files.
type record struct {
	Key        string         `json:"key"`
	Settings   map[string]any `json:"settings"`
	Select     string         `json:"select"`
	Validation float64        `json:"validation"`
	Model      string         `json:"model"`           // checksum of the model's file
	Curve      string         `json:"curve,omitempty"` // checksum of the curve's file, if there is one
	Sum        string         `json:"sum"`             // checksum of the other fields
}

// RecordError reports that the record or model file of a finished training was changed.
type RecordError struct {
	Err error // names the file
}

// Error implements error.
func (e *RecordError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RecordError) Unwrap() error { return e.Err }

// recordVersion is part of the key of a job, so that records with another layout are not used.
const recordVersion = 3

// checksum returns the SHA-256 of a text in hexadecimal.
func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// fileChecksum returns the checksum of a file.
func fileChecksum(path string) (string, error) {
	text, err := os.ReadFile(path)
	return checksum(text), err
}

// checkFile returns an error if a file's checksum differs from sum.
func checkFile(path, sum string) error {
	found, err := fileChecksum(path)
	if err == nil && found != sum {
		err = fmt.Errorf("%s: found the checksum %q, expected %q: it is not what the training wrote", path, found, sum)
	}
	return err
}

// sum returns the checksum of all other fields.
func (r record) sum() (string, error) {
	r.Sum = ""
	text, err := json.Marshal(r)
	return checksum(text), err
}

// parseRecord reads and checks the record of the job with the given key.
func parseRecord(text []byte, key string) (*record, error) {
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, errors.New("found no record of a training, expected one")
	}
	if r.Key != key {
		return nil, fmt.Errorf("found the record of training %q, expected %q", r.Key, key)
	}
	sum, err := r.sum()
	if err != nil {
		return nil, err
	}
	if sum != r.Sum {
		return nil, fmt.Errorf("found the checksum %q, expected %q: the record was changed", r.Sum, sum)
	}
	return &r, nil
}

// reportName is the name of the file that the command tune writes beside the entries' folders.
const reportName = "results.json"

// longestName is the longest name, in bytes, that leaves space for endings within the limits of
// file systems.
const longestName = 200

// checkFileName returns an error if results cannot be written under a name, because it is not a
// plain file name or is the name of another file. what describes the name in errors.
func (c *Config) checkFileName(what, name string) error {
	switch {
	case c.Dir == "":
		return nil
	case name == "." || !filepath.IsLocal(name) || strings.ContainsAny(name, "/\\\x00"):
		return fmt.Errorf("found the %s name %q, expected a plain file name, as results are written under it", what, name)
	case len(name) > longestName:
		return fmt.Errorf("found the %s name %q of %d bytes, expected at most %d, as results are written under it", what, name, len(name), longestName)
	case strings.EqualFold(name, reportName):
		return fmt.Errorf("found the %s name %q, expected another one: a file of results has this name", what, name)
	}
	return nil
}

// curveEnding is the ending of files of learning curves.
const curveEnding = ".curve"

// writeText writes a file.
func writeText(path string, text []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// write writes the results to the folder. For every entry and fold, it writes the chosen model, its
// learning curve (if there is one), its test scores in input order, and its per-query measures.
func (c *Config) write(r *Result) error {
	for i := range r.Rows {
		row := &r.Rows[i]
		dir := c.entryDir(&row.Entry)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for k := range row.Folds {
			if err := c.writeFold(filepath.Join(dir, row.Folds[k].Fold), &c.Folds[k], &row.Folds[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Config) writeFold(base string, f *Fold, r *FoldResult) error {
	if err := r.Model.Save(base + ".model.json"); err != nil {
		return err
	}
	if err := writeCurve(base+curveEnding, r.Curve); err != nil {
		return err
	}
	scores, err := r.Model.Score(f.Test)
	if err != nil {
		return err
	}
	input := make([]float64, len(scores))
	f.Test.ToInputOrder(input, scores)
	err = atomicfile.Write(base+".scores", func(w io.Writer) error { return datafile.WriteScores(w, input) })
	if err != nil {
		return err
	}
	return atomicfile.Write(base+".queries.csv", r.Test.WriteCSV)
}

// writeCurve writes a learning curve. If there is none, it removes the curve of an earlier run.
func writeCurve(path string, curve []byte) error {
	if len(curve) > 0 {
		return writeText(path, curve)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
