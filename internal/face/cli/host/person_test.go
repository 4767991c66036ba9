package host_test

import (
	"context"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// TestTables holds that columns are aligned where a person reads what a command draws, and
// separated by tabs where a program does, with JSON or without.
func TestTables(t *testing.T) {
	for _, json := range []bool{false, true} {
		for person, want := range map[bool]string{true: "a       b\nlonger  c", false: "a\tb\nlonger\tc"} {
			h := host.Host{Console: &console.Console{App: app.App{Mask: secret.NewMasker(nil), Env: func(string) string { return "" }}}}
			h.Execute = func(_ context.Context, a *console.Console, _ []string) error {
				a.JSON = json
				return a.Answer(struct{}{}, func(s view.OutputStyle) string {
					return view.DrawTable(s, nil, [][]string{{"a", "b"}, {"longer", "c"}})
				})
			}
			if got := h.Run(t.Context(), host.Invocation{Person: person}).Text; got != want {
				t.Errorf("person %v, JSON %v: %q, want %q", person, json, got, want)
			}
		}
	}
}
