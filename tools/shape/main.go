// Command shape prints statistics of the structure of a tree of Go code: packages, top-level
// folders and the imports between them, files, functions, exported names, comments, and duplicated
// lines. Run it on two commits to compare them:
//
//	cd tools && go run ./shape [-long] [folder]
//
// Tools, testdata, tests and generated files are not counted, except the number of lines of tests.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	longFunction = 60  // lines
	longFile     = 400 // lines
	window       = 6   // length of a duplicated run, in lines of code
)

// tree has the counts.
type tree struct {
	root                   string
	packages               map[string]bool
	folders                map[string]map[string]bool // by top-level folder, the folders that it imports
	layers                 map[string]int             // by folder, its layer from the top according to layers_test.go
	files, functions       []sized
	lines, blank, comments int
	testLines              int
	exported, undocumented []string
	windows                map[string]int // number of occurrences of every run of window lines
	runs                   [][]string     // lines of code of each file
}

// sized is a file or function and its number of lines.
type sized struct {
	name  string
	lines int
}

func main() {
	long := flag.Bool("long", false, "also list what is too long or has no comment")
	flag.Parse()
	root := "."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	t := &tree{root: root, packages: map[string]bool{}, folders: map[string]map[string]bool{}, layers: map[string]int{}, windows: map[string]int{}}
	if err := filepath.WalkDir(root, t.visit); err != nil {
		log.Fatal(err)
	}
	if len(t.functions) == 0 {
		log.Fatalf("%s: found no function", root)
	}
	t.print()
	if *long {
		t.printLong()
	}
}

func (t *tree) visit(path string, e fs.DirEntry, err error) error {
	name := e.Name()
	switch {
	case err != nil:
		return err
	case e.IsDir() && path != t.root && (name == "testdata" || name == "tools" || len(name) > 1 && name[0] == '.'):
		return filepath.SkipDir
	case e.IsDir() || !strings.HasSuffix(name, ".go"):
		return nil
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	test := strings.HasSuffix(name, "_test.go")
	if test {
		t.testLines += bytes.Count(src, []byte("\n"))
	}
	if test && path != filepath.Join(t.root, "layers_test.go") {
		return nil
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, parser.ParseComments)
	if err != nil {
		return err
	}
	if test {
		t.readLayers(file)
		return nil
	}
	if err := t.imports(path, file); err != nil {
		return err
	}
	if ast.IsGenerated(file) {
		return nil
	}
	t.packages[filepath.Dir(path)] = true
	t.countLines(path, string(src))
	for _, d := range file.Decls {
		t.declaration(set, path, d)
	}
	return nil
}

// module is the path of the module at the root. The modules for Python and Beam are in subfolders.
const module = "github.com/listwise/listwise"

// folderOf returns the first element of a path, or "." for an empty path.
func folderOf(path string) string {
	folder, _, _ := strings.Cut(path, "/")
	return cmp.Or(folder, ".")
}

// imports records the top-level folders that a file imports.
func (t *tree) imports(path string, file *ast.File) error {
	dir, err := filepath.Rel(t.root, filepath.Dir(path))
	if err != nil {
		return err
	}
	folder := folderOf(filepath.ToSlash(dir))
	if t.folders[folder] == nil {
		t.folders[folder] = map[string]bool{}
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if own, ok := strings.CutPrefix(imported+"/", module+"/"); ok && folderOf(own) != folder {
			t.folders[folder][folderOf(own)] = true
		}
	}
	return nil
}

// readLayers reads the variable layers, which lists the top-level folders from the highest layer to
// the lowest. Other folders are above all layers.
func (t *tree) readLayers(file *ast.File) {
	for _, d := range file.Decls {
		d, ok := d.(*ast.GenDecl)
		if !ok || len(d.Specs) != 1 {
			continue
		}
		v, ok := d.Specs[0].(*ast.ValueSpec)
		if !ok || v.Names[0].Name != "layers" || len(v.Values) != 1 {
			continue
		}
		layer := 0
		ast.Inspect(v.Values[0], func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if n.Type == nil {
					layer++
				}
			case *ast.BasicLit:
				t.layers[strings.Trim(n.Value, `"`)] = layer
			}
			return true
		})
	}
}

