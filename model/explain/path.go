package explain

import "math"

const (
	// pathNodes is the number of nodes of Gauss's rule on each piece of the line.
	pathNodes = 8
	// mostPieces is the largest number of pieces of a line.
	mostPieces = 2000
	// pathTolerance is the largest error of the integral over a piece, relative to the score.
	pathTolerance = 1e-12
)

var gaussNodes, gaussWeights = legendre(pathNodes)

// piece is a part of the line, from one fraction of its length to another.
type piece struct {
	from, to, start, end float64 // start and end are the network's values
	depth                int
}

// line is the straight line between two points, along which a network is integrated.
type line struct {
	net      *network
	work     *networkWork
	from, to []float64
	x        []float64
}

// value returns the network's value at a fraction of the line's length.
func (l *line) value(at float64) float64 {
	for j := range l.x {
		l.x[j] = l.from[j] + float64(at*(l.to[j]-l.from[j]))
	}
	return l.net.forward(l.x, l.work)
}

// slope returns the network's derivative along the line at a fraction of its length.
func (l *line) slope(at float64) (along float64) {
	for j, g := range l.net.backward(l.value(at), l.work) {
		along += float64(g * (l.to[j] - l.from[j]))
	}
	return along
}

// integrate adds the integrated gradients from one point to another to dst. The integral over a piece
// should equal the difference of the network's values at its ends. integrate divides pieces that miss
// this by more than the tolerance, until there are mostPieces.
func (n *network) integrate(dst, from, to []float64) {
	l := line{n, n.work(), from, to, make([]float64, len(from))}
	open := []piece{{0, 1, l.value(0), l.value(1), 0}}
	tolerance := float64(pathTolerance * (1 + math.Abs(open[0].start) + math.Abs(open[0].end)))
	own := make([]float64, len(from))
	for done := 0; len(open) > 0; done++ {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		kink, slopes := l.piece(own, p)
		if missed := math.Abs(sum(own) - (p.end - p.start)); missed > tolerance && done+len(open) < mostPieces {
			at := float64((p.from + p.to) / 2)
			if p.depth%2 == 0 && l.isKink(p, kink, slopes) {
				at = kink
			}
			if p.from < at && at < p.to {
				v := l.value(at)
				open = append(open, piece{at, p.to, v, p.end, p.depth + 1}, piece{p.from, at, p.start, v, p.depth + 1})
				continue
			}
		}
		for j, v := range own {
			dst[j] += v
		}
	}
}

// isKink reports whether the slope of a piece changes at a point from the first of slopes to the last. Where two
// tangents meet, the integral over both sides equals the difference of values, even if other kinks are hidden
// between nodes. So a piece must not be divided at such a point without this check.
func (l *line) isKink(p piece, at float64, slopes [2]float64) bool {
	margin := float64((p.to - p.from) * 1e-6)
	if !(p.from+margin < at && at < p.to-margin) {
		return false
	}
	near := float64(1e-9 * (math.Abs(slopes[0]) + math.Abs(slopes[1])))
	return math.Abs(l.slope(at-margin)-slopes[0]) <= near && math.Abs(l.slope(at+margin)-slopes[1]) <= near
}

// piece sets own to the integrals over a piece. It returns the point where the tangents at the first
// and the last node meet, and their slopes. If the network is linear on both sides of a single kink, this
// point is the kink.
func (l *line) piece(own []float64, p piece) (kink float64, slope [2]float64) {
	clear(own)
	var value, place [2]float64
	for q, node := range gaussNodes {
		at := p.from + float64(node*(p.to-p.from))
		v := l.value(at)
		var along float64
		for j, g := range l.net.backward(v, l.work) {
			step := float64(g * (l.to[j] - l.from[j]))
			own[j] += float64(gaussWeights[q] * (p.to - p.from) * step)
			along += step
		}
		if end := q / (pathNodes - 1); q == 0 || end == 1 {
			value[end], slope[end], place[end] = v, along, at
		}
	}
	return (value[1] - value[0] + float64(slope[0]*place[0]) - float64(slope[1]*place[1])) / (slope[0] - slope[1]), slope
}
