package parquet

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset/internal/table"
)

// Scores writes a table of scored documents. It has the columns query and document (text), rank (32-bit
// integer) and score (double), compressed by zstandard.
type Scores struct {
	sheet     *sheet
	queries   []uint32 // indices in the dictionary
	documents []byte   // plain texts
	ranks     []byte
	scores    []float64
	rows      int // rows of the row group that are in pages
}

// scorePage and scoreGroup are the numbers of documents in a page and in a row group. Both have fewer if
// identifiers are long.
const (
	scorePage       = 1 << 14
	scoreGroup      = 1 << 20
	scoreGroupBytes = 8 << 20 // of pages in memory
)

// NewScores returns a writer of a table to w.
func NewScores(w io.Writer) *Scores {
	return &Scores{sheet: newSheet(w, format.Zstd, []*sheetColumn{
		{name: "query", kind: format.ByteArray, dictionary: true},
		{name: "document", kind: format.ByteArray},
		{name: "rank", kind: format.Int32},
		{name: "score", kind: format.Double},
	})}
}

// Document writes a document. It returns an error if an identifier is invalid.
func (s *Scores) Document(query, document string, rank int, score float64) error {
	if err := table.CheckIDs(query, document); err != nil {
		return err
	}
	s.queries = append(s.queries, s.sheet.columns[0].place(query))
	s.documents = appendText(s.documents, document)
	s.ranks = binary.LittleEndian.AppendUint32(s.ranks, uint32(rank))
	s.scores = append(s.scores, score)
	if len(s.scores) < scorePage && len(s.documents) < idBytes/2 {
		return nil
	}
	return s.flush()
}

// flush writes the collected documents to pages. It ends the row group if this is complete.
func (s *Scores) flush() error {
	if len(s.scores) == 0 {
		return nil
	}
	err := s.sheet.each(func(k int, v *pageValues) {
		*v = pageValues{rows: len(s.scores)}
		switch k {
		case 0:
			v.places = s.queries
		case 1:
			v.plain = s.documents
		case 2:
			v.plain = s.ranks
		default:
			v.plain = appendDoubles(nil, s.scores)
		}
	})
	if err != nil {
		return err
	}
	s.rows += len(s.scores)
	s.queries, s.documents, s.ranks, s.scores = s.queries[:0], s.documents[:0], s.ranks[:0], s.scores[:0]
	if s.rows < scoreGroup && s.sheet.held < scoreGroupBytes && len(s.sheet.columns[0].texts) < dictionaryBytes {
		return nil
	}
	s.rows = 0
	return s.sheet.endGroup()
}

// Close completes the file. It does not close the underlying writer.
func (s *Scores) Close() error { return errors.Join(s.flush(), s.sheet.close()) }
