package train

import (
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
)

// storedLeaves has the columns of a leafTable in a temporary file, one after the other. Sums over all trees read them in
// order, a part of the documents at a time.
type storedLeaves struct {
	file   *block.Temporary
	stride int // documents that a column has room for: whole pages
	width  int // bytes of a leaf: of a column the lower ones of all documents come first, then the upper ones
	trees  int
}

const (
	storedChunk = 1 << 17  // documents that are read together
	fillBytes   = 64 << 20 // of columns that are found in one pass over data that are read query by query
)

// storedReaders are more than there are cores, so that some add while others wait for the disk.
func storedReaders(workers int) int { return 2 * parallel.Workers(workers, 1<<30) }

// leavesWidth returns the bytes of a leaf of trees of so many.
func leavesWidth(leaves int) int {
	if leaves > byteLeaves {
		return 2
	}
	return 1
}

// leavesStride returns the documents that a column of a file has room for.
func leavesStride(docs int) int { return (docs + block.Page - 1) / block.Page * block.Page }

// leavesFileBytes returns the size of a file of so many trees.
func leavesFileBytes(docs, trees, leaves int) int64 {
	return int64(leavesStride(docs)) * int64(leavesWidth(leaves)) * int64(trees)
}

// newStoredLeaves makes the file, with room for so many trees of so many leaves at most.
func newStoredLeaves(docs, trees, leaves int) (*storedLeaves, error) {
	file, err := block.NewTemporary("", leavesFileBytes(docs, trees, leaves))
	if err != nil {
		return nil, err
	}
	file.Direct()
	return &storedLeaves{file: file, stride: leavesStride(docs), width: leavesWidth(leaves)}, nil
}

// offset returns where the upper or lower bytes of a column begin, half 0 and 1.
func (s *storedLeaves) offset(tree, half int) int64 {
	return (int64(tree)*int64(s.width) + int64(half)) * int64(s.stride)
}

// write adds a column. If that fails it panics with a value that dataset.GuardFaults makes an error of.
func (s *storedLeaves) write(c leafColumn) {
	block.WriteTemporary(s.file, c.low, s.offset(s.trees, 0))
	switch {
	case s.width == 1:
	case c.high != nil:
		block.WriteTemporary(s.file, c.high, s.offset(s.trees, 1))
	default:
		block.WriteTemporary(s.file, block.Aligned(s.stride, block.Page), s.offset(s.trees, 1))
	}
	s.trees++
}

// read reads a part of a column, from a whole chunk of documents on, and returns it as column takes it, in memory if
// that is not nil. If that fails it panics with a value that dataset.GuardFaults makes an error of.
func (s *storedLeaves) read(memory []byte, tree, from, to int) []byte {
	if memory == nil {
		memory = block.Aligned(storedChunk*s.width, block.Page)
	}
	n := leavesStride(to - from)
	for half := range s.width {
		block.ReadTemporary(s.file, memory[half*storedChunk:][:n], s.offset(tree, half)+int64(from))
	}
	return memory
}

// column returns what read has read.
func (s *storedLeaves) column(memory []byte) leafColumn {
	if s.width == 1 {
		return leafColumn{low: memory}
	}
	return leafColumn{low: memory[:storedChunk], high: memory[storedChunk:]}
}
