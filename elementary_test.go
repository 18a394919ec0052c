package listwise

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// differing are the functions of the standard library whose last digit depends on the
// architecture, and what to call in their place.
var differing = map[string]string{
	"Exp": "elementary", "Exp2": "elementary", "Expm1": "elementary", "Log": "elementary", "Log1p": "elementary", "Log2": "elementary", "Log10": "elementary",
	"Pow": "elementary", "Erfc": "elementary", "Erfinv": "elementary", "Erf": "elementary", "Erfcinv": "elementary", "Lgamma": "elementary", "Gamma": "elementary",
	"Sin": "elementary", "Cos": "elementary", "Tan": "elementary", "Sincos": "elementary", "Asin": "elementary", "Acos": "elementary", "Atan": "elementary", "Atan2": "elementary",
	"Sinh": "elementary", "Cosh": "elementary", "Tanh": "elementary", "Hypot": "elementary", "Cbrt": "elementary",
	"NormFloat64": "random", "ExpFloat64": "random",
}

// TestOwnElementaryFunctions: no package of the program calls a function whose result depends on
// the architecture, so that models, scores and tables do not.
func TestOwnElementaryFunctions(t *testing.T) {
	outside := []string{"internal/elementary", "internal/testing/numtest", "tools", "python", "beam"}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains(outside, filepath.ToSlash(path)) || path != "." && strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			instead := differing[s.Sel.Name]
			of, _ := s.X.(*ast.Ident)
			if instead == "elementary" && of != nil && of.Name == "math" || instead == "random" {
				t.Errorf("%s calls %s, whose last digit depends on the architecture: internal/%s has one that does not", files.Position(s.Pos()), s.Sel.Name, instead)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
