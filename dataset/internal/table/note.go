package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
)

// note calls opts.Note with the uses of columns that the options do not fix.
func (c *Columns) note(name string, opts dataset.Options) {
	o := opts.Table
	if left := (&Columns{List: c.rowNumbers}).names(); len(c.rowNumbers) == 1 {
		opts.Note(fmt.Sprintf("%s: column %s contains row numbers and is not used (name it in --features to keep it)", name, left))
	} else if left != "" {
		opts.Note(fmt.Sprintf("%s: columns %s contain row numbers and are not used (name them in --features to keep them)", name, left))
	}
	c.settled(name, opts)
	if o.Query != "" && (o.Grade != "" || c.grade < 0) && (o.Doc != "" || c.doc < 0) && (o.Features != nil || o.Except != nil || opts.FeatureNames != nil) {
		return
	}
	text := fmt.Sprintf("%s: queries are taken from column %s", name, c.List[c.query].Name)
	if c.grade >= 0 {
		text += ", grades from " + c.List[c.grade].Name
	} else {
		text += ", no grades"
	}
	if c.doc >= 0 {
		text += ", document ids from " + c.List[c.doc].Name
	}
	if c.weight >= 0 {
		text += ", weights of documents from " + c.List[c.weight].Name
	}
	if c.queryWeight >= 0 {
		text += ", weights of queries from " + c.List[c.queryWeight].Name
	}
	if len(c.Attributes) > 0 {
		text += ", attributes of queries from " + strings.Join(opts.Table.Attributes, ", ")
	}
	features := c.ofRoles(Feature, OneHot, Coded)
	columns := "columns"
	if len(features.List) == 1 {
		columns = "column"
	}
	text += fmt.Sprintf(", features from %d %s: %s", len(features.List), columns, features.names())
	if left := c.leftOut(); left != "" {
		text += "; left out: " + left
	}
	opts.Note(text + " (--query, --grade, --doc, --features choose others)")
}

// ofRoles returns the columns with one of the roles.
func (c *Columns) ofRoles(roles ...Role) *Columns {
	some := &Columns{}
	for _, f := range c.List {
		if slices.Contains(roles, f.Role) {
			some.List = append(some.List, f)
		}
	}
	return some
}

// leftOut lists the columns that are not read.
func (c *Columns) leftOut() string {
	unnamed := 0
	rest := c.ofRoles(Skip)
	rest.List = slices.DeleteFunc(rest.List, func(f Column) bool { return f.Attribute > 0 })
	for _, f := range rest.List {
		if f.Name == "" {
			unnamed++
		}
	}
	text := rest.names()
	switch {
	case unnamed == 0:
		return text
	case text != "":
		text += ", "
	}
	if unnamed == 1 {
		return text + "a column without a name"
	}
	return fmt.Sprintf("%s%d columns without names", text, unnamed)
}

// checkReserved refuses a feature that the options do not name if its name is usual for a role whose
// column was guessed. A second column of grades would teach a model what it is to predict. The
// features in a JSON object of features are named by it. In a table of the layout that listwise writes, a feature may
// have a doubtful name.
func (c *Columns) checkReserved(fields []Field, o dataset.TableOptions) error {
	if o.Features != nil {
		return nil
	}
	own := len(fields) >= 3 && slices.EqualFunc(fields[:3], written[:3], func(f Field, name string) bool { return f.Name == name })
	inside := slices.ContainsFunc(fields, func(f Field) bool { return f.Aside })
	for i, f := range fields {
		if inside && !f.Aside || c.List[i].Role != Feature || slices.Contains(o.OneHot, f.Name) {
			continue
		}
		for _, r := range c.others(o) {
			if *r.place < 0 || r.name != "" || !r.role.named(f.Name) {
				continue
			}
			if own && slices.Contains(doubtful[r.role], plainName(f.Name)) {
				continue
			}
			taken := c.List[*r.place].Name
			return &dataset.SyntaxError{
				Found: fmt.Sprintf("column %q beside the %s of column %q", f.Name, r.what, taken),
				Expected: fmt.Sprintf("a choice: --features %s; or %s %s --features %s; or --features with the names of all features, where it is one",
					quoteName(allBut(o.Except, f.Name)), r.flag, quoteName(f.Name), quoteName(allBut(o.Except, taken))),
			}
		}
	}
	return nil
}

// settled notes each feature whose name is usual or doubtful for a role that an option gives to another
// column. It notes nothing if the options name the features.
func (c *Columns) settled(name string, opts dataset.Options) {
	if opts.Table.Features != nil || opts.FeatureNames != nil {
		return
	}
	for _, r := range c.others(opts.Table) {
		if r.name == "" {
			continue
		}
		for _, f := range c.ofRoles(Feature).List {
			if r.role.named(f.Name) {
				opts.Note(fmt.Sprintf("%s: column %s is used as a feature, because %s %s names the %s (--features %s excludes it)",
					name, f.Name, r.flag, quoteName(r.name), r.what, quoteName(allBut(opts.Table.Except, f.Name))))
			}
		}
	}
}

// allBut returns the value of --features that excludes name in addition to except.
func allBut(except []string, name string) string {
	return "all but " + strings.Join(append(slices.Clone(except), name), ",")
}
