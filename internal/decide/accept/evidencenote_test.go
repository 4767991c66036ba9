package accept_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func note(t *testing.T, attempt nexus.AttemptID) accept.CommitEvidenceNote {
	t.Helper()
	return accept.EvidenceNoteOf("r", state.LandingEvidence{
		LandingCompleted: nexus.LandingCompleted{Task: "T1", Attempt: attempt, Commit: "c", Tree: "t"},
		Evidence: []nexus.GateEvidence{
			{Gate: "test", State: nexus.Pass, Tree: "t", Command: "go test", Counts: nexus.TestCounts{Passed: 2}, Output: "o"},
			{Gate: "lint", State: nexus.Pass, Tree: "another"},
		},
		Review: &nexus.ReviewerVerdictGiven{Tree: "t", Reviewed: true, Approved: true, Summary: "words of a model"},
	})
}

// TestNoteOf tells of exactly one tree.
func TestNoteOf(t *testing.T) {
	text, err := note(t, "T1.1").InsertInto(nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"nexus_evidence":1,"run":"r","task":"T1","attempt":"T1.1","tree":"t","gates":[{"gate":"test","state":"pass","command":"go test","exit":0,` +
		`"counts":{"passed":2,"failed":0,"skipped":0},"output":"o"}],"review":{"tree":"t","reviewed":true,"approved":true}}` + "\n"
	if string(text) != want {
		t.Errorf("got  %swant %s", text, want)
	}
}

// TestInto keeps every line that is not the attempt's own.
func TestInto(t *testing.T) {
	one, _ := note(t, "T1.1").InsertInto(nil)
	for old, want := range map[string]string{
		"":                                  string(one),
		"Mine\n\nof old":                    "Mine\n\nof old\n" + string(one),
		"Mine\n" + string(one) + "\nhers\n": "Mine\n" + string(one) + "\nhers\n",
		`{"nexus_evidence":2,"run":"r","attempt":"T1.1"}` + "\n": `{"nexus_evidence":2,"run":"r","attempt":"T1.1"}` + "\n" + string(one),
	} {
		got, err := note(t, "T1.1").InsertInto([]byte(old))
		if err != nil || string(got) != want {
			t.Errorf("%q became %q, want %q, %v", old, got, want, err)
		}
	}
	stale := strings.Replace(string(one), "go test", "true", 1)
	if got, _ := note(t, "T1.1").InsertInto([]byte(stale)); string(got) != string(one) {
		t.Errorf("what the attempt had there stays: %s", got)
	}
	if got, _ := note(t, "T1.2").InsertInto(one); !strings.HasPrefix(string(got), string(one)) || strings.Count(string(got), "\n") != 2 {
		t.Errorf("another attempt's is not beside it: %s", got)
	}
}

// FuzzParseNotes reads what anybody may have written, and loses none of it.
func FuzzParseNotes(f *testing.F) {
	f.Add("Mine\n{\"nexus_evidence\":1,\"run\":\"r\",\"attempt\":\"T1.1\",\"gates\":[{}]}\n")
	f.Add("{\"nexus_evidence\":1")
	f.Add("\x00{}\r\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		before, rest := accept.ParseNotes([]byte(text))
		n := note(t, "T1.fuzz")
		now, err := n.InsertInto([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := n.InsertInto(now); string(again) != string(now) {
			t.Errorf("%q is not the same again: %q", now, again)
		}
		after, kept := accept.ParseNotes(now)
		if kept != rest || len(after) < max(len(before), 1) {
			t.Errorf("%q and %d notes became %q and %d", rest, len(before), kept, len(after))
		}
	})
}
