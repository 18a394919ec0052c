package optimize

import (
	"fmt"

	"github.com/listwise/listwise/internal/binarystate"
)

// coded is implemented by all states.
type coded interface {
	// code goes through all numbers of the state.
	code(c *binarystate.Codec)

	// validate returns an error if the state is impossible as that of a run.
	validate() error
}

// readState sets st to the state whose complete binary form data is. Anything else is an
// error and leaves st unchanged.
func readState[S any, P interface {
	*S
	coded
}](data []byte, st P) error {
	read := P(new(S))
	if err := binarystate.Read(data, read.code); err != nil {
		return err
	}
	if err := read.validate(); err != nil {
		return err
	}
	*st = *read
	return nil
}

// codePairs goes through m pairs of vectors of n elements each.
func codePairs(c *binarystate.Codec, m, n int, s, y *[][]float64) {
	if c.Reading() && m != 0 && n < 1 {
		c.Fail(fmt.Errorf("found %d correction pairs of %d variables, expected some variables", m, n))
	}
	for i := 0; i < m && c.Err() == nil; i++ {
		if c.Reading() {
			*s, *y = append(*s, nil), append(*y, nil)
		}
		c.Vectors(n, &(*s)[i], &(*y)[i])
	}
}
