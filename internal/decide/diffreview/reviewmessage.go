package diffreview

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// ReviewMessage returns the message to a change's author about a person's comments: in words, and
// as JSON with the ID of each comment.
func ReviewMessage(all []nexus.ReviewComment) string {
	var b strings.Builder
	fmt.Fprintf(&b, "A person reviewed your change. %s\n", countText(all))
	for _, c := range all {
		fmt.Fprintf(&b, "\n### %s (%s) %s\n", c.ID, c.Kind, c.LocationText())
		if c.Hunk != "" {
			b.WriteString("\n" + sanitize.FenceUntrustedText("diff", c.Hunk) + "\n")
		}
		if body := strings.TrimSpace(c.Body); body != "" {
			b.WriteString("\n" + body + "\n")
		}
		if c.Replace != nil {
			b.WriteString("\nSuggested instead of these lines:\n\n" + sanitize.FenceUntrustedText("suggestion", c.Replace.Text) + "\n")
		}
	}
	data, _ := json.MarshalIndent(map[string]any{"comments": all}, "", " ")
	b.WriteString("\nThe same as data:\n\n" + sanitize.FenceUntrustedText("json", string(data)) + "\n")
	if needsAnswer(all) {
		b.WriteString("\n" + AnswerRules)
	}
	return b.String()
}

// AnswerRules are the instructions for answers to comments.
const AnswerRules = `Do what each comment asks for, then submit as usual and answer each comment by its id in "answers":
{"answers": [{"comment": "c1", "status": "fixed"}, {"comment": "c2", "status": "declined", "why": "REASON"}]}
status is fixed (the change does what the comment wants), declined (say why), answered (the answer is in why) or question (ask in why). Praise needs no answer. Without a tool to submit with, end your last message with that JSON object.
`

// ReminderMessage returns the message that asks again for missing answers.
func ReminderMessage(ids []string) string {
	return "You have not answered " + nexus.JoinWords(ids) + ", comments of a person who reviewed your change. " + AnswerRules
}

// needsAnswer reports whether a comment needs an answer.
func needsAnswer(all []nexus.ReviewComment) bool {
	for _, c := range all {
		if c.Kind != nexus.PraiseComment {
			return true
		}
	}
	return false
}

// countText returns the number of comments of each kind, and the action that each kind asks
// for.
func countText(all []nexus.ReviewComment) string {
	means := map[nexus.CommentKind]string{
		nexus.MustComment: "to be done before the change lands", nexus.ShouldComment: "to be done, or declined with a reason",
		nexus.QuestionComment: "to be answered", nexus.PraiseComment: "nothing to do",
	}
	var parts []string
	for _, k := range nexus.CommentKinds() {
		n := 0
		for _, c := range all {
			if c.Kind == k {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s (%s)", n, k, means[k]))
		}
	}
	return "Comments: " + strings.Join(parts, ", ") + "."
}
