package rankjson

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// Ranked is a document of a ranking.
type Ranked struct {
	Doc      int // index of the document in its query, from 0
	Score    float64
	PlacedBy string // the model that placed the document in an interleaved ranking; otherwise empty
}

// Version is the name of a model and the version of its file.
type Version struct {
	Model   string `json:"model"`
	Version string `json:"version"`
}

// Page is the id of a ranking that a log has, which clicks may name. 0 means that no log has it.
type Page uint64

// String returns the id as 16 hexadecimal digits.
func (p Page) String() string { return fmt.Sprintf("%016x", uint64(p)) }

// AppendPage appends an id as a JSON string.
func AppendPage(dst []byte, p Page) []byte {
	return fmt.Appendf(dst, `"%s"`, p)
}

// Answer is the answer to a request.
type Answer struct {
	Model      string // the model that ranked, or the experiment if several models did
	Version    string // of the model; empty if several models ranked
	Experiment string // the experiment that chose the model; empty if the request named the model
	Models     []Version
	Rankings   [][]Ranked // one ranking per query, best first
	Pages      []Page     // one per ranking, or empty if no log has any
}

// AppendAnswer appends the answer to request r as JSON text. The ids come from r.
func AppendAnswer(dst []byte, a *Answer, r *Request) []byte {
	dst = append(dst, `{"model":`...)
	dst = AppendString(dst, a.Model)
	if a.Version != "" {
		dst = append(dst, `,"version":`...)
		dst = AppendString(dst, a.Version)
	}
	if a.Experiment != "" {
		dst = append(dst, `,"experiment":`...)
		dst = AppendString(dst, a.Experiment)
	}
	for i, m := range a.Models {
		if i == 0 {
			dst = append(dst, `,"models":{`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, m.Model), ':')
		dst = AppendString(dst, m.Version)
		if i == len(a.Models)-1 {
			dst = append(dst, '}')
		}
	}
	if !r.Several {
		return append(appendRanking(append(dst, ','), a, 0, r), '}', '\n')
	}
	dst = append(dst, `,"rankings":[`...)
	for i := range r.Queries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendRanking(append(dst, '{'), a, i, r), '}')
	}
	return append(dst, "]}\n"...)
}

// AppendQuery appends the JSON members that name query i of request r and its ranking. Each ends in
// a comma.
func (a *Answer) AppendQuery(dst []byte, i int, r *Request) []byte {
	if len(a.Pages) > 0 && a.Pages[i] != 0 {
		dst = append(AppendPage(append(dst, `"page":`...), a.Pages[i]), ',')
	}
	if id := r.Queries[i].ID; id != nil {
		dst = append(AppendString(append(dst, `"query":`...), id), ',')
	}
	return dst
}

// appendRanking appends the JSON members of query i.
func appendRanking(dst []byte, a *Answer, i int, r *Request) []byte {
	dst = a.AppendQuery(dst, i, r)
	q, ranking := &r.Queries[i], a.Rankings[i]
	dst = append(dst, `"ranking":[`...)
	for i := range ranking {
		if i > 0 {
			dst = append(dst, ',')
		}
		doc := &ranking[i]
		dst = AppendID(append(dst, `{"id":`...), r.IDs[q.First+doc.Doc], doc.Doc)
		dst = append(dst, `,"rank":`...)
		dst = strconv.AppendInt(dst, int64(i)+1, 10)
		dst = append(dst, `,"score":`...)
		dst = AppendNumber(dst, doc.Score)
		if doc.PlacedBy != "" {
			dst = append(dst, `,"placed_by":`...)
			dst = AppendString(dst, doc.PlacedBy)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// AppendID appends the id of a document. If id is nil, it appends the document's number in its
// query, from 1.
func AppendID(dst, id []byte, doc int) []byte {
	if id == nil {
		return append(strconv.AppendInt(append(dst, '"'), int64(doc)+1, 10), '"')
	}
	return AppendString(dst, id)
}

// AppendNumber appends a finite number as encoding/json writes it: the shortest text that reads
// back as the same float64.
func AppendNumber(dst []byte, v float64) []byte {
	if a := math.Abs(v); a == 0 || a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, v, 'e', -1, 64)
	if n := len(dst); dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' { // e-09
		dst[n-2] = dst[n-1]
		return dst[:n-1]
	}
	return dst
}

// AppendString appends text as a JSON string. It escapes the special characters of HTML, and
// replaces bytes that are not UTF-8 by U+FFFD.
func AppendString[T string | []byte](dst []byte, text T) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if plain[c] {
			i++
			continue
		}
		dst = append(dst, text[from:i]...)
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < utf8.RuneSelf:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			r, n := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
			if r == '\u2028' || r == '\u2029' { // a line end in JavaScript
				dst = append(dst, '\\', 'u', '2', '0', '2', hex[r&15])
			} else {
				dst = utf8.AppendRune(dst, r)
			}
			i += n - 1
		}
		i++
		from = i
	}
	return append(append(dst, text[from:]...), '"')
}

// plain marks the ASCII bytes that need no escape in JSON within HTML.
var plain = func() (t [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return t
}()
