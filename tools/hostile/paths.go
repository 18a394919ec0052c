package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// writers are command lines with placeholders for paths. {in:FILE} is a file that the command
// reads, and {out:NAME} is a file that it writes.
var writers = []string{
	"train --method mle --train {in:data.txt} --valid {in:vali.txt} --model {out:m.json} --curve {out:c.jsonl} --checkpoint {out:k.ckpt} --no-record",
	"train --method ranknet --scorer net --set hidden=2 --set epochs=2 --train {in:data.txt} --valid {in:vali.txt} --model {out:m.json} --curve {out:c.jsonl} --checkpoint {out:k.ckpt}",
	"tune --method mle --grid C=1 --data {in:folds} --out {out:tunes} --no-record",
	"auto --trials 2 --data {in:folds} --out {out:autos}",
	"ablate --method mle --vary C=1,2 --seeds 1 --data {in:folds} --out {out:ablation} --no-record",
	"curve net={in:curve.jsonl} --out {out:c.svg}",
	"eval --data {in:data.txt} --model {in:linear.json} --per-query {out:q.csv} --no-record",
	"eval --data {in:data.txt} --scores {in:a.scores} --per-query {out:q.json}",
	"eval --data {in:data.txt} --scores {in:a.scores} --by kind={in:kinds.tsv} --per-query {out:q.json} --no-record",
	"score --data {in:data.txt} --model {in:linear.json} --out {out:o.scores}",
	"score --data {in:data.txt} --model {in:linear.json} --format run --out {out:o.run}",
	"fuse --data {in:a.qrels} --rule rrf --format run --out {out:f.run} {in:a.run} {in:b.run}",
	"data join {in:data.txt} --judgements {in:a.qrels} --out {out:o.txt}",
	"data log {in:answers.jsonl} --judgements {in:a.csv} --out {out:o.csv}",
	"report --data {in:data.txt} --out {out:r.html} --permutations 100 --resamples 100 --curve net={in:curve.jsonl} net={in:net.json} b={in:b.scores}",
	"explain --model {in:linear.json} --data {in:data.txt} --background {in:vali.txt} --resamples 100 --permutations 100 --svg {out:e.svg}",
	"fuse --data {in:data.txt} --valid {in:vali.txt} --out {out:f.scores} --model {out:f.json} {in:linear.json} {in:stumps.json}",
	"fuse --data {in:data.txt} --rule rrf --out {out:f.scores} {in:a.scores} {in:b.scores}",
	"import {in:lightgbm.txt} --model {out:m.json}",
	"import {in:xgboost.json} --model {out:m.json}",
	"export --model {in:mart.json} --to catboost --out {out:c.json}",
	"export --model {in:mart.json} --to lightgbm --out {out:l.txt}",
	"data convert {in:data.txt} --out {out:o.txt}",
	"data convert {in:data.lwd} --out {out:o.lwd}",
	"data convert {in:data.txt} {in:vali.txt} --out {out:o.txt.gz}",
	"data clean {in:data.txt} --out {out:o.txt}",
	"data report --data {in:data.txt} --against {in:vali.txt} --out {out:d.html}",
	"clicks report {in:pages.jsonl} --valid {in:pages.csv} --out {out:c.html}",
	"data normalize {in:data.txt} --out {out:o.txt}",
	"data fold {in:data.txt} --folds 3 --out {out:folded}",
	"data shard {in:data.txt} --shards 2 --out {out:sharded}",
	"eval --data {in:shards} --model {in:linear.json} --shard 1 --part {out:p.json} --no-record",
	"data fold --parts {in:data.txt} {in:vali.txt} {in:data.txt.gz} --out {out:folded}",
}

// aliases are different ways to name a file.
var aliases = []struct {
	name string
	make func(dir, target string) (string, error)
}{
	{"same", func(_, target string) (string, error) { return target, nil }},
	{"dot", func(_, target string) (string, error) { return "./" + target, nil }},
	{"up", func(dir, target string) (string, error) { return "../" + filepath.Base(dir) + "/" + target, nil }},
	{"absolute", func(dir, target string) (string, error) { return filepath.Join(dir, target), nil }},
	{"symbolic", func(dir, target string) (string, error) {
		return "alias" + filepath.Ext(target), os.Symlink(target, filepath.Join(dir, "alias"+filepath.Ext(target)))
	}},
	{"folder", func(dir, target string) (string, error) {
		return "here/" + target, os.Symlink(".", filepath.Join(dir, "here"))
	}},
	{"hard", func(dir, target string) (string, error) {
		path := "alias" + filepath.Ext(target)
		err := os.Link(filepath.Join(dir, target), filepath.Join(dir, path))
		if err != nil { // folders, and files that do not exist yet, cannot have a second name
			return "", errSkip
		}
		return path, nil
	}},
}

var errSkip = errors.New("there is no such name")

// place is a placeholder of a command line.
type place struct {
	at    int // the argument
	value string
	out   bool
}

// places returns the arguments with the names in place of the placeholders, and the placeholders.
func places(line string) ([]string, []place) {
	args := words(line)
	var list []place
	for i, a := range args {
		open := strings.IndexByte(a, '{')
		if open < 0 {
			continue
		}
		kind, value, _ := strings.Cut(a[open+1:len(a)-1], ":")
		list = append(list, place{i, value, kind == "out"})
		args[i] = a[:open] + value
	}
	return args, list
}

// pathCases make an output name an input, or two outputs name one file. They use every way to name
// a file.
func pathCases(*fixture) []Case {
	var cases []Case
	for _, line := range writers {
		args, list := places(line)
		files := []string{".listwise"}
		for _, p := range list {
			if !p.out {
				files = append(files, p.value)
			}
		}
		if !slices.Contains(args, "--no-record") {
			list = append(list, place{value: ".listwise/runs.db"})
		}
		for i, p := range list {
			for j, q := range list {
				if i == j || !p.out || q.out && j < i {
					continue
				}
				for _, alias := range aliases {
					name := fmt.Sprintf("paths/%s/%s-is-%s/%s", strings.Join(args[:2], " "), p.value, q.value, alias.name)
					if slices.ContainsFunc(cases, func(c Case) bool { return c.Name == name }) {
						name += "-again"
					}
					cases = append(cases, collision(name, files, args, list, p, q, alias.make))
				}
			}
		}
	}
	return cases
}

// collision returns a case in which the output p gets a name of q.
func collision(name string, files, args []string, list []place, p, q place, alias func(dir, target string) (string, error)) Case {
	outs := []string{".listwise"}
	for _, o := range list {
		if o.out {
			outs = append(outs, o.value)
		}
	}
	c := Case{Name: name, Files: files, Outs: outs}
	c.Run = func(b *box) (Verdict, string, *Result) {
		path, err := alias(b.dir, q.value)
		if errors.Is(err, errSkip) {
			return right, "", nil
		}
		if err != nil {
			return broken, err.Error(), nil
		}
		if b.before, err = snapshot(b.dir); err != nil {
			return broken, err.Error(), nil
		}
		if _, err := os.Lstat(filepath.Join(b.dir, q.value)); err != nil {
			b.c.Outs = append(b.c.Outs, path) // a name of an output that does not exist yet
		}
		own := slices.Clone(args)
		own[p.at] = strings.TrimSuffix(own[p.at], p.value) + path
		r := b.run(own...)
		v, why := b.judge(r)
		if v == right {
			v, why = silent, fmt.Sprintf("%s was taken for %s and for %s", path, args[max(0, p.at-1)], args[max(0, q.at-1)])
		}
		return v, why, r
	}
	return c
}
