package delivery

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/face/notify/delivery/smtptest"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
	"github.com/nexus-ai-builder/nexus/internal/view/notice"
)

const key = "a secret of both sides"

// hostile is what nobody wants to have done in his name.
const hostile = "<!channel> @everyone <@U1> [x](http://evil.example) *b* <b>b</b> & \x1b]0;t\x07 \u202e\r\nBcc: eve@example.org\r\n.\r\n"

// message is a message with a text that others wrote, as a notice has it.
func message(text string) NoticeMessage {
	text = strings.Join(strings.Fields(text), " ")
	n := notice.Notice{ID: "r1/1/parked", Run: "r1", Seq: 1, Kind: notice.Parked, Severity: humaninput.Yellow, Title: sanitize.RevealHidden(text), Text: sanitize.RevealHidden(text), Next: "nexus retry T1 --run r1"}
	return NoticeMessage{ID: "m1", Place: "shop\r\nX: y", Link: "http://127.0.0.1:1", Notices: []notice.Notice{n}}
}

// sender is what the suite looks at.
type sender interface {
	Send(ctx context.Context, m NoticeMessage) error
}

// receiver is a server of anybody, in whatever trouble.
type receiver struct {
	mu     sync.Mutex // guards what follows
	bodies []string
	heads  []http.Header
	do     func(w http.ResponseWriter, r *http.Request)
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	r.bodies, r.heads = append(r.bodies, string(body)), append(r.heads, q.Header)
	do := r.do
	r.mu.Unlock()
	if do != nil {
		do(w, q)
		return
	}
	_, _ = io.WriteString(w, `{"ok":true,"result":{}}`)
}

// webs are the ways that go by HTTP.
func webs(url string) map[string]sender {
	return map[string]sender{
		"webhook": NewWebhook(url, key, time.Now), "slack": NewSlack(url), "discord": NewDiscord(url), "telegram": NewTelegram(url, "1:x", 7),
	}
}

// TestWebConforms holds all ways by HTTP against the same: what is final, what is
// tried again, and when.
func TestWebConforms(t *testing.T) {
	status := func(code int, header ...string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			if code == http.StatusTooManyRequests {
				_, _ = io.WriteString(w, `{"ok":false,"error_code":429,"description":"slow down","parameters":{"retry_after":7}}`)
				return
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"ok": false, "error_code": code, "description": "no"})
		}
	}
	var elsewhere receiver
	other := httptest.NewServer(&elsewhere)
	defer other.Close()
	cases := map[string]struct {
		do    func(http.ResponseWriter, *http.Request)
		final bool
		wait  time.Duration
	}{
		"429":       {status(429, "Retry-After", "7"), false, 7 * time.Second},
		"500":       {status(500), false, 0},
		"503":       {status(503), false, 0},
		"403":       {status(403), true, 0},
		"half open": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false, 0},
		"slow":      {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false, 0},
	}
	for name, c := range cases {
		in := &receiver{do: c.do}
		s := httptest.NewServer(in)
		for which, way := range webs(s.URL) {
			patience := time.Minute
			if name == "slow" {
				patience = 100 * time.Millisecond
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("too slow"))
			err := way.Send(ctx, message("x"))
			cancel()
			e, ok := errors.AsType[*webhookpost.PostError](err)
			if !ok || e.Final != c.final || e.Wait != c.wait {
				t.Errorf("%s, %s: %+v (%v)", which, name, e, err)
			}
			if err != nil && (strings.Contains(err.Error(), "1:x") || strings.Contains(err.Error(), s.URL)) {
				t.Errorf("%s, %s: the error has the address: %v", which, name, err)
			}
		}
		s.CloseClientConnections()
		s.Close()
	}
	in := &receiver{do: func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}}
	s := httptest.NewServer(in)
	defer s.Close()
	for which, way := range webs(s.URL) {
		if err := way.Send(t.Context(), message("x")); err == nil {
			t.Errorf("%s follows a redirect", which)
		}
	}
	if len(elsewhere.bodies) > 0 {
		t.Errorf("somebody else got %q", elsewhere.bodies)
	}
	foreign := httptest.NewTLSServer(&receiver{})
	defer foreign.Close()
	for which, way := range webs(foreign.URL) {
		if err := way.Send(t.Context(), message("x")); err == nil || webhookpost.IsFinal(err) || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s, a certificate of nobody: %v", which, err)
		}
	}
}

