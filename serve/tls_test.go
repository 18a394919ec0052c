package serve_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/listwise/listwise/serve"
)

// authority makes certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.cert, a.key = a.make("root", true)
	return a
}

func (a *authority) make(name string, root bool) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name + ".example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: root, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := template, key
	if !root {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// files writes a certificate and its key.
func files(t *testing.T, cert *x509.Certificate, key *ecdsa.PrivateKey) (certFile, keyFile string) {
	t.Helper()
	dir := t.TempDir()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert.Raw}, keyFile: {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// Claim: over TLS a client needs a certificate of the given root, a model that names clients is for
// those alone, HTTP/2 works, and no TLS below 1.2 does; new files are used after Reload.
func TestTLS(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	certFile, keyFile := files(t, first(ours.make("server", false)), second(ours.make("server", false)))
	if _, err := serve.NewCertificates(certFile, keyFile, ""); err == nil {
		t.Error("a key of another certificate is taken")
	}
	cert, key := ours.make("server", false)
	certFile, keyFile = files(t, cert, key)
	rootFile, _ := files(t, ours.cert, ours.key)
	c, err := serve.NewCertificates(certFile, keyFile, rootFile)
	if err != nil {
		t.Fatal(err)
	}
	path := save(t, linear(1, 2, -1))
	s := newServer(t, serve.Config{
		Models:  []serve.Source{{Name: "open", Path: path}, {Name: "shut", Path: path}},
		Aliases: map[string]string{"alias": "shut"}, Clients: map[string][]string{"shut": {"alice", "bob.example"}},
	})
	addr := listen(t, s, c)
	roots := x509.NewCertPool()
	roots.AddCert(ours.cert)
	try := func(cert *x509.Certificate, key *ecdsa.PrivateKey, model string, version uint16, http2 bool) (int, string) {
		t.Helper()
		config := &tls.Config{RootCAs: roots, MaxVersion: version, MinVersion: tls.VersionTLS10}
		if cert != nil {
			config.Certificates = []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}
		}
		transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: http2}
		defer transport.CloseIdleConnections()
		resp, err := (&http.Client{Transport: transport}).Post("https://"+addr+"/v1/models/"+model+":rank", "application/json", strings.NewReader(oneDocument))
		if err != nil {
			return 0, ""
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, resp.Proto
	}
	for _, who := range []struct {
		name   string
		of     *authority
		model  string
		status int
	}{
		{"alice", ours, "shut", 200}, {"bob", ours, "shut", 200}, {"carol", ours, "shut", 403}, {"carol", ours, "alias", 403},
		{"carol", ours, "open", 200}, {"alice", theirs, "shut", 0}, {"alice", theirs, "open", 0},
	} {
		cert, key := who.of.make(who.name, false)
		for _, http2 := range []bool{false, true} {
			code, proto := try(cert, key, who.model, 0, http2)
			if code != who.status || code != 0 && (proto == "HTTP/2.0") != http2 {
				t.Errorf("%s is answered with %d by %s, want %d (HTTP/2: %t)", who.name, code, proto, who.status, http2)
			}
		}
	}
	if code, _ := try(nil, nil, "open", 0, false); code != 0 {
		t.Errorf("a client without a certificate is answered with %d", code)
	}
	alice, aliceKey := ours.make("alice", false)
	if code, _ := try(alice, aliceKey, "open", tls.VersionTLS11, false); code != 0 {
		t.Errorf("TLS 1.1 is answered with %d", code)
	}
	otherRoot, _ := files(t, theirs.cert, theirs.key)
	if err := os.Rename(otherRoot, rootFile); err != nil {
		t.Fatal(err)
	}
	if err := c.Reload(); err != nil {
		t.Fatal(err)
	}
	if code, _ := try(alice, aliceKey, "open", 0, false); code != 0 {
		t.Errorf("a client of a root that was taken away is answered with %d", code)
	}
}

func first[A, B any](a A, _ B) A  { return a }
func second[A, B any](_ A, b B) B { return b }
