package reviewsheet

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const hostile = "\x1b[2J\x1b]0;x\x07\u202eevil\u2066\t\r\x00\xff\n\x1b[H"

// TestHostile holds that no text of a person, an agent or a path reaches a terminal
// as it is, and that each comment and draft is laid out once.
func TestHostile(t *testing.T) {
	bad := nexus.ReviewComment{ID: hostile, File: hostile, Kind: nexus.MustComment, Body: hostile, Start: 2, Replace: &nexus.SuggestedReplacement{Text: hostile}}
	file := changereview.ReviewedFile{DiffFile: diffreview.DiffFile{Path: hostile, Old: hostile + "x", Status: "renamed"}, Reasons: []string{hostile}, Risk: diffreview.HighRisk}
	r := changereview.TaskChangeReview{
		Attempt: hostile, Commit: hostile, Why: hostile, Wanted: hostile, Must: []string{"c1"}, Files: []changereview.ReviewedFile{file},
		Comments: []changereview.ShownComment{{
			ReviewComment: bad, By: hostile, Refused: hostile, State: "resolved", Resolved: hostile,
			Answers: []changereview.ShownCommentAnswer{{CommentAnswer: nexus.CommentAnswer{Why: hostile}, Attempt: hostile, Commit: hostile}},
		}},
		Drafts: []changereview.DraftComment{{ReviewComment: bad}},
		Since:  &changereview.ChangesSinceReview{Commit: hostile, Why: hostile},
	}
	for _, since := range []bool{false, true} {
		said, drafts := 0, 0
		for _, row := range LayoutRows(r, Options{Since: since}) {
			if strings.ContainsAny(row.Text, "\x1b\x07\x00\u202e\u2066\r\t\n") {
				t.Errorf("%d: %q", row.Kind, row.Text)
			}
			if row.First && row.Kind == CommentText {
				said++
			}
			if row.First && row.Kind == Draft {
				drafts++
			}
		}
		if said != 1 || drafts != 1 {
			t.Errorf("%d comments and %d drafts are laid out", said, drafts)
		}
	}
}
