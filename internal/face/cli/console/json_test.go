package console

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/view/hostiletest"
)

// TestNoJSONIsObeyed prints objects and facts with hostile text: who looks at them in a
// terminal sees what they say, and who reads them gets the same text.
func TestNoJSONIsObeyed(t *testing.T) {
	var out bytes.Buffer
	a := &Console{App: app.App{Mask: secret.NewMasker(nil)}, Out: &out, JSON: true}
	text := hostiletest.HostileText()
	if err := a.Answer(map[string]string{"text": text}, nil); err != nil {
		t.Fatal(err)
	}
	var back map[string]string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["text"] != text {
		t.Errorf("it reads as %q, %v", back, err)
	}
	facts, err := hostiletest.HostileFacts(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range facts {
		if err := a.PrintEventJSON(nexus.Event{Run: "r", Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
	if bad := hostiletest.ObeyedPart(out.String()); bad != "" {
		t.Errorf("%q", bad)
	}
}
