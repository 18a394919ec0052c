//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package atomicfile

import (
	"errors"
	"os"
)

// lock locks nothing here: so nothing is taken for a remainder either.
func lock(*os.File) error { return errors.ErrUnsupported }
