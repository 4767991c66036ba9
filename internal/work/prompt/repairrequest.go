package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

const (
	maxFindings  = 30
	maxGone      = 10
	findingBytes = 600
	outputBytes  = 4_000
	placeBytes   = 2_000
)

// RepairRequest is the message to a writer after a red gate.
type RepairRequest struct {
	Gate      string // "review", "proof", "verify" and "train" have their own texts
	Command   string // the command that ran; empty: none
	Exit      int
	Why       string          // a summary; empty: none
	Findings  []nexus.Finding // all of them
	Told      []nexus.Finding // findings that the conversation already received
	Gone      []nexus.Finding // those of the gate in the last message that are no longer found
	Fixed     []string        // lines that formatters and linters changed before the gates ran
	FixedBy   string          // files, and the commands that changed them
	Tester    string          // the tester's last summary, if the coder has not received it
	Output    string          // the gate's output; its end is shown
	Round     int             // round of the task, if the writer receives more data; 0 otherwise
	Places    []FileExcerpt   // code around the findings, in that case
	TestsOnly bool            // the writer may change tests only
	Unclear   bool            // the gate is not red: it was inconclusive
	Replies   []string        // earlier answers to each finding; empty: none
	Stood     []nexus.Finding // disputed findings that the judge confirmed
}

// FileExcerpt is a piece of a file as it is.
type FileExcerpt struct {
	File  string
	From  int // number of its first line
	Lines []string
}

// Text returns the message: the red gate, then the findings that must be fixed, the new ones
// first, then optional ones, then those that are no longer found, in a line each, other
// changes, and the end of the output.
func (r RepairRequest) Text() string {
	fresh, old, optional := r.splitFindings()
	left := maxFindings
	if r.Round > 0 {
		left *= 2
	}
	hidden := len(fresh) + len(old) + len(optional)
	take := func(all []nexus.Finding) []nexus.Finding {
		all = all[:min(len(all), left)]
		left, hidden = left-len(all), hidden-len(all)
		return all
	}
	var b strings.Builder
	b.WriteString(r.headlineText())
	if r.Round > 0 {
		fmt.Fprintf(&b, "This is round %d of the task, and nothing tried so far was enough. Read the places below and what they call again, and look for a different solution before you change anything.\n", r.Round)
	}
	if r.Command != "" {
		fmt.Fprintf(&b, "Command: %s\nExit: %d\n", InlineCode(r.Command), r.Exit)
	}
	if r.Why != "" {
		b.WriteString("\n" + sanitize.FenceUntrustedText("text", TruncateToBeginning(r.Why, 2*findingBytes)) + "\n")
	}
	r.writeFindingsSection(&b, "Must be fixed, new", take(fresh))
	r.writeFindingsSection(&b, "Must be fixed, reported before", take(old))
	r.writeFindingsSection(&b, "Optional", take(optional))
	if hidden > 0 {
		fmt.Fprintf(&b, "\nNot shown: %d more.\n", hidden)
	}
	if n := len(r.Gone); n > 0 {
		fmt.Fprintf(&b, "\n## No longer found (%d)\n\n%s\n", n, sanitize.FenceUntrustedText("text", formatGoneFindings(r.Gone[:min(n, maxGone)])))
	}
	for _, p := range r.Places {
		fmt.Fprintf(&b, "\n## %s, lines %d to %d\n\n%s\n", SingleLine(p.File), p.From, p.From+len(p.Lines)-1, sanitize.FenceUntrustedText("text", TruncateToBeginning(strings.Join(p.Lines, "\n"), placeBytes)))
	}
	r.writeOtherChanges(&b)
	if out := strings.TrimSpace(r.Output); out != "" {
		b.WriteString("\n## End of its output\n\n" + sanitize.FenceUntrustedText("text", truncateToTail(out, r.outputByteLimit())) + "\n")
	}
	b.WriteString("\n" + r.closingInstruction(len(optional) > 0) + "\n")
	return b.String()
}

// writeOtherChanges writes the other changes since the author's last message.
func (r RepairRequest) writeOtherChanges(b *strings.Builder) {
	if len(r.Fixed) > 0 {
		_, by, _ := strings.Cut(r.FixedBy, " by ")
		fmt.Fprintf(b, "\n## Changed by fixers\n\nBefore the gates ran, %s changed these lines. Read them again before you edit near them.\n%s",
			cmp.Or(InlineCode(by), "a fixer"), bulletList(r.Fixed[:min(len(r.Fixed), maxFindings)]))
	}
	if r.Tester != "" {
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n%s\n", testerTitle, testerLead, sanitize.FenceUntrustedText("text", TruncateToBeginning(strings.TrimSpace(r.Tester), 4*findingBytes)))
	}
}

