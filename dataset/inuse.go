package dataset

import "github.com/listwise/listwise/internal/block"

// GuardFaults turns a memory fault into an error if its address belongs to a mapped cache, whose file was
// truncated while it was used. The fault is one of the caller's goroutine, or of a goroutine in
// internal/parallel that it waits for. The error wraps [ErrChanged]. Other panics are passed on. It is called as
//
//	defer dataset.GuardFaults(&err)()
func GuardFaults(err *error) (end func()) { return block.Guard(err) }

// Changed returns an error, which wraps [ErrChanged], if the data set is a view of a file that was written to,
// truncated or replaced since it was opened. It compares the file's size, time of modification and inode.
// Functions that compute results from data call it before they return them: Model.Score, Method.Train,
// measure.Evaluate and the writers of files. A file that was deleted counts as unchanged. For any other data set
// Changed returns nil.
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

// Close releases what a reader holds for the data set: the mapping of a cache. Neither
// the data set nor a slice obtained from it may be used afterwards; identifiers,
// and data sets made from it, may. Closing twice, or a data set from elsewhere,
// does nothing.
func (d *Dataset) Close() error {
	if d.file == nil {
		return nil
	}
	f := d.file
	d.file, d.matrix, d.Queries, d.x, d.grades, d.weights = nil, nil, nil, nil, nil, nil
	return f.Close()
}
