package engine

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"github.com/listwise/listwise/internal/strictjson"
)

// plugin is the API of the learning-to-rank plugin of Elasticsearch and OpenSearch.
type plugin struct{ name, index string }

func (p plugin) title() string { return p.name }
func (plugin) example() string { return "http://localhost:9200" }
func (plugin) storeIs() string { return "feature set" }

func (plugin) stores() string           { return "/_ltr/_featureset?size=1000" }
func (plugin) store(name string) string { return "/_ltr/_featureset/" + name }
func (plugin) model(name string) string { return "/_ltr/_model/" + name }
func (plugin) create(store string) (method, path string) {
	return http.MethodPost, "/_ltr/_featureset/" + store + "/_createmodel"
}

func (plugin) readStores(answer []byte) ([]string, error) {
	var a struct {
		Hits struct {
			Hits []struct {
				Source struct{ Name string } `json:"_source"`
			}
		}
	}
	err := json.Unmarshal(answer, &a)
	names := make([]string, len(a.Hits.Hits))
	for i, h := range a.Hits.Hits {
		names[i] = h.Source.Name
	}
	return names, err
}

func (plugin) readFeatures(answer []byte) ([]Feature, error) {
	var a struct {
		Source struct {
			Set struct {
				Features []struct {
					Name   string
					Params []string
				}
			} `json:"featureset"`
		} `json:"_source"`
	}
	err := json.Unmarshal(answer, &a)
	list := make([]Feature, len(a.Source.Set.Features))
	for i, f := range a.Source.Set.Features {
		list[i] = Feature{f.Name, f.Params}
	}
	return list, err
}

func (plugin) readModel(answer []byte, name string) (store string, body []byte, err error) {
	var a struct {
		Found  bool
		Source struct {
			Model struct {
				Set   struct{ Name string } `json:"feature_set"`
				Model json.RawMessage
			}
		} `json:"_source"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || !a.Found {
		return "", nil, err
	}
	return a.Source.Model.Set.Name, fmt.Appendf(nil, `{"model":{"name":%q,"model":%s}}`, name, a.Source.Model.Model), nil
}

// splitName is the feature of a split in model/xgboost+json.
var splitName = regexp.MustCompile(`"split"\s*:\s*("(?:[^"\\]|\\.)*")`)

// needs returns the features of a model. Trees name them at their splits. model/ranklib numbers them, so the order
// of the feature set decides.
func (plugin) needs(body []byte) (names []string, ordered bool, err error) {
	var m struct {
		Model struct {
			Model struct {
				Type       string
				Definition json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, false, err
	}
	definition := []byte(m.Model.Model.Definition)
	switch m.Model.Model.Type {
	case "model/linear":
		weights, err := strictjson.Members(strictjson.Whole(definition))
		for _, w := range weights {
			names = append(names, w.Key)
		}
		return names, false, err
	case "model/ranklib":
		return nil, true, nil
	}
	var text string
	if json.Unmarshal(definition, &text) == nil {
		definition = []byte(text)
	}
	for _, m := range splitName.FindAllSubmatch(definition, -1) {
		var name string
		if err := json.Unmarshal(m[1], &name); err != nil {
			return nil, false, err
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, false, nil
}

func (plugin) query(model string, external []External) string {
	params := []byte("{")
	for i, x := range external {
		if i > 0 {
			params = append(params, ',')
		}
		params = fmt.Appendf(params, "%q:%q", x.Name, "…")
	}
	return fmt.Sprintf(`"rescore":{"window_size":100,"query":{"query_weight":0,"rescore_query":{"sltr":{"model":%q,"params":%s}}}}`, model, append(params, '}'))
}
