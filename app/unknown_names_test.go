package app

import (
	"strings"
	"testing"
)

// What is misspelled, or called as other tools call it, exits with 2 and a line that
// suggests what was probably meant.
func TestDidYouMean(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"trian", `unknown command "trian", did you mean "train"?`},
		{"trian --method mle", `unknown command "trian", did you mean "train"?`},
		{"trian --help", `unknown command "trian", did you mean "train"?`},
		{"--format json trian", `unknown command "trian", did you mean "train"?`},
		{"-q trian --seed 3", `unknown command "trian", did you mean "train"?`},
		{"predict --model m.json", `unknown command "predict", did you mean "listwise score"?`},
		{"split", `did you mean "listwise data fold"?`},
		{"data infos x.txt", `unknown command "data infos", did you mean "info"?`},
		{"runs ls", `did you mean "listwise runs list"?`},
		{"help nosuch", `unknown command "nosuch" (see "listwise --help")`},
		{"help trian", `did you mean "train"?`},
		{"help data nofold", `did you mean "fold"?`},

		{"train --metod mle", "unknown flag: --metod, did you mean --method? ("},
		{"train --C 1", "a hyperparameter is given as --set C=VALUE"},
		{"train --learning-rate 0.1", "a hyperparameter is given as --set rate=VALUE"},
		{"tune --lr 0.1", "a hyperparameter is given as --grid rate=VALUE,VALUE"},
		{"eval --metric map", "did you mean --measures?"},
		{"train --metric map", "did you mean --measure?"},
		{"score --output x", "did you mean --out?"},
		{"train --qiet", "did you mean --quiet?"},
		{"methods --frobnicate", `unknown flag: --frobnicate (see "listwise methods --help")`},

		{"methods lambdarnak", `did you mean "lambdarank"?`},
		{"methods Lambda_Rank", `did you mean "lambdarank"?`},
		{"train --method yetirankpairwise --train x --model y", "the nearest is yetirank (--scorer trees)"},
		{"tune --method mle,xgboost --data x --out y", "boosted trees are lambdamart and, by least squares, mart here"},
		{"methods rank:ndcg", "the same is lambdamart here"},
		{"methods svmrank", "the same is ranksvm here"},
		{"train --method mle --set kapa=1 --train x --model y", `did you mean "kappa"?`},
		{"train --method mle --set form=latice --train x --model y", `did you mean "lattice"?`},
		{"train --method mle --scorer nett --train x --model y", `did you mean "net"?`},
		{"train --method mle --normalize zscor --train x --model y", `did you mean "zscore"?`},
		{"train --method mle --convention letr3 --train x --model y", `did you mean "letor3"?`},
		{"eval --measures gm_map --scores x --data y", "the geometric mean"},
		{"eval --measures ncdg@10 --scores x --data y", `did you mean "ndcg@10"?`},
		{"eval --ties avrage --scores x --data y", `did you mean "average"?`},
		{"fuse --rule comsum --data x a b", `did you mean "combsum"?`},
		{"fuse --scale min-max --data x a b", `did you mean "minmax"?`},
		{"data synth --shape oshumed --out x", `did you mean "ohsumed"?`},
		{"data clean --reading R22 --out x y", `expected R0, R1, R2 or R3`},
		{"reproduce logrankfig3 --out x", `did you mean "logrank-fig3"?`},
		{"methods --format jsn", `did you mean "json"?`},
		{"compare --format latx --data x a b", `did you mean "latex"?`},
		{"runs list --kind tran", `did you mean "train"?`},
	} {
		code, _, errs := call(strings.Fields(c.args)...)
		if code != exitUsage || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("listwise %s exits with %d and says %q, want %d and %q", c.args, code, errs, exitUsage, c.want)
		}
	}
}

// An unknown measure or convention is an error for every method, whether or not it has
// a training measure.
func TestUnknownMeasureForEveryMethod(t *testing.T) {
	for _, args := range []string{
		"train --method mle --measure nosuch --train x --model y",
		"train --method convexloss --measure nosuch --train x --model y",
		"tune --method mle --measure nosuch --data x --out y",
		"tune --method mle --select nosuch --data x --out y",
		"tune --method mle --convention nosuch --data x --out y",
		"train --method mle --convention nosuch --train x --model y",
		"fuse --select nosuch --data x a b",
		"report --convention nosuch --data x --out y a",
	} {
		code, _, errs := call(strings.Fields(args)...)
		if code != exitUsage || !strings.Contains(errs, `"nosuch"; known are`) {
			t.Errorf("listwise %s exits with %d and says %q", args, code, errs)
		}
	}
}

// --version says what version says; help of a command that exists succeeds.
func TestVersionAndHelp(t *testing.T) {
	if got, want := mustCall(t, "--version"), mustCall(t, "version"); got != want || !strings.HasPrefix(got, "listwise ") {
		t.Errorf("--version prints %q, version %q", got, want)
	}
	if got, want := mustCall(t, "help", "data", "fold"), mustCall(t, "data", "fold", "--help"); got != want {
		t.Errorf("help data fold prints\n%s\nand data fold --help\n%s", got, want)
	}
	if got, want := mustCall(t, "help"), mustCall(t, "--help"); got != want {
		t.Errorf("help prints\n%s\nand --help\n%s", got, want)
	}
	mustCall(t, "help", "train")
	if out := mustCall(t, "completion", "bash"); !strings.Contains(out, "__start_listwise") {
		t.Errorf("completion bash prints %.200q, want a script", out)
	}
}
