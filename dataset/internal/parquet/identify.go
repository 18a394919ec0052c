package parquet

import (
	"github.com/listwise/listwise/dataset/internal/ingest"
	"github.com/listwise/listwise/dataset/stream"
	"github.com/listwise/listwise/internal/suggest"
)

// identify reads the identifiers of n rows. keep is nil, or tells which rows are not dropped.
func (r *reader) identify(n int, keep []bool) error {
	for from := 0; from < n; {
		id, rows, err := r.query.texts(n-from, &r.own)
		if err != nil {
			return r.at(r.query, from, err)
		}
		if len(id) == 0 {
			return r.badRow(r.query, from, "no query", "a query id in every row")
		}
		if keep == nil {
			err = r.run(id, from, rows)
		} else {
			err = r.runOf(id, from, rows, keep)
		}
		if err != nil {
			return err
		}
		from += rows
	}
	return nil
}

// run adds successive rows of one query to the batch.
func (r *reader) run(id []byte, from, rows int) error {
	b := &r.batch
	k := len(b.Runs) - 1
	if k < 0 || b.Runs[k].ID != string(id) {
		if fault := ingest.Identifier(id); fault != "" {
			return r.badRow(r.query, from, suggest.Quote(id), "a query id "+fault)
		}
		b.Runs = append(b.Runs, stream.Run{ID: string(id)})
		k++
	}
	b.Runs[k].Docs += rows
	if r.doc == nil {
		return nil
	}
	before := len(b.DocText)
	r.docBytes = 0
	if err := r.docs(from, rows); err != nil {
		return err
	}
	b.Runs[k].Bytes += len(b.DocText) - before + r.docBytes
	return nil
}

// docs reads the document identifiers of successive rows.
func (r *reader) docs(from, rows int) error {
	b := &r.batch
	for rows > 0 {
		ends, text, err := r.doc.ascii(rows, &r.own)
		if err != nil {
			return r.at(r.doc, from, err)
		}
		if ends != nil && r.columns == 0 { // a survey needs only the length
			r.docBytes += len(text)
			from, rows = from+len(ends)-1, rows-len(ends)+1
			continue
		}
		if ends != nil {
			base, first := uint32(len(b.DocText)), ends[0]
			for _, e := range ends[1:] {
				b.DocEnd = append(b.DocEnd, base+e-first)
			}
			b.DocText = append(b.DocText, text...)
			from, rows = from+len(ends)-1, rows-len(ends)+1
			continue
		}
		id, _, err := r.doc.text(&r.own)
		if err != nil {
			return r.at(r.doc, from, err)
		}
		if fault := ingest.Identifier(id); fault != "" {
			return r.badRow(r.doc, from, suggest.Quote(id), "a document id "+fault)
		}
		b.DocText = append(b.DocText, id...)
		b.DocEnd = append(b.DocEnd, uint32(len(b.DocText)))
		from, rows = from+1, rows-1
	}
	return nil
}

// runOf adds rows of one query as run does, but skips the rows that keep drops.
func (r *reader) runOf(id []byte, from, rows int, keep []bool) error {
	for i := from; i < from+rows; i++ {
		if keep[i] {
			if err := r.run(id, i, 1); err != nil {
				return err
			}
		} else if r.doc != nil {
			if _, _, err := r.doc.text(&r.own); err != nil {
				return r.at(r.doc, i, err)
			}
		}
	}
	return nil
}
