package parallel

import "time"

// Choice finds the faster of two methods for many pieces of work while the work is done. For
// example, whether a [Team] is faster than one goroutine depends on the machine and its load.
// Choice tries each method for some pieces. It then uses the method with the least time per unit of
// work for many pieces, and tries both again. The first cycles are short, since early pieces may be
// slow for other reasons, such as reading from a file. The zero value is ready to use. A Choice
// serves one goroutine.
type Choice struct {
	now    func() time.Time // nil means time.Now
	block  int              // index of the current block in its cycle
	pieces int              // pieces of the block so far
	size   int              // total size of these pieces
	begun  time.Time        // start of the block
	cycle  int              // number of blocks of the current cycle
	least  [2]float64       // least time per unit of each method in the trial; 0 if none yet
	second bool             // whether the block uses the second method
}

// Pieces are grouped into blocks, and blocks into cycles. The first blocks of a cycle are a trial,
// which alternates between the methods. Each cycle is twice as long as the one before, up to
// longestCycle.
const (
	blockPieces  = 32
	trialBlocks  = 6
	firstCycle   = 16 // blocks
	longestCycle = 128
)

// Second reports whether the piece that begins now should use the second method. size is the size
// of the piece in any unit.
func (c *Choice) Second(size int) bool {
	if c.pieces == blockPieces || c.begun.IsZero() {
		c.turn()
	}
	c.pieces++
	c.size += size
	return c.second
}

// turn ends a block and begins another.
func (c *Choice) turn() {
	now := time.Now
	if c.now != nil {
		now = c.now
	}
	end := now()
	if !c.begun.IsZero() {
		c.note(end)
		if c.block++; c.block == c.cycle {
			c.block = 0
		}
	}
	switch {
	case c.block == 0:
		c.cycle = min(max(firstCycle, 2*c.cycle), longestCycle)
		c.least = [2]float64{}
		c.second = true
	case c.block < trialBlocks:
		c.second = !c.second
	case c.block == trialBlocks:
		c.second = c.least[1] < c.least[0]
	}
	c.begun, c.pieces, c.size = end, 0, 0
}

// note records the time per unit of a trial block that ends now.
func (c *Choice) note(end time.Time) {
	if c.block >= trialBlocks || c.size == 0 {
		return
	}
	way := 0
	if c.second {
		way = 1
	}
	if cost := float64(end.Sub(c.begun)) / float64(c.size); c.least[way] == 0 || cost < c.least[way] {
		c.least[way] = cost
	}
}
