package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset/shards"
)

// Claim: a query in two shards, of which a manifest made by hand is otherwise true, is found when all shards are read, and
// when the parts of an evaluation are put together.
func TestQueryInTwoShards(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	all := new(shards.Manifest)
	for _, f := range [][2]string{{"a.txt", "2 qid:e 1:2 2:0.5\n0 qid:e 1:4 2:6\n1 qid:f 1:1\n0 qid:f 2:3\n"}, {"b.txt", "1 qid:e 1:3 2:5\n0 qid:e 1:1 2:6\n"}} {
		file, text := at(f[0]), f[1]
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		mustCall(t, "data", "shard", "--parts", file, "--out", dir)
		m, err := shards.Load(at(shards.FileName))
		if err != nil {
			t.Fatal(err)
		}
		all.Features, all.Grades, all.Shards = m.Features, m.Grades, append(all.Shards, m.Shards...)
	}
	if err := errors.Join(all.Save(at(shards.FileName)), os.Mkdir(at("parts"), 0o777)); err != nil {
		t.Fatal(err)
	}
	mustCall(t, "train", "--no-record", "--method", "mle", "--train", at("a.txt"), "--model", at("m.json"))
	for _, shard := range []string{"0", "1"} {
		mustCall(t, "eval", "--data", dir, "--model", at("m.json"), "--shard", shard, "--part", at("parts/"+shard+".json"))
	}
	for _, args := range [][]string{{"eval", "--parts", at("parts")}, {"eval", "--no-record"}, {"score"}} {
		code, _, stderr := call(append(args, "--data", dir, "--model", at("m.json"))...)
		if code == 0 || !strings.Contains(stderr, `found query "e"`) {
			t.Errorf("%q: %d, %s", args, code, stderr)
		}
	}
}
