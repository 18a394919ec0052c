package simulate

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/click"
	"github.com/listwise/listwise/dataset"
)

// world returns queries of 4, 3 and 1 documents with two rankers, the first of which has ties.
func world() []Query {
	return []Query{
		{ID: "a", Docs: []string{"w", "x", "y", "z"}, Grades: []float64{0, 2, 1, 0}, Scores: [][]float64{{1, 3, 3, -2}, {4, 1, 2, 3}}},
		{ID: "b", Docs: []string{"x", "y", "z"}, Grades: []float64{1, 0, 2}, Scores: [][]float64{{0, 1, 2}, {0, 1, 2}}},
		{ID: "c", Docs: []string{"x"}, Grades: []float64{1}, Scores: [][]float64{{0}, {0}}},
	}
}

// prepared returns a simulation of world.
func prepared(t *testing.T, model, order string, top int) *Simulation {
	t.Helper()
	m, err := ParseModel(model)
	if err != nil {
		t.Fatal(err)
	}
	o, err := ParseOrder(order)
	if err != nil {
		t.Fatal(err)
	}
	s := &Simulation{Queries: world(), Rankers: []Ranker{{"old", 1}}, Order: o, Clicks: m, Top: top, Seed: 7}
	if o.Kind == Arms {
		s.Rankers = []Ranker{{"old", o.Shares[0]}, {"new", o.Shares[1]}}
	}
	if err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	return s
}

// far reports whether a count of n draws is implausible for a probability.
func far(count, n int, p float64) bool {
	return math.Abs(float64(count)-float64(n)*p) > 5*math.Sqrt(float64(n)*p*(1-p))+1e-6*float64(n)
}

// latent are all latent events of a page: at each rank whether the user examines it, is attracted and goes on.
// It adds the probabilities of clicks to out.
func latent(model string, a, s []float64, clicks string, on bool, p float64, out map[string]float64) {
	r := len(clicks)
	if p == 0 {
		return
	}
	if r == len(a) {
		out[clicks] += p
		return
	}
	k, last := float64(r+1), strings.LastIndexByte(clicks, '1')
	step := func(clicked, on bool, p float64) {
		latent(model, a, s, clicks+map[bool]string{false: "0", true: "1"}[clicked], on, p, out)
	}
	either := func(clicked bool, p, go_ float64) { step(clicked, true, p*go_); step(clicked, false, p*(1-go_)) }
	switch model {
	case "pbm":
		examined := math.Pow(k, -0.7)
		step(false, true, p*(1-examined))
		step(true, true, p*examined*a[r])
		step(false, true, p*examined*(1-a[r]))
	case "trust":
		examined := 1 / k
		relevant, other := 1-(k+1)/100, 0.65/k
		step(false, true, p*(1-examined))
		for _, as := range []struct{ of, click float64 }{{a[r], relevant}, {1 - a[r], other}} {
			step(true, true, p*examined*as.of*as.click)
			step(false, true, p*examined*as.of*(1-as.click))
		}
	case "ubm":
		examined := gamma[r][last+1]
		step(false, true, p*(1-examined))
		step(true, true, p*examined*a[r])
		step(false, true, p*examined*(1-a[r]))
	default:
		if !on {
			step(false, false, p)
			return
		}
		switch model {
		case "cascade":
			step(true, false, p*a[r])
			step(false, true, p*(1-a[r]))
		case "dcm":
			either(true, p*a[r], []float64{0.6, 0.4}[min(r, 1)])
			step(false, true, p*(1-a[r]))
		case "dbn":
			step(true, false, p*a[r]*s[r])
			either(true, p*a[r]*(1-s[r]), 0.8)
			either(false, p*(1-a[r]), 0.8)
		case "ccm":
			either(false, p*(1-a[r]), 0.9)
			either(true, p*a[r]*a[r], 0.3)
			either(true, p*a[r]*(1-a[r]), 0.7)
		}
	}
}

var gamma = [][]float64{{0.9}, {0.5, 0.8}, {0.3, 0.4, 0.6}, {0.1, 0.2, 0.3, 0.4}}

