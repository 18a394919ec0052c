package objective

import (
	"fmt"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/learn/loss"
	"github.com/listwise/listwise/model/scorer"
)

// TooMuchWork is the error for a query that would take too long or too much memory.
type TooMuchWork struct {
	Query     string // its id
	Documents int
	Cost      loss.Cost
	Limit     float64 // in the unit of [loss.Cost.Work]
}

// Error returns the query, an estimate of its cost and the limit.
func (e *TooMuchWork) Error() string {
	memory := ""
	if e.Cost.Bytes > 1e8 {
		memory = fmt.Sprintf(" and %.2g GB of memory", e.Cost.Bytes/1e9)
	}
	return fmt.Sprintf("query %q of %d documents: found a pass of about %.2g s%s, a work of %.2g, expected at most %.2g",
		e.Query, e.Documents, e.Cost.Operations/1e9, memory, e.Cost.Work(), e.Limit)
}

// CheckWork returns a [*TooMuchWork] if the loss or the scorer take more work than the
// limit for a query, in the unit of [loss.Cost.Work]: that of the query that takes
// most. A scorer or coster of nil takes none. It takes about as long as sorting the grades.
func CheckWork(d *dataset.Dataset, s scorer.Scorer, coster loss.Coster, limit float64) error {
	pairs, _ := s.(scorer.Coster)
	if coster == nil && pairs == nil {
		return nil
	}
	var worst *TooMuchWork
	for i := range d.Queries {
		q := &d.Queries[i]
		var c loss.Cost
		if coster != nil {
			c = coster.Cost(q.Grades)
		}
		if pairs != nil {
			c.Operations += pairs.Cost(q.Len())
		}
		if work := c.Work(); work > limit && (worst == nil || work > worst.Cost.Work()) {
			worst = &TooMuchWork{Query: q.ID, Documents: q.Len(), Cost: c, Limit: limit}
		}
	}
	if worst == nil {
		return nil
	}
	return worst
}
