package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/serve"
	"github.com/listwise/listwise/serve/experiment"
)

type serveFlags struct {
	accessFlags
	limitFlags
	models      []string
	aliases     []string
	backgrounds []string
	lenient     bool
	absent      string
	reload      time.Duration
	grace       time.Duration

	experiments experimentFlags
}

func newServeCommand(env *environment) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve --model NAME=FILE... [--addr HOST:PORT]",
		Short: "Serve models over HTTP",
		Long: `Serves models over HTTP until Ctrl-C or SIGTERM:

  POST /v1/models/NAME:rank   rank the documents of one or several queries
  GET  /v1/models             list models, versions and features
  GET  /healthz, /readyz      liveness and readiness

Scores equal those of "listwise score". --model takes a model of listwise or another
system; NAME may contain a version, as in web@2. A model is reloaded when its file
changes, and all models at SIGHUP. If a file cannot be read, the old model remains,
and /readyz and the log report the error. Open requests finish with the model with
which they began.

Requests beyond --max-concurrent or --max-request-memory are answered with status 429.
--lenient accepts requests that omit features or contain features unknown to the
model. --absent is the value of omitted features: model (missing if the model's
features have names, otherwise as in training), zero or missing. --background names
the documents with which explanations compare (default: the documents of the query).
They must have the model's features.

Experiments have names, which requests use in place of a model's name. --split
NAME=MODEL:SHARE,MODEL:SHARE gives each user one of several models, by integer weights
(default: equal). --interleave NAME=MODEL,MODEL mixes the rankings of two models by team
draft, or with :probabilistic at the end by draws that favor high ranks of either model.
--shadow MODEL=MODEL logs the scores of a second model without showing them. --by
assigns requests by user or by query. --explore NAME=MODEL:HOW[:share=S] changes
rankings at random, so that clicks show the effect of ranks: swap exchanges rank 1 with
another, pairs exchanges neighbors, top=N shuffles the first N documents, noise=T ranks
by score/T plus Gumbel noise. "listwise clicks" reads the log of --experiment-log.
--page-log logs rankings outside experiments. Answers name the page of each logged
ranking. The server reopens the logs at SIGHUP.

Access: the server listens on this machine only, unless --allow-remote is given.
Requests need a token if --token-file or the environment variable ` + tokensVariable + `
contains one. White space separates tokens in the variable. --cert and --key turn on
TLS. --client-ca requires client certificates. --client restricts a model to
certificates with the given common name, DNS name or URI.

The log goes to standard error, as text or with --format json. It never contains
features. An example request:

  curl localhost:8080/v1/models/web:rank -H 'Content-Type: application/json' \
    -d '{"documents":[{"id":"a","features":[3.2,0.5]},{"id":"b","features":[1.7,0.9]}]}'`,
		Example: `  listwise serve --model web=m.json
  listwise serve --model web@1=a.json --model web@2=b.json --alias web=web@2
  listwise serve --model web@1=a.json --model web@2=b.json --interleave mixed=web@1,web@2 --experiment-log log.jsonl
  listwise serve --model web=m.json --explore shop=web:swap:share=0.05 --experiment-log log.jsonl`,
		Args: noArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return env.checkFormat(cmd, []string{"text", "json"}, "text or json")
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required(cmd, "model"); err != nil {
				return err
			}
			return f.run(cmd.Context(), env)
		},
	}
	fl := cmd.Flags()
	addList(fl, &f.models, "model", "NAME=FILE", "serve the model in FILE under NAME; repeatable")
	addList(fl, &f.aliases, "alias", "NAME=MODEL", "serve MODEL under NAME, too; repeatable")
	addList(fl, &f.backgrounds, "background", "MODEL=FILE", "background data for explanations of MODEL; repeatable")
	fl.BoolVar(&f.lenient, "lenient", false, "accept requests with missing or additional features")
	fl.StringVar(&f.absent, "absent", string(serve.AbsentByModel), "`value` of features a lenient request omits: model, zero or missing")
	fl.DurationVar(&f.reload, "reload", 2*time.Second, "`interval` between checks for changed model files")
	fl.DurationVar(&f.grace, "grace", 10*time.Second, "`time` to finish open requests at shutdown")
	f.experiments.add(fl)
	f.accessFlags.addTo(fl)
	f.limitFlags.addTo(cmd)
	return cmd
}

