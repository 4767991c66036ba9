package agent_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

const fixtureKey = "zebra-7781-plum-90210-quartz"

// masking is a store that masks what it keeps.
type masking struct {
	agent.MessageStore
	mask *secret.Masker
}

func (m masking) Put(data []byte) (string, error) { return m.MessageStore.Put(m.mask.Mask(data)) }

// TestCallsAreRunAsTheyWereMade writes what the model said, although what is
// kept of it, and sent again, is masked.
func TestCallsAreRunAsTheyWereMade(t *testing.T) {
	b := newBench(t, nexus.Coder, script(
		llmtest.ScriptTurn{Say: fixtureKey, Calls: []llmtest.ScriptCall{call("write_file", map[string]any{"path": "a.txt", "content": fixtureKey})}},
		llmtest.ScriptTurn{Calls: []llmtest.ScriptCall{call("read_file", map[string]any{"path": "a.txt"})}},
		done(),
	))
	store := masking{b.store, secret.NewMasker([]string{"X_KEY=" + fixtureKey})}
	if _, err := agent.RunSession(t.Context(), b.model, b.set, b.brief, b.desk, store, nil); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(b.dir, "a.txt")); err != nil || string(data) != fixtureKey {
		t.Errorf("the file holds %q, %v", data, err)
	}
	for _, q := range b.server.Requests() {
		if bytes.Contains(q.Body, []byte(fixtureKey)) {
			t.Errorf("step %d was sent the key: %s", q.Step, q.Body)
		}
	}
}

// TestMaskedCallsAreNotRunAgain does not run what is left of a call after a
// crash, which would write the mark in the place of the key.
func TestMaskedCallsAreNotRunAgain(t *testing.T) {
	b := newBench(t, nexus.Coder, script(
		llmtest.ScriptTurn{Calls: []llmtest.ScriptCall{call("write_file", map[string]any{"path": "a.txt", "content": fixtureKey})}},
		llmtest.ScriptTurn{Expect: []string{"a key in its calls was not stored"}, Calls: []llmtest.ScriptCall{call("write_file", map[string]any{"path": "a.txt", "content": "again " + fixtureKey})}},
		done(),
	))
	store := masking{b.store, secret.NewMasker([]string{"X_KEY=" + fixtureKey})}
	crashed := false
	hook := &hooked{Recorder: b.desk, refuse: func() error {
		if !crashed && len(b.desk.RecordedBatches()) == 3 {
			crashed = true
			return errors.New("crash")
		}
		return nil
	}}
	if _, err := agent.RunSession(t.Context(), b.model, b.set, b.brief, hook, store, nil); err == nil {
		t.Fatal("no crash")
	}
	_ = os.Remove(filepath.Join(b.dir, "a.txt")) // the tree as it was pinned
	b.resume(t, "")
	out, err := agent.RunSession(t.Context(), b.model, b.set, b.brief, hook, store, nil)
	if err != nil || out.Outcome != nexus.Accepted {
		t.Fatalf("%s %s %v", out.Outcome, out.Why, err)
	}
	if data, err := os.ReadFile(filepath.Join(b.dir, "a.txt")); err != nil || string(data) != "again "+fixtureKey || strings.Contains(string(data), secret.Mark) {
		t.Errorf("the file holds %q, %v", data, err)
	}
}
