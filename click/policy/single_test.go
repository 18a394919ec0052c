package policy

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// shared returns a path in ../shared, or skips the test if it is not there.
func shared(t testing.TB, path ...string) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Dir(root)
	}
	name := filepath.Join(append([]string{root, "..", "shared"}, path...)...)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		t.Skip("no " + filepath.Join(path...) + " in ../shared")
	}
	return name
}

// bandit is a log of recommendations in three slots.
type bandit struct {
	item, slot []int
	click, p   []float64
}

func readBandit(t testing.TB, path string) (b bandit) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // only read
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	number := func(row []string, name string) float64 {
		v, err := strconv.ParseFloat(row[column[name]], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, row := range rows[1:] {
		b.item, b.slot = append(b.item, int(number(row, "item_id"))), append(b.slot, int(number(row, "position"))-1)
		b.click, b.p = append(b.click, number(row, "click")), append(b.p, number(row, "propensity_score"))
	}
	return b
}

// choices evaluates the shares of items in each slot of one log on the choices of another. The regression is the click
// rate of item and slot with one more impression of the mean.
func choices(evaluated, logged bandit) []Choice {
	items := 0
	for _, b := range []bandit{evaluated, logged} {
		for _, a := range b.item {
			items = max(items, a+1)
		}
	}
	type table [3][]float64
	fresh := func(v float64) (t table) {
		for k := range t {
			t[k] = make([]float64, items)
			for a := range t[k] {
				t[k][a] = v
			}
		}
		return t
	}
	pi, total := fresh(1), [3]float64{float64(items), float64(items), float64(items)}
	for i, a := range evaluated.item {
		pi[evaluated.slot[i]][a]++
		total[evaluated.slot[i]]++
	}
	mean := sum(logged.click) / float64(len(logged.click))
	clicks, shown := fresh(mean), fresh(1)
	for i, a := range logged.item {
		clicks[logged.slot[i]][a] += logged.click[i]
		shown[logged.slot[i]][a]++
	}
	var expected [3]float64
	for k := range expected {
		for a := range items {
			expected[k] += pi[k][a] / total[k] * clicks[k][a] / shown[k][a]
		}
	}
	list := make([]Choice, len(logged.item))
	for i, a := range logged.item {
		k := logged.slot[i]
		list[i] = Choice{Reward: logged.click[i], Logging: logged.p[i], Evaluated: pi[k][a] / total[k], Predicted: clicks[k][a] / shown[k][a], Expected: expected[k]}
	}
	return list
}

// Claim: on the log of Open Bandit, IPS, clipped IPS, SNIPS, DM, DR, SNDR, switch and DRos equal obp's values to 1e-9.
// Every pair of a logged and an evaluated policy is compared whose files are there. The women campaign evaluated on the log of Bernoulli
// Thompson sampling is refused: its mean weight is 3.2 and its effective sample is 2.
func TestOpenBandit(t *testing.T) {
	text, err := os.ReadFile(shared(t, "spec", "verify", "clicks", "openbandit.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string]float64
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	folder := shared(t, "data", "clicks", "openbandit")
	checked := 0
	for name, values := range all {
		campaign, rest, _ := strings.Cut(name, ": ")
		evaluated, logged, _ := strings.Cut(rest, " evaluated on ")
		if _, err := os.Stat(filepath.Join(folder, campaign+"-random.csv.gz")); err != nil {
			t.Logf("no log of the campaign %s", campaign)
			continue
		}
		list := choices(readBandit(t, filepath.Join(folder, campaign+"-"+evaluated+".csv.gz")), readBandit(t, filepath.Join(folder, campaign+"-"+logged+".csv.gz")))
		for key, want := range values {
			config, known := map[string]SingleConfig{
				"ipw": {Estimator: IPS}, "snipw": {Estimator: SNIPS}, "ipw10": {Estimator: IPS, Parameter: 10}, "dm": {Estimator: DM}, "dr": {Estimator: DoublyRobust},
				"sndr": {Estimator: SNDR}, "switch5": {Estimator: Switch, Parameter: 5}, "dros10": {Estimator: Shrinkage, Parameter: 10},
			}[key]
			if !known {
				t.Errorf("no estimator %s", key)
			}
			got, err := Single(list, config)
			if err != nil {
				t.Fatal(err)
			}
			if checked++; math.Abs(got.Mean-want) > 1e-9 {
				t.Errorf("%s: %s is %v, expected %v", name, key, got.Mean, want)
			}
			if name == "women: random evaluated on bts" && key == "ipw" {
				if got.Refused == "" || math.Abs(got.Weight-3.2) > 0.05 || math.Abs(got.Effective-2) > 0.5 {
					t.Errorf("%s: found refusal %q, mean weight %v and effective sample %v", name, got.Refused, got.Weight, got.Effective)
				}
			}
		}
	}
	if checked == 0 {
		t.Error("nothing was compared")
	}
	t.Logf("%d values", checked)
}
