package job

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/listwise/listwise/dataset/shards"
)

// checkApart returns an error if an input of the job is in its output folder, or a file there links
// to an input. The job would overwrite or remove it.
func (j *Job) checkApart(ctx context.Context) error {
	var inputs []string
	if j.Model != "" {
		inputs = append(inputs, j.Model)
	}
	if tasks()[j.Command].sharded {
		m, _, err := manifestOf(ctx, j.Data)
		if err != nil {
			return err
		}
		inputs = append(inputs, under(j.Data, shards.FileName))
		for _, s := range m.Shards {
			inputs = append(inputs, under(j.Data, s.Name))
		}
	}
	if remote(j.Out) {
		for _, in := range inputs {
			if strings.HasPrefix(in, strings.TrimSuffix(j.Out, "/")+"/") {
				return j.notApart(in)
			}
		}
		return nil
	}
	there, err := os.ReadDir(j.Out)
	if err != nil {
		return nil //nolint:nilerr // there is nothing yet
	}
	var outputs []os.FileInfo
	for _, f := range there {
		if info, err := os.Stat(filepath.Join(j.Out, f.Name())); err == nil && info.Mode().IsRegular() {
			outputs = append(outputs, info)
		}
	}
	for _, in := range inputs {
		info, err := os.Stat(in)
		if err != nil {
			continue // on another filesystem, or an error when it is read
		}
		for _, out := range outputs {
			if os.SameFile(info, out) {
				return j.notApart(in)
			}
		}
	}
	return nil
}

func (j *Job) notApart(input string) error {
	return fmt.Errorf("%s: found %s, which the job reads, in --out %s, expected another folder for the results", j.Command, input, j.Out)
}
