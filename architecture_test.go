package listwise

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// architecture returns docs/architecture.md.
func architecture(t *testing.T) string { return read(t, "docs/architecture.md") }

var (
	quoted     = regexp.MustCompile("`([^`\n]+)`")
	symbol     = regexp.MustCompile(`\b[A-Za-z]\w*(\.[A-Z]\w*)+`)
	identifier = regexp.MustCompile(`^\w+$`)
	pathLike   = regexp.MustCompile(`^[\w./*-]+\.(go|js|md)$|^[\w-]+(/[\w.-]*)+$`)
)

// TestArchitectureNames: every path, and every name of Go, that docs/architecture.md has
// between backticks exists, and every qualified name in its indented blocks. Flags, settings
// and commands are not checked.
func TestArchitectureNames(t *testing.T) {
	page, code := architecture(t), readTree(t)
	checked := 0
	for _, m := range quoted.FindAllStringSubmatch(page, -1) {
		name := m[1]
		if strings.Contains(name, "NAME") {
			continue // of TestAdditions
		}
		if !strings.HasPrefix(name, "-") && (pathLike.MatchString(name) || identifier.MatchString(name)) {
			checked++
			if !code.has(name) {
				t.Errorf("docs/architecture.md has `%s`, which does not exist", name)
			}
			continue
		}
		for _, s := range symbol.FindAllString(name, -1) {
			checked++
			if !code.has(s) {
				t.Errorf("docs/architecture.md has `%s`, but there is no %s", name, s)
			}
		}
	}
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "    ") {
			continue
		}
		for _, s := range symbol.FindAllString(line, -1) {
			checked++
			if !code.has(s) {
				t.Errorf("docs/architecture.md has %q, but there is no %s", strings.TrimSpace(line), s)
			}
		}
	}
	if checked < 150 {
		t.Errorf("%d names were checked, expected 150 or more", checked)
	}
	for _, wrong := range []string{"loss.Nowhere", "loss.Loss.Nowhere", "Convention.Nowhere", "learn/loss/nowhere.go", "nowhere.go", "nowhere/nothing", "nowhereAtAll"} {
		if code.has(wrong) {
			t.Errorf("%s exists, so this test cannot fail", wrong)
		}
	}
}

// TestArchitectureFolders: the table of packages has a row for every folder with packages, and the
// files to start reading at exist.
func TestArchitectureFolders(t *testing.T) {
	_, section, _ := strings.Cut(architecture(t), "\n## Packages\n")
	section, _, _ = strings.Cut(section, "\n## ")
	code := readTree(t)
	var listed []string
	for _, line := range strings.Split(section, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		var folders []string
		for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
			folders = append(folders, m[1])
		}
		starts := quoted.FindAllStringSubmatch(cells[3], -1)
		if len(starts) == 0 {
			t.Errorf("%q: the table names no file to start reading at", folders)
		}
		for _, m := range starts {
			if !slices.ContainsFunc(folders, func(folder string) bool { return slices.Contains(code.paths, folder+"/"+m[1]) }) {
				t.Errorf("%q: there is no %s to start reading at", folders, m[1])
			}
		}
		listed = append(listed, folders...)
	}
	for pkg := range importsOf(t) {
		if folder := folderOf(pkg); folder != "." && !slices.Contains(listed, folder) {
			t.Errorf("the table of packages has no row for %s", folder)
		}
	}
}

// tree is what the names of the page are looked up in.
type tree struct {
	paths []string        // of files and folders
	names map[string]bool // "pkg.Symbol", "pkg.Type.Member", "Type.Member", identifiers and texts
}

// has reports whether there is such a path or name. A file may be named without its
// folder, and with a *.
func (c *tree) has(name string) bool {
	if c.names[name] {
		return true
	}
	name = strings.TrimSuffix(name, "/")
	return slices.ContainsFunc(c.paths, func(p string) bool {
		base, _ := path.Match(name, path.Base(p))
		return p == name || base || strings.HasSuffix(p, "/"+name)
	})
}

// readTree reads all Go files of the module, tests included.
func readTree(t *testing.T) *tree {
	t.Helper()
	c := &tree{names: map[string]bool{}}
	err := filepath.WalkDir(".", func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && p != "." && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata") {
			return fs.SkipDir
		}
		c.paths = append(c.paths, filepath.ToSlash(p))
		if e.IsDir() || !strings.HasSuffix(p, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
		if err == nil {
			c.declarations(file)
			if !strings.HasSuffix(p, "_test.go") {
				c.texts(file)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// declarations adds the names that a file declares.
func (c *tree) declarations(file *ast.File) {
	pkg := file.Name.Name
	declare := func(typ, name string) {
		c.names[name] = true
		if typ == "" {
			c.names[pkg+"."+name] = true
			return
		}
		c.names[typ+"."+name], c.names[pkg+"."+typ+"."+name] = true, true
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			declare(receiver(d), d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						declare("", n.Name)
					}
				case *ast.TypeSpec:
					declare("", s.Name.Name)
					for _, member := range members(s.Type) {
						declare(s.Name.Name, member)
					}
				}
			}
		}
	}
}

// texts adds the texts of a file: names of hyperparameters and of registered things.
func (c *tree) texts(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				c.names[text] = true
			}
		}
		return true
	})
}

// receiver returns the name of a method's type, "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// members returns the names of a struct's fields and of an interface's methods.
func members(typ ast.Expr) (names []string) {
	var fields *ast.FieldList
	switch typ := typ.(type) {
	case *ast.StructType:
		fields = typ.Fields
	case *ast.InterfaceType:
		fields = typ.Methods
	default:
		return nil
	}
	for _, f := range fields.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
	}
	return names
}
