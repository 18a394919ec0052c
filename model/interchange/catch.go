package interchange

// bailout carries an error from must or check to the deferred catch of the same function.
type bailout struct{ err error }

// catch sets err to the error that must or check met, as catchError does in encoding/gob. A function
// that calls must or check begins with
//
//	defer catch(&err)
//
// so no panic leaves it. Readers and writers use this, since almost every value that they meet may
// be wrong.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case bailout:
		*err = r.err
	default:
		panic(r)
	}
}

// check ends the function with an error unless it is nil.
func check(err error) {
	if err != nil {
		panic(bailout{err})
	}
}

// must returns a value without its error, or ends the function with that error.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// must2 is must for two values.
func must2[T, U any](v T, u U, err error) (T, U) {
	check(err)
	return v, u
}
