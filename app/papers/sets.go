package papers

import (
	"embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/tune"
)

// Most experiments use the seven sets of LETOR 3.0. A folder contains any of them as
// DIR/TD2003/Fold1 …, or it is the folder of one set, DIR/Fold1 ….

// letorSet is a set with published numbers.
type letorSet struct {
	name      string
	queries   int // also its weight in the paper's micro-average
	documents int // set only if needed to recognize the set
	features  int
}

// letorSetList lists the sets of an experiment.
type letorSetList []letorSet

// letorSets are the seven sets of LETOR 3.0.
var letorSets = letorSetList{
	{name: "TD2003", queries: 50},
	{name: "TD2004", queries: 75},
	{name: "HP2003", queries: 150},
	{name: "HP2004", queries: 75},
	{name: "NP2003", queries: 150},
	{name: "NP2004", queries: 75},
	{name: "OHSUMED", queries: 106, documents: 16140, features: 45},
}

// names returns the names of the sets.
func (l letorSetList) names() []string {
	names := make([]string, len(l))
	for i, s := range l {
		names[i] = s.name
	}
	return names
}

// named returns the named set. It ignores case.
func (l letorSetList) named(name string) (letorSet, bool) {
	i := slices.IndexFunc(l, func(s letorSet) bool { return strings.EqualFold(s.name, name) })
	if i < 0 {
		return letorSet{}, false
	}
	return l[i], true
}

// source is a set that an experiment can read.
type source struct {
	name  string
	dir   string      // "" if folds is set
	folds []tune.Fold // nil until read
	about string      // description of data that are not the set itself

	opened func(io.Closer) // Options.Opened
}

// read returns the folds. It does not store them, because the seven sets together are large.
func (s *source) read() ([]tune.Fold, error) {
	if s.folds != nil {
		return s.folds, nil
	}
	return readFolds(s.dir, s.opened)
}

// queries returns the number of test queries.
func queries(folds []tune.Fold) int {
	n := 0
	for _, f := range folds {
		n += len(f.Test.Queries)
	}
	return n
}

func readFolds(dir string, opened func(io.Closer)) ([]tune.Fold, error) {
	folds, err := tune.ReadFolds(dir, dataset.Options{Opened: opened})
	var layout *tune.LayoutError
	if errors.As(err, &layout) {
		return nil, &InputError{err}
	}
	return folds, err
}

// find looks for the sets that o names, or by default for all sets of the list. It returns the sets
// found, and the names of the missing ones.
func (l letorSetList) find(o Options) (found []source, missing []string, err error) {
	if o.Data == "" {
		return nil, nil, inputError("no data: expected a folder with %s, or with one set's Fold1 … FoldK", strings.Join(l.names(), ", "))
	}
	entries, err := os.ReadDir(o.Data)
	if err != nil {
		return nil, nil, &InputError{err}
	}
	if _, err := os.Stat(filepath.Join(o.Data, "Fold1")); err == nil {
		return l.findOne(o)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	wanted := l.names()
	if o.Set != "" {
		wanted = strings.Split(o.Set, ",")
	}
	for _, name := range wanted {
		i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return strings.EqualFold(e.Name(), strings.TrimSpace(name)) })
		if i < 0 {
			missing = append(missing, name)
			continue
		}
		s := source{name: entries[i].Name(), dir: filepath.Join(o.Data, entries[i].Name()), opened: o.Opened}
		if set, ok := l.named(s.name); ok {
			s.name = set.name
		}
		found = append(found, s)
	}
	switch {
	case o.Set != "" && missing != nil:
		return nil, nil, inputError("%s: found no folder %s", o.Data, strings.Join(missing, ", "))
	case found == nil:
		return nil, nil, inputError("%s: found none of the folders %s, nor Fold1; expected LETOR's layout, such as %s",
			o.Data, strings.Join(l.names(), ", "), filepath.Join(o.Data, "OHSUMED", "Fold1", "train.txt"))
	}
	return found, missing, nil
}

// findOne returns the set whose folds are in the folder itself. Its name is o.Set, or the name of
// the known set with this size, or the folder's name.
func (l letorSetList) findOne(o Options) (found []source, missing []string, err error) {
	folds, err := readFolds(o.Data, o.Opened)
	if err != nil {
		return nil, nil, err
	}
	if o.Set != "" && (o.Set != filepath.Base(o.Set) || strings.Contains(o.Set, ",") || !filepath.IsLocal(o.Set)) {
		return nil, nil, inputError("%s is one set's folder: found %q as its name, expected a single one without separators", o.Data, o.Set)
	}
	s := source{name: o.Set, folds: folds}
	if s.name == "" {
		s.name = l.recognise(folds)
	}
	if s.name == "" {
		path, err := filepath.Abs(o.Data)
		if err != nil {
			return nil, nil, err
		}
		s.name = filepath.Base(path)
	}
	if set, ok := l.named(s.name); ok {
		s.name = set.name
	}
	for _, name := range l.names() {
		if name != s.name {
			missing = append(missing, name)
		}
	}
	return []source{s}, missing, nil
}

