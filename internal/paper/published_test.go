package paper

import (
	"math"
	"testing"
)

// The paper's micro-averages are those of its columns weighted by the sets'
// numbers of queries, to the last digit it prints: the embedded table and the
// weights are right.
func TestPublishedMicroaverages(t *testing.T) {
	numbers, names := publishedFigure3()
	var found []source
	for _, name := range setNames() {
		found = append(found, source{name: name, known: true})
	}
	table := newFigure3Table(logRankRows, found)
	checked := 0
	for _, m := range reported {
		for _, name := range names {
			printed, ok := numbers[m][name]["microavg"]
			if !ok {
				continue
			}
			got := table.published(m, name, len(found))
			if !(math.Abs(got-printed) <= 0.00055) {
				t.Errorf("%s %s: %.5f from the columns, %.3f printed", m, name, got, printed)
			}
			checked++
		}
	}
	if checked != 52 {
		t.Errorf("%d micro-averages checked, expected the 52 complete rows", checked)
	}
}

// Every row that is computed is a row of the paper's figure.
func TestRowsAreThePapers(t *testing.T) {
	numbers, names := publishedFigure3()
	if len(names) != 15 {
		t.Errorf("%d rows, expected 15: %v", len(names), names)
	}
	for _, r := range logRankRows {
		if _, ok := numbers["map"][r.name]["OHSUMED"]; !ok {
			t.Errorf("the paper has no row %s", r.name)
		}
		if _, err := r.entry(r.name, nil); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
	}
	if v := numbers["ndcg@1"]["ListNet"]["TD2004"]; v != 0.360 {
		t.Errorf("ListNet's NDCG@1 on TD2004 is %v, printed .360", v)
	}
}

func TestPublishedFigure6(t *testing.T) {
	points := publishedFigure6()
	if len(points) != 5 || points[-20] != [2]float64{0.827, 0.918} || points[5] != [2]float64{0.033, 0.041} {
		t.Errorf("found %v", points)
	}
}