func (f *serveFlags) run(ctx context.Context, env *environment) (err error) {
	signals, hung := interruptsOf(ctx), make(chan struct{}, 1)
	signals.onHangup(func() {
		select {
		case hung <- struct{}{}:
		default: // a pending signal will reread all files
		}
	})
	if all := block.MachineMemory(); all > 0 && debug.SetMemoryLimit(-1) == math.MaxInt64 { // GOMEMLIMIT is not set
		debug.SetMemoryLimit(all / 10 * 9)
	}
	c, err := f.config(ctx, env)
	if err != nil {
		return err
	}
	certificates, err := f.accessFlags.config(ctx, &c)
	if err != nil {
		return err
	}
	if err := f.targets(&c).check(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLogs(&c)) }()
	if err := f.experiments.config(&c); err != nil {
		return err
	}
	s, err := serve.New(c)
	if err != nil {
		return usageErrorf("%w", err)
	}
	defer s.Close()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.addr)
	if err != nil {
		return fmt.Errorf("--addr %s: %w", f.addr, err)
	}
	signals.wait(f.grace + time.Second)
	// A server that shuts down does not wait for a model that is loading.
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	go s.Watch(watching, f.reload)
	go func() {
		for {
			select {
			case <-watching.Done():
				return
			case <-hung:
				f.reread(s, certificates, &c)
			}
		}
	}()
	scheme := "http"
	if certificates != nil {
		scheme = "https"
	}
	c.Log.Info("listening", "url", scheme+"://"+l.Addr().String(), "models", strings.Join(s.Snapshot().Names(), ","))
	if w := f.warning(&c); w != "" {
		c.Log.Warn(w)
	}
	return s.Serve(ctx, l, certificates, f.grace)
}

// closeLogs closes the logs of rankings, and logs how many lines were lost.
func closeLogs(c *serve.Config) (err error) {
	for _, l := range c.Logs() {
		err = errors.Join(err, l.Close())
		if lost, _ := l.Dropped(); lost > 0 {
			c.Log.Error("lines of the "+l.Name+" were lost", "lost", lost)
		}
	}
	return err
}

// reread reads all files again. If a file cannot be read, the old content remains in use.
func (f *serveFlags) reread(s *serve.Server, certificates *serve.Certificates, c *serve.Config) {
	log := c.Log
	log.Info("SIGHUP: reloading models, tokens and certificates")
	_ = s.Reload(true) // Reload logs its errors
	tokens, err := f.tokens()
	if err == nil {
		err = s.SetTokens(tokens)
	}
	if err != nil {
		log.Error("tokens cannot be read; the old tokens remain valid", "error", err)
	}
	if certificates != nil {
		if err := certificates.Reload(); err != nil {
			log.Error("certificates cannot be read; the old certificates remain in use", "error", err)
		}
	}
	for _, l := range c.Logs() {
		if err := l.Reopen(); err != nil {
			log.Error("the "+l.Name+" could not be opened anew", "error", err)
		}
	}
}

// config returns the server configuration that the flags describe.
func (f *serveFlags) config(ctx context.Context, env *environment) (c serve.Config, err error) {
	c = serve.Config{Aliases: make(map[string]string), Lenient: f.lenient, Absent: serve.Absent(f.absent), Log: env.logger()}
	for _, text := range f.models {
		name, path, ok := strings.Cut(text, "=")
		if !ok || path == "" {
			return c, usageErrorf("--model %s: expected NAME=FILE, such as %s", text, "web="+filepath.Base(text))
		}
		c.Models = append(c.Models, serve.Source{Name: name, Path: path})
	}
	for _, text := range f.aliases {
		name, of, ok := strings.Cut(text, "=")
		if !ok {
			return c, usageErrorf("--alias %s: expected NAME=MODEL, such as web=web@2", text)
		}
		if err := serve.CheckName(name); err != nil {
			return c, usageErrorf("--alias %s: %w", text, err)
		}
		if _, twice := c.Aliases[name]; twice {
			return c, usageErrorf("--alias %s: found %s twice", text, name)
		}
		c.Aliases[name] = of
	}
	if _, err := parseAbsent(f.absent, ofModel); err != nil {
		return c, err
	}
	if c.Limits, err = f.limits(); err != nil {
		return c, err
	}
	if f.reload <= 0 || f.grace < 0 {
		return c, usageErrorf("--reload %v, --grace %v: expected a time above 0, and one of 0 or more", f.reload, f.grace)
	}
	c.Backgrounds, err = f.readBackgrounds(ctx, env, c.Models)
	return c, err
}