// only returns a function that finds the named sets. It ignores other sets in the folder unless
// Options.Set names them.
func (l letorSetList) only(names ...string) func(Options) ([]source, []string, error) {
	return func(o Options) (found []source, missing []string, err error) {
		all, absent, err := l.find(o)
		if err != nil {
			return nil, nil, err
		}
		for _, name := range absent {
			if slices.Contains(names, name) {
				missing = append(missing, name)
			}
		}
		for i := range all {
			if slices.Contains(names, all[i].name) || o.Set != "" || all[i].folds != nil {
				found = append(found, all[i])
			}
		}
		if found == nil {
			return nil, nil, inputError("%s: found neither %s; expected one of them, or other sets named by --set", o.Data, strings.Join(names, " nor "))
		}
		return found, missing, nil
	}
}

// preferred returns a function that finds the set of an experiment with a single set. Options.Set
// chooses it. By default it is the named set, or the first set found. otherwise describes another
// set; %s stands for its name.
func preferred(name, otherwise string) func(Options) ([]source, []string, error) {
	return func(o Options) ([]source, []string, error) {
		found, _, err := letorSets.find(o)
		if err != nil {
			return nil, nil, err
		}
		chosen := found[0]
		if i := slices.IndexFunc(found, func(s source) bool { return s.name == name }); i >= 0 && o.Set == "" {
			chosen = found[i]
		}
		if chosen.name != name {
			chosen.about = fmt.Sprintf(otherwise, chosen.name)
		}
		return []source{chosen}, nil, nil
	}
}

// recognise returns the name of the set with the folds' numbers of queries, documents and features.
// It returns "" if there is none.
func (l letorSetList) recognise(folds []tune.Fold) string {
	documents := 0
	for _, f := range folds {
		documents += f.Test.Docs()
	}
	for _, s := range l {
		if s.features == folds[0].Test.Features && s.queries == queries(folds) && s.documents == documents {
			return s.name
		}
	}
	return ""
}

// reading describes how a set's documents and grades are used.
type reading struct {
	name    string // name in file paths and sheets
	folder  string // name of the folder; "": the name of the reading
	about   string
	clean   bool
	columns []int  // feature numbers, from 1; nil for all
	only    string // name of the only set for the reading; "" for any

	incomparable string // reason why numbers are not comparable with published ones; otherwise ""
}

// The two readings for whole tables. The paper's procedure is not known for certain. The reading
// cleaned comes closest to the paper's results on OHSUMED. It removes contradictory copies and
// makes grades binary.
var (
	asPublished = reading{name: "published", about: "the published data and their grades"}
	cleaned     = reading{name: "cleaned", about: "reading R2 (of documents with equal features but contradictory relevance the irrelevant ones removed) and queries without a relevant document removed, in training, validation and test data; relevance binary: grade 1 or more", clean: true}
)

// readingsFor returns the readings that apply to all of the sets.
func readingsFor(readings []reading, sets []source) []reading {
	return slices.DeleteFunc(slices.Clone(readings), func(r reading) bool {
		return r.only != "" && slices.ContainsFunc(sets, func(s source) bool { return s.name != r.only })
	})
}

// apply returns the folds after applying the reading, and the number of documents removed from the
// test parts. It returns an error if cleaning leaves a part empty.
func (r reading) apply(folds []tune.Fold) (taken []tune.Fold, removed int, err error) {
	if !r.clean && r.columns == nil {
		return folds, 0, nil
	}
	for _, f := range folds {
		t := tune.Fold{Name: f.Name, Train: r.take(f.Train), Valid: r.take(f.Valid), Test: r.take(f.Test)}
		if min(len(t.Train.Queries), len(t.Valid.Queries), len(t.Test.Queries)) == 0 {
			return nil, 0, inputError("%s: found no relevant document in the training, validation or test data, which cleaning leaves empty", f.Name)
		}
		removed += f.Test.Docs() - t.Test.Docs()
		taken = append(taken, t)
	}
	return taken, removed, nil
}

// take returns a part of a fold after applying the reading.
func (r reading) take(d *dataset.Dataset) *dataset.Dataset {
	if r.clean {
		d, _ = dataset.Clean(d, dataset.DropBad, 1)
		grades := d.Grades()
		for i, g := range grades {
			grades[i] = 0
			if g >= 1 {
				grades[i] = 1
			}
		}
		d, _ = dataset.DropEmptyQueries(d, 1)
	}
	if r.columns != nil {
		var columns []int
		for _, c := range r.columns {
			if c <= d.Features { // small test data have fewer features
				columns = append(columns, c-1)
			}
		}
		d = d.KeepFeatures(columns)
	}
	return d
}

// The papers' tables, as printed; an empty cell is a number the paper lacks.
//
//go:embed published/*.csv
var publishedFiles embed.FS

