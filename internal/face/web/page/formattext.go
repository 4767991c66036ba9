package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// The texts of pages. Templ does the escaping; these functions handle control and direction
// characters, which browsers draw invisibly.

func escapeText(text string) string  { return view.EscapeForTerminal(text) }
func escapeLines(text string) string { return view.EscapeLinesForTerminal(text) }

// showHiddenCharacters returns a piece of code unchanged, with hidden characters written out.
func showHiddenCharacters(text string) string { return sanitize.RevealHidden(text) }

// goalTitle returns the first line of a goal; for a spec, its heading.
func goalTitle(text string) string { return strings.TrimPrefix(view.FirstLine(text), "# ") }

// truncateText shortens a text to a number of characters.
func truncateText(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "\u2026"
	}
	return text
}

// cssClassWord turns a text into a part of a CSS class: letters, digits and dashes.
func cssClassWord(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, text)
}

func formatInt(n int) string       { return strconv.Itoa(n) }
func formatInt64(n int64) string   { return strconv.FormatInt(n, 10) }
func formatFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func countNoun(n int, noun string) string  { return view.CountWithNoun(n, noun) }
func formatMoney(m nexus.Money) string     { return m.String() }
func formatSeconds(seconds float64) string { return view.FormatSeconds(seconds) }
func formatPercent(f float64) string       { return view.FormatPercent(f) }
func shortHash(hash string) string         { return view.ShortHash(hash) }
func joinComma(all []string) string        { return strings.Join(all, ", ") }
func taskList(all []nexus.TaskID) string {
	return nexus.JoinWords(all)
}

func formatTokens(n int64) string { return view.FormatNumber(n) }

func estimatePrefix(is bool) string {
	if is {
		return "about "
	}
	return ""
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 MST")
}

func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func timeAgo(now, t time.Time) string {
	if t.IsZero() {
		return "just now"
	}
	return view.FormatSeconds(max(now.Sub(t).Seconds(), 0)) + " ago"
}

func timeUntil(now, t time.Time) string {
	return "in " + view.FormatSeconds(max(t.Sub(now).Seconds(), 0))
}

// startAndDuration describes when something began, and its duration so far.
func startAndDuration(began, ended, now time.Time) string {
	if began.IsZero() {
		return ""
	}
	return formatTime(began) + ", " + view.FormatSeconds(view.SecondsBetween(began, ended, now))
}

func timeRangeText(l *view.SecondsRange) string {
	return view.OutputStyle{}.FormatRange(*l)
}

func progressSummary(going []view.RunView) string {
	working := 0
	for _, r := range going {
		working += r.Counts.Active
	}
	if len(going) == 0 {
		return "No run is in progress. Start one in a terminal: nexus run \"what you want\"."
	}
	return countNoun(working, "task") + " in progress. What needs you appears here by itself."
}

// Glyphs. A word is always next to them.

func laneGlyph(l projection.BoardLane) string {
	return map[projection.BoardLane]string{
		projection.LaneNeedsYou: "!", projection.LaneRunning: "\u25d0", projection.LaneVerifying: "\u25d1",
		projection.LaneReview: "\u25c6", projection.LaneLanding: "\u21e1", projection.LaneReady: "\u25c7",
		projection.LaneBlocked: "\u25cc", projection.LaneStopped: "\u2717", projection.LaneDone: "\u2713",
	}[l]
}

func laneLabel(l projection.BoardLane) string {
	return view.EscapeForTerminal(strings.ReplaceAll(string(l), "-", " "))
}

func kindGlyph(k projection.InboxItemKind) string {
	return map[projection.InboxItemKind]string{
		projection.KindApproval: "!", projection.KindQuestion: "?", projection.KindReview: "\u25c6", projection.KindBudget: "$",
		projection.KindQuota: "\u21bb", projection.KindConflict: "\u2260", projection.KindFailure: "\u2717", projection.KindSignOff: "\u2713",
	}[k]
}

func gateGlyph(s nexus.GateState) string {
	switch s {
	case nexus.Pass:
		return "\u2713"
	case nexus.Fail:
		return "\u2717"
	default:
		return "!"
	}
}

