package tune

// Progress is how far a run is, and the best setting so far of those that are done on all folds.
type Progress struct {
	Done, Total int     // trainings
	Name        string  // of the entry; empty if there is none yet
	Setting     Setting // likewise
	Best        float64 // the mean of its validation values over folds
}

// leader follows which setting is best; the zero value is ready to use.
type leader struct {
	done map[leading]*standing
	best Progress
}

type leading struct {
	entry   *Entry
	setting string
}

type standing struct {
	sum   float64
	folds int
}

// finished takes down that a job is done, and returns the best so far of so many folds.
func (l *leader) finished(j *job, folds int) Progress {
	if l.done == nil {
		l.done = make(map[leading]*standing)
	}
	key := leading{j.entry, j.values.String()}
	s := l.done[key]
	if s == nil {
		s = new(standing)
		l.done[key] = s
	}
	s.sum += j.validation
	if s.folds++; s.folds == folds {
		if mean := s.sum / float64(folds); l.best.Name == "" || mean > l.best.Best {
			l.best = Progress{Name: j.entry.Name, Setting: j.values, Best: mean}
		}
	}
	return l.best
}
