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
	// mostLines and mostBytes limit the lines that wait to be written.
	mostLines = 4096
	mostBytes = 16 << 20
)

// Log appends lines to a file. A separate goroutine writes each line completely or not at all, so
// adding a line never waits for a disk. The methods are safe for concurrent use.
type Log struct {
	path  string
	lines chan []byte
	done  chan struct{}

	waiting atomic.Int64 // bytes not yet written
	dropped atomic.Int64 // number of lines lost

	mu   sync.Mutex // guards file; held while a line is written
	file *os.File

	closed sync.RWMutex
	end    bool

	state  sync.Mutex // guards the fields below
	failed error      // why lines are being lost; nil if none are
	lost   time.Time  // time of the last lost line
	notify func(error)
}

// calm is the time without a lost line after which a fault ends. On a nearly full disk, short lines
// may still fit, so one written line does not end a fault.
const calm = 5 * time.Second

// errBehind is the error of a disk that is too slow.
var errBehind = errors.New("the disk does not keep up with the lines")

// OpenLog opens a log. It creates the file if there is none.
func OpenLog(path string) (*Log, error) {
	l := &Log{path: path, lines: make(chan []byte, mostLines), done: make(chan struct{})}
	if err := l.Reopen(); err != nil {
		return nil, err
	}
	go l.write()
	return l, nil
}

// Add queues a line, which must end in a line feed, and reports whether it did. The log owns the
// slice afterwards. If the disk is too slow and thousands of lines wait, Add drops and counts the
// line and returns false. A closed log drops every line.
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

// drop counts a lost line and records the reason.
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

// Notify sets a function that the log calls with the reason when lines begin to be lost, and with
// nil when lines are written again.
func (l *Log) Notify(f func(error)) {
	l.state.Lock()
	defer l.state.Unlock()
	l.notify = f
}

// Dropped returns the number of lines that were not written, and why lines are being lost. The error
// becomes nil when a line is written five seconds or more after the last loss.
func (l *Log) Dropped() (lines int64, err error) {
	l.state.Lock()
	defer l.state.Unlock()
	return l.dropped.Load(), l.failed
}

// Reopen opens the log file again, so that log rotation may rename it. If that fails, the old file
// stays open. A closed log stays closed.
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

// endLine ends the last line of a file if a killed process left it incomplete.
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

// write writes the queued lines until the log is closed.
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

// appendWhole appends a line to a file. If the line does not fit on the disk, appendWhole removes
// the written part.
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

// Close writes the queued lines and closes the file. Lines added later are dropped. Close returns
// an error if lines are being lost.
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
