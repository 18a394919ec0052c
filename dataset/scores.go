package dataset

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"sync/atomic"
)

// ReadScores reads a file of one finite decimal number a line, the scores of the
// documents of a file in their order; want is how many there should be, or
// negative if any number will do. Blank lines may stand only at the end. The file
// may be compressed as a data set's; "-" is the standard input. Errors in the
// content are of type [*SyntaxError].
func ReadScores(path string, want int) ([]float64, error) {
	var scores []float64
	err := withInput(path, Options{}, func(in *input) (err error) {
		scores, err = readScores(in, want)
		return err
	})
	return scores, err
}

func readScores(in *input, want int) ([]float64, error) {
	kind, err := in.sniff()
	if err != nil {
		return nil, err
	}
	if kind == binaryCache {
		return nil, &SyntaxError{File: in.name, Found: "a binary data set", Expected: "one score a line"}
	}
	var s scoreReader
	var stop atomic.Int64
	stop.Store(math.MaxInt64)
	in.text(kind, Options{Workers: 1}).each(&stop, func(_ int, c chunk) { // in order
		if err == nil {
			err = s.chunk(c)
		}
		if err != nil {
			stop.Store(0)
		}
	})
	if err != nil {
		return nil, locate(err, in.name, s.line)
	}
	if n := len(s.scores); want >= 0 && n != want {
		return nil, &SyntaxError{File: in.name, Found: fmt.Sprintf("%d scores", n), Expected: fmt.Sprintf("%d, one for each document", want)}
	}
	return s.scores, nil
}

type scoreReader struct {
	scores []float64
	line   int // the current one
	blank  int // the first that is blank, or 0
}

func (s *scoreReader) chunk(c chunk) error {
	for p := 0; p < c.lines(); {
		s.line++
		start := skipBlanks(c.text, p)
		end := find(c.text, start, '\n')
		p = end + 1
		if start == end {
			if s.blank == 0 {
				s.blank = s.line
			}
			continue
		}
		if s.blank > 0 {
			s.line = s.blank
			return &SyntaxError{Found: "a blank line", Expected: "a score"}
		}
		d, next := scanDecimal(c.text, start)
		v := d.float64(c.text[start:next])
		if next == start || skipBlanks(c.text, next) != end || math.IsInf(v, 0) {
			return &SyntaxError{Found: quote(c.text[start:end]), Expected: "a score, one finite decimal number"}
		}
		s.scores = append(s.scores, v)
	}
	if c.err != nil {
		s.line++
	}
	return c.err
}

// WriteScores writes one number a line: the shortest decimal from which
// [ReadScores] gets the same bits. The scores stand in the order of the input's
// documents, see [Dataset.ToInputOrder]; one that is not finite is an error.
func WriteScores(w io.Writer, scores []float64) error {
	buf := make([]byte, 0, 1<<12)
	for i, s := range scores {
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return fmt.Errorf("score %v of document %d, expected a finite number", s, i+1)
		}
		buf = append(strconv.AppendFloat(buf, s, 'g', -1, 64), '\n')
		if len(buf) > cap(buf)-64 || i == len(scores)-1 {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	return nil
}
