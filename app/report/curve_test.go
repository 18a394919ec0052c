package report

import (
	"strings"
	"testing"
)

// Claim: lines of train --curve are read; an epoch that stands there twice counts
// once; what is not such a file is an error that says where.
func TestReadCurve(t *testing.T) {
	c, err := ReadCurve(strings.NewReader(`{"epoch":1,"restart":0,"rate":0.1,"training_cost":5,"validation":0.25,"best":true}
{"epoch":2,"restart":0,"training_cost":4,"best":false}

{"epoch":2,"restart":0,"training_cost":3,"best":true}
{"epoch":2,"restart":1,"training_cost":2.5,"best":true}
`), "a")
	if err != nil || len(c.Points) != 3 || c.Name != "a" || *c.Points[0].Validation != 0.25 || c.Points[1].Cost != 3 || c.Points[2].Restart != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	for text, want := range map[string]string{
		"":                                      "found no epochs",
		"x":                                     "line 1: ",
		strings.Repeat("x", 1<<17):              "found a line longer than 65536 bytes, expected a line of train --curve",
		"{\"epoch\":1,\"training_cost\":1}\n{}": "line 2: found no epoch",
	} {
		if _, err := ReadCurve(strings.NewReader(text), "a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want one with %q", text, err, want)
		}
	}
}

// Claim: long curves are thinned to what a plot can show, with their ends and the
// last of the best points.
func TestThinned(t *testing.T) {
	long := Curve{Name: "long"}
	for i := range 5003 {
		long.Points = append(long.Points, Point{Epoch: i, Cost: 1 / float64(i+1), Best: i < 4321})
	}
	got := thinned([]Curve{long})[0].Points
	if len(got) > curvePoints+2 || got[0].Epoch != 0 || got[len(got)-1].Epoch != 5002 {
		t.Errorf("%d points from %d to %d", len(got), got[0].Epoch, got[len(got)-1].Epoch)
	}
	best := 0
	for _, p := range got {
		if p.Best {
			best++
			if p.Epoch != 4320 {
				t.Errorf("the best point is %d, want 4320", p.Epoch)
			}
		}
	}
	if best != 1 {
		t.Errorf("%d best points", best)
	}
}

// FuzzReadCurve: any input is an error or a curve with points, no epoch of a start twice.
func FuzzReadCurve(f *testing.F) {
	f.Add("{\"epoch\":1,\"restart\":0,\"rate\":0.1,\"training_cost\":5,\"validation\":0.25,\"best\":true}\n")
	f.Add("{\"epoch\":1,\"training_cost\":1}\n{\"epoch\":1,\"training_cost\":2}\n{\"epo")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadCurve(strings.NewReader(text), "a")
		if err != nil {
			return
		}
		seen := make(map[[2]int]bool)
		for _, p := range c.Points {
			at := [2]int{p.Restart, p.Epoch}
			if seen[at] {
				t.Errorf("%v is there twice", at)
			}
			seen[at] = true
		}
		if len(c.Points) == 0 || len(thinned([]Curve{c})[0].Points) == 0 {
			t.Error("a curve without points")
		}
	})
}
