package app

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/listwise/listwise/engine"
	"github.com/listwise/listwise/model/interchange"
)

func newEngineCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "engine",
		Short: "Log features of a search engine, upload models, check rankings",
		Long: `Logs features and rankings of Solr, Elasticsearch or OpenSearch, uploads models, and
checks that the engine ranks as the model does. The engines need their learning-to-rank
module or plugin.

Addresses:
  --solr            a core or collection, such as http://localhost:8983/solr/products
  --elasticsearch   the server, such as http://localhost:9200
  --opensearch      the server, such as http://localhost:9200

Credentials are user:password, "Bearer TOKEN" or "ApiKey KEY": one line in the file
--credentials, or the variable ` + credentialsVariable + `. No output contains them.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newEngineLogCommand(env), newEnginePutCommand(env), newEngineCheckCommand(env))
	return cmd
}

// credentialsVariable is the environment variable with the credentials of an engine.
const credentialsVariable = "LISTWISE_CREDENTIALS"

// connection has the flags that say how an engine is reached.
type connection struct {
	solr, elasticsearch, opensearch string
	index                           string
	credentials                     string
	timeout                         time.Duration
}

// addTo adds the flags. searches says that the command searches.
func (c *connection) addTo(fl *pflag.FlagSet, searches bool) {
	fl.StringVar(&c.solr, "solr", "", "`address` of a Solr core or collection")
	fl.StringVar(&c.elasticsearch, "elasticsearch", "", "`address` of Elasticsearch")
	fl.StringVar(&c.opensearch, "opensearch", "", "`address` of OpenSearch")
	if searches {
		fl.StringVar(&c.index, "index", "", "`name` of the index to search (Elasticsearch, OpenSearch)")
	}
	fl.StringVar(&c.credentials, "credentials", "", "`file` with credentials (default: the variable "+credentialsVariable+")")
	fl.DurationVar(&c.timeout, "timeout", 30*time.Second, "`time` limit for each request")
}

// open returns the engine, and the format of its models.
func (c *connection) open(cmd *cobra.Command, env *environment) (_ *engine.Engine, format string, err error) {
	given := ""
	for _, name := range []string{"solr", "elasticsearch", "opensearch"} {
		if !cmd.Flags().Changed(name) {
			continue
		}
		if given != "" {
			return nil, "", usageErrorf("found --%s and --%s, expected one engine", given, name)
		}
		given = name
	}
	if c.timeout <= 0 {
		return nil, "", usageErrorf("--timeout %v: expected a time above 0", c.timeout)
	}
	if c.index == "" && given != "" && given != "solr" && cmd.Flags().Lookup("index") != nil {
		return nil, "", needs(cmd, "--index, the name of the index to search")
	}
	if c.index != "" && given == "solr" {
		return nil, "", usageErrorf("--index %s: found --solr, whose address has the core or collection", c.index)
	}
	o := engine.Options{Timeout: c.timeout, Index: c.index, Credentials: strings.TrimSpace(os.Getenv(credentialsVariable))}
	if c.credentials != "" {
		text, err := os.ReadFile(c.credentials)
		if err != nil {
			return nil, "", usageErrorf("--credentials: %w", err)
		}
		o.Credentials = strings.TrimSpace(string(text))
	}
	var e *engine.Engine
	switch given {
	case "":
		return nil, "", needs(cmd, "the address of an engine, such as --solr http://localhost:8983/solr/products")
	case "solr":
		e, err = engine.Solr(c.solr, o)
	case "elasticsearch":
		e, err = engine.Plugin("Elasticsearch", c.elasticsearch, o)
	case "opensearch":
		e, err = engine.Plugin("OpenSearch", c.opensearch, o)
	}
	if err != nil {
		return nil, "", usageErrorf("--%s: %w", given, err)
	}
	if o.Credentials != "" && !e.Private() {
		env.note("warning: --%s: the credentials go over http without encryption, expected https", given)
	}
	return e, given, nil
}

// curlCredentials returns the shell word that becomes the credentials, "" without any, and whether it
// is a header's value.
func (c *connection) curlCredentials(e *engine.Engine) (word string, header bool) {
	switch {
	case c.credentials != "":
		return `$(cat '` + strings.ReplaceAll(c.credentials, "'", `'\''`) + `')`, e.SendsHeader()
	case os.Getenv(credentialsVariable) != "":
		return "$" + credentialsVariable, e.SendsHeader()
	}
	return "", false
}

type enginePutFlags struct {
	connection
	model   string
	names   string
	scores  string
	upload  engine.Upload
	dryRun  bool
	options interchange.WriteOptions
}

