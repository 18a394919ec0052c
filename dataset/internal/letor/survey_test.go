package letor

import (
	"io"
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
)

// visits counts the bytes that are read.
type visits struct {
	io.ReaderAt
	read int
}

func (v *visits) ReadAt(p []byte, at int64) (int, error) {
	n, err := v.ReaderAt.ReadAt(p, at)
	v.read += n
	return n, err
}

// survey surveys a text that is cut into chunks of so many bytes.
func survey(text string, chunk int64, opts dataset.Options) (shape stream.Shape, read int, err error) {
	v := &visits{ReaderAt: strings.NewReader(text)}
	opts.Workers = 1
	src, err := Stream(&input.Input{R: v, Size: int64(len(text)), Name: "f", Mem: memory.New("f", opts), Chunk: chunk}, opts)
	if err != nil {
		return shape, 0, err
	}
	shape, err = src.Survey(func([]stream.Run) error { return nil })
	return shape, v.read, err
}

// Claim: a survey reads a text once (and what reaches over the ends of chunks).
func TestSurveyReadsOnce(t *testing.T) {
	text := strings.Repeat("1 qid:1 1:0.5 2:0.25\n", 100_000)
	shape, read, err := survey(text, 1<<19, dataset.Options{})
	if err != nil || shape.Features != 2 {
		t.Fatalf("%+v %v", shape, err)
	}
	if read > len(text)*11/10 {
		t.Errorf("%d bytes are read of %d", read, len(text))
	}
}

// Claim: an index of a line that is none does not decide the number of columns: the survey itself
// refuses it, before room is made for as many.
func TestSurveyRefusesAnIndexOfNoLine(t *testing.T) {
	good := strings.Repeat("1 qid:1 1:0.5 2:0.25\n", 1000)
	for _, line := range []string{"1 qid:1 1:0.5 50000:x\n", "1 qid:1 3:1 50000:2 4:1\n"} {
		_, _, err := survey(good+line+good, 8192, dataset.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "f:1001: ") {
			t.Errorf("%q: the error is %v", line, err)
		}
	}
}
