package delivery

import (
	"context"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
	"github.com/nexus-ai-builder/nexus/internal/view/notice"
)

// CommandRunFunc runs a program of this machine as the user would.
type CommandRunFunc func(ctx context.Context, args []string) error

// DesktopSender shows messages on the desktop, through the notification service of D-Bus.
type DesktopSender struct {
	Run  CommandRunFunc
	Find func(program string) bool
}

// notifyCommand returns the command that shows a message, nil if there is none.
func (d DesktopSender) notifyCommand(m NoticeMessage) []string {
	lines := m.TextLines()
	title := lines[0]
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;") // services parse markup
	body := escape.Replace(strings.Join(lines[min(2, len(lines)):], "\n"))
	switch {
	case d.Find("notify-send"):
		urgency := map[bool]string{true: "critical", false: "normal"}[m.HighestSeverity() == "red"]
		return []string{"notify-send", "--app-name=nexus", "--urgency=" + urgency, "--", title, body}
	case d.Find("gdbus"):
		return []string{
			"gdbus", "call", "--session", "--dest", "org.freedesktop.Notifications", "--object-path", "/org/freedesktop/Notifications",
			"--method", "org.freedesktop.Notifications.Notify", "--",
			`"nexus"`, "uint32 0", `""`, formatVariant(title), formatVariant(body), "@as []", "@a{sv} {}", "int32 -1",
		}
	default:
		return nil
	}
}

// formatVariant formats a text as a D-Bus string value.
func formatVariant(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteByte('?')
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Check returns an error if it cannot work.
func (d DesktopSender) Check() error {
	if d.notifyCommand(NoticeMessage{Notices: []notice.Notice{{}}}) == nil {
		return &webhookpost.PostError{Text: "neither notify-send nor gdbus is installed", Final: true}
	}
	return nil
}

// Send shows a message. If there is no desktop, it is not tried again.
func (d DesktopSender) Send(ctx context.Context, m NoticeMessage) error {
	args := d.notifyCommand(m)
	if args == nil {
		return d.Check()
	}
	return localError(d.Run(ctx, args))
}

// SoundSender plays a sound.
type SoundSender struct {
	Run     CommandRunFunc
	Find    func(program string) bool
	Command []string
}

// Check returns an error if it cannot work.
func (s SoundSender) Check() error {
	switch {
	case len(s.Command) == 0 || s.Command[0] == "":
		return &webhookpost.PostError{Text: "there is no command that plays a sound (command)", Final: true}
	case !s.Find(s.Command[0]):
		return &webhookpost.PostError{Text: s.Command[0] + " is not installed", Final: true}
	}
	return nil
}

// Send plays the sound.
func (s SoundSender) Send(ctx context.Context, _ NoticeMessage) error {
	if err := s.Check(); err != nil {
		return err
	}
	return localError(s.Run(ctx, s.Command))
}

func localError(err error) error {
	if err != nil {
		return &webhookpost.PostError{Text: err.Error(), Final: true}
	}
	return nil
}
