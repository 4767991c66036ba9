package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/attempthistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const (
	triedTokens  = 10_000 // limit of the text about earlier attempts
	closestBytes = 18_000 // most bytes of the best diff
	saidBytes    = 2_000  // most bytes of one message of a person
	lastBytes    = 3_000  // most bytes of one of the last findings
	foundBytes   = 12_000 // most bytes of all last findings
	maxAttempts  = 12
	maxDeadEnds  = 6
	maxTries     = 6 // most tries of a dead end
	maxStood     = 12
	maxChanged   = 8 // most files of an attempt
)

// earlierAttemptSections returns the sections about earlier attempts, limited to their share of the
// brief: the diff is cut first, then older data.
func earlierAttemptSections(a attempthistory.AttemptsSummary) []PromptSection {
	all := []PromptSection{
		{
			Title: "Said by people", Body: formatGuidance(a.Said), Rank: 1,
			Lead: "People said this about the task, newest first. It still holds, unless the task or something newer says otherwise.",
		},
		{Title: "Tried before", Lead: attemptsIntroduction(a.Attempts), Body: formatAttempts(a.Attempts), Fence: "text", Rank: 2},
		{
			Title: "Dead ends", Body: formatPersistentFailures(a), Fence: "text", Rank: 2,
			Lead: "Each of these failures remained after two or more different changes. Below it is what the agents said they did.",
		},
		{Title: "Found last", Lead: lastFailureIntroduction(a.Last), Body: formatLastFailure(a.Last), Fence: "text", Rank: 1},
		{
			Title: "Findings that were not fixed", Body: formatOpenFindings(a.OpenFindings), Fence: "text", Rank: 2,
			Lead: "Judges of earlier attempts named these, and they were not fixed. Your work is judged in the same way.",
		},
		{
			Title: "Closest so far", Lead: bestTreeIntroduction(a.Closest), Body: CutDiff(a.Closest.Diff, closestBytes), Whole: len(a.Closest.Diff), Fence: "diff", Rank: 3,
		},
	}
	kept, _ := cutSections(all, triedTokens)
	for i := range kept {
		kept[i].Whole = max(kept[i].Whole, len(kept[i].uncut))
		kept[i].uncut = ""
	}
	return kept
}

func attemptsIntroduction(all []attempthistory.EarlierAttempt) string {
	text := "Earlier attempts at this task, newest first. An idea is what an agent said about its own work."
	if slices.ContainsFunc(all, func(a attempthistory.EarlierAttempt) bool { return a.Fault == state.CauseIdea && a.Held == 0 }) {
		text += " Where the approach failed, do not try it again."
	}
	return text
}

// formatAttempts describes each attempt in three lines: its end, its changes and its idea. Attempts
// with equal descriptions are listed once.
func formatAttempts(all []attempthistory.EarlierAttempt) string {
	var b strings.Builder
	var order []string // descriptions of attempts, each once
	ids := map[string][]string{}
	for _, a := range all {
		text := attemptLines(a)
		if ids[text] == nil {
			order = append(order, text)
		}
		ids[text] = append(ids[text], SingleLine(string(a.ID)))
	}
	for _, text := range order[:min(len(order), maxAttempts)] {
		fmt.Fprintf(&b, "- %s: %s\n", strings.Join(ids[text], ", "), text)
	}
	if more := len(order) - maxAttempts; more > 0 {
		fmt.Fprintf(&b, "- and %d older ones\n", more)
	}
	return b.String()
}

func attemptLines(a attempthistory.EarlierAttempt) string {
	text := failureText(a.Fault)
	if a.Held > 0 && a.Fault == state.CauseIdea {
		text = "it was not accepted"
	}
	if a.Revised {
		text += " (its criteria were changed since)"
	}
	text += ": " + SingleLine(a.Why)
	held := ""
	if a.Held > 0 {
		held = fmt.Sprintf(" (your worktree contains the changes of round %d)", a.Held)
	}
	text += fmt.Sprintf("\n  tier %s, rounds: %d%s, changed: %s", cmp.Or(SingleLine(string(a.Tier)), "unknown"), a.Rounds, held, changedFiles(a.Files))
	if idea := SingleLine(a.Idea); idea != "" {
		text += "\n  idea: " + idea
	}
	return text
}

