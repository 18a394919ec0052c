package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/listwise/listwise/internal/suggest"
)

// Upload is a model for an engine.
type Upload struct {
	Name    string
	Store   string // feature store or feature set
	Body    []byte // as model/interchange writes it
	Names   []string
	Replace bool // a model of the same name
}

// Uploaded is what Put did.
type Uploaded struct {
	Engine   string     `json:"engine"`
	Name     string     `json:"name"`
	Store    string     `json:"store"`
	Used     int        `json:"features_used"`
	Stored   int        `json:"features_of_store"`
	Replaced bool       `json:"replaced"`
	Query    string     `json:"query"`
	External []External `json:"external"` // parameters that the model's features need
	Logging  []External `json:"logging"`  // parameters that further features of the store need when they are logged
}

// Put uploads a model. Before it changes anything it checks that the store has the model's features and that
// the name is free. If an engine refuses the model that replaces another, Put restores the other.
func (e *Engine) Put(ctx context.Context, u Upload) (*Uploaded, error) {
	if err := e.checkNames(u); err != nil {
		return nil, err
	}
	features, err := e.features(ctx, u.Store)
	if err != nil {
		return nil, err
	}
	used, err := e.used(u, features)
	if err != nil {
		return nil, err
	}
	store, old, err := e.stored(ctx, u.Name)
	switch {
	case err != nil:
		return nil, err
	case old != nil && !u.Replace:
		return nil, e.taken(ctx, u.Name)
	case old != nil:
		if err := e.remove(ctx, u.Name); err != nil {
			return nil, err
		}
	}
	if err := e.put(ctx, u.Name, u.Store, u.Body); err != nil {
		if old == nil {
			return nil, err
		}
		if lost := e.put(context.WithoutCancel(ctx), u.Name, store, old); lost != nil {
			return nil, fmt.Errorf("%w; the model %q that it replaces is deleted: %w", err, u.Name, lost)
		}
		return nil, fmt.Errorf("%w; the model %q is as before", err, u.Name)
	}
	external := externals(used)
	rest := slices.DeleteFunc(externals(features), func(x External) bool {
		return slices.ContainsFunc(external, func(y External) bool { return x.Name == y.Name })
	})
	return &Uploaded{e.title(), u.Name, u.Store, len(used), len(features), old != nil, e.query(u.Name, external), external, rest}, nil
}

func (e *Engine) checkNames(u Upload) error {
	if err := checkName("model name", u.Name); err != nil {
		return err
	}
	return checkName("name of a "+e.storeIs(), u.Store)
}

// features returns the features of a store. It asks for the list of stores first, since Solr makes an empty one of
// any name that it is asked for.
func (e *Engine) features(ctx context.Context, store string) ([]Feature, error) {
	answer, err := e.get(ctx, e.stores())
	if err != nil {
		if s, ok := errors.AsType[*StatusError](err); ok && s.Status == http.StatusNotFound {
			return nil, fmt.Errorf("%w, expected the address of learning to rank in %s, such as %s", err, e.title(), e.example())
		}
		return nil, err
	}
	names, err := e.readStores(answer)
	if err != nil {
		return nil, wrongAnswer(e.stores(), err)
	}
	if !slices.Contains(names, store) {
		rest := "; there is none"
		if len(names) > 0 {
			rest = "; there are " + strings.Join(names, ", ")
		}
		return nil, fmt.Errorf("%s has no %s %q%s", e.title(), e.storeIs(), store, suggest.Or(store, names, rest))
	}
	if answer, err = e.get(ctx, e.store(store)); err != nil {
		return nil, err
	}
	list, err := e.readFeatures(answer)
	if err != nil {
		return nil, wrongAnswer(e.store(store), err)
	}
	return list, nil
}

