package recipe

import (
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/measure"
	"github.com/listwise/listwise/method"
)

// Problem returns what a method with some settings is to learn from, without its data, which
// [Settle] puts in.
func (r *Recipe) Problem(m *method.Method, set map[string]string) (*method.Problem, error) {
	p := &method.Problem{Seed: r.Seed, Scorer: r.Scorer}
	var err error
	if p.Values, err = m.Values(set); err == nil {
		err = p.Values.Idle()
	}
	if err != nil {
		return nil, optionErrorf("set: %w", err)
	}
	if _, err := ParseConvention(r.Convention, r.Threshold); err != nil {
		return nil, err
	}
	if p.Measure, err = r.TrainingMeasure(m); err != nil {
		return nil, err
	}
	if p.Select = p.Measure; p.Select == nil {
		if p.Select, err = r.OneMeasure("convention", SelectBy); err != nil {
			return nil, err
		}
	}
	if p.Normalization, err = r.Normalization(); err != nil {
		return nil, err
	}
	if p.Views, err = r.ParseViews(); err != nil {
		return nil, err
	}
	p.Transforms, err = r.Transforms()
	return p, err
}

// Settle puts the data, and validation data that may be nil, in a problem, and gives its measures
// the relevance threshold for them. It returns a sentence for the user if that is not the
// convention's own, else "".
func Settle(p *method.Problem, data, valid *dataset.Dataset) (note string) {
	p.Data, p.Valid = data, valid
	sets := []*dataset.Dataset{data}
	if valid != nil {
		sets = append(sets, valid)
	}
	c, note := Relevance(measure.ConventionOf(p.Select), sets...)
	p.Select, p.Measure = measure.Under(p.Select, c), measure.Under(p.Measure, c)
	return note
}

// Relevance returns the convention with the threshold for the data sets, taken together, and a
// sentence for the user if the data have changed it.
func Relevance(c measure.Convention, sets ...*dataset.Dataset) (settled measure.Convention, note string) {
	settled = c.For(sets...)
	if t := settled.Threshold(); t != c.Threshold() {
		note = fmt.Sprintf("the grades are not whole numbers: documents from grade %s on, the smallest positive one, count as relevant", dataset.FormatGrade(t))
	}
	return settled, note
}

// Common returns a sentence for the user if validation or test data, of that name, share queries
// with other data, "" if they do not.
func Common(name string, d *dataset.Dataset, ofName string, of *dataset.Dataset) string {
	n := d.CommonQueries(of)
	if n == 0 {
		return ""
	}
	all := fmt.Sprintf("%d of the %d", n, len(d.Queries))
	if n == len(d.Queries) {
		all = fmt.Sprintf("all %d", n)
	}
	return fmt.Sprintf("%s queries of %s are in %s too: what is chosen or measured on them says little of other queries", all, name, ofName)
}
