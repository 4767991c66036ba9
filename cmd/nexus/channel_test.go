package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel/telegram/telegramtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
)

// hookSecret is what the stories' receiver shares with nexus, in $HOOK_SECRET.
const hookSecret = "a secret of the story"

// mailbox is where questions are sent to by webhook.
type mailbox struct {
	mu  sync.Mutex // guards got
	got []string
}

// receive takes questions at $HOOK_URL, the first N of them by saying that it
// is in trouble.
func receive(ts *testscript.TestScript, _ bool, args []string) {
	faults, err := strconv.Atoi(args[0])
	ts.Check(err)
	m := &mailbox{}
	ts.Setenv("HOOK_SECRET", hookSecret)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		m.mu.Lock()
		defer m.mu.Unlock()
		at, _ := strconv.ParseInt(r.Header.Get(webhookpost.TimestampHeader), 10, 64)
		_, want := webhookpost.SignBody(hookSecret, webhookpost.DirectionQuestion, time.Unix(at, 0), body)
		switch {
		case err != nil || r.Header.Get(webhookpost.SignatureHeader) != want:
			w.WriteHeader(http.StatusUnauthorized)
		case faults > 0:
			faults--
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			m.got = append(m.got, string(body))
		}
	}))
	ts.Defer(s.Close)
	ts.Setenv("HOOK_URL", s.URL)
	playOf(ts).box = m
}

func boxOf(ts *testscript.TestScript) *mailbox {
	m := playOf(ts).box
	if m == nil {
		ts.Fatalf("nothing receives")
	}
	return m
}

// received waits for the Nth question, holds it against a text and writes it
// to a file: received N TEXT FILE.
func received(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	m := boxOf(ts)
	count := func() int {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.got)
	}
	if neg {
		if count() >= n {
			ts.Fatalf("%d questions came: %q", count(), m.got)
		}
		return
	}
	for end := time.Now().Add(patience); count() < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%d questions came, not %d", count(), n)
		}
	}
	if !strings.Contains(m.got[n-1], args[1]) {
		ts.Fatalf("question %d is %s", n, m.got[n-1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(m.got[n-1]), 0o644))
}

