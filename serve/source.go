package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/interchange"
)

// Source is a model and where it comes from: a file, or memory.
type Source struct {
	Name string // see [CheckName]

	// Path is the path of a model file of listwise or another system. The server reloads a changed
	// file.
	Path string
	FS   fs.FS // the file system that has Path, such as an [embed.FS]; nil means the operating system's

	// Model is a model in memory, in place of Path and FS. It must not change while the server
	// uses it. Its version is that of the file that [model.Model.Save] would write.
	Model *model.Model
}

// check returns an error unless the source has either a file or a model.
func (s *Source) check() error {
	switch {
	case s.Model == nil && s.Path == "":
		return fmt.Errorf("model %s: found neither a path nor a model in memory, expected one of them", s.Name)
	case s.Model != nil && (s.Path != "" || s.FS != nil):
		return fmt.Errorf("model %s: found a model in memory and a file, expected one of them", s.Name)
	}
	return nil
}

// fileState detects changes of a file.
type fileState struct {
	info   fs.FileInfo
	inside bool // the file is in an fs.FS, whose files cannot be told apart
}

// state returns the state of the source's file. A model in memory has none.
func (s *Source) state() (f fileState, err error) {
	switch {
	case s.Model != nil:
	case s.FS != nil:
		f.inside = true
		f.info, err = fs.Stat(s.FS, s.Path)
	default:
		f.info, err = os.Stat(s.Path)
	}
	return f, err
}

func (f fileState) same(g fileState) bool {
	return f.info != nil && g.info != nil && (f.inside || os.SameFile(f.info, g.info)) && f.info.Size() == g.info.Size() && f.info.ModTime().Equal(g.info.ModTime())
}

// isLarge reports whether the source is a file of at least largeModel bytes.
func (s *Source) isLarge() bool {
	state, err := s.state()
	return err == nil && state.info != nil && state.info.Size() >= largeModel
}

// read returns the model with its version, its notes and the state of its file.
func (s *Source) read() (*Loaded, error) {
	if s.Model != nil {
		sum := sha256.New()
		if err := s.Model.Write(sum); err != nil {
			return nil, err
		}
		return &Loaded{Model: s.Model, Version: version(sum.Sum(nil))}, nil
	}
	state, err := s.state() // before reading, so that a later change is detected
	if err != nil {
		return nil, err
	}
	read := model.ReadFile
	if s.FS != nil {
		read = func(path string) ([]byte, error) { return model.ReadFileFS(s.FS, path) }
	}
	data, err := read(s.Path)
	if err != nil {
		return nil, err
	}
	m, notes, err := interchange.Decode(data, interchange.ReadOptions{File: s.Path})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	if len(data) >= largeModel {
		runtime.GC() // data is no longer used
	}
	return &Loaded{Model: m, Version: version(sum[:]), Notes: notes, file: state}, nil
}

// version returns the version that has the given SHA-256.
func version(sum []byte) string { return hex.EncodeToString(sum[:6]) }
