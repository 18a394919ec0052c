package parallel

import (
	"testing"
	"time"
)

// Claim: the faster way does nearly all pieces, whichever it is, also where pieces are of unlike sizes and some take
// far longer than usual, and after it has become the slower one.
func TestChoiceTakesTheFasterWay(t *testing.T) {
	var clock time.Time
	clock = clock.Add(time.Hour)
	c := Choice{now: func() time.Time { return clock }}
	costs := [2]time.Duration{10, 16}
	const cycle = settledAfter * blockPieces
	count := [2]int{}
	for piece := range 6 * cycle {
		if piece == 2*cycle+cycle/2 {
			costs = [2]time.Duration{20, 12}
		}
		size := 1 + piece*7%50
		way := 0
		if c.Second(size) {
			way = 1
		}
		clock = clock.Add(time.Duration(size) * costs[way])
		if piece%90 == 0 {
			clock = clock.Add(time.Millisecond)
		}
		faster := 0
		if piece >= 3*cycle { // from when it can know
			faster = 1
		}
		if way == faster {
			count[0]++
		} else if piece < 2*cycle || piece >= 3*cycle {
			count[1]++
		}
	}
	if most := 6 * trialBlocks / 2 * blockPieces; count[1] > most {
		t.Errorf("%d pieces were done the slower way, expected at most the %d of trials", count[1], most)
	}
}
