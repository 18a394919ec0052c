package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// readers are commands that read files of the fixture.
var readers = []struct {
	file  string
	files []string // other files that the command needs
	args  string
	runs  int
}{
	{"data.txt", []string{"linear.json"}, "score --model linear.json --data data.txt", 60},
	{"data.txt", nil, "data info data.txt --format json", 30},
	{"data.csv", nil, "data report --data data.csv --out out.html --format json", 30},
	{"data.txt", nil, "train --method mle --train data.txt --model out.json --no-record", 40},
	{"data.txt", []string{"a.scores"}, "eval --data data.txt --scores a.scores --no-record --format json", 40},
	{"data.csv", []string{"linear.json"}, "score --model linear.json --data data.csv", 100},
	{"data.csv", nil, "train --method mle --train data.csv --model out.json --no-record", 40},
	{"data.csv", nil, "data info data.csv --one-hot auto --missing zero --format json", 40},
	{"data.jsonl", []string{"linear.json"}, "score --model linear.json --data data.jsonl", 100},
	{"data.jsonl", nil, "data convert data.jsonl --out -", 60},
	{"data.tsv.gz", nil, "data convert data.tsv.gz --out -", 60},
	{"data.parquet", []string{"linear.json"}, "score --model linear.json --data data.parquet", 200},
	{"data.parquet", nil, "data convert data.parquet --out -", 100},
	{"weights.parquet", nil, "train --method regression --train weights.parquet --query-weight query_weight --weight document_weight --model out.json --no-record", 100},
	{"weights.csv", nil, "train --method regression --train weights.csv --query-weight query_weight --weight document_weight --model out.json --no-record", 60},
	{"data.txt.gz", []string{"linear.json"}, "score --model linear.json --data data.txt.gz", 150},
	{"data.txt.zst", []string{"linear.json"}, "score --model linear.json --data data.txt.zst", 150},
	{"data.lwd", []string{"linear.json"}, "score --model linear.json --data data.lwd", 200},
	{"data.lwd", nil, "data convert data.lwd --out -", 60},
	{"shards/shards.json", []string{"shards", "linear.json"}, "score --model linear.json --data shards", 150},
	{"shards/shards.json", []string{"shards"}, "train --method mle --train shards --model out.json --no-record", 60},
	{"shards/part-00001.txt", []string{"shards", "linear.json"}, "score --model linear.json --data shards --shard 1", 100},
	{"cached/part-00001.lwd", []string{"cached", "linear.json"}, "eval --model linear.json --data cached --no-record --format json", 100},
	{"parts/1.json", []string{"parts", "shards", "linear.json"}, "eval --model linear.json --data shards --parts parts --no-record --format json", 150},
	{"a.scores", []string{"data.txt"}, "eval --data data.txt --scores a.scores --no-record --format json", 100},
	{"kinds.tsv", []string{"data.txt", "linear.json"}, "eval --data data.txt --model linear.json --by kinds.tsv --no-record --format json", 60},
	{"data.csv", []string{"linear.json"}, "eval --data data.csv --model linear.json --by query --no-record --format json", 40},
	{"a.run", []string{"data.txt"}, "eval --data data.txt --scores a.run --no-record --format json", 60},
	{"a.run", []string{"a.qrels", "b.run"}, "compare --data a.qrels --permutations 200 --resamples 100 a.run b.run", 40},
	{"a.qrels", []string{"a.run"}, "eval --data a.qrels --scores a.run --no-record --format json", 60},
	{"a.qrels.gz", []string{"a.run"}, "eval --data a.qrels.gz --scores a.run --no-record --format json", 60},
	{"a.qrels", []string{"data.txt"}, "data join data.txt --judgements a.qrels --out -", 40},
	{"a.csv", []string{"data.txt"}, "data join data.txt --judgements a.csv --out -", 40},
	{"answers.jsonl", []string{"a.csv"}, "data log answers.jsonl --judgements a.csv --out -", 100},
	{"linear.json", []string{"data.txt"}, "score --model linear.json --data data.txt", 150},
	{"fm.json", []string{"data.txt"}, "score --model fm.json --data data.txt", 150},
	{"net.json", []string{"data.txt"}, "score --model net.json --data data.txt", 150},
	{"pairnet.json", []string{"data.txt"}, "score --model pairnet.json --data data.txt", 150},
	{"stumps.json", []string{"data.txt"}, "score --model stumps.json --data data.txt", 150},
	{"trees.json", []string{"data.txt"}, "score --model trees.json --data data.txt", 150},
	{"trees.json", []string{"data.txt"}, "train --method mart --set trees=1 --set leaf_documents=5 --continue trees.json --train data.txt --model out.json --no-record", 50},
	{"lightgbm.txt", []string{"data.txt"}, "score --model lightgbm.txt --data data.txt", 150},
	{"xgboost.json", []string{"data.txt"}, "score --model xgboost.json --data data.txt", 120},
	{"dump.json", []string{"data.txt"}, "score --model dump.json --data data.txt", 80},
	{"catboost.json", []string{"data.txt"}, "score --model catboost.json --data data.txt", 100},
	{"ranklib.txt", []string{"data.txt"}, "score --model ranklib.txt --data data.txt", 80},
	{"solr.json", []string{"data.txt"}, "score --model solr.json --data data.txt", 80},
	{"layers.json", []string{"data.txt"}, "score --model layers.json --data data.txt", 80},
	{"elastic.json", []string{"data.txt"}, "score --model elastic.json --data data.txt", 60},
	{"queries.json", []string{"mart.json"}, "export --model mart.json --to elasticsearch-native --extractors queries.json --out out.json", 60},
	{"fusion.json", []string{"data.txt"}, "score --model fusion.json --data data.txt", 200},
	{"trees.json", []string{"data.txt"}, "explain --model trees.json --data data.txt --permutations 100 --repeats 1 --svg out.svg", 60},
	{"curve.jsonl", nil, "curve net=curve.jsonl --out out.svg", 60},
	{"data.txt", []string{"fusion.json"}, "explain --model fusion.json --data data.txt --of 1 --format json", 60},
	{"curve.jsonl", []string{"data.txt", "linear.json", "net.json"}, "report --data data.txt --out out.html --permutations 200 --resamples 100 --curve net=curve.jsonl net=net.json linear.json", 80},
	{"log.jsonl", []string{"clicks.jsonl"}, "clicks --log log.jsonl --clicks clicks.jsonl --format json", 80},
	{"clicks.jsonl", []string{"log.jsonl"}, "clicks --log log.jsonl --clicks clicks.jsonl --format json", 60},
	{"pages.jsonl", nil, "clicks info pages.jsonl --format json", 80},
	{"pages.jsonl.gz", nil, "clicks info pages.jsonl.gz --format json", 80},
	{"ab.jsonl", nil, "clicks info ab.jsonl --since 2020-01-01 --until 2030-01-01 --drop-alike --format json", 40},
	{"exchanges.jsonl", nil, "clicks propensities exchanges.jsonl --format json --out out.json", 80},
	{"exchanges.jsonl", []string{"data.txt"}, "clicks propensities exchanges.jsonl --method em --bootstrap 5 --by arm --format json", 60},
	{"shown.jsonl", []string{"data.txt", "theta.json"}, "clicks weigh shown.jsonl --data data.txt --propensities theta.json --max-missing 1 --out - --format csv", 60},
	{"theta.json", []string{"data.txt", "shown.jsonl"}, "clicks weigh shown.jsonl --data data.txt --propensities theta.json --out - --format csv", 100},
	{"pages.csv", nil, "clicks info pages.csv --format json", 80},
	{"pages.jsonl", nil, "clicks report pages.jsonl --resamples 20 --out out.html --format json", 60},
	{"log.jsonl", []string{"clicks.jsonl"}, "clicks join --log log.jsonl --clicks clicks.jsonl --out - --quiet", 80},
	{"clicks.jsonl", []string{"log.jsonl"}, "clicks join --log log.jsonl --clicks clicks.jsonl --out - --quiet", 60},
	{"queries.ndjson", []string{"events.ndjson"}, "clicks join --ubi queries.ndjson --ubi-events events.ndjson --out - --quiet", 80},
	{"events.ndjson", []string{"queries.ndjson"}, "clicks join --ubi queries.ndjson --ubi-events events.ndjson --out - --quiet", 80},
	{"metarank.jsonl", nil, "clicks join --metarank metarank.jsonl --out - --quiet", 100},
	{"gamma.json", []string{"data.txt", "linear.json"}, "clicks simulate --data data.txt --model linear.json --click ubm:gamma.json --pages 50 --out - --quiet", 40},
	{"pages.jsonl", nil, "clicks fit --model all pages.jsonl --format json", 60},
	{"pages.jsonl", []string{"browse.json"}, "clicks fit --model browse.json --valid pages.jsonl --resamples 20 pages.jsonl --format json", 40},
	{"browse.json", []string{"pages.jsonl"}, "clicks fit --model browse.json --valid pages.jsonl --resamples 20 pages.jsonl --format json", 100},
	{"pages.jsonl", nil, "clicks judge pages.jsonl --bootstrap 3 --format json", 60},
	{"mixed.jsonl", nil, "clicks prefer mixed.jsonl --at-any-time --format json", 80},
	{"ab.jsonl", []string{"users.csv"}, "clicks ab ab.jsonl --users users.csv --measures clicks,orders --format json", 80},
	{"users.csv", []string{"ab.jsonl"}, "clicks ab ab.jsonl --users users.csv --measures orders --format json", 60},
	{"shop.jsonl", []string{"data.txt", "theta.json", "linear.json"}, "clicks evaluate --pages shop.jsonl --data data.txt --propensities theta.json --max-unsupported 1 --ignore-weights --ignore-checks linear.json --format json", 80},
	{"shop.jsonl", []string{"data.txt", "linear.json"}, "clicks evaluate --pages shop.jsonl --data data.txt --estimator item --candidates shown --max-unsupported 1 --ignore-weights --ignore-checks linear.json --format json", 60},
	{"theta.json", []string{"shop.jsonl", "data.txt", "linear.json"}, "clicks evaluate --pages shop.jsonl --data data.txt --propensities theta.json --max-unsupported 1 --ignore-weights --ignore-checks linear.json --format json", 80},
	{"answers.json", []string{"logged.csv", "linear.json"}, "engine check --answers answers.json --data logged.csv --model linear.json --tolerance 1e300 --format json", 80},
	{".listwise/runs.db", nil, "runs list --format json", 100},
	{".listwise/runs.db", nil, "runs show 1 --format json", 80},
	{".listwise/runs.db", nil, "runs export --all --format csv", 80},
	{".listwise/runs.db", nil, "runs diff 1 2 --format json", 40},
	{"tuned/results.json", []string{"data.txt", "linear.json"}, "compare --data data.txt --permutations 200 --resamples 100 linear.json tuned/results.json", 20},
}

