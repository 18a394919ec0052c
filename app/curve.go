package app

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	page "github.com/listwise/listwise/app/report"
	"github.com/listwise/listwise/learn/method"
	"github.com/listwise/listwise/learn/train"
)

// curve writes a learning curve during training, a line after each epoch. If training resumes from
// a checkpoint, curve first removes the lines of the epochs that are trained again. So the file is
// the same as after an uninterrupted training.
type curve struct {
	path  string
	file  *os.File
	known bool              // no earlier lines remain to be removed
	fail  func(cause error) // stops the training
	err   error
	empty bool // newCurve created the file, and nothing is written yet
}

// newCurve opens the file. It truncates the file unless training resumes from a checkpoint.
func newCurve(path, checkpoint string, fail func(error)) (*curve, error) {
	c := &curve{path: path, fail: fail, known: true}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if exists(checkpoint) {
		flags = os.O_WRONLY | os.O_CREATE
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() { // a pipe cannot be truncated
			flags, c.known = os.O_RDWR, false
		}
	}
	c.empty = !exists(path)
	var err error
	if c.file, err = os.OpenFile(path, flags, 0o666); err != nil {
		return nil, usageErrorf("--curve: %w", err)
	}
	return c, nil
}

func (c *curve) observe(it method.Iteration) {
	if c.err != nil {
		return
	}
	line := it.Line()
	err := c.cutBefore(line)
	if err == nil {
		err = c.append(line)
	}
	if err != nil {
		c.err = fmt.Errorf("--curve: %w", err)
		c.fail(c.err)
	}
}

func (c *curve) append(line train.CurveLine) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	c.empty = false
	_, err = c.file.Write(append(text, '\n'))
	return err
}

// cutBefore removes the lines from the next epoch on. It acts once, before the first line after a
// checkpoint is written.
func (c *curve) cutBefore(next train.CurveLine) error {
	if c.known {
		return nil
	}
	c.known = true
	keep, err := earlierLines(c.file, next)
	if err != nil {
		return usageErrorf("%s:%w; delete it or name another file", c.path, err)
	}
	if err := c.file.Truncate(keep); err != nil {
		return err
	}
	_, err = c.file.Seek(keep, io.SeekStart)
	return err
}

// earlierLines returns the length in bytes of the lines before next. A last line without line feed
// is incomplete and does not count. It returns an error if the file is not a learning curve.
func earlierLines(r io.Reader, next train.CurveLine) (length int64, err error) {
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return length, nil
		}
		if err != nil {
			return 0, err
		}
		line, err := page.ReadPoint(text)
		if err != nil {
			return 0, fmt.Errorf("%d: found no epoch with a training_cost, expected the curve of the checkpoint's training", n)
		}
		if line.Restart > next.Restart || line.Restart == next.Restart && line.Epoch >= next.Epoch {
			return length, nil
		}
		length += int64(len(text))
	}
}

// close closes the file and returns the first error. If training failed before the first line was
// written, it removes a file that newCurve created.
func (c *curve) close(failed bool) error {
	if failed && c.empty {
		_ = os.Remove(c.path) // the error of the training is reported
	}
	if !failed && c.err == nil {
		// If the checkpoint follows the last epoch, no line is written, but the file may end in
		// half a line.
		if err := c.cutBefore(train.CurveLine{Restart: math.MaxInt}); err != nil {
			c.err = fmt.Errorf("--curve: %w", err)
		}
	}
	if err := c.file.Close(); err != nil && c.err == nil {
		c.err = fmt.Errorf("--curve: %w", err)
	}
	return c.err
}
