package app

import (
	"encoding/binary"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```")

// versions are those of models in answers, which change with the format of their files, and times.
var versions = regexp.MustCompile(`"version":"[0-9a-f]{12}"|"loaded":"[^"]*"`)

// Claim: every example of docs/serve.md works, and the server answers what the page says. With
// UPDATE_SESSIONS=1 the page is made to say it.
func TestServeDocument(t *testing.T) {
	page, err := filepath.Abs(filepath.Join("..", "docs", "serve.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	writeProducts(t)
	var matrix []byte
	for i := range 10 {
		matrix, err = binary.Append(matrix, binary.LittleEndian, float32(i))
		if err != nil {
			t.Fatal(err)
		}
	}
	mustWrite(t, "matrix.f32", string(matrix))
	url, sentRequests := "", 0
	ran := consoleBlock.ReplaceAllStringFunc(string(text), func(block string) string {
		body := strings.TrimSuffix(strings.TrimPrefix(block, "```console\n"), "```")
		var out strings.Builder
		for _, part := range strings.Split("\n"+body, "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			got := ""
			switch words := quoted(command); {
			case words[0] == "curl":
				sentRequests++
				got = curl(t, url, words[1:])
			case words[1] == "serve":
				url, _ = startServe(t, words[2:]...)
			default:
				mustCall(t, words[1:]...)
			}
			got, want = strings.TrimSpace(got), strings.TrimSpace(want)
			if versions.ReplaceAllString(got, "") == versions.ReplaceAllString(want, "") {
				got = want
			} else if os.Getenv("UPDATE_SESSIONS") == "" {
				t.Errorf("%s\nis answered with\n%s\nthe page has\n%s", command, got, want)
			}
			out.WriteString("$ " + command + "\n")
			if got != "" {
				out.WriteString(got + "\n")
			}
		}
		return "```console\n" + out.String() + "```"
	})
	if sentRequests < 8 {
		t.Errorf("found %d requests on the page", sentRequests)
	}
	if os.Getenv("UPDATE_SESSIONS") != "" {
		if err := os.WriteFile(page, []byte(ran), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// quoted divides a command line at blanks that are not within single quotation marks.
func quoted(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// curl does what the program does with -s, -H, -d and --data-binary @FILE.
func curl(t *testing.T, server string, args []string) string {
	t.Helper()
	method, target, body := http.MethodGet, "", ""
	header := make(http.Header)
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-s":
		case "-H":
			i++
			name, value, _ := strings.Cut(args[i], ": ")
			header.Set(name, value)
		case "-d", "--data-binary":
			i++
			method, body = http.MethodPost, args[i]
			if path, ok := strings.CutPrefix(body, "@"); ok {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				body = string(text)
			}
		default:
			target = strings.Replace(args[i], "localhost:8080", server, 1)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
