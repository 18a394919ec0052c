package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/learn/method"
)

// flagGroups lists the headings of flags in help texts, with the flags in order. An entry
// COMMAND:FLAG applies to this command only.
var flagGroups = []struct{ heading, flags string }{
	{"Data", "eval:model score:model explain:model export:model serve:model put:model check:model alias data train valid test source eval:scores judgements log:queries log clicks against " +
		"from import:name report:curve reproduce:set background train:sample convert:sample sample-seed scattered min-features parts"},
	{"Click models", "fit:model judge:model report:model valid-share report:queries prior iterations exact judge:relevance report:relevance bootstrap"},
	{"Grades", "levels at min-examinations keep-unsure"},
	{"Pages", "ubi ubi-events metarank action query-field within duplicates drop-users-above"},
	{"Simulation", "click order pages simulate:from users simulate:top simulate:seed truth"},
	{"Propensities", "propensities:method propensities:by propensities:top across-time published-weights least-squares propensities:data propensities:iterations judged max-missing propensities:bootstrap propensities:seed propensities:from"},
	{"Clicks", "train:clicks propensities debias uncorrected weigh-queries shrink clip regression twin-share evaluate:pages evaluate:baseline candidates estimator value self-normalize bound safe max-unsupported ignore-weights"},
	{"Generated data", "shape queries docs synth:features relevant noise grades polynomial synth:seed reproduce:scale bench:documents bench:features"},
	{"Learning", "method methods scorer train:measure tune:measure curve:measure ablate:measure set vary leave-out ablate:seeds ablate:baseline normalize transform views seed tune:seeds continue train:refit checkpoint jobs"},
	{"Validation", "hold-out hold-out-seed train:select ablate:select folds division"},
	{"Search", "grid search budget trials select halving average members for refit without trial"},
	{"Fusion", "rule weights scale k draws"},
	{"Explanation", "of document above below attribution dependence explain:top background-docs max-docs permute explain:repeats"},
	{"Evaluation", "ranks fit:relevance min-pages measure measures judge-by shares repeats by rerank first convention threshold ties max-grade drop-self lower-is-better"},
	{"Trials", "credit experiment ab:measures ab:shares ab:users before planned at-any-time share difference deviation correlation power plan:seed"},
	{"Significance tests", "baseline compare:seeds unit permutations resamples fit:seed judge:seed compare:seed report:seed bundle:seed explain:permutations explain:seed"},
	{"Server", "addr lenient serve:absent reload grace"},
	{"Search engine", "solr elasticsearch opensearch put:name check:name log:name depth index store credentials timeout replace skip-failed dry-run request answers id-field tolerance"},
	{"Access", "allow-remote token-file cert key client-ca client"},
	{"Experiments", "split interleave explore serve:by shadow experiment-log page-log page-share page-candidates"},
	{"Limits", "max-body max-documents max-queries max-concurrent max-request-memory max-connections workers longest " +
		"header-timeout read-timeout pause-timeout write-timeout"},
	{"Planning", "plan plan-memory price"},
	{"Changes", "normalize:kind reading drop-empty unjudged export:scores put:scores"},
	{"Output", "out model models add bundle:check to report curve per-query log:run svg plots markdown title label compact name featureset export:features put:features all-features extractors best-first top tag limit list:kind " +
		"all long sparse as shards max-size report:sample curve:training dir no-record format"},
	{"Missing values", "missing absent missing-value other-features"},
	{"Table columns", "query grade doc features query-weight weight one-hot negative-grades conflicts"},
	{"Input format", "input delimiter first-feature unsorted max-feature"},
	{"Shards", "shard part eval:parts"},
	{"General", "max-memory quiet help version no-descriptions"},
}

// groupOf returns the group of a command's flag and its position in the group. Both are -1 if it
// has no group.
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

// usage prints how to call a command, and its flags by group.
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
	switch {
	case cmd.Flag("duplicates") != nil:
		fmt.Fprintf(w, "\nUse \"listwise clicks --help\" for the formats of pages.\n")
	case cmd.Flag("max-memory") != nil:
		fmt.Fprintf(w, "\nUse \"listwise data --help\" for the formats of data and the flags that read them.\n")
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nUse \"%s [command] --help\" for more information about a command.\n", cmd.CommandPath())
	}
	return nil
}

