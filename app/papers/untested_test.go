package papers

import "testing"

// The papers of the table are those of experiments, and each claim has a section, a reason and one
// line.
func TestNotTested(t *testing.T) {
	papers, seen := map[string]bool{}, map[string]bool{}
	for _, e := range Experiments() {
		papers[e.Paper] = true
	}
	for paper, claims := range notTested {
		if !papers[paper] {
			t.Errorf("no experiment is of %s", paper)
		}
		for _, c := range claims {
			if c.section == "" || c.claim == "" || c.reason == "" || seen[c.claim] {
				t.Errorf("%s: %+v", paper, c)
			}
			seen[c.claim] = true
		}
	}
}