// Claim: each click model clicks as often as the enumeration of its latent events says.
func TestClicksLikeEnumeration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gamma,x.json")
	if err := os.WriteFile(file, []byte("[[0.9],[0.5,0.8],[0.3,0.4,0.6],[0.1,0.2,0.3,0.4]]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, name string }{
		{"pbm:eta=0.7,noise=0.2", "pbm"}, {"trust:noise=0.2", "trust"}, {"ubm:" + file + ",noise=0.2", "ubm"}, {"cascade:noise=.2", "cascade"},
		{"dcm:continue=.6,.4,noise=.2", "dcm"}, {"dbn:noise=.2,stop=.1,.5,.9,continue=.8", "dbn"}, {"ccm:tau=.9,.7,.3,noise=.2", "ccm"},
	} {
		s := prepared(t, c.text, "fixed", 4)
		const n = 120_000
		counts := map[string]int{}
		d, drawn := s.Drawer(), 0
		var docs []string
		for i := range n {
			p := d.Draw(i)
			if p.Query == "a" {
				counts[strings.Trim(fmt.Sprint(p.Clicks), "[]")]++
				drawn++
				docs = slices.Clone(p.Docs)
			}
		}
		if !slices.Equal(docs, []string{"x", "y", "w", "z"}) {
			t.Fatalf("shows %v", docs)
		}
		attraction := func(y float64) float64 { return 0.2 + 0.8*(math.Pow(2, y)-1)/3 }
		want := map[string]float64{}
		latent(c.name, []float64{attraction(2), attraction(1), attraction(0), attraction(0)}, []float64{0.9, 0.5, 0.1, 0.1}, "", true, 1, want)
		total := 0.0
		for clicks, p := range want {
			total += p
			if got := counts[strings.Join(strings.Split(clicks, ""), " ")]; far(got, drawn, p) {
				t.Errorf("%s: clicks %s on %d of %d pages, expected a share of %v", c.name, clicks, got, drawn, p)
			}
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("%s: probabilities sum to %v", c.name, total)
		}
	}
}

// Claim: rankings are as frequent as their propensity says, and propensities of the possible rankings sum to 1. The
// propensity of a document at a rank is the sum over the rankings that have it there.
func TestPropensities(t *testing.T) {
	for _, order := range []string{"fixed", "noise:0.5", "noise:0.05", "swap", "pairs", "shuffle", "shuffle:2", "arms:3,1"} {
		for _, top := range []int{1, 2, 4} {
			s := prepared(t, "pbm", order, top)
			type seen struct {
				n           int
				propensity  float64
				propensites []float64
			}
			rankings, shown := map[string]*seen{}, map[string]int{}
			d := s.Drawer()
			const n = 60_000
			for i := range n {
				p := d.Draw(i)
				if err := p.Check(); err != nil {
					t.Fatal(order, err)
				}
				key := p.Query + " " + strings.Join(p.Docs, " ")
				if rankings[key] == nil {
					rankings[key] = &seen{0, p.Propensity, slices.Clone(p.Propensities)}
				}
				r := rankings[key]
				r.n++
				shown[p.Query]++
				if r.propensity != p.Propensity || !slices.Equal(r.propensites, p.Propensities) {
					t.Fatalf("%s: %s has propensities %v %v and %v %v", order, key, r.propensity, r.propensites, p.Propensity, p.Propensities)
				}
			}
			sums, places := map[string]float64{}, map[string]float64{}
			for key, r := range rankings {
				words := strings.Fields(key)
				if far(r.n, shown[words[0]], r.propensity) {
					t.Errorf("%s, top %d: %s on %d of %d pages, expected a share of %v", order, top, key, r.n, shown[words[0]], r.propensity)
				}
				sums[words[0]] += r.propensity
				for k, doc := range words[1:] {
					places[fmt.Sprint(words[0], doc, k)] += r.propensity
				}
			}
			for q, sum := range sums {
				if tolerance := 3e-4; sum > 1+1e-12 || sum < 1-tolerance { // a rare ranking may not have been drawn
					t.Errorf("%s, top %d: propensities of query %s sum to %v", order, top, q, sum)
				}
			}
			for key, r := range rankings {
				words := strings.Fields(key)
				for k, doc := range words[1:] {
					if want := places[fmt.Sprint(words[0], doc, k)]; math.Abs(r.propensites[k]-want) > 1e-12+(1-sums[words[0]]) {
						t.Errorf("%s, top %d: %s at rank %d of %s has propensity %v, expected %v", order, top, doc, k+1, key, r.propensites[k], want)
					}
				}
			}
		}
	}
}

// permutations calls use with every ranking of documents.
func permutations(docs, rest []int, use func([]int)) {
	if len(rest) == 0 {
		use(docs)
	}
	for i, d := range rest {
		permutations(append(slices.Clone(docs), d), append(slices.Clone(rest[:i]), rest[i+1:]...), use)
	}
}

