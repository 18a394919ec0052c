package click

import (
	"encoding/json"
	"testing"
	"time"
)

// Claim: a page with all members is the documented line, ranks count from 1, and what is unknown is absent.
func TestAppendJSON(t *testing.T) {
	all := &Page{
		ID: "p\"1", Time: time.Date(2026, 11, 23, 1, 37, 43, 500, time.FixedZone("", 3600)), User: "ü\n", Query: "red shoes", Experiment: "ab", Arm: "web@1", Version: "0f",
		Docs: []string{"b", "a"}, Slots: []string{"1", "ad"}, Clicks: []int{0, 3}, Order: []int{1}, Team: []int{1, 0}, Propensity: 1e-7, Propensities: []float64{0.1, 1},
		Swapped: [2]int{0, 1}, Swap: true, Pairs: 2, Exchanged: []int{1}, Shuffled: 2, Candidates: []string{"a", "b"}, Orders: []Order{{[]string{"a", "b"}, 0.25}}, Weight: 2,
	}
	for want, p := range map[string]*Page{
		`{"page":"p\"1","time":"2026-11-23T00:37:43.0000005Z","user":"ü\n","query":"red shoes","experiment":"ab","arm":"web@1","version":"0f","docs":["b","a"],"slots":["1","ad"],"clicks":[0,3],"order":[2],"team":[1,0],` +
			`"propensity":1e-07,"propensities":[0.1,1],"swapped":[1,2],"swap":true,"pairs":2,"exchanged":[2],"shuffled":2,"candidates":["a","b"],"orders":[[["a","b"],0.25]],"weight":2}` + "\n": all,
		`{"query":"q","docs":["a"]}` + "\n": {Query: "q", Docs: []string{"a"}, Weight: 1},
	} {
		got := AppendJSON(nil, p)
		if string(got) != want || !json.Valid(got) {
			t.Errorf("found %s, expected %s", got, want)
		}
	}
}
