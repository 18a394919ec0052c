package measure

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/listwise/listwise/dataset"
)

// Claim: names are read in any case and come out in one form.
func TestParseNames(t *testing.T) {
	for in, want := range map[string]string{
		"MAP": "map", "ap": "ap", "NDCG@10": "ndcg@10", "ndcg@010": "ndcg@10", "ndcg": "ndcg", "mean-ndcg": "mean-ndcg",
		"map@10": "map@10", "Rprec": "rprec", "Success@10": "success@10", "Judged@10": "judged@10", "judged": "judged",
		"AP(rel=2)": "ap(rel=2)", "RR(rel=2)@10": "mrr(rel=2)@10", "P(rel=2.50)@5": "p(rel=2.5)@5", "rbp(rel=3)@0.9": "rbp(rel=3)@0.9",
		"RBP(p=0.8)": "rbp@0.8", "RBP(rel=2, p=0.95)": "rbp(rel=2)@0.95", "nDCG(dcg='exp-log2')@10": "ndcg(dcg=exp-log2)@10", "dcg(dcg=log2)": "dcg(dcg=log2)",
		"nDCG(gains={1: 3, 0: 0})@5": "ndcg(gains={0:0,1:3})@5",
		"P@5":                        "p@5", "r@100": "r@100", "mrr": "mrr", "mrr@10": "mrr@10", "wta": "wta", "pairs": "pairs", "auc": "auc",
		"bpref": "bpref", "err": "err", "err@20": "err@20", "rbp": "rbp", "rbp@0.80": "rbp@0.8", "ndcg@2147483647": "ndcg@2147483647",
	} {
		m, err := Parse(in, Convention{}, Options{})
		if err != nil {
			t.Errorf("%q: %v", in, err)
		} else if m.Name() != want {
			t.Errorf("%q is called %q, want %q", in, m.Name(), want)
		}
	}
}

