// Command serve trains a model and serves it from memory, inside a web server that has other pages and its own metrics.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/listwise/listwise"
	"github.com/listwise/listwise/dataset/synth"
	"github.com/listwise/listwise/serve"
)

func main() {
	data, err := synth.Square{Queries: 20, Docs: 10, Seed: 1}.Generate() // grades are the order of x + 10 y
	check(err)
	m, err := listwise.Train(context.Background(), data, listwise.Options{Method: "listnet"})
	check(err)
	s, err := serve.New(serve.Config{Models: []serve.Source{{Name: "shop", Model: m}}})
	check(err)
	defer s.Close()

	// The program routes requests to the service and registers the metrics of the service with its own.
	metrics, mux := prometheus.NewRegistry(), http.NewServeMux()
	metrics.MustRegister(s.Collector())
	mux.Handle("/v1/", s)
	mux.Handle("/metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("/", http.NotFound) // the program's own pages
	host := httptest.NewServer(mux)    // in production an http.Server with timeouts
	defer host.Close()

	r, err := http.Post(host.URL+"/v1/models/shop:rank", "application/json", strings.NewReader(
		`{"top": 1, "documents": [{"id": "lamp", "features": [0.9, 0.2]}, {"id": "desk", "features": [0.1, 0.7]}]}`))
	show(r, err)
	r, err = http.Get(host.URL + "/metrics")
	show(r, err)
}

// show prints what an answer says of documents.
func show(r *http.Response, err error) {
	check(err)
	body, err := io.ReadAll(r.Body)
	check(errors.Join(err, r.Body.Close()))
	for _, found := range regexp.MustCompile(`"ranking":.*?,"rank":\d+|listwise_documents_total{.*`).FindAllString(string(body), -1) {
		fmt.Println(found)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