// Claim: the integral of the probability of a document at a rank is the sum over all rankings.
func TestLucePlaces(t *testing.T) {
	for _, w := range [][]float64{{1}, {1, 1, 1, 1, 1, 1}, {1, 0.5, 0.3, 0.1, 0.05, 0.01}, {1, 1e-3, 1e-6, 1e-9, 1e-12, 0.2}, {1, 1e-60, 1e-120, 1e-260}} {
		for ranks := 1; ranks <= len(w); ranks++ {
			got, want := lucePlaces(w, ranks), make([]float64, len(w)*ranks)
			all := make([]int, len(w))
			for i := range all {
				all[i] = i
			}
			permutations(nil, all, func(docs []int) {
				p := luceProbability(w, docs)
				for r, d := range docs[:ranks] {
					want[d*ranks+r] += p
				}
			})
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-14+1e-12*want[i] {
					t.Errorf("weights %v, %d ranks: document %d at rank %d has %v, expected %v", w, ranks, i/ranks, i%ranks+1, got[i], want[i])
				}
			}
		}
	}
}

// text returns the pages of a part as text.
func text(t *testing.T, s *Simulation, from, to int) (string, Counts) {
	t.Helper()
	var b strings.Builder
	counts, err := s.Each(from, to, func(dst []byte, p *click.Page) []byte {
		return fmt.Appendf(dst, "%v\n", *p)
	}, nil, func(chunk []byte) error {
		b.Write(chunk)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), counts
}

// Claim: pages do not depend on the number of cores, and parts are parts of the whole.
func TestPartsAndCores(t *testing.T) {
	for _, order := range []string{"noise:0.5", "pairs", "arms:1,2"} {
		s := prepared(t, "pbm", order, 3)
		s.Users = 10
		const n = 3*Chunk + 100
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
		runtime.GOMAXPROCS(1)
		whole, counts := text(t, s, 0, n)
		if counts.Pages != n || strings.Count(whole, "\n") != n || counts.Shown[0] != n || counts.Clicked < n/10 || counts.Clicks[0] < counts.Clicks[2] {
			t.Errorf("%s: counts %+v", order, counts)
		}
		for _, cores := range []int{2, 4} {
			runtime.GOMAXPROCS(cores)
			if got, c := text(t, s, 0, n); got != whole || !slices.Equal(c.Clicks, counts.Clicks) {
				t.Errorf("%s: %d cores draw other pages", order, cores)
			}
		}
		first, _ := text(t, s, 0, 5000)
		second, _ := text(t, s, 5000, n)
		if first+second != whole {
			t.Errorf("%s: parts are not parts of the whole", order)
		}
		if s.Seed = 8; order == "pairs" {
			if other, _ := text(t, s, 0, n); other == whole {
				t.Error("another seed draws the same pages")
			}
		}
	}
}

// Claim: a user has one ranker, rankers have their shares of users, and users have about as many pages.
func TestUsers(t *testing.T) {
	s := prepared(t, "pbm", "arms:3,1", 3)
	s.Users = 2000
	d, arms, pages := s.Drawer(), map[string]string{}, map[string]int{}
	const n = 60_000
	for i := range n {
		p := d.Draw(i)
		if arms[p.User] != "" && arms[p.User] != p.Arm {
			t.Fatalf("user %s has rankers %s and %s", p.User, arms[p.User], p.Arm)
		}
		arms[p.User] = p.Arm
		pages[p.User]++
	}
	if len(arms) != s.Users {
		t.Errorf("found %d users, expected %d", len(arms), s.Users)
	}
	of := 0
	for user, arm := range arms {
		if arm == "old" {
			of++
		}
		if pages[user] < 5 || pages[user] > 70 {
			t.Errorf("user %s has %d pages of %d", user, pages[user], n)
		}
	}
	if far(of, s.Users, 0.75) {
		t.Errorf("ranker old has %d of %d users, expected three quarters", of, s.Users)
	}
}

// Claim: each mistake gets an error that names it.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"pmb":                        `found click model "pmb": did you mean "pbm"?`,
		"x":                          `found click model "x", expected pbm, cascade, ubm, dbn, dcm, ccm or trust`,
		"pbm:eta":                    `found "eta" of pbm, expected NAME=VALUE`,
		"pbm:eta=x":                  `found eta="x" of pbm, expected a number`,
		"pbm:eta=NaN":                `found eta="NaN" of pbm, expected a number`,
		"pbm:eta=1,2":                `found 2 values of eta of pbm, expected one`,
		"pbm:eta=1,eta=2":            `found eta of pbm twice, expected it once`,
		"pbm:noise=2":                `found noise=2 of pbm, expected a number from 0 to 1`,
		"pbm:stop=1":                 `found "stop" of pbm, expected noise or eta`,
		"dbn":                        `found dbn without stop, expected the probability of satisfaction by grade, such as stop=0,.5,.9`,
		"ccm:tau=1,1":                `found 2 values of tau, expected 3: after a skip, a click, a click that satisfied`,
		"ubm":                        `found ubm without a file, expected ubm:FILE`,
		"ubm:none":                   `open none: no such file or directory`,
		"ubm:simulate_test.go":       `simulate_test.go: found other content, expected a list of lists of numbers as [[1], [0.7, 0.9]]`,
		"dbn:stop=0,.5,.9,continue=": `found continue="" of dbn, expected a number`,
	} {
		if _, err := ParseModel(text); err == nil || err.Error() != want {
			t.Errorf("%s: found %v, expected %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"nois":      `found order "nois": did you mean "noise"?`,
		"noise:0":   `found temperature "0", expected a positive number`,
		"shuffle:0": `found "0" ranks to shuffle, expected a whole number from 1 to 1000`,
		"arms:1,-1": `found share "-1", expected a whole number from 0 to 16777216`,
		"swap:2":    `found "swap:2", expected swap without a value`,
	} {
		if _, err := ParseOrder(text); err == nil || err.Error() != want {
			t.Errorf("%s: found %v, expected %s", text, err, want)
		}
	}
	for want, spoil := range map[string]func(s *Simulation){
		"found no queries, expected at least one":                                                 func(s *Simulation) { s.Queries = nil },
		"found 0 documents to show, expected 1 to 1000":                                           func(s *Simulation) { s.Top = 0 },
		"found no ranker, expected at least one":                                                  func(s *Simulation) { s.Rankers = nil },
		"found 2 rankers with order swap, expected one; the order arms takes several":             func(s *Simulation) { s.Rankers = make([]Ranker, 2) },
		"found shares of 0, expected a positive share":                                            func(s *Simulation) { s.Order.Kind, s.Rankers[0].Share = Arms, 0 },
		`found query "c" without documents, expected at least one`:                                func(s *Simulation) { s.Queries[2].Docs = nil },
		`found query "", expected an id in UTF-8`:                                                 func(s *Simulation) { s.Queries[0].ID = "" },
		`found document "\xff" in query "b", expected an id in UTF-8`:                             func(s *Simulation) { s.Queries[1].Docs[0] = "\xff" },
		`found document "x" twice in query "b", expected each document once`:                      func(s *Simulation) { s.Queries[1].Docs[1] = "x" },
		`found grade 3 in query "a", expected a whole grade from 0 to 2, since stop has 3 values`: func(s *Simulation) { s.Queries[0].Grades[1] = 3 },
		`found grade 1001 in query "a", expected 0 to 1000`:                                       func(s *Simulation) { s.Queries[0].Grades[1] = 1001 },
	} {
		s := prepared(t, "dbn:stop=0,.5,.9", "swap", 3)
		s.Queries = world()
		spoil(s)
		if err := s.Prepare(); err == nil || err.Error() != want {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	m, _ := ParseModel("pbm")
	s := &Simulation{Rankers: []Ranker{{"old", 1}}, Order: Order{Kind: Noise, Temperature: 0.5}, Clicks: m, Top: 10}
	q := Query{ID: "q", Scores: make([][]float64, 1)}
	for i := range 20 {
		q.Docs, q.Grades, q.Scores[0] = append(q.Docs, strconv.Itoa(i)), append(q.Grades, float64(i%3)), append(q.Scores[0], float64(i*i%19))
	}
	s.Queries = []Query{q}
	if err := s.Prepare(); err != nil {
		b.Fatal(err)
	}
	d := s.Drawer()
	for i := range b.N {
		d.Draw(i)
	}
}

// Claim: the queries of a data set have its documents, by number where they have no identifier, with the scores of
// their rows by each ranker.
func TestQueries(t *testing.T) {
	var b dataset.Builder
	for _, q := range []struct {
		id   string
		docs []string
	}{{"a", []string{"x", "", "y"}}, {"b", []string{"z", "w"}}} {
		if err := b.Add(q.id, make([]float64, len(q.docs)), make([]float32, len(q.docs)), q.docs); err != nil {
			t.Fatal(err)
		}
	}
	got := Queries(b.Dataset(), []float64{1, 2, 3, 4, 5}, []float64{5, 4, 3, 2, 1})
	want := []Query{
		{"a", []string{"x", "2", "y"}, []float64{0, 0, 0}, [][]float64{{1, 2, 3}, {5, 4, 3}}},
		{"b", []string{"z", "w"}, []float64{0, 0}, [][]float64{{4, 5}, {2, 1}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("queries %v, want %v", got, want)
	}
}
