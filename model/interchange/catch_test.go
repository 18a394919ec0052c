package interchange

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Claim: no panic of must and check leaves the package, since every function that calls one of them
// begins with a deferred catch.
func TestEveryMustIsCaught(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	functions := 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || strings.HasPrefix(f.Name.Name, "must") || !calls(f.Body, "must", "must2", "check") {
				continue
			}
			functions++
			if first, ok := f.Body.List[0].(*ast.DeferStmt); !ok || !calls(first, "catch") {
				t.Errorf("%s: %s calls must or check, and does not begin with defer catch(&err)", path, f.Name.Name)
			}
		}
	}
	if functions == 0 {
		t.Error("found no function that calls must or check")
	}
}

// calls reports whether a part of a program calls a function of one of the names.
func calls(part ast.Node, names ...string) (found bool) {
	ast.Inspect(part, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			id, ok := c.Fun.(*ast.Ident)
			for _, name := range names {
				found = found || ok && id.Name == name
			}
		}
		return true
	})
	return found
}

// Claim: catch returns the first error and passes other panics on.
func TestCatch(t *testing.T) {
	wrongs := errors.New("wrong")
	f := func(err error) (n int, _ string, caught error) {
		defer catch(&caught)
		n = must(1, nil)
		_, s := must2(2, "two", err)
		return n, s, nil
	}
	if n, s, err := f(nil); n != 1 || s != "two" || err != nil {
		t.Errorf("without an error there are %d, %q and the error %v", n, s, err)
	}
	if _, _, err := f(wrongs); !errors.Is(err, wrongs) {
		t.Errorf("the error is %v, expected %v", err, wrongs)
	}
	defer func() {
		if r := recover(); r != "another" {
			t.Errorf("the panic is %v, expected another", r)
		}
	}()
	func() (err error) {
		defer catch(&err)
		panic("another")
	}()
}
