package job_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/beam/job"
)

// TestNamesOfShards: convert gives the manifest the names of features, in the order of the first shard, so that each of the
// new shards alone is scored as among all.
func TestNamesOfShards(t *testing.T) {
	dir := prepare(t)
	named, model := filepath.Join(dir, "named"), filepath.Join(dir, "places.json")
	var files []string
	for name, text := range map[string]string{
		"first.csv":  "query,grade,bm25,age\na,2,3.5,0.25\na,0,1,4\n",
		"second.csv": "query,grade,age,bm25\nb,1,0.5,1.5\nb,0,3,6\n",
	} {
		files = append(files, filepath.Join(named, name))
		if err := errors.Join(os.MkdirAll(named, 0o777), os.WriteFile(filepath.Join(named, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	listwise(t, append([]string{"data", "shard", "--out", named, "--parts"}, files...)...)
	places := filepath.Join(dir, "places.txt")
	if err := os.WriteFile(places, []byte("2 qid:e 1:2 2:0.5\n0 qid:e 1:4 2:6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	listwise(t, "train", "--no-record", "--method", "mle", "--train", places, "--model", model)
	if err := run(t, job.Job{Command: "convert", Data: named, As: ".parquet", Out: filepath.Join(dir, "n")}); err != nil {
		t.Fatal(err)
	}
	score := func(more ...string) []byte {
		return listwise(t, append([]string{"score", "--data", filepath.Join(dir, "n"), "--model", model}, more...)...)
	}
	sameBytes(t, "shard by shard", append(score("--shard", "0"), score("--shard", "1")...), score())
}

// TestWidthOfShards: convert gives every shard the features that all have, also where those of its own are fewer, so that
// what it writes is the data set.
func TestWidthOfShards(t *testing.T) {
	dir := t.TempDir()
	data, out := filepath.Join(dir, "d"), filepath.Join(dir, "o")
	texts := map[string]string{"a.txt": "0 qid:1 1:1 2:2\n1 qid:1 1:3\n", "b.txt": "1 qid:2 1:1 3:5\n0 qid:2 2:7\n"}
	for name, text := range texts {
		if err := errors.Join(os.MkdirAll(data, 0o777), os.WriteFile(filepath.Join(data, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	listwise(t, "data", "shard", "--out", data, "--parts", filepath.Join(data, "a.txt"), filepath.Join(data, "b.txt"))
	listwise(t, "data", "convert", data, "--out", filepath.Join(dir, "want.csv"))
	for _, ending := range []string{".parquet", ".lwd", ".csv", ".txt"} {
		if err := run(t, job.Job{Command: "convert", Data: data, As: ending, Out: out}); err != nil {
			t.Fatal(err)
		}
		listwise(t, "data", "convert", out, "--out", filepath.Join(dir, "got.csv"))
		sameBytes(t, ending, read(t, filepath.Join(dir, "got.csv")), read(t, filepath.Join(dir, "want.csv")))
		if parts, err := filepath.Glob(filepath.Join(out, "part-*")); err != nil || len(parts) != 2 {
			t.Errorf("found %q, expected 2 parts and none of the format before", parts)
		}
	}
	if err := run(t, job.Job{Command: "convert", Data: data, As: ".csv", Out: dir + "/./d"}); err == nil || !strings.Contains(err.Error(), "are one folder") {
		t.Errorf("%v, want an error about the folder of the data", err)
	}
}

// TestFewerParts: what a job leaves are its own parts, also where one before it had more.
func TestFewerParts(t *testing.T) {
	dir := prepare(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	listwise(t, "data", "shard", at("test.txt"), "--shards", "3", "--out", at("three"))
	if err := errors.Join(os.MkdirAll(at("out"), 0o777), os.WriteFile(at("out/part-00020.scores"), []byte("mine\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for i, data := range []string{"test", "three"} {
		if err := run(t, job.Job{Command: "score", Data: at(data), Model: at("m.json"), Out: at("out")}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(at("out/part-00020.scores")); (err == nil) != (i == 0) {
			t.Errorf("a file in a folder without results before job %d: %v", i, err)
		}
	}
	parts, err := filepath.Glob(at("out/part-*"))
	if err != nil || len(parts) != 3 {
		t.Fatalf("found %q, expected 3 parts", parts)
	}
	var all []byte
	for _, p := range parts {
		all = append(all, read(t, p)...)
	}
	sameBytes(t, "cat part-*", all, read(t, at("want.scores")))
}

// TestInputsStay: a job whose output folder has a file that it reads, or a link to one, is refused, and nothing is changed.
func TestInputsStay(t *testing.T) {
	dir := prepare(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	below := at("test/below")
	if err := os.Mkdir(below, 0o777); err != nil {
		t.Fatal(err)
	}
	var files []string
	for i := range 3 {
		name := fmt.Sprintf("part-%05d.txt", i)
		files = append(files, filepath.Join(below, name))
		if err := os.Rename(at("test/"+name), files[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(at("test/shards.json")); err != nil {
		t.Fatal(err)
	}
	listwise(t, append([]string{"data", "shard", "--out", at("test"), "--parts"}, files...)...)
	if err := errors.Join(os.Mkdir(at("links"), 0o777), os.Symlink(files[1], at("links/part-00001.txt")), os.Mkdir(at("model"), 0o777), os.Rename(at("m.json"), at("model/eval.json"))); err != nil {
		t.Fatal(err)
	}
	var before [][]byte
	for _, f := range files {
		before = append(before, read(t, f))
	}
	model := at("model/eval.json")
	for out, j := range map[string]job.Job{
		"test/below": {Command: "convert", As: ".txt", Args: []string{"--sparse"}},
		"links":      {Command: "convert", As: ".txt", Args: []string{"--sparse"}},
		"model":      {Command: "eval", Model: model},
	} {
		j.Data, j.Out = at("test"), at(out)
		if err := run(t, j); err == nil || !strings.Contains(err.Error(), "expected another folder for the results") {
			t.Errorf("--out %s: %v, want an error about what is read", out, err)
		}
	}
	for i, f := range files {
		sameBytes(t, f, read(t, f), before[i])
	}
	for want, j := range map[string]job.Job{
		"found --shard behind --":    {Command: "convert", As: ".txt", Args: []string{"--shard=1"}},
		`found the ending "parquet"`: {Command: "convert", As: "parquet"},
		`found the ending ".lwd.gz"`: {Command: "convert", As: ".lwd.gz"},
		"found --format behind --":   {Command: "eval", Model: model, Args: []string{"--format", "csv"}},
	} {
		j.Data, j.Out = at("test"), at("none")
		if err := run(t, j); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}
