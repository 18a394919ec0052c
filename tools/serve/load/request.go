package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// request is the text of an HTTP request and the address of its server.
type request struct {
	address string
	text    []byte
}

// newRequest makes a request with random documents.
func newRequest(to, format string, documents, features int) (*request, error) {
	u, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	kind, query, body := "application/json", "", jsonBody(rng, documents, features)
	if format == "binary" {
		kind, query, body = "application/octet-stream", fmt.Sprintf("?documents=%d", documents), binaryBody(rng, documents, features)
	}
	head := fmt.Sprintf("POST %s%s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", u.EscapedPath(), query, u.Host, kind, len(body))
	return &request{u.Host, append([]byte(head), body...)}, nil
}

// jsonBody returns a request whose values resemble MSLR-WEB30K's: counts, and numbers with six
// decimals, some of them above 1.
func jsonBody(rng *rand.Rand, documents, features int) []byte {
	b := []byte(`{"query":"q1","documents":[`)
	for i := range documents {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"id":"document-%d","features":[`, i)
		for j := range features {
			if j > 0 {
				b = append(b, ',')
			}
			switch v := rng.Float64(); j % 5 {
			case 0:
				b = strconv.AppendInt(b, int64(6*v), 10)
			case 1:
				b = strconv.AppendInt(b, int64(math.Exp(12*v)), 10)
			case 2:
				b = strconv.AppendFloat(b, 40*v, 'f', 6, 64)
			default:
				b = strconv.AppendFloat(b, v, 'f', 6, 64)
			}
		}
		b = append(b, "]}"...)
	}
	return append(b, "]}"...)
}

func binaryBody(rng *rand.Rand, documents, features int) []byte {
	var b []byte
	for range documents * features {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(rng.Float32()))
	}
	return b
}

// connection sends requests one after the other.
type connection struct {
	net.Conn
	in *bufio.Reader
}

func (r *request) connect() (*connection, error) {
	c, err := net.Dial("tcp", r.address)
	if err != nil {
		return nil, err
	}
	return &connection{c, bufio.NewReaderSize(c, 64<<10)}, nil
}

// send sends a request and reads the answer. ok reports whether the status is 200.
func (c *connection) send(r *request) (ok bool, err error) {
	if _, err := c.Write(r.text); err != nil {
		return false, err
	}
	return c.answer()
}

// answer reads the answer to a request. ok reports whether the status is 200.
func (c *connection) answer() (ok bool, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return false, err
	}
	ok = bytes.HasPrefix(line, []byte("HTTP/1.1 200 "))
	length := -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return false, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			break
		}
		if name, value, _ := strings.Cut(string(line), ":"); strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return false, err
			}
		}
	}
	if length <= 0 {
		return false, fmt.Errorf("found an answer without a length, expected one of %s", http.StatusText(http.StatusOK))
	}
	_, err = c.in.Discard(length)
	return ok, err
}

// result is the result of a measurement.
type result struct {
	took   time.Duration
	times  []time.Duration // of all requests, sorted
	failed int             // answered, but not with 200
}

func (r *result) rate() float64 { return float64(len(r.times)) / r.took.Seconds() }

// quantile returns a quantile of the times. There must be at least one.
func (r *result) quantile(q float64) time.Duration {
	return r.times[min(len(r.times)-1, int(q*float64(len(r.times))))]
}

// ms returns a quantile in milliseconds, or NaN if there are no times.
func (r *result) ms(q float64) float64 {
	if len(r.times) == 0 {
		return math.NaN()
	}
	return in(r.quantile(q), time.Millisecond)
}

// together runs a worker on each of several connections and combines their results.
func (r *request) together(connections int, work func(c *connection, into *result) error) (*result, error) {
	results, errs := make([]result, connections), make([]error, connections)
	start := time.Now()
	var wg sync.WaitGroup
	for i := range connections {
		c, err := r.connect()
		if err != nil {
			return nil, err
		}
		wg.Go(func() {
			defer func() { _ = c.Close() }()
			errs[i] = work(c, &results[i])
		})
	}
	wg.Wait()
	all := &result{took: time.Since(start)}
	for i := range results {
		if errs[i] != nil {
			return nil, errs[i]
		}
		all.times = append(all.times, results[i].times...)
		all.failed += results[i].failed
	}
	slices.Sort(all.times)
	return all, nil
}

// closed runs a closed loop: each connection sends a request as soon as it has the answer to the
// one before.
func (r *request) closed(connections int, d time.Duration) (*result, error) {
	end := time.Now().Add(d)
	return r.together(connections, func(c *connection, into *result) error {
		for now := time.Now(); now.Before(end); {
			ok, err := c.send(r)
			if err != nil {
				return err
			}
			if !ok {
				into.failed++
			}
			done := time.Now()
			into.times = append(into.times, done.Sub(now))
			now = done
		}
		return nil
	})
}
