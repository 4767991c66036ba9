package land

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// CommitMessage returns the commit message of a task: its author's submission, and its origin.
// Without a subject it is the task's title; the brief describes the plan and not the result,
// so it is never a body.
func CommitMessage(run nexus.RunID, t nexus.Task, a nexus.AttemptID, s tool.DefaultWorkSubmission) string {
	first := subjectLine(cmp.Or(strings.TrimSpace(s.Subject), t.Title))
	parts := []string{first}
	if body := strings.TrimSpace(s.Summary); body != "" && body != first && body != t.Title {
		parts = append(parts, wrapParagraphs(sanitize.RevealHidden(body), tool.SubjectLength))
	}
	last := attemptTrailer(run, a)
	if t.ID != "" {
		last = "Nexus-Task: " + string(t.ID) + "\n" + last
	}
	return strings.Join(append(parts, last), "\n\n") + "\n"
}

// submissionForCommitMessage returns the parts of an author's submission for the commit message: none if the
// review that accepted the change objects to a claim.
func submissionForCommitMessage(a *state.AttemptState, s tool.DefaultWorkSubmission) tool.DefaultWorkSubmission {
	r := a.LastRound()
	if r == nil || len(r.Reviews) == 0 {
		return s
	}
	objects := func(f nexus.Finding) bool { return f.Category == review.ClaimCategory }
	if slices.ContainsFunc(r.Reviews[len(r.Reviews)-1].Findings, objects) {
		return tool.DefaultWorkSubmission{}
	}
	return s
}

// attemptTrailer returns the line that identifies a commit of an attempt: it is the last line of the
// message, below the text of an agent.
func attemptTrailer(run nexus.RunID, a nexus.AttemptID) string {
	return "Nexus-Attempt: " + string(run) + "/" + string(a)
}

// subjectLine returns a text on one line of at most [tool.SubjectLength] characters. A longer text
// is cut between words, with three dots.
func subjectLine(text string) string {
	const dots = "..."
	line := strings.Join(strings.Fields(sanitize.RevealHidden(text)), " ")
	if utf8.RuneCountInString(line) <= tool.SubjectLength {
		return line
	}
	// including the next character, which may be a space
	head := string([]rune(line)[:tool.SubjectLength-len(dots)+1])
	if at := strings.LastIndexByte(head, ' '); at > 0 {
		return head[:at] + dots
	}
	return string([]rune(line)[:tool.SubjectLength-len(dots)]) + dots
}

// wrapParagraphs breaks paragraphs into lines of at most width characters, if words allow it.
func wrapParagraphs(text string, width int) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		column := 0
		for _, word := range strings.Fields(paragraph) {
			n := len([]rune(word))
			switch {
			case column == 0:
			case column+1+n > width:
				b.WriteByte('\n')
				column = 0
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += n
		}
	}
	return b.String()
}
