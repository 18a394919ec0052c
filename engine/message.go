package engine

import (
	"encoding/json"
	"regexp"
	"strings"
)

var htmlTitle = regexp.MustCompile(`(?s)<title>(.*?)</title>`)

// messageOf returns the sentence of an answer that says what failed: of Solr, of Elasticsearch, or the title of a
// proxy's page. "" if there is none.
func messageOf(body []byte) string {
	var answer struct {
		Error json.RawMessage `json:"error"`
	}
	var failure struct {
		Msg    string `json:"msg"`
		Reason string `json:"reason"`
		Trace  string `json:"trace"`
		Root   []struct {
			Reason string `json:"reason"`
		} `json:"root_cause"`
	}
	var text string
	if json.Unmarshal(body, &answer) != nil {
		if title := htmlTitle.FindSubmatch(body); title != nil {
			text = string(title[1])
		}
	} else if json.Unmarshal(answer.Error, &text) != nil && json.Unmarshal(answer.Error, &failure) == nil {
		if text = failure.Msg + failure.Reason; text == "" { // Solr has no message for errors of its own
			text, _, _ = strings.Cut(failure.Trace, "\n")
		}
		if len(failure.Root) > 0 && failure.Root[0].Reason != "" {
			text = failure.Root[0].Reason
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	const most = 500
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return text
}
