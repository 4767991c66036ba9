// Package verdict formats the results of gates: as text for people, and as JUnit, SARIF,
// annotations and a summary for the services that check pull requests.
package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// TreeVerdict is the combined result of gates for a tree.
type TreeVerdict struct {
	Passed bool                 `json:"passed"`
	State  nexus.GateState      `json:"state"` // the worst of all
	Why    string               `json:"why,omitzero"`
	Gates  []nexus.GateEvidence `json:"gates"`
	Turned []TestsFixedByChange `json:"turned,omitempty"` // tests that the change since the base fixed
	Off    []string             `json:"off,omitempty"`    // detected gates that the configuration turns off
	Tree   string               `json:"tree,omitempty"`   // the judged tree; empty if unknown
	Base   string               `json:"base,omitempty"`   // commit that it was compared with; empty for none
	Before []nexus.Finding      `json:"before,omitempty"` // findings that the base also has, which do not count

	told     int      // number of the last gates that are informational and decide nothing
	replaced []string // gates that were not run because others judged instead
}

// WithInformationalGates returns the verdict with informational gates, which do not change its state.
func (v TreeVerdict) WithInformationalGates(all ...nexus.GateEvidence) TreeVerdict {
	v.Gates, v.told = append(v.Gates, all...), v.told+len(all)
	return v
}

// WithGates returns the verdict with further deciding gates.
func (v TreeVerdict) WithGates(all ...nexus.GateEvidence) TreeVerdict {
	return CombineGateResults(append(slices.Clip(v.Gates), all...), v.replaced...)
}

// isInformational reports whether the gate at an index decides nothing: it is informational, is
// skipped for the change, or another judged instead. Machine-readable formats must not report it
// as a failure.
func (v TreeVerdict) isInformational(i int) bool {
	return v.Gates[i].Apart || i >= len(v.Gates)-v.told || v.isReplaced(v.Gates[i])
}

// isReplaced reports whether another gate judged instead of one.
func (v TreeVerdict) isReplaced(e nexus.GateEvidence) bool {
	return e.State == nexus.NotRun && slices.Contains(v.replaced, e.Gate)
}

// DisabledText is the text for a gate that is turned off.
const DisabledText = "switched off in the configuration"

// WithDisabledGates returns the verdict with the gates that are turned off.
func (v TreeVerdict) WithDisabledGates(off []string) TreeVerdict {
	v.Off = off
	if len(v.Gates) == 0 && len(off) > 0 {
		v.Why = "no gate ran: the configuration switches off " + strings.Join(off, ", ")
	}
	return v
}

// TestsFixedByChange names tests of a gate that pass because of a change.
type TestsFixedByChange struct {
	Gate  string   `json:"gate"`
	Tests []string `json:"tests"`
}

// CombineGateResults combines the results of gates. It passes only if all have passed. Gates named as replaced
// were not run because others judged instead; they are listed and decide nothing.
func CombineGateResults(all []nexus.GateEvidence, replaced ...string) TreeVerdict {
	v := TreeVerdict{State: nexus.Pass, Gates: all, replaced: replaced}
	if len(all) == 0 {
		return TreeVerdict{State: nexus.NotRun, Why: "no gate found: neither the configuration nor the files of the project name one", Gates: []nexus.GateEvidence{}}
	}
	order := []nexus.GateState{
		nexus.Pass, nexus.NotRun, nexus.Flaky, nexus.MissingAsset, nexus.Unverifiable,
		nexus.Environmental, nexus.Exceeded, nexus.Timeout, nexus.Fail,
	}
	rank := func(s nexus.GateState) int {
		for i, o := range order {
			if o == s {
				return i
			}
		}
		return len(order)
	}
	if !slices.ContainsFunc(all, func(e nexus.GateEvidence) bool { return !e.Apart }) {
		v.State, v.Why = nexus.NotRun, "no gate applies to the change"
	}
	for _, e := range all {
		if !e.Apart && !v.isReplaced(e) && rank(e.State) > rank(v.State) {
			v.State = e.State
			v.Why = strings.TrimSuffix(e.Gate+": "+cmp.Or(e.Why, countWithNoun(len(e.Findings), "finding")), ": ")
		}
	}
	v.Passed = v.State == nexus.Pass
	return v
}

