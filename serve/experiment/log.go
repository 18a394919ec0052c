package experiment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// mostLines and mostBytes bound what a log holds that is not written yet.
	mostLines = 4096
	mostBytes = 16 << 20
)

// Log appends lines to a file, each whole or not at all, in a goroutine of its own: to add a line
// never waits for a disk. Its methods are safe for concurrent use.
type Log struct {
	path  string
	lines chan []byte
	done  chan struct{}

	waiting atomic.Int64 // bytes
	dropped atomic.Int64 // lines

	mu   sync.Mutex // of file, held while a line is written
	file *os.File

	closed sync.RWMutex
	end    bool

	state  sync.Mutex // of what follows
	failed error      // why lines are lost, nil if they are not
	lost   time.Time  // of the last line that was lost
	notify func(error)
}

// calm is how long no line may be lost until a fault is over: on a disk that is nearly full short
// lines may still fit.
const calm = 5 * time.Second

// errBehind is the fault of a disk that is too slow.
var errBehind = errors.New("the disk does not keep up with the lines")

// OpenLog opens a log, whose file is made if there is none.
func OpenLog(path string) (*Log, error) {
	l := &Log{path: path, lines: make(chan []byte, mostLines), done: make(chan struct{})}
	if err := l.Reopen(); err != nil {
		return nil, err
	}
	go l.write()
	return l, nil
}

// Add adds a line, which must end in a line feed and is the log's from then on. Where a disk does
// not keep up and thousands of lines wait, the line is dropped and counted: Add reports whether it
// was not.
func (l *Log) Add(line []byte) bool {
	l.closed.RLock()
	defer l.closed.RUnlock()
	if l.end {
		l.dropped.Add(1)
		return false
	}
	if l.waiting.Add(int64(len(line))) <= mostBytes {
		select {
		case l.lines <- line:
			return true
		default:
		}
	}
	l.waiting.Add(-int64(len(line)))
	l.drop(errBehind)
	return false
}

// drop counts a line that is lost, and notes why.
func (l *Log) drop(why error) {
	l.dropped.Add(1)
	l.state.Lock()
	notify := l.notify
	if l.failed != nil {
		notify = nil
	}
	l.failed, l.lost = why, time.Now()
	l.state.Unlock()
	if notify != nil {
		notify(why)
	}
}

// wrote ends a fault if no line was lost for some time.
func (l *Log) wrote() {
	l.state.Lock()
	over, notify := l.failed != nil && time.Since(l.lost) >= calm, l.notify
	if over {
		l.failed = nil
	}
	l.state.Unlock()
	if over && notify != nil {
		notify(nil)
	}
}

// Notify has f called when lines begin to be lost, with the reason, and with nil when lines are
// written again.
func (l *Log) Notify(f func(error)) {
	l.state.Lock()
	defer l.state.Unlock()
	l.notify = f
}

// Dropped returns how many lines were not written, and why lines are lost at present; nil if lines
// were written for five seconds without a loss.
func (l *Log) Dropped() (lines int64, err error) {
	l.state.Lock()
	defer l.state.Unlock()
	return l.dropped.Load(), l.failed
}

// Reopen opens the file of the log again, so that log rotation may rename it. If that fails, the
// old file stays open. A closed log stays closed.
func (l *Log) Reopen() error {
	l.closed.RLock()
	defer l.closed.RUnlock()
	if l.end {
		return nil
	}
	file, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o640)
	if err != nil {
		return err
	}
	if err := endLine(file); err != nil {
		return errors.Join(err, file.Close())
	}
	l.mu.Lock()
	old := l.file
	l.file = file
	l.mu.Unlock()
	if old != nil {
		if err := old.Close(); err != nil {
			return fmt.Errorf("the former file: %w", err)
		}
	}
	return nil
}

// endLine ends the last line of a file, of which a process that was killed may have
// written a part.
func endLine(file *os.File) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := file.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = file.Write([]byte("\n"))
	return err
}

// write writes the lines that are added until the log is closed.
func (l *Log) write() {
	defer close(l.done)
	for line := range l.lines {
		l.mu.Lock()
		err := appendWhole(l.file, line)
		l.mu.Unlock()
		l.waiting.Add(-int64(len(line)))
		if err != nil {
			l.drop(err)
		} else {
			l.wrote()
		}
	}
}

// appendWhole appends a line to a file. Of one that does not fit on the disk nothing stays.
func appendWhole(file *os.File, line []byte) error {
	n, err := file.Write(line)
	if err == nil || n == 0 {
		return err
	}
	size, seekErr := file.Seek(0, io.SeekEnd)
	if seekErr != nil {
		return errors.Join(err, seekErr)
	}
	return errors.Join(err, file.Truncate(size-int64(n)))
}

// Close writes what waits and closes the file. Lines added later are dropped. It returns an error
// if lines were being lost.
func (l *Log) Close() error {
	l.closed.Lock()
	ended := l.end
	l.end = true
	l.closed.Unlock()
	if !ended {
		close(l.lines)
	}
	<-l.done
	_, failed := l.Dropped()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	file := l.file
	l.file = nil
	return errors.Join(failed, file.Close())
}
