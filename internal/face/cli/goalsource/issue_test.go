package goalsource

import (
	"io"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
)

// TestElsewhere fetches nothing for a client of a server, nor for a file.
func TestElsewhere(t *testing.T) {
	a := console.New(strings.NewReader(""), io.Discard, io.Discard, app.App{Env: func(string) string { return "" }, Dir: t.TempDir()})
	for _, text := range []string{"https://127.0.0.1:1/x", "o/r#7", "http://127.0.0.1:1/o/r/-/issues/7"} {
		a.Host.Served = true
		for _, typed := range []bool{true, false} {
			_, _, err := new(Source).fetchGoal(t.Context(), a, &progress.RunCommandOptions{}, text, typed)
			if err == nil || !strings.Contains(err.Error(), "a client may not") {
				t.Error(text, typed, err)
			}
		}
		a.Host.Served = false
		if _, ok, err := new(Source).fetchGoal(t.Context(), a, &progress.RunCommandOptions{}, text, false); ok || err != nil {
			t.Error(text, ok, err)
		}
	}
	if got := withoutSecrets("https://ada:key@example.org/a.md?token=x#y"); got != "https://example.org/a.md" {
		t.Error(got)
	}
}
