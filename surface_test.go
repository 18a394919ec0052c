package listwise

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// promised are the packages that docs/compatibility.md makes promises about.
var promised = []string{".", "dataset", "dataset/datafile", "eval/measure", "eval/stats", "model", "learn/loss", "learn/train", "tune", "serve"}

// Claim: no exported function, field or method of a promised package, or of the readers and writers
// of data, has a type of an internal package, which nobody outside can make.
func TestNoInternalTypes(t *testing.T) {
	checked := 0
	for pkg := range importsOf(t) {
		if strings.Contains(pkg, "/internal/") || folderOf(pkg) != "dataset" && !slices.Contains(promised, pkg) {
			continue
		}
		set, files := filesOf(t, pkg)
		for _, file := range files {
			internal := map[string]bool{}
			for _, spec := range file.Imports {
				p, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(p, "/internal/") {
					name := p[strings.LastIndex(p, "/")+1:]
					if spec.Name != nil {
						name = spec.Name.Name
					}
					internal[name] = true
				}
			}
			for _, decl := range file.Decls {
				for _, node := range surfaceOf(decl) {
					checked++
					ast.Inspect(node, func(n ast.Node) bool {
						if s, ok := n.(*ast.SelectorExpr); ok {
							if x, ok := s.X.(*ast.Ident); ok && internal[x.Name] {
								t.Errorf("%s: %s.%s is part of the public surface", set.Position(s.Pos()), x.Name, s.Sel.Name)
							}
						}
						return true
					})
				}
			}
		}
	}
	if checked < 300 {
		t.Errorf("%d declarations were checked, expected 300 or more", checked)
	}
}

// Claim: every exported type, function, method, field, constant and variable of a promised package has a comment of its
// own: above it, or behind it in the same line.
func TestNamesHaveComments(t *testing.T) {
	checked := 0
	for _, pkg := range promised {
		set, files := filesOf(t, pkg)
		for _, file := range files {
			check := func(names []*ast.Ident, comments ...*ast.CommentGroup) {
				for _, name := range names {
					if !name.IsExported() {
						continue
					}
					checked++
					if !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c.Text() != "" }) {
						t.Errorf("%s: %s has no comment", set.Position(name.Pos()), name.Name)
					}
				}
			}
			for _, decl := range file.Decls {
				switch d := decl.(type) {
				case *ast.FuncDecl:
					if d.Recv == nil || receiverExported(d.Recv.List[0].Type) {
						check([]*ast.Ident{d.Name}, d.Doc)
					}
				case *ast.GenDecl:
					above := d.Doc
					if d.Lparen.IsValid() { // it describes the group
						above = nil
					}
					for _, spec := range d.Specs {
						switch s := spec.(type) {
						case *ast.TypeSpec:
							check([]*ast.Ident{s.Name}, above, s.Doc)
							if !s.Name.IsExported() {
								continue
							}
							ast.Inspect(s.Type, func(n ast.Node) bool {
								if f, ok := n.(*ast.Field); ok {
									check(f.Names, f.Doc, f.Comment)
								}
								_, function := n.(*ast.FuncType)
								return !function
							})
						case *ast.ValueSpec:
							check(s.Names, above, s.Doc, s.Comment)
						}
					}
				}
			}
		}
	}
	if checked < 1000 {
		t.Errorf("%d names were checked, expected 1000 or more", checked)
	}
}

// filesOf returns the files of a package without its tests.
func filesOf(t *testing.T, pkg string) (set *token.FileSet, files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set = token.NewFileSet()
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return set, files
}

// surfaceOf returns the types that an exported declaration shows.
func surfaceOf(decl ast.Decl) (shown []ast.Node) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || receiverExported(d.Recv.List[0].Type)) {
			shown = append(shown, d.Type)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && !s.Assign.IsValid() {
					shown = append(shown, fieldsOf(s.Type)...)
				}
			case *ast.ValueSpec:
				if s.Names[0].IsExported() && s.Type != nil {
					shown = append(shown, s.Type)
				}
			}
		}
	}
	return shown
}

// fieldsOf returns the types of the exported fields or methods of a type, or the type itself.
func fieldsOf(of ast.Expr) (types []ast.Node) {
	var list *ast.FieldList
	switch x := of.(type) {
	case *ast.StructType:
		list = x.Fields
	case *ast.InterfaceType:
		list = x.Methods
	default:
		return []ast.Node{of}
	}
	for _, f := range list.List {
		if len(f.Names) == 0 || f.Names[0].IsExported() {
			types = append(types, f.Type)
		}
	}
	return types
}

func receiverExported(of ast.Expr) bool {
	switch x := of.(type) {
	case *ast.StarExpr:
		return receiverExported(x.X)
	case *ast.IndexExpr:
		return receiverExported(x.X)
	case *ast.Ident:
		return x.IsExported()
	}
	return false
}