// otherCommands maps names of commands in other tools to commands of listwise.
var otherCommands = map[string]string{
	"fit": "train", "learn": "train",
	"predict": "score", "rank": "score", "apply": "score", "infer": "score",
	"evaluate": "eval", "test": "eval", "measure": "eval", "validate": "eval", "trec_eval": "eval",
	"automl": "auto", "tuning": "tune", "search": "tune", "grid": "tune", "gridsearch": "tune", "cv": "tune",
	"ablation": "ablate", "sensitivity": "ablate", "learning-curve": "curve", "curves": "curve",
	"ttest": "compare", "significance": "compare", "diff": "compare",
	"html": "report", "plot": "report",
	"pack": "bundle", "package": "bundle", "archive": "bundle", "artifact": "bundle", "artefact": "bundle",
	"history": "runs", "log": "runs", "experiments": "runs",
	"ensemble": "fuse", "merge": "fuse", "combine": "fuse", "rrf": "fuse",
	"models": "methods", "algorithms": "methods", "list": "methods", "rankers": "methods",
	"upload": "engine put", "deploy": "engine put", "solr": "engine put", "elasticsearch": "engine put",
	"engine search": "engine log", "engine features": "engine log", "engine upload": "engine put", "engine verify": "engine check", "engine compare": "engine check",
	"info": "data info", "stats": "data info", "describe": "data info",
	"convert": "data convert", "clean": "data clean", "normalize": "data normalize",
	"fold": "data fold", "folds": "data fold", "split": "data fold",
	"synth": "data synth", "generate": "data synth", "synthesize": "data synth",
	"paper": "reproduce", "papers": "reproduce", "example": "demo", "quickstart": "demo",

	"data split": "data fold", "data generate": "data synth", "data stats": "data info", "data describe": "data info", "data show": "data info",
	"runs ls": "runs list", "runs rm": "runs delete", "runs remove": "runs delete", "runs compare": "runs diff", "runs get": "runs show",
}

func unknownCommand(cmd *cobra.Command, name string) error {
	full := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath()+" "+name, cmd.Root().Name()), " ")
	if other, ok := otherCommands[strings.ToLower(full)]; ok {
		return usageErrorf("unknown command %q, did you mean %q?", full, cmd.Root().Name()+" "+other)
	}
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	near := suggest.Nearest(name, known)
	if near == nil {
		return usageErrorf("unknown command %q (see %q)", full, cmd.CommandPath()+" --help")
	}
	return usageErrorf("unknown command %q, did you mean %s?", full, suggest.Quoted(near))
}

// checkCommand returns an error if the command does not exist. It runs before flags are parsed,
// because the flags of an unknown command are unknown, too.
func checkCommand(root *cobra.Command, args []string) error {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return nil
	}
	cmd := root
	for i := 0; i < len(args) && cmd.HasSubCommands(); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return nil
		case strings.HasPrefix(arg, "-"):
			name := strings.TrimPrefix(arg, "--")
			flag := root.PersistentFlags().Lookup(name)
			if flag == nil {
				flag = cmd.Flags().Lookup(name)
			}
			if flag != nil && flag.NoOptDefVal == "" {
				i++ // skip the flag's value
			}
			continue
		}
		next := commandOf(cmd, arg)
		if next == nil {
			return unknownCommand(cmd, arg)
		}
		cmd = next
	}
	return nil
}

// commandOf returns the child of cmd with this name or alias, or nil.
func commandOf(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name || c.HasAlias(name) {
			return c
		}
	}
	return nil
}

// newHelpCommand returns a help command. It replaces cobra's, which accepts unknown topics.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about := cmd.Root()
			for _, name := range args {
				next := commandOf(about, name)
				if next == nil {
					return unknownCommand(about, name)
				}
				about = next
			}
			about.InitDefaultHelpFlag() // list these flags, too
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

