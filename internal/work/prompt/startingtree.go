package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// StartingTree is what a worktree holds of earlier attempts. The zero Kept is nothing.
type StartingTree struct {
	From     string // a round and its attempt; empty for none
	Overtime string // why that did not get done, where its time was used up; empty: it was not
	Reach    state.GateProgress
	Merged   bool            // onto a base that moved
	Open     []nexus.Finding // what is to be fixed in it yet
	Objects  []string        // why the author of each of these disputed it before it was named again; empty for nothing
	Again    bool            // the gates judged it again before anybody wrote
	Forgone  string          // why it holds nothing of them
}

func start(base string, k StartingTree) string {
	if base == "" {
		return ""
	}
	text := "Commit " + Line(base) + "."
	switch {
	case k.From != "" && k.Again:
		text += fmt.Sprintf(" Your worktree holds the result of %s. The gates judged it again before you started. Keep what is right and continue from there.", k.From)
	case k.From != "" && k.Merged:
		text += fmt.Sprintf(" Your worktree holds the result of %s, merged onto it. Before the merge, %s. Keep what is right and continue from there.", k.From, k.Reach)
	case k.From != "":
		text += fmt.Sprintf(" Your worktree holds the result of %s: %s. Keep what is right and continue from there.", k.From, k.Reach)
	case k.Forgone != "":
		text += " Your worktree holds nothing from earlier attempts: " + Line(k.Forgone) + "."
	}
	if k.From != "" && k.Overtime != "" {
		text += " This continues an attempt that was not finished, because " + Line(k.Overtime) + ". Do not start over. Read what is there, finish what is missing, and submit early."
	}
	return text
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
	return sanitize.Fence("text", b.String())
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

// overruled says of findings that were disputed that their judge stands by them.
func overruled(objections []string) []string {
	all := make([]string, len(objections))
	for i, why := range objections {
		if why != "" {
			all[i] = "an earlier author disputed it, and its judge named it again. The author said: " + why
		}
	}
	return all
}
