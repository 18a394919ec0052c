// Command listwise learns ranking functions from judged queries, measures them
// and puts them to work. Run "listwise help" for its commands.
package main

import (
	"os"

	"github.com/listwise/listwise/internal/cli"
)

func main() { os.Exit(cli.Main()) }
