package dataset

import "github.com/listwise/listwise/internal/block"

// GuardFaults makes the caller's goroutine turn a fault of the memory, its own or
// one in a goroutine of internal/parallel that it waits for, into an error if it is
// at an address that a cache is mapped to: the file was cut while it was used. The
// error wraps [ErrChanged]. Other panics go on. It is called as
//
//	defer dataset.GuardFaults(&err)()
func GuardFaults(err *error) (end func()) { return block.Guard(err) }

// Changed returns an error, which wraps [ErrChanged], if the data set is a view of a
// file that since was written to, cut or replaced by another. It looks at the
// file's size, time of modification and place on the disk. Whoever made something
// of the data asks before handing it on; model.Score, method.Train,
// measure.Evaluate and the writers of files do. A file that is gone but was
// not replaced is as it was. For any other data set Changed returns nil.
func (d *Dataset) Changed() error {
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
	d.file, d.Queries, d.x, d.grades = nil, nil, nil, nil
	return f.Close()
}
