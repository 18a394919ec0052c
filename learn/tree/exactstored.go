package tree

import (
	"fmt"

	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/internal/parallel"
)

// storedColumns are the exactColumns of data that are larger than memory, in a temporary file: of each feature the words
// of all documents and, in a second column, those of the tree's documents, a leaf's together. The root is read from the
// first; dividing a leaf reads its part of every column and writes it once.
type storedColumns struct {
	file   *block.Temporary
	rows   int
	room   int    // words that a column has room for: whole pages
	differ []bool // by feature: not all values are equal
	bag    []bool // of the tree at hand; nil for all

	parts [][2]pagedWords // a worker each: what was read, and for what is divided
}

// pageWords is the number of words of a page.
const pageWords = block.Page / 8

// StoredExactBytes returns the bytes a document that [NewStoredExact] holds, and those of a worker.
func StoredExactBytes() (held, worker int) { return 16, 8 + 8 + 16 }

// StoredExactFile returns the size of the file of [NewStoredExact].
func StoredExactFile(rows, features int) int64 {
	return 2 * 8 * int64(wordsRoom(rows)) * int64(features)
}

func wordsRoom(rows int) int { return (rows + pageWords - 1) / pageWords * pageWords }

// NewStoredExact is NewExact for data whose values, by feature, are put in a temporary file in ascending order, by so
// many workers: column returns those of a feature in all rows, valid until the next call. The grower must be closed. If
// reading or writing fails, here or in its methods, they panic with a value that dataset.GuardFaults makes an error of.
func NewStoredExact(rows, features, workers int, o Options, column func(f int) []float32) (g *Exact, err error) {
	if uint64(rows) > 1<<32-1 {
		return nil, fmt.Errorf("found %d documents that are read from a file, expected at most %d", rows, uint32(1<<32-1))
	}
	if g, err = newExact(rows, features, o); err != nil {
		return nil, err
	}
	file, err := block.NewTemporary("", StoredExactFile(rows, features))
	if err != nil {
		return nil, err
	}
	file.Direct()
	g.workers = min(len(g.suffix), parallel.Workers(workers, features))
	s := &storedColumns{file: file, rows: rows, room: wordsRoom(rows), differ: make([]bool, features), parts: make([][2]pagedWords, g.workers)}
	sorted := false
	defer func() {
		if !sorted {
			_ = file.Close() // what went wrong is told
		}
	}()
	s.sort(features, column)
	g.columns, sorted = s, true
	return g, nil
}

// sort puts all columns in order, some at a time.
func (s *storedColumns) sort(features int, column func(f int) []float32) {
	for from := 0; from < features; from += len(s.parts) {
		n := min(len(s.parts), features-from)
		for i := range n {
			words := s.parts[i][0].hold(0, s.rows)
			for row, v := range column(from + i) {
				words[row] = wordOf(v, uint32(row))
			}
		}
		parallel.For(n, n, func(_, i int) {
			f, part := from+i, &s.parts[i]
			sorted := part[1].hold(0, s.rows)
			sortByKey(sorted, part[0].words())
			if s.differ[f] = differ(sorted); s.differ[f] {
				part[1].write(s.file, s.column(f, 0))
			}
		})
	}
}

// column returns where a column of a feature begins, the first or the second.
func (s *storedColumns) column(f, which int) int64 { return 8 * int64(s.room) * int64(2*f+which) }

func (s *storedColumns) varies(f int) bool { return s.differ[f] }

func (s *storedColumns) begin(bag []bool, _ int) { s.bag = bag }

func (s *storedColumns) load(worker, f int, l *exactLeaf) []uint64 {
	part := &s.parts[worker][0]
	if l.depth > 0 {
		words := part.hold(l.from, l.to-l.from)
		part.read(s.file, s.column(f, 1))
		return words
	}
	words := part.hold(0, s.rows)
	part.read(s.file, s.column(f, 0))
	if s.bag == nil {
		return words
	}
	in := words[:0]
	for _, word := range words {
		if s.bag[uint32(word)] {
			in = append(in, word)
		}
	}
	return in
}

func (s *storedColumns) divide(worker, f int, l *exactLeaf, goLeft []bool) []uint64 {
	words := s.load(worker, f, l)
	part := &s.parts[worker][1]
	divided := part.hold(l.from, len(words))
	left := 0
	for _, word := range words {
		if goLeft[uint32(word)] {
			divided[left] = word
			left++
		}
	}
	right := left
	for _, word := range words {
		if !goLeft[uint32(word)] {
			divided[right] = word
			right++
		}
	}
	part.write(s.file, s.column(f, 1))
	return divided
}

func (s *storedColumns) outside(t *Tree, bag []bool) []int32 {
	at := make([]int32, s.rows)
	if len(t.Nodes) == 0 {
		for r := range at {
			at[r] = -1
		}
	}
	for k := range t.Nodes {
		n, part := &t.Nodes[k], &s.parts[0][0]
		words := part.hold(0, s.rows)
		part.read(s.file, s.column(n.Feature, 0))
		for _, word := range words {
			if row := uint32(word); !bag[row] && at[row] == int32(k) {
				at[row] = int32(n.child(valueOf(word)))
			}
		}
	}
	return at
}

func (s *storedColumns) Close() error { return s.file.Close() }

// pagedWords is memory for successive words of a column, which lie in its pages as in those of the file.
type pagedWords struct {
	memory   []uint64
	from, to int // of the column
}

// hold makes room for so many words from one on, and returns it.
func (p *pagedWords) hold(from, n int) []uint64 {
	p.from, p.to = from, from+n
	if need := wordsRoom(from%pageWords + n); len(p.memory) < need {
		p.memory = block.Words(block.Aligned(8*need, block.Page))
	}
	return p.words()
}

func (p *pagedWords) words() []uint64 { return p.memory[p.from%pageWords:][:p.to-p.from] }

// fewWords are read and written through the system's cache, all at once.
const fewWords = 1 << 13

// read reads the words of the column that begins at an offset: many of them in whole pages.
func (p *pagedWords) read(file *block.Temporary, column int64) {
	words, from := p.words(), p.from
	if len(words) > fewWords {
		from = p.from / pageWords * pageWords
		words = p.memory[:wordsRoom(p.to-from)]
	}
	if len(words) > 0 {
		block.ReadTemporary(file, words, column+8*int64(from))
	}
}

// write writes the words: of many, whole pages, and what is left at both ends by itself, as others have the rest of
// these pages.
func (p *pagedWords) write(file *block.Temporary, column int64) {
	words, from := p.words(), p.from
	if len(words) <= fewWords {
		block.WriteTemporary(file, words, column+8*int64(from))
		return
	}
	for len(words) > 0 {
		n := len(words) / pageWords * pageWords
		if ahead := from % pageWords; ahead > 0 {
			n = min(pageWords-ahead, len(words))
		} else if n == 0 {
			n = len(words)
		}
		block.WriteTemporary(file, words[:n], column+8*int64(from))
		words, from = words[n:], from+n
	}
}

// sortByKey sets sorted to words in the order of their upper halves, those of equals as they were, by three passes over
// eleven bits. It overwrites the words.
func sortByKey(sorted, words []uint64) {
	const bits, digits = 11, 1 << 11
	spare := sorted
	for shift := 32; shift < 64; shift += bits {
		var starts [digits]int
		for _, w := range words {
			starts[w>>shift%digits]++
		}
		at := 0
		for d, n := range starts {
			starts[d], at = at, at+n
		}
		for _, w := range words {
			d := w >> shift % digits
			spare[starts[d]] = w
			starts[d]++
		}
		words, spare = spare, words
	}
}
