package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// The smallest and the largest length of bearer tokens, in bytes.
const (
	leastToken = 16
	mostToken  = 256
)

// hashed are the SHA-256 hashes of tokens. Comparing hashes of equal length takes the same time for
// all tokens.
type hashed [][sha256.Size]byte

// SetTokens sets the bearer tokens. A request must have one of them. If tokens is empty, requests
// need none. A token has 16 to 256 bytes.
func (s *Server) SetTokens(tokens []string) error {
	all := make(hashed, len(tokens))
	for i, t := range tokens {
		if len(t) < leastToken || len(t) > mostToken {
			return fmt.Errorf("found bearer token %d of %d bytes, expected %d to %d", i+1, len(t), leastToken, mostToken)
		}
		all[i] = sha256.Sum256([]byte(t))
	}
	s.tokens.Store(&all)
	return nil
}

// has reports whether h has the token's hash. The comparisons take constant time.
func (h hashed) has(token string) bool {
	var text [mostToken]byte
	if len(token) > len(text) {
		return false
	}
	sum := sha256.Sum256(text[:copy(text[:], token)])
	found := 0
	for i := range h {
		found |= subtle.ConstantTimeCompare(sum[:], h[i][:])
	}
	return found == 1
}

// authorized reports whether a request has one of the tokens, or the server has no tokens.
func (s *Server) authorized(r *http.Request) bool {
	tokens := *s.tokens.Load()
	if len(tokens) == 0 {
		return true
	}
	const scheme = "Bearer "
	header := r.Header.Get("Authorization")
	return len(header) > len(scheme) && strings.EqualFold(header[:len(scheme)], scheme) && tokens.has(header[len(scheme):])
}

// admit returns an error for a request to another host, and for a request without a token to a path
// that needs one.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) error {
	if s.config.LocalHost && !localHost(r.Host) {
		return problemf(http.StatusMisdirectedRequest, "found the host %.100q, expected this machine's: localhost or a loopback address", r.Host)
	}
	if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" || r.URL.Path == "/" || pagePaths[r.URL.Path] != nil || s.authorized(r) {
		return nil
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	return problemf(http.StatusUnauthorized, "expected the header Authorization: Bearer TOKEN, with one of the tokens of this server")
}

// localHost reports whether the Host header of a request names this machine alone. A page of
// another site may make its own host name resolve to this machine (DNS rebinding); such a request
// has another Host header.
func localHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback()
}

// permit returns an error if the client's certificate does not permit the use of model m.
func (s *Server) permit(r *http.Request, m *Loaded) error {
	clients := s.config.Clients[m.Name]
	if len(clients) == 0 {
		return nil
	}
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 && slices.ContainsFunc(clients, func(name string) bool { return named(r.TLS.PeerCertificates[0], name) }) {
		return nil
	}
	return problemf(http.StatusForbidden, "the model %s is not for this client's certificate", m.Name)
}

// permitAll is permit for model m or, if m is nil, for all models of the experiment in j.
func (s *Server) permitAll(r *http.Request, j *job, m *Loaded) error {
	if m != nil {
		return s.permit(r, m)
	}
	for _, m := range j.models {
		if err := s.permit(r, m); err != nil {
			return err
		}
	}
	return nil
}

// named reports whether a certificate has a name: its common name, a DNS name or a URI.
func named(c *x509.Certificate, name string) bool {
	return c.Subject.CommonName == name || slices.Contains(c.DNSNames, name) ||
		slices.ContainsFunc(c.URIs, func(u *url.URL) bool { return u.String() == name })
}