// closingInstruction returns the instructions: what must be fixed, and what is optional.
func (r RepairRequest) closingInstruction(optional bool) string {
	text := "Fix the cause, then call finish again."
	switch {
	case r.Gate == "unshown":
		return "Write a test that fails without your change and passes with it, or change the work if it does not do that yet. Then call finish again. If neither is possible, call finish with the reason: then a person decides."
	case r.Unclear:
		return "If the cause is in your change, such as tests that are skipped or that do not say what ran, fix it. Then call finish again. If it is not, call finish with the reason: then a person decides."
	case optional:
		text = "Fix the cause of what must be fixed, then call finish again. Optional findings do not stop the change from landing."
	}
	return text + r.answerInstruction()
}

// outputByteLimit returns the limit of the output.
func (r RepairRequest) outputByteLimit() int {
	if r.Round > 0 {
		return 3 * outputBytes
	}
	return outputBytes
}

// Parts returns the message as one section, with its cuts.
func (r RepairRequest) Parts() []SentPromptSection {
	text := r.Text()
	p := SentPromptSection{Title: "Repair", Text: text, Tokens: EstimateTokens(text), Reason: sectionReason("Repair")}
	if n := len(strings.TrimSpace(r.Output)); n > r.outputByteLimit() {
		p.Of, p.Why = p.Tokens+int64(n-r.outputByteLimit())/3, "only the end of the gate's output is shown"
	}
	return []SentPromptSection{p}
}

func (r RepairRequest) headlineText() string {
	switch r.Gate {
	case "review", "verify":
		if r.TestsOnly {
			return "The code stays as it is; these findings are about its tests. Change tests only, and only what the findings name. If a finding is wrong, dispute it.\n"
		}
	case "blocked":
		return "A test blocks the author of the code. Check whether the test is right: fix it if it contradicts the task, and leave it if it does not. Change tests only.\n"
	}
	switch r.Gate {
	case "review":
		return "The review rejected the change.\n"
	case "proof":
		return "Your tests prove nothing yet. They were run without the code that they test.\n"
	case "verify":
		return "The gates are green, and the verifier rejected the change.\n"
	case "train":
		return "The change was accepted alone, but is red on top of what landed meanwhile. Your worktree now holds the merged state.\n"
	case "merge":
		return "The result of the merge was compared with both sides. It lacks what is named below, or has something that neither side has.\n"
	case "unshown":
		return "The gates are green, and that does not show what the task asks for.\n"
	}
	if r.Unclear {
		return fmt.Sprintf("The gate %s gave no result that shows whether the change is right.\n", SingleLine(r.Gate))
	}
	return fmt.Sprintf("The gate %s is red.\n", SingleLine(r.Gate))
}

// hasNumberedFindings reports whether the findings have numbers, which the answers use.
func (r RepairRequest) hasNumberedFindings() bool { return r.Gate == "review" || r.Gate == "verify" }

// answerInstruction explains how to answer findings.
func (r RepairRequest) answerInstruction() string {
	if !r.hasNumberedFindings() || len(r.Findings) == 0 {
		return ""
	}
	return " Answer each by its number, for example answers: [{\"finding\": 1, \"status\": \"fixed\", \"why\": \"\"}]. " +
		"Use status disputed, with why, if a finding is wrong: its judge reads the reason and decides. Use status not_mine, with why, if you may not change what it is about."
}

// splitFindings returns the findings without repetitions, worst first: those that must be fixed, split
// into new and known ones, and the others.
func (r RepairRequest) splitFindings() (fresh, old, optional []nexus.Finding) {
	must := r.mandatoryFindingFilter()
	told := map[nexus.Finding]bool{}
	for _, f := range r.Told {
		told[withoutLineNumber(f)] = true
	}
	seen := map[nexus.Finding]bool{}
	for _, f := range SortBySeverity(slices.DeleteFunc(slices.Clone(r.Findings), r.isOptionalFinding)) {
		key := withoutLineNumber(f)
		key.Line = f.Line
		if seen[key] {
			continue
		}
		seen[key] = true
		if !must(f) {
			optional = append(optional, f)
		} else if told[withoutLineNumber(f)] || r.hasNumberedFindings() && r.wasReportedBefore(f) {
			old = append(old, f)
		} else {
			fresh = append(fresh, f)
		}
	}
	return fresh, old, optional
}

// wasReportedBefore reports whether a judge's finding was reported before, in the same or other words,
// wherever its lines are now.
func (r RepairRequest) wasReportedBefore(f nexus.Finding) bool {
	f.Line = 0
	return slices.ContainsFunc(r.Told, func(t nexus.Finding) bool {
		t.Line = 0
		return repair.IsSameFinding(t, f)
	})
}

