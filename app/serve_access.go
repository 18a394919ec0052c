package app

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/listwise/listwise/serve"
)

// tokensVariable is the environment variable that has tokens.
const tokensVariable = "LISTWISE_TOKENS"

// accessFlags say who may send requests.
type accessFlags struct {
	addr                string
	remote              bool
	tokenFile           string
	cert, key, clientCA string
	clients             []string
	local               bool // the address is this machine's alone
}

func (a *accessFlags) addTo(fl *pflag.FlagSet) {
	fl.StringVar(&a.addr, "addr", "127.0.0.1:8080", "listen `address`, HOST:PORT; port 0: any free port")
	fl.BoolVar(&a.remote, "allow-remote", false, "allow an --addr that other machines can reach")
	fl.StringVar(&a.tokenFile, "token-file", "", "`file` of bearer tokens that requests must present, one a line")
	fl.StringVar(&a.cert, "cert", "", "`file` of the TLS certificate and its chain (PEM)")
	fl.StringVar(&a.key, "key", "", "`file` of the certificate's private key (PEM)")
	fl.StringVar(&a.clientCA, "client-ca", "", "`file` of root certificates for client certificates (PEM)")
	fl.StringArrayVar(&a.clients, "client", nil, "client certificate that may use a model, `MODEL=NAME`; repeatable")
}

// config sets what the flags say of a server, and returns its certificates, nil without TLS.
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

// tokens returns the tokens of the file and of the environment.
func (a *accessFlags) tokens() ([]string, error) {
	text := os.Getenv(tokensVariable)
	if a.tokenFile != "" {
		file, err := os.ReadFile(a.tokenFile)
		if err != nil {
			return nil, usageErrorf("--token-file: %w", err)
		}
		if len(strings.Fields(string(file))) == 0 {
			return nil, usageErrorf("--token-file %s: found no token, expected one a line", a.tokenFile)
		}
		text += "\n" + string(file)
	}
	return strings.Fields(text), nil
}

// checkAddr reports whether the address is this machine's alone. One that other machines reach is
// an error, unless it is wanted.
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

// warning says what is open to whoever reaches the address; empty for nothing.
func (a *accessFlags) warning(c *serve.Config) string {
	switch {
	case a.local:
		return ""
	case len(c.Tokens) == 0 && a.clientCA == "":
		return fmt.Sprintf("anyone who can reach %s may use the models: found neither tokens (--token-file) nor client certificates (--client-ca)", a.addr)
	case a.cert == "":
		return "tokens and features cross the network as they are: there is no TLS (--cert, --key)"
	}
	return ""
}
