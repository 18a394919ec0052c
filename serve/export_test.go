package serve

import (
	"strings"
	"testing"
	"time"
)

// TidyAfter sets when memory of large requests is given back.
func TidyAfter(t *testing.T, d time.Duration) {
	t.Helper()
	old := tidyAfter
	tidyAfter = d
	t.Cleanup(func() { tidyAfter = old })
}

// RenameFeature gives a feature of a model a name that no file has.
func (l *Loaded) RenameFeature(column int, name string) { l.schema.Names[column] = name }

// Paths returns the paths that the server has, as the description writes them.
func (s *Server) Paths() (paths []string) {
	for pattern := range s.handlers() {
		_, path, _ := strings.Cut(pattern, " ")
		paths = append(paths, strings.ReplaceAll(path, "{call}", "{name}:rank"))
	}
	return paths
}