func criterionGlyph(s string) string {
	return cmp.Or(map[string]string{"met": "\u2713", "not-met": "\u2717", "open": "\u25cb", "unclear": "?"}[s], "\u25cb")
}

func checkGlyph(s string) string {
	return cmp.Or(map[string]string{"ok": "\u2713", "notice": "!"}[s], "\u2717")
}

func outcomeWord(o nexus.Outcome) string { return cmp.Or(string(o), "in progress") }

func outcomeGlyph(o nexus.Outcome) string {
	switch o {
	case "":
		return "\u25d0"
	case nexus.Accepted:
		return "\u2713"
	default:
		return "\u2717"
	}
}

// findingLocation formats the location of a finding.
func findingLocation(f nexus.Finding) string {
	if f.Line > 0 {
		return f.File + ":" + strconv.Itoa(f.Line)
	}
	return f.File
}

// Addresses.

func runPath(run nexus.RunID, rest string) string {
	if rest == "" {
		rest = "/"
	}
	return "/r/" + url.PathEscape(string(run)) + rest
}

func taskPath(run nexus.RunID, id nexus.TaskID, rest string) string {
	return runPath(run, "/t/"+url.PathEscape(string(id))+rest)
}

func escapeFragment(id string) string { return (&url.URL{Fragment: id}).EscapedFragment() }

func viewBox(w, h int) string { return fmt.Sprintf("0 0 %d %d", w, h) }

func lineNumber(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// inputLabel describes the input of an action, for people.
func inputLabel(a ItemAction) string {
	text := cmp.Or(view.EscapeForTerminal(a.Ask), "Text")
	if a.Input == projection.InputReason {
		text += " (may be empty)"
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// actionFormID returns the ID of an action's form on a page: actions that differ only in their text,
// such as the answers to a question, have different IDs.
func actionFormID(f PageFrame, of string, a ItemAction) string {
	return "do-" + string(f.Run.ID) + "-" + of + "-" + a.Name + "-" + strings.Join(strings.Fields(a.Label), "-")
}

func (f PageFrame) runOfAction(a ItemAction) string {
	if strings.HasPrefix(a.Name, "memory-") {
		return ""
	}
	return string(f.Run.ID)
}

// itemPath returns the address with the details of an item.
func itemPath(i projection.InboxItem) string {
	switch {
	case i.Task != "":
		return taskPath(i.Run, i.Task, "")
	case i.Trigger == nexus.PlanTrigger:
		return runPath(i.Run, "/plan")
	default:
		return runPath(i.Run, "")
	}
}

// itemQuestion returns the question of an item whose title was cut: the rest follows below it.
func itemQuestion(i projection.InboxItem) string {
	title := view.EscapeForTerminal(i.Title)
	if asked, _, is := strings.Cut(title, "?"); is && strings.HasSuffix(title, "...") {
		return asked + "?"
	}
	return title
}

// fallbackText describes the default without an answer.
func fallbackText(i projection.InboxItem) string {
	if i.Deadline.IsZero() {
		return "Without an answer: " + view.EscapeForTerminal(i.Fallback)
	}
	return "Without an answer until " + formatTime(i.Deadline) + ": " + view.EscapeForTerminal(i.Fallback)
}

func actionsOf(i projection.InboxItem) []ItemAction { return i.Actions }

// plainActions returns the actions without a form of their own.
func plainActions(all []ItemAction) []ItemAction {
	var some []ItemAction
	for _, a := range all {
		if a.Name != "tell" {
			some = append(some, a)
		}
	}
	return some
}

func findAction(all []ItemAction, name string) (ItemAction, bool) {
	for _, a := range all {
		if a.Name == name {
			return a, true
		}
	}
	return ItemAction{}, false
}

// gateOf returns the result of a gate for a task.
func gateOf(r projection.GateResultRow, name string) (projection.GateView, bool) {
	for _, g := range r.Gates {
		if g.Name == name {
			return g, true
		}
	}
	return projection.GateView{}, false
}

// jsonOf encodes a value for a script, in an attribute.
func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(data)
}
