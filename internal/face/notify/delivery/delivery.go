// Package delivery sends notices to people: through the desktop, a sound, a webhook, Slack,
// Discord, Telegram or mail. Each channel escapes hostile text in a notice, so that it remains
// text. A failure is a [*post.Error], which reports whether another try may help.
package delivery

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/view/notice"
)

// NoticeMessage is a group of notices that are sent together.
type NoticeMessage struct {
	ID      string          `json:"id"`            // the same for each try
	Place   string          `json:"place"`         // the repository
	Link    string          `json:"link,omitzero"` // of the dashboard
	Test    bool            `json:"test,omitzero"` // a test message
	Notices []notice.Notice `json:"notices"`       // at least one, the oldest first
}

// Subject returns a subject line for the message.
func (m NoticeMessage) Subject() string {
	worst := m.HighestSeverity()
	at := slices.IndexFunc(m.Notices, func(n notice.Notice) bool { return n.Severity == worst })
	text := fmt.Sprintf("nexus: %s: %s", m.Place, m.Notices[max(at, 0)].Title)
	if more := len(m.Notices) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return oneLine(text)
}

// oneLine turns a text into one line without hidden characters. Names are cleaned nowhere else,
// and the names in an imported run come from a stranger.
func oneLine(text string) string {
	return sanitize.RevealHidden(strings.Join(strings.Fields(text), " "))
}

// TextLines returns the message for people, as plain text.
func (m NoticeMessage) TextLines() []string {
	lines := []string{m.Subject()}
	for _, n := range m.Notices {
		lines = append(lines, "", oneLine(fmt.Sprintf("[%s] run %s: %s", n.Severity, n.Run, n.Title)))
		if n.Text != "" {
			lines = append(lines, oneLine(n.Text))
		}
		if n.Next != "" {
			lines = append(lines, oneLine("Next: "+n.Next))
		}
	}
	if m.Link != "" {
		lines = append(lines, "", oneLine(m.Link))
	}
	return lines
}

// HighestSeverity returns the highest severity of the notices.
func (m NoticeMessage) HighestSeverity() humaninput.QuestionSeverity {
	worst := humaninput.Green
	for _, n := range m.Notices {
		if notice.IsAtLeast(n.Severity, worst) {
			worst = n.Severity
		}
	}
	return worst
}

// fitLines joins lines into a text of at most so many bytes, and adds how many are omitted.
func fitLines(lines []string, most int) string {
	text := strings.Join(lines, "\n")
	if len(text) <= most {
		return text
	}
	const more = "\n... and more: see nexus status"
	cut := most - len(more)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + more
}
