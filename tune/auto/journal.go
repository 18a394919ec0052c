package auto

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/listwise/listwise/dataset/transform"
	"github.com/listwise/listwise/internal/atomicfile"
)

// decisionName is the name of a file in the folder of a run. When the time of the trials is over,
// the run writes the numbers of the trials that count to this file. So an interrupted run can be
// resumed with the same trials. The records of package tune contain the trainings.
const decisionName = "trials.json"

type decision struct {
	Key     string `json:"key"`
	Trials  int    `json:"trials"`
	Without []int  `json:"without,omitempty"`
}

// key returns a hash of everything on which the trials of a run depend, such as data, seed and
// time.
func (s *search) key() string {
	r, c := s.run, &s.config
	parts := []any{r.Budget, r.Trials, r.Without, r.Members, c.Seed, c.Select.Name(), c.Convention.Name(), c.Convention.Threshold(), c.Normalization.String(), c.Missing.String(), transform.Texts(c.Transforms)}
	if r.Target != nil {
		parts = append(parts, r.Target.Name())
	}
	for i := range c.Folds {
		parts = append(parts, c.Folds[i].Train.Fingerprint(), c.Folds[i].Valid.Fingerprint())
	}
	for _, m := range r.Methods {
		parts = append(parts, m.Identity())
	}
	for _, f := range r.families {
		parts = append(parts, f.name, f.grid)
	}
	text, err := json.Marshal(parts)
	if err != nil {
		panic(err) // strings and numbers always have a JSON form
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// restore sets Trials and Without from the decision of an earlier run with the same key, which was
// interrupted after the time of its trials was over.
func (s *search) restore() error {
	if s.Tune.Dir == "" || s.Budget <= 0 {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(s.Tune.Dir, decisionName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var d decision
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		return fmt.Errorf("%w; delete the folder to search again", err)
	}
	if d.Key == s.key() {
		s.Trials, s.Without = d.Trials, d.Without
	}
	return nil
}

// decide writes the decision: which trials count.
func (s *search) decide() error {
	if s.Tune.Dir == "" || s.Budget <= 0 || len(s.trials) == 0 {
		return nil
	}
	result := Result{Trials: s.trials}
	return atomicfile.Write(filepath.Join(s.Tune.Dir, decisionName), atomicfile.JSON(decision{s.key(), len(s.trials), result.Without()}))
}
