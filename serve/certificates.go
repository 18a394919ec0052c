package serve

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// Certificates reads the files for TLS. It is safe for concurrent use.
type Certificates struct {
	cert, key, clients string
	now                atomic.Pointer[tls.Config]
}

// NewCertificates reads the server's certificate chain and key, both in PEM. If clients is not
// empty, it also reads the root certificates that must have signed the clients' certificates.
func NewCertificates(cert, key, clients string) (*Certificates, error) {
	c := &Certificates{cert: cert, key: key, clients: clients}
	return c, c.Reload()
}

// Reload reads the files again. After an error, the previous certificates remain in use.
func (c *Certificates) Reload() error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", c.cert, c.key, err)
	}
	now := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if c.clients != "" {
		text, err := os.ReadFile(c.clients)
		if err != nil {
			return err
		}
		now.ClientCAs, now.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !now.ClientCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("%s: %w", c.clients, errors.New("found no certificate in PEM"))
		}
	}
	c.now.Store(now)
	return nil
}

// config returns a configuration that uses the current certificates for every new connection.
func (c *Certificates) config() *tls.Config {
	first := c.now.Load().Clone()
	first.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.now.Load(), nil }
	return first
}
