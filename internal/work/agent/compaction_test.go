package agent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/agenttest"
)

// prints is a turn whose result has so many bytes.
func prints(n, bytes int) llmtest.ScriptTurn {
	return llmtest.ScriptTurn{Think: "hm", Calls: []llmtest.ScriptCall{
		call("shell", map[string]any{"command": fmt.Sprintf("echo %d; head -c %d /dev/zero | tr '\\0' x", n, bytes)}),
	}}
}

// talks is a session of so many turns that ends well.
func talks(n, bytes int) (turns []llmtest.ScriptTurn) {
	for i := range n {
		turns = append(turns, prints(i, bytes))
	}
	return append(turns, done())
}

func compactions(b *bench) (all []nexus.SessionCompacted) {
	for _, f := range b.desk.RecordedFacts() {
		if f, ok := f.(nexus.SessionCompacted); ok {
			all = append(all, f)
		}
	}
	return all
}

// sound checks what holds after any compaction, and that a process that
// takes the session up has the same messages.
func sound(t *testing.T, b *bench, out agent.SessionStretchResult) {
	t.Helper()
	wholeConversation(t, out.Messages)
	settled(t, b)
	if text := out.Messages[0].Text(); text != b.brief.Next {
		t.Errorf("the brief is now %q", text)
	}
	tr, err := agenttest.ReplaySession(b.brief.Session, b.desk.Events(), b.store)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(out.Messages, tr.Messages); diff != "" {
		t.Errorf("replayed: %s", diff)
	}
	for _, f := range compactions(b) {
		if f.After >= f.Before || f.Why == "" {
			t.Errorf("%d tokens after %d, %q", f.After, f.Before, f.Why)
		}
	}
}

func TestALongSessionIsCompactedBeforeTheModelIsFull(t *testing.T) {
	for wire := range models("") {
		t.Run(wire, func(t *testing.T) {
			b := newBench(t, nexus.Coder, script(talks(30, 6_000)...))
			b.model, b.brief.Context = models(b.server.URL())[wire], 30_000
			b.desk.Guidance = []agent.Guidance{{Seq: 7, Text: "Mind the gap."}}
			out := b.must(t)
			if out.Outcome != nexus.Accepted || out.Turns != 31 {
				t.Fatalf("%s after %d turns: %s", out.Outcome, out.Turns, out.Why)
			}
			sound(t, b, out)
			if n := len(compactions(b)); n == 0 || n > 6 {
				t.Errorf("%d compactions", n)
			}
			if text := out.Messages[1].Text(); !strings.Contains(text, "Mind the gap.") {
				t.Errorf("the guidance is now %q", text)
			}
			for _, r := range b.server.Requests() {
				if r.Usage.PromptTokens() > 30_000 {
					t.Errorf("request %d has %d tokens", r.Seq, r.Usage.PromptTokens())
				}
			}
		})
	}
}

func TestAModelThatIsFullGoesOnWithLess(t *testing.T) {
	turns := talks(16, 3_000)
	turns[12].Fault = llmtest.TooLong
	b := newBench(t, nexus.Coder, script(turns...))
	out := b.must(t)
	if out.Outcome != nexus.Accepted || out.Turns != 17 {
		t.Fatalf("%s after %d turns: %s", out.Outcome, out.Turns, out.Why)
	}
	sound(t, b, out)
	if all := compactions(b); len(all) != 1 || all[0].Gone != 0 || all[0].Turn != 12 {
		t.Errorf("%+v", all)
	}
}

// TestTwoCompactionsInARowEndTheSession: stubs do not help, nor does a
// summary.
func TestTwoCompactionsInARowEndTheSession(t *testing.T) {
	turns := talks(12, 3_000)
	turns[8].Fault, turns[8].Times = llmtest.TooLong, -1
	b := newBench(t, nexus.Coder, script(turns...))
	out := b.must(t)
	if out.Outcome != nexus.Exhausted || !strings.Contains(out.Why, "2 times did not help") {
		t.Fatalf("%s: %s", out.Outcome, out.Why)
	}
	sound(t, b, out)
	all := compactions(b)
	if len(all) != 2 || all[0].Row != 1 || all[1].Row != 2 || all[1].Gone == 0 {
		t.Fatalf("%+v", all)
	}
	if note := out.Messages[1].Text(); !strings.Contains(note, "8 answers were given so far.") {
		t.Errorf("the summary is %q", note)
	}
}

