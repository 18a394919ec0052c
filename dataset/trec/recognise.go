package trec

import (
	"bytes"
	"io"
	"math"

	"github.com/listwise/listwise/internal/compress"
)

// HeadSize returns the number of bytes at the beginning of a file by which its content is
// recognised, given its first [compress.HeadSize]: more of a compressed one, whose first
// block must be complete.
func HeadSize(start []byte) int {
	if compress.Detect(start, "") == compress.Plain {
		return 1 << 12
	}
	return 192 << 10
}

// IsRun reports whether the beginning of a file, which may be compressed, looks like that of
// a run: a line of five fields or more, the fourth or the fifth of them a number. It need
// not be free of errors.
func IsRun(head []byte) bool {
	fields := firstFields(head)
	if len(fields) < 5 || isLETOR(fields) {
		return false
	}
	_, scored := decimal(fields[4])
	return scored || whole(fields[3])
}

// IsQrels reports whether the beginning of a file, which may be compressed, looks like that
// of judgements: a line of four fields, the second or the fourth of them a number. It need
// not be free of errors.
func IsQrels(head []byte) bool {
	fields := firstFields(head)
	if len(fields) != 4 || isLETOR(fields) {
		return false
	}
	_, graded := decimal(fields[3])
	return graded || whole(fields[1])
}

// isLETOR reports whether fields are those of a line of LETOR text, whose comment can look
// like a grade.
func isLETOR(fields [][]byte) bool { return bytes.HasPrefix(fields[1], []byte("qid:")) }

// firstFields returns the fields of the first line that is not blank, none if that is a
// comment of LETOR text.
func firstFields(head []byte) [][]byte {
	if kind := compress.Detect(head, ""); kind != compress.Plain {
		text, err := compress.Reader(bytes.NewReader(head), kind, math.MaxInt64)
		if err != nil {
			return nil
		}
		defer text.Close() //nolint:errcheck // only read
		begun := make([]byte, 1<<12)
		n, _ := io.ReadFull(text, begun) // what is cut off is no error here
		head = begun[:n]
	}
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	var fields [most][]byte
	for line := range bytes.Lines(head) {
		if n := split(line, &fields); n > 0 && fields[0][0] == '#' {
			return nil
		} else if n > 0 {
			return fields[:n]
		}
	}
	return nil
}
