package serve

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// Certificates are the files of TLS. They are safe for concurrent use.
type Certificates struct {
	cert, key, clients string
	now                atomic.Pointer[tls.Config]
}

// NewCertificates reads the server's certificate chain and key, both in PEM. Unless clients is
// empty, it also reads the roots that must have signed clients' certificates.
func NewCertificates(cert, key, clients string) (*Certificates, error) {
	c := &Certificates{cert: cert, key: key, clients: clients}
	return c, c.Reload()
}

// Reload reads the files again. After an error, the certificates read before remain in use.
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

// config returns a configuration that has, for every connection, the files as they are then.
func (c *Certificates) config() *tls.Config {
	first := c.now.Load().Clone()
	first.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.now.Load(), nil }
	return first
}