// used returns the features of the store that a model uses. A feature that the store lacks is an error.
func (e *Engine) used(u Upload, features []Feature) ([]Feature, error) {
	needed, ordered, err := e.needs(u.Body)
	if err != nil {
		return nil, err
	}
	have := make([]string, len(features))
	for i, f := range features {
		have[i] = f.Name
	}
	if ordered {
		if !slices.Equal(u.Names, have) {
			return nil, fmt.Errorf("%s %q: found the features %s, expected %s in this order: model/ranklib knows features by their place",
				e.storeIs(), u.Store, list(have), list(u.Names))
		}
		return features, nil
	}
	var lacking []string
	var used []Feature
	for _, name := range needed {
		i := slices.Index(have, name)
		if i < 0 {
			lacking = append(lacking, fmt.Sprintf("%q%s", name, strings.TrimRight(suggest.Or(name, have, ""), "?")))
			continue
		}
		used = append(used, features[i])
	}
	if lacking == nil {
		return used, nil
	}
	return nil, fmt.Errorf("%s %q lacks %d of the model's %d features: %s; it has %s", e.storeIs(), u.Store, len(lacking), len(needed), list(lacking), list(have))
}

// list joins names, at most 20 of them.
func list(names []string) string {
	const most = 20
	text := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", text, more)
	}
	if text == "" {
		return "none"
	}
	return text
}

// stored returns a model of the engine and its store; a nil body if there is none.
func (e *Engine) stored(ctx context.Context, name string) (store string, body []byte, err error) {
	answer, err := e.get(ctx, e.model(name))
	if s, ok := errors.AsType[*StatusError](err); ok && s.Status == http.StatusNotFound {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	if store, body, err = e.readModel(answer, name); err != nil {
		return "", nil, wrongAnswer(e.model(name), err)
	}
	return store, body, nil
}

// TakenError says that the engine has a model of the name.
type TakenError struct {
	Engine, Name string
	Free         string // a name that is free
}

func (t *TakenError) Error() string {
	return fmt.Sprintf("%s has a model %q already, expected a new name such as %q", t.Engine, t.Name, t.Free)
}

func (e *Engine) taken(ctx context.Context, name string) error {
	base, _, _ := strings.Cut(name, "@")
	for k := 2; ; k++ {
		free := fmt.Sprintf("%s@%d", base, k)
		_, body, err := e.stored(ctx, free)
		if err != nil {
			return err
		}
		if body == nil {
			return &TakenError{e.title(), name, free}
		}
	}
}

func (e *Engine) remove(ctx context.Context, name string) error {
	r := request{method: http.MethodDelete, path: e.model(name)}
	_, err := e.once(ctx, r)
	if !passing(err) {
		return err
	}
	if err := e.wait(ctx); err != nil {
		return err
	}
	_, err = e.once(ctx, r)
	if s, ok := errors.AsType[*StatusError](err); ok && s.Status == http.StatusNotFound {
		return nil // the first request deleted it
	}
	return err
}

// put sends a model of a free name. A repeated request would find the name taken if the first was carried out, so
// put looks for the model first.
func (e *Engine) put(ctx context.Context, name, store string, body []byte) error {
	method, path := e.create(store)
	r := request{method: method, path: path, body: body}
	_, err := e.once(ctx, r)
	if !passing(err) {
		return err
	}
	if err := e.wait(ctx); err != nil {
		return err
	}
	_, have, unknown := e.stored(ctx, name)
	if unknown != nil || have != nil {
		return unknown
	}
	_, err = e.once(ctx, r)
	return err
}

// Curl returns the requests of Put as commands for a shell. credentials is a shell word that becomes the
// credentials, "" for none; header says that these are a header's value.
func (e *Engine) Curl(u Upload, credentials string, header bool) (string, error) {
	if err := e.checkNames(u); err != nil {
		return "", err
	}
	with := ""
	if credentials != "" && header {
		with = ` -H "Authorization: ` + credentials + `"`
	} else if credentials != "" {
		with = ` -u "` + credentials + `"`
	}
	var b strings.Builder
	line := func(method, path string) {
		fmt.Fprintf(&b, "curl --fail-with-body%s -X %s %s", with, method, quote(e.address+path))
	}
	for _, path := range []string{e.stores(), e.store(u.Store), e.model(u.Name)} {
		line(http.MethodGet, path)
		b.WriteByte('\n')
	}
	if u.Replace {
		line(http.MethodDelete, e.model(u.Name))
		b.WriteByte('\n')
	}
	line(e.create(u.Store))
	fmt.Fprintf(&b, " -H 'Content-Type: application/json' --data-binary @- <<'EOF'\n%s\nEOF\n", strings.TrimSpace(string(u.Body)))
	return b.String(), nil
}

// quote makes one word of a shell of a text.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
