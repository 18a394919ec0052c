package datafile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/cache"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/letor"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/shards"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/parallel"
)

// Files returns the files of a data set. For a manifest, or a folder with one, these are the shards, whose
// checksums it verifies. For any other path it returns the path itself.
func Files(ctx context.Context, path string) ([]string, error) {
	m, err := manifestOf(ctx, path)
	if err != nil || m == nil {
		return []string{path}, err
	}
	return filesOf(m), nil
}

// filesOf returns the paths of the shards.
func filesOf(m *shards.Manifest) []string {
	files := make([]string, len(m.Shards))
	for i := range files {
		files[i] = m.Path(i)
	}
	return files
}

// IsSharded reports whether path is a folder of shards or of parts, or a manifest.
func IsSharded(path string) bool {
	_, ok := shards.Find(path)
	parts, err := shards.Parts(path)
	return ok || parts != nil || err != nil
}

// manifestOf returns the manifest of a path, or nil if there is none. It verifies the shards.
func manifestOf(ctx context.Context, path string) (*shards.Manifest, error) {
	at, ok := shards.Find(path)
	if !ok {
		return nil, nil
	}
	m, err := shards.Load(at)
	if err != nil {
		return nil, err
	}
	errs := make([]error, len(m.Shards))
	parallel.For(len(errs), parallel.Workers(0, len(errs)), func(_, i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = m.Verify(i)
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err // the first error in the order of the shards
		}
	}
	return m, nil
}