// mandatoryFindingFilter returns a function that reports whether a finding must be fixed: those that are major
// or worse, and all of them if none is, as something made the gate red. All findings of a
// verifier must be fixed.
func (r RepairRequest) mandatoryFindingFilter() func(nexus.Finding) bool {
	grave := func(f nexus.Finding) bool { return severityRank(f) <= 1 && f.Unverified == "" }
	if r.Gate == "verify" || !slices.ContainsFunc(r.Findings, grave) {
		return func(nexus.Finding) bool { return true }
	}
	return grave
}

// isOptionalFinding reports whether a finding of a limit need not be fixed: people receive those in full.
func (r RepairRequest) isOptionalFinding(f nexus.Finding) bool {
	return strings.HasPrefix(r.Gate, nexus.DonePrefix) && f.Severity == nexus.Suggestion
}

// withoutLineNumber returns a finding without its position, for comparisons after lines have moved.
func withoutLineNumber(f nexus.Finding) nexus.Finding {
	return nexus.Finding{File: f.File, Code: f.Code, Test: f.Test, Message: strings.TrimSpace(f.Message)}
}

// SortBySeverity returns the findings in a new order, the worst first.
func SortBySeverity(all []nexus.Finding) []nexus.Finding {
	return slices.SortedStableFunc(slices.Values(all), func(a, b nexus.Finding) int { return severityRank(a) - severityRank(b) })
}

func severityRank(f nexus.Finding) int {
	return slices.Index([]nexus.Severity{nexus.Critical, nexus.Major, nexus.Minor, nexus.Suggestion}, cmp.Or(f.Severity, nexus.Major))
}

func (r RepairRequest) writeFindingsSection(b *strings.Builder, title string, findings []nexus.Finding) {
	if len(findings) == 0 {
		return
	}
	var body strings.Builder
	for _, f := range findings {
		text, i := formatFinding(f), slices.Index(r.Findings, f)
		if r.hasNumberedFindings() && i >= 0 {
			text = fmt.Sprintf("- #%d%s", i+1, strings.TrimPrefix(text, "-"))
		}
		body.WriteString(text + "\n")
		if i >= 0 && i < len(r.Replies) {
			body.WriteString(indentReply(r.Replies[i]))
		}
		if slices.Contains(r.Stood, f) {
			body.WriteString("  it was disputed, and its judge reported it again: fix it, or say what was overlooked. If it is reported once more, a person decides\n")
		}
	}
	fmt.Fprintf(b, "\n## %s (%d)\n\n%s\n", title, len(findings), sanitize.FenceUntrustedText("text", body.String()))
}

// formatFinding formats one finding: position, severity, message, and advice.
func formatFinding(f nexus.Finding) string { return formatFindingWithin(f, findingBytes) }

// formatFindingWithin formats a finding with a limit for its message.
func formatFindingWithin(f nexus.Finding, bytes int) string {
	where := SingleLine(f.File)
	if f.File != "" && f.Line > 0 {
		where += fmt.Sprintf(":%d", f.Line)
		switch {
		case f.Column > 0:
			where += fmt.Sprintf(":%d", f.Column)
		case f.EndLine > f.Line:
			where += fmt.Sprintf("-%d", f.EndLine)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "- %s [%s", cmp.Or(where, "(no file)"), cmp.Or(f.Severity, nexus.Major))
	for _, word := range []string{f.Code, f.Category} {
		if word != "" {
			b.WriteString(" " + SingleLine(word))
		}
	}
	b.WriteString("] ")
	if f.Test != "" {
		b.WriteString(SingleLine(f.Test) + ": ")
	}
	b.WriteString(indentWithin(f.Message, bytes))
	if f.Unverified != "" {
		b.WriteString("\n  not verified: " + SingleLine(f.Unverified))
	}
	if f.Advice != "" {
		b.WriteString("\n  advice: " + indentFinding(f.Advice))
	}
	if f.Name != "" && f.Explained == "" && f.Category == "" {
		b.WriteString("\n  undo it, or call finish with an explanation in explains, under this name: " + SingleLine(f.Name))
	}
	return b.String()
}

// formatGoneFindings lists findings, in a line each.
func formatGoneFindings(all []nexus.Finding) string {
	var b strings.Builder
	for _, f := range all {
		first, _, _ := strings.Cut(strings.TrimSpace(f.Message), "\n")
		b.WriteString("- " + SingleLine(strings.Join(slices.DeleteFunc([]string{f.File, f.Test, first}, func(s string) bool { return s == "" }), ": ")) + "\n")
	}
	return b.String()
}

func indentFinding(text string) string { return indentWithin(text, findingBytes) }

func indentWithin(text string, bytes int) string {
	return strings.ReplaceAll(TruncateToBeginning(strings.TrimSpace(text), bytes), "\n", "\n  ")
}
