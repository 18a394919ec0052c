package simulate

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

// Truth returns the parameters of a prepared simulation with a model of ParseModel.
func (s *Simulation) Truth() Truth {
	g, b := s.Clicks.(*Graded), s.bound.(*graded)
	t := Truth{Model: g.Name, Parameters: g.parameters, Theta: s.Theta()}
	for i, q := range s.Queries {
		for k, doc := range q.Docs {
			d := TruthDocument{Query: q.ID, Doc: doc, Grade: q.Grades[k], Gamma: b.attraction[i][k]}
			if g.Stop != nil {
				d.Satisfaction = &b.satisfaction[i][k]
			}
			t.Documents = append(t.Documents, d)
		}
	}
	return t
}

// Theta returns the probability of examination of the ranks shown, nil if it depends on the clicks above.
func (s *Simulation) Theta() (theta []float64) {
	if g, ok := s.Clicks.(*Graded); ok && g.theta != nil {
		for r := range s.Top {
			theta = append(theta, g.theta(r))
		}
	}
	return theta
}
