package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/table"
	"github.com/listwise/listwise/dataset/memory"
	"github.com/listwise/listwise/dataset/stream"
)

// A written file has the columns query (text), grade (double) and one for each feature (float, null for
// missing values). It has the column doc (text) if documents have identifiers. It has the columns query_weight
// and document_weight (double) if there are weights. Pages are compressed by zstandard.

// groupBytes is the approximate memory of the features of a row group. pageBytes is that of a page of every
// column.
const (
	groupBytes = 64 << 20
	pageBytes  = 4 << 20
)

// A row group also ends when its query identifiers take dictionaryBytes. A page also ends when its identifiers
// take idBytes.
const (
	dictionaryBytes = 4 << 20
	idBytes         = 2 << 20
)

// columnBytes is the memory that the writer keeps for a column. chunkBytes is the memory that it keeps for
// each column of each row group until the end of the file.
const (
	columnBytes = 1500
	chunkBytes  = 640
)

// The pages of a row group may take 1/pagesShare of the memory limit. Further pages are in a temporary file.
const pagesShare = 8

// NewWriter returns a writer of a Parquet file. [Read] reads these files.
func NewWriter(w io.Writer, c stream.Contents) (stream.Writer, error) {
	return newWriter(w, c, format.Zstd)
}

func newWriter(w io.Writer, c stream.Contents, codec format.CompressionCodec) (*writer, error) {
	names, err := table.ColumnNames(c)
	if err != nil {
		return nil, err
	}
	z := &writer{query: 1, document: 1, features: c.Features}
	columns := []*sheetColumn{{name: "query", kind: format.ByteArray, dictionary: true}}
	add := func(wanted bool, column *sheetColumn, fill func(v *pageValues)) {
		if wanted {
			columns, z.fills = append(columns, column), append(z.fills, fill)
		}
	}
	z.fills = append(z.fills, func(v *pageValues) { v.places = z.queries })
	add(true, &sheetColumn{name: "grade", kind: format.Double}, func(v *pageValues) { v.plain = appendDoubles(v.plain, z.grades) })
	add(c.DocIDs, &sheetColumn{name: "doc", kind: format.ByteArray, nullable: true}, z.fillDocs)
	add(c.Weighted, &sheetColumn{name: "query_weight", kind: format.Double}, func(v *pageValues) { v.plain = appendDoubles(v.plain, z.queryWeights) })
	add(c.Weighted, &sheetColumn{name: "document_weight", kind: format.Double}, func(v *pageValues) { v.plain = appendDoubles(v.plain, z.docWeights) })
	for _, name := range names {
		columns = append(columns, &sheetColumn{name: name, kind: format.Float, nullable: true})
	}
	z.page = max(1<<5, min(1<<16, pageBytes/(4*c.Features+64)))
	z.group = max(z.page, groupBytes/(4*c.Features+64))
	if err := z.checkColumns(c, columns); err != nil {
		return nil, err
	}
	z.sheet = newSheet(w, codec, columns)
	if c.MaxBytes > 0 {
		z.sheet.most = c.MaxBytes / pagesShare
	}
	return z, nil
}

// checkColumns returns an error if the metadata of the columns exceed the memory limit.
func (z *writer) checkColumns(c stream.Contents, columns []*sheetColumn) error {
	held, names := columnBytes+chunkBytes*int64((c.Docs+z.group-1)/z.group), 0
	for _, column := range columns {
		names += len(column.name)
	}
	const written = 4 // number of times that the writer stores a column's name
	need := held*int64(len(columns)) + int64(names)*written
	if c.MaxBytes == 0 || need <= max(c.MaxBytes, 1<<20) {
		return nil
	}
	return &dataset.SyntaxError{
		File: "Parquet", Found: fmt.Sprintf("%d columns, of which writing holds some %s", len(columns), memory.Bytes(float64(need))),
		Expected: "at most " + memory.Bytes(float64(c.MaxBytes)) + ", or raise the limit", Err: dataset.ErrTooLarge,
	}
}

// writer collects documents and writes them a page at a time.
type writer struct {
	sheet    *sheet
	fills    []func(v *pageValues) // set the values of the columns before the features
	features int

	queries                  []uint32 // indices in the dictionary
	grades                   []float64
	ids                      []string
	queryWeights, docWeights []float64
	x                        []float32
	idBytes                  int // length of ids and of the query identifiers that are new in the dictionary

	query, document float64 // weights of the next document's query and of the document
	page            int     // number of rows in a page
	rows, group     int     // number of rows in the current row group, and in a complete one
}

// Weigh implements stream.WeightWriter.
func (z *writer) Weigh(query, document float64) { z.query, z.document = query, document }

// Document implements stream.Writer.
func (z *writer) Document(query, id string, grade float64, row []float32) error {
	if err := table.CheckIDs(query, id); err != nil {
		return err
	}
	dictionary := len(z.sheet.columns[0].texts)
	z.queries = append(z.queries, z.sheet.columns[0].place(query))
	z.idBytes += len(id) + len(z.sheet.columns[0].texts) - dictionary
	z.grades = append(z.grades, grade)
	z.ids = append(z.ids, id)
	z.queryWeights, z.docWeights = append(z.queryWeights, z.query), append(z.docWeights, z.document)
	z.x = append(z.x, row...)
	if len(z.grades) < z.page && z.idBytes < idBytes {
		return nil
	}
	return z.flush()
}

// flush writes the collected documents to pages. It ends the row group if this is complete.
func (z *writer) flush() error {
	if len(z.grades) == 0 {
		return nil
	}
	err := z.sheet.each(func(k int, v *pageValues) {
		v.rows, v.present, v.plain = len(z.grades), nil, v.plain[:0]
		if k < len(z.fills) {
			z.fills[k](v)
		} else {
			z.fillFeature(k-len(z.fills), v)
		}
	})
	if err != nil {
		return err
	}
	z.rows += len(z.grades)
	z.queries, z.grades, z.x, z.queryWeights, z.docWeights = z.queries[:0], z.grades[:0], z.x[:0], z.queryWeights[:0], z.docWeights[:0]
	clear(z.ids)
	z.idBytes = 0
	if z.ids = z.ids[:0]; z.rows < z.group && len(z.sheet.columns[0].texts) < dictionaryBytes {
		return nil
	}
	z.rows = 0
	return z.sheet.endGroup()
}

// fillDocs sets v to the document identifiers.
func (z *writer) fillDocs(v *pageValues) {
	v.present = make([]uint32, len(z.ids))
	for i, id := range z.ids {
		if id != "" {
			v.present[i] = 1
			v.plain = appendText(v.plain, id)
		}
	}
}

// fillFeature sets v to the values of feature j.
func (z *writer) fillFeature(j int, v *pageValues) {
	at := j
	for i := range v.rows {
		x := z.x[at]
		if x != x && v.present == nil {
			v.present = make([]uint32, v.rows)
			for k := range i {
				v.present[k] = 1
			}
		}
		if x == x {
			v.plain = binary.LittleEndian.AppendUint32(v.plain, math.Float32bits(x))
			if v.present != nil {
				v.present[i] = 1
			}
		}
		at += z.features
	}
}

func appendDoubles(b []byte, numbers []float64) []byte {
	for _, v := range numbers {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// Close implements stream.Writer.
func (z *writer) Close() error { return errors.Join(z.flush(), z.sheet.close()) }
