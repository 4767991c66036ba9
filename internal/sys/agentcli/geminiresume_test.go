package agentcli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
)

// TestKeepGemini holds that a conversation keeps its file whatever the program writes
// when it loads it, and that nothing else is touched.
func TestKeepGemini(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	chats := filepath.Join(home, ".gemini", "tmp", "tree", "chats")
	if err := os.MkdirAll(chats, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(chats, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keep := func(home, id string) {
		t.Helper()
		if err := agentcli.PrepareGeminiResume(home, id); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(when string, want map[string]string) {
		t.Helper()
		all, err := os.ReadDir(chats)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			data, err := os.ReadFile(filepath.Join(chats, e.Name()))
			if err != nil || want[e.Name()] != string(data) || len(all) != len(want) {
				t.Errorf("%s, %s holds %q, %v", when, e.Name(), data, err)
			}
		}
	}
	const id = "d5078b21-357e-4f97-9a83-a1e225a73775"
	write("session-2026-11-27T00-47-d5078b21.jsonl", "all of it")
	write("session-2026-11-27T00-47-9e71629b.jsonl", "another")
	keep(home, id)
	kept := map[string]string{"session-kept-d5078b21.jsonl": "all of it", "session-2026-11-27T00-47-9e71629b.jsonl": "another"}
	holds("at first", kept)
	write("session-2026-11-27T00-47-d5078b21.jsonl", "begun anew")
	write("session-2026-11-27T00-48-d5078b21.jsonl", "begun anew")
	keep(home, id)
	holds("later", kept)
	for _, odd := range []string{"", "none", "*-x", "../x-y"} {
		keep(home, odd)
	}
	holds("for odd names", kept)
	keep(t.TempDir(), id)
	keep("", id)

	// a home whose directory leads elsewhere
	led := t.TempDir()
	if err := os.Symlink(filepath.Join(home, ".gemini"), filepath.Join(led, ".gemini")); err != nil {
		t.Fatal(err)
	}
	_ = agentcli.PrepareGeminiResume(led, "9e71629b-1") // with or without an error
	holds("through a link", kept)
}
