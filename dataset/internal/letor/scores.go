package letor

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync/atomic"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/internal/decimal"
	"github.com/listwise/listwise/internal/parallel"
	"github.com/listwise/listwise/internal/suggest"
)

// ReadScores reads scores, one per line, from a stream with the encoding. A score is a finite decimal number,
// or -inf for a document that was not retrieved. want is the expected number of scores, or negative for any
// number. Blank lines are allowed only at the end. Errors contain the name of the file. Errors in the content
// are of type [*dataset.SyntaxError].
//
// It stops reading at the first excess score. Of the options, it uses Context and MaxBytes.
func ReadScores(r io.Reader, kind compress.Encoding, name string, want int, opts dataset.Options) ([]float64, error) {
	s := scoreReader{want: want, mem: memory.New(name, opts)}
	src := ingest.StreamText(
		func() (io.ReadCloser, error) { return compress.Reader(r, kind, s.mem.Limit()) },
		ingest.Cutting{Context: input.Context(opts), Mem: s.mem, Chunk: scoresChunk, Line: longestScore, Crew: 1},
	)
	var stop atomic.Int64
	stop.Store(math.MaxInt64)
	var err error
	src.Each(&stop, func(_ int, c ingest.Chunk) { // in order
		if err == nil {
			err = s.chunk(c)
		}
		if err != nil {
			stop.Store(-1)
		}
	})
	if err == nil {
		err = input.Context(opts).Err()
	}
	if err != nil {
		return nil, ingest.Locate(err, name, s.line)
	}
	if n := len(s.scores); want >= 0 && n != want {
		return nil, &dataset.SyntaxError{File: name, Found: fmt.Sprintf("%d scores", n), Expected: fmt.Sprintf("%d, one for each document", want)}
	}
	return s.scores, nil
}

// scoresChunk is smaller than a chunk of data, because a whole chunk is read before its first line is parsed.
const scoresChunk = 1 << 16

// longestScore is the largest accepted length of a line of scores. A line has one number.
const longestScore = 1 << 20

type scoreReader struct {
	want   int // negative: any number
	mem    *memory.Account
	scores []float64
	line   int // current line
	blank  int // first blank line, or 0
}

func (s *scoreReader) chunk(c ingest.Chunk) error {
	if err := s.grow(bytes.Count(c.Text[:c.Lines()], []byte("\n"))); err != nil {
		return err
	}
	good := goodLines(c.Text[:c.Lines()])
	for p := 0; p < good; {
		s.line++
		start := skipBlanks(c.Text, p)
		end := find(c.Text, start, '\n')
		p = end + 1
		if start == end {
			if s.blank == 0 {
				s.blank = s.line
			}
			continue
		}
		if s.blank > 0 {
			s.line = s.blank
			return &dataset.SyntaxError{Found: "a blank line", Expected: "a score"}
		}
		d, next := decimal.Scan(c.Text, start)
		v := d.Float64(c.Text[start:next])
		absent := bytes.EqualFold(bytes.TrimRight(c.Text[start:end], " \t\r"), []byte("-inf"))
		if absent {
			v, next = dataset.NotRetrieved, start+len("-inf")
		}
		if next == start || skipBlanks(c.Text, next) != end || math.IsInf(v, 0) && !absent {
			return &dataset.SyntaxError{Found: suggest.Quote(c.Text[start:end]), Expected: "a score, one finite decimal number" + likeness(c.Text[start:end])}
		}
		if len(s.scores) == s.want {
			return &dataset.SyntaxError{Found: "one more score, " + suggest.Quote(c.Text[start:end]), Expected: fmt.Sprintf("%d scores, one for each document", s.want)}
		}
		s.scores = append(s.scores, v)
	}
	if good < c.Lines() {
		s.line++
		return loneReturn()
	}
	if c.Err != nil {
		s.line++
	}
	return c.Err
}

// grow allocates memory for n more scores.
func (s *scoreReader) grow(n int) error {
	if n += len(s.scores); n <= cap(s.scores) {
		return nil
	}
	n = max(n, 2*len(s.scores))
	if err := s.mem.Take(8*int64(n), "scores"); err != nil {
		return err
	}
	s.mem.Give(8 * int64(cap(s.scores))) // the old array
	s.scores = append(make([]float64, 0, n), s.scores...)
	return nil
}

// WriteScores writes scores, one per line, as the shortest decimals from which [ReadScores] returns the same
// bits. The scores are in the order of the input's documents, see [dataset.Dataset.ToInputOrder]. If a score
// is not finite, WriteScores returns an error and writes nothing. It formats scores on all cores.
func WriteScores(w io.Writer, scores []float64) error {
	for i, s := range scores {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return fmt.Errorf("score %v of document %d, expected a finite number", s, i+1)
		}
	}
	const (
		part  = 1 << 10 // scores in a part, about 20 kB of text
		turns = 8       // parts per core between two writes
	)
	parts := (len(scores) + part - 1) / part
	workers := parallel.Workers(0, parts)
	texts := make([][]byte, min(parts, turns*workers))
	for first := 0; first < parts; first += len(texts) {
		n := min(len(texts), parts-first)
		parallel.For(n, workers, func(_, i int) {
			from := (first + i) * part
			texts[i] = appendScores(texts[i][:0], scores[from:min(from+part, len(scores))])
		})
		for _, text := range texts[:n] {
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}

func appendScores(text []byte, scores []float64) []byte {
	for _, s := range scores {
		text = append(strconv.AppendFloat(text, s, 'g', -1, 64), '\n')
	}
	return text
}
