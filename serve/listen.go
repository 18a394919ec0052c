package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// Serve answers the requests of a listener until ctx ends. It then waits at most grace for running
// requests. If some have not ended by then, Serve closes their connections and returns an error,
// otherwise nil. Serve also returns an error if the listener fails before ctx ends.
//
// With certificates, Serve speaks HTTP/1.1 and HTTP/2 over TLS. If c is nil, it speaks HTTP/1.1.
func (s *Server) Serve(ctx context.Context, l net.Listener, c *Certificates, grace time.Duration) error {
	l = netutil.LimitListener(l, s.limits.Connections)
	if c == nil {
		l = headListener{l}
	}
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.limits.Header,
		ReadTimeout:       s.limits.Read,
		WriteTimeout:      s.limits.Write,
		IdleTimeout:       s.limits.Idle,
		MaxHeaderBytes:    s.limits.Headers,
		ConnContext:       withHead,
		ConnState:         forgetHead,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	var failed error
	served := make(chan struct{})
	go func() {
		defer close(served)
		if c == nil {
			failed = h.Serve(l)
			return
		}
		h.TLSConfig = c.config()
		failed = h.ServeTLS(l, "", "")
	}()
	select {
	case <-served:
		return fmt.Errorf("serving %s: %w", l.Addr(), failed)
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.log.Info("stopping", "grace", grace.String())
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := h.Shutdown(end)
	if errors.Is(err, context.DeadlineExceeded) {
		_ = h.Close()
		err = fmt.Errorf("requests were cut off that had not ended after %v", grace)
	}
	<-served
	return err
}

// Watch reloads changed model files at intervals until ctx ends.
func (s *Server) Watch(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			_ = s.Reload(false) // Reload logs its errors
		}
	}
}
