package method

import (
	"maps"
	"testing"
)

// The sharpness decides which rankings are drawn, and so what is learned.
func TestBoltzRankSharpness(t *testing.T) {
	objectives := make(map[float64]string)
	for _, sharpness := range []string{"0", "0.5", "4"} {
		trained := mustTrain(t, lookup(t, "boltzrank1"), quick(t, lookup(t, "boltzrank1"), "", "sharpness", sharpness))
		if other, ok := objectives[trained.Training.Objective]; ok {
			t.Errorf("sharpness %s and %s give the same objective", sharpness, other)
		}
		objectives[trained.Training.Objective] = sharpness
	}
}

// BoltzRank's own defaults are those of its two methods alone, and are among what
// tune tries by default.
func TestBoltzRankDefaults(t *testing.T) {
	for _, m := range []*Method{lookup(t, "boltzrank1"), lookup(t, "boltzrank2")} {
		standard, err := m.Values(nil)
		if err != nil {
			t.Fatal(err)
		}
		grid, err := m.Grid(nil)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, point := range grid {
			v, err := m.Values(point)
			if err != nil {
				t.Fatal(err)
			}
			found = found || maps.Equal(v.Map(), standard.Map())
		}
		if !found {
			t.Errorf("%s: tune does not try the defaults", m.Name)
		}
	}
	listnet, err := lookup(t, "listnet").Values(nil)
	if err != nil {
		t.Fatal(err)
	}
	if listnet.Text("epochs") != "100" || listnet.Text("C") != "1" {
		t.Errorf("ListNet has BoltzRank's defaults: %s", listnet)
	}
}
