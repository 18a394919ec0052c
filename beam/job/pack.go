package job

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/listwise/listwise/dataset/shards"
)

// pack writes the files of a folder to one tar file. The same files give the same bytes.
func pack(dir, file string) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	t := tar.NewWriter(f)
	defer func() { err = errors.Join(err, t.Close(), f.Close()) }()
	return eachFile(dir, func(inside string) error {
		text, err := os.ReadFile(filepath.Join(dir, inside))
		if err != nil {
			return err
		}
		if err := t.WriteHeader(&tar.Header{Name: filepath.ToSlash(inside), Mode: 0o644, Size: int64(len(text))}); err != nil {
			return err
		}
		_, err = t.Write(text)
		return err
	})
}

// unpack extracts the files of a tar file to a folder.
func unpack(file, dir string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it is only read
	for t := tar.NewReader(f); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		inside := filepath.FromSlash(h.Name)
		if !filepath.IsLocal(inside) || h.Typeflag != tar.TypeReg {
			return fmt.Errorf("found %q, expected files of a training", h.Name)
		}
		text, err := io.ReadAll(t)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, inside)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o644); err != nil { //nolint:gosec // results, as readable as those of the command
			return err
		}
	}
}

// eachFile calls visit with the regular files below a folder, by their names relative to the folder.
func eachFile(dir string, visit func(inside string) error) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		inside, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return visit(inside)
	})
}

// uploadAll copies the files of a folder to any filesystem.
func uploadAll(ctx context.Context, from, to string) error {
	return eachFile(from, func(inside string) error {
		return upload(ctx, filepath.Join(from, inside), under(to, filepath.ToSlash(inside)))
	})
}

// checksums returns the names and checksums of the files of a folder, or the checksum of a file.
func checksums(path string) ([]string, error) {
	var all []string
	err := eachFile(path, func(inside string) error {
		_, sum, err := shards.Checksum(filepath.Join(path, inside))
		all = append(all, filepath.ToSlash(inside)+" "+sum)
		return err
	})
	return all, err
}
