package simulate

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/click/model"
)

// Claim: every fitted model clicks as often as its full probabilities say, and a pair that is new is counted.
func TestFittedClicks(t *testing.T) {
	log := prepared(t, "dbn:stop=0,.5,.9,continue=.8", "shuffle", 4)
	counts := &click.Counts{Keep: true}
	d := log.Drawer()
	for i := range 4000 {
		if err := counts.Add(d.Draw(i)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := model.Arrange(counts)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range model.Kinds() {
		m, err := data.Fit(context.Background(), k, model.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f := &Fitted{Model: m}
		s := prepared(t, "pbm", "fixed", 3)
		s.Clicks = f
		if err := s.Prepare(); err != nil {
			t.Fatal(err)
		}
		if f.Unseen != 0 {
			t.Errorf("%s: %d pairs are new", k.Name, f.Unseen)
		}
		const n = 60_000
		drawn, clicks := 0, make([]int, 3)
		var page click.Page
		d := s.Drawer()
		for i := range n {
			if p := d.Draw(i); p.Query == "a" {
				drawn++
				for r, c := range p.Clicks {
					clicks[r] += c
				}
				page = click.Page{Query: p.Query, Docs: slices.Clone(p.Docs)}
			}
		}
		want, err := m.Full(&page)
		if err != nil {
			t.Fatal(err)
		}
		for r, p := range want {
			if far(clicks[r], drawn, p) {
				t.Errorf("%s: %d of %d pages have a click at rank %d, expected a share of %v", k.Name, clicks[r], drawn, r+1, p)
			}
		}
		theta := s.Theta()
		pair, _ := m.Pair("a", "w")
		if truth := s.Truth(); truth.Model != k.Name || len(truth.Documents) != 8 || k.Grades() && truth.Documents[0].Gamma != pair.Attraction || (truth.Documents[0].Satisfaction != nil) != (m.Satisfaction != nil) {
			t.Errorf("%s: truth %+v", k.Name, truth)
		}
		if (k.Name == "pbm") != (len(theta) == 3) {
			t.Errorf("%s: theta %v", k.Name, theta)
		}
		s.Queries = append(world(), Query{ID: "new", Docs: []string{"x", "y"}, Grades: []float64{0, 1}, Scores: [][]float64{{1, 2}, {1, 2}}})
		if err := s.Prepare(); err != nil || k.Grades() && f.Unseen != 2 {
			t.Errorf("%s: found %v and %d new pairs, expected 2", k.Name, err, f.Unseen)
		}
	}
	m, err := data.Fit(context.Background(), model.Kinds()[slices.Index(model.Names(), "pbm")], model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := prepared(t, "pbm", "fixed", 5)
	s.Clicks = &Fitted{Model: m}
	q := &s.Queries[0]
	q.Docs, q.Grades, q.Scores[0], q.Scores[1] = append(q.Docs, "v"), append(q.Grades, 0), append(q.Scores[0], 0), append(q.Scores[1], 0)
	if err := s.Prepare(); err == nil || !strings.Contains(err.Error(), `found slot "5", expected a slot of the model's log, since 5 documents are shown`) {
		t.Errorf("found %v", err)
	}
}
