package auto

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/listwise/listwise/internal/atomicfile"
)

// journalName is the file, in the folder of a run, with the times of trainings. decisionName is the file
// with the trials that count, once that is decided. The records of package tune have the trainings.
const (
	journalName  = "journal.jsonl"
	decisionName = "trials.json"
)

// journal keeps what a resumed run needs in addition to its trainings. Without a folder it keeps nothing.
type journal struct {
	dir, key string

	mu    sync.Mutex
	known map[[2]int]float64 // seconds by trial and fold
	file  *os.File
}

// entryOfJournal is a line.
type entryOfJournal struct {
	Key     string  `json:"key"`
	Trial   int     `json:"trial"`
	Fold    int     `json:"fold"`
	Seconds float64 `json:"seconds"`
}

// decision is the content of decisionName.
type decision struct {
	Key     string `json:"key"`
	Trials  int    `json:"trials"`
	Without []int  `json:"without,omitempty"`
}

// key identifies a run by everything that trials and their choice depend on, such as data, seed and
// budget.
func (r *run) key() string {
	c := &r.config
	parts := []any{r.Budget, r.Refit, r.Trials, r.Without, r.Members, c.Seed, c.Select.Name(), c.Convention.Name(), c.Convention.Threshold(), r.Whole.Fingerprint(), c.Normalization.String(), c.Missing.String()}
	for i := range c.Folds {
		parts = append(parts, c.Folds[i].Train.Fingerprint(), c.Folds[i].Valid.Fingerprint())
	}
	for _, t := range r.trials {
		parts = append(parts, c.Entries[t.Entry].Name, t.Setting.String())
	}
	for _, s := range c.Transforms {
		parts = append(parts, s.String())
	}
	text, err := json.Marshal(parts)
	if err != nil {
		panic(err) // strings and numbers always have a JSON form
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// openJournal reads the lines of this run. It skips a line that was cut off when a process ended.
func openJournal(dir, key string) (*journal, error) {
	j := &journal{dir: dir, key: key, known: make(map[[2]int]float64)}
	if dir == "" {
		return j, nil
	}
	path := filepath.Join(dir, journalName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var e entryOfJournal
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Key == key {
			j.known[[2]int{e.Trial, e.Fold}] = e.Seconds
		}
	}
	if err := lines.Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	j.file = file
	return j, nil
}

// took records the time of a training and returns it. If a time is recorded already, it returns that: a
// training that is restored from its record takes no time.
func (j *journal) took(trial, fold int, seconds float64) (float64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if known, ok := j.known[[2]int{trial, fold}]; ok {
		return known, nil
	}
	if j.file == nil {
		return seconds, nil
	}
	line, err := json.Marshal(entryOfJournal{j.key, trial, fold, seconds})
	if err != nil {
		return seconds, err
	}
	_, err = j.file.Write(append([]byte{'\n'}, line...)) // a line that was cut off ends here
	return seconds, err
}

// decided returns the recorded decision, if there is one.
func (j *journal) decided() (d decision, ok bool) {
	if j.dir == "" {
		return d, false
	}
	text, err := os.ReadFile(filepath.Join(j.dir, decisionName))
	if err != nil || json.Unmarshal(text, &d) != nil || d.Key != j.key || d.Trials < 1 {
		return d, false
	}
	return d, true
}

// decide records which trials count.
func (j *journal) decide(trials int, without []int) error {
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	if errors.Is(err, fs.ErrClosed) {
		err = nil
	}
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(j.dir, decisionName), atomicfile.JSON(decision{j.key, trials, without}))
}
