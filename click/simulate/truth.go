package simulate

import "math"

// Truth is what a simulation knows and an estimate may be compared with.
type Truth struct {
	Model      string         `json:"model"`
	Parameters map[string]any `json:"parameters"`
	// Theta is the probability of examination by rank. It is nil if it depends on the clicks above.
	Theta     []float64       `json:"theta,omitempty"`
	Documents []TruthDocument `json:"documents"`
}

// TruthDocument has the parameters of a document of a query.
type TruthDocument struct {
	Query        string   `json:"query"`
	Doc          string   `json:"doc"`
	Grade        float64  `json:"grade"`
	Gamma        float64  `json:"gamma"` // attraction
	Satisfaction *float64 `json:"satisfaction,omitempty"`
}

// Truth returns the parameters of a prepared simulation.
func (s *Simulation) Truth() Truth {
	t := Truth{Theta: s.Theta()}
	t.Model, t.Parameters = s.Clicks.Describe()
	for i, q := range s.Queries {
		for k, doc := range q.Docs {
			d := TruthDocument{Query: q.ID, Doc: doc, Grade: q.Grades[k]}
			var satisfaction float64
			if d.Gamma, satisfaction = s.bound.Document(i, k); !math.IsNaN(satisfaction) {
				d.Satisfaction = &satisfaction
			}
			t.Documents = append(t.Documents, d)
		}
	}
	return t
}

// Theta returns the probability of examination of the ranks shown, nil if it depends on the clicks above.
func (s *Simulation) Theta() (theta []float64) {
	for r := range s.Top {
		v, ok := s.Clicks.Theta(r)
		if !ok {
			break
		}
		theta = append(theta, v)
	}
	return theta
}