// pairs returns the number of pairs of top-level folders in which one imports the other, and how many
// of them are not imports of a lower layer.
func (t *tree) pairs() (all, upwards int) {
	for folder, imported := range t.folders {
		for other := range imported {
			all++
			if t.layers[other] <= t.layers[folder] {
				upwards++
			}
		}
	}
	return all, upwards
}

// countLines counts lines by kind and stores the lines of code.
func (t *tree) countLines(path, src string) {
	var code []string
	all := strings.Split(strings.TrimSuffix(src, "\n"), "\n")
	for _, line := range all {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			t.blank++
		case strings.HasPrefix(line, "//"):
			t.comments++
		default:
			code = append(code, line)
		}
	}
	t.lines += len(all)
	t.files = append(t.files, sized{path, len(all)})
	for i := 0; i+window <= len(code); i++ {
		t.windows[strings.Join(code[i:i+window], "\n")]++
	}
	t.runs = append(t.runs, code)
}

func (t *tree) declaration(set *token.FileSet, path string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		lines := set.Position(d.End()).Line - set.Position(d.Pos()).Line + 1
		t.functions = append(t.functions, sized{path + ": " + d.Name.Name, lines})
		if d.Recv == nil || receiverExported(d.Recv) {
			t.name(path, d.Name, d.Doc != nil)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				t.name(path, s.Name, d.Doc != nil || s.Doc != nil)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					t.name(path, n, d.Doc != nil || s.Doc != nil || s.Comment != nil)
				}
			}
		}
	}
}

func receiverExported(f *ast.FieldList) bool {
	x := f.List[0].Type
	if p, ok := x.(*ast.StarExpr); ok {
		x = p.X
	}
	id, ok := x.(*ast.Ident)
	return ok && id.IsExported()
}

func (t *tree) name(path string, id *ast.Ident, documented bool) {
	if !id.IsExported() {
		return
	}
	t.exported = append(t.exported, path+": "+id.Name)
	if !documented {
		t.undocumented = append(t.undocumented, path+": "+id.Name)
	}
}

// twice returns the number of lines of code in runs of window lines that occur more than once.
func (t *tree) twice() int {
	n := 0
	for _, code := range t.runs {
		end := 0 // end of the lines already counted
		for i := 0; i+window <= len(code); i++ {
			if t.windows[strings.Join(code[i:i+window], "\n")] > 1 {
				n += i + window - max(end, i)
				end = i + window
			}
		}
	}
	return n
}

func (t *tree) print() {
	row := func(what string, n any) { fmt.Printf("%-44s %8v\n", what, n) }
	code := t.lines - t.blank - t.comments
	row("packages", len(t.packages))
	pairs, upwards := t.pairs()
	row("top-level folders", len(t.folders))
	row("imports between them", pairs)
	if len(t.layers) == 0 {
		row("of which upwards", "no layers")
	} else {
		row("of which upwards", upwards)
	}
	row("files", len(t.files))
	row("lines", t.lines)
	row("lines of tests", t.testLines)
	row("lines of code", code)
	row("share of comments, %", fmt.Sprintf("%.1f", 100*float64(t.comments)/float64(t.comments+code)))
	for _, k := range []struct {
		what  string
		sizes []sized
		limit int
	}{{"function", t.functions, longFunction}, {"file", t.files, longFile}} {
		lines := make([]int, len(k.sizes))
		over := 0
		for i, s := range k.sizes {
			if lines[i] = s.lines; s.lines > k.limit {
				over++
			}
		}
		slices.Sort(lines)
		at := func(q float64) int { return lines[int(q*float64(len(lines)-1)+0.5)] }
		row(fmt.Sprintf("lines of a %s: median, p90, most", k.what), fmt.Sprintf("%d, %d, %d", at(0.5), at(0.9), at(1)))
		row(fmt.Sprintf("%ss over %d lines", k.what, k.limit), over)
	}
	row("exported names", len(t.exported))
	row("of which without a comment", len(t.undocumented))
	row(fmt.Sprintf("lines in runs of ≥ %d that occur twice", window), t.twice())
}

func (t *tree) printLong() {
	for _, s := range t.functions {
		if s.lines > longFunction {
			fmt.Println("long function:", s.name, s.lines)
		}
	}
	for _, s := range t.files {
		if s.lines > longFile {
			fmt.Println("long file:", s.name, s.lines)
		}
	}
	for _, name := range t.undocumented {
		fmt.Println("no comment:", name)
	}
}
