package humaninput_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestTable holds the table of triggers against its text.
func TestTable(t *testing.T) {
	var b strings.Builder
	for _, r := range append(humaninput.QuestionTriggers(), humaninput.FindTrigger("from a later version")) {
		answers := "any text"
		if len(r.Choices) > 0 {
			answers = strings.Join(r.Choices, " or ")
		}
		fallback := humaninput.DefaultAnswerOf(nexus.QuestionAsked{Trigger: r.Name, Fallback: "yes"})
		fmt.Fprintf(&b, "%-20s %-6s %-8s %-13s a proposed yes falls back to %q\n    %s\n", r.Name, r.Severity, r.Fall, answers, fallback, r.Doc)
	}
	const golden = "testdata/triggers.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
}

// TestFallback never takes a yes for an answer that nobody gave where much
// hangs on it, whatever the question proposes.
func TestFallback(t *testing.T) {
	for name, want := range map[string]string{
		"": "yes", humaninput.AmbiguityTrigger: "yes", humaninput.SecurityTrigger: nexus.Unapproved, humaninput.PublishTrigger: nexus.Unapproved, "from a later version": nexus.Unapproved,
	} {
		if got := humaninput.DefaultAnswerOf(nexus.QuestionAsked{Trigger: name, Fallback: "yes"}); got != want || humaninput.StaysOpenAfterDeadline(name) != (want != "yes") {
			t.Errorf("%q falls back to %q, want %q; it stays open: %v", name, got, want, humaninput.StaysOpenAfterDeadline(name))
		}
	}
	if nexus.IsYes(nexus.Unapproved) {
		t.Error("the fallback of a red question is a yes")
	}
}

// TestRedNeverGoesOn holds for every trigger, also for those to come.
func TestRedNeverGoesOn(t *testing.T) {
	for _, r := range append(humaninput.QuestionTriggers(), humaninput.QuestionTrigger{}, humaninput.FindTrigger("x")) {
		if r.Severity != humaninput.Green && r.Fall == humaninput.FallContinue {
			t.Errorf("%s is %q and goes on", r.Name, r.Severity)
		}
	}
}
