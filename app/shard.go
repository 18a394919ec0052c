package app

import (
	"context"
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

// oneShard has the flag of commands that process one shard of a data set.
type oneShard struct {
	shard int
	among *shards.Manifest // nil until fileOf has read it
	given func(flag string) bool
}

func (s *oneShard) addTo(cmd *cobra.Command, usage string) {
	s.given = cmd.Flags().Changed
	addWhole(cmd.Flags(), &s.shard, "shard", 0, 0, usage)
}

func (s *oneShard) isOne() bool { return s.given("shard") }

// manifest returns the manifest of the shards that --data names.
func manifest(data string) (*shards.Manifest, error) {
	at, ok := shards.Find(data)
	if !ok {
		return nil, usageErrorf("%s: found no manifest of shards, expected a folder that \"listwise data shard\" made", data)
	}
	return shards.Load(at)
}

// fileOf returns the file of the selected shard after verifying its checksum. It returns data if no
// shard is selected.
func (s *oneShard) fileOf(data string) (string, error) {
	if !s.isOne() {
		return data, nil
	}
	if err := s.find(data); err != nil {
		return "", err
	}
	return s.among.Path(s.shard), s.among.Verify(s.shard)
}

// find reads the manifest and checks the number of the selected shard.
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

// widen sets the reader's minimum number of features to the number in all shards, if the shards
// have feature names.
func (s *oneShard) widen(opts *dataset.Options) {
	if s.among != nil && s.among.Names != nil {
		opts.MinFeatures = max(opts.MinFeatures, s.among.Features)
	}
}

// arranged returns a shard with the feature names of all shards. If the model has no feature names,
// it orders the features as in all shards, because the model knows them by position.
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

// partFile is the evaluation of one shard: the values of its queries, and checksums of the data and
// the model.
type partFile struct {
	Format string       `json:"format"`
	Shard  int          `json:"shard"`
	Data   string       `json:"data"`  // SHA-256 of the shard
	Model  string       `json:"model"` // SHA-256 of the model file
	Part   measure.Part `json:"part"`
}

// partText is a partFile whose Part is not decoded yet.
type partText struct {
	Format, Data, Model string
	Shard               int
	Part                json.RawMessage
}

const partFormat = "listwise-part"

func sumOf(path string) (string, error) {
	text, err := os.ReadFile(path)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

func writePart(path string, m *shards.Manifest, shard int, model string, r *measure.Result) error {
	sum, err := sumOf(model)
	if err != nil {
		return err
	}
	p := partFile{partFormat, shard, m.Shards[shard].SHA256, sum, measure.Part{First: m.First(shard), Result: r}}
	return atomicfile.Write(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(p) })
}

const mostPart = 1 << 30

// readParts reads the results of all shards from the JSON files of a folder.
func readParts(dir string, m *shards.Manifest, model string, measures []measure.Measure, ties measure.TiePolicy) (*measure.Result, error) {
	sum, err := sumOf(model)
	if err != nil {
		return nil, err
	}
	if _, err := os.ReadDir(dir); err != nil {
		return nil, usageErrorf("--parts: %w", err)
	}
	var parts []measure.Part
	in := make(map[string]string) // file of each query
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

func partsIn(dir string) (paths []string) {
	if dir == "" {
		return nil
	}
	names, _ := os.ReadDir(dir) // reading them reports the error
	for _, name := range names {
		if strings.HasSuffix(name.Name(), ".json") && !strings.HasPrefix(name.Name(), ".") {
			paths = append(paths, filepath.Join(dir, name.Name()))
		}
	}
	return paths
}

// queriesOf records the file of each query in in. A query in the parts of two shards is an error,
// because the manifest is then wrong. measure.Merge reports a shard with two parts.
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

// sharding has the flags of eval for data that several machines evaluate. Each machine evaluates a
// shard, and one machine merges the parts.
type sharding struct {
	oneShard
	part, parts string
}

func (s *sharding) addTo(cmd *cobra.Command) {
	s.oneShard.addTo(cmd, "`number` of the shard to evaluate, from 0 (with --part)")
	cmd.Flags().StringVar(&s.part, "part", "", "output `file` for one shard's values (.json)")
	cmd.Flags().StringVar(&s.parts, "parts", "", "`folder` with the --part files of all shards, to merge")
}

// checkSharding returns an error if flags contradict each other.
func (s *sharding) checkSharding(f *evalFlags) error {
	switch {
	case s.isOne() != (s.part != ""):
		return usageErrorf("--shard and --part go together: found one of them, expected both or neither")
	case s.isOne() && s.parts != "":
		return usageErrorf("--shard evaluates a part and --parts merges parts: found both, expected one of them")
	case (s.isOne() || s.parts != "") && (f.scores != "" || f.by != "" || f.rerank != ""):
		return usageErrorf("--scores, --by and --rerank need all data at once: found them with --shard or --parts, expected a model alone")
	case s.isOne() && f.perQuery != "":
		return usageErrorf("--per-query is for all queries: found it with --shard, expected it with --parts")
	}
	return nil
}

// settledFor returns the convention and the measures with the threshold for the grades of all
// shards.
func settledFor(m *shards.Manifest, c measure.Convention, measures []measure.Measure) (measure.Convention, []measure.Measure) {
	sample := m.Grades.Sample()
	all := make([]measure.Measure, len(measures))
	for i, one := range measures {
		all[i] = measure.Under(one, measure.ConventionOf(one).ForGrades(sample))
	}
	return c.ForGrades(sample), all
}

// runShard evaluates one shard, or merges the parts of all shards.
func (f *evalFlags) runShard(ctx context.Context, env *environment) error {
	convention, measures, ties, err := f.parse()
	if err != nil {
		return err
	}
	m, err := manifest(f.data)
	if err != nil {
		return err
	}
	convention, measures = settledFor(m, convention, measures)
	if f.parts == "" {
		return f.measureShard(ctx, env, m, measures, ties)
	}
	result, err := readParts(f.parts, m, f.model, measures, ties)
	if err != nil {
		return err
	}
	if f.perQuery != "" {
		if err := writePerQuery(f.perQuery, convention, result); err != nil {
			return err
		}
	}
	warnOfTies(env, result)
	return env.print(evalReport(convention, result, nil, nil))
}

func (f *evalFlags) measureShard(ctx context.Context, env *environment, m *shards.Manifest, measures []measure.Measure, ties measure.TiePolicy) error {
	data := f.data
	var err error
	if f.data, err = f.fileOf(data); err != nil {
		return err
	}
	read, err := f.read(ctx, env)
	if err != nil {
		return err
	}
	if err := m.Admit(f.shard, read[0].Test); err != nil {
		return err
	}
	result, err := read[0].Evaluate(0, measures, ties)
	if err != nil {
		return usageErrorf("%s: %w", f.data, err)
	}
	return writePart(f.part, m, f.shard, f.model, result)
}
