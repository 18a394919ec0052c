package serve

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are the Prometheus metrics of the server, a [prometheus.Collector]. Labels with model names
// come from the configuration alone, so clients cannot create labels.
type metrics struct {
	all       []prometheus.Collector
	requests  *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	documents *prometheus.CounterVec
	models    map[string]*modelMetrics // by name; "" is for requests without a known model
}

// modelMetrics has the metrics of a model, so that a request need not look them up.
type modelMetrics struct {
	ok        prometheus.Counter
	seconds   prometheus.Observer
	documents prometheus.Counter
}

// buckets are bounds in seconds. They range from the time of a small request to a time too long for
// a search.
var buckets = []float64{50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5}

// newMetrics returns the metrics of a server with the given names of models and experiments.
func newMetrics(s *Server, names []string) *metrics {
	m := &metrics{models: make(map[string]*modelMetrics)}
	m.requests = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "listwise_requests_total", Help: "Requests by model or experiment (empty: none that exists) and status code."}, []string{"model", "code"})
	m.seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "listwise_request_seconds", Help: "Time of ranking requests, from the end of their head to the end of the answer.", Buckets: buckets}, []string{"model"})
	m.documents = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "listwise_documents_total", Help: "Documents ranked."}, []string{"model"})
	inFlight := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "listwise_requests_in_flight", Help: "Requests that are worked at or wait for it."}, func() float64 { return float64(s.waiting.Load()) })
	m.all = append(dropped(s), m.requests, m.seconds, m.documents, inFlight, &snapshotCollector{s})
	for _, name := range append([]string{""}, names...) {
		m.models[name] = &modelMetrics{m.requests.WithLabelValues(name, "200"), m.seconds.WithLabelValues(name), m.documents.WithLabelValues(name)}
	}
	return m
}

// dropped returns the counters of requests and log lines that experiments lose.
func dropped(s *Server) (all []prometheus.Collector) {
	if s.shadows != nil {
		all = append(all, prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "listwise_shadow_dropped_total", Help: "Requests that shadows did not score."},
			func() float64 { return float64(s.Dropped()) }))
	}
	for _, l := range s.config.Logs() {
		name := "listwise_" + strings.ReplaceAll(l.Name, " ", "_") + "_dropped_total"
		all = append(all, prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: "Lines that the " + l.Name + " lost."},
			func() float64 {
				lines, _ := l.Dropped()
				return float64(lines)
			}))
	}
	return all
}

// failed counts a failed request for the given name.
func (m *metrics) failed(name string, status int) {
	if m.models[name] == nil {
		name = ""
	}
	m.requests.WithLabelValues(name, strconv.Itoa(status)).Inc()
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range m.all {
		c.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.all {
		c.Collect(to)
	}
}

// Collector returns the server's metrics, as GET /metrics has them, for the registry of another
// program. The metrics of the Go runtime and the process are not among them, since most registries
// have them already. To register the collectors of several servers, give each a label by
// [prometheus.WrapRegistererWith].
func (s *Server) Collector() prometheus.Collector { return s.metrics }

// handler returns the handler of GET /metrics.
func (m *metrics) handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// An error in one metric must not suppress the others.
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// snapshotCollector collects metrics of the current models.
type snapshotCollector struct{ server *Server }

var (
	infoDesc   = prometheus.NewDesc("listwise_model_info", "The version of a model that is served: 1.", []string{"model", "version"}, nil)
	loadedDesc = prometheus.NewDesc("listwise_model_loaded_timestamp_seconds", "When a model was loaded.", []string{"model"}, nil)
	faultDesc  = prometheus.NewDesc("listwise_model_fault", "1 if a model's file cannot be read and the old one is served, else 0.", []string{"model"}, nil)
	driftDesc  = prometheus.NewDesc("listwise_feature_drift", "Population stability index of a feature's values in requests against the training data or the background; from 0.25 on the change is large.", []string{"model", "feature"}, nil)
)

// Describe implements prometheus.Collector.
func (*snapshotCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{infoDesc, loadedDesc, faultDesc, driftDesc} {
		to <- d
	}
}

// mostDrift is the largest number of features per model with a drift metric.
const mostDrift = 2000

// Collect implements prometheus.Collector.
func (c *snapshotCollector) Collect(to chan<- prometheus.Metric) {
	now := c.server.Snapshot()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, name := range now.Names() {
		m := now.models[name]
		gauge(infoDesc, 1, name, m.Version)
		gauge(loadedDesc, float64(m.Since.UnixMilli())/1000, name)
		fault := 0.0
		if now.faults[name] != "" {
			fault = 1
		}
		gauge(faultDesc, fault, name)
		if m.drift == nil {
			continue
		}
		told := make(map[string]bool) // two features may have the same name
		for j := range min(m.schema.Features, mostDrift) {
			feature := strings.ToValidUTF8(m.schema.Name(j), "\uFFFD") // Prometheus refuses text that is not UTF-8
			if v, ok := m.drift.index(j); ok && !told[feature] {
				told[feature] = true
				gauge(driftDesc, v, name, feature)
			}
		}
	}
}
