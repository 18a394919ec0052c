package method

import (
	"errors"

	"github.com/listwise/listwise/loss"
	"github.com/listwise/listwise/objective"
	"github.com/listwise/listwise/scorer"
)

// largestWork is a hyperparameter of all methods that have a loss on scores. Its
// default is about 10 seconds a pass, or a gigabyte, for one query.
var largestWork = Hyperparameter{
	Name: "largest_work", Kind: Number, Default: "1e10", Min: 1, Max: unbounded,
	Doc: "operations, of about a nanosecond each, that one query may take a pass, or ten times its bytes of memory; a query that would take more is refused before training",
}

// checkWork refuses queries that would take too much work, in training or, by the
// scorer, in validation.
func checkWork(p *Problem, s scorer.Scorer, l loss.Loss) error {
	limit := p.Values.Number(largestWork.Name)
	err := objective.CheckWork(p.Data, s, l, limit)
	if err == nil && p.Valid != nil {
		err = objective.CheckWork(p.Valid, s, nil, limit)
	}
	var much *objective.TooMuchWork
	if !errors.As(err, &much) {
		return err
	}
	return badProblem("%w; a method that is linear in documents (such as listnet), fewer documents a query or a larger %s helps", err, largestWork.Name)
}