// openShards reads the shards of a manifest as one data set.
func openShards(m *shards.Manifest, name string, opts dataset.Options) (*dataset.Dataset, error) {
	c := Conversion{Inputs: filesOf(m), Options: opts, some: true}
	if opts.Observe != nil {
		c.Reading = observeShards(m, opts.Observe)
	}
	var d *dataset.Dataset
	err := c.survey(c.Inputs, nil, func(files []*stream.Surveyed) error {
		if err := checkShards(m, files, opts); err != nil {
			return err
		}
		for _, f := range files {
			f.NameFeatures(m.Names) // has no effect on shards that name their features
		}
		p, err := stream.Join(input.Context(opts), files, opts.Missing)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if opts.Keep != nil {
			if err := dataset.CheckKept(len(p.IDs), m.Queries, p.QueryWeights); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if d, err = collect(p, memory.New(name, opts), name, opts); err != nil || !whole(opts) {
			return input.Named(name, err)
		}
		return m.Check(d, opts)
	})
	if err == nil {
		d.IgnoreOthers, d.AbsentMissing = opts.IgnoreOthers, opts.AbsentMissing
	}
	return d, err
}

// observeShards returns a Conversion.Reading that reports the progress of all shards together to observe.
func observeShards(m *shards.Manifest, observe func(done, total int64)) func(string) (func(done, total int64), func()) {
	var before, all int64
	for _, s := range m.Shards {
		all += s.Bytes
	}
	next := 0
	return func(string) (func(done, total int64), func()) {
		at, size := before, m.Shards[next].Bytes
		before, next = before+size, next+1
		return func(done, total int64) {
			if total > 0 {
				observe(at+int64(float64(size)*float64(done)/float64(total)), all)
			}
		}, func() {}
	}
}

// whole reports whether the options keep every document.
func whole(opts dataset.Options) bool {
	return opts.Keep == nil && opts.Negative != dataset.NegativeDrop
}

// checkShards returns an error if a query is in two shards. If the options keep every document, it also
// returns an error if the counts of a shard differ from the manifest.
func checkShards(m *shards.Manifest, files []*stream.Surveyed, opts dataset.Options) error {
	from := make(map[string]int)
	for i, f := range files {
		for _, id := range f.Queries() {
			if other, ok := from[id]; ok {
				return &dataset.SyntaxError{File: f.Name, Found: fmt.Sprintf("query %q, which is in %s, too", id, files[other].Name), Expected: "every query in one shard"}
			}
			from[id] = i
		}
		if whole(opts) {
			if err := m.CheckCounts(i, len(f.Queries()), f.Docs()); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckEnding returns an error unless a format with this ending of file names can be written.
func CheckEnding(ending string) error {
	if f := byName("x" + ending); !slices.Contains(Endings(), ending) || f != nil && f.write == nil {
		return fmt.Errorf("found the ending %q, expected one of a format that is written, such as .lwd, .txt.gz or .parquet", ending)
	}
	return nil
}

// shardTail is the form of a shard's name: its number and its ending.
const shardTail = "part-%05d%s"

// Shard writes the inputs of a conversion to n files in the folder dir, which it creates. The files have about
// equal numbers of documents. Their manifest is written last. ending, such as .lwd, sets their format. Queries
// stay whole and in order. c.Out and c.Text are not used.
//
// The features pass through a temporary cache in dir, or next to dir if it is new. The features of one shard
// are in memory, unless all features take more than Options.MaxBytes. Existing shards are removed after all
// new ones are written.
func Shard(c Conversion, dir, ending string, n int) (*shards.Manifest, error) {
	if err := CheckEnding(ending); err != nil {
		return nil, input.Named(dir, err)
	}
	at := dir
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		at = filepath.Dir(filepath.Clean(dir))
	}
	if err := os.MkdirAll(at, 0o777); err != nil {
		return nil, err
	}
	folder, remove, err := atomicfile.Folder(at)
	if err != nil {
		return nil, err
	}
	defer remove()
	c.Out = filepath.Join(folder, "all.lwd")
	if _, err := Convert(c); err != nil {
		return nil, err
	}
	opts := dataset.Options{Missing: dataset.MissingKeep, Context: c.Options.Context, Stream: true, MaxBytes: c.Options.MaxBytes}
	var m *shards.Manifest
	err = input.With(c.Out, opts, nil, func(in *input.Input) (err error) {
		d, err := cache.Read(in, opts)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		m, err = writeShards(c.Options, d, folder, dir, ending, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, placeShards(m, folder, dir)
}

// placeShards moves new shards to dir, where they replace the old ones, and writes the manifest.
func placeShards(m *shards.Manifest, from, dir string) (err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := discardShards(dir); err != nil {
		return err
	}
	for i, s := range m.Shards {
		if err := os.Rename(filepath.Join(from, s.Name), filepath.Join(dir, s.Name)); err != nil {
			return errors.Join(err, removeShards(m.Shards[:i], dir))
		}
	}
	if err := m.Save(filepath.Join(dir, shards.FileName)); err != nil {
		return errors.Join(err, removeShards(m.Shards, dir))
	}
	return nil
}

func removeShards(list []shards.Shard, dir string) (err error) {
	for _, s := range list {
		err = errors.Join(err, os.Remove(filepath.Join(dir, s.Name)))
	}
	return err
}

// discardShards removes the manifest of an earlier data set and then its shards. In this order, an interrupted
// replacement does not look like a data set.
func discardShards(dir string) error {
	at := filepath.Join(dir, shards.FileName)
	m, err := shards.Load(at)
	if err := os.Remove(at); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err != nil {
		return nil //nolint:nilerr // without a valid manifest there is nothing to remove
	}
	for i, s := range m.Shards {
		var number int
		if k, err := fmt.Sscanf(s.Name, "part-%05d", &number); k != 1 || err != nil || number != i {
			continue // not written by Shard
		}
		if err := os.Remove(m.Path(i)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// writeShards writes the queries of d to n shards in folder. It returns the manifest for them. dir is the data
// set's folder for errors.
func writeShards(o dataset.Options, d *dataset.Dataset, folder, dir, ending string, n int) (*shards.Manifest, error) {
	if len(d.Queries) < n {
		return nil, &dataset.SyntaxError{File: dir, Found: fmt.Sprintf("%d queries", len(d.Queries)), Expected: fmt.Sprintf("%d or more for as many shards", n)}
	}
	m := &shards.Manifest{Features: d.Features, Names: d.FeatureNames, Grades: shards.GradesOf(d)}
	from := 0
	for k := range n {
		if err := input.Context(o).Err(); err != nil {
			return nil, err
		}
		to := endOfShard(d, from, k, n)
		part := make([]int, 0, to-from)
		for i := from; i < to; i++ {
			part = append(part, i)
		}
		name := fmt.Sprintf(shardTail, k, ending)
		path := filepath.Join(folder, name)
		s := d.Subset(part)
		if err := Write(path, s, letor.WriteOptions{MaxBytes: dataset.MemoryLimit(o.MaxBytes)}); err != nil {
			return nil, err
		}
		size, sum, err := shards.Checksum(path)
		if err != nil {
			return nil, err
		}
		m.Shards = append(m.Shards, shards.Shard{Name: name, Queries: len(s.Queries), Documents: s.Docs(), Bytes: size, SHA256: sum})
		from = to
	}
	return m, nil
}

// endOfShard returns the index after the last query of shard k of n, which begins at query from. The shards up
// to it have about (k+1)/n of all documents, and each later shard keeps at least one query.
func endOfShard(d *dataset.Dataset, from, k, n int) int {
	last := len(d.Queries) - (n - k - 1)
	if k == n-1 {
		return last
	}
	want := float64(d.Docs()) * float64(k+1) / float64(n)
	to := from + 1
	for to < last && float64(d.Queries[to].Start)+float64(float64(d.Queries[to].Len())/2) <= want {
		to++
	}
	return to
}

// Index writes the manifest of existing files to path. The files must be below the folder of path. opts are
// the options with which they are read.
func Index(path string, files []string, opts dataset.Options) (*shards.Manifest, error) {
	m := new(shards.Manifest)
	c := Conversion{Inputs: files, Options: opts}
	err := c.survey(files, nil, func(surveyed []*stream.Surveyed) error {
		for i, f := range surveyed {
			if err := addShard(m, path, files[i], f); err != nil {
				return err
			}
		}
		if err := checkShards(m, surveyed, opts); err != nil {
			return err
		}
		p, err := stream.Join(input.Context(opts), surveyed, opts.Missing)
		if err != nil {
			return &JoinError{err}
		}
		m.Features, m.Names = p.Features, p.FeatureNames
		return p.Each(func(part *stream.Part) error {
			doc := 0
			for i := range part.Runs {
				r := &part.Runs[i]
				if p.QueryWeights == nil || p.QueryWeights[r.Query()] > 0 {
					m.Grades.Add(part.Grades[doc : doc+r.Docs])
				}
				doc += r.Docs
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return m, m.Save(path)
}

// addShard appends a file to the manifest that Index will write to path.
func addShard(m *shards.Manifest, path, file string, f *stream.Surveyed) error {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	at, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	name, err := filepath.Rel(folder, at)
	if err != nil || !filepath.IsLocal(name) {
		return &dataset.SyntaxError{File: file, Found: "a file elsewhere", Expected: "one below " + filepath.Dir(path) + ", the manifest's folder"}
	}
	size, sum, err := shards.Checksum(file)
	if err != nil {
		return err
	}
	m.Shards = append(m.Shards, shards.Shard{Name: filepath.ToSlash(name), Queries: len(f.Queries()), Documents: f.Docs(), Bytes: size, SHA256: sum})
	return nil
}

// OpenShard reads one shard. It is an error if the shard does not match the manifest. The result has the
// features of the data set: their number, names and order.
func OpenShard(m *shards.Manifest, shard int, opts dataset.Options) (*dataset.Dataset, error) {
	if err := m.Verify(shard); err != nil {
		return nil, err
	}
	path := m.Path(shard)
	opts.MinFeatures = max(opts.MinFeatures, m.Features)
	d, err := Open(path, opts)
	if err != nil {
		return nil, err
	}
	arranged, err := admitted(m, shard, d, opts)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return arranged, nil
}

// admitted checks an opened shard against the manifest and arranges its features as in the data set.
func admitted(m *shards.Manifest, shard int, d *dataset.Dataset, opts dataset.Options) (*dataset.Dataset, error) {
	if err := m.Admit(shard, d); err != nil {
		return nil, err
	}
	if whole(opts) {
		if err := m.CheckCounts(shard, len(d.Queries), d.Docs()); err != nil {
			return nil, err
		}
	}
	d, err := m.Arrange(shard, d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Path(shard), err)
	}
	if d.Features != m.Features {
		return nil, unlikeFeatures(m, shard, d.Features)
	}
	return d, nil
}

// unlikeFeatures returns the error about the number of features of a shard.
func unlikeFeatures(m *shards.Manifest, shard, features int) error {
	return &dataset.SyntaxError{File: m.Path(shard), Found: fmt.Sprintf("%d features", features), Expected: fmt.Sprintf("the %d that the manifest says all shards have", m.Features)}
}

// ConvertShard does the work of Convert for one shard. It is an error if the shard does not match the
// manifest. The output has the features of the data set: their number, names and order. c.Inputs is not used.
func ConvertShard(c Conversion, m *shards.Manifest, shard int) (*Converted, error) {
	if err := m.Verify(shard); err != nil {
		return nil, err
	}
	c.Inputs = []string{m.Path(shard)}
	c.Options.MinFeatures = max(c.Options.MinFeatures, m.Features)
	c.within = func(f *stream.Surveyed) error {
		if whole(c.Options) {
			if err := m.CheckCounts(shard, len(f.Queries()), f.Docs()); err != nil {
				return err
			}
		}
		order, err := m.Order(shard, f.FeatureNames())
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		f.NameFeatures(m.Names)
		f.OrderFeatures(order)
		if m.Names == nil && f.Features() != m.Features {
			return unlikeFeatures(m, shard, f.Features())
		}
		return nil
	}
	return Convert(c)
}