func (f *serveFlags) readBackgrounds(ctx context.Context, env *environment, models []serve.Source) (map[string]*dataset.Dataset, error) {
	all := make(map[string]*dataset.Dataset)
	for _, text := range f.backgrounds {
		name, path, _ := strings.Cut(text, "=")
		i := slices.IndexFunc(models, func(m serve.Source) bool { return m.Name == name })
		if i < 0 || path == "" {
			return nil, usageErrorf("--background %s: expected MODEL=FILE with the name of a model", text)
		}
		m, err := env.loadModel("model", models[i].Path)
		if err != nil {
			return nil, err
		}
		opts := dataset.Options{Missing: dataset.MissingKeep}
		opts.Table.Ungraded = true
		if err := (&scoring{reading: reading{absent: ofModel}}).forModels(&opts, m); err != nil {
			return nil, err
		}
		d, err := env.openAndWarn(ctx, "background", path, opts)
		if err != nil {
			return nil, err
		}
		// Copy the data, because a request may use them after the command has closed its files.
		d = d.Filter(func(*dataset.Query) bool { return true })
		d.IgnoreOthers = true
		all[name] = d
	}
	return all, nil
}

// logger returns the log of a server on standard error.
func (env *environment) logger() *slog.Logger {
	o := &slog.HandlerOptions{}
	if env.quiet {
		o.Level = slog.LevelWarn
	}
	if env.format == "json" {
		return slog.New(slog.NewJSONHandler(env.stderr, o))
	}
	return slog.New(slog.NewTextHandler(env.stderr, o))
}

const tokensVariable = "LISTWISE_TOKENS"

// accessFlags are the flags for access to the server.
type accessFlags struct {
	addr                string
	remote              bool
	tokenFile           string
	cert, key, clientCA string
	clients             []string
	local               bool // only this machine can reach addr
}

func (a *accessFlags) addTo(fl *pflag.FlagSet) {
	fl.StringVar(&a.addr, "addr", "127.0.0.1:8080", "listen `address`, HOST:PORT; port 0: any free port")
	fl.BoolVar(&a.remote, "allow-remote", false, "allow an --addr that other machines can reach")
	fl.StringVar(&a.tokenFile, "token-file", "", "`file` of bearer tokens that requests must present, one per line")
	fl.StringVar(&a.cert, "cert", "", "`file` of the TLS certificate and its chain (PEM)")
	fl.StringVar(&a.key, "key", "", "`file` of the certificate's private key (PEM)")
	fl.StringVar(&a.clientCA, "client-ca", "", "`file` of root certificates for client certificates (PEM)")
	addList(fl, &a.clients, "client", "MODEL=NAME", "restrict MODEL to client certificates with NAME; repeatable")
}

// config applies the flags to c. It returns the server's certificates, or nil without TLS.
func (a *accessFlags) config(ctx context.Context, c *serve.Config) (*serve.Certificates, error) {
	var err error
	if a.local, err = a.checkAddr(ctx); err != nil {
		return nil, err
	}
	if c.Tokens, err = a.tokens(); err != nil {
		return nil, err
	}
	c.LocalHost = a.local && len(c.Tokens) == 0 && a.clientCA == ""
	c.Clients = make(map[string][]string)
	for _, text := range a.clients {
		m, name, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usageErrorf("--client %s: expected MODEL=NAME, such as web=search.example.org", text)
		}
		c.Clients[m] = append(c.Clients[m], name)
	}
	switch {
	case (a.cert == "") != (a.key == ""):
		return nil, usageErrorf("--cert and --key go together: found one of them")
	case a.clientCA != "" && a.cert == "":
		return nil, usageErrorf("--client-ca needs --cert and --key: client certificates need TLS")
	case a.clients != nil && a.clientCA == "":
		return nil, usageErrorf("--client needs --client-ca, which verifies client certificates")
	case a.cert == "":
		return nil, nil
	}
	certificates, err := serve.NewCertificates(a.cert, a.key, a.clientCA)
	if err != nil {
		return nil, usageErrorf("--cert, --key, --client-ca: %w", err)
	}
	return certificates, nil
}

func (a *accessFlags) tokens() ([]string, error) {
	text := os.Getenv(tokensVariable)
	if a.tokenFile != "" {
		file, err := os.ReadFile(a.tokenFile)
		if err != nil {
			return nil, usageErrorf("--token-file: %w", err)
		}
		if len(strings.Fields(string(file))) == 0 {
			return nil, usageErrorf("--token-file %s: found no token, expected one per line", a.tokenFile)
		}
		text += "\n" + string(file)
	}
	return strings.Fields(text), nil
}

