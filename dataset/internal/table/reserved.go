package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset"
)

// checkReserved refuses a feature that the options do not name if its name is usual for a role whose
// column was guessed. A second column of grades would teach a model what it is to predict. The
// features in a JSON object of features are named by it.
func (c *Columns) checkReserved(fields []Field, o dataset.TableOptions) error {
	if o.Features != nil {
		return nil
	}
	inside := slices.ContainsFunc(fields, func(f Field) bool { return f.Aside })
	for i, f := range fields {
		if inside && !f.Aside || c.List[i].Role != Feature || slices.Contains(o.OneHot, f.Name) {
			continue
		}
		for _, r := range c.others(o) {
			if *r.place < 0 || r.name != "" || !r.role.named(f.Name) {
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

// settled notes features that nobody named and that have a usual name of a role for which an option names a
// column.
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
				opts.Note(fmt.Sprintf("%s: column %s is a feature, as %s %s names the %s (--features %s leaves it out)",
					name, f.Name, r.flag, quoteName(r.name), r.what, quoteName(allBut(opts.Table.Except, f.Name))))
			}
		}
	}
}

// allBut is the value of --features that leaves out one more column.
func allBut(except []string, name string) string {
	return "all but " + strings.Join(append(slices.Clone(except), name), ",")
}