func changedFiles(files []string) string {
	if len(files) == 0 {
		return "nothing"
	}
	text := strings.Join(singleLines(files[:min(len(files), maxChanged)]), ", ")
	if more := len(files) - maxChanged; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// failureText returns the cause of a failure. The approach was wrong only if the idea failed.
func failureText(f state.AttemptFailureCause) string {
	switch f {
	case state.CauseIdea:
		return "the approach failed"
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

// formatPersistentFailures lists failures that stayed, and the tries against each.
func formatPersistentFailures(a attempthistory.AttemptsSummary) string {
	var b strings.Builder
	for _, d := range a.DeadEnds[:min(len(a.DeadEnds), maxDeadEnds)] {
		fmt.Fprintf(&b, "- %s: %s\n", SingleLine(d.Gate), strings.TrimPrefix(strings.TrimSpace(formatGoneFindings([]nexus.Finding{d.Finding})), "- "))
		for _, line := range formatFailedRounds(d.Tries) {
			b.WriteString("  - after " + line + "\n")
		}
	}
	return b.String()
}

// formatFailedRounds lists the tries, newest first. Consecutive rounds with the same text are listed once.
func formatFailedRounds(all []attempthistory.FailedRound) []string {
	var out []string
	for i := 0; i < len(all); {
		t, rounds := all[i], []string{fmt.Sprint(all[i].Round)}
		for i++; i < len(all) && all[i].Attempt == t.Attempt && SingleLine(all[i].Idea) == SingleLine(t.Idea); i++ {
			rounds = append(rounds, fmt.Sprint(all[i].Round))
		}
		if len(out) == maxTries {
			return append(out, fmt.Sprintf("%d older changes", len(all)-i+len(rounds)))
		}
		slices.Reverse(rounds)
		out = append(out, fmt.Sprintf("round %s of %s: %s", strings.Join(rounds, ", "), SingleLine(string(t.Attempt)), cmp.Or(SingleLine(t.Idea), "there was no statement")))
	}
	return out
}

func lastFailureIntroduction(l attempthistory.LastAttemptFailure) string {
	if l.From == "" {
		return ""
	}
	by := "The gate " + SingleLine(l.From) + " said this"
	switch l.From {
	case "review":
		by = "A review said this"
	case "verify":
		by = "The verifier said this"
	case "proof":
		by = "The tests that came first were run, with this result,"
	case "train":
		by = "What landed meanwhile was added, with this result,"
	}
	if l.Held {
		return fmt.Sprintf("%s about the work that your worktree holds, in round %d of %s.", by, l.Round, SingleLine(string(l.Attempt)))
	}
	return fmt.Sprintf("%s at the end of round %d of %s. Your worktree does not hold that work, but yours must pass the same.", by, l.Round, SingleLine(string(l.Attempt)))
}

// formatLastFailure lists the last findings in full, or shows the gate's output if no finding could be
// parsed from it.
func formatLastFailure(l attempthistory.LastAttemptFailure) string {
	var b strings.Builder
	if l.Why != "" {
		b.WriteString(TruncateToBeginning(strings.TrimSpace(l.Why), 2*findingBytes) + "\n")
	}
	found := SortBySeverity(l.Findings)
	for _, f := range found[:min(len(found), maxFindings)] {
		b.WriteString(formatFindingWithin(f, lastBytes) + "\n")
	}
	if out := strings.TrimSpace(l.Printed); out != "" {
		b.WriteString(truncateToTail(out, outputBytes) + "\n")
	}
	if more := len(found) - maxFindings; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return TruncateToBeginning(b.String(), foundBytes)
}

func formatOpenFindings(all []attempthistory.OpenReviewFinding) string {
	var b strings.Builder
	for _, s := range all[:min(len(all), maxStood)] {
		fmt.Fprintf(&b, "%s\n  named by the %s of %s", formatFinding(s.Finding), SingleLine(s.Cause), SingleLine(string(s.Attempt)))
		if s.Objection != "" {
			fmt.Fprintf(&b, ", also after it was disputed: %s", SingleLine(s.Objection))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// formatGuidance lists people's guidance. A question that they answered is an agent's text.
func formatGuidance(all []state.DeliveredGuidance) string {
	var b strings.Builder
	for _, s := range all {
		about := ""
		if s.About != "" {
			about = "About " + InlineCode(s.About) + ": "
		}
		b.WriteString("- " + about + strings.ReplaceAll(TruncateToBeginning(strings.TrimSpace(s.Text), saidBytes), "\n", "\n  ") + "\n")
	}
	return b.String()
}

func bestTreeIntroduction(t attempthistory.BestTree) string {
	return fmt.Sprintf("Round %d of %s came closest: criteria met: %d, gates passed: %d, things found by the gate or judge that stopped it: %d. "+
		"It is not in your worktree. Take from it what is right.", t.Round, SingleLine(string(t.Attempt)), t.Met, t.Passed, t.Red)
}
