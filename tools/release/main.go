// Command release makes the files of a release from a checkout:
//
//	go run . -out DIR [-targets linux/amd64,…]
//
// For every system it makes an archive with the program, the manual pages and the shell
// completions. A CycloneDX document beside the archive lists the program's components. For Linux it
// also makes a Debian package, if dpkg-deb is installed. SHA256SUMS has the checksums of all files.
// The version is the tag of the commit, or a version that names the commit. The same commit always
// gives the same bytes.
//
// Start reading at [release.make].
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const allTargets = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	out := flag.String("out", "dist", "`folder` for the files; it must be empty or not exist")
	targets := flag.String("targets", allTargets, "systems, separated by commas")
	root := flag.String("root", "../..", "the checkout")
	flag.Parse()
	if err := run(*root, *out, strings.Split(*targets, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(root, out string, targets []string) error {
	if entries, err := os.ReadDir(out); err == nil && len(entries) > 0 {
		return fmt.Errorf("found %d files in %s, expected an empty folder", len(entries), out)
	}
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r := &release{work: work}
	if r.root, err = filepath.Abs(root); err != nil {
		return err
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return err
	}
	return r.make(targets)
}

// release is a release in progress.
type release struct {
	root, out, work string // the checkout, the folder for the files, and a temporary folder
	version         string // without the leading v
	time            time.Time
}

// make makes all files.
func (r *release) make(targets []string) error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if err := r.readCommit(); err != nil {
		return err
	}
	if err := r.command(nil, "go", "run", "./app/manual", filepath.Join(r.work, "share")); err != nil {
		return err
	}
	for _, target := range targets {
		system, arch, ok := strings.Cut(target, "/")
		if !ok {
			return fmt.Errorf("found the target %q, expected one such as linux/amd64", target)
		}
		if err := r.target(system, arch); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return r.checksums()
}

// readCommit sets the version and the time of the commit. It builds a program from the checkout,
// which reports both. It returns an error for a checkout with changes, because no version would
// name the result.
func (r *release) readCommit() error {
	path := filepath.Join(r.work, "listwise")
	if err := r.build(path, nil); err != nil {
		return err
	}
	text, err := exec.Command(path, "version", "--format", "json").Output()
	if err != nil {
		return err
	}
	var v struct {
		Version, Commit string
		Time            time.Time
		Modified        bool
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	if v.Commit == "" || v.Modified {
		return errors.New("found a checkout with changes or without commits, expected a commit as it is")
	}
	r.version, r.time = strings.TrimPrefix(v.Version, "v"), v.Time.UTC()
	fmt.Printf("version %s of %s\n", r.version, r.time.Format(time.DateTime))
	return nil
}

// build compiles the program for the system that env names.
func (r *release) build(path string, env []string) error {
	return r.command(append(env, "CGO_ENABLED=0", "GOFLAGS="), "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", path, "./cmd/listwise")
}

// target makes the files for a system.
func (r *release) target(system, arch string) error {
	name := fmt.Sprintf("listwise_%s_%s_%s", r.version, system, arch)
	program := "listwise"
	if system == "windows" {
		program += ".exe"
	}
	stage := filepath.Join(r.work, name)
	path := filepath.Join(stage, program)
	if err := r.build(path, []string{"GOOS=" + system, "GOARCH=" + arch}); err != nil {
		return err
	}
	if err := writeSBOM(filepath.Join(r.out, name+".cdx.json"), path, r.version, r.time); err != nil {
		return err
	}
	files := []file{{path, program, 0o755}}
	for _, doc := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		files = append(files, file{filepath.Join(r.root, doc), doc, 0o644})
	}
	shared, err := below(filepath.Join(r.work, "share"))
	if err != nil {
		return err
	}
	files = append(files, shared...)
	if system == "windows" {
		return writeZip(filepath.Join(r.out, name+".zip"), name, files, r.time)
	}
	if err := writeTar(filepath.Join(r.out, name+".tar.gz"), name, files, r.time); err != nil {
		return err
	}
	if system == "linux" {
		return r.debian(arch, path)
	}
	return nil
}

// command runs a program in the checkout, with additional environment variables.
func (r *release) command(env []string, name string, args ...string) error {
	c := exec.Command(name, args...)
	c.Dir, c.Stderr = r.root, os.Stderr
	c.Env = append(os.Environ(), env...)
	if !r.time.IsZero() {
		c.Env = append(c.Env, "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.time.Unix(), 10))
	}
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

// checksums writes SHA256SUMS in the format of sha256sum.
func (r *release) checksums() error {
	files, err := below(r.out)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, f := range files {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		fmt.Fprintf(&text, "%s  %s\n", hex.EncodeToString(sum[:]), f.name)
		fmt.Printf("%10d  %s\n", len(content), f.name)
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(text.String()), 0o644)
}
