package method

import (
	"strings"
	"testing"
)

// Every sentence about another tool's method is about one that is not here, and leads to
// what is.
func TestForeignMethods(t *testing.T) {
	here := []string{"listwise fuse", "--scorer"}
	for _, m := range List() {
		here = append(here, m.Name)
	}
	for name, sentence := range foreign {
		for _, m := range List() {
			if m.Name == name {
				t.Errorf("%s is a method", name)
			}
		}
		_, err := Lookup(strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
		if err == nil || !strings.Contains(err.Error(), sentence) {
			t.Errorf("%s: %v, want %s", name, err, sentence)
		}
		leads := false
		for _, h := range here {
			leads = leads || strings.Contains(sentence, h)
		}
		if !leads {
			t.Errorf("%s: %s leads nowhere", name, sentence)
		}
	}
}
