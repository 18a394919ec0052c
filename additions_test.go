package listwise

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/listwise/listwise/internal/testing/long"
)

// additions has the new files of TestAdditions, in the places where they would stand, with
// .txt after their names, because alone they do not compile.
const additions = "testdata/additions"

// addition is a row of the table "Where to add …": what is added, under which name, the
// lines for the lists that the row names, and a check of the program with it.
type addition struct {
	row, name string
	lines     map[string]string // by the name of the list
	check     func(t *testing.T, b *built)
}

var rowsOfAdditions = []addition{
	{"loss", "margin", map[string]string{"registry": "newMargin(),"}, checkLoss},
	{"measure", "first", map[string]string{"registry": `{"first", noParameter, newFirst, "grade of the first document", "a test"},`}, checkMeasure},
	{"fusion rule", "isr", map[string]string{"registry": "isr,"}, checkFusionRule},
	{"learner", "means", map[string]string{"registry": "newMeans(),"}, checkLearner},
	{"scorer", "absolute", map[string]string{
		"ownKinds":      `"absolute": {Absolute{}, decodeAbsolute},`,
		"architectures": `{kind: "absolute", of: func(Values) (train.Architecture, error) { return func(n int) scorer.Scorer { return scorer.Absolute{Linear: scorer.Linear{Features: n}} }, nil }},`,
	}, checkScorer},
	{"data format", "numbers", map[string]string{"formats": `{name: "numbers", magic: numbers.Magic, read: numbers.Read},`}, checkFormat},
	{"model format", "words", map[string]string{"formats": "words,"}, checkModelFormat},
	{"experiment", "dice", map[string]string{"Experiments": "diceExperiment(),"}, checkExperiment},
	{"command", "echo", map[string]string{"commands": "newEchoCommand(env),"}, checkCommand},
}

// TestAdditions holds the table "Where to add …" of docs/architecture.md to the code: with
// the new files of a row where the row says, and a line in the lists that it names, and
// nothing else, the program has the addition. Its results are compared with computations
// of their own.
func TestAdditions(t *testing.T) {
	long.Test(t) // builds the program anew
	dir := t.TempDir()
	copySources(t, dir)
	table := additionTable(t)
	if len(table) != len(rowsOfAdditions) {
		t.Errorf("the table has %d rows, the test adds %d", len(table), len(rowsOfAdditions))
	}
	used := map[string]bool{}
	for _, a := range rowsOfAdditions {
		row, ok := table[a.row]
		if !ok {
			t.Fatalf("the table has no row %q", a.row)
		}
		for _, path := range row.files {
			path = strings.ReplaceAll(path, "NAME", a.name)
			copyFile(t, filepath.Join(additions, path+".txt"), filepath.Join(dir, path))
			used[path+".txt"] = true
		}
		if len(row.lists) != len(a.lines) {
			t.Fatalf("%s: the table names the lists %v, the test has lines for %d", a.row, row.lists, len(a.lines))
		}
		for _, l := range row.lists {
			insertLine(t, dir, l, a.lines[l.name], strings.ReplaceAll(row.imports, "NAME", a.name))
		}
	}
	for _, path := range filesBelow(t, additions) {
		if !used[path] {
			t.Errorf("no row of the table adds %s", path)
		}
	}
	b := build(t, dir)
	for _, a := range rowsOfAdditions {
		t.Run(strings.ReplaceAll(a.row, " ", "-"), func(t *testing.T) { a.check(t, b) })
	}
}

// tableRow is a row of the table: the files that it says to write, the lists that get a
// line, and the package that such a line needs to import, if any.
type tableRow struct {
	files   []string
	lists   []list
	imports string
}

// list is a variable that is a list, or a function that returns one.
type list struct {
	name, file string
	beforeLast bool // where the line belongs, instead of at the end
}

var (
	newFile   = regexp.MustCompile("`([a-z/]+/NAME[a-z/_]*\\.go)`")
	listIn    = regexp.MustCompile("`(\\w+)` in `([a-z/_]+\\.go)`")
	importing = regexp.MustCompile("imports `([a-zA-Z/]+)`")
)

