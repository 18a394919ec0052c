// Package table reads and writes judged queries as tables: CSV, TSV and JSON lines. A row is a document.
// Columns contain the identifiers of queries and documents, grades, weights and features.
//
// Start reading at [Choose], which assigns a use to every column for tables of all kinds, including Parquet.
// Then read [ReadCSV]. Package dataset/datafile opens files of any format.
package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/internal/suggest"
)

// Role is the use of a column.
type Role int

// The roles.
const (
	Skip        Role = iota // no use
	Query                   // identifier of the query
	Grade                   // grade of the document
	Doc                     // identifier of the document
	Weight                  // weight of the document
	QueryWeight             // weight of the document's query
	Feature                 // a feature: a number or, in CSV and JSON, one of Categories
	OneHot                  // text; every value is a feature that is 0 or 1
	Coded                   // text; the feature is its category (Parquet only)
)

// Field is a column in the header of a table.
type Field struct {
	Name string

	// Aside reports that the column is a feature only if options name it.
	Aside bool
}

// Column is a column of a table with its use.
type Column struct {
	Name string
	Role Role

	// Feature is the index of the feature.
	Feature int

	// Attribute is the position in TableOptions.Attributes, counted from 1. It is 0 for other columns.
	Attribute int

	// Numbering reports that the column may contain row numbers, judging by its name. Its values decide
	// whether it is a feature. Settle clears the field.
	Numbering bool

	// Categories are the categories of a feature, or nil if it is numeric.
	Categories *dataset.Categories

	// Values maps the values of a OneHot column to feature indices. A value without an entry is unknown.
	// Before Settle, Values is nil if the features are yet to be made from the data.
	Values map[string]int
}

// Columns is the list of a table's columns with their uses. [Choose] makes it. After Settle, several
// goroutines may use it concurrently.
type Columns struct {
	// List has an entry for every field, in the order of the table.
	List []Column

	// Names are the names of the features.
	Names []string

	// Auto turns text columns into OneHot columns; [Columns.Survey] finds them.
	Auto bool

	// Attributes are the indices in List of the columns with attributes of queries. Such a column may also
	// have a role.
	Attributes []int

	rowNumbers []Column // columns left out because they contain row numbers

	query, grade, doc   int // indices in List, or -1
	weight, queryWeight int // indices in List, or -1

	order   []int  // indices of the feature columns, in the order of the features; nil once features are numbered
	tell    func() // notes the guesses; nil if there is nothing to note
	unknown atomic.Int64

	mu    sync.Mutex
	words map[string]bool // query ids that other programs read as missing values
}

// usual are the names by which columns are found, in the form that plainName returns.
var usual = map[Role][]string{
	Query:       {"query", "queryid", "qid", "searchid"},
	Grade:       {"grade", "label", "relevance", "rel", "relevancelabel", "judgment", "judgement"},
	Weight:      {"documentweight"}, // not "weight", which may be a feature of goods
	QueryWeight: {"queryweight"},
	Doc:         {"doc", "docid", "document", "documentid", "docno", "itemid", "productid", "id"},
}

// doubtful are names that a column of the role may have, but a feature as well. An example is rating, which
// may be the stars that buyers gave. Such columns are not guessed: the options must decide.
var doubtful = map[Role][]string{
	Query:  {"group", "groupid", "topic", "topicid"},
	Grade:  {"rating"},
	Weight: {"docweight"},
}

// named reports whether name is a usual or a doubtful name for the role.
func (r Role) named(name string) bool {
	name = plainName(name)
	return slices.Contains(usual[r], name) || slices.Contains(doubtful[r], name)
}

// plainName returns a name in lower case, without blanks, hyphens and underscores.
func plainName(name string) string { return withoutMarks.Replace(strings.ToLower(name)) }

var withoutMarks = strings.NewReplacer(" ", "", "_", "", "-", "")

// UsualQuery reports whether a column of this name may contain query identifiers.
func UsualQuery(name string) bool { return Query.named(name) }

