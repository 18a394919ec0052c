package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// debian makes a Debian package of the program. Without dpkg-deb, it does nothing.
func (r *release) debian(arch, program string) error {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		fmt.Println("no dpkg-deb: no Debian package")
		return nil
	}
	tree := filepath.Join(r.work, "deb-"+arch)
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	if err := put(filepath.Join(tree, "usr/bin/listwise"), content, 0o755); err != nil {
		return err
	}
	if err := r.debianShare(tree); err != nil {
		return err
	}
	control := fmt.Sprintf(`Package: listwise
Version: %s
Architecture: %s
Maintainer: listwise (https://github.com/listwise/listwise)
Section: science
Priority: optional
Homepage: https://github.com/listwise/listwise
Installed-Size: %d
Description: learning to rank from judged queries
 Learns ranking functions from judged queries, measures them by the measures of
 information retrieval, compares methods with tests, and scores documents.
`, debianVersion(r.version), arch, (len(content)+1023)/1024)
	if err := put(filepath.Join(tree, "DEBIAN/control"), []byte(control), 0o644); err != nil {
		return err
	}
	name := fmt.Sprintf("listwise_%s_%s.deb", r.version, arch)
	return r.command(nil, "dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, filepath.Join(r.out, name))
}

// debianShare puts the manual, the completions and the licence where Debian expects them.
func (r *release) debianShare(tree string) error {
	shared, err := below(filepath.Join(r.work, "share"))
	if err != nil {
		return err
	}
	places := map[string]string{
		"completions/listwise.bash": "usr/share/bash-completion/completions/listwise",
		"completions/_listwise":     "usr/share/zsh/vendor-completions/_listwise",
		"completions/listwise.fish": "usr/share/fish/vendor_completions.d/listwise.fish",
	}
	for _, f := range shared {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		place := places[f.name]
		if page, ok := strings.CutPrefix(f.name, "man1/"); ok {
			place, content = "usr/share/man/man1/"+page+".gz", compressed(content)
		}
		if place == "" {
			continue // for another system
		}
		if err := put(filepath.Join(tree, place), content, 0o644); err != nil {
			return err
		}
	}
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	return put(filepath.Join(tree, "usr/share/doc/listwise/copyright"), licence, 0o644)
}

// compressed returns content in gzip's format, without a name and a time.
func compressed(content []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // only an unknown level is an error
	}
	z.Write(content) //nolint:errcheck // a bytes.Buffer takes everything
	z.Close()        //nolint:errcheck // as above
	return b.Bytes()
}

// debianVersion returns a version in dpkg's form: a pre-release has ~, so that it sorts before the
// release.
func debianVersion(v string) string { return strings.Replace(v, "-", "~", 1) }

// put writes a file and creates the folders above it.
func put(path string, content []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, mode)
}
