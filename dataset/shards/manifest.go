// Package shards represents data sets of several files: a folder of files with a manifest. The manifest lists
// the files with their contents and checksums. It is written last, so a folder without a manifest is not yet a
// data set.
//
// Start reading at [Manifest]. Package dataset/datafile reads and writes the shards themselves.
package shards

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/strictjson"
)

// FileName is the name of the manifest in a folder of shards.
const FileName = "shards.json"

// formatName identifies a manifest. version is the version of its format.
const (
	formatName = "listwise-shards"
	version    = 1
)

// Manifest describes a data set of several files. Its queries are the queries of the shards, shard after shard.
type Manifest struct {
	Format    string `json:"format"`
	Version   int    `json:"version"`
	Queries   int    `json:"queries"`
	Documents int    `json:"documents"`
	Features  int    `json:"features"`
	Grades    Grades `json:"grades"`

	// Names are the names of the features, in the order of the data set, or nil. A shard's own order may differ.
	Names []string `json:"names,omitempty"`

	Shards []Shard `json:"shards"`

	path string // path from which it was read, or to which it was saved
}

// Shard is one file.
type Shard struct {
	Name      string `json:"name"` // relative to the manifest's folder, with slashes
	Queries   int    `json:"queries"`
	Documents int    `json:"documents"`
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"`
}

// Grades describes grades as far as [dataset.Threshold] depends on them. The threshold is that of all data,
// and a shard has a part of the grades. Documents of queries of weight 0 do not count.
type Grades struct {
	Fractions bool    `json:"fractions"` // some grade is not a whole number
	Least     float64 `json:"least"`     // smallest positive grade, 0 if there is none
}

// Sample returns grades for which [dataset.Threshold] returns the same as for the grades described.
func (g Grades) Sample() []float64 {
	if g.Least == 0 {
		return nil
	}
	if g.Fractions && g.Least == math.Trunc(g.Least) {
		return []float64{g.Least, g.Least + 0.5}
	}
	return []float64{g.Least}
}

// Add adds grades to the description.
func (g *Grades) Add(grades []float64) {
	for _, grade := range grades {
		g.Fractions = g.Fractions || grade != math.Trunc(grade)
		if grade > 0 && (g.Least == 0 || grade < g.Least) {
			g.Least = grade
		}
	}
}

// GradesOf describes the grades of a data set.
func GradesOf(d *dataset.Dataset) (g Grades) {
	for i := range d.Queries {
		if q := &d.Queries[i]; q.Weight() > 0 {
			g.Add(q.Grades)
		}
	}
	return g
}

// Find returns the path of the manifest: path itself, or the manifest in the folder path. ok is false if there
// is none.
func Find(path string) (manifest string, ok bool) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", false
	case info.IsDir():
		inside := filepath.Join(path, FileName)
		info, err := os.Stat(inside)
		return inside, err == nil && info.Mode().IsRegular()
	case !info.Mode().IsRegular() || !strings.HasSuffix(path, ".json"):
		return "", false
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }() // it was only read
	head := make([]byte, 1<<10)
	n, _ := io.ReadFull(f, head)
	squeezed := bytes.Join(bytes.Fields(head[:n]), nil)
	return path, bytes.HasPrefix(squeezed, []byte(`{"format":"`+formatName+`"`))
}

// mostBytes is the largest accepted size of a manifest. It suffices for some hundred thousand shards.
const mostBytes = 64 << 20

// Load reads the manifest at a path.
func Load(path string) (*Manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return nil, err
	}
	m, err := Parse(text)
	if err != nil {
		return nil, &dataset.SyntaxError{File: path, Found: err.Error(), Expected: "the manifest of a data set, as \"listwise data shard\" writes it"}
	}
	m.path = path
	return m, nil
}

// Parse parses the text of a manifest and checks that it is consistent.
func Parse(text []byte) (*Manifest, error) {
	if len(text) > mostBytes {
		return nil, fmt.Errorf("more than %d bytes", mostBytes)
	}
	var m Manifest
	var members strictjson.Object
	err := strictjson.Check(text)
	if err == nil {
		members, err = strictjson.Members(strictjson.Whole(text))
	}
	if err == nil {
		err = members.Decode(&m)
	}
	if err != nil {
		_, err = strictjson.Plain(err)
		return nil, err
	}
	return &m, m.check()
}

