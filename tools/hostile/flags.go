package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// bases are valid command lines, to which flags are added.
var bases = []struct{ args, files string }{
	{"train --method mle --train data.txt --model out.json --no-record", "data.txt vali.txt"},
	{"train --method ranknet --scorer net --set hidden=2 --set epochs=2 --train data.txt --model out.json --no-record", "data.txt vali.txt"},
	{"train --method regression --train weights.csv --query query --weight document_weight --query-weight query_weight --model out.json --no-record", "weights.csv"},
	{"data convert weights.parquet --out out.txt.gz --missing keep", "weights.parquet"},
	{"score --data data.parquet --model linear.json --format parquet --out out.parquet", "data.parquet linear.json"},
	{"tune --method mle --grid C=1 --data folds --out out --no-record", "folds"},
	{"tune --method mle --grid C=1 --data folds --out out --no-record --seeds 1,3", "folds"},
	{"auto --trials 2 --data folds --out out", "folds"},
	{"ablate --method mle --vary C=1,2 --seeds 1 --data folds --out out --no-record", "folds"},
	{"ablate --method mle --leave-out 1 --seeds 1 --data folds --out out --no-record", "folds"},
	{"curve net=curve.jsonl --out out.pdf", "curve.jsonl"},
	{"eval --data data.txt --model linear.json --no-record", "data.txt linear.json a.scores"},
	{"eval --data data.txt --model linear.json --no-record --rerank 1,2 --first 1", "data.txt linear.json"},
	{"score --data data.txt --model linear.json", "data.txt linear.json"},
	{"score --data data.txt --model linear.json --format run", "data.txt linear.json"},
	{"eval --data a.qrels --scores a.run --no-record", "a.qrels a.run"},
	{"data join data.txt --judgements a.qrels --out out.txt", "data.txt a.qrels"},
	{"data log answers.jsonl --judgements a.csv --out out.txt", "answers.jsonl a.csv"},
	{"compare --data data.txt --permutations 100 --resamples 100 linear.json stumps.json", "data.txt linear.json stumps.json"},
	{"compare --data data.txt --data vali.txt --baseline linear --permutations 100 --resamples 100 --format latex --label tab:main linear.json stumps.json", "data.txt vali.txt linear.json stumps.json"},
	{"report --data data.txt --out out.html --permutations 100 --resamples 100 linear.json stumps.json", "data.txt linear.json stumps.json"},
	{"bundle tuned --permutations 20 --resamples 20 --out out.tar.gz", ".listwise tuned folds"},
	{"explain --model trees.json --data data.txt --resamples 100 --permutations 100 --repeats 1", "data.txt trees.json"},
	{"explain --model linear.json --data data.txt --of 1", "data.txt linear.json"},
	{"fuse --data data.txt --valid vali.txt --out out.scores linear.json stumps.json", "data.txt vali.txt linear.json stumps.json"},
	{"import lightgbm.txt --model out.json", "lightgbm.txt"},
	{"export --model mart.json --to xgboost --out out.json", "mart.json"},
	{"export --model mart.json --to elasticsearch-native --extractors queries.json --out out.json", "mart.json queries.json"},
	{"export --model mart.json --to lightgbm --out out.txt", "mart.json"},
	{"engine put --solr http://127.0.0.1:1/solr/x --model linear.json --name n --dry-run", "linear.json"},
	{"engine check --answers answers.json --data logged.csv --model linear.json --tolerance 1e300", "answers.json logged.csv linear.json"},
	{"data info data.txt", "data.txt"},
	{"data report --data data.txt --against vali.txt --out out.html", "data.txt vali.txt"},
	{"data clean data.txt --out out.txt", "data.txt"},
	{"data normalize data.txt --out out.txt", "data.txt"},
	{"data convert data.txt --out out.txt", "data.txt"},
	{"data fold data.txt --folds 3 --out out", "data.txt"},
	{"data shard data.txt --shards 3 --as .txt --out out", "data.txt"},
	{"score --data shards --model linear.json --shard 1", "shards linear.json"},
	{"eval --data shards --model linear.json --shard 1 --part out.json --no-record", "shards linear.json"},
	{"eval --data shards --model linear.json --parts parts --no-record", "shards parts linear.json"},
	{"tune --method mle --grid C=1,2 --data folds --out out --no-record --trial 1", "folds"},
	{"data curve --method mle --train data.txt --test vali.txt --shares 0.5,1 --repeats 1", "data.txt vali.txt"},
	{"data synth --queries 3 --docs 4 --relevant 2 --features 3 --out out.txt", ""},
	{"clicks info pages.jsonl pages.csv", "pages.jsonl pages.csv"},
	{"clicks report pages.jsonl --valid pages.csv --resamples 20 --out out.html", "pages.jsonl pages.csv"},
	{"clicks report pages.jsonl --resamples 20 --out out.html", "pages.jsonl"},
	{"clicks simulate --data data.txt --model linear.json --pages 20 --out out.jsonl", "data.txt linear.json"},
	{"clicks simulate --data data.txt --model a=linear.json --model b=stumps.json --order arms:1,2 --users 3 --pages 20 --out out.jsonl.gz", "data.txt linear.json stumps.json"},
	{"clicks join --log log.jsonl --clicks clicks.jsonl --out out.jsonl", "log.jsonl clicks.jsonl"},
	{"clicks join --ubi queries.ndjson --ubi-events events.ndjson --out out.jsonl", "queries.ndjson events.ndjson"},
	{"clicks join --metarank metarank.jsonl --out out.jsonl", "metarank.jsonl"},
	{"clicks propensities exchanges.jsonl --out out.json", "exchanges.jsonl data.txt"},
	{"clicks propensities exchanges.jsonl --method harvest --bootstrap 5", "exchanges.jsonl"},
	{"clicks weigh shown.jsonl --data data.txt --propensities theta.json --out out.parquet", "shown.jsonl data.txt theta.json"},
	{"train --clicks shown.jsonl --train data.txt --propensities theta.json --method regression --no-record --model out.json", "shown.jsonl data.txt theta.json"},
	{"runs list", ".listwise"},
	{"runs show 1", ".listwise"},
	{"runs diff 1 2", ".listwise"},
	{"runs export --all", ".listwise"},
	{"clicks fit --model pbm,dbn pages.jsonl --valid pages.jsonl --resamples 20", "pages.jsonl"},
	{"clicks judge pages.jsonl --model ccm --levels 2 --min-examinations 0 --keep-unsure", "pages.jsonl"},
	{"clicks prefer mixed.jsonl", "mixed.jsonl"},
	{"clicks ab ab.jsonl --users users.csv", "ab.jsonl users.csv"},
	{"clicks evaluate --pages shop.jsonl --data data.txt --propensities theta.json --max-unsupported 1 --ignore-weights --ignore-checks --baseline linear.json stumps.json", "shop.jsonl data.txt theta.json linear.json stumps.json"},
	{"clicks plan --difference 1 --deviation 1", ""},
	{"clicks plan --share 0.7", ""},
	{"methods mle", ""},
	{"bench --documents 200 --features 2 --methods mle --dir .", ""},
}

