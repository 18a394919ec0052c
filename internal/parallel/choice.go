package parallel

import "time"

// Choice finds the faster of two ways of doing many pieces of work, while they are done. Whether a [Team]
// is faster depends on the machine and its load: on the distance of its processors and on how many are
// free. Each way is tried for some pieces, and the faster one (by the least time a unit) is kept for many,
// then both are tried again. The first periods are short, since early pieces may be slow for other
// reasons, such as reading from a file. The zero value is ready to use; it serves one goroutine.
type Choice struct {
	now    func() time.Time // nil: time.Now
	block  int              // under way
	pieces int              // of the block
	size   int              // of these
	begun  time.Time        // the block
	cycle  int              // blocks of the one under way
	least  [2]float64       // times a unit of the two ways, of the trial; 0: none yet
	second bool             // the way of the block
}

// Pieces come in blocks: of a cycle, the first are a trial, of the two ways in turn. Each cycle is twice as long as the
// one before, up to the longest.
const (
	blockPieces  = 32
	trialBlocks  = 6
	firstCycle   = 16 // blocks
	longestCycle = 128
)

// Second reports whether the piece that begins now, of a size in any unit, should be done the second way.
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

// note takes the time of a block into account.
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
