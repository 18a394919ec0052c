package letor

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/datatest"
)

func TestWriteText(t *testing.T) {
	d := datatest.Split()
	for sparse, want := range map[bool]string{
		false: "# features: [\"bm25\",\"länge\"]\n1 qid:a 1:0.5 2:1 #docid = x\n2 qid:a 1:4 2:0 #docid = yz\n0 qid:käse 1:0 2:-3\n0.5 qid:b 1:1e-09 2:0\n",
		true:  "# features: [\"bm25\",\"länge\"]\n1 qid:a 1:0.5 2:1 #docid = x\n2 qid:a 1:4 #docid = yz\n0 qid:käse 2:-3\n0.5 qid:b 1:1e-09\n",
	} {
		var b bytes.Buffer
		if err := Write(&b, d, WriteOptions{Sparse: sparse}); err != nil || b.String() != want {
			t.Errorf("sparse %v: %v,\n%s\nwant\n%s", sparse, err, b.String(), want)
		}
	}
}

func TestWriteTextRefusesIdentifiersThatCannotBeRead(t *testing.T) {
	for want, ids := range map[string][2]string{
		`found the query id "a b", expected UTF-8 without blanks, control characters or #, to be written as LETOR text; tables and caches take blanks`:               {"a b", ""},
		`found the query id "a#b", expected UTF-8 without blanks, control characters or #, to be written as LETOR text; tables and caches take blanks`:               {"a#b", ""},
		`found the query id "", expected UTF-8 without blanks, control characters or #, to be written as LETOR text; tables and caches take blanks`:                  {"", ""},
		`found the query id "\xff", expected UTF-8 without blanks, control characters or #, to be written as LETOR text; tables and caches take blanks`:              {"\xff", ""},
		`found the document id "a\nb" of query "q", expected UTF-8 without blanks or control characters, to be written as LETOR text; tables and caches take blanks`: {"q", "a\nb"},
	} {
		var b dataset.Builder
		if err := b.Add(ids[0], []float64{1}, []float32{1}, []string{ids[1]}); err != nil {
			t.Fatal(err)
		}
		if err := Write(new(bytes.Buffer), b.Dataset(), WriteOptions{}); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

func TestWriteErrorsAreReported(t *testing.T) {
	full := fullDisk{errors.New("disk full")}
	if err := Write(full, datatest.Split(), WriteOptions{}); !errors.Is(err, full.err) {
		t.Errorf("WriteText: %v, want %v", err, full.err)
	}
	if err := WriteScores(full, []float64{1}); !errors.Is(err, full.err) {
		t.Errorf("WriteScores: %v, want %v", err, full.err)
	}
}

type fullDisk struct{ err error }

func (f fullDisk) Write([]byte) (int, error) { return 0, f.err }

// Weights have no place in LETOR text, and are not dropped without a word.
func TestWriteRefusesWeights(t *testing.T) {
	for _, w := range []struct{ queries, documents []float64 }{{[]float64{1, 2, 1}, nil}, {nil, []float64{1, 1, 1, 0}}} {
		d := datatest.Split()
		if err := d.Weigh(w.queries, w.documents); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := Write(&text, d, WriteOptions{}); err == nil || !strings.Contains(err.Error(), "found weights of queries or documents, expected none") || text.Len() > 0 {
			t.Errorf("error is %v, and %q was written", err, text.String())
		}
	}
}

// Claim: scores are written in order, a line each, whatever the number of cores that find their decimals; one that is
// not finite is told by its place, before anything is written.
func TestWriteScoresOnAllCores(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, n := range []int{0, 1, 1023, 1024, 1025, 8 * 1024, 100_000} {
		scores := make([]float64, n)
		var want strings.Builder
		for i := range scores {
			scores[i] = rng.NormFloat64()
			fmt.Fprintf(&want, "%v\n", scores[i])
		}
		for _, cores := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(cores)
			var got bytes.Buffer
			if err := WriteScores(&got, scores); err != nil || got.String() != want.String() {
				t.Errorf("%d scores on %d cores: other text, error %v", n, cores, err)
			}
			if n == 0 {
				continue
			}
			at := rng.IntN(n)
			broken := slices.Clone(scores)
			broken[at] = math.Inf(-1)
			got.Reset()
			err := WriteScores(&got, broken)
			if want := fmt.Sprintf("score -Inf of document %d, expected a finite number", at+1); err == nil || err.Error() != want || got.Len() > 0 {
				t.Errorf("error is %v after %d bytes, want %s", err, got.Len(), want)
			}
		}
	}
}
