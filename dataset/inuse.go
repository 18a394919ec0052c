package dataset

import "github.com/listwise/listwise/internal/block"

// GuardFaults turns a memory fault into an error if the address belongs to a mapped cache whose file was
// truncated. It handles faults in the caller's goroutine, and in goroutines of this module for which the
// caller waits. The error wraps [ErrChanged]. Other panics are passed on. Call it as
//
//	defer dataset.GuardFaults(&err)()
func GuardFaults(err *error) (end func()) { return block.Guard(err) }

// Changed returns an error, which wraps [ErrChanged], if d is a view of a file that was changed, truncated or
// replaced since it was opened. It compares the file's size, time of modification and inode. Functions that
// compute results from data call it before they return: Model.Score, Method.Train, measure.Evaluate and the
// writers of files. A deleted file counts as unchanged. For any other data set Changed returns nil.
func (d *Dataset) Changed() error {
	for _, s := range d.sources {
		if err := s.Changed(); err != nil {
			return err
		}
	}
	if d.file == nil {
		return nil
	}
	return d.file.Changed()
}

// Close releases the mapping of a cache. The caller must then not use d, slices of d, or streamed data sets
// made from d. Other data sets made from d stay valid, and so do identifiers, except for document ids of a
// streamed data set. For any other data set, and in a second call, Close does nothing.
func (d *Dataset) Close() error {
	if d.file == nil {
		return nil
	}
	f := d.file
	d.file, d.matrix, d.Queries, d.x, d.grades, d.weights = nil, nil, nil, nil, nil, nil
	return f.Close()
}
