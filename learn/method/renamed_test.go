package method

import (
	"fmt"
	"testing"
)

// Claim: other names of the queries give the same model, to the byte but for what names the
// data, by every method with every scorer: no draw depends on a name.
func TestNamesOfQueriesChangeNoModel(t *testing.T) {
	for _, m := range List() {
		for _, kind := range m.Scorers() {
			train := func(rename bool) string {
				p := quick(t, m, kind)
				if rename {
					for i := range p.Data.Queries {
						p.Data.Queries[i].ID = fmt.Sprintf("renamed %d", i*i)
					}
				}
				trained := mustTrain(t, m, p)
				if want := p.Data.Fingerprint(); trained.Training.Fingerprint != want {
					t.Errorf("%s, %s: the model is of the data %s, want %s", m.Name, kind, trained.Training.Fingerprint, want)
				}
				trained.Training.Fingerprint, trained.Training.Seen = "", nil
				return bytesOf(t, trained)
			}
			if train(true) != train(false) {
				t.Errorf("%s, %s: renamed queries give another model", m.Name, kind)
			}
		}
	}
}