// byteCases flip bits of files and truncate them.
func byteCases(f *fixture) []Case {
	var cases []Case
	for _, rd := range readers {
		files := rd.files
		if !slices.Contains(files, filepath.Dir(rd.file)) { // otherwise the folder contains the file
			files = append([]string{rd.file}, files...)
		}
		args := words(rd.args)
		judge := asUnharmed("", rd.file)
		if rd.file != "tuned/results.json" {
			judge = asUnharmed(f.expect(files, args...), rd.file)
		}
		for i := range rd.runs {
			name := fmt.Sprintf("bytes/%s/%s %s/%d", rd.file, args[0], args[1], i)
			cases = append(cases, Case{
				Name: name, Files: files, Args: args, Judge: judge,
				Outs: []string{"out.json", "out.html", "out.svg", ".listwise"},
				Harm: change(rd.file, func(text []byte) []byte { return damage(random(name), text) }),
			})
		}
	}
	return append(append(cases, checkpointCases(f)...), jobCases(f)...)
}

// damage truncates a file, cuts out or overwrites a piece of it, or flips some bits.
func damage(rng *rand.Rand, text []byte) []byte {
	if len(text) == 0 {
		return []byte{0}
	}
	at := rng.IntN(len(text))
	size := min(1+rng.IntN(64), len(text)-at)
	switch rng.IntN(10) {
	case 0:
		return text[:at]
	case 1:
		return append(text[:at:at], text[at+size:]...)
	case 2:
		for i := range size {
			text[at+i] = byte(rng.Uint32())
		}
		return text
	case 3:
		clear(text[at : at+size])
		return text
	}
	for range 1 + rng.IntN(2) {
		text[rng.IntN(len(text))] ^= 1 << rng.IntN(8)
	}
	return text
}

