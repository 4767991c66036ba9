package page

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// TestKeysAreListed holds that the list of keys has each one of what people do, and that
// the scripts of a review have those of the terminal interface.
func TestKeysAreListed(t *testing.T) {
	var listed []string
	for _, l := range keyHelp() {
		listed = append(listed, strings.Fields(l.Key)...)
	}
	for name, key := range projection.KeyBindings() {
		if key == "enter" {
			key = "Enter"
		}
		if !slices.Contains(listed, key) {
			t.Errorf("%s, which is the key of %s, is not in the list of keys", key, name)
		}
	}
	script, err := os.ReadFile("src/review.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"comment", "suggest", "select", "resolve", "apply", "send", "viewed", "next-file", "previous-file", "next-hunk", "previous-hunk",
	} {
		key := projection.KeyBindings()[name]
		if key == "space" {
			key = " "
		}
		if key == "" || !strings.Contains(string(script), fmt.Sprintf("case %q:", key)) {
			t.Errorf("a review does nothing at %q, which is the key of %s", key, name)
		}
	}
	for _, found := range regexp.MustCompile(`case "(.*?)":`).FindAllStringSubmatch(string(script), -1) {
		if key := strings.ReplaceAll(found[1], " ", "space"); key != "Escape" && !slices.Contains(listed, key) {
			t.Errorf("a review does something at %q, which is not in the list of keys", key)
		}
	}
}