func newEnginePutCommand(env *environment) *cobra.Command {
	var f enginePutFlags
	cmd := &cobra.Command{
		Use:   "put --model M --name N --solr URL",
		Short: "Upload a model to a search engine",
		Long: `Uploads a model to Solr, Elasticsearch or OpenSearch, as "listwise export" writes it.

First, put checks that the feature store has the model's features. A name that the engine
already has is an error. With --replace, put deletes the old model and uploads the new
one. If the engine refuses the new model, put restores the old one.

The output has the part of a search request that ranks by the model. Features with
${NAME} in their parameters need a parameter of the request: efi.NAME in Solr.

Requests without an answer are repeated once, if the repetition changes nothing.
--dry-run prints the requests as commands for curl and sends none.`,
		Example: `  listwise engine put --solr http://localhost:8983/solr/products --model m.json --name shop --store shop
  listwise engine put --elasticsearch http://localhost:9200 --model m.json --name shop --store shop --credentials secret.txt
  listwise engine put --solr http://localhost:8983/solr/products --model m.json --name shop --replace --dry-run`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "model", "name"); err != nil {
				return err
			}
			return f.run(cmd, env)
		},
	}
	fl := cmd.Flags()
	f.addTo(fl, false)
	fl.StringVar(&f.model, "model", "", "model `file`")
	fl.StringVar(&f.upload.Name, "name", "", "`name` of the model in the engine")
	fl.StringVar(&f.upload.Store, "store", "", "`name` of the feature store or set (default in Solr: "+solrStore+")")
	fl.StringVar(&f.names, "features", "", "feature `names` in the engine, separated by commas or as JSON")
	fl.StringVar(&f.scores, "scores", interchange.RawScores.String(), "`how` to transform scores: raw, shift or logistic")
	fl.BoolVar(&f.upload.Replace, "replace", false, "replace a model of the same name")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the requests for curl and send none")
	return cmd
}

// solrStore is the feature store of Solr's models that name none.
const solrStore = "_DEFAULT_"

func (f *enginePutFlags) run(cmd *cobra.Command, env *environment) error {
	e, format, err := f.open(cmd, env)
	if err != nil {
		return err
	}
	if f.upload.Store == "" && format != "solr" {
		return needs(cmd, "--store, a feature set")
	}
	if f.upload.Store == "" {
		f.upload.Store = solrStore
	}
	if f.options.Scores, err = interchange.ParseScores(f.scores); err != nil {
		return usageErrorf("--scores: %w", err)
	}
	if err := f.write(env, format); err != nil {
		return err
	}
	if f.dryRun {
		word, header := f.curlCredentials(e)
		text, err := e.Curl(f.upload, word, header)
		if err != nil {
			return usageErrorf("%w", err)
		}
		_, err = io.WriteString(env.stdout, text)
		return err
	}
	var done *engine.Uploaded
	err = env.during("uploading "+f.model, func() (err error) {
		done, err = e.Put(cmd.Context(), f.upload)
		return err
	})
	if has[*engine.TakenError](err) {
		return fmt.Errorf("%w, or --replace", err)
	}
	if err != nil {
		return err
	}
	return env.print(uploadReport(done))
}

// write makes the body of the upload.
func (f *enginePutFlags) write(env *environment, format string) (err error) {
	if f.upload.Names, err = parseFeatures(f.names); err != nil {
		return err
	}
	m, err := env.loadModel("model", f.model)
	if err != nil {
		return err
	}
	f.options.Names, f.options.Name, f.options.FeatureSet = f.upload.Names, f.upload.Name, f.upload.Store
	var body bytes.Buffer
	notes, err := interchange.Write(&body, m, format, f.options)
	if err != nil {
		return usageErrorf("%s: %w", f.model, err)
	}
	env.notesOn(f.model, notes)
	f.upload.Body = body.Bytes()
	if f.upload.Names == nil {
		f.upload.Names = m.FeatureNames
	}
	for j := len(f.upload.Names); j < m.NumFeatures(); j++ {
		f.upload.Names = append(f.upload.Names, fmt.Sprintf("feature_%d", j+1))
	}
	return nil
}

func uploadReport(u *engine.Uploaded) report {
	did := "uploaded"
	if u.Replaced {
		did = "replaced"
	}
	r := report{
		title:   fmt.Sprintf("%s the model %s in %s", did, u.Name, u.Engine),
		columns: []string{"what", "value"},
		rows: [][]any{
			{"features", fmt.Sprintf("%d of the %d in %s", u.Used, u.Stored, u.Store)},
			{"search request", u.Query},
		},
		json: u,
	}
	for _, x := range u.External {
		r.rows = append(r.rows, []any{"parameter " + x.Name, "for " + strings.Join(x.Features, ", ")})
	}
	for _, x := range u.Logging {
		r.rows = append(r.rows, []any{"parameter " + x.Name, "to log " + strings.Join(x.Features, ", ")})
	}
	return r
}
