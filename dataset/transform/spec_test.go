package transform_test

import (
	"strings"
	"testing"

	"github.com/listwise/listwise/dataset/transform"
)

func TestParseSpec(t *testing.T) {
	for text, want := range map[string]string{
		"log1p":                  "log1p",
		"log1p:a,b":              "log1p:a,b",
		"log1p: a , b":           "log1p:a,b",
		"log1p:a:b":              "log1p:a:b", // a name with a colon
		"clip=0%:99%":            "clip=0%:99%",
		"clip=:1e3":              "clip=:1000",
		"clip=-1:":               "clip=-1:",
		"clip=0.5%:99.5%:x,3..7": "clip=0.5%:99.5%:x,3..7",
		"standard:1":             "standard:1",
		"fill=mean":              "fill=mean",
		"fill=median:a":          "fill=median:a",
		"fill=-1.5":              "fill=-1.5",
	} {
		s, err := transform.ParseSpec(text)
		if err != nil || s.String() != want {
			t.Errorf("%s: %s, %v, expected %s", text, s, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                 "expected clip, log1p, standard or fill",
		"log":              `did you mean "log1p"?`,
		"standart":         `did you mean "standard"?`,
		"log1p=2":          "expected no setting",
		"log1p:":           "expected names or numbers",
		"log1p:a,,b":       "expected names or numbers",
		"clip":             "expected =LOW:HIGH",
		"clip=3":           "expected =LOW:HIGH",
		"clip=:":           "expected at least one",
		"clip=2:1":         "expected the lower one first",
		"clip=99%:1%":      "expected the lower one first",
		"clip=-1%:5%":      "expected a number or a quantile",
		"clip=0:101%":      "expected a number or a quantile",
		"clip=nan:1":       "expected a number or a quantile",
		"clip=0:inf":       "expected a number or a quantile",
		"clip=0:1e39":      "expected a number or a quantile",
		"fill":             "expected =mean, =median or a number",
		"fill=mode":        "expected =mean, =median or a number",
		"fill=nan":         "expected =mean, =median or a number",
		"clip=a:b:c":       "expected a number or a quantile",
		"standard=mean":    "expected no setting",
		"Standard:price,x": `did you mean "standard"?`,
	} {
		if s, err := transform.ParseSpec(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, expected %s", text, s, err, want)
		}
	}
}

// Whatever is read as a step is written as a text that is read as the same step.
func FuzzParseSpec(f *testing.F) {
	for _, text := range []string{"log1p", "clip=0%:99%:a,b", "clip=:5:3..4", "standard:x", "fill=median", "fill=2e3:y", "clip=1:2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := transform.ParseSpec(text)
		if err != nil {
			return
		}
		again, err := transform.ParseSpec(s.String())
		if err != nil || again.String() != s.String() {
			t.Fatalf("%q is read as %q, and that as %q, %v", text, s, again, err)
		}
	})
}
