package papers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/listwise/listwise/internal/atomicfile"
	"github.com/listwise/listwise/internal/chart"
	"github.com/listwise/listwise/internal/rows"
)

// Report contains the results of an experiment, for people and for programs.
type Report struct {
	Name  string
	Title string
	Facts []Fact // circumstances of the results

	Claims   []Claim      // published numbers with our numbers and verdicts
	Orders   []OrderClaim // published orders of systems, tested on our results
	Findings []Finding    // claims in words, with verdicts
	Reaches  []Reach      // coverage of published tables
	Tables   []Table      // for people
	Sheets   []Sheet      // for programs, in full precision; the first has no name
	Plots    []Plot
	Notes    []string

	once bool // the findings are based on one draw of synthetic data
}

// Fact is a circumstance of an experiment, such as the seed or the convention.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Table is a table for people. Its cells are text.
type Table struct {
	Title   string
	Columns []string
	Left    int  // number of leading columns with words; the other columns contain numbers
	Main    bool // show the table on the page of all experiments
	Rows    [][]string
}

// Sheet is a table for programs. A cell is a string, an int, a float64 or nil.
type Sheet struct {
	Name    string // suffix of the file name; "" for the first
	Columns []string
	Rows    [][]any
}

// Plot is a plot with its name.
type Plot struct {
	Name string // suffix of the file name; may be ""
	chart.Plot
}

// begin returns an empty report of the results. Without a folder of data, its findings are based on
// one draw of synthetic data.
func (s *results) begin(e Experiment) *Report {
	return &Report{Name: e.Name, Title: e.Title, once: s.options.Data == ""}
}

// newReport returns an empty report of an experiment that is not a study.
func newReport(e Experiment, o Options, source string) *Report {
	r := &Report{Name: e.Name, Title: e.Title}
	r.fact("source", "%s", source)
	r.fact("command", "%s", o.Command)
	return r
}

func (r *Report) fact(name, format string, args ...any) {
	r.Facts = append(r.Facts, Fact{name, fmt.Sprintf(format, args...)})
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Write writes the report's files into the existing folder dir: NAME.txt, NAME.json, NAME.csv and
// NAME.svg. Further sheets and plots are NAME-x.csv and NAME-x.svg, such as NAME-claims.csv and
// NAME-orders.csv. It returns the paths.
func (r *Report) Write(dir string) ([]string, error) {
	var paths []string
	write := func(suffix, extension string, fn func(io.Writer) error) error {
		base := r.Name
		if suffix != "" {
			base += "-" + suffix
		}
		path := filepath.Join(dir, base+extension)
		paths = append(paths, path)
		return atomicfile.Write(path, fn)
	}
	if err := write("", ".txt", r.WriteText); err != nil {
		return nil, err
	}
	if err := write("", ".json", r.WriteJSON); err != nil {
		return nil, err
	}
	for _, s := range r.allSheets() {
		if err := write(s.Name, ".csv", s.WriteCSV); err != nil {
			return nil, err
		}
	}
	plots, err := r.WritePlots(dir)
	return append(paths, plots...), err
}

// WritePlots writes only the plots, into the existing folder dir. It returns their paths.
func (r *Report) WritePlots(dir string) ([]string, error) {
	var paths []string
	for i := range r.Plots {
		path := filepath.Join(dir, r.plotName(i))
		if err := atomicfile.Write(path, r.Plots[i].Write); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// allSheets returns the sheets, and the sheets of claims and of orders if there are any.
func (r *Report) allSheets() []Sheet {
	all := slices.Clone(r.Sheets)
	if len(r.Claims) > 0 {
		all = append(all, claimSheet(r.Claims))
	}
	if len(r.Orders) > 0 {
		all = append(all, orderSheet(r.Orders))
	}
	return all
}

// plotName returns the file name of a plot.
func (r *Report) plotName(i int) string {
	if r.Plots[i].Name == "" {
		return r.Name + ".svg"
	}
	return r.Name + "-" + r.Plots[i].Name + ".svg"
}

// WriteCSV writes the sheet with a header. Floats have full precision, and nil is empty.
func (s *Sheet) WriteCSV(w io.Writer) error {
	return rows.WriteCSV(w, s.Columns, s.Rows)
}

// reportJSON is the stable JSON form of a report. A sheet is a list of objects. The name of the
// first sheet is "results".
type reportJSON struct {
	Experiment string                      `json:"experiment"`
	Title      string                      `json:"title"`
	Facts      []Fact                      `json:"facts"`
	Sheets     map[string][]map[string]any `json:"sheets"`
	Findings   []Finding                   `json:"findings,omitempty"`
	Notes      []string                    `json:"notes"`
}

// WriteJSON writes the report's facts, sheets and notes.
func (r *Report) WriteJSON(w io.Writer) error {
	text := reportJSON{Experiment: r.Name, Title: r.Title, Facts: r.Facts, Sheets: map[string][]map[string]any{}, Findings: r.findings(), Notes: r.Notes}
	for _, s := range r.allSheets() {
		name := s.Name
		if name == "" {
			name = "results"
		}
		objects := make([]map[string]any, len(s.Rows))
		for i, row := range s.Rows {
			objects[i] = make(map[string]any, len(row))
			for j, cell := range row {
				objects[i][s.Columns[j]] = cell
			}
		}
		text.Sheets[name] = objects
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(text)
}

// WriteText writes title, facts, tables and notes for reading in a terminal.
func (r *Report) WriteText(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintln(&b, r.Title)
	width := 0
	for _, f := range r.Facts {
		width = max(width, utf8.RuneCountInString(f.Name))
	}
	for _, f := range r.Facts {
		fmt.Fprintf(&b, "  %s  %s\n", pad(f.Name, width, true), f.Value)
	}
	for i := range r.Tables {
		b.WriteByte('\n')
		r.Tables[i].write(&b)
	}
	for _, line := range r.Closing() {
		fmt.Fprintln(&b, line)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Closing returns the lines below the tables.
func (r *Report) Closing() []string {
	var lines []string
	if len(r.Claims) > 0 {
		lines = append(lines, "", fmt.Sprintf("against the published numbers: %s; see %s-claims.csv", countsText(r.Claims), r.Name))
	}
	if len(r.Orders) > 0 {
		lines = append(lines, "", fmt.Sprintf("orders that the paper claims: %s; see %s-orders.csv", ordersText(r.Orders), r.Name))
	}
	if len(r.Notes) > 0 {
		lines = append(lines, "")
	}
	for _, n := range r.Notes {
		lines = append(lines, "- "+n)
	}
	return lines
}

func (t *Table) write(b *bytes.Buffer) {
	fmt.Fprintln(b, t.Title)
	widths := make([]int, len(t.Columns))
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	t.line(b, t.Columns, widths)
	rule := make([]string, len(widths))
	for i, n := range widths {
		rule[i] = strings.Repeat("─", n)
	}
	t.line(b, rule, widths)
	for _, row := range t.Rows {
		t.line(b, row, widths)
	}
}

func (t *Table) line(b *bytes.Buffer, cells []string, widths []int) {
	parts := make([]string, len(cells))
	for i, cell := range cells {
		parts[i] = pad(cell, widths[i], i < t.Left)
	}
	fmt.Fprintln(b, strings.TrimRight("  "+strings.Join(parts, "  "), " "))
}

// pad fills a text with blanks up to a width: behind the text if left is set, otherwise before it.
func pad(s string, width int, left bool) string {
	blanks := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
	if left {
		return s + blanks
	}
	return blanks + s
}
