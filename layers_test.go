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

// layer says what a package may import.
type layer struct {
	pkg   string
	allow []string // of this module; * is all
	heavy []string // other modules, by prefix
}

// layers says what each package may import of this module: those of the earlier
// lines that it names. A package that is not listed is not allowed.
var layers = []layer{
	{pkg: "internal/block"},
	{pkg: "internal/atomicfile", allow: []string{"internal/block"}, heavy: []string{"golang.org/x/sys"}},
	{pkg: "internal/browsertest", heavy: []string{"github.com/chromedp/chromedp", "github.com/chromedp/cdproto"}},
	{pkg: "internal/childtest"},
	{pkg: "internal/elementary"},
	{pkg: "internal/random", allow: []string{"internal/elementary"}},
	{pkg: "internal/sessions"},
	{pkg: "internal/numtest"},
	{pkg: "internal/strictjson"},
	{pkg: "internal/binarystate"},
	{pkg: "internal/svg", allow: []string{"internal/elementary"}},
	{pkg: "internal/rows"},
	{pkg: "internal/suggest"},
	{pkg: "internal/kernel", allow: []string{"internal/elementary"}, heavy: []string{"golang.org/x/sys/cpu"}},
	{pkg: "internal/logspace", allow: []string{"internal/elementary", "internal/kernel"}},
	{pkg: "internal/poissonbinomial"},
	{pkg: "internal/parallel", allow: []string{"internal/kernel"}},
	{pkg: "stats", allow: []string{"internal/elementary", "internal/parallel", "internal/random"}},
	{pkg: "dataset", allow: []string{"internal/random", "internal/suggest", "internal/parallel", "internal/block"}},
	{pkg: "dataset/transform", allow: []string{"internal/elementary", "internal/suggest", "internal/parallel", "dataset"}},
	{pkg: "internal/compress", allow: []string{"dataset"}, heavy: []string{"github.com/klauspost/compress"}},
	{pkg: "internal/input", allow: []string{"internal/block", "dataset"}, heavy: []string{"golang.org/x/sys"}},
	{pkg: "internal/datatest", allow: []string{"internal/random", "dataset"}, heavy: []string{"pgregory.net/rapid", "github.com/google/go-cmp", "github.com/klauspost/compress"}},
	{pkg: "internal/decimal"},
	{pkg: "dataset/stream", allow: []string{"internal/parallel", "internal/block", "dataset", "internal/input"}},
	{pkg: "internal/ingest", allow: []string{"internal/parallel", "internal/block", "internal/decimal", "dataset", "dataset/stream", "internal/compress", "internal/input"}},
	{pkg: "dataset/letor", allow: []string{"internal/decimal", "dataset", "dataset/stream", "internal/compress", "internal/input", "internal/ingest", "internal/parallel"}},
	{pkg: "dataset/table", allow: []string{"internal/suggest", "internal/decimal", "dataset", "dataset/stream", "internal/compress", "internal/input", "internal/ingest"}},
	{pkg: "dataset/parquet", allow: []string{"internal/block", "dataset", "dataset/stream", "dataset/table", "internal/input", "internal/ingest", "internal/parallel"}, heavy: []string{"github.com/parquet-go/parquet-go", "github.com/klauspost/compress", "github.com/andybalholm/brotli", "github.com/pierrec/lz4"}},
	{pkg: "dataset/cache", allow: []string{"internal/atomicfile", "internal/parallel", "internal/block", "dataset", "dataset/stream", "internal/input"}},
	{pkg: "dataset/trec", allow: []string{"internal/suggest", "internal/parallel", "dataset", "internal/compress", "internal/input"}},
	{pkg: "dataset/shards", allow: []string{"internal/atomicfile", "internal/strictjson", "dataset"}},
	{pkg: "dataset/datafile", allow: []string{"internal/atomicfile", "internal/random", "internal/parallel", "dataset", "dataset/shards", "dataset/stream", "internal/compress", "internal/input", "dataset/letor", "dataset/cache", "dataset/table", "dataset/parquet", "dataset/trec"}},
	{pkg: "dataset/scored", allow: []string{"internal/suggest", "dataset", "dataset/letor", "dataset/parquet", "dataset/trec"}},
	{pkg: "dataset/synth", allow: []string{"internal/elementary", "internal/suggest", "dataset", "internal/random"}},
	{pkg: "measure", allow: []string{"internal/elementary", "internal/suggest", "internal/rows", "dataset", "internal/parallel", "internal/kernel"}},
	{pkg: "slicing", allow: []string{"stats", "dataset", "measure"}},
	{pkg: "ascent", allow: []string{"internal/parallel", "measure"}},
	{pkg: "fuse", allow: []string{"internal/suggest", "dataset"}},
	{pkg: "loss/bipartite", allow: []string{"internal/suggest", "internal/kernel", "measure"}},
	{pkg: "loss", allow: []string{"internal/random", "internal/elementary", "internal/suggest", "internal/kernel", "internal/logspace", "internal/poissonbinomial", "measure", "loss/bipartite"}},
	{pkg: "loss/losstest", allow: []string{"loss"}},
	{pkg: "loss/logrank/ranking", allow: []string{"loss/bipartite"}},
	{pkg: "loss/logrank/sample", allow: []string{"internal/elementary", "loss/bipartite", "loss/logrank/ranking"}},
	{pkg: "loss/logrank", allow: []string{"internal/elementary", "internal/suggest", "internal/kernel", "internal/logspace", "internal/poissonbinomial", "measure", "loss", "loss/bipartite", "loss/logrank/ranking", "loss/logrank/sample"}},
	{pkg: "scorer", allow: []string{"internal/elementary", "internal/kernel", "internal/parallel", "internal/strictjson"}},
	{pkg: "boost", allow: []string{"internal/block", "internal/elementary", "internal/kernel", "internal/logspace", "internal/parallel", "dataset", "measure", "scorer"}},
	{pkg: "tree", allow: []string{"internal/block", "internal/kernel", "internal/parallel"}},
	{pkg: "optimize", allow: []string{"internal/elementary", "internal/binarystate", "internal/kernel", "internal/parallel"}},
	{pkg: "objective", allow: []string{"internal/elementary", "internal/kernel", "internal/parallel", "internal/random", "dataset", "loss", "scorer"}},
	{pkg: "model", allow: []string{"internal/atomicfile", "internal/strictjson", "internal/parallel", "dataset", "dataset/transform", "fuse", "scorer"}},
	{pkg: "interchange", allow: []string{"internal/elementary", "internal/suggest", "internal/strictjson", "dataset", "fuse", "dataset/transform", "scorer", "model"}, heavy: []string{"google.golang.org/protobuf/encoding/protowire"}},
	{pkg: "serve/rankjson", allow: []string{"internal/decimal", "internal/suggest"}},
	{pkg: "explain", allow: []string{"internal/elementary", "internal/suggest", "internal/parallel", "internal/random", "dataset", "measure", "fuse", "stats", "scorer", "model"}},
	{pkg: "serve/experiment", allow: []string{"internal/strictjson", "serve/rankjson"}},
	{pkg: "serve", allow: []string{"internal/elementary", "internal/suggest", "dataset", "scorer", "model", "interchange", "explain", "serve/rankjson", "serve/experiment"}, heavy: []string{"github.com/prometheus/client_golang", "golang.org/x/net/netutil"}},
	{pkg: "train", allow: []string{"internal/elementary", "internal/block", "internal/atomicfile", "internal/binarystate", "internal/parallel", "internal/random", "dataset", "dataset/transform", "measure", "loss", "scorer", "boost", "objective", "tree", "optimize", "model"}},
	{pkg: "method", allow: []string{"internal/suggest", "internal/random", "internal/block", "internal/parallel", "dataset", "dataset/transform", "measure", "loss", "loss/bipartite", "loss/logrank", "loss/logrank/sample", "scorer", "ascent", "boost", "tree", "optimize", "model", "train"}},
	{pkg: "internal/recipe", allow: []string{"internal/suggest", "dataset", "dataset/transform", "measure", "method"}},
	{pkg: "tune", allow: []string{"internal/elementary", "internal/atomicfile", "internal/parallel", "internal/random", "dataset", "dataset/transform", "dataset/letor", "dataset/datafile", "measure", "fuse", "loss", "model", "train", "method"}},
	{pkg: "auto", allow: []string{"internal/atomicfile", "internal/parallel", "internal/random", "dataset", "measure", "fuse", "model", "train", "method", "tune"}},
	{pkg: "ensemble", allow: []string{"internal/atomicfile", "internal/random", "dataset", "internal/input", "dataset/letor", "dataset/trec", "dataset/datafile", "measure", "ascent", "fuse", "model", "interchange", "tune"}},
	{pkg: "internal/runs", heavy: []string{"modernc.org/sqlite", "golang.org/x/sys/windows"}},
	{pkg: "internal/report", allow: []string{"internal/elementary", "internal/random", "dataset", "measure", "stats", "slicing", "explain", "loss/bipartite", "loss/logrank", "loss/logrank/sample", "scorer", "model", "method", "ensemble"}},
	{pkg: "internal/datareport", allow: []string{"internal/elementary", "internal/parallel", "internal/random", "dataset", "measure", "stats", "internal/report"}},
	{pkg: "internal/paper", allow: []string{"internal/elementary", "internal/kernel", "internal/suggest", "internal/atomicfile", "internal/parallel", "internal/random", "internal/rows", "internal/svg", "dataset", "dataset/synth", "measure", "loss", "loss/bipartite", "loss/logrank", "loss/logrank/ranking", "loss/logrank/sample", "scorer", "objective", "optimize", "train", "method", "model", "stats", "tune"}, heavy: []string{"golang.org/x/sys"}},
	{pkg: "internal/bench", allow: []string{"internal/block", "internal/elementary"}, heavy: []string{"golang.org/x/sys"}},
	{pkg: "internal/cli", allow: []string{"*"}, heavy: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/jedib0t/go-pretty", "golang.org/x/term"}},
	{pkg: "cmd/listwise", allow: []string{"internal/cli"}},
	{pkg: "internal/hostile"},
	{pkg: "internal/manual", allow: []string{"internal/cli"}, heavy: []string{"github.com/spf13/cobra"}},
	{pkg: ".", allow: []string{"dataset", "dataset/transform", "measure", "method", "model"}},
}

// TestLayers checks that dependencies point downwards only and that nothing
// heavy is imported outside the edge packages.
func TestLayers(t *testing.T) {
	for pkg, imports := range importsOf(t) {
		i := slices.IndexFunc(layers, func(l layer) bool { return l.pkg == pkg })
		if i < 0 {
			t.Errorf("package %s has no line in layers", pkg)
			continue
		}
		for _, path := range imports {
			if !allowed(layers[i].allow, layers[i].heavy, path) {
				t.Errorf("%s may not import %s", pkg, path)
			}
		}
	}
}

// TestTableOfLayers checks the table itself: every line is that of a package that
// exists, and what it allows stands on an earlier one.
func TestTableOfLayers(t *testing.T) {
	packages := importsOf(t)
	var earlier []string
	for _, l := range layers {
		if _, ok := packages[l.pkg]; !ok {
			t.Errorf("layers has a line for %s, which is no package", l.pkg)
		}
		for _, a := range l.allow {
			if a != "*" && !slices.Contains(earlier, a) {
				t.Errorf("%s is allowed to import %s, which is not on an earlier line", l.pkg, a)
			}
		}
		earlier = append(earlier, l.pkg)
	}
}

// light are the packages of a program that only scores and measures: they and all
// that they import need the standard library and golang.org/x/sys alone.
var light = []string{"measure", "model", "scorer"}

// TestLightPackages checks the imports of the light packages, followed to their ends
// as the toolchain does.
func TestLightPackages(t *testing.T) {
	for _, pkg := range light {
		deps := dependencies(t, pkg)
		if !slices.Contains(deps, module+"/"+pkg) {
			t.Errorf("%s is not among its own dependencies %q", pkg, deps)
		}
		for _, path := range deps {
			if own := strings.HasPrefix(path, module+"/"); !own && !allowed(nil, []string{"golang.org/x/sys"}, path) {
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

func allowed(allow, heavy []string, path string) bool {
	if own, ok := strings.CutPrefix(path, module+"/"); ok {
		return slices.Contains(allow, own) || slices.Contains(allow, "*")
	}
	first, _, _ := strings.Cut(path, "/")
	if !strings.Contains(first, ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(heavy, func(prefix string) bool { return path == prefix || strings.HasPrefix(path, prefix+"/") })
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

// TestAllowedRejects shows that the check above can fail.
func TestAllowedRejects(t *testing.T) {
	for _, path := range []string{module + "/tune", "github.com/spf13/cobra", "gonum.org/v1/gonum/blas"} {
		if allowed([]string{"internal/kernel"}, []string{"golang.org/x/sys"}, path) {
			t.Errorf("%s is allowed", path)
		}
	}
}
