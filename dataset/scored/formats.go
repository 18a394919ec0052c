package scored

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/listwise/listwise/dataset/trec"
	"github.com/listwise/listwise/internal/suggest"
)

// format is an entry of the registry.
type format struct {
	name  string
	about string // description for help texts

	// line appends a document. It is nil if the format contains only scores, or has columns.
	line func(buf []byte, d document, tag string) ([]byte, error)

	head, between, foot string // text at the beginning of the file, between documents, and at its end

	columns bool // Parquet, which has columns and no lines

	ordered bool // always best first
	tagged  bool // has a tag
}

// registry lists the formats in the order of help texts. A new format needs an entry here.
var registry = []format{
	{name: "text", about: "only the scores, one per line, in the order of the input"},
	{name: "tsv", about: "query, document, rank and score, separated by tabs, with a header line", line: appendTSV, head: "query\tdocument\trank\tscore\n"},
	{name: "csv", about: "the same columns, separated by commas", line: appendCSV, head: "query,document,rank,score\n"},
	{name: "jsonl", about: "one JSON object per line", line: appendJSONLine},
	{name: "json", about: "an array of these objects", line: appendJSON, head: "[\n", between: ",\n", foot: "\n]\n"},
	{name: "parquet", about: "a Parquet file of these columns", columns: true},
	{name: "run", about: "a run of TREC, QUERY Q0 DOCUMENT RANK SCORE TAG, best first; tabs separate the fields if an id has blanks", line: appendRun, ordered: true, tagged: true},
}

// Formats returns the names of the formats, the default first.
func Formats() []string {
	names := make([]string, len(registry))
	for i, f := range registry {
		names[i] = f.name
	}
	return names
}

// About describes the formats, one per line.
func About() string {
	var b strings.Builder
	for _, f := range registry {
		fmt.Fprintf(&b, "  %-8s%s\n", f.name, f.about)
	}
	return b.String()
}

// alone reports whether the format contains only scores.
func (f *format) alone() bool { return f.line == nil && !f.columns }

func formatOf(name string) (*format, error) {
	for i := range registry {
		if registry[i].name == name || name == "" {
			return &registry[i], nil
		}
	}
	return nil, suggest.Unknown("format", name, Formats())
}

// appendTSV appends a line. An identifier with a tab or a line end is an error, because the format has no
// quotes.
func appendTSV(buf []byte, d document, _ string) ([]byte, error) {
	for _, text := range []string{d.query, d.id} {
		if strings.ContainsAny(text, "\t\r\n") {
			return buf, fmt.Errorf("found the identifier %q, %w", text, errTab)
		}
	}
	return appendNumbers(append(append(append(append(buf, d.query...), '\t'), d.id...), '\t'), d, '\t'), nil
}

// appendCSV appends a line. It does not change identifiers, so other programs can join by them.
func appendCSV(buf []byte, d document, _ string) ([]byte, error) {
	for _, text := range []string{d.query, d.id} {
		if strings.ContainsAny(text, "\",\r\n") || text == "" || text[0] == ' ' {
			text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
		}
		buf = append(append(buf, text...), ',')
	}
	return appendNumbers(buf, d, ','), nil
}

func appendNumbers(buf []byte, d document, separator byte) []byte {
	buf = append(strconv.AppendInt(buf, int64(d.rank), 10), separator)
	return append(strconv.AppendFloat(buf, d.score, 'g', -1, 64), '\n')
}

func appendJSONLine(buf []byte, d document, tag string) ([]byte, error) {
	buf, err := appendJSON(buf, d, tag)
	return append(buf, '\n'), err
}

func appendJSON(buf []byte, d document, _ string) ([]byte, error) {
	query, err := json.Marshal(d.query)
	if err != nil {
		return buf, err
	}
	id, err := json.Marshal(d.id)
	if err != nil {
		return buf, err
	}
	return fmt.Appendf(buf, `{"query":%s,"document":%s,"rank":%d,"score":%s}`, query, id, d.rank, strconv.FormatFloat(d.score, 'g', -1, 64)), nil
}

// appendRun appends a line. An identifier that would be read as several fields is an error.
func appendRun(buf []byte, d document, tag string) ([]byte, error) {
	if err := trec.CheckID("the query id", d.query); err != nil {
		return buf, err
	}
	if err := trec.CheckID("the document id", d.id); err != nil {
		return buf, err
	}
	separator := byte(' ')
	if d.blanks {
		separator = '\t'
	}
	return trec.AppendLine(buf, d.query, d.id, d.rank, d.score, tag, separator), nil
}