// reply answers a question that was received, and wants a status with a text:
// reply STATUS TEXT FILE ANSWER [unsigned|old|again|huge]. It
// goes to $ANSWER_TO where that is set.
func reply(ts *testscript.TestScript, _ bool, args []string) {
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	q := ts.ReadFile(args[2])
	how := ""
	if len(args) > 4 {
		how = args[4]
	}
	answer := args[3]
	if how == "huge" {
		answer = strings.Repeat(answer, 1<<20)
	}
	body, err := json.Marshal(map[string]string{
		"run": gjson.Get(q, "pending.run").String(), "id": gjson.Get(q, "pending.id").String(),
		"token": gjson.Get(q, "token").String(), "answer": answer, "by": "ada",
	})
	ts.Check(err)
	at := time.Now()
	if how == "old" {
		at = at.Add(-time.Hour)
	}
	stamp, signature := webhookpost.SignBody(hookSecret, webhookpost.DirectionAnswer, at, body)
	for n := range 2 {
		r, err := http.NewRequest(http.MethodPost, cmp.Or(ts.Getenv("ANSWER_TO"), gjson.Get(q, "answer_to").String()), bytes.NewReader(body))
		ts.Check(err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(webhookpost.TimestampHeader, stamp)
		if how != "unsigned" {
			r.Header.Set(webhookpost.SignatureHeader, signature)
		}
		wantStatus(ts, r, n, how == "again", status, args[1])
		if how != "again" {
			return
		}
	}
}

func wantStatus(ts *testscript.TestScript, r *http.Request, n int, again bool, status int, text string) {
	resp, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	ts.Check(err)
	ts.Logf("%s %s", resp.Status, data)
	if again && n == 0 {
		return
	}
	if resp.StatusCode != status || !strings.Contains(string(data), text) {
		ts.Fatalf("%s %s, want %d %s", resp.Status, data, status, text)
	}
}

// call makes an HTTP call and wants a status; what came back is in the file
// reply: call [until TEXT] STATUS METHOD URL [BODY|@FILE [HEADER...]]. With
// until it calls until that has the text. A cookie that is set is sent with the
// calls after it.
func call(ts *testscript.TestScript, _ bool, args []string) {
	text := ""
	if args[0] == "until" {
		text, args = args[1], args[2:]
	}
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	body := ""
	if len(args) > 3 {
		body = args[3]
	}
	if file, ok := strings.CutPrefix(body, "@"); ok {
		body = ts.ReadFile(file)
	}
	for end := time.Now().Add(patience); ; time.Sleep(150 * time.Millisecond) {
		got, data := callOnce(ts, args[1], args[2], body, args[min(len(args), 4):])
		if strings.Contains(data, text) || time.Now().After(end) {
			ts.Check(os.WriteFile(ts.MkAbs("reply"), []byte(data), 0o644))
			if got != status || !strings.Contains(data, text) {
				ts.Fatalf("%d, want %d: %s", got, status, data)
			}
			return
		}
	}
}

func callOnce(ts *testscript.TestScript, method, url, body string, headers []string) (int, string) {
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	ts.Check(err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	if c := ts.Getenv("COOKIE"); c != "" {
		r.Header.Set("Cookie", c)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	ts.Check(err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if c, _, ok := strings.Cut(resp.Header.Get("Set-Cookie"), ";"); ok {
		ts.Setenv("COOKIE", c)
	}
	return resp.StatusCode, string(data)
}

// form waits until the only form in a directory holds a text; $FORM is its
// path without the ending: form DIR TEXT.
func form(ts *testscript.TestScript, _ bool, args []string) {
	var data []byte
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		found, _ := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.md"))
		if len(found) != 1 || strings.HasPrefix(filepath.Base(found[0]), ".") {
			continue
		}
		if data, _ = os.ReadFile(found[0]); strings.Contains(string(data), args[1]) {
			ts.Setenv("FORM", strings.TrimSuffix(found[0], ".md"))
			return
		}
	}
	ts.Fatalf("no form holds %q: %s", args[1], data)
}

// overhear waits until a command beside the story says something that fits a
// pattern, and sets a variable to its group: overhear VARIABLE NAME PATTERN.
func overhear(ts *testscript.TestScript, _ bool, args []string) {
	a, want := actorOf(ts, args[1]), regexp.MustCompile(args[2])
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if m := want.FindStringSubmatch(a.out.String() + a.err.String()); m != nil {
			ts.Setenv(args[0], m[1])
			return
		}
	}
	ts.Fatalf("%s never says %s: %s%s", args[1], args[2], a.out.String(), a.err.String())
}

// bot starts a server of Telegram at $BOT_URL with a bot whose token is in
// $BOT_TOKEN. The first calls find it in trouble.
func bot(ts *testscript.TestScript, _ bool, _ []string) {
	s := telegramtest.Start()
	s.FailNextCalls("sendMessage", telegramtest.TelegramServerFault{Status: 502, Body: "<html>"})
	s.FailNextCalls("getUpdates", telegramtest.TelegramServerFault{Status: 429, After: 1}, telegramtest.TelegramServerFault{Cut: true})
	ts.Defer(s.Close)
	playOf(ts).bot = s
	ts.Setenv("BOT_URL", s.URL())
	ts.Setenv("BOT_TOKEN", telegramtest.Token)
}

// chat waits until the bot has said something, and does something there:
// chat TEXT | chat TEXT press BUTTON USER | chat TEXT reply TEXT USER.
func chat(ts *testscript.TestScript, neg bool, args []string) {
	s := playOf(ts).bot
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, m := range s.Messages() {
			if !strings.Contains(m.Text, args[0]) {
				continue
			}
			if neg {
				ts.Fatalf("it says %+v", m)
			}
			if len(args) > 3 {
				user, err := strconv.ParseInt(args[3], 10, 64)
				ts.Check(err)
				if args[1] == "press" {
					s.PressButton(m, args[2], user)
				} else {
					s.SendText(m.Chat, m.ID, args[2], user)
				}
			}
			return
		}
		if neg {
			return
		}
	}
	ts.Fatalf("it never says %q: %+v", args[0], s.Messages())
}
