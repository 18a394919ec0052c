package app

import (
	"math"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
)

// Claim: the points of a curve are what train --sample and eval say of the same samples and data, and
// the gain is their difference.
func TestDataCurveIsTrainingOnSamples(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--shape", "mq2008", "--queries", "60", "--docs", "8", "--features", "5", "--out", "all.txt")
	mustCall(t, "data", "synth", "--shape", "mq2008", "--queries", "40", "--docs", "8", "--features", "5", "--seed", "2", "--out", "test.txt")
	var curve []curvePoint
	decode(t, mustCall(t, "data", "curve", "--method", "ranknet", "--train", "all.txt", "--test", "test.txt", "--shares", "0.3,1", "--repeats", "1", "--judge-by", "map", "--format", "json"), &curve)
	if len(curve) != 2 {
		t.Fatalf("%d points, want 2", len(curve))
	}
	for i, share := range []string{"0.3", "1"} {
		mustCall(t, "train", "--no-record", "--method", "ranknet", "--train", "all.txt", "--sample", share, "--model", "m.json")
		var of struct{ Measures map[string]float64 }
		decode(t, mustCall(t, "eval", "--no-record", "--model", "m.json", "--data", "test.txt", "--measures", "map", "--format", "json"), &of)
		if got, want := curve[i].Mean, of.Measures["map"]; math.Abs(got-want) > 1e-12 {
			t.Errorf("share %s: MAP %v, want %v", share, got, want)
		}
	}
	if gain := curve[1].Mean - curve[0].Mean; math.Abs(*curve[1].Gain-gain) > 1e-12 || !(curve[1].Interval[0] <= gain && gain <= curve[1].Interval[1]) {
		t.Errorf("gain %v of %v, want %v within", *curve[1].Gain, *curve[1].Interval, gain)
	}
}

// Claim: several samples of a size are those of several seeds, and their mean and spread are told.
func TestDataCurveRepeats(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--shape", "mq2008", "--queries", "50", "--docs", "8", "--features", "5", "--out", "all.txt")
	var curve []curvePoint
	args := []string{"data", "curve", "--method", "regression", "--train", "all.txt", "--test", "all.txt", "--shares", "0.2,0.5", "--repeats", "3"}
	decode(t, mustCall(t, append(args, "--format", "json")...), &curve)
	d, err := datafile.Open("all.txt", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, share := range []float64{0.2, 0.5} {
		queries := 0
		for seed := range uint64(3) {
			queries += len(d.Filter(func(q *dataset.Query) bool { return dataset.SampleQueries(share, seed)(q.ID) }).Queries)
		}
		if c := curve[i]; math.Abs(c.Queries-float64(queries)/3) > 1e-9 || c.Repeats != 3 || c.Spread == nil || !(*c.Spread > 0) {
			t.Errorf("share %v: %+v, want %v queries", share, c, float64(queries)/3)
		}
	}
	if text := mustCall(t, args...); !strings.Contains(text, "means of 3 samples") || !strings.Contains(text, "training queries, ndcg@10") {
		t.Errorf("prints %s", text)
	}
}

// Claim: of data that are a sample already, by the seed that `--sample` has, a share is one of theirs.
func TestDataCurveOfASample(t *testing.T) {
	t.Chdir(t.TempDir())
	mustCall(t, "data", "synth", "--shape", "mq2008", "--queries", "1500", "--docs", "8", "--features", "3", "--out", "all.lwd")
	mustCall(t, "data", "convert", "all.lwd", "--sample", "0.3", "--out", "some.lwd")
	for data, want := range map[string]float64{"all.lwd": 1500, "some.lwd": 0.3 * 1500} {
		var curve []curvePoint
		decode(t, mustCall(t, "data", "curve", "--method", "regression", "--train", data, "--test", "all.lwd", "--shares", "0.2,1", "--repeats", "3", "--format", "json"), &curve)
		if got := curve[0].Queries; math.Abs(got-0.2*want) > 0.05*want {
			t.Errorf("%s: a fifth of about %v queries are %v", data, want, got)
		}
	}
}
