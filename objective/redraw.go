package objective

import (
	"fmt"
	"strconv"

	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/random"
)

// Redraw binds the loss anew to the queries it learns from, so that it draws again
// what it draws: other random numbers in every round, and those of [New] in round
// 0. What is drawn depends on the seed, the round and the query alone. The risk
// is then another function: no method of r may run at the same time, and an
// optimiser that takes it for one function must not be under way. After an error,
// which names the query, r must not be used.
func (r *Risk) Redraw(round int) error {
	errs := make([]error, len(r.queries))
	parallel.For(len(r.queries), r.workers, func(_, i int) {
		q := &r.queries[i]
		stream := random.Stream(r.seed, "bind", q.id)
		if round != 0 {
			stream = random.Stream(r.seed, "bind "+strconv.Itoa(round), q.id)
		}
		q.loss, errs[i] = r.loss.Bind(q.grades, stream)
	})
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("query %q, draws of round %d: %w", r.queries[i].id, round, err)
		}
	}
	return nil
}
