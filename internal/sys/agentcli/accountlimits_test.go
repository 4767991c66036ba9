package agentcli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
)

// TestLimits reads the last word of the newest record, and nothing that whoever ran
// in the home made of it: a link out of it, a pipe that nobody writes to.
func TestLimits(t *testing.T) {
	const line = `{"timestamp":"2026-10-01T10:00:00Z","type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":%,"window_minutes":300,"resets_at":1790000000}}}}` + "\n"
	used := func(n string) string { return strings.Replace(line, "%", n, 1) }
	codex := agentcli.CLIAgentProgram{Name: "codex", Speaks: "codex"}
	for name, c := range map[string]struct {
		make func(t *testing.T, home string)
		want int // -1: nothing
	}{
		"nothing": {func(*testing.T, string) {}, -1},
		"the newest": {func(t *testing.T, home string) {
			t.Helper()
			write(t, filepath.Join(home, ".codex/sessions/2026/09/30/rollout-9.jsonl"), used("9"))
			write(t, filepath.Join(home, ".codex/sessions/2026/10/01/rollout-1.jsonl"), used("1"))
			write(t, filepath.Join(home, ".codex/sessions/2026/10/01/rollout-2.jsonl"), used("2")+used("3")+"{half")
			write(t, filepath.Join(home, ".codex/sessions/2026/10/01/zzz"), used("8"))
		}, 3},
		"the end of a long one": {func(t *testing.T, home string) {
			t.Helper()
			write(t, filepath.Join(home, ".codex/sessions/rollout-1.jsonl"), strings.Repeat("x", 1<<20)+"\n"+used("7"))
		}, 7},
		"a pipe": {func(t *testing.T, home string) {
			t.Helper()
			write(t, filepath.Join(home, ".codex/sessions/a"), "")
			if err := syscall.Mkfifo(filepath.Join(home, ".codex/sessions/rollout-1.jsonl"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, -1},
		"a link out": {func(t *testing.T, home string) {
			t.Helper()
			out := t.TempDir()
			write(t, filepath.Join(out, "rollout-1.jsonl"), used("7"))
			if err := os.MkdirAll(filepath.Join(home, ".codex"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(out, filepath.Join(home, ".codex/sessions")); err != nil {
				t.Fatal(err)
			}
		}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			c.make(t, home)
			got := codex.AccountLimits(home)
			if len(got) == 0 && c.want >= 0 || len(got) > 0 && got[0].Used != c.want {
				t.Errorf("%+v, want %d", got, c.want)
			}
			if claude := (agentcli.CLIAgentProgram{Name: "claude", Speaks: "claude"}).AccountLimits(home); claude != nil {
				t.Errorf("claude: %+v", claude)
			}
		})
	}
}