// checkAddr reports whether only this machine can reach the address. An address that other machines
// can reach is an error without --allow-remote.
func (a *accessFlags) checkAddr(ctx context.Context) (local bool, err error) {
	host, _, err := net.SplitHostPort(a.addr)
	if err != nil {
		return false, usageErrorf("--addr %s: expected HOST:PORT, such as 127.0.0.1:8080", a.addr)
	}
	if host != "" {
		list, err := net.DefaultResolver.LookupIPAddr(ctx, host)
		if err != nil {
			return false, usageErrorf("--addr %s: %w", a.addr, err)
		}
		local = true
		for _, ip := range list {
			local = local && ip.IP.IsLoopback()
		}
	}
	if !local && !a.remote {
		return false, usageErrorf("--addr %s: other machines can reach this address; --allow-remote allows it", a.addr)
	}
	return local, nil
}

// warning describes the risks of a remote address, or returns "".
func (a *accessFlags) warning(c *serve.Config) string {
	switch {
	case a.local:
		return ""
	case len(c.Tokens) == 0 && a.clientCA == "":
		return fmt.Sprintf("anyone who can reach %s may use the models: found neither tokens (--token-file) nor client certificates (--client-ca)", a.addr)
	case a.cert == "":
		return "tokens and features cross the network unencrypted: there is no TLS (--cert, --key)"
	}
	return ""
}

// experimentFlags has the flags for experiments between models, and for the logs of rankings.
type experimentFlags struct {
	splits      []string
	interleaves []string
	explores    []string
	shadows     []string
	by          string
	log         string
	pageLog     string
	pageShare   float64
	candidates  int

	changed func(name string) bool // reports whether a flag is given
}

func (f *experimentFlags) add(fl *pflag.FlagSet) {
	addList(fl, &f.splits, "split", "NAME=MODEL:SHARE,MODEL:SHARE", "serve under NAME an experiment that splits users among models; repeatable")
	addList(fl, &f.interleaves, "interleave", "NAME=MODEL,MODEL[:probabilistic]", "serve under NAME an experiment that interleaves two models' rankings; repeatable")
	addList(fl, &f.explores, "explore", "NAME=MODEL:HOW[:share=S]", "serve under NAME the rankings of MODEL, changed at random; repeatable")
	fl.StringVar(&f.by, "by", "user", "assign requests to an experiment's models by `user` or query")
	addList(fl, &f.shadows, "shadow", "MODEL=MODEL", "score the first model's requests with the second, too; repeatable")
	fl.StringVar(&f.log, "experiment-log", "", "`file` for the log of experiments (JSON lines)")
	fl.StringVar(&f.pageLog, "page-log", "", "`file` for the log of rankings outside experiments (JSON lines)")
	addPositive(fl, &f.pageShare, "page-share", 0.01, 1, "`share` of users, or of queries without users, in --page-log")
	addWhole(fl, &f.candidates, "page-candidates", 0, 0, "largest `number` of candidates logged if an answer is cut by top")
	f.changed = fl.Changed
}

// config applies the flags to c and opens the logs.
func (f *experimentFlags) config(c *serve.Config) error {
	if f.by != "user" && f.by != "query" {
		return usageErrorf("--by %s: expected user or query", f.by)
	}
	for _, text := range f.splits {
		if err := f.experiment(c, "--split", text, experiment.Split); err != nil {
			return err
		}
	}
	for _, text := range f.interleaves {
		if err := f.experiment(c, "--interleave", text, experiment.Interleave); err != nil {
			return err
		}
	}
	for _, text := range f.explores {
		if err := f.exploration(c, text); err != nil {
			return err
		}
	}
	for _, text := range f.shadows {
		of, name, ok := strings.Cut(text, "=")
		if !ok || of == "" || name == "" {
			return usageErrorf("--shadow %s: expected MODEL=MODEL, such as web=web@2", text)
		}
		if c.Shadows == nil {
			c.Shadows = make(map[string][]string)
		}
		c.Shadows[of] = append(c.Shadows[of], name)
	}
	return f.openLogs(c)
}

// openLogs opens the logs of rankings.
func (f *experimentFlags) openLogs(c *serve.Config) (err error) {
	switch {
	case f.log == "" && len(f.shadows) > 0:
		return usageErrorf("--shadow: expected --experiment-log FILE, which logs shadow scores")
	case f.log == "" && len(f.explores) > 0:
		return usageErrorf("--explore: expected --experiment-log FILE, which logs what was drawn")
	case f.log != "" && len(c.Experiments)+len(c.Shadows) == 0:
		return usageErrorf("--experiment-log %s: expected it with --split, --interleave, --explore or --shadow", f.log)
	case f.pageLog == "" && f.changed("page-share"):
		return usageErrorf("--page-share %v: expected it with --page-log", f.pageShare)
	case f.pageLog == "" && f.log == "" && f.candidates > 0:
		return usageErrorf("--page-candidates %d: expected it with --experiment-log or --page-log", f.candidates)
	}
	c.PageShare, c.Candidates = f.pageShare, f.candidates
	if f.log != "" {
		if c.Records, err = experiment.OpenLog(f.log); err != nil {
			return usageErrorf("--experiment-log: %w", err)
		}
	}
	if f.pageLog != "" {
		if c.Pages, err = experiment.OpenLog(f.pageLog); err != nil {
			return usageErrorf("--page-log: %w", err)
		}
	}
	return nil
}