// Choose assigns a use to every column of a table, by opts.Table and opts.FeatureNames. name is the name of
// the table in notes. Errors are of type [*dataset.SyntaxError], without a file and line. [Columns.Settle]
// notes the guesses.
func Choose(name string, fields []Field, opts dataset.Options) (*Columns, error) {
	c := &Columns{List: make([]Column, len(fields)), query: -1, grade: -1, doc: -1, weight: -1, queryWeight: -1}
	for i, f := range fields {
		c.List[i].Name = f.Name
	}
	if err := c.check(fields); err != nil {
		return nil, err
	}
	if err := c.identify(fields, opts.Table, slices.Concat(opts.FeatureNames, opts.Table.Features)); err != nil {
		return nil, err
	}
	choose := c.chooseByOptions
	if opts.FeatureNames != nil {
		choose = c.chooseByModel
	}
	if err := choose(fields, opts); err != nil {
		return nil, err
	}
	for k, name := range opts.Table.Attributes {
		i := first(fields, func(i int) bool { return fields[i].Name == name })
		if i < 0 {
			return nil, c.unknownColumn(name, "--by")
		}
		c.List[i].Attribute = k + 1
		c.Attributes = append(c.Attributes, i)
	}
	c.sortNumbers()
	if opts.Note != nil {
		c.tell = func() { c.note(name, opts) }
	}
	return c, nil
}

// check returns an error if a name is invalid or occurs twice.
func (c *Columns) check(fields []Field) error {
	seen := make(map[Field]int)
	for i, f := range fields {
		if fault := ingest.Identifier([]byte(f.Name)); fault != "" {
			return &dataset.SyntaxError{Found: suggest.Quote([]byte(f.Name)), Expected: "a name of a column " + fault}
		}
		if first, twice := seen[f]; twice && f.Name != "" {
			return &dataset.SyntaxError{Found: fmt.Sprintf("two columns called %q, the %s and the %s", f.Name, ordinal(first+1), ordinal(i+1)), Expected: "columns of different names"}
		}
		seen[f] = i
	}
	return nil
}

// other describes a column that is not a feature.
type other struct {
	role  Role
	place *int   // its index in List, to be set
	name  string // name that the options give, or ""
	what  string
	flag  string
	need  bool
}

func (c *Columns) others(o dataset.TableOptions) []other {
	return []other{
		{Query, &c.query, o.Query, "queries", "--query", true},
		{Grade, &c.grade, o.Grade, "grades", "--grade", !o.Ungraded},
		{Doc, &c.doc, o.Doc, "documents", "--doc", false},
		{Weight, &c.weight, o.Weight, "weights of documents", "--weight", false},
		{QueryWeight, &c.queryWeight, o.QueryWeight, "weights of queries", "--query-weight", false},
	}
}

// identify finds the columns of queries, grades, documents and weights. It prefers names that options use for
// nothing else, then columns excluded from the features. If nothing else is left, it chooses a requested
// feature as a required column. The later choice of features then returns an error.
func (c *Columns) identify(fields []Field, o dataset.TableOptions, features []string) error {
	for _, w := range c.others(o) {
		names := usual[w.role]
		find := func(besides ...[]string) int {
			return first(fields, func(i int) bool {
				name := c.List[i].Name
				return c.List[i].Role == Skip && slices.Contains(names, plainName(name)) && !slices.Contains(slices.Concat(besides...), name)
			})
		}
		if w.name != "" {
			*w.place = first(fields, func(i int) bool { return c.List[i].Name == w.name })
		} else if *w.place = find(features, o.Except); *w.place < 0 && w.role <= Doc {
			if *w.place = find(features); *w.place < 0 && w.need {
				*w.place = find()
			}
		}
		if names = doubtful[w.role]; *w.place < 0 && w.name == "" && (w.need || features == nil) {
			if i := find(features, o.Except); i >= 0 {
				return c.doubt(i, w, o)
			}
		}
		switch i := *w.place; {
		case i >= 0 && c.List[i].Role != Skip:
			return &dataset.SyntaxError{Found: fmt.Sprintf("column %q for %s, which has another use", w.name, w.what), Expected: "another column (" + w.flag + ")"}
		case i >= 0:
			c.List[i].Role = w.role
		case w.name != "":
			return c.unknownColumn(w.name, w.flag)
		case w.need:
			return &dataset.SyntaxError{Found: "no column of " + w.what + " among " + c.names(), Expected: fmt.Sprintf("one called %s, or %s COLUMN", strings.Join(usual[w.role][:3], ", "), w.flag)}
		}
	}
	return nil
}