// sameFile returns a judge of one of a run's outputs.
func sameFile(name string, want []byte) func(*box, *Result) (Verdict, string) {
	return func(b *box, _ *Result) (Verdict, string) {
		got, err := os.ReadFile(filepath.Join(b.dir, name))
		switch {
		case err != nil:
			return lost, err.Error()
		case string(got) != string(want):
			return silent, name + " differs from that of an undisturbed run"
		}
		return right, ""
	}
}

// checkpointCases damage a checkpoint from which a training resumes.
func checkpointCases(f *fixture) []Case {
	want := f.made([]string{"data.txt"}, "from.json", words(checkpointed)...)
	var cases []Case
	for i := range 100 {
		name := fmt.Sprintf("bytes/run.ckpt/%d", i)
		cases = append(cases, Case{
			Name: name, Files: []string{"data.txt", "run.ckpt"}, Args: words(checkpointed), Outs: []string{"from.json", "run.ckpt"},
			Harm:  change("run.ckpt", func(text []byte) []byte { return damage(random(name), text) }),
			Judge: sameFile("from.json", want),
		})
	}
	return cases
}

// jobCases damage the records of trainings that tune has finished.
func jobCases(f *fixture) []Case {
	args := words("tune --method mle --grid C=0.1,1 --data folds --out tuned --no-record")
	want := f.made([]string{"folds"}, "tuned/results.json", args...)
	records, err := filepath.Glob(filepath.Join(f.dir, "tuned/mle/jobs/Fold*/*.json"))
	if err != nil || records == nil {
		panic("tune keeps no records of trainings")
	}
	var cases []Case
	for i := range 100 {
		name := fmt.Sprintf("bytes/job/%d", i)
		rng := random(name)
		file, err := filepath.Rel(f.dir, records[rng.IntN(len(records))])
		if err != nil {
			panic(err)
		}
		cases = append(cases, Case{
			Name: name, Files: []string{"folds", "tuned"}, Args: args, Outs: []string{"tuned"},
			Harm:  change(file, func(text []byte) []byte { return damage(rng, text) }),
			Judge: sameFile("tuned/results.json", want),
		})
	}
	return cases
}