func countWithNoun(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// severityWord returns the severity in the word of most tools.
func severityWord(f nexus.Finding) string {
	switch f.Severity {
	case nexus.Minor:
		return "warning"
	case nexus.Suggestion:
		return "note"
	default:
		return "error"
	}
}

// findingLocation formats the location of a finding as editors understand it.
func findingLocation(f nexus.Finding) string {
	switch {
	case f.File == "":
		return ""
	case f.Line == 0:
		return f.File
	case f.Column == 0:
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	default:
		return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
}

// DrawVerdict draws a verdict for people.
func DrawVerdict(s view.OutputStyle, v TreeVerdict) string {
	var b strings.Builder
	for _, e := range v.Gates {
		b.WriteString(drawGate(s, e))
		for _, f := range e.Findings {
			b.WriteString(drawFinding(s, f))
		}
		for _, t := range v.fixedTests(e.Gate) {
			fmt.Fprintf(&b, "  %s: %s\n", s.Good("now passes"), view.EscapeForTerminal(t))
		}
		b.WriteString(v.baseFindings(s, e.Gate))
	}
	for _, name := range v.Off {
		fmt.Fprintf(&b, "%s: %s, %s\n", s.Bold(view.EscapeForTerminal(name)), s.Warn("off"), DisabledText)
	}
	if v.Tree != "" {
		fmt.Fprintf(&b, "%s %s\n", s.Dim("tree"), view.EscapeForTerminal(v.Tree))
	}
	if v.Base != "" {
		fmt.Fprintf(&b, "%s %s\n", s.Dim("compared with"), view.EscapeForTerminal(v.Base))
	}
	switch {
	case v.Passed:
		fmt.Fprintf(&b, "%s\n", s.Good("passed"))
	default:
		fmt.Fprintf(&b, "%s: %s\n", s.Bad(string(v.State)), view.EscapeForTerminal(v.Why))
	}
	return s.Sanitize(b.String())
}

// mostBefore limits the shown findings that a base also has.
const mostBefore = 20

// baseFindings lists the findings of a gate that the base also has, one per line.
func (v TreeVerdict) baseFindings(s view.OutputStyle, gate string) string {
	var b strings.Builder
	n := 0
	for _, f := range v.Before {
		if f.Gate != gate {
			continue
		}
		if n++; n > mostBefore {
			continue
		}
		first, _, _ := strings.Cut(f.Message, "\n")
		text := first
		for _, part := range []string{f.Test, findingLocation(f)} {
			if part != "" {
				text = part + ": " + text
			}
		}
		fmt.Fprintf(&b, "  %s: %s\n", s.Dim("also on the base"), view.EscapeForTerminal(text))
	}
	if n > mostBefore {
		fmt.Fprintf(&b, "  %s: and %d more\n", s.Dim("also on the base"), n-mostBefore)
	}
	return b.String()
}

// fixedTests returns the tests of a gate that the change fixed.
func (v TreeVerdict) fixedTests(gate string) []string {
	for _, t := range v.Turned {
		if t.Gate == gate {
			return t.Tests
		}
	}
	return nil
}

func drawGate(s view.OutputStyle, e nexus.GateEvidence) string {
	paint := s.Warn
	if e.State == nexus.Pass {
		paint = s.Good
	}
	if e.State.IsRed() {
		paint = s.Bad
	}
	word := paint(string(e.State))
	text := fmt.Sprintf("%s: %s", s.Bold(view.EscapeForTerminal(e.Gate)), word)
	if e.Counts != (nexus.TestCounts{}) {
		text += fmt.Sprintf(", %d passed, %d failed, %d skipped", e.Counts.Passed, e.Counts.Failed, e.Counts.Skipped)
	}
	if e.Why != "" {
		text += ", " + view.EscapeForTerminal(e.Why)
	}
	if e.Duration > 0 {
		text += " " + s.Dim(fmt.Sprintf("(%.1fs)", e.Duration.Seconds()))
	}
	return text + "\n"
}

func drawFinding(s view.OutputStyle, f nexus.Finding) string {
	word := severityWord(f)
	switch word {
	case "error":
		word = s.Bad(word)
	case "warning":
		word = s.Warn(word)
	}
	first, rest, _ := strings.Cut(f.Message, "\n")
	text := "  "
	if p := findingLocation(f); p != "" {
		text += view.EscapeForTerminal(p) + ": "
	}
	text += word + ": "
	if f.Test != "" {
		text += view.EscapeForTerminal(f.Test) + ": "
	}
	text += view.EscapeForTerminal(first)
	if f.Code != "" {
		text += " " + s.Dim("["+view.EscapeForTerminal(f.Code)+"]")
	}
	text += "\n"
	for i, l := range strings.Split(strings.TrimSpace(rest), "\n") {
		if l != "" && i < 12 {
			text += "      " + view.EscapeForTerminal(l) + "\n"
		}
	}
	if f.Expected+f.Actual != "" {
		text += fmt.Sprintf("      want %s, have %s\n", view.EscapeForTerminal(f.Expected), view.EscapeForTerminal(f.Actual))
	}
	if f.Advice != "" {
		text += "      " + view.EscapeForTerminal(f.Advice) + "\n"
	}
	return text
}

// FormatSummary writes a verdict as Markdown, for the page of a build.
func FormatSummary(v TreeVerdict) string {
	var b strings.Builder
	word := "passed"
	if !v.Passed {
		word = string(v.State)
	}
	fmt.Fprintf(&b, "## nexus check: %s\n\n", word)
	b.WriteString(summaryLine("Tree", v.Tree) + summaryLine("Compared with", v.Base))
	if len(v.Gates)+len(v.Off) > 0 {
		b.WriteString("| gate | state | passed | failed | skipped | time |\n|---|---|--:|--:|--:|--:|\n")
	}
	for _, e := range v.Gates {
		state := string(e.State)
		if e.Why != "" {
			state += ": " + e.Why
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %s |\n", markdownCell(e.Gate), markdownCell(state), e.Counts.Passed, e.Counts.Failed, e.Counts.Skipped, e.Duration.Round(100*time.Millisecond))
	}
	for _, name := range v.Off {
		fmt.Fprintf(&b, "| %s | off: %s | | | | |\n", markdownCell(name), DisabledText)
	}
	for _, t := range v.Turned {
		fmt.Fprintf(&b, "\n### %s: now passes\n\n", markdownCell(t.Gate))
		for _, name := range t.Tests {
			fmt.Fprintf(&b, "- %s\n", markdownCell(name))
		}
	}
	for _, e := range v.Gates {
		if len(e.Findings) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n", markdownCell(e.Gate))
		for i, f := range e.Findings {
			if i == 50 {
				fmt.Fprintf(&b, "- and %d more\n", len(e.Findings)-i)
				break
			}
			first, _, _ := strings.Cut(f.Message, "\n")
			line := "- "
			for _, part := range []string{findingLocation(f), f.Test} {
				if part != "" {
					line += "`" + strings.ReplaceAll(view.EscapeForTerminal(part), "`", "'") + "` "
				}
			}
			b.WriteString(line + markdownCell(first) + "\n")
		}
	}
	return b.String()
}

// summaryLine returns a paragraph of a summary, empty without text.
func summaryLine(what, text string) string {
	if text == "" {
		return ""
	}
	return what + " " + markdownCell(text) + "\n\n"
}

// markdownCell escapes a text within Markdown.
func markdownCell(s string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_", "[", "\\[", "`", "\\`", "@", "@\u200b").Replace(view.EscapeForTerminal(s))
}

// FormatGitHub writes findings as annotations.
func FormatGitHub(v TreeVerdict) string {
	var b strings.Builder
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for i, e := range v.Gates {
		for _, f := range e.Findings {
			word := severityWord(f)
			if word == "note" {
				word = "notice"
			}
			var about []string
			add := func(key, value string) {
				if value != "" && value != "0" {
					about = append(about, key+"="+property.Replace(value))
				}
			}
			add("file", f.File)
			add("line", fmt.Sprint(f.Line))
			add("endLine", fmt.Sprint(f.EndLine))
			add("col", fmt.Sprint(f.Column))
			add("endColumn", fmt.Sprint(f.EndColumn))
			add("title", strings.TrimSuffix(view.EscapeForTerminal(e.Gate)+": "+view.EscapeForTerminal(cmp.Or(f.Test, f.Code)), ": "))
			fmt.Fprintf(&b, "::%s %s::%s\n", word, strings.Join(about, ","), data.Replace(f.Message))
		}
		if e.State != nexus.Pass && len(e.Findings) == 0 {
			word := "error"
			if v.isInformational(i) {
				word = "notice"
			}
			fmt.Fprintf(&b, "::%s title=%s::%s\n", word, property.Replace(view.EscapeForTerminal(e.Gate)), data.Replace(strings.TrimSuffix(string(e.State)+": "+e.Why, ": ")))
		}
	}
	for _, name := range v.Off {
		fmt.Fprintf(&b, "::notice title=%s::%s\n", property.Replace(view.EscapeForTerminal(name)), DisabledText)
	}
	return b.String()
}
