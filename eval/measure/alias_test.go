package measure

import (
	"strings"
	"testing"
)

// Claim: names of trec_eval and ir_measures are read as the measures they are here, and
// print under our names.
func TestAliases(t *testing.T) {
	for in, want := range map[string]string{
		"ndcg_cut_10": "ndcg@10", "ndcg_cut.10": "ndcg@10", "P_5": "p@5", "P.5": "p@5", "recall_100": "r@100", "recall.100": "r@100",
		"recip_rank": "mrr", "RR": "mrr", "RR@10": "mrr@10", "nDCG@10": "ndcg@10", "P@5": "p@5", "R@100": "r@100", "AP": "ap",
		"precision@5": "p@5", "Recall@7": "r@7", "Bpref": "bpref", "map_cut_10": "map@10", "map_cut.10": "map@10", "AP@10": "ap@10", "success_1": "success@1", "Rprec": "rprec", "hit@3": "success@3",
		"hit_rate@3": "success@3", "r_precision": "rprec", "r-precision": "rprec", "map-l2": "map(rel=2)", "precision@5-l3": "p(rel=3)@5", "rbp.95": "rbp@0.95", "ndcg_burges@10": "ndcg(dcg=exp-log2)@10", "dcg_burges": "dcg(dcg=exp-log2)",
		"Judged@10": "judged@10", "AP(rel=2)": "ap(rel=2)", "RR(rel=2)@10": "mrr(rel=2)@10", "P(rel=2)@5": "p(rel=2)@5", "ERR@20": "err@20", "ndcg_10": "ndcg@10",
	} {
		m, err := Parse(in, Convention{}, Options{})
		if err != nil {
			t.Errorf("%q: %v", in, err)
		} else if m.Name() != want {
			t.Errorf("%q is called %q, want %q", in, m.Name(), want)
		}
	}
	for _, a := range Aliases() {
		fill := strings.NewReplacer("[", "", "]", "", "K", "7")
		alias, err := Parse(fill.Replace(a.Pattern), Convention{}, Options{})
		if err != nil {
			t.Errorf("%+v: %v", a, err)
			continue
		}
		means, err := Parse(fill.Replace(a.Means), Convention{}, Options{})
		if err != nil {
			t.Errorf("%+v: %v", a, err)
			continue
		}
		ranked := []float64{0, 2, 0, 1, 0, 0, 0, 0, 3}
		got, _ := alias.Value(ranked)
		if want, _ := means.Value(ranked); got != want {
			t.Errorf("%s is %v of a list, %s is %v", a.Pattern, got, a.Means, want)
		}
	}
}

// Claim: what another tool measures and we do not gets a sentence; a slip gets a question;
// an alias with a wrong cutoff is refused like ours.
func TestUnknownMeasures(t *testing.T) {
	for in, want := range map[string]string{
		"gm_map":      "the geometric mean",
		"set_P":       "sets are not measured here, only rankings",
		"SetF":        "sets are not measured here, only rankings",
		"hits@3":      "K times p@K",
		"f1@3":        "sets are not measured here, only rankings",
		"iprec@0.1":   "interpolated",
		"num_rel_ret": "a number is no measure of a ranking",
		"ndcgg":       `did you mean "ndcg"?`,
		"ncdg@10":     `did you mean "ndcg@10"?`,
		"mapp":        `did you mean "map"?`,
		"ndcg_cut_0":  `cut-off "0": expected a whole number from 1 on`,
		"ndcg_cut":    "",
		"P_":          "unknown measure",
		"P_x":         "unknown measure",
		"nosuch":      `unknown measure "nosuch"; known are map[@K], ap[@K], ndcg[@K]`,
		"NDCG@10@5":   `cut-off "10@5": expected`,
		"recip_rank5": "unknown measure",
	} {
		_, err := Parse(in, Convention{}, Options{})
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", in, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}
