// Package table reads and writes judged queries as tables: CSV and TSV, whose first line
// names the columns. One row is one document; one column has the query's identifier, others
// the grade, the document's identifier and the features.
//
// Start reading at [Choose], which says what becomes of columns and is for tables of all
// kinds, then [ReadCSV]. Files of any format are opened by dataset/datafile.
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

// Role is what a column is for.
type Role int

// The roles.
const (
	Skip        Role = iota // the column is not read
	Query                   // the query's identifier
	Grade                   // the document's grade
	Doc                     // the document's identifier
	Weight                  // the document's weight
	QueryWeight             // the query's weight
	Feature                 // a number
	OneHot                  // text whose values are features
	Coded                   // text whose values are categories, a feature of Parquet
)

// Field is a column as the table names it.
type Field struct {
	Name string

	// Aside says that the column is no feature unless options name it.
	Aside bool
}

// Column is what becomes of a column of a table.
type Column struct {
	Name string
	Role Role

	// Feature is the number of the feature, from 0.
	Feature int

	// Attribute is the place among the options' attributes, from 1; 0: it is none of them.
	Attribute int

	// Numbering says that the column may number the rows by its name, so that its values decide
	// whether it is a feature. Settle clears it.
	Numbering bool

	// Categories are the categories of a feature, nil if it is a number.
	Categories *dataset.Categories

	// Values are the features of the values of a OneHot column; others are unknown. Before
	// Settle it is nil where the values of the data are wanted.
	Values map[string]int
}

// Columns is what becomes of the columns of a table. [Choose] makes it. After Settle several goroutines may use
// it.
type Columns struct {
	// List has an entry for every field, in the order of the table.
	List []Column

	// Names are the names of the features.
	Names []string

	// Auto turns text columns into OneHot columns; [Columns.Survey] finds them.
	Auto bool

	// Attributes are the places in List of the columns of queries' attributes. Such a column may have a role,
	// too.
	Attributes []int

	rowNumbers []Column // left out, as they number the rows

	query, grade, doc   int // places in List, -1 if there is none
	weight, queryWeight int // likewise

	order   []int  // places of the features' columns in the order wanted; nil if features are settled
	tell    func() // notes what was guessed, once features are settled
	unknown atomic.Int64

	mu    sync.Mutex
	words map[string]bool // ids of queries that elsewhere mean missing values
}

// usual are the names by which columns are found, as plainName returns them.
var usual = map[Role][]string{
	Query:       {"query", "queryid", "qid", "searchid"},
	Grade:       {"grade", "label", "relevance", "rel", "relevancelabel", "judgment", "judgement"},
	Weight:      {"documentweight"}, // not just weight, which goods have, too
	QueryWeight: {"queryweight"},
	Doc:         {"doc", "docid", "document", "documentid", "docno", "itemid", "productid", "id"},
}

// doubtful are names that columns of that role have, and features as well, such as the stars that
// buyers gave. They are not guessed: the options decide.
var doubtful = map[Role][]string{
	Query:  {"group", "groupid", "topic", "topicid"},
	Grade:  {"rating"},
	Weight: {"docweight"},
}

// named reports whether a column of that name may have the role, by a usual name or a doubtful one.
func (r Role) named(name string) bool {
	name = plainName(name)
	return slices.Contains(usual[r], name) || slices.Contains(doubtful[r], name)
}

// plainName is a name in lower case and without blanks, hyphens and low lines.
func plainName(name string) string { return withoutMarks.Replace(strings.ToLower(name)) }

var withoutMarks = strings.NewReplacer(" ", "", "_", "", "-", "")

// UsualQuery reports whether a column of that name may be the queries'.
func UsualQuery(name string) bool { return Query.named(name) }

// Choose says what becomes of the columns of a table by the options: their Table and
// FeatureNames. Errors are of type [*dataset.SyntaxError] without a place. [Columns.Settle]
// notes what was guessed, under the name of the table.
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

// check checks the names.
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

// other is a column that is no feature.
type other struct {
	role  Role
	place *int   // in List
	name  string // that the options ask for
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
// nothing else, then columns excluded from the features. A required column may even be a requested feature,
// which is then an error.
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

// doubt is the error about a column that may have a role or be a feature.
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

// first returns the first place that find accepts, of those aside if there is one, else -1.
func first(fields []Field, find func(i int) bool) int {
	place := -1
	for i, f := range fields {
		if find(i) && (place < 0 || f.Aside && !fields[place].Aside) {
			place = i
		}
	}
	return place
}

// unknownColumn is the error about a column that an option names and the table lacks.
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

// chooseByOptions chooses the features that the options ask for.
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

// find returns the place of the column of a feature, -1 if there is none.
func (c *Columns) find(fields []Field, name string) int {
	i := slices.Index(fields, Field{Name: name})
	if i < 0 {
		i = slices.Index(fields, Field{name, true})
	}
	return i
}

// chooseByModel chooses the features that are wanted by name.
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

// NeedsSurvey reports whether values of columns must be collected before Settle.
func (c *Columns) NeedsSurvey() bool {
	return c.order != nil && (c.Auto || slices.ContainsFunc(c.List, func(f Column) bool { return f.Role == OneHot || f.Numbering }))
}

// Read reports whether a column is read at all.
func (c *Columns) Read(column int) bool {
	return c.List[column].Role != Skip || c.List[column].Attribute > 0
}

// Survey adds a value of a column to a part of a survey, if one is wanted.
func (c *Columns) Survey(part *SurveyPart, column int, value []byte) {
	f := &c.List[column]
	if f.Role == OneHot || f.Role == Feature && c.Auto {
		part.Add(column, value)
	}
	if f.Numbering {
		part.Number(column, value)
	}
}

// Settle numbers and names the features. The survey has the values of columns, nil if none were
// needed.
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
	if c.order == nil { // the model's, or none
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

// WeighsDocuments reports whether there is a column of documents' weights.
func (c *Columns) WeighsDocuments() bool { return c.weight >= 0 }

// Unknown counts a value of a OneHot column that is no feature.
func (c *Columns) Unknown() { c.unknown.Add(1) }

// word notes an id of a query that elsewhere means a missing value.
func (c *Columns) word(id []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.words == nil {
		c.words = make(map[string]bool)
	}
	c.words[string(id)] = true
}

// noteWords notes which ids of queries mean missing values elsewhere, once a table is read.
func (c *Columns) noteWords(name string, opts dataset.Options) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.words) > 0 && opts.Note != nil {
		ids := slices.Sorted(maps.Keys(c.words))
		opts.Note(fmt.Sprintf("%s: query ids that other programs read as missing values are kept: %s", name, strings.Join(ids[:min(len(ids), 3)], ", ")))
	}
	c.words = nil
}

// Warnings returns sentences about values of the columns of a table of that name.
func (c *Columns) Warnings(name string) []string {
	if n := c.unknown.Load(); n > 0 {
		return []string{fmt.Sprintf("%s: %d values of text columns are not among those that the features were made of; their features are all 0", name, n)}
	}
	return nil
}

// ordinal is "1st", "2nd", ….
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
