package papers

import (
	"fmt"
	"strings"
	"testing"
)

// The experiment has a number for every row and set, and its note counts the cells of the
// table of differences.
func TestLogRankCombined(t *testing.T) {
	dir := setsOf(t, "OHSUMED", "MQ2008")
	s := logRankCombined()
	for i := range s.rows {
		s.rows[i].seeds = min(s.rows[i].seeds, 2)
		s.rows[i].grid = with(with(with(s.rows[i].grid, "C", "0.1"), "samples", "40"), "steps", "5")
	}
	r := reportOf(t, s, Options{Data: dir, Seed: 1, Jobs: 1})
	for _, set := range combinedSets {
		for i := range s.rows {
			for _, m := range s.measures {
				if v, ok := cell(t, r.Sheets[0], "ours", set, s.rows[i].name, m).(float64); !ok || !(v > 0 && v <= 1) {
					t.Errorf("%s, %s, %s: %v", set, s.rows[i].name, m, v)
				}
			}
		}
	}
	stars := 0
	for _, table := range r.Tables {
		if strings.HasPrefix(table.Title, "differences") {
			for _, row := range table.Rows {
				if row[0] == "" || len(row) != 1+len(fewMeasures) || strings.Contains(strings.Join(row, "|"), "||") {
					t.Errorf("a difference is unknown: %q", row)
				}
				stars += strings.Count(strings.Join(row[1:], ""), "*")
			}
		}
	}
	counted := 0
	for _, note := range r.Notes {
		var above, below int
		if at := strings.Index(note, "significantly in "); at >= 0 {
			if n, err := fmt.Sscanf(note[at:], "significantly in %d and below in %d of", &above, &below); n != 2 {
				t.Fatal(note, err)
			}
			counted += above + below
		}
	}
	if counted != stars {
		t.Errorf("the notes count %d significant cells, the tables mark %d", counted, stars)
	}
}