// values are the values that every flag gets.
var values = []string{"", "-1", "0", "1", "NaN", "inf", "1e999", "1e300", "99999999999999999999", "-9223372036854775809", "0x10", "1e-400", "é漢", "\x1b[31mred", "a\nb", "a\tb", "\xff\xfe", "%s%d%!", ",", "a,,b", "=", "a=b", "-", "--", "../none/none", "none",
	"map,map", "ndcg@0", "ndcg@-1", "ndcg@99999999999999999999", "ndcg@1.5", "p@", "@10", strings.Repeat("x", 100000), strings.Repeat("1", 5000), strings.Repeat("map,", 5000)}

var flagLine = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)( \S+)? {2,}`)

// flagCases set every flag of every command to unexpected values, and use unknown names.
func flagCases(f *fixture) []Case {
	var cases []Case
	for n, base := range bases {
		args := words(base.args)
		help := f.expect(nil, append(slices.Clone(args[:commandWords(args)]), "--help")...)
		for _, m := range flagLine.FindAllStringSubmatch(help, -1) {
			if m[1] == "help" {
				continue
			}
			for i, v := range values {
				name := fmt.Sprintf("flags/%s-%d/--%s/%d", strings.Join(args[:2], " "), n, m[1], i)
				cases = append(cases, flagCase(name, words(base.files), append(slices.Clone(args), "--"+m[1]+"="+v), v))
			}
		}
	}
	return append(append(cases, settingCases(f)...), nameCases()...)
}

// commandWords returns the number of words that name the command.
func commandWords(args []string) int {
	if args[0] == "data" || args[0] == "runs" || args[0] == "engine" || args[0] == "clicks" {
		return 2
	}
	return 1
}

func flagCase(name string, files, args []string, value string) Case {
	outs := []string{"out", "out.json", "out.jsonl", "out.jsonl.gz", "out.txt", "out.txt.gz", "out.parquet", "out.html", "out.pdf", "out.tar.gz", "out.scores", ".listwise"}
	if value != "" {
		outs = append(outs, filepath.Clean(value))
	}
	return Case{Name: name, Files: files, Args: args, Outs: outs, Judge: func(_ *box, r *Result) (Verdict, string) {
		if strings.Contains(value, "\x1b") && strings.Contains(r.stdout+r.stderr, value) {
			return unclear, "control characters of the command line come back"
		}
		return right, ""
	}}
}

// settingCases set every hyperparameter of every method to unexpected values.
func settingCases(f *fixture) []Case {
	var cases []Case
	name := regexp.MustCompile(`"name": "([^"]+)"`)
	listed := name.FindAllStringSubmatch(f.expect(nil, "methods", "--format", "json"), -1)
	methodLine := regexp.MustCompile(`(?m)^([a-z0-9]+) {2,}`)
	for _, m := range methodLine.FindAllStringSubmatch(f.expect(nil, "methods"), -1) {
		method := m[1]
		if !slices.ContainsFunc(listed, func(l []string) bool { return l[1] == method }) {
			continue
		}
		for _, h := range name.FindAllStringSubmatch(f.expect(nil, "methods", method, "--format", "json"), -1)[1:] {
			for i, v := range []string{"", "-1", "0", "NaN", "inf", "1e300", "1e-300", "99999999999999999999", "é"} {
				args := append(words("train --train data.txt --model out.json --no-record --method "+method+" --set"), h[1]+"="+v)
				cases = append(cases, flagCase(fmt.Sprintf("flags/set/%s/%s/%d", method, h[1], i), []string{"data.txt"}, args, v))
			}
		}
	}
	return cases
}

