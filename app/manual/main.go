// Command manual writes the manual pages (section 1) and shell completions into a folder:
//
//	go run ./app/manual DIR
//
// DIR/man1 gets a page for each command, and DIR/completions a script for each shell. The date of
// the pages is SOURCE_DATE_EPOCH (in seconds), so that the same commit gives the same bytes.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/listwise/listwise/app"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "manual: expected one argument, the folder to write to")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	date, err := commitDate()
	if err != nil {
		return err
	}
	man, completions := filepath.Join(dir, "man1"), filepath.Join(dir, "completions")
	for _, d := range []string{man, completions} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	root := app.Root()
	disableTag(root)
	header := &doc.GenManHeader{Section: "1", Source: "listwise", Manual: "listwise manual", Date: &date}
	if err := doc.GenManTree(root, header, man); err != nil {
		return err
	}
	for name, complete := range map[string]func(string) error{
		"listwise.bash": func(path string) error { return root.GenBashCompletionFileV2(path, true) },
		"_listwise":     root.GenZshCompletionFile,
		"listwise.fish": func(path string) error { return root.GenFishCompletionFile(path, true) },
		"listwise.ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := complete(filepath.Join(completions, name)); err != nil {
			return err
		}
	}
	return nil
}

// disableTag removes the generation date from the pages of a command and its subcommands.
func disableTag(c *cobra.Command) {
	c.DisableAutoGenTag = true
	for _, child := range c.Commands() {
		disableTag(child)
	}
}

// commitDate returns the time in SOURCE_DATE_EPOCH, or the current time if it is not set.
func commitDate() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		return time.Now(), nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("found SOURCE_DATE_EPOCH=%q, expected seconds", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
