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
	const cycle = longestCycle * blockPieces
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
	const cycles = 3 + 6 // of which three are shorter
	if most := cycles * trialBlocks / 2 * blockPieces; count[1] > most {
		t.Errorf("%d pieces were done the slower way, expected at most the %d of trials", count[1], most)
	}
}

// Claim: where the first trial is misled, as by data that are read from a file then, the faster way is taken soon.
func TestChoiceIsMisledForAShortWhile(t *testing.T) {
	var clock time.Time
	clock = clock.Add(time.Hour)
	c := Choice{now: func() time.Time { return clock }}
	slower := 0
	for piece := range 100 * blockPieces {
		cost := 16
		if c.Second(1) {
			cost = 10
			if piece < trialBlocks*blockPieces {
				cost = 30
			}
		} else {
			slower++
		}
		clock = clock.Add(time.Duration(cost))
	}
	if most := (firstCycle + 2*trialBlocks/2) * blockPieces; slower > most {
		t.Errorf("%d pieces were done the slower way, expected at most %d", slower, most)
	}
}
