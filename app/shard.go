package app

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/shards"
	"github.com/listwise/listwise/eval/measure"
	"github.com/listwise/listwise/internal/atomicfile"
)

// oneShard is the flag of the commands that do one shard of a data set at a time, on one of
// several machines.
type oneShard struct {
	shard int
	among *shards.Manifest // nil until fileOf has read it
	given func(flag string) bool
}

func (s *oneShard) addTo(cmd *cobra.Command, usage string) {
	s.given = cmd.Flags().Changed
	addWhole(cmd.Flags(), &s.shard, "shard", 0, 0, usage)
}

// isOne reports whether one shard is asked for.
func (s *oneShard) isOne() bool { return s.given("shard") }

// manifest returns the manifest that the value of --data stands for.
func manifest(data string) (*shards.Manifest, error) {
	at, ok := shards.Find(data)
	if !ok {
		return nil, usageErrorf("%s: found no manifest of shards, expected a folder that \"listwise data shard\" made", data)
	}
	return shards.Load(at)
}

// fileOf returns the file of the shard that is asked for, which is what its manifest says, or data
// themselves if none is.
func (s *oneShard) fileOf(data string) (string, error) {
	if !s.isOne() {
		return data, nil
	}
	if err := s.find(data); err != nil {
		return "", err
	}
	return s.among.Path(s.shard), s.among.Verify(s.shard)
}

// find reads the manifest that the shard is of.
func (s *oneShard) find(data string) error {
	m, err := manifest(data)
	if err != nil {
		return err
	}
	if s.shard >= len(m.Shards) {
		return usageErrorf("--shard: found %d, expected a number from 0 to %d, for %s has %d shards", s.shard, len(m.Shards)-1, data, len(m.Shards))
	}
	s.among = m
	return nil
}

// widen makes a shard that has no names of features as wide as all are.
func (s *oneShard) widen(opts *dataset.Options) {
	if s.among != nil && s.among.Names != nil {
		opts.MinFeatures = max(opts.MinFeatures, s.among.Features)
	}
}

// arranged returns a shard with the names of features that it has in all, if others have some, and with features in
// the order there, if they have names and the model none, so that it knows them by position.
func (s *oneShard) arranged(d *dataset.Dataset, model []string) (*dataset.Dataset, error) {
	if s.among == nil || d.FeatureNames != nil && model != nil {
		return d, nil
	}
	arranged, err := s.among.Arrange(s.shard, d)
	if err != nil {
		return nil, usageErrorf("--shard: %w", err)
	}
	return arranged, nil
}

// partFile is what one shard's evaluation leaves: the values of its queries, and of what.
type partFile struct {
	Format string       `json:"format"`
	Shard  int          `json:"shard"`
	Data   string       `json:"data"`  // the SHA-256 of the shard
	Model  string       `json:"model"` // and of the model's file
	Part   measure.Part `json:"part"`
}

// partText is a partFile before its part is read.
type partText struct {
	Format, Data, Model string
	Shard               int
	Part                json.RawMessage
}

const partFormat = "listwise-part"

// sumOf returns the SHA-256 of the file of a model.
func sumOf(path string) (string, error) {
	text, err := os.ReadFile(path)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// writePart writes the result of a shard.
func writePart(path string, m *shards.Manifest, shard int, model string, r *measure.Result) error {
	sum, err := sumOf(model)
	if err != nil {
		return err
	}
	p := partFile{partFormat, shard, m.Shards[shard].SHA256, sum, measure.Part{First: m.First(shard), Result: r}}
	return atomicfile.Write(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(p) })
}

// mostPart is the largest part that is read.
const mostPart = 1 << 30

// readParts reads the results of all shards from a folder, which have the ending .json.
func readParts(dir string, m *shards.Manifest, model string, measures []measure.Measure, ties measure.TiePolicy) (*measure.Result, error) {
	sum, err := sumOf(model)
	if err != nil {
		return nil, err
	}
	if _, err := os.ReadDir(dir); err != nil {
		return nil, usageErrorf("--parts: %w", err)
	}
	var parts []measure.Part
	in := make(map[string]string) // the part of a query
	for _, path := range partsIn(dir) {
		p, err := readPart(path, m, sum, measures, ties)
		if err != nil {
			return nil, usageErrorf("%s: %w", path, err)
		}
		if err := queriesOf(p, path, in); err != nil {
			return nil, usageErrorf("--parts: %w", err)
		}
		parts = append(parts, p)
	}
	r, err := measure.Merge(m.Queries, parts)
	if err != nil {
		return nil, usageErrorf("--parts %s: %w", dir, err)
	}
	return r, nil
}

// partsIn returns the files in a folder that are taken for parts.
func partsIn(dir string) (paths []string) {
	if dir == "" {
		return nil
	}
	names, _ := os.ReadDir(dir) // an error is told when they are read
	for _, name := range names {
		if strings.HasSuffix(name.Name(), ".json") && !strings.HasPrefix(name.Name(), ".") {
			paths = append(paths, filepath.Join(dir, name.Name()))
		}
	}
	return paths
}

// queriesOf notes in which file the queries of a part are. It is an error if one is in the part of another shard, too: its
// manifest is not true. That a shard has two parts is found otherwise.
func queriesOf(p measure.Part, path string, in map[string]string) error {
	for _, id := range p.Result.Queries() {
		if other, known := in[id]; known {
			return fmt.Errorf("found query %q in %s and %s, expected every query in one shard and one part", id, other, path)
		}
		in[id] = path
	}
	return nil
}

func readPart(path string, m *shards.Manifest, model string, measures []measure.Measure, ties measure.TiePolicy) (measure.Part, error) {
	var none measure.Part
	if info, err := os.Stat(path); err != nil {
		return none, err
	} else if !info.Mode().IsRegular() || info.Size() > mostPart {
		return none, fmt.Errorf("found no regular file of at most %d bytes, expected the part of a shard", mostPart)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return none, err
	}
	var f partText
	if err := json.Unmarshal(text, &f); err != nil {
		return none, errors.New("found no part of an evaluation, expected one")
	}
	switch {
	case f.Format != partFormat:
		return none, fmt.Errorf("found the format %q, expected %q", f.Format, partFormat)
	case f.Shard < 0 || f.Shard >= len(m.Shards):
		return none, fmt.Errorf("found the part of shard %d, expected one of %d", f.Shard, len(m.Shards))
	case f.Data != m.Shards[f.Shard].SHA256:
		return none, fmt.Errorf("found the part of another file (shard %d has SHA-256 %s), expected that of %s", f.Shard, f.Data, m.Shards[f.Shard].SHA256)
	case f.Model != model:
		return none, errors.New("found the part of another model, expected that of --model")
	}
	p, err := measure.ParsePart(f.Part, measures, ties)
	if err != nil {
		return none, err
	}
	if s := m.Shards[f.Shard]; p.First != m.First(f.Shard) || len(p.Result.Queries()) != s.Queries {
		return none, fmt.Errorf("found %d queries from number %d on, expected the %d of shard %d from %d on", len(p.Result.Queries()), p.First, s.Queries, f.Shard, m.First(f.Shard))
	}
	return p, nil
}
