package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/listwise/listwise/internal/strictjson"
	"github.com/listwise/listwise/model"
	"github.com/listwise/listwise/model/interchange"
)

type numberingFlag struct{ first string }

func (n *numberingFlag) addTo(fl *pflag.FlagSet, otherwise string) {
	fl.StringVar(&n.first, "first-feature", "", "`index` of feature 1 in the file: 0 or 1 (default: "+otherwise+")")
}

func (n *numberingFlag) numbering() (interchange.Numbering, error) {
	switch n.first {
	case "":
		return interchange.AutoNumbering, nil
	case "0":
		return interchange.ColumnsFromZero, nil
	case "1":
		return interchange.ColumnsFromOne, nil
	}
	return 0, usageErrorf("--first-feature %q: expected 0 or 1", n.first)
}

// parseFeatures parses feature names: a JSON list, or names separated by commas.
func parseFeatures(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	names := strings.Split(text, ",")
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		names = nil
		if strictjson.Check([]byte(text)) != nil || json.Unmarshal([]byte(text), &names) != nil {
			return nil, usageErrorf("--features %q: found no JSON list of names in UTF-8, expected one such as [\"a\",\"b\"]", text)
		}
	}
	if slices.Contains(names, "") || len(names) == 0 {
		return nil, usageErrorf("--features %s: found an empty name, expected names separated by commas, or a JSON list of them", text)
	}
	return names, nil
}

func formatList(can func(interchange.Format) bool) string {
	var b strings.Builder
	for _, f := range interchange.Formats() {
		if can(f) {
			fmt.Fprintf(&b, "  %-16s %s\n", f.Name, f.Title)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func reads(f interchange.Format) bool  { return f.Reads }
func writes(f interchange.Format) bool { return f.Writes }

type importFlags struct {
	numberingFlag
	from     string
	name     string
	absent   string
	model    string
	features string
}

func newImportCommand(env *environment) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE --model OUT [--from FORMAT]",
		Short: "Convert another system's model to a model file",
		Long: `Converts a model of another system to a model file with the same ranking. Commands
such as eval, score and compare also read the other system's file directly.

Formats, detected by content unless --from is given:
` + formatList(reads) + `

A model that a model file cannot represent is an error. Notes state what was assumed.

--features names the features, for formats that identify them by number.
--first-feature says whether the format's columns count from 0 (an array) or 1
(svmlight text). Without it, the file decides, and a note says so. --absent missing is
for models trained on svmlight text by a system that treats omitted features as
missing, as XGBoost does (default: zero). The data that the model scores are then read
in the same way.`,
		Example: `  listwise import lightgbm.txt --model imported.json
  listwise import ranklib.txt --model imported.json --features bm25,title,ctr,age,clicks`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "model"); err != nil {
				return err
			}
			if len(args) != 1 {
				return needs(cmd, "one file to read")
			}
			return f.run(env, args[0])
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.model, "model", "", "output model `file`")
	fl.StringVar(&f.features, "features", "", "feature `names` of the data, or their number")
	fl.StringVar(&f.from, "from", "", "input `format` (default: by content)")
	fl.StringVar(&f.name, "name", "", "`name` of the model in a file with several")
	fl.StringVar(&f.absent, "absent", "", "`value` of features a line omitted in training: zero or missing")
	f.addTo(fl, "detected")
	return cmd
}

func (f *importFlags) targets(path string) *targets {
	return new(targets).reads("", path).writes("--model", f.model)
}

func (f *importFlags) run(env *environment, path string) error {
	if err := f.targets(path).check(); err != nil {
		return err
	}
	first, err := f.numbering()
	if err != nil {
		return err
	}
	o := interchange.ReadOptions{Format: f.from, Name: f.name, FirstFeature: first}
	if o.Features, err = strconv.Atoi(f.features); err != nil {
		if o.Names, err = parseFeatures(f.features); err != nil {
			return err
		}
	} else if o.Features < 1 {
		return usageErrorf("--features %d: expected at least 1", o.Features)
	}
	missing, err := parseAbsent(cmp.Or(f.absent, absentZero))
	if err != nil {
		return err
	}
	m, err := env.loadModelAs("", path, o)
	if err != nil {
		return err
	}
	m.AbsentMissing = missing
	if f.absent == "" && ofXGBoost(m) && m.FeatureNames == nil {
		env.note("note: %s: features that a line of text omits count as 0; XGBoost treats them as missing (--absent missing, if the model was trained so)", path)
	}
	if err := m.Save(f.model); err != nil {
		return err
	}
	return env.print(importReport(path, f.model, m))
}

func importReport(path, out string, m *model.Model) report {
	return report{
		title:   "wrote " + out,
		written: true,
		columns: []string{"file", "format", "scorer", "features", "parameters"},
		rows:    [][]any{{path, m.Method, m.Scorer.Kind(), m.NumFeatures(), len(m.Params)}},
		json: map[string]any{
			"file": path, "model": out, "format": m.Method, "scorer": m.Scorer.Kind(),
			"features": m.NumFeatures(), "feature_names": m.FeatureNames, "parameters": len(m.Params),
		},
	}
}
