package app

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

func writeCurveFile(t *testing.T, path string, validation ...float64) {
	t.Helper()
	var b strings.Builder
	for i, v := range validation {
		fmt.Fprintf(&b, `{"epoch":%d,"training_cost":%v,"validation":%v}`+"\n", i+1, 1/float64(i+1), v)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Claim: the band of three runs is the mean ± t·s/√3, with the quantile of Student's t for 2 degrees of freedom from a
// table, cut off at 0 and 1. A curve with values above 1 has no upper bound. A curve ends where the shortest run
// ends.
func TestCurveOfSeeds(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCurveFile(t, "s1.curve", 0.1, 0.4, 0.5)
	writeCurveFile(t, "s2.curve", 0.2, 0.5)
	writeCurveFile(t, "s3.curve", 0.3, 0.9, 0.8)
	code, out, errs := call("curve", "net=s*.curve", "one=s1.curve", "--out", "c.svg", "--format", "json")
	if code != exitDone || !strings.Contains(errs, "ends at epoch 2") {
		t.Fatalf("exits with %d and says %q", code, errs)
	}
	var curves []meanCurve
	decode(t, out, &curves)
	if len(curves) != 2 || curves[0].Runs != 3 || len(curves[0].Points) != 2 || len(curves[1].Points) != 3 || curves[1].Points[0].CI != nil {
		t.Fatalf("found %+v", curves)
	}
	writeCurveFile(t, "dcg1.curve", 0.2, 0.4)
	writeCurveFile(t, "dcg2.curve", 0.2, 0.5)
	writeCurveFile(t, "dcg3.curve", 0.2, 1.5)
	var unbounded []meanCurve
	decode(t, mustCall(t, "curve", "dcg=dcg*.curve", "--out", "c.svg", "--format", "json"), &unbounded)
	const t975 = 4.302653 // of 2 degrees of freedom
	for _, want := range []struct {
		p              meanPoint
		mean, sd, high float64
	}{
		{curves[0].Points[0], 0.2, 0.1, 1}, {curves[0].Points[1], 0.6, math.Sqrt(0.07), 1}, {unbounded[0].Points[1], 0.8, math.Sqrt(0.37), math.Inf(1)},
	} {
		p, half := want.p, t975*want.sd/math.Sqrt(3)
		if low, high := max(0, want.mean-half), min(want.high, want.mean+half); math.Abs(p.Mean-want.mean) > 1e-9 || math.Abs(p.CI[0]-low) > 1e-6 || math.Abs(p.CI[1]-high) > 1e-6 {
			t.Errorf("epoch %d: %v in %v, expected %v in [%v, %v]", p.Epoch, p.Mean, *p.CI, want.mean, low, high)
		}
	}
}

// Claim: the ending of --out sets the format, the bytes are the same each time, and --training plots the objective.
func TestCurveFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	writeCurveFile(t, "a.curve", 0.1, 0.4, 0.3)
	for name, begin := range map[string]string{"c.svg": "<svg", "c.pdf": "%PDF"} {
		text := mustCall(t, "curve", "a.curve", "--out", name)
		if !strings.Contains(text, "0.4000") {
			t.Errorf("prints %s", text)
		}
		first, _ := os.ReadFile(name)
		mustCall(t, "curve", "a.curve", "--out", name)
		again, _ := os.ReadFile(name)
		if !bytes.HasPrefix(first, []byte(begin)) || !bytes.Equal(first, again) {
			t.Errorf("%s begins with %.10q", name, first)
		}
	}
	mustCall(t, "curve", "a.curve", "--training", "--out", "t.svg")
	if text, _ := os.ReadFile("t.svg"); !strings.Contains(string(text), "training objective") {
		t.Error("--training has no label of the objective")
	}
	if err := os.WriteFile("b.curve", []byte(`{"epoch":1,"training_cost":1}`+"\n"+`{"epoch":1,"restart":1,"training_cost":1}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--out c.svg":                     "found no learning curve",
		"a.curve --out c.png":             "found the ending .png, expected .svg or .pdf",
		"a.curve --out a.curve":           "a.curve",
		"no.curve --out c.svg":            "no.curve",
		"x=no*.curve --out c.svg":         "found no file of this pattern",
		"x=a.curve x=a.curve --out c.svg": "found a.curve twice",
		"x=a.curve x=./a.* --out c.svg":   "found a.curve twice",
		"b.curve --out c.svg":             "no validation value",
		"b.curve --training --out c.svg":  "restarts",
		"c.svg --out d.svg":               "c.svg",
	} {
		code, out, errs := call(append([]string{"curve"}, strings.Fields(args)...)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, want) || goisms.MatchString(errs) {
			t.Errorf("curve %s exits with %d and says %q, expected %q", args, code, errs, want)
		}
	}
}
