package engine

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// solr is the API of Solr's learning-to-rank module below a core or collection.
type solr struct{}

func (solr) title() string   { return "Solr" }
func (solr) example() string { return "http://localhost:8983/solr/products, a core or collection" }
func (solr) storeIs() string { return "feature store" }

func (solr) stores() string                      { return "/schema/feature-store" }
func (solr) store(name string) string            { return "/schema/feature-store/" + name }
func (solr) model(name string) string            { return "/schema/model-store/" + name }
func (solr) create(string) (method, path string) { return http.MethodPut, "/schema/model-store" }

func (solr) readStores(answer []byte) ([]string, error) {
	var a struct {
		Stores []string `json:"featureStores"`
	}
	err := json.Unmarshal(answer, &a)
	return a.Stores, err
}

// parameter is ${name} in the parameters of a feature. ${name:value} has a default, so requests need not give it.
var parameter = regexp.MustCompile(`\$\{([^{}:]+)\}`)

func (solr) readFeatures(answer []byte) ([]Feature, error) {
	var a struct {
		Features []struct {
			Name   string          `json:"name"`
			Params json.RawMessage `json:"params"`
		} `json:"features"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, err
	}
	list := make([]Feature, len(a.Features))
	for i, f := range a.Features {
		list[i].Name = f.Name
		for _, m := range parameter.FindAllSubmatch(f.Params, -1) {
			if name := string(m[1]); !slices.Contains(list[i].External, name) {
				list[i].External = append(list[i].External, name)
			}
		}
	}
	return list, nil
}

// readModel reads the list of models. Solr ignores the name in the path and answers with all models of the core.
func (solr) readModel(answer []byte, name string) (store string, body []byte, err error) {
	var a struct {
		Models []json.RawMessage `json:"models"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return "", nil, err
	}
	for _, text := range a.Models {
		var m struct{ Name, Store string }
		if err := json.Unmarshal(text, &m); err != nil {
			return "", nil, err
		}
		if m.Name == name {
			return m.Store, text, nil
		}
	}
	return "", nil, nil
}

func (solr) needs(body []byte) (names []string, ordered bool, err error) {
	var m struct{ Features []Feature }
	err = json.Unmarshal(body, &m)
	for _, f := range m.Features {
		names = append(names, f.Name)
	}
	return names, false, err
}

func (solr) query(model string, external []External) string {
	return "rq=" + rerankQuery(model, "100", external)
}

// rerankQuery is the parameter rq.
func rerankQuery(model, docs string, external []External) string {
	return "{!ltr model=" + model + " reRankDocs=" + docs + values(external) + "}"
}

// values are the local parameters with the values of features' parameters. Each value is that of the request's
// parameter of the same name, which needs no quotes.
func values(external []External) string {
	var b strings.Builder
	for _, x := range external {
		b.WriteString(" efi." + x.Name + "=$" + x.Name)
	}
	return b.String()
}
