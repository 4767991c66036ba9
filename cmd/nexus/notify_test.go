package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"github.com/nexus-ai-builder/nexus/internal/face/notify/delivery/smtptest"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
)

// pager is where notices are sent to by webhook.
type pager struct {
	mu    sync.Mutex // guards what follows
	holds string     // the first message with this text is not answered
	got   []string   // each call, as its delivery and its body
}

// heed takes notices at $NOTICE_URL: heed [hold TEXT]. With hold it says nothing to
// the first message with a text, until whoever sent it is gone. The secret is in
// $HOOK_SECRET.
func heed(ts *testscript.TestScript, _ bool, args []string) {
	p := playOf(ts).pager
	if p == nil {
		p = &pager{}
		playOf(ts).pager = p
		s := httptest.NewServer(p)
		ts.Defer(s.Close)
		ts.Setenv("NOTICE_URL", s.URL)
		ts.Setenv("HOOK_SECRET", hookSecret)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.got = nil; len(args) == 2 {
		p.holds = args[1]
	}
}

func (p *pager) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = webhookpost.VerifySignature(hookSecret, webhookpost.DirectionNotice, r.Header, body, time.Now())
	}
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	p.mu.Lock()
	p.got = append(p.got, r.Header.Get(webhookpost.DeliveryHeader)+" "+string(body))
	held := p.holds != "" && strings.Contains(string(body), p.holds)
	if held {
		p.holds = ""
	}
	p.mu.Unlock()
	if held {
		<-r.Context().Done()
	}
}

// times counts the texts that hold all words.
func times(all []string, words []string) int {
	n := 0
	for _, text := range all {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			n++
		}
	}
	return n
}

// noticed waits until so many notices came that hold all texts: noticed N TEXT...
// Negated, it fails where so many came. noticed once TEXT... wants the same message
// all times. noticed distinct wants no notice in two messages.
func noticed(ts *testscript.TestScript, neg bool, args []string) {
	p := playOf(ts).pager
	if p == nil {
		ts.Fatalf("nobody heeds notices")
	}
	come := func() []string {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.Clone(p.got)
	}
	if args[0] == "distinct" {
		in := map[string]string{} // message by notice
		for _, text := range come() {
			name, body, _ := strings.Cut(text, " ")
			for _, id := range gjson.Get(body, "notices.#.id").Array() {
				if was, ok := in[id.String()]; ok && was != name {
					ts.Fatalf("%s came in two messages: %q", id, come())
				}
				in[id.String()] = name
			}
		}
		return
	}
	if args[0] == "once" {
		names := map[string]bool{}
		for _, text := range come() {
			if name, _, _ := strings.Cut(text, " "); times([]string{text}, args[1:]) == 1 {
				names[name] = true
			}
		}
		if len(names) != 1 {
			ts.Fatalf("%d messages: %q", len(names), come())
		}
		return
	}
	waits(ts, neg, args, come)
}

// waits waits until so many texts hold all words: N WORD...
func waits(ts *testscript.TestScript, neg bool, args []string, come func() []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	if neg {
		if all := come(); times(all, args[1:]) >= n {
			ts.Fatalf("%d came: %q", times(all, args[1:]), all)
		}
		return
	}
	for end := time.Now().Add(patience); times(come(), args[1:]) < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%d came, not %d: %q", times(come(), args[1:]), n, come())
		}
	}
}

// postbox starts a server of mail at $MAIL_SERVER, whose user nexus has the password
// in $MAIL_PASSWORD, and whose certificate is in $SSL_CERT_FILE. The first mail finds
// it busy.
func postbox(ts *testscript.TestScript, _ bool, _ []string) {
	s, err := smtptest.Start(func(s *smtptest.Server) { s.Password = "pw-of-the-story" })
	ts.Check(err)
	ts.Defer(s.Close)
	s.RefuseNext("451 busy")
	file := filepath.Join(ts.Getenv("WORK"), "mail.pem")
	ts.Check(os.WriteFile(file, s.PEM, 0o600))
	ts.Setenv("MAIL_SERVER", s.Addr)
	ts.Setenv("MAIL_PASSWORD", s.Password)
	ts.Setenv("SSL_CERT_FILE", file)
	playOf(ts).mail = s
}

// mailed waits until so many mails came that hold all texts: mailed N TEXT...
func mailed(ts *testscript.TestScript, neg bool, args []string) {
	waits(ts, neg, args, func() []string {
		var all []string
		for _, m := range playOf(ts).mail.Mails() {
			all = append(all, strings.ReplaceAll(m.Data, "=\n", "")) // joins lines
		}
		return all
	})
}
