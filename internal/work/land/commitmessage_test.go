package land_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/land"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

func TestMessage(t *testing.T) {
	long := "Say in the output of list which of the entries were changed since the last time that somebody looked"
	task := nexus.Task{ID: "T1", Title: long, Brief: "Read command.go for the exact output."}
	cases := []struct {
		name string
		said tool.DefaultWorkSubmission
		want string
	}{
		{"the author's", tool.DefaultWorkSubmission{Subject: "Mark changed entries in list", Summary: "An asterisk stands before each.\n\n- none when nothing changed"}, "Mark changed entries in list\n\nAn asterisk stands before each.\n\n- none when nothing changed\n"},
		{"without a subject", tool.DefaultWorkSubmission{Summary: "An asterisk stands before each."}, "Say in the output of list which of the entries were changed since the...\n\nAn asterisk stands before each.\n"},
		{"nothing", tool.DefaultWorkSubmission{}, "Say in the output of list which of the entries were changed since the...\n"},
		{"said twice", tool.DefaultWorkSubmission{Subject: "Mark entries", Summary: " Mark entries\n"}, "Mark entries\n"},
		{"the title again", tool.DefaultWorkSubmission{Subject: "Mark entries", Summary: long}, "Mark entries\n"},
		{"as long as may be", tool.DefaultWorkSubmission{Subject: strings.Repeat("x", 35) + " " + strings.Repeat("y", 36)}, strings.Repeat("x", 35) + " " + strings.Repeat("y", 36) + "\n"},
		{"words that just fit", tool.DefaultWorkSubmission{Subject: strings.Repeat("x", 34) + " " + strings.Repeat("y", 34) + " more of it"}, strings.Repeat("x", 34) + " " + strings.Repeat("y", 34) + "...\n"},
		{"one long word", tool.DefaultWorkSubmission{Subject: strings.Repeat("x", 80), Summary: "y"}, strings.Repeat("x", 69) + "...\n\ny\n"},
		{"hidden text", tool.DefaultWorkSubmission{Subject: "Add\u202e a\nb", Summary: "c\x1b[2J"}, "Add<U+202E> a b\n\nc<U+001B>[2J\n"},
		{"long lines", tool.DefaultWorkSubmission{Subject: "Add", Summary: strings.Repeat("x", 35) + " " + strings.Repeat("y", 36) + " z\n" + strings.Repeat("x", 36) + "  " + strings.Repeat("y", 36) + "\n" + strings.Repeat("w", 80) + " v u"}, "Add\n\n" + strings.Repeat("x", 35) + " " + strings.Repeat("y", 36) + "\nz\n" + strings.Repeat("x", 36) + "\n" + strings.Repeat("y", 36) + "\n" + strings.Repeat("w", 80) + "\nv u\n"},
		{"a trailer of another", tool.DefaultWorkSubmission{Subject: "Add", Summary: "Nexus-Attempt: r/T2.1"}, "Add\n\nNexus-Attempt: r/T2.1\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want := c.want + "\nNexus-Task: T1\nNexus-Attempt: r/T1.1\n"
			if diff := cmp.Diff(want, land.CommitMessage("r", task, "T1.1", c.said)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMessageOfNoTask has no trailer of one.
func TestMessageOfNoTask(t *testing.T) {
	if got := land.CommitMessage("r", nexus.Task{Title: "Merge: do it"}, "home", tool.DefaultWorkSubmission{}); got != "Merge: do it\n\nNexus-Attempt: r/home\n" {
		t.Errorf("%q", got)
	}
}
