package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/listwise/listwise/dataset"
	"github.com/listwise/listwise/internal/block"
	"github.com/listwise/listwise/serve"
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
		Short: "Rank documents over HTTP",
		Long: `Serves models over HTTP until Ctrl-C or SIGTERM:

  POST /v1/models/NAME:rank   ranks the documents of a query, or of several
  GET  /v1/models             the models, their versions and features
  GET  /healthz, /readyz      whether the process answers; whether requests should come

Scores are those of "listwise score". A model is read anew when its file changes, and all are
at SIGHUP; a file that cannot be read keeps its old model, which /readyz and the log tell.
Requests that have begun are answered by the model that they began with.

An experiment is a name under which several models rank: --split gives each user one of them,
--interleave shows every user the rankings of two, of which the answer tells who placed what, and
--shadow has another model score what one answers. "listwise clicks" reads what they log.

It listens on this machine alone unless --allow-remote is given. Requests need a token if there
are any (--token-file, or ` + tokensVariable + ` in the environment); with --cert and --key it speaks TLS, and with
--client-ca to clients with certificates alone. The log goes to standard error,
as text or with --format json; features are never in it. A request by hand:

  curl localhost:8080/v1/models/web:rank -H 'Content-Type: application/json' \
    -d '{"documents":[{"id":"a","features":[3.2,0.5]},{"id":"b","features":[1.7,0.9]}]}'`,
		Example: `  listwise serve --model web=m.json
  listwise serve --model web@1=a.json --model web@2=b.json --alias web=web@2
  listwise serve --model web@1=a.json --model web@2=b.json --interleave mixed=web@1,web@2 --experiment-log log.jsonl`,
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
	fl.StringArrayVar(&f.models, "model", nil, "`NAME=FILE` of a model, of listwise or another system; NAME may be that of a version, as web@2. May be repeated")
	fl.StringArrayVar(&f.aliases, "alias", nil, "`NAME=MODEL`, a further name of a model. May be repeated")
	fl.StringArrayVar(&f.backgrounds, "background", nil, "`MODEL=FILE` with documents that contributions to the model's scores are measured from, and whose features it expects; else contributions are measured from the documents of each request. May be repeated")
	fl.BoolVar(&f.lenient, "lenient", false, "let requests that do not say leave features out, and have others than the model's")
	fl.StringVar(&f.absent, "absent", string(serve.AbsentByModel), "`what` a feature is that a lenient request leaves out: model (missing where the model has names of features, else what it was in training), zero, or missing")
	fl.DurationVar(&f.reload, "reload", 2*time.Second, "`time` between looks at the files of models")
	fl.DurationVar(&f.grace, "grace", 10*time.Second, "`time` that requests have to end when the server stops")
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
		default: // one that is to come reads all files, too
		}
	})
	if all := block.MachineMemory(); all > 0 && debug.SetMemoryLimit(-1) == math.MaxInt64 { // GOMEMLIMIT does not say
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
	if err := f.experiments.config(&c); err != nil {
		return err
	}
	if c.Records != nil {
		defer func() { err = errors.Join(err, closeRecords(&c)) }()
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
	// A server that stops waits for no model that is being loaded.
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

// closeRecords closes the log of experiments, and logs whether lines of it were lost: a service that
// is stopped says no more than that it was.
func closeRecords(c *serve.Config) error {
	err := c.Records.Close()
	if lost, _ := c.Records.Dropped(); lost > 0 {
		c.Log.Error("the log of experiments lacks lines", "lost", lost)
	}
	return err
}

// reread reads all files anew. Of what cannot be read the old stays.
func (f *serveFlags) reread(s *serve.Server, certificates *serve.Certificates, c *serve.Config) {
	log := c.Log
	log.Info("SIGHUP: reading models, tokens and certificates anew")
	_ = s.Reload(true) // which logs
	tokens, err := f.tokens()
	if err == nil {
		err = s.SetTokens(tokens)
	}
	if err != nil {
		log.Error("tokens cannot be read; the old ones stay", "error", err)
	}
	if certificates != nil {
		if err := certificates.Reload(); err != nil {
			log.Error("certificates cannot be read; the old ones stay", "error", err)
		}
	}
	if c.Records != nil {
		if err := c.Records.Reopen(); err != nil {
			log.Error("the log of experiments could not be opened anew", "error", err)
		}
	}
}

// config returns what the flags say of the server.
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

// readBackgrounds reads the documents of --background as the models want them.
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
		// A copy, as a request may still use it after the command has closed its files.
		d = d.Filter(func(*dataset.Query) bool { return true })
		d.IgnoreOthers = true
		all[name] = d
	}
	return all, nil
}

// logger returns the log of a service on standard error.
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
