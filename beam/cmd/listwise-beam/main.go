// Command listwise-beam runs score, eval, tune and convert of listwise as Apache Beam pipelines
// and, as an experiment, one training over shards. Beam's flags come before the command, the job's
// flags after it, and the flags of the listwise command after --.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/listwise/listwise/beam/job"
)

const usage = `listwise-beam [BEAM FLAGS] COMMAND --data FOLDER --out FOLDER [FLAGS] [-- FLAGS OF LISTWISE]

  score   --data SHARDS --model FILE --out FOLDER     scores of every shard, part-00000.scores …
  eval    --data SHARDS --model FILE --out FOLDER     eval.json, as "listwise eval --format json" prints it
  convert --data SHARDS --as ENDING --out FOLDER      shards of another format, such as .parquet
  tune    --data FOLDS --out FOLDER -- --method M …   tuned/, as "listwise tune --out" fills it
  train   --experimental --data SHARDS --out FOLDER [--start average|zero] -- --method M …
                                                      model.json, by L-BFGS, a pipeline a round: one machine is faster
                                                      below 10^8 to 10^9 documents

SHARDS is a folder that "listwise data shard" made. Files are local, the same on all workers, or
gs:// or s3://. A complete result has a manifest: results-manifest.json or, for convert, shards.json.
A rerun does only the missing parts.

Without flags of Beam the pipeline runs in this process, on prism.
`

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage, "\nBeam's flags:\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	beam.Init() // does not return in a worker
	if err := run(context.Background(), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "listwise-beam:", err)
		os.Exit(1)
	}
}

// run parses the arguments after Beam's flags and runs the job.
func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("found no command, expected one of %s (--help says more)", strings.Join(job.Commands(), ", "))
	}
	j := job.Job{Command: args[0]}
	own := flag.NewFlagSet(j.Command, flag.ContinueOnError)
	own.SetOutput(io.Discard)
	own.StringVar(&j.Data, "data", "", "")
	own.StringVar(&j.Model, "model", "", "")
	own.StringVar(&j.Out, "out", "", "")
	own.StringVar(&j.As, "as", "", "")
	own.BoolVar(&j.Experimental, "experimental", false, "")
	own.StringVar(&j.Start, "start", "", "")
	if err := own.Parse(args[1:]); err != nil {
		return fmt.Errorf("%s: %w", j.Command, err)
	}
	j.Args = own.Args()
	if *jobopts.WorkerBinary == "" { // otherwise Beam would build a program, which requires Go and the sources
		program, err := os.Executable()
		if err != nil {
			return err
		}
		*jobopts.WorkerBinary = program
	}
	return job.Run(ctx, j, beamx.Run)
}
