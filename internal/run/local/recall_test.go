package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestRecallChecksWhatWasKept takes what is in the file for an answer, and a
// broken one for none.
func TestRecallChecksWhatWasKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept.json")
	ids := []nexus.TaskID{"T1"}
	if _, ok := recall("", ids); ok {
		t.Error("nothing is kept nowhere")
	}
	if _, ok := recall(file, ids); ok {
		t.Error("a file that is not there is an answer")
	}
	for text, good := range map[string]bool{
		`{"routes":[{"task":"T1","complexity":"complex","why":"hard"}]}`: true,
		`{"routes":[{"task":"T1","complexity":"huge","why":"hard"}]}`:    false,
		`{"routes":[{"task":"T1","comp`:                                  false, "": false, "{}": false, "[]": false,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		routes, ok := recall(file, ids)
		if ok != good || good && (len(routes) != 1 || routes[0].Complexity != nexus.Complex) {
			t.Errorf("%q: %+v, %t", text, routes, ok)
		}
	}
}
