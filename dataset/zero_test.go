package dataset_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datafile"
	"github.com/listwise/listwise/dataset/internal/letor"
	"github.com/listwise/listwise/dataset/synth"
)

// Claim: zero options read and write complete data; the zero Missing refuses what is missing
// and says which rules there are.
func TestZeroOptions(t *testing.T) {
	d, err := datafile.Read(strings.NewReader("1 qid:1 1:0.5 2:0\n0 qid:1 1:2\n"), "f", dataset.Options{})
	if err != nil || d.Features != 2 || d.Docs() != 2 {
		t.Fatalf("%+v, %v", d, err)
	}
	var out bytes.Buffer
	if err := letor.Write(&out, d, letor.WriteOptions{}); err != nil || out.String() != "1 qid:1 1:0.5 2:0\n0 qid:1 1:2 2:0\n" {
		t.Errorf("zero options write %q, %v", out.String(), err)
	}
	if _, err := datafile.Read(strings.NewReader("1 qid:1 1:nan\n"), "f", dataset.Options{}); err == nil {
		t.Error("a missing value was read")
	}
	if got := dataset.Normalize(d, dataset.Normalization(0)).X()[0]; got != 0.5 {
		t.Errorf("the zero Normalization makes %v of 0.5", got)
	}
}

// Claim: a data set without queries can be asked anything.
func TestZeroDataset(t *testing.T) {
	for name, d := range map[string]*dataset.Dataset{
		"zero value": new(dataset.Dataset), "builder": new(dataset.Builder).Dataset(), "blocks": dataset.FromBlocks(dataset.Blocks{}),
	} {
		if d.Docs() != 0 || len(d.X()) != 0 || len(d.Grades()) != 0 || d.Missing() != 0 || d.HighestGrade() != 0 || d.Fingerprint() == "" {
			t.Errorf("%s: %d documents, highest grade %v, fingerprint %q", name, d.Docs(), d.HighestGrade(), d.Fingerprint())
		}
		if c := dataset.Normalize(d.Subset(nil), dataset.ZScore); c.Docs() != 0 || dataset.Describe(d, 1).Documents != 0 || d.QuerySet() == nil {
			t.Errorf("%s: %+v", name, dataset.Describe(d, 1))
		}
		if err := d.Changed(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Claim: descriptions of generated data that are not complete say what they lack.
func TestZeroDescriptions(t *testing.T) {
	for name, generate := range map[string]func() (*dataset.Dataset, error){
		"shape":  func() (*dataset.Dataset, error) { return synth.Shapes()[0].Generate(synth.Options{}) },
		"cubic":  func() (*dataset.Dataset, error) { return synth.Cubic{}.Generate() },
		"square": func() (*dataset.Dataset, error) { return synth.Square{}.Generate() },
	} {
		if _, err := generate(); err == nil || !strings.Contains(err.Error(), "0 queries: expected 1 or more") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