// otherFlags maps flags of other tools to flags of listwise. The first flag that the command has is
// suggested.
var otherFlags = map[string][]string{
	"metric": {"measure", "measures"}, "metrics": {"measures", "measure"}, "objective": {"method"}, "algorithm": {"method"}, "ranker": {"method"}, "loss": {"method"},
	"input": {"data", "train"}, "file": {"data", "train"}, "dataset": {"data", "train"}, "test": {"data"}, "validation": {"valid"}, "validate": {"valid"}, "vali": {"valid"},
	"output": {"out", "model"}, "o": {"out", "model"}, "save": {"model", "out"}, "param": {"set", "grid"}, "params": {"set", "grid"}, "hyperparameter": {"set", "grid"},
	"silent": {"quiet"}, "random-state": {"seed"}, "random-seed": {"seed"}, "threads": {"jobs"}, "workers": {"jobs"}, "norm": {"normalize"}, "standardize": {"transform"}, "clip": {"transform"}, "log1p": {"transform"}, "transforms": {"transform"},
	"predictions": {"scores"}, "run": {"scores"}, "qrels": {"judgements", "data"}, "judgments": {"judgements", "data"}, "ratings": {"judgements", "data"}, "best": {"best-first"}, "json": {"format"}, "csv": {"format"}, "metric2t": {"measure"}, "metric2T": {"measures"},
}

// flagError rewrites an error of pflag in the words of this program.
func flagError(cmd *cobra.Command, err error) error {
	see := fmt.Sprintf("(see %q)", cmd.CommandPath()+" --help")
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		dashes := "--"
		if unknown.GetSpecifiedShortnames() != "" {
			dashes = "-"
		}
		return usageErrorf("unknown flag: %s%s%s %s", dashes, unknown.GetSpecifiedName(), nearFlag(cmd, unknown.GetSpecifiedName()), see)
	}
	if value, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return usageErrorf("--%s %s: %s %s", value.GetFlag().Name, value.GetValue(), expectedValue(value), see)
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usageErrorf("--%s: found no value, expected one %s", missing.GetFlag().Name, see)
	}
	return usageErrorf("%w %s", err, see)
}

// nearFlag suggests a flag or hyperparameter for an unknown flag, or returns "".
func nearFlag(cmd *cobra.Command, name string) string {
	has := func(flag string) bool { return cmd.Flag(flag) != nil }
	for _, flag := range otherFlags[name] {
		if has(flag) {
			return fmt.Sprintf(", did you mean --%s?", flag)
		}
	}
	if hyperparameter, ok := hyperparameterLike(name); ok {
		switch {
		case has("set"):
			return fmt.Sprintf(", a hyperparameter is given as --set %s=VALUE", hyperparameter)
		case has("grid"):
			return fmt.Sprintf(", a hyperparameter is given as --grid %s=VALUE,VALUE", hyperparameter)
		}
	}
	var known []string
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	if near := suggest.Nearest("--"+name, known); near != nil {
		return ", did you mean " + strings.Join(near, " or ") + "?"
	}
	return ""
}

// otherHyperparameters maps names of hyperparameters in other tools to names of listwise.
var otherHyperparameters = map[string]string{
	"lr": "rate", "learning_rate": "rate", "eta": "rate", "lambda": "C", "l2": "C", "reg": "C", "regularization": "C",
	"n_estimators": "rounds", "num_rounds": "rounds", "num_boost_round": "rounds", "iter": "iterations", "max_iter": "iterations", "hidden_units": "hidden", "layers": "hidden",
}

// hyperparameterLike returns the hyperparameter of any method that has the name of a flag.
func hyperparameterLike(flag string) (string, bool) {
	name := strings.ReplaceAll(flag, "-", "_")
	if ours, ok := otherHyperparameters[name]; ok {
		return ours, true
	}
	for _, m := range method.List() {
		for i := range m.Hyperparameters {
			if strings.EqualFold(m.Hyperparameters[i].Name, name) {
				return m.Hyperparameters[i].Name, true
			}
		}
	}
	return "", false
}

func expectedValue(e *pflag.InvalidValueError) string {
	switch e.GetFlag().Value.Type() {
	case "uint64":
		return "expected a whole number from 0 to 18446744073709551615"
	case "bool":
		return "expected true or false"
	case "float64":
		return "expected a number"
	case "duration":
		return "expected a time with its unit, such as 500ms, 10s or 1h30m"
	}
	return e.Unwrap().Error()
}
