package optimize

import (
	"errors"
	"fmt"
)

// takeStart copies the start x0 to dst, which has an element for every variable.
func takeStart(dst, x0 []float64) error {
	if len(x0) != len(dst) {
		return fmt.Errorf("start of %d variables, expected the objective's %d", len(x0), len(dst))
	}
	copy(dst, x0)
	return finiteStart(dst)
}

func finiteStart(x []float64) error {
	if i := notFinite(x); i >= 0 {
		return fmt.Errorf("start: x[%d] is %v, expected a finite number", i, x[i])
	}
	return nil
}

// observed passes what there is to tell to an observer, if there is one, and returns
// whether the run is to end, and with which error.
func observed[T any](observe func(T) error, news T) (stop bool, err error) {
	if observe == nil {
		return false, nil
	}
	err = observe(news)
	if errors.Is(err, ErrStop) {
		return true, nil
	}
	return err != nil, err
}
