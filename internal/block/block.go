// Package block has the memory that data sets lie in: large blocks of feature
// vectors, files mapped into memory together with what follows when they change, and
// numbers as the bytes of a file.
//
// Start reading at [New] and [File].
package block

// Huge is the length from which a block of features is worth large pages:
// 4 MiB, of which at least one half is made of whole 2 MiB pages wherever the
// block starts.
const Huge = 1 << 20

// New returns n zeros for feature vectors. A pass over a large matrix with
// small pages spends much of its time on looking up their addresses, so the system
// is asked for large ones before the first of them is touched.
func New(n int) []float32 {
	x := make([]float32, n)
	if n >= Huge {
		adviseHugePages(x)
	}
	return x
}
