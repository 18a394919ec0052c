package strictjson

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// Claim: no error of encoding/json keeps the names of Go's types and fields.
func TestPlain(t *testing.T) {
	var into struct {
		Name  string  `json:"name"`
		Score float32 `json:"score"`
		Part  struct {
			Counts []int `json:"counts"`
		} `json:"part"`
		On   *bool     `json:"on"`
		Time time.Time `json:"time"`
	}
	for text, want := range map[string]string{
		`{"name":7}`:                `found number as "name", expected text in quotes`,
		`{"score":1e99}`:            `found number 1e99 as "score", expected a number within the range of float32`,
		`{"part":{"counts":7}}`:     `found number as "part.counts", expected a list`,
		`{"part":{"counts":[.5]}}`:  `found what is not JSON`,
		`{"part":{"counts":[1.5]}}`: `found number 1.5 as "part.counts", expected a whole number within range`,
		`{"on":"yes"}`:              `found string as "on", expected true or false`,
		`{"part":[]}`:               `found array as "part", expected an object`,
		`{"time":"today"}`:          `found the time "today", expected one such as`,
		`{"time":5}`:                `found a time that is not text, expected one such as`,
		`{"name"`:                   `found what is not JSON`,
	} {
		_, err := Plain(json.Unmarshal([]byte(text), &into))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	own := errors.New("own")
	if at, err := Plain(own); !errors.Is(err, own) || at != -1 {
		t.Error("another error does not stay")
	}
}
