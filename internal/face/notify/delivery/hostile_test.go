package delivery

import (
	"bytes"
	"context"
	"io"
	"mime/quotedprintable"
	"net/http/httptest"
	"net/mail"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/view/hostiletest"
)

// filled is a message with hostile text in every field, as of a run that was imported.
func filled(severity humaninput.QuestionSeverity) NoticeMessage {
	var m NoticeMessage
	hostiletest.FillFields(&m, hostiletest.HostileText())
	m.ID = "m1" // a hash
	if severity != "" {
		for i := range m.Notices {
			m.Notices[i].Severity = severity
		}
	}
	return m
}

// TestNoNoticeIsObeyed sends hostile text in every field of a message by each way, and
// looks at what arrives: no terminal, browser or eye obeys it, and it ends.
func TestNoNoticeIsObeyed(t *testing.T) {
	for _, m := range []NoticeMessage{filled(humaninput.Red), filled("")} {
		arrives := map[string]string{}
		in := &receiver{}
		s := httptest.NewServer(in)
		defer s.Close()
		for name, way := range webs(s.URL) {
			if err := way.Send(t.Context(), m); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			arrives[name] = in.bodies[len(in.bodies)-1]
		}
		for _, program := range []string{"notify-send", "gdbus"} {
			d := DesktopSender{
				Find: func(p string) bool { return p == program },
				Run:  func(_ context.Context, args []string) error { arrives[program] = strings.Join(args, "\n"); return nil },
			}
			if err := d.Send(t.Context(), m); err != nil {
				t.Errorf("%s: %v", program, err)
			}
		}
		mails := mailServer(t, nil)
		if err := posted(mails).Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		got, err := mail.ReadMessage(strings.NewReader(mails.Mails()[0].Data))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(quotedprintable.NewReader(got.Body))
		if err != nil {
			t.Error(err)
		}
		arrives["mail"] = string(text)
		for _, how := range []string{"bell", "osc9", "osc777", "osc99"} {
			var b bytes.Buffer
			if err := (TerminalSender{Out: &b, How: how}).Send(t.Context(), m); err != nil {
				t.Error(err)
			}
			own := map[string]int{"bell": 0, "osc9": 2, "osc777": 2, "osc99": 4}[how]
			if n := strings.Count(b.String(), "\x1b"); n != own || strings.Count(b.String(), "\a") != 1 {
				t.Errorf("%s: %d sequences, of which %d are its own", how, n, own)
			}
			arrives[how] = strings.NewReplacer("\x1b", "", "\a", "").Replace(b.String())
		}
		for name, text := range arrives {
			if bad := hostiletest.ObeyedPart(text); bad != "" || text == "" && name != "bell" {
				t.Errorf("%s: %q", name, bad)
			}
			for line := range strings.Lines(text) {
				if name != "webhook" && strings.HasPrefix(line, "::error::") {
					t.Errorf("%s begins a line of its own: %q", name, line)
				}
			}
		}
	}
}