// publishedTable returns the header and the rows of an embedded table.
func publishedTable(name string) (header []string, rows [][]string) {
	f, err := publishedFiles.Open("published/" + name)
	if err != nil {
		panic(err) // the file is part of the program
	}
	defer func() { _ = f.Close() }() // the file was only read
	all, err := csv.NewReader(f).ReadAll()
	if err != nil || len(all) == 0 {
		panic(fmt.Sprintf("published table %s: %v", name, err))
	}
	return all[0], all[1:]
}

// publishedNumbers reads a table. Its first column names the row, and the other columns are
// measures.
func publishedNumbers(name string) numbers {
	header, rows := publishedTable(name)
	found := make(numbers)
	for _, row := range rows {
		for i := 1; i < len(row); i++ {
			found.set(row[0], measureOf(header[i]), parse(row[i]))
		}
	}
	return found
}

// publishedOnSet reads a table whose first two columns name the set and the row. It divides the
// numbers by unit. It returns nil for a set that is not in the table.
func publishedOnSet(name, set string, unit float64) numbers {
	var found numbers
	header, rows := publishedTable(name)
	for _, row := range rows {
		if row[0] != set {
			continue
		}
		if found == nil {
			found = make(numbers)
		}
		for i := 2; i < len(row); i++ {
			found.set(row[1], measureOf(header[i]), parse(row[i])/unit)
		}
	}
	return found
}

// measureOf returns our name of a printed measure. NDCG@5 and N@5 become ndcg@5.
func measureOf(printed string) string {
	m := strings.ToLower(printed)
	if k, short := strings.CutPrefix(m, "n@"); short {
		return "ndcg@" + k
	}
	return strings.Replace(m, "meanndcg", "mean-ndcg", 1)
}

// set stores a number.
func (n numbers) set(row, m string, v float64) {
	if n[row] == nil {
		n[row] = make(map[string]float64)
	}
	n[row][m] = v
}

func parse(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("published table: " + err.Error())
	}
	return v
}

// The .gov sets of LETOR 3.0 are not available everywhere. Synthetic data of the same shape replace
// them. These data show how a method behaves, not how good it is on the real set.

// govSize is the size of synthetic data that replace a .gov set. docs is the number of documents in
// a query.
type govSize struct {
	queries, docs int
}

// hp2004Size is the size of HP2004, which has 74,409 documents in 75 queries.
var hp2004Size = govSize{queries: 75, docs: 992}

// syntheticGov returns data like named-page and home-page finding, with one relevant document in
// each query, in five folds.
func syntheticGov(size govSize, seed uint64) (source, error) {
	shape, err := synth.Lookup("gov1")
	if err != nil {
		return source{}, err
	}
	options := shape.Defaults
	options.Queries, options.Docs, options.Seed = size.queries, size.docs, seed
	return inFolds(shape, options, fmt.Sprintf("SYNTHETIC data, not HP2004: %d queries of %d documents and %d features, one relevant document a query; the numbers are not comparable with the paper's",
		size.queries, size.docs, options.Features))
}

// inFolds generates data of a shape and divides them into five folds.
func inFolds(shape synth.Shape, options synth.Options, about string) (source, error) {
	d, err := shape.Generate(options)
	if err != nil {
		return source{}, err
	}
	folds, err := dataset.Folds(d, 5, random.Stream(options.Seed, "paper folds", shape.Name))
	if err != nil {
		return source{}, err
	}
	s := source{name: "synthetic " + shape.Name, about: about}
	for i, f := range folds {
		s.folds = append(s.folds, tune.Fold{
			Name:  fmt.Sprintf("Fold%d", i+1),
			Train: d.Subset(f.Train),
			Valid: d.Subset(f.Vali),
			Test:  d.Subset(f.Test),
		})
	}
	return s, nil
}

// hp2004 returns the data for the paper's Figures 4 to 8. These are the set that --set names, or by
// default HP2004, or the first set found. Without a folder it returns synthetic data.
func hp2004(o Options, size govSize) (source, error) {
	if o.Data == "" {
		if o.Set != "" {
			return source{}, inputError("set %s: found no folder of data to look for it in", o.Set)
		}
		return syntheticGov(size, o.Seed)
	}
	found, _, err := preferred("HP2004", "data: %s, not the paper's HP2004; the numbers are not comparable with the paper's")(o)
	if err != nil {
		return source{}, err
	}
	return found[0], nil
}

// onHP2004 is for experiments that do more than tune methods. It returns the results of a study
// before training, and its folds after applying the reading. If firstFold is set, it returns the
// first fold only.
func (s *study) onHP2004(o Options, size govSize, taken reading, firstFold bool) (*results, []tune.Fold, error) {
	data, err := hp2004(o, size)
	if err != nil {
		return nil, nil, err
	}
	folds, err := data.read()
	if err != nil {
		return nil, nil, err
	}
	if firstFold {
		folds = folds[:1]
	}
	c, folds, err := newColumn(&data, taken, folds)
	if err != nil {
		return nil, nil, err
	}
	return &results{study: s, options: o, columns: []*column{c}}, folds, nil
}