// exploration parses NAME=MODEL:EXPLORATION and adds the experiment to c.
func (f *experimentFlags) exploration(c *serve.Config, text string) error {
	name, rest, ok := strings.Cut(text, "=")
	model, how, explored := strings.Cut(rest, ":")
	if !ok || !explored {
		return usageErrorf("--explore %s: expected NAME=MODEL:HOW, such as shop=web:swap:share=0.05", text)
	}
	if err := serve.CheckName(name); err != nil {
		return usageErrorf("--explore %s: %w", text, err)
	}
	e, err := experiment.ParseExploration(how)
	if err != nil {
		return usageErrorf("--explore %s: %w", text, err)
	}
	c.Experiments = append(c.Experiments, serve.Experiment{Name: name, Kind: experiment.Explore, Arms: []serve.Arm{{Model: model}}, Explore: e, ByQuery: f.by == "query"})
	return nil
}

// experiment parses NAME=MODEL:SHARE,… and adds the experiment to c. Shares are for splits only.
func (f *experimentFlags) experiment(c *serve.Config, flag, text, kind string) error {
	name, arms, ok := strings.Cut(text, "=")
	if !ok {
		return usageErrorf("%s %s: expected NAME=MODEL,MODEL", flag, text)
	}
	if err := serve.CheckName(name); err != nil {
		return usageErrorf("%s %s: %w", flag, text, err)
	}
	e := serve.Experiment{Name: name, Kind: kind, ByQuery: f.by == "query"}
	if kind == experiment.Interleave {
		arms, e.Probabilistic = strings.CutSuffix(arms, ":probabilistic")
	}
	for arm := range strings.SplitSeq(arms, ",") {
		model, share, shared := strings.Cut(arm, ":")
		a := serve.Arm{Model: model, Share: 1}
		if shared {
			n, err := strconv.Atoi(share)
			if err != nil || n < 0 || kind == experiment.Interleave {
				return usageErrorf("%s %s: found the share %q of %s, expected a whole number, and of --split alone", flag, text, share, model)
			}
			a.Share = n
		}
		e.Arms = append(e.Arms, a)
	}
	c.Experiments = append(c.Experiments, e)
	return nil
}

type limitFlags struct {
	body, memory float64 // MiB
	bounds       serve.Limits
}

func (l *limitFlags) addTo(cmd *cobra.Command) {
	fl := cmd.Flags()
	addPositive(fl, &l.body, "max-body", 32, 1024, "largest request body in `MiB`")
	addPositive(fl, &l.memory, "max-request-memory", 1024, maxMemory, "memory limit of all requests together in `MiB`")
	addWhole(fl, &l.bounds.Documents, "max-documents", 10_000, 1, "largest `number` of documents in a request")
	addWhole(fl, &l.bounds.Queries, "max-queries", 1000, 1, "largest `number` of queries in a request")
	addWhole(fl, &l.bounds.Concurrent, "max-concurrent", 256, 1, "largest `number` of requests processed or waiting")
	addWhole(fl, &l.bounds.Workers, "workers", 0, 0, "`number` of requests processed in parallel; 0: number of cores")
	addWhole(fl, &l.bounds.Connections, "max-connections", 4096, 1, "largest `number` of open connections")
	fl.DurationVar(&l.bounds.Header, "header-timeout", 5*time.Second, "`time` limit for the request header")
	fl.DurationVar(&l.bounds.Read, "read-timeout", 30*time.Second, "`time` limit for reading a whole request")
	fl.DurationVar(&l.bounds.Pause, "pause-timeout", 10*time.Second, "`time` limit between parts of a request body")
	fl.DurationVar(&l.bounds.Write, "write-timeout", time.Minute, "`time` limit from request header to end of response")
}

func (l *limitFlags) limits() (serve.Limits, error) {
	const mib = 1 << 20
	b := l.bounds
	for name, t := range map[string]time.Duration{"header": b.Header, "read": b.Read, "pause": b.Pause, "write": b.Write} {
		if t <= 0 {
			return b, usageErrorf("--%s-timeout %v: expected a time above 0", name, t)
		}
	}
	b.Body, b.Memory = int64(l.body*mib), int64(l.memory*mib)
	return b, nil
}