// doubt returns the error about column i, which may have the role of w or be a feature.
func (c *Columns) doubt(i int, w other, o dataset.TableOptions) error {
	name := c.List[i].Name
	expected := fmt.Sprintf("a choice: %s %s; or ", w.flag, quoteName(name))
	if w.need {
		expected += w.flag + " with the column of the " + w.what
	} else {
		expected += "--features " + quoteName(allBut(o.Except, name)) + "; or --features with the names of all features, where it is one"
	}
	return bad(fmt.Sprintf("column %q, which may hold the %s or be a feature", name, w.what), expected)
}

// first returns the index of the first field that find accepts. It prefers a field that is Aside. It returns
// -1 if find accepts none.
func first(fields []Field, find func(i int) bool) int {
	place := -1
	for i, f := range fields {
		if find(i) && (place < 0 || f.Aside && !fields[place].Aside) {
			place = i
		}
	}
	return place
}

// unknownColumn returns the error about a column that an option names and the table lacks.
func (c *Columns) unknownColumn(name, flag string) error {
	expected := c.nearest(name)
	if expected == "" {
		expected = "one of " + c.names()
	}
	return &dataset.SyntaxError{Found: fmt.Sprintf("no column %q (%s)", name, flag), Expected: expected}
}

// nearest quotes the columns whose names resemble a name, "" if none does.
func (c *Columns) nearest(name string) string {
	var known []string
	for _, f := range c.List {
		known = append(known, f.Name)
	}
	return suggest.Quoted(suggest.Nearest(name, known))
}

// names lists the columns for messages.
func (c *Columns) names() string {
	const most = 8
	var list []string
	for _, f := range c.List {
		if f.Name != "" {
			list = append(list, f.Name)
		}
	}
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}

// chooseByOptions chooses the features that the options request.
func (c *Columns) chooseByOptions(fields []Field, opts dataset.Options) error {
	o := opts.Table
	for _, list := range []struct {
		flag  string
		names []string
	}{{"--features", o.Features}, {"--features", o.Except}, {"--one-hot", o.OneHot}} {
		for _, name := range list.names {
			if c.find(fields, name) < 0 {
				return c.unknownColumn(name, list.flag)
			}
		}
	}
	if o.Features != nil {
		for _, name := range o.Features {
			i := c.find(fields, name)
			if c.List[i].Role != Skip {
				return &dataset.SyntaxError{Found: fmt.Sprintf("column %q among the features, which has another use or stands there twice", name), Expected: "every feature once (--features)"}
			}
			c.List[i].Role = Feature
			c.order = append(c.order, i)
		}
	} else {
		inside := slices.ContainsFunc(fields, func(f Field) bool { return f.Aside })
		for i, f := range fields {
			if c.List[i].Role != Skip || f.Name == "" || f.Aside || slices.Contains(o.Except, f.Name) {
				continue
			}
			if !inside && !slices.Contains(o.OneHot, f.Name) {
				if numbersRows(f.Name) {
					c.rowNumbers = append(c.rowNumbers, c.List[i])
					continue
				}
				c.List[i].Numbering = mayNumberRows(f.Name)
			}
			c.List[i].Role = Feature
			c.order = append(c.order, i)
		}
	}
	for _, name := range o.OneHot {
		i := c.find(fields, name)
		if c.List[i].Role != Feature {
			return &dataset.SyntaxError{Found: fmt.Sprintf("column %q, which is no feature, among those of text", name), Expected: "columns of features (--one-hot)"}
		}
		c.List[i].Role = OneHot
	}
	c.Auto = o.OneHotAuto
	return c.checkReserved(fields, o)
}

// find returns the index of the column with the given name, or -1. If two columns have the name, it returns
// the one that is not Aside.
func (c *Columns) find(fields []Field, name string) int {
	i := slices.Index(fields, Field{Name: name})
	if i < 0 {
		i = slices.Index(fields, Field{name, true})
	}
	return i
}

