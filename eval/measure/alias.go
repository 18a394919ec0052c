package measure

import (
	"fmt"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
)

// Alias is the name of a measure in another tool.
type Alias struct {
	Pattern string // name in the tool, with K for a cutoff
	Means   string // pattern of the same measure in this package
	Tool    string // name of the tool
}

// aliases are the names in trec_eval, ir_measures and ranx, except names that differ from this
// package's names only in case (nDCG@10, P@5, ERR@20). An alias does not determine gain, discount and
// relevance. The convention does, so the convention trec gives trec_eval's values.
var aliases = []Alias{
	{"ndcg_cut_K", "ndcg@K", "trec_eval"},
	{"P_K", "p@K", "trec_eval"},
	{"recall_K", "r@K", "trec_eval"},
	{"recip_rank", "mrr", "trec_eval"},
	{"map_cut_K", "map@K", "trec_eval"},
	{"success_K", "success@K", "trec_eval"},
	{"AP[@K]", "map[@K]", "ir_measures"},
	{"RR[@K]", "mrr[@K]", "ir_measures"},
	{"hit_rate@K", "success@K", "ranx"},
	{"r-precision", "rprec", "ranx"},
	{"r_precision", "rprec", ""},
	{"ndcg_burges[@K]", "ndcg(dcg=exp-log2)[@K]", "ranx"},
	{"dcg_burges[@K]", "dcg(dcg=exp-log2)[@K]", "ranx"},
	{"precision@K", "p@K", ""},
	{"recall@K", "r@K", ""},
	{"hit@K", "success@K", ""},
}

// Aliases returns the names of other tools that [Parse] accepts.
func Aliases() []Alias {
	var named []Alias
	for _, a := range aliases {
		if a.Tool != "" {
			named = append(named, a)
		}
	}
	return named
}

const (
	sets    = "sets are not measured here, only rankings; the nearest are p@K and r@K"
	zeroOne = "higher is better for all measures here: exact-match is one less the 0–1 loss of permutations"
	numbers = "a number is no measure of a ranking; data info counts queries, documents and grades"
)

// lacking describes measures of other tools that this package does not have, and the closest measures.
// The keys are names without cutoff, in lower case.
var lacking = map[string]string{
	"gm_map":            "the geometric mean of average precision is not computed here; map is the arithmetic one",
	"gm_bpref":          "the geometric mean of bpref is not computed here; bpref is the arithmetic one",
	"infap":             "inferred average precision is not computed here; the nearest is map, or bpref where judgements are missing",
	"iprec":             "precision interpolated at a recall is not computed here; the nearest are p@K and map",
	"iprec_at_recall_0": "precision interpolated at a recall is not computed here; the nearest are p@K and map",
	"iprec_at_recall_1": "precision interpolated at a recall is not computed here; the nearest are p@K and map",
	"11pt_avg":          "precision interpolated at a recall is not computed here; the nearest are p@K and map",
	"alpha_ndcg":        "diversity is not measured here; the nearest is ndcg@K",
	"set_p":             sets,
	"set_r":             sets,
	"set_recall":        sets,
	"set_map":           sets,
	"set_f":             sets,
	"setp":              sets,
	"setr":              sets,
	"setap":             sets,
	"setf":              sets,
	"f1":                sets,
	"num_q":             numbers,
	"num_ret":           numbers,
	"num_rel":           numbers,
	"num_rel_ret":       numbers,
	"numq":              numbers,
	"numret":            numbers,
	"numrel":            numbers,
	"hits":              "ranx counts relevant documents by it, K times p@K, and other tools report by it whether there is one, success@K",
	"rmse":              "the error of grades is not measured here, only rankings; the nearest is ndcg",
	"zero_one":          zeroOne,
	"zero-one":          zeroOne,
	"zero_one_loss":     zeroOne,
	"0-1":               zeroOne,
	"accuracy":          "the share of rankings that are exactly right is exact-match; that of relevant documents above irrelevant ones, which ir_measures calls Accuracy, is auc",
	"kendall":           "the nearest is pairs, the share of pairs in the right order: without ties Kendall's tau is twice that less one",
}

// canonicalName resolves aliases and returns a name in lower case, in the form NAME or NAME@PARAMETER.
// It converts trec_eval's cutoffs, which follow "_" or ".", and ranx's rbp.95, which is rbp@0.95.
func canonicalName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	base, value, has := strings.Cut(name, "@")
	if !has {
		stem := strings.TrimRight(name, "0123456789")
		if n := len(stem); n > 1 && n < len(name) && (stem[n-1] == '_' || stem[n-1] == '.') {
			base, value, has = stem[:n-1], name[n:], true
			if base == "rbp" && stem[n-1] == '.' {
				value = "0." + value
			}
		}
	}
	for _, a := range aliases {
		pattern := strings.ToLower(strings.TrimSuffix(a.Pattern, "[@K]"))
		pattern = strings.TrimSuffix(strings.TrimSuffix(pattern, "@k"), "_k")
		if base == pattern && base != "ap" { // "ap" is in the registry
			base, _, _ = strings.Cut(strings.TrimSuffix(a.Means, "[@K]"), "@")
			break
		}
	}
	if has {
		return base + "@" + value
	}
	return base
}

// unknown returns the error for a name that is neither a measure nor an alias.
func unknown(name string) error {
	base, value, has := strings.Cut(canonicalName(name), "@")
	if why, ok := lacking[base]; ok {
		return fmt.Errorf("unknown measure %q: %s", name, why)
	}
	known := make([]string, len(registry))
	for i, e := range registry {
		known[i] = e.name
		if has && e.parameter != noParameter {
			known[i] += "@" + value
		}
	}
	return fmt.Errorf("unknown measure %q%s", name, suggest.Or(name, known, "; known are "+patterns()))
}
