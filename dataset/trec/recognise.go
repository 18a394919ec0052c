package trec

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/listwise/listwise/dataset/compress"
	"github.com/listwise/listwise/dataset/internal/pairs"
)

// HeadSize returns the number of bytes at the beginning of a file that suffice to recognise its content. start
// has the first [compress.HeadSize] bytes. A compressed file needs more bytes, because its first block must be
// complete.
func HeadSize(start []byte) int {
	if compress.Detect(start, "") == compress.Plain {
		return 1 << 12
	}
	return 192 << 10
}

// IsRun reports whether a file, plain or compressed, begins like a run. The first line then has at least five
// fields, of which the fourth or the fifth is a number. Or it has three fields, of which the third is a whole
// number. The file may have errors.
func IsRun(head []byte) bool {
	fields := cut(firstLine(head), 6, 5, 4, 3)
	switch {
	case len(fields) == 3:
		return whole(fields[2])
	case len(fields) < 5:
		return false
	}
	_, scored := pairs.Decimal(fields[4])
	return scored || whole(fields[3])
}

// IsQrels reports whether a file, plain or compressed, begins like judgements. The first line then has four
// fields, of which the second or the fourth is a number, or it is a header ([HasHeader]). The file may have
// errors.
func IsQrels(head []byte) bool {
	line := firstLine(head)
	fields := cut(line, 4)
	if len(fields) != 4 {
		return isHeader(cut(line, 3))
	}
	_, graded := pairs.Decimal(fields[3])
	return graded || whole(fields[1])
}

// IsFiveFields reports whether the beginning of a file looks like judgements with a fifth field, rather than a
// run without tags. [ReadQrels] refuses such judgements.
func IsFiveFields(head []byte) bool {
	fields := cut(firstLine(head), 5)
	if len(fields) != 5 || !whole(fields[3]) || bytes.EqualFold(fields[1], []byte("Q0")) {
		return false
	}
	_, scored := pairs.Decimal(fields[4])
	return !scored
}

// HasHeader reports whether a file begins like the judgements of BEIR and MTEB, with the names of three
// columns: query, document and grade.
func HasHeader(head []byte) bool { return isHeader(cut(firstLine(head), 3)) }

// headers are the names that the three columns of judgements may have, in lower case and without hyphens and
// underscores.
var headers = [3][]string{
	{"queryid", "qid", "query"},
	{"corpusid", "docid", "docno", "pid", "passageid", "documentid", "doc", "document"},
	{"score", "grade", "label", "rel", "relevance", "judgement", "judgment"},
}

func isHeader(fields [][]byte) bool {
	if len(fields) != len(headers) {
		return false
	}
	for i, names := range headers {
		if !slices.Contains(names, strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(string(fields[i])))) {
			return false
		}
	}
	return true
}

// cut divides a line into fields. widths are the possible numbers of fields, see [cutter.cut].
func cut(line []byte, widths ...int) [][]byte { return (&cutter{widths: widths}).cut(line) }

// firstLine returns the first line that is not blank. It returns nil for LETOR text, because a comment in it
// can look like a grade.
func firstLine(head []byte) []byte {
	if kind := compress.Detect(head, ""); kind != compress.Plain {
		text, err := compress.Reader(bytes.NewReader(head), kind, math.MaxInt64)
		if err != nil {
			return nil
		}
		defer text.Close() //nolint:errcheck // only read
		begun := make([]byte, 1<<12)
		n, _ := io.ReadFull(text, begun) // head may end within the data, which is no error
		head = begun[:n]
	}
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	for line := range bytes.Lines(head) {
		words := bytes.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[0][0] == '#' || len(words) > 1 && bytes.HasPrefix(words[1], []byte("qid:")):
			return nil
		}
		return line
	}
	return nil
}
