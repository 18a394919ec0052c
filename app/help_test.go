package app

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// paraphrases are phrases of help texts for which the field has a term.
var paraphrases = regexp.MustCompile(`(?i)\b(?:random depends on|stands? for|made data|on where it was|of what|by what|what is (?:none|left|known|told|held)|` +
	`those (?:that|of|who|which) are|whatever|anew|but once|so many|is (?:told|minded|settled)|(?:are|is) read by, too|if need be)\b`)

// TestHelp holds the help of all commands to what a reader takes in at a glance.
func TestHelp(t *testing.T) {
	const longest = 12 // words about a flag
	for _, cmd := range allCommands(newRoot(&environment{stdout: io.Discard})) {
		if found := paraphrases.FindString(cmd.Short + "\n" + cmd.Long); found != "" {
			t.Errorf("%s: found %q in its help, expected the term of the field", cmd.CommandPath(), found)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, about := pflag.UnquoteUsage(f)
			if n := len(strings.Fields(about)); n > longest {
				t.Errorf("%s --%s: found %d words of help, expected at most %d: %s", cmd.CommandPath(), f.Name, n, longest, about)
			}
			if found := paraphrases.FindString(about); found != "" {
				t.Errorf("%s --%s: found %q, expected the term of the field", cmd.CommandPath(), f.Name, found)
			}
			if group, _ := groupOf(cmd, f.Name); group < 0 {
				t.Errorf("%s --%s: found no group of flags with it", cmd.CommandPath(), f.Name)
			}
		})
	}
}
