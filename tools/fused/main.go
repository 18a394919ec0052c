// Command fused finds products that the compiler fuses with a sum into one operation with a single
// rounding. The compiler may fuse on arm64 and does not on amd64, so the same training would give
// other numbers. The command builds the program for arm64 and lists the lines of this project with
// a fused operation. It omits lines that ask for it by math.FMA, and lines whose product is exact,
// such as those of math/rand.
//
//	cd tools && go run ./fused ..
//
// A product that is explicitly converted, as in float64(a*b) + c, is not fused (the Go specification,
// "Floating-point operators").
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/listwise/listwise"

var (
	function = regexp.MustCompile(`^TEXT (\S+)\(SB\)`)
	multiply = regexp.MustCompile(`^\s+(\S+\.go):(\d+)\s.*\sFN?M(?:ADD|SUB)[DS]\s`)
	exact    = regexp.MustCompile(`math\.FMA\(|rng\.Float(?:64|32)\(\)`)
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	found, err := find(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fused:", err)
		os.Exit(1)
	}
	for _, line := range found {
		fmt.Println(line)
	}
	if len(found) > 0 {
		fmt.Fprintf(os.Stderr, "fused: found %d lines, expected none: convert the product, as in float64(a*b) + c\n", len(found))
		os.Exit(1)
	}
}

// find returns the lines with a fused operation, as FILE:LINE.
func find(root string) ([]string, error) {
	folder, err := os.MkdirTemp("", "fused")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "listwise")
	build := exec.Command("go", "build", "-o", program, "./cmd/listwise")
	build.Dir, build.Stderr = root, os.Stderr
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("building for arm64: %w", err)
	}
	dump, err := exec.Command("go", "tool", "objdump", "-s", module, program).Output()
	if err != nil {
		return nil, fmt.Errorf("go tool objdump: %w", err)
	}
	sources, err := filesByName(root)
	if err != nil {
		return nil, err
	}
	var found []string
	pkg := ""
	lines := bufio.NewScanner(bytes.NewReader(dump))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if m := function.FindStringSubmatch(lines.Text()); m != nil {
			pkg = packageOf(m[1])
		} else if m := multiply.FindStringSubmatch(lines.Text()); m != nil {
			n, _ := strconv.Atoi(m[2])
			if at := place(sources[m[1]], pkg, n); at != "" && !slices.Contains(found, at) {
				found = append(found, at)
			}
		}
	}
	slices.Sort(found)
	return found, lines.Err()
}

// packageOf returns the folder of a function's package, relative to the module's root.
func packageOf(name string) string {
	folder, last := filepath.Split(strings.TrimPrefix(strings.TrimPrefix(name, module), "/"))
	last, _, _ = strings.Cut(last, ".")
	return folder + last
}

// filesByName returns the Go files below root, by their base names.
func filesByName(root string) (map[string][]string, error) {
	list := exec.Command("git", "ls-files", "*.go")
	list.Dir = root
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	files := make(map[string][]string)
	for _, path := range strings.Fields(string(text)) {
		files[filepath.Base(path)] = append(files[filepath.Base(path)], filepath.Join(root, path))
	}
	return files, nil
}

// place returns FILE:LINE for a line, or "" if the line's product is exact. files are the files
// with the line's base name. The line is in the file of package pkg or, if the function was
// inlined, in one of the others.
func place(files []string, pkg string, line int) string {
	if k := slices.IndexFunc(files, func(f string) bool { return strings.HasSuffix(filepath.Dir(f), pkg) }); k >= 0 {
		files = files[k : k+1]
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		all := strings.Split(string(text), "\n")
		if line <= len(all) && exact.MatchString(all[line-1]) {
			return ""
		}
	}
	if len(files) == 0 {
		return "" // an inlined function of the standard library
	}
	return fmt.Sprintf("%s:%d", files[0], line)
}
