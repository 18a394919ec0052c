package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroups are the headings of the flags in help texts. Each has its flags in order, the
// usual ones first. COMMAND:FLAG is a flag of one command that is in another group elsewhere.
var flagGroups = []struct{ heading, flags string }{
	{"Data", "eval:model score:model explain:model export:model serve:model alias data train valid test eval:scores qrels log clicks against " +
		"from import:name report:curve reproduce:set background train:sample convert:sample scattered min-features parts"},
	{"Generated data", "shape queries docs synth:features relevant noise grades polynomial synth:seed reproduce:scale bench:documents bench:features"},
	{"Learning", "method methods scorer train:measure tune:measure curve:measure set normalize transform views seed continue train:refit checkpoint jobs"},
	{"Validation", "hold-out hold-out-seed train:select folds division"},
	{"Search", "grid search budget trials select halving average members refit without trial"},
	{"Fusion", "rule weights scale k draws"},
	{"Explanation", "of document above below attribution dependence explain:top background-docs max-docs permute explain:repeats"},
	{"Evaluation", "measure measures judge-by shares repeats by convention threshold ties max-grade drop-self lower-is-better"},
	{"Significance tests", "baseline seeds unit permutations resamples compare:seed report:seed explain:permutations explain:seed"},
	{"Server", "addr lenient serve:absent reload grace"},
	{"Access", "allow-remote token-file cert key client-ca client"},
	{"Experiments", "split interleave serve:by shadow experiment-log"},
	{"Limits", "max-body max-documents max-queries max-concurrent max-request-memory max-connections workers longest " +
		"header-timeout read-timeout pause-timeout write-timeout"},
	{"Planning", "plan plan-memory price"},
	{"Changes", "normalize:kind reading drop-empty unjudged export:scores"},
	{"Output", "out model to report curve per-query svg plots markdown title name featureset export:features best-first top tag limit list:kind " +
		"all long sparse as shards max-size report:sample dir no-record format"},
	{"Missing values", "missing absent missing-value other-features"},
	{"Table columns", "query grade doc features query-weight weight one-hot negative-grades"},
	{"Input format", "input delimiter first-feature unsorted max-feature"},
	{"Shards", "shard part eval:parts"},
	{"General", "max-memory quiet help version no-descriptions"},
}

// groupOf returns the index in flagGroups of a command's flag and its place there, -1 if it has none.
func groupOf(cmd *cobra.Command, flag string) (group, place int) {
	for _, name := range []string{cmd.Name() + ":" + flag, flag} {
		for group, g := range flagGroups {
			for place, f := range strings.Fields(g.flags) {
				if f == name {
					return group, place
				}
			}
		}
	}
	return -1, -1
}

// usage prints how a command is called, with its flags in groups.
func usage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s [command]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nCommands:\n")
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			fmt.Fprintf(w, "  %-*s %s\n", c.NamePadding(), c.Name(), c.Short)
		}
	}
	for i, g := range flagGroups {
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.SortFlags = false
		for place, name := range strings.Fields(g.flags) {
			name = name[strings.Index(name, ":")+1:]
			if group, at := groupOf(cmd, name); group == i && at == place && cmd.Flag(name) != nil {
				set.AddFlag(cmd.Flag(name))
			}
		}
		if set.HasAvailableFlags() {
			fmt.Fprintf(w, "\n%s:\n%s", g.heading, set.FlagUsages())
		}
	}
	if cmd.Flag("max-memory") != nil {
		fmt.Fprintf(w, "\nUse \"listwise data --help\" for the formats of data and the flags that read them.\n")
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nUse \"%s [command] --help\" for more information about a command.\n", cmd.CommandPath())
	}
	return nil
}