// mostCount is a limit for all counts in a manifest, larger than any data set.
const mostCount = 1 << 48

func (m *Manifest) check() error {
	switch {
	case m.Format != formatName:
		return fmt.Errorf("the format %q in place of %q", m.Format, formatName)
	case m.Version != version:
		return fmt.Errorf("version %d, this program knows %d", m.Version, version)
	case len(m.Shards) == 0:
		return errors.New("no shards")
	case m.Features < 1 || m.Features > mostCount:
		return fmt.Errorf("%d features", m.Features)
	case m.Names != nil && len(m.Names) != m.Features:
		return fmt.Errorf("%d names of %d features", len(m.Names), m.Features)
	case !(m.Grades.Least >= 0) || math.IsInf(m.Grades.Least, 1):
		return fmt.Errorf("%v as the least positive grade", m.Grades.Least)
	}
	features := make(map[string]bool, len(m.Names))
	for _, name := range m.Names {
		if features[name] {
			return fmt.Errorf("the feature %q twice", name)
		}
		features[name] = true
	}
	names := make(map[string]bool, len(m.Shards))
	queries, documents := 0, 0
	for i := range m.Shards {
		s := &m.Shards[i]
		switch {
		case !filepath.IsLocal(filepath.FromSlash(s.Name)):
			return fmt.Errorf("the name %q of shard %d, which is no file below the manifest's folder", s.Name, i)
		case names[s.Name]:
			return fmt.Errorf("shard %s twice", s.Name)
		case s.Queries < 1 || s.Documents < s.Queries || s.Documents > mostCount:
			return fmt.Errorf("%d queries and %d documents in shard %s", s.Queries, s.Documents, s.Name)
		case s.Bytes < 1:
			return fmt.Errorf("%d bytes in shard %s", s.Bytes, s.Name)
		case !isChecksum(s.SHA256):
			return fmt.Errorf("%q as the SHA-256 of shard %s", s.SHA256, s.Name)
		}
		names[s.Name] = true
		if queries, documents = queries+s.Queries, documents+s.Documents; documents > mostCount {
			return fmt.Errorf("%d documents in the first %d shards", documents, i+1)
		}
	}
	if queries != m.Queries || documents != m.Documents {
		return fmt.Errorf("%d queries and %d documents in all, of which the shards have %d and %d", m.Queries, m.Documents, queries, documents)
	}
	return nil
}

func isChecksum(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 2*sha256.Size && s == strings.ToLower(s)
}

// Save writes the manifest to a path. It must be called after the shards are written, because a folder with a
// manifest is a complete data set. It sets Format, Version and the totals.
func (m *Manifest) Save(path string) error {
	m.Format, m.Version, m.Queries, m.Documents, m.path = formatName, version, 0, 0, path
	for _, s := range m.Shards {
		m.Queries, m.Documents = m.Queries+s.Queries, m.Documents+s.Documents
	}
	if err := m.check(); err != nil {
		return fmt.Errorf("%s: found %w, expected none of that to write", path, err)
	}
	return atomicfile.Write(path, atomicfile.JSON(m))
}

// Path returns the path of a shard.
func (m *Manifest) Path(shard int) string {
	return filepath.Join(filepath.Dir(m.path), filepath.FromSlash(m.Shards[shard].Name))
}

// First returns the number of queries in the shards before the given one.
func (m *Manifest) First(shard int) int {
	n := 0
	for _, s := range m.Shards[:shard] {
		n += s.Queries
	}
	return n
}

