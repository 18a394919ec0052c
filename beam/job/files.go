package job

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs" // gs://
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"  // s3://

	"github.com/listwise/listwise/dataset/shards"
	"github.com/listwise/listwise/internal/atomicfile"
)

// remote reports whether a path is not a local path.
func remote(path string) bool { return strings.Contains(path, "://") }

// under returns the path of a file in a folder.
func under(dir string, names ...string) string {
	if !remote(dir) {
		return filepath.Join(append([]string{dir}, names...)...)
	}
	return strings.TrimSuffix(dir, "/") + "/" + path.Join(names...)
}

// open opens a file of any filesystem. The caller must call closeAll.
func open(ctx context.Context, name string) (r io.Reader, closeAll func(), err error) {
	if !remote(name) {
		f, err := os.Open(name)
		return f, func() { _ = f.Close() }, err // it is only read
	}
	fs, err := filesystem.New(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	f, err := fs.OpenRead(ctx, name)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", name, err), fs.Close())
	}
	return f, func() { _, _ = f.Close(), fs.Close() }, nil
}

// read returns the content of a file of any filesystem.
func read(ctx context.Context, name string) ([]byte, error) {
	r, done, err := open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer done()
	return io.ReadAll(r)
}

// checksum returns the size and the SHA-256 of a file of any filesystem.
func checksum(ctx context.Context, name string) (int64, string, error) {
	r, done, err := open(ctx, name)
	if err != nil {
		return 0, "", err
	}
	defer done()
	h := sha256.New()
	n, err := io.Copy(h, r)
	return n, hex.EncodeToString(h.Sum(nil)), err
}

// write writes a file of any filesystem. A local file appears when it is complete, and so does an object of a
// store.
func write(ctx context.Context, name string, from io.Reader) error {
	if !remote(name) {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		return atomicfile.Write(name, func(w io.Writer) error {
			_, err := io.Copy(w, from)
			return err
		})
	}
	fs, err := filesystem.New(ctx, name)
	if err != nil {
		return err
	}
	f, err := fs.OpenWrite(ctx, name)
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", name, err), fs.Close())
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Close(), fs.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// upload copies a local file to any filesystem.
func upload(ctx context.Context, from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it is only read
	return write(ctx, to, f)
}

// download copies a file of any filesystem to a local file.
func download(ctx context.Context, from, to string) error {
	r, done, err := open(ctx, from)
	if err != nil {
		return err
	}
	defer done()
	return write(ctx, to, r)
}

// discard removes a file of any filesystem, if there is one.
func discard(ctx context.Context, name string) error {
	if !remote(name) {
		if err := os.Remove(name); err != nil && !absent(err) {
			return err
		}
		return nil
	}
	fs, err := filesystem.New(ctx, name)
	if err != nil {
		return err
	}
	defer func() { _ = fs.Close() }() // nothing was written
	found, err := fs.List(ctx, name)
	if err != nil || len(found) == 0 {
		return err
	}
	r, ok := fs.(filesystem.Remover)
	if !ok {
		return fmt.Errorf("%s: found a filesystem that removes nothing, expected to remove the manifest of earlier results", name)
	}
	return r.Remove(ctx, name)
}

// file returns the local path of a file. It downloads a remote file.
func (w *workspace) file(ctx context.Context, name string) (string, error) {
	if !remote(name) {
		return name, nil
	}
	local := filepath.Join(w.dir, "inputs", path.Base(name))
	return local, download(ctx, name, local)
}

// folder returns the local path of a folder. It downloads a remote folder, including the folders in it.
func (w *workspace) folder(ctx context.Context, name string) (string, error) {
	if !remote(name) {
		return name, nil
	}
	fs, err := filesystem.New(ctx, name)
	if err != nil {
		return "", err
	}
	defer func() { _ = fs.Close() }() // it is only read
	local, base := filepath.Join(w.dir, "folder"), strings.TrimSuffix(name, "/")+"/"
	for _, pattern := range []string{"*", "*/*", "*/*/*"} { // the depth of folds of shards
		files, err := fs.List(ctx, base+pattern)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		for _, f := range files {
			inside := filepath.FromSlash(strings.TrimPrefix(f, base))
			if !filepath.IsLocal(inside) {
				return "", fmt.Errorf("%s: found %q, expected files in the folder", name, f)
			}
			if err := download(ctx, f, filepath.Join(local, inside)); err != nil {
				return "", err
			}
		}
	}
	return local, nil
}

// manifestOf returns the manifest of a folder of shards, and its text.
func manifestOf(ctx context.Context, data string) (*shards.Manifest, []byte, error) {
	at := under(data, shards.FileName)
	text, err := read(ctx, at)
	if err != nil {
		return nil, nil, fmt.Errorf("%w, expected the manifest of a folder of shards (listwise data shard)", err)
	}
	m, err := shards.Parse(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: found %w, expected the manifest of a folder of shards", at, err)
	}
	return m, text, nil
}

// shard returns a local folder that has at least the manifest and one shard.
func (w *workspace) shard(ctx context.Context, data string, shard int) (string, error) {
	if !remote(data) {
		return data, nil
	}
	m, text, err := manifestOf(ctx, data)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(w.dir, "data")
	name := m.Shards[shard].Name
	if err := download(ctx, under(data, name), filepath.Join(dir, filepath.FromSlash(name))); err != nil {
		return "", err
	}
	return dir, errors.Join(os.WriteFile(filepath.Join(dir, shards.FileName), text, 0o600))
}
