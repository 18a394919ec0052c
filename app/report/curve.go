package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// Curve is how a training went.
type Curve struct {
	Name   string  `json:"name"`
	Fold   string  `json:"fold,omitempty"` // "" where the training was of no fold
	Points []Point `json:"points"`
}

// Point is an epoch of a descent, or an iteration of another optimiser.
type Point struct {
	Epoch      int      `json:"e"`
	Restart    int      `json:"r,omitempty"`
	Cost       float64  `json:"c"`           // the training objective
	Validation *float64 `json:"v,omitempty"` // nil where there was none
	Best       bool     `json:"b,omitempty"` // better than all points before it
}

// ReadCurve reads a curve as "train --curve" writes it, a JSON object a line. After
// a crash an epoch may stand in the file twice; the last one counts.
func ReadCurve(r io.Reader, name string) (Curve, error) {
	c := Curve{Name: name}
	lines := bufio.NewScanner(r)
	place := make(map[[2]int]int)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		p, err := ReadPoint(lines.Bytes())
		if err != nil {
			return c, fmt.Errorf("line %d: %w, expected a line of train --curve", n, err)
		}
		at, again := place[[2]int{p.Restart, p.Epoch}]
		if again {
			c.Points[at] = p
			continue
		}
		place[[2]int{p.Restart, p.Epoch}] = len(c.Points)
		c.Points = append(c.Points, p)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return c, fmt.Errorf("found a line longer than %d bytes, expected a line of train --curve", bufio.MaxScanTokenSize)
	} else if err != nil {
		return c, err
	}
	if len(c.Points) == 0 {
		return c, fmt.Errorf("found no epochs, expected the lines of train --curve")
	}
	return c, nil
}

// ReadPoint reads a line of a curve.
func ReadPoint(text []byte) (Point, error) {
	var line struct {
		Epoch      *int     `json:"epoch"`
		Restart    int      `json:"restart"`
		Cost       *float64 `json:"training_cost"`
		Validation *float64 `json:"validation"`
		Best       bool     `json:"best"`
	}
	if err := json.Unmarshal(text, &line); err != nil || line.Epoch == nil || line.Cost == nil {
		return Point{}, errors.New("found no epoch with a training_cost")
	}
	return Point{Epoch: *line.Epoch, Restart: line.Restart, Cost: *line.Cost, Validation: line.Validation, Best: line.Best}, nil
}

// curvePoints is the most points that a plot shows of a curve.
const curvePoints = 200

// thinned returns the curves with so few points that a plot still shows their
// shape: the best of the points are kept, as are the first and the last.
func thinned(curves []Curve) []Curve {
	all := make([]Curve, 0, len(curves))
	for _, c := range curves {
		step := max(1, int(math.Ceil(float64(len(c.Points))/curvePoints)))
		best := -1
		for i, p := range c.Points {
			if p.Best {
				best = i
			}
		}
		t := Curve{Name: c.Name, Fold: c.Fold}
		for i, p := range c.Points {
			p.Best = i == best
			if i%step != 0 && i != best && i != len(c.Points)-1 {
				continue
			}
			p.Cost = rounded(p.Cost, 6)
			if p.Validation != nil {
				v := rounded(*p.Validation, 5)
				p.Validation = &v
			}
			t.Points = append(t.Points, p)
		}
		all = append(all, t)
	}
	return all
}
