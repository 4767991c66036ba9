package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Kept is what a worktree holds of earlier attempts. The zero Kept is nothing.
type Kept struct {
	From    string // a round and its attempt; empty for none
	Reach   state.Reach
	Merged  bool            // onto a base that moved
	Open    []nexus.Finding // what is to be fixed in it yet
	Forgone string          // why it holds nothing of them
}

func start(base string, k Kept) string {
	if base == "" {
		return ""
	}
	text := "Commit " + Line(base) + "."
	switch {
	case k.From != "" && k.Merged:
		text += fmt.Sprintf(" Your worktree holds the result of %s, merged onto it. Before the merge, %s. Keep what is right and continue from there.", k.From, k.Reach)
	case k.From != "":
		text += fmt.Sprintf(" Your worktree holds the result of %s: %s. Keep what is right and continue from there.", k.From, k.Reach)
	case k.Forgone != "":
		text += " Your worktree holds nothing from earlier attempts: " + Line(k.Forgone) + "."
	}
	return text
}

func dead(ends []state.Ending) string {
	if len(ends) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Earlier attempts at this task ended:\n")
	for _, e := range ends {
		fmt.Fprintf(&b, "- %s: %s", Line(string(e.Attempt)), fault(e.Fault))
		if e.Revised {
			b.WriteString(" (its criteria were changed since)")
		}
		fmt.Fprintf(&b, ": %s\n", Line(e.Why))
	}
	return b.String()
}

// fault says what failed. Only where the idea did, the way was wrong.
func fault(f state.Cause) string {
	switch f {
	case state.CauseIdea:
		return "the approach failed. Do not try it again"
	case state.CauseCheck:
		return "a check gave no result, which does not count against the work"
	case state.CauseMachine:
		return "the machine failed, not the work"
	case state.CauseTests:
		return "no usable tests were written first"
	case state.CauseJudge:
		return "it was not judged, which does not count against the work"
	case state.CauseBlocked:
		return "its author was blocked"
	case state.CauseDispute:
		return "its author and its judge disagreed. Consider both reasons again"
	case state.CauseConflict:
		return "it did not merge with what landed"
	case state.CauseTrain:
		return "it passed alone, and failed with what landed"
	case state.CauseNothing:
		return "it changed nothing"
	case state.CauseUnfinished:
	}
	return "it was not finished, which does not count against the approach"
}

// before lists findings, each with what its author answered.
func before(found []nexus.Finding, replies []string) string {
	if len(found) == 0 {
		return ""
	}
	var b strings.Builder
	for i, f := range found[:min(len(found), maxFindings)] {
		b.WriteString(finding(f) + "\n")
		if i < len(replies) {
			b.WriteString(replied(replies[i]))
		}
	}
	return Fence("text", b.String())
}

func replied(text string) string {
	if text == "" {
		return ""
	}
	return "  " + indent(text) + "\n"
}

// disputed tells a judge what to do with findings that were answered.
func disputed(replies []string) string {
	if !slices.ContainsFunc(replies, func(s string) bool { return s != "" }) {
		return ""
	}
	return " Below some of them is an answer of their author. Judge a disputed finding by the reason given: drop it if the author is right, or say why it still applies."
}
