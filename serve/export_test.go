package serve

import "strings"

// Paths returns the paths that the server has, as the description writes them.
func (s *Server) Paths() (paths []string) {
	for pattern := range s.handlers() {
		_, path, _ := strings.Cut(pattern, " ")
		paths = append(paths, strings.ReplaceAll(path, "{call}", "{name}:rank"))
	}
	return paths
}
