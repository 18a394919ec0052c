package papers

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/learn/loss/logrank"
	"github.com/listwise/listwise/learn/method"
)

// figure3WithRestarts has, quickly, MLE in both forms, ConvexLoss_NDCG, and both again with
// the paper's restarts.
func figure3WithRestarts() study {
	s := figure3()
	var rows []row
	for _, r := range s.rows {
		switch strings.TrimSuffix(r.name, restartsSuffix) {
		case "MLE", sampledMLE, "ConvexLoss_NDCG":
			r.grid = with(with(with(r.grid, "C", "0.01", "1"), "samples", "40"), "steps", "5")
			r.seeds = min(r.seeds, 2)
			rows = append(rows, r)
		}
	}
	s.rows = rows
	return s
}

// The paper's rows are all there with its restarts, whatever their own form, grid and walks
// are, and differ from the others of their name in nothing else.
func TestPaperRestarts(t *testing.T) {
	s := figure3()
	var names []string
	for _, r := range s.rows {
		if r.group != restartsGroup {
			continue
		}
		names = append(names, r.against)
		e, err := r.entry(letor3)
		if err != nil {
			t.Fatal(err)
		}
		for _, setting := range e.Settings {
			config := setting.(method.Values)
			if config.Text("form") != logrank.Sampled.String() || config.Number("mix") != 0.9 || config.Int("levels") != 0 {
				t.Errorf("%s: %s is not sampled with two restarts", r.name, setting)
			}
		}
		other := s.rows[s.rowNamed(walksOf(&r))]
		if other.method != r.method || other.training != r.training || other.chosenBy != r.chosenBy {
			t.Errorf("%s trains otherwise than %s", r.name, other.name)
		}
	}
	if want := slices.Concat([]string{"MLE"}, expGainRows, l3Rows, convexLossRows); !slices.Equal(names, want) {
		t.Errorf("rows %v, expected %v", names, want)
	}
}

// Numbers with the paper's restarts are those of tune.Run with mix .9; a published number that
// they are held against counts by the first row of its name alone; and differences are those
// of the means.
func TestFigure3Restarts(t *testing.T) {
	dir := setsOf(t, "OHSUMED", "TD2003")
	s := figure3WithRestarts()
	r := reportOf(t, s, Options{Data: dir, Seed: 3})
	sheets := make(map[string]Sheet)
	for _, sheet := range r.Sheets {
		sheets[sheet.Name] = sheet
	}
	i := s.rowNamed("ConvexLoss_NDCG" + restartsSuffix)
	var sum float64
	for seed := range uint64(2) {
		alone, _ := tunedAlone(t, filepath.Join(dir, "OHSUMED"), s.rows[i], "ndcg@10", 3+seed)
		sum += alone.Measures[2].Mean / 2
	}
	got := cell(t, sheets["restarts"], "ours", "published", "ndcg@10", s.rows[i].name, "OHSUMED").(float64)
	if math.Abs(got-sum) > 1e-15 {
		t.Errorf("NDCG@10 with mix .9 is %v, tune alone gives %v", got, sum)
	}
	if paper := cell(t, sheets["restarts"], "paper", "published", "ndcg@10", s.rows[i].name, "OHSUMED"); paper != 0.578 {
		t.Errorf("the paper's number beside it is %v, printed .578", paper)
	}
	counted := make(map[string]bool)
	for _, c := range r.Claims {
		if c.Repeats == "" {
			counted[c.Row] = true
		}
	}
	if !counted["MLE"] || !counted["ConvexLoss_NDCG"] || len(counted) != 2 {
		t.Errorf("published numbers count by %v, expected by MLE and ConvexLoss_NDCG", counted)
	}
	found, err := s.train(t.Context(), Options{Data: dir, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range found.columns {
		mean := func(row string) float64 {
			var sum float64
			for _, x := range c.views[0].each(found.rowNamed(row), "map") {
				sum += x
			}
			return sum / float64(c.queries)
		}
		for _, p := range figure3Differences().pairs {
			if found.rowNamed(p.row) < 0 || found.rowNamed(p.than) < 0 {
				continue
			}
			got := cell(t, sheets["differences"], "difference", c.name, c.reading.name, "letor3", p.row, p.than, "map").(float64)
			if want := mean(p.row) - mean(p.than); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s, %s: %s − %s is %v, the means differ by %v", c.name, c.reading.name, p.row, p.than, got, want)
			}
		}
	}
}