// TestWebIsHarmless sends what others wrote as text, and nothing else.
func TestWebIsHarmless(t *testing.T) {
	in := &receiver{}
	s := httptest.NewServer(in)
	defer s.Close()
	last := func(way sender) string {
		t.Helper()
		if err := way.Send(t.Context(), message(hostile)); err != nil {
			t.Fatal(err)
		}
		body := in.bodies[len(in.bodies)-1]
		for _, r := range body {
			if r < ' ' && r != '\n' || r == '\u202e' {
				t.Errorf("%q has control characters", body)
			}
		}
		return body
	}
	all := webs(s.URL)
	if text := gjson.Get(last(all["slack"]), "text").String(); strings.ContainsAny(text, "<>") || !strings.Contains(text, "&lt;!channel&gt;") {
		t.Errorf("slack: %s", text)
	}
	body := last(all["discord"])
	text := gjson.Get(body, "content").String()
	if gjson.Get(body, "allowed_mentions.parse").Raw != "[]" || strings.Contains(text, "](") || strings.Contains(text, " @everyone") || !strings.Contains(text, `\@everyone`) {
		t.Errorf("discord: %s", body)
	}
	body = last(all["telegram"])
	if gjson.Get(body, "parse_mode").Exists() || !strings.Contains(gjson.Get(body, "text").String(), "<b>b</b>") || gjson.Get(body, "chat_id").Int() != 7 {
		t.Errorf("telegram: %s", body)
	}
	body = last(all["webhook"])
	head := in.heads[len(in.heads)-1]
	if err := webhookpost.VerifySignature(key, webhookpost.DirectionNotice, head, []byte(body), time.Now()); err != nil || head.Get(webhookpost.DeliveryHeader) != "m1" {
		t.Errorf("webhook: %v, %v", err, head)
	}
	if gjson.Get(body, "version").Int() != 1 || gjson.Get(body, "notices.0.id").String() != "r1/1/parked" || gjson.Get(body, "id").String() != "m1" {
		t.Errorf("webhook: %s", body)
	}
	if err := webhookpost.VerifySignature(key, webhookpost.DirectionQuestion, head, []byte(body), time.Now()); err == nil {
		t.Error("a notice is taken for a question")
	}
	long := message(strings.Repeat("\u00e4*", 3000))
	for which, most := range map[string]int{"slack": 3100, "discord": 2000, "telegram": 4096} {
		if err := all[which].Send(t.Context(), long); err != nil {
			t.Fatal(err)
		}
		body := in.bodies[len(in.bodies)-1]
		text := gjson.Get(body, "text").String() + gjson.Get(body, "content").String()
		if len([]rune(text)) > most || !strings.Contains(text, "and more") {
			t.Errorf("%s: %d characters", which, len([]rune(text)))
		}
	}
}

// posted is mail as somebody sends it to a server.
func posted(s *smtptest.Server) MailSender {
	return MailSender{
		Server: s.Addr, From: "nexus@example.org", To: []string{"Ada <ada@example.org>", "bob@example.org"}, User: "nexus", Password: "pw", Now: time.Now,
		Roots: &tls.Config{RootCAs: s.Roots, MinVersion: tls.VersionTLS12},
	}
}

