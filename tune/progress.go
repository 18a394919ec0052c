package tune

// Progress is the progress of a run, with the best setting that is done on all folds.
type Progress struct {
	Done, Total int     // trainings
	Name        string  // of the entry; empty if there is none yet
	Setting     Setting // likewise
	Best        float64 // the mean of its validation values over folds
}

// leader tracks the best setting; the zero value is ready to use.
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

// finished records a job and returns the best setting of all that are done on the given number of folds.
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
