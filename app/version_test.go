package app

import (
	"runtime/debug"
	"strings"
	"testing"
)

// The version names the commit and the version of Go, and says so of a checkout with changes.
func TestVersionNamesCommitAndGo(t *testing.T) {
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "true"}}}
	info.Main.Version = "v1.2.3"
	v := versionOf(info)
	if got := v.line(); !strings.HasPrefix(got, "listwise v1.2.3 (commit 0123456789ab and changes, go1.") {
		t.Errorf("found %q", got)
	}
	info.Settings, info.Main.Version = nil, "(devel)"
	for _, info := range []*debug.BuildInfo{info, nil} {
		if v := versionOf(info); v.Version != "devel" || strings.Contains(v.line(), "commit") || v.Go == "" {
			t.Errorf("of no checkout: %+v, expected devel", v)
		}
	}
	if out := mustCall(t, "version", "--format", "json"); !strings.Contains(out, `"go": "go1.`) || !strings.Contains(out, `"version": `) {
		t.Errorf("version --format json prints %s", out)
	}
}