// additionTable reads the table.
func additionTable(t *testing.T) map[string]tableRow {
	t.Helper()
	_, section, ok := strings.Cut(architecture(t), "\n## Where to add …\n")
	if !ok {
		t.Fatal("docs/architecture.md has no section on where to add something")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	table := map[string]tableRow{}
	for _, line := range strings.Split(section, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(line, "|---") || strings.Contains(line, "| a … |") {
			continue
		}
		var r tableRow
		for _, m := range newFile.FindAllStringSubmatch(cells[2], -1) {
			r.files = append(r.files, m[1])
		}
		for _, m := range listIn.FindAllStringSubmatch(cells[3], -1) {
			r.lists = append(r.lists, list{m[1], m[2], strings.Contains(cells[3], "before the last")})
		}
		if m := importing.FindStringSubmatch(cells[3]); m != nil {
			r.imports = m[1]
		}
		table[strings.TrimSpace(cells[1])] = r
	}
	return table
}

// copySources copies all files that the program is built from to dir.
func copySources(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("the sources are not in a git repository")
	}
	for _, path := range strings.Fields(string(out)) {
		test := strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/")
		if top, _, _ := strings.Cut(path, "/"); test || top == "docs" || top == "tools" {
			continue
		}
		if _, err := os.Stat(path); err == nil { // not removed
			copyFile(t, path, filepath.Join(dir, path))
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, string(text))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func filesBelow(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			paths = append(paths, filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator))))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// insertLine inserts a line at the end of a list of the copy, or before the last of its
// lines, and an import of a package of this module if one is given.
func insertLine(t *testing.T, dir string, l list, line, imported string) {
	t.Helper()
	path := filepath.Join(dir, l.file)
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	literal := literalOf(file, l.name)
	if literal == nil {
		t.Fatalf("%s has no list %s", l.file, l.name)
	}
	lines := strings.SplitAfter(string(source), "\n")
	end := files.Position(literal.Rbrace).Line - 1
	if strings.Trim(lines[end], "\t\n") != "}" {
		t.Fatalf("%s: an entry of %s is not a line of its own", l.file, l.name)
	}
	if l.beforeLast {
		end--
	}
	text := strings.Join(slices.Insert(lines, end, line+"\n"), "")
	if imported != "" {
		text = strings.Replace(text, "import (\n", fmt.Sprintf("import (\n%q\n", module+"/"+imported), 1)
	}
	write(t, path, text)
}

// literalOf returns the first composite literal of a variable or function.
func literalOf(file *ast.File, name string) (literal *ast.CompositeLit) {
	for _, d := range file.Decls {
		named := false
		switch d := d.(type) {
		case *ast.FuncDecl:
			named = d.Name.Name == name
		case *ast.GenDecl:
			if v, ok := d.Specs[0].(*ast.ValueSpec); ok {
				named = v.Names[0].Name == name
			}
		}
		if !named {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if c, ok := n.(*ast.CompositeLit); ok && literal == nil {
				literal = c
			}
			return literal == nil
		})
	}
	return literal
}

// built is a program, its sources and data to run it on.
type built struct {
	program, dir string
	sources      string
	data         string      // the path of LETOR text
	queries      []numbers   // what it holds
	systems      [2]string   // paths of score files
	scores       [2][]string // and what they hold
}

// numbers are a query's documents.
type numbers struct {
	grades []float64
	x      [][]float64
}

func build(t *testing.T, dir string) *built {
	t.Helper()
	b := &built{sources: dir, dir: t.TempDir()}
	b.program = filepath.Join(b.dir, "listwise")
	b.tool(t, "build", "-buildvcs=false", "-o", b.program, "./cmd/listwise")
	b.data = filepath.Join(b.dir, "data.txt")
	b.run(t, "data", "synth", "--shape", "mq2008", "--queries", "30", "--features", "4", "--out", b.data)
	b.queries = readLETOR(t, b.data)
	for s := range b.systems {
		for _, q := range b.queries {
			for _, x := range q.x {
				b.scores[s] = append(b.scores[s], strconv.FormatFloat(math.Round(4*x[s])+x[s+1]/8, 'g', -1, 64))
			}
		}
		b.systems[s] = filepath.Join(b.dir, fmt.Sprintf("%d.scores", s))
		write(t, b.systems[s], strings.Join(b.scores[s], "\n")+"\n")
	}
	return b
}

// tool runs the go command on the sources with the additions and returns what it prints.
func (b *built) tool(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = b.sources, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %q with the additions: %v\n%s", args, err, out)
	}
	return string(out)
}

// run runs the program and returns what it prints.
func (b *built) run(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(b.program, append(args, "--quiet")...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.dir, &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("listwise %q: %v\n%s", args, err, &errs)
	}
	return out.String()
}

// readLETOR reads lines "GRADE qid:ID 1:VALUE …".
func readLETOR(t *testing.T, path string) (queries []numbers) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if words[1] != last {
			queries, last = append(queries, numbers{}), words[1]
		}
		x := make([]float64, len(words)-2)
		for j, w := range words[2:] {
			_, value, _ := strings.Cut(w, ":")
			x[j] = number(t, value, 32) // features are float32
		}
		q := &queries[len(queries)-1]
		q.grades, q.x = append(q.grades, number(t, words[0], 64)), append(q.x, x)
	}
	return queries
}

func number(t *testing.T, text string, bits int) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.TrimSpace(text), bits)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
