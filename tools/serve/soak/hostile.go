package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"
)

// wrongBodies must be refused with 4xx.
var wrongBodies = []string{
	``, `{`, `[]`, `null`, `{"documents":[]}`, `{"documents":[{"features":[1,2,3]}]}`, `{"documents":[{"features":[NaN]}]}`,
	`{"documents":[{"features":[` + strings.Repeat("1e999,", features-1) + `1]}]}`, `{"documents":` + strings.Repeat(`[`, 100_000),
	`{"documents":[{"features":` + strings.Repeat(`{"a":`, 50_000), `{"top":-1}`, `{"user":"` + strings.Repeat("x", 100_000) + `"}`, "{\"user\":\"\xff\"}",
}

// dial opens a connection to the server. It returns nil if the server has stopped.
func (s *soak) dial(kind string) net.Conn {
	c, err := net.DialTimeout("tcp", s.server.address, 5*time.Second)
	if err != nil {
		s.counts.fault("%s: %v", kind, err)
		time.Sleep(50 * time.Millisecond)
		return nil
	}
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	return c
}

// head returns the head of a request. length is the header line for the length of the body.
func (s *soak) head(length string) string {
	return "POST /v1/models/m:rank HTTP/1.1\r\nHost: " + s.server.address + "\r\nContent-Type: application/json\r\n" + length + "\r\n\r\n"
}

// status reads an answer and returns its status, or 0 if the connection ended without an answer.
func status(c net.Conn) int {
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode
}

// refused counts an answer, which must be 4xx or a closed connection.
func (s *soak) refused(kind string, code int, text string) {
	switch {
	case code == 0:
		s.counts.add(kind, "connection closed")
	case code >= 400 && code < 500:
		s.counts.add(kind, fmt.Sprint(code))
	default:
		s.counts.fault("%s: answered with %d: %.200q", kind, code, text)
	}
}

// bad sends a wrong body, or a damaged good one.
func (s *soak) bad(rng *rand.Rand) {
	c := s.dial("bad")
	if c == nil {
		return
	}
	defer func() { _ = c.Close() }()
	var body string
	damaged := rng.IntN(2) == 0
	if body = wrongBodies[rng.IntN(len(wrongBodies))]; damaged {
		text, _ := goodBody(rng)
		for range 1 + rng.IntN(3) {
			text[rng.IntN(len(text))] = byte(rng.IntN(256))
		}
		body = string(text)
	}
	if _, err := io.WriteString(c, s.head(fmt.Sprintf("Content-Length: %d", len(body)))+body); err != nil {
		s.counts.add("bad", "connection closed")
		return
	}
	code := status(c)
	if damaged && code == http.StatusOK { // a digit became another digit
		s.counts.add("bad", "200, damaged into another good one")
		return
	}
	s.refused("bad", code, body)
}

// cutOff closes a connection after it has sent a part of a good request, or before it has read the
// answer.
func (s *soak) cutOff(rng *rand.Rand, n int) {
	c := s.dial("cut off")
	if c == nil {
		return
	}
	body, _ := goodBody(rng)
	text := append([]byte(s.head(fmt.Sprintf("Content-Length: %d", len(body)))), body...)
	if n%3 > 0 {
		text = text[:rng.IntN(len(text))]
	}
	_, _ = c.Write(text)
	if tcp, ok := c.(*net.TCPConn); ok && n%2 == 0 {
		_ = tcp.SetLinger(0) // a reset
	}
	_ = c.Close()
	s.counts.add("cut off", "closed")
	time.Sleep(2 * time.Millisecond)
}

// slow sends the head or the body one byte at a time, for some seconds.
func (s *soak) slow(n int) {
	c := s.dial("slow")
	if c == nil {
		return
	}
	defer func() { _ = c.Close() }()
	text := []byte(s.head("Content-Length: 100000"))
	if n%2 == 0 {
		if _, err := c.Write(text); err != nil {
			return
		}
		text = bytes.Repeat([]byte(" "), 100_000)
	}
	give := time.Now().Add(time.Duration(2+n%30) * time.Second)
	for _, b := range text {
		if now := time.Now(); now.After(give) || now.After(s.end) {
			s.counts.add("slow", "given up by the client")
			return
		}
		if _, err := c.Write([]byte{b}); err != nil {
			s.counts.add("slow", "ended by the server")
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.refused("slow", status(c), "")
}

// oversized announces a body of a gigabyte, or sends a gigabyte in chunks.
func (s *soak) oversized(n int) {
	c := s.dial("oversized")
	if c == nil {
		return
	}
	defer func() { _ = c.Close() }()
	if n%2 == 0 {
		_, _ = io.WriteString(c, s.head("Content-Length: 1000000000"))
		s.refused("oversized", status(c), "")
		time.Sleep(100 * time.Millisecond)
		return
	}
	_, _ = io.WriteString(c, s.head("Transfer-Encoding: chunked"))
	sent := make(chan error, 1)
	go func() {
		chunk := "10000\r\n" + strings.Repeat(" ", 0x10000) + "\r\n"
		for range 1 << 14 { // a gigabyte
			if _, err := io.WriteString(c, chunk); err != nil {
				sent <- err
				return
			}
		}
		sent <- errors.New("all was taken")
	}()
	code := status(c)
	_ = c.Close()
	if err := <-sent; err.Error() == "all was taken" {
		s.counts.fault("oversized: the server read a gigabyte")
	}
	s.refused("oversized", code, "")
	time.Sleep(100 * time.Millisecond)
}
