package tune

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// record is the file of a finished job. Its model and its learning curve, if it has one, are in files with
// the same base name. A change to any of them is detected by its checksum.
type record struct {
	Key        string         `json:"key"`
	Settings   map[string]any `json:"settings"`
	Select     string         `json:"select"`
	Validation float64        `json:"validation"`
	Model      string         `json:"model"`           // checksum of the model's file
	Curve      string         `json:"curve,omitempty"` // checksum of the curve's file, if there is one
	Sum        string         `json:"sum"`             // checksum of all else
}

// RecordError is the error of a finished training whose record or model file was changed.
type RecordError struct{ Err error }

// Error implements error.
func (e *RecordError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RecordError) Unwrap() error { return e.Err }

// recordVersion is part of the key: records of another layout are another job's.
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

// checkFile returns an error if a file has changed since the training.
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

// parseRecord reads the record of the job of that key.
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