// nameCases use unknown names of commands, flags, methods and measures.
func nameCases() []Case {
	lines := [][]string{{"trian"}, {"train", "mle"}, {""}, {"\x1b[31m"}, {"é"}, {strings.Repeat("x", 100000)}, {"--"}, {"-"}, {"-x"}, {"--nonsense"}, {"--format", "xml"}, {"--format"}, {"help", "nonsense"}, {"data"}, {"data", "nonsense"}, {"data", "info"},
		{"runs", "nonsense"}, {"runs", "show"}, {"runs", "show", "x"}, {"runs", "show", "99999999999999999999"}, {"runs", "show", "-1"}, {"runs", "delete"}, {"runs", "delete", "999"}, {"methods", "nonsense"}, {"methods", "mle", "l2"}, {"reproduce", "nonsense"},
		{"score"}, {"score", "a", "b"}, {"eval", "--data", "none.txt"}, {"version", "x"}, {"demo", "x"}, {"compare"}, {"compare", "--data", "none"}, {"fuse"}, {"report"}, {"bundle"}, {"bundle", "none", "--out", "out.tar.gz"}, {"bundle", "1", "--out", "out.txt"}, {"bundle", "--check", "none"}, {"tune"}, {"train", "--method"}}
	for _, v := range []string{"nonsense", "", "MLE", "mle,l2", "\x1b[31m", "é", strings.Repeat("x", 100000)} {
		lines = append(lines, []string{"train", "--train", "data.txt", "--model", "out.json", "--no-record", "--method", v},
			[]string{"tune", "--data", "data.txt", "--out", "out", "--no-record", "--method", v},
			[]string{"train", "--train", "data.txt", "--model", "out.json", "--no-record", "--method", "convexloss", "--measure", v},
			[]string{"train", "--train", "data.txt", "--model", "out.json", "--no-record", "--method", "mle", "--set", v},
			[]string{"eval", "--data", "data.txt", "--scores", "a.scores", "--no-record", "--measures", v})
	}
	var cases []Case
	for i, args := range lines {
		c := flagCase(fmt.Sprintf("flags/names/%d", i), []string{"data.txt", "a.scores"}, args, "")
		if i > 0 {
			c.Judge = nil
		}
		cases = append(cases, c)
	}
	return cases
}
