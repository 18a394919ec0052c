package click

import (
	"io"
	"time"

	"github.com/listwise/listwise/dataset/memory"
)

// Options say how pages are read. The zero value recognises the format and uses all cores. A page whose id
// occurred before is then an error.
type Options struct {
	// Stdin is what the path "-" reads.
	Stdin io.Reader

	// Mem counts memory against a limit. nil means the default limit, for each file by itself.
	Mem *memory.Account

	// KeepFirst leaves out pages whose id occurred before.
	KeepFirst bool

	// Drop, if not nil, reports whether to leave out the pages of a user.
	Drop func(user string) bool

	// Since and Until, if not zero, leave out pages before Since, and pages at Until or later. A page without a time is
	// then an error.
	Since, Until time.Time

	// Observe, if not nil, is called with the number of bytes read so far and the total, 0 if unknown.
	Observe func(done, total int64)

	// Tally, if not nil, receives what was found besides the pages. The page ids of all files that share a Tally
	// must differ.
	Tally *Tally
}

// Tally counts what was found in one file or several.
type Tally struct {
	Pages  int     // used
	Weight float64 // of these pages
	Users  Users   // of these pages

	Anonymous int // of these pages, those without a user; each is a unit of its own

	Incomplete int // last pages that were cut off, and left out
	Doubtful   int // last pages of tables that may have been cut off between rows or within the last row
	Weightless int // pages that were left out because their weight is 0
	Repeated   int // pages that were left out because their id occurred before
	Copies     int // pages without ids that repeat the time, user, query and documents of another page
	Dropped    int // pages that Options.Drop left out
	Outside    int // pages that were left out because of their time

	Unknown []string // names of members that are not known, and were ignored

	ids   pageIDs
	watch watch
}

// Has reports whether a page with the id of another one was read.
func (t *Tally) Has(p *Page) bool { return p.ID != "" && t.ids.at != nil && t.ids.has(p.ID) }
