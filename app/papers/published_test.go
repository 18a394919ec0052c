package papers

import (
	"cmp"
	"math"
	"testing"
)

// The paper's micro-averages are those of its columns weighted by the sets'
// numbers of queries, to the last digit it prints: the embedded table and the
// weights are right.
func TestPublishedMicroaverages(t *testing.T) {
	found := &results{study: &study{sizes: letorSets, rows: figure3().rows, measures: reported, readings: []reading{asPublished}}}
	for _, name := range letorSets.names() {
		c := &column{source: source{name: name}, views: []view{{published: publishedFigure3(name), values: make([][]map[string]number, len(found.rows))}}}
		found.columns = append(found.columns, c)
	}
	average := found.withAverage(0)[len(letorSets)].views[0].published
	checked := 0
	for name, row := range publishedFigure3(microaverage) {
		for _, m := range reported {
			printed, ok := row[m]
			if !ok || math.IsNaN(average.of(name, m)) {
				continue
			}
			if got := average.of(name, m); !(math.Abs(got-printed) <= 0.00055) {
				t.Errorf("%s %s: %.5f from the columns, %.3f printed", m, name, got, printed)
			}
			checked++
		}
	}
	if checked != 52 {
		t.Errorf("%d micro-averages checked, expected the 52 complete rows", checked)
	}
}

// Every row that is computed is a row of the paper's figure, or names the one that it is held
// against.
func TestRowsAreThePapers(t *testing.T) {
	onOHSUMED := publishedFigure3("OHSUMED")
	if len(onOHSUMED) != 15 {
		t.Errorf("%d rows, expected 15: %v", len(onOHSUMED), onOHSUMED)
	}
	for _, r := range figure3().rows {
		if _, ok := onOHSUMED[cmp.Or(r.against, r.name)]["ndcg@1"]; !ok {
			t.Errorf("the paper has no row %s", r.name)
		}
		if r.method == "" {
			continue
		}
		if _, err := r.entry(letor3); err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
	}
	if v := publishedFigure3("TD2004").of("ListNet", "ndcg@1"); v != 0.360 {
		t.Errorf("ListNet's NDCG@1 on TD2004 is %v, printed .360", v)
	}
}

func TestPublishedFigure6(t *testing.T) {
	points := figure6().published("HP2004")
	if len(points) != 5 || points.of("-20", "map") != 0.827 || points.of("-20", "ndcg@10") != 0.918 || points.of("5", "map") != 0.033 || points.of("5", "ndcg@10") != 0.041 {
		t.Errorf("found %v", points)
	}
}
