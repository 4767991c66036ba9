package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/agenttest"
)

// leaves answers a number of calls, and none after them.
type leaves struct {
	llm.Model
	after int
	asked []llm.Request
}

func (l *leaves) Stream(ctx context.Context, r llm.Request, heard func(llm.AnswerDelta)) (llm.Response, error) {
	if len(l.asked) >= l.after {
		return llm.Response{}, &llm.ModelCallError{Class: llm.Transient, Cause: errors.New("broken off")}
	}
	l.asked = append(l.asked, r)
	return l.Model.Stream(ctx, r, heard)
}

// pair gives a session a model that holds much, and leaves after some calls,
// and one that holds less.
func pair(b *bench, after int, much, less int64) (*leaves, *overheard) {
	big, small := &leaves{Model: b.model, after: after}, &overheard{Model: b.model}
	b.model, b.brief.Model, b.brief.Context = big, "big/model", much
	b.brief.Role.Turns, b.brief.Role.MaxTokens = 0, 1_000
	b.brief.Choices = []agent.SessionModel{
		{Model: big, Name: "big/model", Context: much},
		{Model: small, Name: "small/model", Context: less},
	}
	return big, small
}

// portableMessages reports whether a request holds nothing that only another model can
// read: thinking, up to the first answer that the asked one gave itself.
func portableMessages(r llm.Request, own int) bool {
	for i, m := range r.Messages {
		if m.From != llm.Assistant || i >= own {
			continue
		}
		for _, p := range m.Parts {
			if p.Raw != nil {
				return false
			}
		}
	}
	return true
}

// TestASwitchToASmallerModelAfterACompaction continues with a model that holds a
// third of what the first one did, right after that was compacted as well.
func TestASwitchToASmallerModelAfterACompaction(t *testing.T) {
	for _, after := range []int{13, 14, 15, 17, 20} {
		b := newBench(t, nexus.Coder, script(talks(30, 3_000)...))
		big, small := pair(b, after, 12_500, 7_500)
		out := b.must(t)
		if out.Outcome != nexus.Accepted || out.Turns != 31 {
			t.Fatalf("after %d: %s after %d turns: %s", after, out.Outcome, out.Turns, out.Why)
		}
		sound(t, b, out)
		var order []string
		for _, f := range b.desk.RecordedFacts() {
			switch f := f.(type) {
			case nexus.SessionCompacted:
				order = append(order, "compacted")
				if f.Row > 1 && len(order) > 1 && order[len(order)-2] == "switched" {
					t.Errorf("after %d: the first compaction for another model counts as number %d in a row", after, f.Row)
				}
			case nexus.SessionModelSwitched:
				order = append(order, "switched")
			default:
			}
		}
		if text := strings.Join(order, " "); !strings.HasPrefix(text, "compacted ") || !strings.Contains(text, "switched compacted") {
			t.Errorf("after %d: %s", after, text)
		}
		if len(big.asked) != after || len(small.asked) < 31-after {
			t.Errorf("after %d: %d and %d calls", after, len(big.asked), len(small.asked))
		}
		for _, r := range b.server.Requests()[after:] {
			if n := r.Usage.PromptTokens(); n > 7_000 {
				t.Errorf("after %d: request %d has %d tokens, and the model holds 7,000", after, r.Seq, n)
			}
		}
	}
}