func mailServer(t *testing.T, change func(*smtptest.Server)) *smtptest.Server {
	t.Helper()
	s, err := smtptest.Start(func(s *smtptest.Server) {
		s.Password = "pw"
		if change != nil {
			change(s)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestMail sends mail that is encrypted, from who is logged in, and whose headers
// nobody can add to.
func TestMail(t *testing.T) {
	for _, how := range []string{"starttls", "implicit", "implicit login"} {
		s := mailServer(t, func(s *smtptest.Server) {
			s.Implicit, s.Login = how != "starttls", how == "implicit login"
			s.Say["QUIT"] = "421 too many connections" // after it has taken the mail
		})
		m := posted(s)
		m.TLS, _, _ = strings.Cut(how, " ")
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		if err := m.Send(t.Context(), message(hostile+strings.Repeat("\u00e4", 90))); err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		all := s.Mails()
		if len(all) != 1 || !all[0].TLS || all[0].User != "nexus" || len(all[0].To) != 2 || all[0].To[0] != "TO:<ada@example.org>" {
			t.Fatalf("%s: %+v", how, all)
		}
		got, err := mail.ReadMessage(strings.NewReader(all[0].Data))
		if err != nil {
			t.Fatal(err)
		}
		subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
		if err != nil || strings.ContainsAny(subject, "\r\n\x1b") || !strings.HasPrefix(subject, "nexus: shop X: y: <!channel>") {
			t.Errorf("subject: %q, %v", subject, err)
		}
		var names []string
		for name := range got.Header {
			names = append(names, name)
		}
		if len(names) != 9 || got.Header.Get("Bcc") != "" || got.Header.Get("X") != "" || got.Header.Get("Auto-Submitted") == "" {
			t.Errorf("headers: %q", names)
		}
		if !strings.Contains(all[0].Data, "Next: nexus retry T1 --run r1") {
			t.Errorf("%s", all[0].Data)
		}
	}
}

// TestMailFaults tells what another try may help against from what it does not.
func TestMailFaults(t *testing.T) {
	for name, c := range map[string]struct {
		server func(*smtptest.Server)
		change func(*MailSender)
		final  bool
		says   string
	}{
		"refuses for now":  {func(s *smtptest.Server) { s.Say["MAIL"] = "451 later" }, nil, false, "later"},
		"refuses":          {func(s *smtptest.Server) { s.Say["RCPT"] = "550 no such person" }, nil, true, "no such person"},
		"refuses the data": {func(s *smtptest.Server) { s.Say["END"] = "554 spam" }, nil, true, "spam"},
		"is full":          {func(s *smtptest.Server) { s.Say["END"] = "452 full" }, nil, false, "full"},
		"wrong password":   {nil, func(m *MailSender) { m.Password = "x" }, true, "wrong password"},
		"no encryption":    {func(s *smtptest.Server) { s.Plain = true }, func(m *MailSender) { m.TLS = "starttls" }, true, "does not offer encryption"},
		"certificate":      {nil, func(m *MailSender) { m.Roots = nil }, false, "certificate"},
		"not there":        {nil, func(m *MailSender) { m.Server = "127.0.0.1:1" }, false, "refused"},
		"silent":           {func(s *smtptest.Server) { s.Mute = " " }, nil, false, "too slow"},
		"half open":        {func(s *smtptest.Server) { s.Mute = "DATA" }, nil, false, "too slow"},
	} {
		s := mailServer(t, c.server)
		m := posted(s)
		if c.change != nil {
			c.change(&m)
		}
		patience := time.Minute
		if c.says == "too slow" {
			patience = 300 * time.Millisecond // of a person who stops Nexus: the mail server is given 30 s
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("too slow"))
		err := m.Send(ctx, message("x"))
		cancel()
		if err == nil || webhookpost.IsFinal(err) != c.final || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: final %v: %v", name, webhookpost.IsFinal(err), err)
		}
		if n := len(s.Mails()); n != 0 {
			t.Errorf("%s: %d mails came", name, n)
		}
	}
	for says, change := range map[string]func(*MailSender){
		"no mail server": func(m *MailSender) { m.Server = "" }, "not host:port": func(m *MailSender) { m.Server = "x" },
		"no password":           func(m *MailSender) { m.Password = "" },
		"there is no recipient": func(m *MailSender) { m.To = nil }, "is not a mail address": func(m *MailSender) { m.To = []string{"a@b.c\r\nBcc: eve@example.org"} },
	} {
		m := posted(mailServer(t, nil))
		change(&m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestUsualTLS(t *testing.T) {
	for server, want := range map[string]string{
		"smtp.example.org:465": "implicit", "127.0.0.1:465": "implicit", "smtp.example.org:587": "starttls", "smtp.example.org:25": "starttls",
		"192.0.2.1:25": "starttls", "127.0.0.1:25": "offered", "localhost:1025": "offered", "[::1]:25": "offered",
	} {
		if got := UsualTLS(server); got != want {
			t.Errorf("%s: %s, want %s", server, got, want)
		}
	}
	s := mailServer(t, func(s *smtptest.Server) { s.Plain = true }) // of this machine, without a certificate
	m := posted(s)
	if err := m.Send(t.Context(), message("x")); err != nil || len(s.Mails()) != 1 {
		t.Errorf("%v, %d mails", err, len(s.Mails()))
	}
}

// TestTerminal writes one sequence that ends where it is to end, and rings.
func TestTerminal(t *testing.T) {
	for how, want := range map[string]string{
		"bell":   "\a",
		"osc9":   "\x1b]9;nexus: p: it is 1,2 b\x1b\\\a",
		"osc777": "\x1b]777;notify;nexus: p: it is 1,2;b\x1b\\\a",
		"osc99":  "\x1b]99;i=nexus:d=0;nexus: p: it is 1,2\x1b\\\x1b]99;i=nexus:d=1:p=body;b\x1b\\\a",
	} {
		var b bytes.Buffer
		m := NoticeMessage{Place: "p", Notices: []notice.Notice{{Title: "it is 1;2", Text: "b"}}}
		if err := (TerminalSender{Out: &b, How: how}).Send(t.Context(), m); err != nil || b.String() != want {
			t.Errorf("%s: %q, %v", how, b.String(), err)
		}
		b.Reset()
		m.Notices[0].Title, m.Notices[0].Text = hostile+"\u009c\x1b\\\a", hostile
		if err := (TerminalSender{Out: &b, How: how, Mux: true}).Send(t.Context(), m); err != nil {
			t.Error(err)
		}
		text := b.String()
		if how != "bell" && (!strings.HasPrefix(text, "\x1bPtmux;\x1b\x1b]") || !strings.HasSuffix(text, "\x1b\\\a")) || strings.Count(text, "\a") != 1 ||
			strings.ContainsAny(text, "\u009c\u202e\r\n") || strings.Contains(text, "]0;t") && how == "osc777" {
			t.Errorf("%s: %q", how, text)
		}
		if n := strings.Count(text, "\x1b"); n != map[string]int{"bell": 0, "osc9": 6, "osc777": 6, "osc99": 10}[how] {
			t.Errorf("%s: %d escapes in %q", how, n, text)
		}
	}
	for env, want := range map[string]string{"TERM=xterm-256color": "bell", "TERM=xterm-kitty": "osc99", "TERM_PROGRAM=WezTerm": "osc9", "TERM=foot": "osc777", "LC_TERMINAL=iTerm2": "osc9"} {
		name, value, _ := strings.Cut(env, "=")
		got := DetectTerminal(func(n string) string {
			if n == name {
				return value
			}
			return ""
		})
		if got != want {
			t.Errorf("%s: %s", env, got)
		}
	}
}

// TestLocal runs the program that is there, with texts that are no options and no
// markup.
func TestLocal(t *testing.T) {
	for _, c := range []struct {
		have string
		want []string
	}{
		{"notify-send", []string{"notify-send", "--app-name=nexus", "--urgency=normal", "--", "nexus: p: <i>", "[yellow] run r1: &lt;i&gt;\n-a &amp; \"b\""}},
		{"gdbus", []string{
			"gdbus", "call", "--session", "--dest", "org.freedesktop.Notifications", "--object-path", "/org/freedesktop/Notifications", "--method",
			"org.freedesktop.Notifications.Notify", "--", `"nexus"`, "uint32 0", `""`, `"nexus: p: <i>"`, `"[yellow] run r1: &lt;i&gt;\n-a &amp; \"b\""`, "@as []", "@a{sv} {}", "int32 -1",
		}},
	} {
		var got []string
		d := DesktopSender{Find: func(p string) bool { return p == c.have }, Run: func(_ context.Context, args []string) error { got = args; return nil }}
		m := NoticeMessage{Place: "p", Notices: []notice.Notice{{Run: "r1", Severity: humaninput.Yellow, Title: "<i>", Text: `-a & "b"`}}}
		if err := d.Send(t.Context(), m); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
	none := func(string) bool { return false }
	if err := (DesktopSender{Find: none}).Send(t.Context(), message("x")); !webhookpost.IsFinal(err) {
		t.Errorf("%v", err)
	}
	if err := (SoundSender{Find: none, Command: []string{"play"}}).Send(t.Context(), message("x")); !webhookpost.IsFinal(err) || !strings.Contains(err.Error(), "play is not installed") {
		t.Errorf("%v", err)
	}
	fails := SoundSender{Find: func(string) bool { return true }, Command: []string{"play"}, Run: func(context.Context, []string) error { return errors.New("no device") }}
	if err := fails.Send(t.Context(), message("x")); !webhookpost.IsFinal(err) || !strings.Contains(err.Error(), "no device") {
		t.Errorf("%v", err)
	}
}
