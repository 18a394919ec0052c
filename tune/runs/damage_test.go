package runs

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzDamagedRecord: for any bytes in the database, reading and writing are errors at
// worst.
func FuzzDamagedRecord(f *testing.F) {
	dir := f.TempDir()
	s, err := Open(dir, Patience)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 3 {
		r := example(i)
		if err := s.Begin(r); err != nil {
			f.Fatal(err)
		}
		r.Status = Finished
		if err := s.Finish(r); err != nil {
			f.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(Path(dir))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), []byte("no database"))
	f.Add(uint32(4096), []byte{13, 0, 0, 255, 255, 0, 0})
	for at := 100; at < len(whole); at += len(whole) / 200 { // all over the file
		f.Add(uint32(at), []byte{0, 1, 2, 3, 255})
	}
	f.Fuzz(func(t *testing.T, at uint32, bad []byte) {
		text := bytes.Clone(whole)
		copy(text[int(at)%len(text):], bad)
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Dir(Path(dir)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(Path(dir), text, 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, Patience)
		if err != nil {
			return
		}
		defer s.Close()
		list, _ := s.List(Filter{})
		for i := range list {
			_, _ = s.Get(list[i].ID)
		}
		r := example(1)
		if s.Begin(r) == nil {
			r.Status = Finished
			_ = s.Finish(r)
		}
	})
}
