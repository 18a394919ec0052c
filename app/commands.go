package app

import "github.com/spf13/cobra"

// commands returns every command in the order of the help text. A new command needs a file of its
// own and a line here.
func commands(env *environment) []*cobra.Command {
	return []*cobra.Command{
		newDemoCommand(env),
		newMethodsCommand(env),
		newTrainCommand(env),
		newTuneCommand(env),
		newAutoCommand(env),
		newAblateCommand(env),
		newEvalCommand(env),
		newScoreCommand(env),
		newServeCommand(env),
		newClicksCommand(env),
		newCompareCommand(env),
		newReportCommand(env),
		newCurveCommand(env),
		newBundleCommand(env),
		newExplainCommand(env),
		newRunsCommand(env),
		newFuseCommand(env),
		newImportCommand(env),
		newExportCommand(env),
		newEngineCommand(env),
		newDataCommand(env),
		newReproduceCommand(env),
		newBenchCommand(env),
		newVersionCommand(env),
	}
}
