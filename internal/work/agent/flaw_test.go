package agent_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

// TestMalformedCallsGoBackToTheModel checks on every wire that a model that
// makes a call wrongly is told what is wrong, in place of a result or in words,
// and that the calls beside it are made. It is asked once for each answer.
func TestMalformedCallsGoBackToTheModel(t *testing.T) {
	told := map[llmtest.ProviderFault]string{
		llmtest.BadJSON: "text after the JSON", llmtest.HalfJSON: "ends too early", llmtest.NoObject: "not an object",
		llmtest.NoID: "has no id", llmtest.SameID: "the same id", llmtest.NoName: "names no tool", llmtest.OddName: "functions.write_file",
	}
	for fault, says := range told {
		for name := range models("") {
			if fault == llmtest.NoID && name == "gemini" { // where they may lack one
				continue
			}
			t.Run(string(fault)+"/"+name, func(t *testing.T) {
				back, once := says, "package sum"
				if name == "gemini" && (fault == llmtest.BadJSON || fault == llmtest.HalfJSON) { // which keeps it to itself
					back, once = "Nudge: your calls could not be read", "Nudge"
				}
				turn := calls(call("read_file", map[string]any{"path": "sum.go"}), call("write_file", map[string]any{"path": "no.go", "content": "package no\n"}))
				turn.Fault = fault
				next := done()
				next.Expect = []string{back, once}
				b := newBench(t, nexus.Coder, script(turn, next))
				b.model = models(b.server.URL())[name]
				out := b.must(t)
				if n := len(b.server.Requests()); out.Outcome != nexus.Accepted || n != 2 {
					t.Errorf("%s after %d requests: %s", out.Outcome, n, out.Why)
				}
				failed := 0
				for _, f := range b.desk.RecordedFacts() {
					if a, ok := f.(nexus.ToolCallEnded); ok && a.Failed {
						failed++
					}
				}
				if _, err := os.Stat(filepath.Join(b.dir, "no.go")); err == nil || failed != 1 && once != "Nudge" {
					t.Errorf("a malformed call was made, or not counted: %d failed", failed)
				}
				wholeConversation(t, out.Messages)
				settled(t, b)
			})
		}
	}
}

// TestMalformedCallsEnd checks that a model that never makes a sound call is
// not asked without end.
func TestMalformedCallsEnd(t *testing.T) {
	for name := range models("") {
		t.Run(name, func(t *testing.T) {
			turn := calls(call("finish", map[string]any{"summary": "x", "status": "done"}))
			turn.Fault, turn.Times = llmtest.BadJSON, -1
			b := newBench(t, nexus.Coder, script(turn, turn, turn, turn, turn, turn, turn, turn))
			b.model = models(b.server.URL())[name]
			out := b.must(t)
			if n := len(b.server.Requests()); out.Outcome != nexus.NoProgress || n != 5 || !strings.Contains(out.Why, "5 answers in a row with malformed calls") {
				t.Errorf("%s after %d requests: %s", out.Outcome, n, out.Why)
			}
			settled(t, b)
			if tr := b.resume(t, ""); len(tr.Messages) != len(out.Messages) {
				t.Errorf("%d messages recorded of %d", len(tr.Messages), len(out.Messages))
			}
		})
	}
}

// spoiled makes the first call of a model's first answer a malformed one.
type spoiled struct {
	llm.Model
	done bool
}

func (s *spoiled) Stream(ctx context.Context, r llm.Request, heard func(llm.AnswerDelta)) (llm.Response, error) {
	resp, err := s.Model.Stream(ctx, r, heard)
	if calls := resp.Message.Parts; !s.done && len(calls) > 0 && calls[0].Call != nil {
		s.done = true
		calls[0].Call.Input, calls[0].Call.Flaw = json.RawMessage("{}"), "ends too early"
	}
	return resp, err
}

// TestNothingBuildsOnAMalformedChange: what a malformed call would have changed
// is not known, so no command runs on a tree without it.
func TestNothingBuildsOnAMalformedChange(t *testing.T) {
	b := newBench(t, nexus.Coder, script(
		calls(call("write_file", map[string]any{"path": "a", "content": "one\n"}), call("shell", map[string]any{"command": "touch ran"}), call("read_file", map[string]any{"path": "sum.go"})),
		done(),
	))
	b.model = &spoiled{Model: b.model}
	out := b.must(t)
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("a command ran on a tree without the change before it")
	}
	for i, want := range []string{"malformed", "write_file, which this call builds on", "package sum"} {
		if got := out.Messages[2].Parts[i].Result; !strings.Contains(got.Text, want) {
			t.Errorf("result %d: %+v", i, got)
		}
	}
}

// TestEqualCallsOfAnAnswerAreRunOnce on every wire: the model hears that the others were
// not, and the session continues.
func TestEqualCallsOfAnAnswerAreRunOnce(t *testing.T) {
	for name := range models("") {
		t.Run(name, func(t *testing.T) {
			read := call("read_file", map[string]any{"path": "sum.go"})
			add := call("write_file", map[string]any{"path": "new.go", "content": "package sum\n"})
			var reads, writes []llmtest.ScriptCall
			for range 50 {
				reads, writes = append(reads, read), append(writes, add)
			}
			second, third := calls(writes...), done()
			second.Expect = []string{"package sum", "not run again: an earlier call of this answer is the same"}
			third.Expect = []string{"not run again: an earlier call of this answer is the same"}
			b := newBench(t, nexus.Coder, script(calls(reads...), second, third))
			b.model = models(b.server.URL())[name]
			out := b.must(t)
			if n := len(b.server.Requests()); out.Outcome != nexus.Accepted || n != 3 {
				t.Errorf("%s after %d requests: %s", out.Outcome, n, out.Why)
			}
			if text, err := os.ReadFile(filepath.Join(b.dir, "new.go")); err != nil || string(text) != "package sum\n" {
				t.Errorf("%q, %v", text, err)
			}
			failed := 0
			for _, f := range b.desk.RecordedFacts() {
				if a, ok := f.(nexus.ToolCallEnded); ok && a.Failed {
					failed++
				}
			}
			if failed > 0 {
				t.Errorf("%d calls failed", failed)
			}
			wholeConversation(t, out.Messages)
			settled(t, b)
		})
	}
}

// TestARefusedSubmissionThatIsRepeated in the same answer is no submission.
func TestARefusedSubmissionThatIsRepeated(t *testing.T) {
	bad := call("finish", map[string]any{"summary": "", "status": "perhaps"})
	b := newBench(t, nexus.Coder, script(calls(bad, call("read_file", map[string]any{"path": "sum.go"}), bad), done()))
	if out := b.must(t); out.Outcome != nexus.Accepted || len(b.server.Requests()) != 2 {
		t.Errorf("%s after %d requests: %s", out.Outcome, len(b.server.Requests()), out.Why)
	}
}
