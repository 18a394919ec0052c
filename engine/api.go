package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// api is what differs between the learning-to-rank APIs of engines.
type api interface {
	title() string   // of the engine, in messages
	example() string // of an address
	storeIs() string // what it calls a list of features
	stores() string  // path that lists the stores
	store(name string) string
	model(name string) string
	create(store string) (method, path string)

	readStores(answer []byte) ([]string, error)
	readFeatures(answer []byte) ([]Feature, error)
	// readModel returns what create needs to make a stored model again; a nil body if there is none.
	readModel(answer []byte, name string) (store string, body []byte, err error)
	// needs returns the names of the features that a model uses. ordered says that the store must have exactly
	// these, in this order.
	needs(body []byte) (names []string, ordered bool, err error)
	// parse reads the template of a search request.
	parse(text []byte) (Request, error)
	// query is the part of a search request that ranks by a model.
	query(model string, external []External) string
}

// Feature is a feature of an engine's store.
type Feature struct {
	Name     string
	External []string // names of the parameters that a search request must give
}

// External is a parameter of search requests that features need.
type External struct {
	Name     string   `json:"name"`
	Features []string `json:"features"`
}

// externals collects the parameters of features.
func externals(features []Feature) []External {
	var list []External
	for _, f := range features {
		for _, name := range f.External {
			i := slices.IndexFunc(list, func(x External) bool { return x.Name == name })
			if i < 0 {
				i = len(list)
				list = append(list, External{Name: name})
			}
			list[i].Features = append(list[i].Features, f.Name)
		}
	}
	return list
}

var validName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@-]*$`)

// checkName returns an error for names that are no plain word in an address and in a query.
func checkName(what, name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("found the %s %q, expected letters, digits, _, ., @ and -", what, name)
	}
	return nil
}

func wrongAnswer(path string, err error) error {
	return fmt.Errorf("%s: the answer is not as expected: %w", strings.TrimLeft(path, "/"), err)
}
