package serve

import (
	"encoding/binary"
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
	"github.com/listwise/listwise/serve/rankjson"
)

// The media types of requests and answers.
const (
	mediaJSON   = "application/json"
	mediaBinary = "application/octet-stream"
)

// form describes the format of a request and of its answer.
type form struct {
	binary bool             // the body is a matrix of float32
	scores bool             // the answer is a list of scores, as float64
	engine *rankjson.Engine // whose answer the body is; nil if it is none
	params params
}

// formOf returns the form that the headers and the URL of a request state.
func formOf(r *http.Request) (form, error) {
	var f form
	header := r.Header.Get("Content-Type")
	kind := header
	if kind != mediaJSON && kind != mediaBinary { // header has parameters or capitals
		kind, _, _ = mime.ParseMediaType(header)
	}
	switch kind {
	case mediaJSON:
	case mediaBinary:
		f.binary = true
	default:
		return f, problemf(http.StatusUnsupportedMediaType, "found the content type %.100q, expected %s or %s", header, mediaJSON, mediaBinary)
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return f, problemf(http.StatusUnsupportedMediaType, "found the content encoding %.100q, expected none", encoding)
	}
	f.scores = f.binary
	if accept := r.Header.Get("Accept"); accept != "" {
		accept = strings.ToLower(accept)
		switch {
		case f.binary && strings.Contains(accept, mediaJSON):
			f.scores = false
		case strings.Contains(accept, "*/*"), strings.Contains(accept, "application/*"):
		case !f.binary && strings.Contains(accept, mediaJSON), f.binary && strings.Contains(accept, mediaBinary):
		default:
			return f, problemf(http.StatusNotAcceptable, "found Accept: %.100s, expected %s%s", accept, mediaJSON, map[bool]string{true: " or " + mediaBinary}[f.binary])
		}
	}
	if r.URL.RawQuery == "" {
		return f, nil
	}
	if err := f.params.parse(r.URL.RawQuery); err != nil {
		return f, err
	}
	return f, f.parseEngine()
}

// parseEngine sets the engine, and checks that the parameters are for such a body.
func (f *form) parseEngine() error {
	from, given := f.params.get("from")
	switch {
	case !given && !f.binary:
		return problemf(http.StatusBadRequest, "found parameters in the URL, expected none beside a body of %s, whose members they are, except with from", mediaJSON)
	case !given:
		return nil
	case f.binary:
		return problemf(http.StatusBadRequest, "found from=%.100s with a body of %s, expected %s", from, mediaBinary, mediaJSON)
	}
	if f.engine = rankjson.EngineNamed(from); f.engine == nil {
		return problemf(http.StatusBadRequest, "from=%.100s: expected %s", from, suggest.OneOf(rankjson.EngineNames))
	}
	for _, name := range []string{"documents", "features"} {
		if _, given := f.params.get(name); given {
			return problemf(http.StatusBadRequest, "found the parameter %s beside from, expected lenient, query, top or user", name)
		}
	}
	return nil
}

// urlParams are the URL parameters of a request whose body is a matrix or an engine's answer.
var urlParams = [...]string{"documents", "features", "from", "lenient", "query", "top", "user"}

// params are the values of urlParams, in the same order. url.Values would allocate for each
// request.
type params [len(urlParams)]struct {
	text  string
	given bool
}

// parse reads a query string as url.ParseQuery does.
func (p *params) parse(text string) error {
	for text != "" {
		var pair string
		if pair, text, _ = strings.Cut(text, "&"); pair == "" {
			continue
		}
		if strings.Contains(pair, ";") {
			return problemf(http.StatusBadRequest, "found a semicolon in the query string, expected parameters separated by &")
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err == nil {
			value, err = url.QueryUnescape(value)
		}
		if err != nil {
			return problemf(http.StatusBadRequest, "found what is no query string: %v", err)
		}
		at := slices.Index(urlParams[:], name)
		switch {
		case at < 0:
			return problemf(http.StatusBadRequest, "found the parameter %.100q, expected %s", name, strings.Join(urlParams[:], ", "))
		case p[at].given:
			return problemf(http.StatusBadRequest, "found the parameter %s twice, expected it once", name)
		}
		p[at].text, p[at].given = value, true
	}
	return nil
}

// get returns the value of a parameter in urlParams and whether the request has it.
func (p *params) get(name string) (text string, given bool) {
	at := slices.Index(urlParams[:], name)
	return p[at].text, p[at].given
}

// whole returns the value of a positive integer parameter, or 0 if the request does not have it.
func (f *form) whole(name string) (int, error) {
	text, ok := f.params.get(name)
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, problemf(http.StatusBadRequest, "%s=%.100s: expected a whole number from 1 on", name, text)
	}
	return n, nil
}

// id returns the value of a parameter that is an id, or nil if the request does not have it.
func (f *form) id(name string) ([]byte, error) {
	text, ok := f.params.get(name)
	if !ok {
		return nil, nil
	}
	if n := len(text); n < 1 || n > rankjson.MaxID {
		return nil, problemf(http.StatusBadRequest, "%s: found %d bytes, expected 1 to %d", name, n, rankjson.MaxID)
	}
	return []byte(strings.ToValidUTF8(text, "\uFFFD")), nil
}

