package interchange

// bailout carries an error from must or check to the deferred catch of the same function.
type bailout struct{ err error }

// catch sets err to the error of a failed must or check, like catchError in encoding/gob. A function
// that calls must or check begins with
//
//	defer catch(&err)
//
// so that the function returns the error. Readers and writers use this style, because almost every
// value that they process may be invalid.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case bailout:
		*err = r.err
	default:
		panic(r)
	}
}

// check ends the calling function with err unless err is nil.
func check(err error) {
	if err != nil {
		panic(bailout{err})
	}
}

// must returns v, or ends the calling function with err.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// must2 is must for two values.
func must2[T, U any](v T, u U, err error) (T, U) {
	check(err)
	return v, u
}
