package statusfile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/view/hostiletest"
)

// TestNoFileIsObeyed writes a file with hostile text in every field: who looks at it sees
// what it says, and who reads it gets the same text.
func TestNoFileIsObeyed(t *testing.T) {
	var f File
	hostiletest.FillFields(&f, hostiletest.HostileText())
	path := filepath.Join(t.TempDir(), "status.json")
	if err := WriteFile(path, f); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bad := hostiletest.ObeyedPart(string(data)); bad != "" {
		t.Errorf("%q", bad)
	}
	var back struct{ Questions []struct{ Text string } }
	if err := json.Unmarshal(data, &back); err != nil || len(back.Questions) != 2 || back.Questions[0].Text != f.Questions[0].Text {
		t.Errorf("it reads as %.80q, %v", back, err)
	}
}
