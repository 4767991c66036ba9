package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// StartingTreeDescription describes the work of earlier attempts in a worktree. The zero value is
// empty.
type StartingTreeDescription struct {
	From string // a round and its attempt; empty: none
	// why the earlier attempt did not finish, if its time was used up; empty: it was not
	Overtime string
	Reach    state.GateProgress
	Merged   bool            // merged onto a base that moved
	Open     []nexus.Finding // findings that still have to be fixed
	// the author's objection to each of these before it was reported again; empty: none
	Objects []string
	Again   bool   // the gates judged it again before any writing
	Forgone string // why it is empty
}

func startingTreeText(base string, k StartingTreeDescription) string {
	if base == "" {
		return ""
	}
	text := "Commit " + SingleLine(base) + "."
	switch {
	case k.From != "" && k.Again:
		text += fmt.Sprintf(" Your worktree holds the result of %s. The gates judged it again before you started. Keep what is right and continue from there.", k.From)
	case k.From != "" && k.Merged:
		text += fmt.Sprintf(" Your worktree holds the result of %s, merged onto it. Before the merge, %s. Keep what is right and continue from there.", k.From, k.Reach)
	case k.From != "":
		text += fmt.Sprintf(" Your worktree holds the result of %s: %s. Keep what is right and continue from there.", k.From, k.Reach)
	case k.Forgone != "":
		text += " Your worktree holds nothing from earlier attempts: " + SingleLine(k.Forgone) + "."
	}
	if k.From != "" && k.Overtime != "" {
		text += " This continues an attempt that was not finished, because " + SingleLine(k.Overtime) + ". Do not start over. Read what is there, finish what is missing, and submit early."
	}
	return text
}

// formatPriorFindings lists findings, each with its author's answer.
func formatPriorFindings(found []nexus.Finding, replies []string) string {
	if len(found) == 0 {
		return ""
	}
	var b strings.Builder
	for i, f := range found[:min(len(found), maxFindings)] {
		b.WriteString(formatFinding(f) + "\n")
		if i < len(replies) {
			b.WriteString(indentReply(replies[i]))
		}
	}
	return sanitize.FenceUntrustedText("text", b.String())
}

func indentReply(text string) string {
	if text == "" {
		return ""
	}
	return "  " + indentFinding(text) + "\n"
}

// disputeInstruction instructs a judge about findings that were answered.
func disputeInstruction(replies []string) string {
	if !slices.ContainsFunc(replies, func(s string) bool { return s != "" }) {
		return ""
	}
	return " Below some of them is an answer of their author. Judge a disputed finding by the reason given: drop it if the author is right, or say why it still applies."
}

// overruledReplies lists disputed findings that their judge confirmed.
func overruledReplies(objections []string) []string {
	all := make([]string, len(objections))
	for i, why := range objections {
		if why != "" {
			all[i] = "an earlier author disputed it, and its judge named it again. The author said: " + why
		}
	}
	return all
}
