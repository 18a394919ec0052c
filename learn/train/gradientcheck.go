package train

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/random"
	"github.com/listwise/listwise/learn/loss"
)

// checkGradient checks λ on checkedQueries queries, each at checkedPoints random vectors of scores.
const (
	checkedQueries = 4
	checkedPoints  = 4
)

// checkGradient returns a *ProblemError if a caller's own loss rises along its λ at every point tried. Then either λ
// or the value has the wrong sign. A few short queries are enough, because a wrong sign shows on all of them. The
// check passes at the first query with a point where the loss does not rise. So kinks, noise and a λ that only
// approximates the gradient pass. Losses with Traits.NonGradient are not checked. Losses of package loss are not
// checked either, because tests check them, except for loss.Numeric.
//
// checkGradient also sets p.numeric.
func (p *Problem) checkGradient() error {
	if p.Loss == nil || ownLoss(p.Loss) || p.Loss.Traits().NonGradient {
		return nil
	}
	rises, queries := 0, 0
	for _, i := range p.shortQueries() {
		grades := p.Data.Queries[i].Grades
		bound, err := p.Loss.Bind(grades, random.Stream(p.Seed, "gradient check", ""))
		if err != nil {
			return nil //nolint:nilerr // training reports the error with the query
		}
		if bound == nil || bound == loss.Nothing {
			continue
		}
		p.numeric = loss.IsNumeric(bound)
		points, up := risesAlong(bound, len(grades), random.Stream(p.Seed, "gradient check points", ""))
		if up < points {
			return nil
		}
		if points > 0 {
			queries++
		}
		rises += up
	}
	if rises < checkedPoints {
		return nil
	}
	return BadProblem("the loss %T: found a value that rises along λ at each of %d points of %d queries, expected it to fall: λ is minus the gradient of the value (or Traits.NonGradient)", p.Loss, rises, queries)
}

// ownLoss reports whether the type of l is of package loss or of a package below it. A loss.Numeric is the caller's.
func ownLoss(l loss.Loss) bool {
	if _, ok := l.(loss.Numeric); ok {
		return false
	}
	own := reflect.TypeFor[loss.Traits]().PkgPath()
	t := reflect.TypeOf(l)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath() == own || strings.HasPrefix(t.PkgPath(), own+"/")
}

// shortQueries returns the indices of at most checkedQueries queries with different grades: the shortest ones among a
// sample at equal distances.
func (p *Problem) shortQueries() []int {
	const looked = 16 * checkedQueries
	queries := p.Data.Queries
	var some []int
	for i := range queries {
		if g := queries[i].Grades; len(g) > 1 && slices.Min(g) < slices.Max(g) {
			some = append(some, i)
		}
	}
	if n := len(some); n > looked {
		for i := range looked {
			some[i] = some[i*n/looked]
		}
		some = some[:looked]
	}
	slices.SortStableFunc(some, func(a, b int) int { return cmp.Compare(queries[a].Len(), queries[b].Len()) })
	return some[:min(len(some), checkedQueries)]
}

// risesAlong evaluates a loss around random scores. It returns the number of points with a λ other than 0, and the
// number of these at which the loss rises along λ. A rise counts only if two finite differences agree on the slope.
func risesAlong(l loss.QueryLoss, docs int, rng *rand.Rand) (points, rises int) {
	const width = 1e-4
	scores, lambda := make([]float64, docs), make([]float64, docs)
	at, spare := make([]float64, docs), make([]float64, docs)
	var scratch loss.Scratch
	for range checkedPoints {
		for i := range scores {
			scores[i] = 2*rng.Float64() - 1
		}
		l.Eval(scores, lambda, &scratch)
		var size float64
		for _, v := range lambda {
			size += float64(v * v)
		}
		size = math.Sqrt(size)
		if size == 0 || notFinite(size) {
			continue
		}
		along := func(d float64) float64 {
			for i, s := range scores {
				at[i] = s + float64(d*lambda[i]/size)
			}
			return l.Eval(at, spare, &scratch)
		}
		narrow := (along(width) - along(-width)) / (2 * width)
		wide := (along(2*width) - along(-2*width)) / (4 * width)
		points++
		if narrow > 0 && math.Abs(wide-narrow) <= 0.1*narrow {
			rises++
		}
	}
	return points, rises
}