// lenient returns whether features may be missing.
func (f *form) lenient(standard bool) (bool, error) {
	text, ok := f.params.get("lenient")
	if !ok {
		return standard, nil
	}
	lenient, err := strconv.ParseBool(text)
	if err != nil {
		return false, problemf(http.StatusBadRequest, "lenient=%.100s: expected true or false", text)
	}
	return lenient, nil
}

// decodeEngine reads a request for model m whose body is an engine's answer.
func (s *Server) decodeEngine(j *job, m *Loaded) error {
	lenient, err := j.form.lenient(s.config.Lenient)
	if err != nil {
		return err
	}
	req := &j.request
	if err := req.DecodeEngine(s.text(j), j.form.engine, &m.schema, s.limitsOf(j), lenient); err != nil {
		return err
	}
	if req.Top, err = j.form.whole("top"); err != nil {
		return err
	}
	if req.User, err = j.form.id("user"); err != nil {
		return err
	}
	req.Queries[0].ID, err = j.form.id("query")
	return err
}

// decodeBinary reads a request for model m. The body is the row-major matrix of the features of all
// documents, as little-endian float32.
func (s *Server) decodeBinary(j *job, m *Loaded) error {
	width, err := j.form.whole("features")
	if err != nil {
		return err
	}
	lenient, err := j.form.lenient(s.config.Lenient)
	if err != nil {
		return err
	}
	features := m.schema.Features
	if width == 0 {
		width = features
	}
	if width > features || width < features && !lenient {
		return problemf(http.StatusUnprocessableEntity, "features=%d: expected the model's %d", width, features)
	}
	body := s.text(j)
	if len(body) == 0 || len(body)%(4*width) != 0 {
		return problemf(http.StatusBadRequest, "found %d bytes, expected a multiple of %d: %d features of 4 bytes a document", len(body), 4*width, width)
	}
	docs := len(body) / 4 / width
	if docs > s.limits.Documents || docs > s.limits.cells()/features {
		return problemf(http.StatusRequestEntityTooLarge, "found %d documents, expected at most %d", docs, min(s.limits.Documents, s.limits.cells()/features))
	}
	if !j.reader.Take(m.schema.Memory(docs)) {
		return problemf(http.StatusTooManyRequests, "found requests that take more than %d bytes at once, expected no more: try again", s.limits.Memory)
	}
	req := &j.request
	req.X = slices.Grow(req.X[:0], docs*features)[:docs*features]
	for i := range docs {
		row := req.X[i*features : (i+1)*features]
		from := body[4*i*width : 4*(i+1)*width]
		numbersOf(row, from)
		for k := width; k < features; k++ {
			row[k] = m.schema.Absent
		}
	}
	req.IDs = slices.Grow(req.IDs[:0], docs)[:docs]
	clear(req.IDs)
	req.Contributions, req.Lenient, req.Engine = 0, lenient, nil
	return s.binaryQueries(j, docs)
}

// binaryQueries sets the queries of a request with the given number of documents, and the other
// fields of the request that URL parameters determine.
func (s *Server) binaryQueries(j *job, docs int) (err error) {
	req := &j.request
	if req.Top, err = j.form.whole("top"); err != nil {
		return err
	}
	if req.Top > 0 && j.form.scores {
		return problemf(http.StatusBadRequest, "found top=%d, expected Accept: %s beside it: scores are of all documents", req.Top, mediaJSON)
	}
	if req.User, err = j.form.id("user"); err != nil {
		return err
	}
	req.Queries, req.Several = req.Queries[:0], false
	id, err := j.form.id("query")
	if err != nil {
		return err
	}
	list, several := j.form.params.get("documents")
	if !several {
		req.Queries = append(req.Queries, rankjson.Query{ID: id, Docs: docs})
		return nil
	}
	first := 0
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > docs-first {
			return problemf(http.StatusBadRequest, "documents=%.100s: expected numbers of documents separated by commas, together the %d of the body", list, docs)
		}
		if len(req.Queries) == s.limits.Queries {
			return problemf(http.StatusRequestEntityTooLarge, "documents: found more than %d queries", s.limits.Queries)
		}
		req.Queries = append(req.Queries, rankjson.Query{First: first, Docs: n})
		first += n
	}
	if first != docs {
		return problemf(http.StatusBadRequest, "documents=%.100s: found %d documents, expected the %d of the body", list, first, docs)
	}
	if req.Several = len(req.Queries) > 1; req.Several && id != nil {
		return problemf(http.StatusBadRequest, "query=%.100s: expected no id where there are several queries", id)
	}
	req.Queries[0].ID = id
	return nil
}

// appendScores appends scores as little-endian float64, in the order of the request's documents.
func appendScores(dst []byte, scores []float64) []byte {
	for _, v := range scores {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}

// numbersOf sets dst to the little-endian float32s in text. It reads two at a time.
func numbersOf(dst []float32, text []byte) {
	for len(text) >= 8 && len(dst) >= 2 {
		w := binary.LittleEndian.Uint64(text)
		dst[0], dst[1] = math.Float32frombits(uint32(w)), math.Float32frombits(uint32(w>>32))
		dst, text = dst[2:], text[8:]
	}
	if len(text) >= 4 {
		dst[0] = math.Float32frombits(binary.LittleEndian.Uint32(text))
	}
}
