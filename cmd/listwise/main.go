// Command listwise learns ranking functions from judged queries, measures their rankings and serves
// them. Run "listwise help" for its commands.
package main

import (
	"context"
	"os"

	"github.com/listwise/listwise/app"
)

func main() {
	os.Exit(app.Run(app.WithSignals(context.Background()), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
