package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// features is the number of features of the models.
const features = 24

// scales are the weights of the two models. A model has the same weight for all features, so the
// scores of one model are a thousand times those of the other.
var scales = [2]float64{1, 1000}

// models is a model file that alternates between two models.
type models struct {
	path string
	next int
}

func newModels(folder string) *models { return &models{path: filepath.Join(folder, "model.json")} }

// replace replaces the file by the other model, by a rename. Every fifth time it first installs
// half of a file, which a server must reject.
func (m *models) replace() error {
	weight := fmt.Sprint(scales[m.next%2])
	text := fmt.Sprintf(`{"format":"listwise-model","version":1,"method":"soak","features":{"count":%d},"normalization":"none","scorer":{"type":"linear","weights":[%s]}}%s`,
		features, strings.TrimSuffix(strings.Repeat(weight+",", features), ","), strings.Repeat(" ", m.next%7))
	if m.next%5 == 4 {
		if err := m.write([]byte(text[:len(text)/2])); err != nil {
			return err
		}
	}
	m.next++
	return m.write(bytes.TrimSpace([]byte(text)))
}

func (m *models) write(text []byte) error {
	if err := os.WriteFile(m.path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(m.path+".new", m.path)
}
