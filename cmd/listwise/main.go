// Command listwise learns ranking functions from judged queries, measures them
// and puts them to work. Run "listwise help" for its commands.
package main

import (
	"os"

	"github.com/listwise/listwise/app"
)

func main() { os.Exit(app.Main()) }
