package judgements

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/dataset/internal/input"
	"github.com/listwise/listwise/dataset/internal/pairs"
	"github.com/listwise/listwise/internal/strictjson"
)

// jsonList reads the JSON of Quepid and of the Rated Ranking Evaluator (RRE). Both have objects with queries and
// ratings, within lists. In RRE several queries share the ratings of their group.
type jsonList struct {
	strictjson.Scanner
	judgements *pairs.Judgements
	line, at   int // a place in the text and its line
}

// readJSON reads a list.
func readJSON(in *input.Input, opts dataset.Options, j *pairs.Judgements) error {
	text, err := whole(in, opts)
	if err != nil {
		return pairs.Located(err, in.Name, 1)
	}
	r := &jsonList{judgements: j, line: 1}
	r.Text = bytes.TrimPrefix(text, []byte("\ufeff"))
	_, p, err := r.node(r.Blanks(0), 0)
	if err == nil {
		if p = r.Blanks(p); p < len(r.Text) {
			err = &strictjson.Fault{At: p, Found: r.Token(p) + " behind the list", Expected: "the end of the text"}
		}
	}
	if fault, ok := errors.AsType[*strictjson.Fault](err); ok {
		err = &dataset.SyntaxError{Found: fault.Found, Expected: fault.Expected}
		return at(err, in, r.lineOf(fault.At))
	}
	return at(err, in, r.line)
}

// whole returns the text of an input, counted as its memory.
func whole(in *input.Input, opts dataset.Options) ([]byte, error) {
	text, err := pairs.Text(in, opts)
	if err != nil {
		return nil, err
	}
	defer text.Close() //nolint:errcheck // only read
	var all bytes.Buffer
	for {
		const step = 1 << 18
		if err := in.Mem.Take(3*step, "the text of judgements"); err != nil { // growing copies it
			return nil, err
		}
		if _, err := io.CopyN(&all, text, step); errors.Is(err, io.EOF) {
			return all.Bytes(), nil
		} else if err != nil {
			return nil, err
		}
	}
}

// lineOf returns the line of a place.
func (r *jsonList) lineOf(p int) int {
	p = min(p, len(r.Text))
	if p >= r.at {
		r.line += bytes.Count(r.Text[r.at:p], []byte("\n"))
	} else {
		r.line -= bytes.Count(r.Text[p:r.at], []byte("\n"))
	}
	r.at = p
	return r.line
}

// node reads an object and the lists of objects within it. It returns the queries without ratings of their own: their
// group has the ratings.
func (r *jsonList) node(p, depth int) (queries [][]byte, next int, err error) {
	if depth > strictjson.MaxDepth {
		return nil, p, &strictjson.Fault{At: p, Found: fmt.Sprintf("more than %d levels of objects", strictjson.MaxDepth), Expected: "fewer"}
	}
	ratings := -1
	start := p
	next, err = r.Object(p, "a list of judgements", func(key []byte, _, p int) (next int, err error) {
		switch string(key) {
		case "query", "query_text":
			var query []byte
			query, next, err = r.Scalar(p)
			queries = append(queries, query)
			return next, err
		case "placeholders":
			var query []byte
			query, next, err = r.placeholders(p)
			queries = append(queries, query)
			return next, err
		case "ratings", "relevant_documents":
			ratings = p
		case "queries", "query_groups", "topics":
			return r.List(p, string(key), func(_, p int) (int, error) {
				more, next, err := r.node(p, depth+1)
				queries = append(queries, more...)
				return next, err
			})
		}
		return r.Skip(p)
	})
	if err != nil || ratings < 0 {
		if depth == 0 {
			for range queries {
				r.judgements.Unrated()
			}
		}
		return queries, next, err
	}
	if len(queries) == 0 {
		return nil, next, &strictjson.Fault{At: start, Found: "ratings without a query", Expected: `"query" or "placeholders"`}
	}
	for _, query := range queries {
		if err := r.rate(query, ratings); err != nil {
			return nil, next, err
		}
	}
	return nil, next, nil
}

// placeholders returns the words of a query of RRE: the value of "$query", else of the first placeholder.
func (r *jsonList) placeholders(p int) (query []byte, next int, err error) {
	named := false
	next, err = r.Object(p, "placeholders", func(key []byte, _, p int) (int, error) {
		if b := r.Text[p:]; len(b) > 0 && (b[0] == '{' || b[0] == '[') {
			return r.Skip(p)
		}
		value, next, err := r.Scalar(p)
		if is := string(key) == "$query"; is || query == nil && !named {
			query, named = value, named || is
		}
		return next, err
	})
	return query, next, err
}

// rate adds the ratings of a query: "DOCUMENT": GRADE, "DOCUMENT": {"gain": GRADE} or "GRADE": ["DOCUMENT", …].
func (r *jsonList) rate(query []byte, ratings int) error {
	add := func(p int, doc, grade []byte) error { return r.judgements.Add(r.lineOf(p), query, doc, grade) }
	_, err := r.Object(ratings, "ratings", func(key []byte, at, p int) (next int, err error) {
		var grade []byte
		switch b := r.Text[min(p, len(r.Text)):]; {
		case len(b) > 0 && b[0] == '[':
			return r.List(p, "documents", func(_, p int) (int, error) {
				doc, next, err := r.Scalar(p)
				if err == nil {
					err = add(p, doc, key)
				}
				return next, err
			})
		case len(b) > 0 && b[0] == '{':
			next, err = r.Object(p, "a rating", func(name []byte, _, p int) (next int, err error) {
				if string(name) != "gain" && string(name) != "rating" {
					return r.Skip(p)
				}
				grade, next, err = r.Scalar(p)
				return next, err
			})
		default:
			grade, next, err = r.Scalar(p)
		}
		if err == nil {
			err = add(at, key, grade)
		}
		return next, err
	})
	return err
}