// chooseByModel chooses the features in opts.FeatureNames. The name COLUMN=VALUE means a one-hot feature
// unless a column has exactly this name.
func (c *Columns) chooseByModel(fields []Field, opts dataset.Options) error {
	left := opts.Table.Except
	var missing []string
	for k, name := range opts.FeatureNames {
		col, value, oneHot := name, "", false
		i := c.find(fields, name)
		for at := 0; i < 0 && at < len(name); at++ {
			if name[at] == '=' {
				col, value, oneHot = name[:at], name[at+1:], true
				i = c.find(fields, col)
			}
		}
		if i < 0 || slices.Contains(left, col) || c.List[i].Role == Feature || c.List[i].Role != Skip && !oneHot || c.List[i].Role != Skip && c.List[i].Role != OneHot {
			missing = append(missing, name)
			continue
		}
		f := &c.List[i]
		if !oneHot {
			f.Role, f.Feature, f.Categories = Feature, k, opts.Categories[name]
			continue
		}
		if f.Role == Skip {
			f.Role, f.Values = OneHot, make(map[string]int)
		}
		f.Values[value] = k
	}
	if n := len(missing); n > 0 {
		found := fmt.Sprintf("no column for %d of %d features that the model or an option names: %s", n, len(opts.FeatureNames), strings.Join(missing[:min(n, 5)], ", "))
		expected := "a column for each, among " + c.names()
		if near := c.nearest(missing[0]); n == 1 && near != "" && c.find(fields, missing[0]) < 0 {
			expected += "; did you mean " + near + "?"
		}
		return &dataset.SyntaxError{Found: found, Expected: expected}
	}
	c.Names = opts.FeatureNames
	return nil
}

// NeedsSurvey reports whether Settle needs a survey of the values of some columns.
func (c *Columns) NeedsSurvey() bool {
	return c.order != nil && (c.Auto || slices.ContainsFunc(c.List, func(f Column) bool { return f.Role == OneHot || f.Numbering }))
}

// Read reports whether the values of a column are used.
func (c *Columns) Read(column int) bool {
	return c.List[column].Role != Skip || c.List[column].Attribute > 0
}

// Survey adds a value of a column to part if Settle needs the values of the column.
func (c *Columns) Survey(part *SurveyPart, column int, value []byte) {
	f := &c.List[column]
	if f.Role == OneHot || f.Role == Feature && c.Auto {
		part.Add(column, value)
	}
	if f.Numbering {
		part.Number(column, value)
	}
}

// Settle numbers and names the features, and notes guesses. s has the values of columns. It may be nil if
// NeedsSurvey returns false.
func (c *Columns) Settle(s *Survey) error {
	if err := c.settle(s); err != nil {
		return err
	}
	if c.tell != nil {
		c.tell()
		c.tell = nil
	}
	return nil
}

func (c *Columns) settle(s *Survey) error {
	if c.order == nil { // features are already numbered, or there are none
		return nil
	}
	for _, i := range c.order {
		f := &c.List[i]
		if f.Numbering {
			f.Numbering = false
			if numbering, err := s.numbersRows(f.Name); err != nil {
				return err
			} else if numbering {
				f.Role = Skip
				c.rowNumbers = append(c.rowNumbers, *f)
				continue
			}
		}
		f.Feature = len(c.Names)
		if f.Role == Feature && c.Auto && s.text[f.Name] {
			f.Role = OneHot
		}
		if f.Role == Feature {
			c.Names = append(c.Names, f.Name)
			continue
		}
		values, err := s.values(f.Name)
		if err != nil {
			return err
		}
		f.Values = make(map[string]int, len(values))
		for _, v := range values {
			f.Values[v] = len(c.Names)
			c.Names = append(c.Names, f.Name+"="+v)
		}
	}
	c.order = nil
	return nil
}

// WeighsDocuments reports whether there is a column with weights of documents.
func (c *Columns) WeighsDocuments() bool { return c.weight >= 0 }

// Unknown counts a value of a OneHot column for which there is no feature.
func (c *Columns) Unknown() { c.unknown.Add(1) }

// word records a query id that other programs read as a missing value.
func (c *Columns) word(id []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.words == nil {
		c.words = make(map[string]bool)
	}
	c.words[string(id)] = true
}

// noteWords notes the ids that word recorded. It must be called after the table was read.
func (c *Columns) noteWords(name string, opts dataset.Options) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.words) > 0 && opts.Note != nil {
		ids := slices.Sorted(maps.Keys(c.words))
		opts.Note(fmt.Sprintf("%s: query ids that other programs read as missing values are kept: %s", name, strings.Join(ids[:min(len(ids), 3)], ", ")))
	}
	c.words = nil
}

// Warnings returns warnings about the values of columns. name is the name of the table.
func (c *Columns) Warnings(name string) []string {
	if n := c.unknown.Load(); n > 0 {
		return []string{fmt.Sprintf("%s: %d values of text columns have no one-hot feature, so the features of their columns are 0", name, n)}
	}
	return nil
}

// ordinal returns "1st", "2nd", and so on.
func ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}
