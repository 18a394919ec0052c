package listwise

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	linkTarget = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// Claim: every link of the documentation leads to a file that exists, and to one of its headings if it names one.
func TestLinks(t *testing.T) {
	pages := []string{"README.md", "CONTRIBUTING.md"}
	for _, pattern := range []string{"docs/*.md", "docs/guide/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	checked := 0
	for _, page := range pages {
		for _, link := range linkTarget.FindAllStringSubmatch(read(t, page), -1) {
			path, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			at := page
			if path != "" {
				at = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(at); err != nil {
				t.Errorf("%s links to %s: %v", page, link[1], err)
			} else if anchor != "" && !hasHeading(read(t, at), anchor) {
				t.Errorf("%s links to %s, but %s has no such heading", page, link[1], at)
			}
			checked++
		}
	}
	if checked < 100 {
		t.Errorf("found %d links, expected hundreds", checked)
	}
}

// hasHeading reports whether a heading of a page has the anchor, by GitHub's rule.
func hasHeading(page, anchor string) bool {
	for _, h := range heading.FindAllStringSubmatch(page, -1) {
		name := strings.Map(func(c rune) rune {
			switch {
			case c == ' ':
				return '-'
			case c == '-' || c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c):
				return unicode.ToLower(c)
			}
			return -1
		}, h[1])
		if name == anchor {
			return true
		}
	}
	return false
}
