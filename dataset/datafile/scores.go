package datafile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/letor"
	"github.com/listwise/listwise/dataset/trec"
)

// ReadScores reads the scores of documents in their order, one per line. A score is a finite decimal number,
// or -inf for a document that was not retrieved. want is the expected number of scores, or negative for any
// number. Blank lines are allowed only at the end. The file may be compressed in the same ways as a data set.
// "-" is the standard input. Errors in the content are of type [*dataset.SyntaxError].
//
// The file is read once, and not beyond the first excess score. Of the options, ReadScores uses Context and
// MaxBytes.
func ReadScores(path string, want int, opts dataset.Options) ([]float64, error) {
	var scores []float64
	err := openScores(path, opts, func(r io.Reader, name string) (err error) {
		scores, err = readScores(r, name, want, opts)
		return err
	})
	return scores, err
}

// Ranking is the content of a file of scores, or a run.
type Ranking struct {
	Scores []float64 // in the order of the data; nil for a run
	Run    *trec.Run // nil for a file of scores
}

// ReadRanking reads a file of scores, as [ReadScores] does, or a TREC run, which it recognises by the content.
// Of the options, it also uses Ascending and DropSelf.
func ReadRanking(path string, want int, opts dataset.Options) (Ranking, error) {
	var f Ranking
	err := openScores(path, opts, func(r io.Reader, name string) (err error) {
		b := bufio.NewReaderSize(r, 1<<18)
		head, err := peek(b, name)
		if err != nil {
			return err
		}
		if !trec.IsRun(head) {
			f.Scores, err = readScores(b, name, want, opts)
			for i := range f.Scores {
				if opts.Ascending && f.Scores[i] != dataset.NotRetrieved {
					f.Scores[i] = -f.Scores[i]
				}
			}
			return err
		}
		f.Run, err = trec.ReadRun(b, name, opts)
		return err
	})
	return f, err
}

// peek returns enough of the beginning of a stream to distinguish a run from scores.
func peek(b *bufio.Reader, name string) ([]byte, error) {
	start, err := b.Peek(compress.HeadSize)
	if err == nil {
		start, err = b.Peek(trec.HeadSize(start))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return start, nil
}

// Of returns the scores of d's documents, one per row. Places are nil unless f is a run. A file of scores must
// have a score for each document. A run must have at least one document of d, see trec.Run.Join.
func (f Ranking) Of(d *dataset.Dataset) (*trec.Joined, error) {
	if f.Run != nil {
		return f.Run.Join(d)
	}
	if len(f.Scores) != d.Docs() {
		return nil, fmt.Errorf("found %d scores, expected %d, one for each document", len(f.Scores), d.Docs())
	}
	scores := make([]float64, d.Docs())
	d.FromInputOrder(scores, f.Scores)
	return &trec.Joined{Scores: scores}, nil
}

// MemoryBytes returns the approximate memory of the ranking in bytes.
func (f Ranking) MemoryBytes() int64 {
	if f.Run != nil {
		return f.Run.MemoryBytes()
	}
	return 8 * int64(cap(f.Scores))
}

// openScores opens a file of scores for use; "-" is the standard input.
func openScores(path string, opts dataset.Options, use func(r io.Reader, name string) error) error {
	if path == "-" {
		return use(os.Stdin, "standard input")
	}
	f, err := input.Await(input.Context(opts), func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil {
		return err
	} else if info.IsDir() {
		return &dataset.SyntaxError{File: path, Found: "a directory", Expected: "a file"}
	}
	return use(f, path)
}

// readScores reads scores from a stream.
func readScores(r io.Reader, name string, want int, opts dataset.Options) ([]float64, error) {
	return input.Await(input.Context(opts), func() ([]float64, error) {
		b := bufio.NewReaderSize(r, 1<<16)
		head, err := b.Peek(magicSize)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if byMagic(head) != nil {
			return nil, &dataset.SyntaxError{File: name, Found: "a binary data set", Expected: "one score a line"}
		}
		return letor.ReadScores(b, compress.Detect(head, name), name, want, opts)
	})
}