// TestShortTurnsAreSummed: where results are no more than a line, only a
// summary helps; a model that does not give one does not stop the session.
func TestShortTurnsAreSummed(t *testing.T) {
	for _, refused := range []bool{false, true} {
		s := script(talks(60, 300)...)
		if refused {
			s.Conversations[0].Summary = &llmtest.ScriptTurn{Fault: llmtest.Refuse}
		}
		b := newBench(t, nexus.Coder, s)
		b.brief.Context, b.brief.Role.Turns, b.brief.Role.MaxTokens = 12_000, 0, 1_000
		out := b.must(t)
		if out.Outcome != nexus.Accepted || out.Turns != 61 {
			t.Fatalf("%s after %d turns: %s", out.Outcome, out.Turns, out.Why)
		}
		sound(t, b, out)
		all := compactions(b)
		if len(all) == 0 || all[0].Gone == 0 {
			t.Fatalf("%+v", all)
		}
		if note := out.Messages[1].Text(); refused != strings.Contains(note, "You called: ") {
			t.Errorf("the summary is %q", note)
		}
	}
}

// TestACrashAroundACompactionLosesNothing stops the session at each append
// and continues with what was recorded.
func TestACrashAroundACompactionLosesNothing(t *testing.T) {
	turns := talks(9, 3_000)
	turns[6].Fault, turns[6].Times = llmtest.TooLong, 2
	whole := newBench(t, nexus.Coder, script(turns...))
	want := whole.must(t)
	if want.Outcome != nexus.Accepted || len(compactions(whole)) != 2 {
		t.Fatalf("%s, %+v", want.Outcome, compactions(whole))
	}
	for at := range len(whole.desk.RecordedBatches()) {
		b := newBench(t, nexus.Coder, script(turns...))
		crashed, n := false, 0
		b.desk.Refuse = func([]nexus.Fact) error {
			if n++; n == at+1 && !crashed {
				crashed = true
				return errors.New("crash")
			}
			return nil
		}
		next := b.brief.Next
		if _, err := b.run(t.Context()); err != nil {
			if len(b.desk.RecordedFacts()) > 0 {
				tr := b.resume(t, "")
				b.brief.Compact = tr.Compact
			}
			if _, err := b.run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		b.brief.Next = next
		tr, err := agenttest.ReplaySession(b.brief.Session, b.desk.Events(), b.store)
		if err != nil || !tr.Over {
			t.Fatalf("crash at %d: over %v, %v", at+1, tr.Over, err)
		}
		wholeConversation(t, tr.Messages)
		if got := tr.Messages[len(tr.Messages)-1].Parts[0].Result; got == nil || tr.Turn != want.Turns {
			t.Errorf("crash at %d: %d turns", at+1, tr.Turn)
		}
	}
}

func TestABriefThatFillsTheModelIsSentAllTheSame(t *testing.T) {
	b := newBench(t, nexus.Coder, script(done()))
	b.brief.Context, b.brief.Next = 5_000, b.brief.Next+strings.Repeat("word ", 4_000)
	if out := b.must(t); out.Outcome != nexus.Accepted || len(compactions(b)) > 0 {
		t.Errorf("%s: %s", out.Outcome, out.Why)
	}
	b = newBench(t, nexus.Coder, script(llmtest.ScriptTurn{Fault: llmtest.TooLong, Times: -1}))
	if out := b.must(t); out.Outcome != nexus.Exhausted || !strings.Contains(out.Why, "too long for") {
		t.Errorf("%s: %s", out.Outcome, out.Why)
	}
}
