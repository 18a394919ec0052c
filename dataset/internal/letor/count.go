package letor

import (
	"bytes"

	"github.com/listwise/listwise/dataset/internal/ingest"
)

// count returns the numbers of documents and lines in a chunk, and the largest number of a feature, from 1.
// Indices ascend, so the largest index of a line is the number before the last colon. For an invalid line this
// number is meaningless, but the parser returns an error.
func (f *format) count(c ingest.Chunk) (size ingest.Size) {
	n := c.Lines()
	comment := -1 // position of the next #, or n; updated when p has passed it
	for p := 0; p < n; size.Lines++ {
		end := p + bytes.IndexByte(c.Text[p:n], '\n')
		start := skipBlanks(c.Text, p)
		if comment < p {
			comment = find(c.Text[:n], p, '#')
		}
		p = end + 1
		if start == end || start == comment {
			if start == comment && size.Feature <= f.unnamedLimit() && bytes.HasPrefix(c.Text[start:end], namesMark) {
				names, _ := parseNames(c.Text[start:end]) // checkNames returns the error
				f.found(c.Index, names)
			}
			continue
		}
		size.Docs++
		line := c.Text[start:min(comment, end)]
		index := lastIndex(line)
		for f.opts.AnyOrder && len(line) > 0 {
			line = line[:max(0, bytes.LastIndexByte(line, ':'))]
			index = max(index, lastIndex(line))
		}
		size.Feature = max(size.Feature, index+1-f.first())
	}
	if size.Feature > f.unnamedLimit() {
		f.mu.Lock()
		f.huge = min(f.huge, c.Index)
		f.mu.Unlock()
	}
	return size
}

// find returns the position of the first byte x in b[p:], or len(b).
func find(b []byte, p int, x byte) int {
	if i := bytes.IndexByte(b[p:], x); i >= 0 {
		return p + i
	}
	return len(b)
}

// lastIndex returns the number before the last colon, or −1 if there is none.
func lastIndex(line []byte) int {
	p := bytes.LastIndexByte(line, ':') - 1
	index, unit, huge := 0, 1, false
	for ; p >= 0 && line[p]-'0' <= 9; p-- {
		d := int(line[p] - '0')
		huge = huge || d > 0 && unit >= 1e8
		index += d * unit
		unit = min(unit*10, 1e8)
	}
	if p < 0 || line[p] != ' ' && line[p] != '\t' {
		return -1 // not an index, as in "qid:7:"
	}
	if huge {
		return hugeFeature
	}
	return index
}
