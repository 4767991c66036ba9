package delivery

import (
	"context"
	"io"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
)

// TerminalSender notifies through the terminal that it writes to: it rings the bell, and shows a
// message if the terminal can.
type TerminalSender struct {
	Out io.Writer
	How string // bell, osc9, osc777, osc99; see [DetectTerminal]
	Mux bool   // within tmux, which needs messages to be wrapped
}

// DetectTerminal returns how a terminal can show messages, according to its environment
// variables.
func DetectTerminal(env func(string) string) string {
	program, term := env("TERM_PROGRAM"), env("TERM")
	switch {
	case env("KITTY_WINDOW_ID") != "" || term == "xterm-kitty":
		return "osc99"
	case program == "iTerm.app" || env("LC_TERMINAL") == "iTerm2" || program == "WezTerm" || program == "ghostty":
		return "osc9"
	case strings.HasPrefix(term, "foot") || strings.HasPrefix(term, "rxvt-unicode"):
		return "osc777"
	default:
		return "bell"
	}
}

// maxShown limits the text that a terminal shows, in bytes.
const maxShown = 200

// Send rings and shows a message, in one write.
func (t TerminalSender) Send(_ context.Context, m NoticeMessage) error {
	const esc, end = "\x1b", "\x1b\\"
	text := func(s string) string {
		s = strings.Join(strings.Fields(sanitize.RevealHidden(s)), " ") // no control characters remain
		return sanitize.TruncateText(strings.ReplaceAll(s, ";", ","), maxShown)
	}
	n := m.Notices[0]
	title, body := text(m.Subject()), text(n.Text)
	var said string
	switch t.How {
	case "osc9":
		said = esc + "]9;" + strings.TrimSpace(title+" "+body) + end
	case "osc777":
		said = esc + "]777;notify;" + title + ";" + body + end
	case "osc99":
		said = esc + "]99;i=nexus:d=0;" + title + end + esc + "]99;i=nexus:d=1:p=body;" + body + end
	}
	if t.Mux && said != "" {
		said = esc + "Ptmux;" + strings.ReplaceAll(said, esc, esc+esc) + end
	}
	if _, err := io.WriteString(t.Out, said+"\a"); err != nil {
		return &webhookpost.PostError{Text: err.Error(), Final: true}
	}
	return nil
}