// Claim: what cannot be meant is refused, and the error says what would do.
func TestParseErrors(t *testing.T) {
	for in, want := range map[string]string{
		"ndgc@10":                    `unknown measure "ndgc@10": did you mean "ndcg@10"?`,
		"":                           "unknown measure",
		"@10":                        "unknown measure",
		"ndcg@0":                     `cut-off "0": expected a whole number from 1 on, as in ndcg@10`,
		"ndcg@-1":                    `cut-off "-1": expected a whole number`,
		"ndcg@1e9":                   `cut-off "1e9": expected a whole number`,
		"ndcg@":                      `cut-off "": expected a whole number`,
		"ndcg@10@5":                  `cut-off "10@5": expected`,
		"ndcg@+5":                    `cut-off "+5": expected`,
		"ndcg@2147483648":            "too large: expected a whole number from 1 to 2147483647",
		"ndcg@999999999999":          "is too large",
		"p":                          "a cut-off is missing, as in p@10",
		"rprec@10":                   "rprec has no cut-off",
		"P(rel=0)@5":                 "found (rel=0), expected a positive number as the lowest relevant grade",
		"P(rel=2@5":                  "found ( without )",
		"ndcg(rel=2)@5":              "ndcg has no lowest relevant grade",
		"ndcg(dcg='ln')":             "found (dcg='ln'), expected log2 (the gain is the grade) or exp-log2",
		"map(dcg=log2)":              "map has no gains: only ndcg and dcg have",
		"ndcg(gains={1})":            "found (gains={1}), expected gains={GRADE:GAIN,…}",
		"ndcg(gains=1:2)":            "expected gains={GRADE:GAIN,…}",
		"dcg(gains={1:-1})":          "finite numbers that are not negative",
		"ndcg(gains={1:2,1:3})":      "expected gains={GRADE:GAIN,…}",
		"ndcg(gains={1:2},dcg=log2)": "found both dcg and gains",
		"map(p=0.5)":                 "map has no persistence",
		"RBP(p=1)":                   "expected a number between 0 and 1 as the persistence",
		"RBP(p=0.8)@10":              "found both p and @, expected one of them: rbp has no cut-off",
		"P(judged_only=True)@5":      "documents without judgement keep their ranks",
		"ndcg_burges(rel=2)@5":       "short for ndcg(dcg=exp-log2)@5",
		"ndcg@5-l2":                  "ndcg has no lowest relevant grade",
		"map-l":                      "unknown measure",
		"map(rel=2)-l2":              "found parameters and the suffix -l2",
		"AP(max_rel=4)":              "found (max_rel=4), expected (rel=GRADE)",
		"success":                    "a cut-off is missing, as in success@10",
		"mean-ndcg@3":                "mean-ndcg has no cut-off",
		"exact-match@3":              "exact-match has no cut-off",
		"exact-match(rel=2)":         "exact-match has no lowest relevant grade",
		"zero_one_loss":              "exact-match is one less the 0–1 loss",
		"Accuracy":                   "exactly right is exact-match",
		"rbp@1":                      "expected a number between 0 and 1, as in rbp@0.8",
		"rbp@nan":                    "expected a number between 0 and 1",
	} {
		if _, err := Parse(in, Convention{}, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
	nan := []Options{{MaxGrade: -1}, {MaxGrade: 0 * inf()}}
	for _, o := range nan {
		if _, err := Parse("map", Convention{}, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func inf() float64 { return 1 / zero }

var zero float64

// Claim: lists are read in order; a missing or repeated name is an error.
func TestParseList(t *testing.T) {
	list, err := ParseList("map, NDCG@1,ndcg@10", Convention{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range list {
		names = append(names, m.Name())
	}
	if d := cmp.Diff([]string{"map", "ndcg@1", "ndcg@10"}, names); d != "" {
		t.Error(d)
	}
	for in, want := range map[string][]string{
		"nDCG(gains={0:0,1:3})@5,map":   {"ndcg(gains={0:0,1:3})@5", "map"},
		"ndcg_cut.5,10, P.5,10 ,rbp.95": {"ndcg@5", "ndcg@10", "p@5", "p@10", "rbp@0.95"},
		"RBP(rel=2,p=0.9),RBP(p=0.9)":   {"rbp(rel=2)@0.9", "rbp@0.9"},
	} {
		list, err := ParseList(in, Convention{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range list {
			names = append(names, m.Name())
		}
		if d := cmp.Diff(want, names); d != "" {
			t.Error(d)
		}
	}
	for in, want := range map[string]string{
		"map,10": `unknown measure "10"`, "ndcg@5,10": `unknown measure "10"`,
		"": "a name is missing", "map,": "a name is missing", "ndcg@10,NDCG@010": `ndcg@10 is named twice, as "ndcg@10" and "NDCG@010"`,
		"map,map": "measures \"map,map\": map is named twice", "ndcg_cut_10, nDCG@10": `ndcg@10 is named twice, as "ndcg_cut_10" and "nDCG@10"`, "map,foo": "unknown measure",
	} {
		if _, err := ParseList(in, Convention{}, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}

// Claim: the registry describes every measure, each pattern once, and each
// pattern with its parameter filled in parses.
func TestList(t *testing.T) {
	seen := map[string]bool{}
	for _, info := range List() {
		if seen[info.Pattern] || info.Explanation == "" || info.Source == "" || strings.Contains(info.Explanation, "\n") {
			t.Errorf("bad line %+v", info)
		}
		seen[info.Pattern] = true
		full := strings.NewReplacer("[", "", "]", "", "K", "3", "P", "0.5").Replace(info.Pattern)
		if m, err := Parse(full, Convention{}, Options{}); err != nil || m.Name() != full {
			t.Errorf("%s: %v", full, err)
		}
		if bare, _, optional := strings.Cut(info.Pattern, "["); optional {
			if _, err := Parse(bare, Convention{}, Options{}); err != nil {
				t.Error(err)
			}
		}
	}
}

// Claim: every convention is read by its name; the zero value is standard.
func TestConventionNames(t *testing.T) {
	var names []string
	for _, c := range Conventions() {
		names = append(names, c.Name())
		got, err := ParseConvention(strings.ToUpper(c.Name()))
		if err != nil || got != c {
			t.Errorf("%s: %v %v", c.Name(), got, err)
		}
		if c.Explanation() == "" || c.Skipping().Name() != strings.TrimSuffix(c.Name(), "-skip")+"-skip" {
			t.Errorf("%s: explanation %q, skip variant %s", c.Name(), c.Explanation(), c.Skipping().Name())
		}
	}
	want := []string{"standard", "standard-skip", "letor3", "letor3-skip", "letor4", "letor4-skip",
		"mslr", "mslr-skip", "trec", "trec-skip", "lightgbm", "lightgbm-skip"}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
	var zero Convention
	if zero.Name() != "standard" || zero.Explanation() != conventions[0].Explanation() || zero.Skipping().Name() != "standard-skip" {
		t.Errorf("the zero value is %s: %s", zero.Name(), zero.Explanation())
	}
	if _, err := ParseConvention("letor"); err == nil || err.Error() != `unknown convention "letor": did you mean "letor3" or "letor4"?` {
		t.Error(err)
	}
	if _, err := ParseConvention("nosuch"); err == nil || !strings.Contains(err.Error(), "letor3, letor3-skip, letor4") {
		t.Error(err)
	}
	for _, name := range TiePolicies() {
		if p, err := ParseTies(name); err != nil || p.String() != name {
			t.Errorf("%s: %v %v", name, p, err)
		}
	}
	if _, err := ParseTies("random"); err == nil || !strings.Contains(err.Error(), "input, pessimistic, optimistic, average") {
		t.Error(err)
	}
}

// Claim: no name makes Parse panic, and what it accepts it calls by a name that
// parses to the same measure.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"map", "ndcg@10", "ndcg@0", "rbp@0.8", "rbp@1e-300", "@", "RR(rel=2)@10", "p(rel=)@5", "(rel=2)", "ndcg(gains={0:0,1:3})@5", "rbp(p=0.5,rel=2)", "ndcg_burges@3", "dcg(dcg=log2)", "rbp.95", "p@@", "NDCG@99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		m, err := Parse(name, Convention{}, Options{})
		if err != nil {
			return
		}
		again, err := Parse(m.Name(), Convention{}, Options{})
		if err != nil || again != m {
			t.Errorf("%q → %q → %v, %v", name, m.Name(), again, err)
		}
	})
}

// Claim: gains and discounts that a name states hold under every convention. By hand: of
// grades 1, 2, 0 the gains 3, 1, 0 give 3 + 1/log2 3, and so does the ideal order by gain.
func TestStatedGains(t *testing.T) {
	ranked := []float64{2, 1, 0}
	log3 := math.Log2(3)
	for _, c := range Conventions() {
		for name, want := range map[string]float64{
			"dcg(gains={1:3,2:1})":  1 + 3/log3,
			"ndcg(gains={1:3,2:1})": (1 + 3/log3) / (3 + 1/log3),
			"ndcg(gains={0:4})@1":   2 / 4.,
			"ndcg(gains={0:4})@2":   (2 + 1/log3) / (4 + 2/log3),
			"dcg(dcg=log2)":         2 + 1/log3,
			"dcg(dcg='exp-log2')":   3 + 1/log3,
			"ndcg_burges@2":         1,
			"dcg_burges@1":          3,
		} {
			if strings.Contains(name, "gains") && c.discount != logDiscount {
				continue // the discount is the convention's
			}
			m, err := Parse(name, c, Options{})
			if err != nil {
				t.Fatal(err)
			}
			average, _ := m.Average(ranked, []int{1, 2, 3})
			if got, ok := m.Value(ranked); !ok || math.Abs(got-want) > 1e-15 || math.Abs(average-want) > 1e-15 {
				t.Errorf("%s, %s: %v and %v, want %v", name, c.Name(), got, average, want)
			}
		}
	}
	m := MustParse("ndcg(gains={0:4})", Standard)
	if got, _ := m.Value([]float64{1, dataset.Unjudged}); got != 1 {
		t.Errorf("a document without judgement has a gain: %v", got)
	}
}
