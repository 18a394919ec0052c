package method

import (
	"fmt"
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

// What other tools call a setting of trees is answered with its name here, which exists.
func TestForeignSettingsNameOurs(t *testing.T) {
	m, err := Lookup("lambdamart")
	if err != nil {
		t.Fatal(err)
	}
	for name, own := range foreignSettings {
		if _, err := m.hyperparameter(own); err != nil {
			t.Errorf("%s is answered with %s: %v", name, own, err)
		}
		_, err := m.Values(map[string]string{name: "1"})
		if want := fmt.Sprintf("lambdamart on trees has no hyperparameter %q: it is called %s here", name, own); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
