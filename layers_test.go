package listwise

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/listwise/listwise"

// layers are the top-level folders of the module, from the highest layer to the lowest. "." is the root package.
// A package imports packages of its own top-level folder and of lower layers only.
var layers = [][]string{
	{"cmd"}, // and python and beam, modules of their own
	{"app", "examples"},
	{"tune", "."},
	{"serve", "learn", "engine"},
	{"click"},
	{"model"},
	{"eval"},
	{"dataset"},
	{"internal"},
}

// heavy are the modules outside the standard library that a package may import.
var heavy = map[string][]string{
	"internal/testing/browsertest": {"github.com/chromedp/chromedp", "github.com/chromedp/cdproto"},
	"internal/chart":               {"codeberg.org/go-pdf/fpdf", "codeberg.org/go-fonts/liberation"},
	"internal/kernel":              {"golang.org/x/sys/cpu"},
	"dataset/compress":             {"github.com/klauspost/compress"},
	"dataset/datatest":             {"pgregory.net/rapid", "github.com/google/go-cmp", "github.com/klauspost/compress"},
	"dataset/internal/parquet":     {"github.com/parquet-go/parquet-go", "github.com/klauspost/compress", "github.com/andybalholm/brotli", "github.com/pierrec/lz4"},
	"model/interchange":            {"google.golang.org/protobuf/encoding/protowire"},
	"serve":                        {"github.com/prometheus/client_golang", "golang.org/x/net/netutil"},
	"examples/serve":               {"github.com/prometheus/client_golang"},
	"tune/runs":                    {"modernc.org/sqlite", "golang.org/x/sys/windows"},
	"app/papers":                   {"golang.org/x/sys"},
	"app/bench":                    {"golang.org/x/sys"},
	"app":                          {"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/jedib0t/go-pretty", "golang.org/x/term"},
	"app/manual":                   {"github.com/spf13/cobra"},
}

// layerOf returns the index in layers of the package's top-level folder, or -1.
func layerOf(pkg string) int {
	folder, _, _ := strings.Cut(pkg, "/")
	return slices.IndexFunc(layers, func(f []string) bool { return slices.Contains(f, folder) })
}

// folderOf returns the top-level folder of a package.
func folderOf(pkg string) string {
	folder, _, _ := strings.Cut(pkg, "/")
	return folder
}

// mayImport reports whether a package may import a path.
func mayImport(pkg, path string) bool {
	if path == module {
		return layerOf(".") > layerOf(pkg)
	}
	own, ok := strings.CutPrefix(path, module+"/")
	if !ok {
		return allowed(heavy[pkg], path)
	}
	return folderOf(own) == folderOf(pkg) || layerOf(own) > layerOf(pkg)
}

// Claim: packages import lower layers only, and modules in heavy are imported by the packages that heavy lists.
func TestLayers(t *testing.T) {
	packages := importsOf(t)
	for pkg, imports := range packages {
		if layerOf(pkg) < 0 {
			t.Errorf("package %s is in no layer", pkg)
			continue
		}
		for _, path := range imports {
			if !mayImport(pkg, path) {
				t.Errorf("%s may not import %s", pkg, path)
			}
		}
	}
	for pkg, modules := range heavy {
		for _, m := range modules {
			if !slices.ContainsFunc(packages[pkg], func(path string) bool { return allowed([]string{m}, path) && !allowed(nil, path) }) {
				t.Errorf("heavy allows %s in %s, which does not import it", m, pkg)
			}
		}
	}
}

// TestLayersReject shows that the check above can fail.
func TestLayersReject(t *testing.T) {
	for _, path := range []string{module + "/tune", module + "/serve", module, "github.com/spf13/cobra", "gonum.org/v1/gonum/blas"} {
		if mayImport("learn/train", path) {
			t.Errorf("learn/train may import %s", path)
		}
	}
	for _, path := range []string{module + "/learn/loss", module + "/model", module + "/internal/kernel", "fmt"} {
		if !mayImport("learn/train", path) {
			t.Errorf("learn/train may not import %s", path)
		}
	}
}

// light are the packages of a program that only scores and measures: they and all
// that they import need the standard library and golang.org/x/sys alone.
var light = []string{"eval/measure", "model", "model/scorer"}

// TestLightPackages checks the imports of the light packages, followed to their ends
// as the toolchain does.
func TestLightPackages(t *testing.T) {
	for _, pkg := range light {
		deps := dependencies(t, pkg)
		if !slices.Contains(deps, module+"/"+pkg) {
			t.Errorf("%s is not among its own dependencies %q", pkg, deps)
		}
		for _, path := range deps {
			if own := strings.HasPrefix(path, module+"/"); !own && !allowed([]string{"golang.org/x/sys"}, path) {
				t.Errorf("%s needs %s", pkg, path)
			}
		}
	}
	if !slices.Contains(dependencies(t, "dataset/datafile"), "github.com/klauspost/compress/zstd") {
		t.Error("dataset/datafile needs no zstd, so this test cannot fail")
	}
}

// dependencies returns all packages that a package needs, itself and the standard
// library's included.
func dependencies(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "./"+pkg).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// allowed reports whether a path is of the standard library or of one of the modules.
func allowed(modules []string, path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") || slices.ContainsFunc(modules, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
}

// apart are folders whose packages are not the module's, or not of its programs.
var apart = []string{"testdata", "tools", "gen", "python", "beam"}

// importsOf returns the imports of every package of the module, tests and
// generators (files that are built by themselves) left out.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	imports := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		if e.IsDir() && path != "." && (strings.HasPrefix(name, ".") || slices.Contains(apart, name)) {
			return filepath.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		imports[pkg] = append(imports[pkg], nil...)
		for _, spec := range file.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imports[pkg] = append(imports[pkg], p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imports
}
