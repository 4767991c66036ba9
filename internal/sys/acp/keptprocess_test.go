package acp_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
)

// TestKept holds that the file of a conversation of Gemini CLI has another name before
// the program loads it, which would write over it, and not before there is a need.
func TestKept(t *testing.T) {
	t.Parallel()
	b := play(t, "load\n---\nsay one\n", nil)
	chats := filepath.Join(b.home, ".gemini", "tmp", "tree", "chats")
	named := filepath.Join(chats, "session-2026-11-27T00-47-conversation.jsonl")
	if err := os.MkdirAll(chats, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(named, []byte("all of it"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := b.say(t, agentcli.AgentPrompt{Text: "x"}); e.Fault != "" {
		t.Fatalf("%+v", e)
	}
	if _, err := os.Stat(named); err != nil {
		t.Errorf("a new conversation moved it: %v", err)
	}
	if e := b.say(t, agentcli.AgentPrompt{Text: "y", ID: "conversation-1", Resume: true}); e.Fault != "" {
		t.Fatalf("%+v", e)
	}
	if data, err := os.ReadFile(filepath.Join(chats, "session-kept-conversation.jsonl")); err != nil || string(data) != "all of it" {
		t.Errorf("%q, %v", data, err)
	}
}