// Verify returns an error if the size or the checksum of a shard's file differs from the manifest.
func (m *Manifest) Verify(shard int) error {
	s, path := &m.Shards[shard], m.Path(shard)
	size, sum, err := Checksum(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &dataset.SyntaxError{File: path, Found: "no such file", Expected: fmt.Sprintf("shard %d of %d that %s names", shard, len(m.Shards), m.path)}
	case err != nil:
		return err
	case size != s.Bytes:
		return &dataset.SyntaxError{File: path, Found: fmt.Sprintf("%d bytes", size), Expected: fmt.Sprintf("the %d of shard %d in %s", s.Bytes, shard, m.path)}
	case sum != s.SHA256:
		return &dataset.SyntaxError{File: path, Found: "the SHA-256 " + sum, Expected: fmt.Sprintf("%s, that of shard %d in %s: it is another file", s.SHA256, shard, m.path)}
	}
	return nil
}

// CheckCounts returns an error if the numbers of queries and documents in a shard differ from the manifest.
// They must be those of the whole shard.
func (m *Manifest) CheckCounts(shard, queries, documents int) error {
	s := &m.Shards[shard]
	if queries == s.Queries && documents == s.Documents {
		return nil
	}
	return &dataset.SyntaxError{File: m.Path(shard), Found: fmt.Sprintf("%d queries and %d documents", queries, documents), Expected: fmt.Sprintf("%d and %d, as %s has them of shard %d", s.Queries, s.Documents, m.path, shard)}
}

// anew is the end of the error about a manifest that does not match its shards.
const anew = "; \"data shard --parts\" writes it anew, with the flags that the data are read with"

// Admit returns an error if d, the data of a shard, has grades that contradict the manifest. The shard would
// otherwise have another threshold of relevance than all data.
func (m *Manifest) Admit(shard int, d *dataset.Dataset) error {
	g, all := GradesOf(d), m.Grades
	var found string
	switch {
	case g.Least > 0 && (all.Least == 0 || g.Least < all.Least):
		found = "the grade " + dataset.FormatGrade(g.Least)
	case g.Fractions && !all.Fractions:
		found = "grades that are no whole numbers"
	default:
		return nil
	}
	expected := "none above 0"
	if all.Least > 0 {
		expected = fmt.Sprintf("none from 0 to %s", dataset.FormatGrade(all.Least))
		if !all.Fractions {
			expected = fmt.Sprintf("whole numbers, and none from 0 to %s", dataset.FormatGrade(all.Least))
		}
	}
	return &dataset.SyntaxError{File: m.Path(shard), Found: found, Expected: expected + ", as " + m.path + " says of all shards" + anew}
}

// Check returns an error if d, the data of all shards, has grades or features that contradict the manifest.
// opts are the options with which d was read. They must keep every query. Features that they add or omit are
// not compared.
func (m *Manifest) Check(d *dataset.Dataset, opts dataset.Options) error {
	var found, expected string
	g := GradesOf(d)
	switch name := m.unnamed(d.FeatureNames); {
	case g != m.Grades:
		found, expected = describe(g), describe(m.Grades)
	case opts.GradesOnly:
		return nil
	case m.Names == nil && d.FeatureNames == nil && opts.Features == 0 && d.Features != max(m.Features, opts.MinFeatures):
		found, expected = fmt.Sprintf("%d features", d.Features), strconv.Itoa(m.Features)
	case m.Names != nil && name != "":
		found, expected = fmt.Sprintf("the feature %q", name), fmt.Sprintf("only the %d that it names", m.Features)
	default:
		return nil
	}
	return &dataset.SyntaxError{File: m.path, Found: found + " in the shards", Expected: expected + ", as it says of them" + anew}
}

// describe describes grades for errors.
func describe(g Grades) string {
	what := "whole grades"
	if g.Fractions {
		what = "grades that are not all whole numbers"
	}
	if g.Least == 0 {
		return what + ", none above 0"
	}
	return what + ", above 0 from " + dataset.FormatGrade(g.Least) + " on"
}

// Checksum returns the size and the SHA-256 of a regular file, in hexadecimal.
func Checksum(path string) (size int64, sum string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, "", err
	}
	if !info.Mode().IsRegular() {
		return 0, "", &dataset.SyntaxError{File: path, Found: "no regular file", Expected: "one, for shards are read more than once"}
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}
