package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// goodBody returns a request with one to three queries, and the sum of the features of each
// document.
func goodBody(rng *rand.Rand) (body []byte, sums [][]float64) {
	queries := 1 + rng.IntN(3)
	body = append(body, `{"queries":[`...)
	for q := range queries {
		if q > 0 {
			body = append(body, ',')
		}
		body = append(body, `{"documents":[`...)
		sums = append(sums, make([]float64, 1+rng.IntN(60)))
		for d := range sums[q] {
			if d > 0 {
				body = append(body, ',')
			}
			body = append(body, `{"features":[`...)
			for j := range features {
				v := rng.IntN(1000)
				sums[q][d] += float64(v)
				if j > 0 {
					body = append(body, ',')
				}
				body = strconv.AppendInt(body, int64(v), 10)
			}
			body = append(body, "]}"...)
		}
		body = append(body, "]}"...)
	}
	return append(body, "]}"...), sums
}

// good sends good requests until the server has stopped.
func (s *soak) good(seed uint64, stopping <-chan struct{}) {
	rng := random(seed)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}, Timeout: 30 * time.Second}
	defer client.CloseIdleConnections()
	for {
		body, sums := goodBody(rng)
		resp, err := client.Post(s.server.url+"/v1/models/m:rank", "application/json", bytes.NewReader(body))
		if err != nil {
			select {
			case <-stopping:
				s.counts.add("good", "refused by the server that stops")
				return
			default:
				s.counts.fault("a good request: %v", err)
				time.Sleep(10 * time.Millisecond)
				continue
			}
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK || err != nil {
			s.counts.fault("a good request is answered with %d %.200s, error %v", resp.StatusCode, text, err)
			continue
		}
		if err := s.check(text, sums); err != nil {
			s.counts.fault("%v: %.300s", err, text)
		}
		s.counts.add("good", "answered by one model")
		select {
		case <-stopping:
			return
		default:
		}
	}
}

// check checks that a single model ranked all documents, and that it is the model of the stated
// version.
func (s *soak) check(text []byte, sums [][]float64) error {
	var a struct {
		Version  string
		Rankings []struct {
			Ranking []struct {
				ID    string
				Score float64
			}
		}
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return err
	}
	if len(a.Rankings) != len(sums) {
		return errors.New("found another number of queries")
	}
	scale := 0.0
	for q, ranking := range a.Rankings {
		if len(ranking.Ranking) != len(sums[q]) {
			return errors.New("found another number of documents")
		}
		for i, d := range ranking.Ranking {
			doc, err := strconv.Atoi(d.ID)
			if err != nil || doc < 1 || doc > len(sums[q]) {
				return fmt.Errorf("found the document %q", d.ID)
			}
			if i > 0 && d.Score > ranking.Ranking[i-1].Score {
				return errors.New("found documents out of order")
			}
			of := d.Score / sums[q][doc-1]
			if scale == 0 {
				scale = of
			}
			if math.Abs(of/scale-1) > 1e-9 {
				return errors.New("found an answer of two models")
			}
		}
	}
	if !s.counts.scaled(a.Version, math.Round(scale)) {
		return fmt.Errorf("found the version %s with another model's scores", a.Version)
	}
	return nil
}