// TestACrashAroundASwitchLosesNothing stops a session that is compacted and
// switches, at each append: the next process continues with the model that the
// session had last, and sends it nothing that only the other one can read.
func TestACrashAroundASwitchLosesNothing(t *testing.T) {
	whole := newBench(t, nexus.Coder, script(talks(12, 3_000)...))
	pair(whole, 7, 10_000, 7_000)
	want := whole.must(t)
	if want.Outcome != nexus.Accepted || len(compactions(whole)) < 2 {
		t.Fatalf("%s, %+v", want.Outcome, compactions(whole))
	}
	for at := range len(whole.desk.RecordedBatches()) {
		if at%3 != 0 && !testenv.RunsNightly() {
			continue
		}
		b := newBench(t, nexus.Coder, script(talks(12, 3_000)...))
		big, small := pair(b, 7, 10_000, 7_000)
		crashed, n := false, 0
		b.desk.Refuse = func([]nexus.Fact) error {
			if n++; n == at+1 && !crashed {
				crashed = true
				return errors.New("crash")
			}
			return nil
		}
		if _, err := b.run(t.Context()); err != nil {
			if len(b.desk.RecordedFacts()) > 0 {
				tr := b.resume(t, "")
				b.brief.Compact, b.brief.Present, b.brief.Foreign = tr.Compact, tr.Model, tr.Foreign
			}
			was := len(small.asked)
			if _, err := b.run(t.Context()); err != nil {
				t.Fatalf("crash at %d: %v", at+1, err)
			}
			if b.brief.Present == "small/model" && len(big.asked) > 7 {
				t.Errorf("crash at %d: the first model is asked again", at+1)
			}
			if b.brief.Foreign > 0 && len(small.asked) > was && !portableMessages(small.asked[was], b.brief.Foreign) {
				t.Errorf("crash at %d: the small model is sent what only the big one can read", at+1)
			}
		}
		tr, err := agenttest.ReplaySession(b.brief.Session, b.desk.Events(), b.store)
		if err != nil || !tr.Over || tr.Turn != want.Turns || tr.Model != "small/model" {
			t.Fatalf("crash at %d: over %v after %d turns with %s, %v", at+1, tr.Over, tr.Turn, tr.Model, err)
		}
		wholeConversation(t, tr.Messages)
	}
}

// TestAModelThatIsNotSetAnyMore takes a session up whose model is gone.
func TestAModelThatIsNotSetAnyMore(t *testing.T) {
	b := newBench(t, nexus.Coder, script(talks(3, 100)...))
	batches := 0
	b.desk.Refuse = func([]nexus.Fact) error {
		if batches++; batches > 4 {
			return errors.New("crash")
		}
		return nil
	}
	if _, err := b.run(t.Context()); err == nil {
		t.Fatal("no crash")
	}
	b.desk.Refuse = nil
	tr := b.resume(t, "")
	other := &overheard{Model: b.model}
	b.brief.Present, b.brief.Model, b.model = tr.Model, "other/model", other
	if out := b.must(t); out.Outcome != nexus.Accepted {
		t.Fatalf("%s: %s", out.Outcome, out.Why)
	}
	tr, err := agenttest.ReplaySession(b.brief.Session, b.desk.Events(), b.store)
	if err != nil || tr.Model != "other/model" || tr.Foreign == 0 {
		t.Errorf("it goes on with %s, %d messages are another's, %v", tr.Model, tr.Foreign, err)
	}
	if len(other.asked) == 0 || !portableMessages(other.asked[0], len(other.asked[0].Messages)) {
		t.Error("it is sent what only the other one can read")
	}
}

// TestCompactionBeginsWhereItIsSet compacts at the percent that the limits
// say.
func TestCompactionBeginsWhereItIsSet(t *testing.T) {
	for percent, most := range map[int]int64{30: 30_000 * 40 / 100, 70: 30_000 * 80 / 100, 0: 30_000 * 80 / 100} {
		b := newBench(t, nexus.Coder, script(talks(30, 3_000)...))
		b.brief.Context, b.brief.Limits.Compact, b.brief.Role.Turns, b.brief.Role.MaxTokens = 30_000, percent, 0, 1_000
		b.must(t)
		all := compactions(b)
		if len(all) == 0 {
			t.Fatalf("%d %%: never compacted", percent)
		}
		least := most - 30_000*10/100
		for _, f := range all {
			if f.Before < least || f.Before > most {
				t.Errorf("%d %%: compacted at %d tokens, want %d to %d", percent, f.Before, least, most)
			}
		}
	}
}
