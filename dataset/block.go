package dataset

// hugeBlock is the length from which a block of features is worth large pages:
// 4 MiB, of which at least one half is made of whole 2 MiB pages wherever the
// block starts.
const hugeBlock = 1 << 20

// newBlock returns n zeros for feature vectors. A pass over a large matrix with
// small pages spends much of its time on looking up their addresses, so the system
// is asked for large ones before the first of them is touched.
func newBlock(n int) []float32 {
	x := make([]float32, n)
	if n >= hugeBlock {
		adviseHugePages(x)
	}
	return x
}
