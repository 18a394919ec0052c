package parquet

import (
	"fmt"
	"os"
	"sync"

	"github.com/listwise/listwise/internal/block"
)

// pagesOfGroup stores the pages of a row group until they are written column by column. Pages beyond the
// memory limit are in a temporary file. Several goroutines may add pages concurrently.
type pagesOfGroup struct {
	most int64 // limit of bytes in memory; 0 for none

	mu     sync.Mutex
	held   int64            // bytes in memory
	file   *block.Temporary // nil until it is needed
	filled int64            // bytes in the file
	room   []byte           // buffer for a page of the file
}

// keptPage is a page in memory or, if bytes is nil, in the file.
type keptPage struct {
	bytes    []byte
	at, size int64
}

// keep stores a page and appends it to the pages of a column.
func (p *pagesOfGroup) keep(pages []keptPage, b []byte) ([]keptPage, error) {
	file, at, err := p.place(int64(len(b)))
	switch {
	case err != nil:
		return pages, err
	case file == nil:
		return append(pages, keptPage{bytes: b}), nil
	}
	if _, err := file.WriteAt(b, at); err != nil {
		return pages, fmt.Errorf("pages of a row group: %w", err)
	}
	return append(pages, keptPage{at: at, size: int64(len(b))}), nil
}

// place chooses where to store a page. It returns the file and a position in it, or a nil file for memory.
func (p *pagesOfGroup) place(size int64) (file *os.File, at int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.most == 0 || p.held+size <= p.most {
		p.held += size
		return nil, 0, nil
	}
	if p.file == nil {
		if p.file, err = block.NewTemporary("", groupBytes); err != nil {
			return nil, 0, err
		}
	}
	at = p.filled
	p.filled += size
	return p.file.File(), at, nil
}

// read returns the bytes of a page, valid until the next call.
func (p *pagesOfGroup) read(page keptPage) ([]byte, error) {
	if page.bytes != nil {
		return page.bytes, nil
	}
	if int64(cap(p.room)) < page.size {
		p.room = make([]byte, page.size)
	}
	b := p.room[:page.size]
	if _, err := p.file.File().ReadAt(b, page.at); err != nil {
		return nil, fmt.Errorf("pages of a row group: %w", err)
	}
	return b, nil
}

// forget discards all pages after they were written.
func (p *pagesOfGroup) forget() { p.held, p.filled = 0, 0 }

// close removes the file, if there is one.
func (p *pagesOfGroup) close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}
