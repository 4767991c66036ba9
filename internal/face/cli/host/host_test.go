package host_test

import (
	"context"
	"errors"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

// TestRun holds that a command's object is found beside what it complains of.
func TestRun(t *testing.T) {
	for printed, want := range map[string]string{
		`{"a":1}` + "\n": `{"a":1}`, "{}": "{}", "[1]": "", "null": "", "plain": "", "": "", `{"a":1} rest`: "",
		`{"error":{"code":"x"}}`: "", `{"error":1,"run":2}`: `{"error":1,"run":2}`,
	} {
		for _, complains := range []string{"", "before", "behind"} {
			complain := func(a *console.Console, when string) {
				if a.JSON = true; when == complains {
					a.ReportError(errors.New("nobody can be asked"))
				}
			}
			h := host.Host{Console: &console.Console{App: app.App{Mask: secret.NewMasker(nil), Env: func(string) string { return "" }}}}
			h.Execute = func(_ context.Context, a *console.Console, _ []string) error {
				complain(a, "before")
				err := a.Print(printed)
				complain(a, "behind")
				return err
			}
			if got := string(h.Run(t.Context(), host.Invocation{}).Data); got != want {
				t.Errorf("%q, complaint %s: %q", printed, complains, got)
			}
		}
	}
}
