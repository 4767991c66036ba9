package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel/questionruntest"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel/telegram/telegramtest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sentmessages"
	"github.com/nexus-ai-builder/nexus/internal/sys/telegramapi"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
)

const ada, eve = 7, 666

// room is a chat with a bot at work.
type room struct {
	t    *testing.T
	j    *questionruntest.InMemoryRunJournal
	s    *telegramtest.Server
	book string
	stop func()

	mu   sync.Mutex // guards said
	said []string
}

func enter(t *testing.T) *room {
	t.Helper()
	r := &room{t: t, j: questionruntest.NewJournal(time.Now), s: telegramtest.Start(), book: filepath.Join(t.TempDir(), "book.json")}
	t.Cleanup(r.s.Close)
	r.j.AskQuestion("q1", humaninput.SecurityTrigger, "may it run *this*?")
	return r
}

func (r *room) serve() {
	r.t.Helper()
	book, err := sentmessages.OpenSentLog(r.book)
	if err != nil {
		r.t.Fatal(err)
	}
	d, err := questionchannel.OpenInbox(r.t.Context(), r.j, r.j.IsConducted, time.Now)
	if err != nil {
		r.t.Fatal(err)
	}
	r.stop = questionruntest.RunAll(r.t, d.Follow, func(ctx context.Context) error {
		return ServeChannel(ctx, d.Subscribe(0), book, Options{
			Base: r.s.URL(), Token: telegramtest.Token, Chat: -100, Users: []int64{ada}, Wait: time.Millisecond, Poll: time.Second,
			Complain: func(err error) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.said = append(r.said, err.Error())
			},
		})
	})
}

// until waits for a message that holds a text.
func (r *room) until(text string) telegramtest.RecordedMessage {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		for _, m := range r.s.Messages() {
			if strings.Contains(m.Text, text) {
				return m
			}
		}
	}
	r.t.Fatalf("nobody says %q: %+v", text, r.s.Messages())
	return telegramtest.RecordedMessage{}
}

// told waits for what whoever pressed a button was told.
func (r *room) told(n int, text string) {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if all := r.s.CallbackTexts(); len(all) >= n {
			if !strings.Contains(all[n-1], text) {
				r.t.Errorf("told %q, want %q", all[n-1], text)
			}
			return
		}
	}
	r.t.Fatalf("nobody is told %q: %q", text, r.s.CallbackTexts())
}

// TestAnswer takes a button and a reply of whom may answer, and of nobody
// else, and takes the buttons away when somebody has answered.
func TestAnswer(t *testing.T) {
	r := enter(t)
	r.j.AskQuestion("q2", humaninput.AmbiguityTrigger, "which?")
	r.serve()
	m := r.until("may it run *this*?")
	if d := cmp.Diff([]string{"yes", "no"}, m.Buttons); d != "" || m.Chat != -100 || !strings.HasPrefix(m.Text, "security (red), run r1, q1:") {
		t.Errorf("%s %+v", d, m)
	}
	q2 := r.until("Reply to this message")
	r.s.PressButton(m, "yes", eve)             // in the chat, and not one of those
	r.s.SendText(-100, q2.ID, "rm -rf", eve)   // also by words
	r.s.SendText(eve, q2.ID, "rm -rf", ada)    // from another chat
	r.s.SendText(-100, 0, "hello, nexus", ada) // to nobody
	r.s.PressButton(m, "made up:0", ada)       // not a button of it
	r.told(1, "no longer waits for an answer")
	r.s.SendText(-100, m.ID, "sure", ada) // a reply that is no choice
	if no := r.until("not one of the choices"); no.ReplyTo != 5000 || no.Chat != -100 {
		t.Errorf("%+v", no)
	}
	if got := r.j.Answers(); got != nil {
		t.Fatalf("taken: %q", got)
	}
	r.s.PressButton(m, "no", ada)
	r.told(2, "taken")
	r.s.SendText(-100, q2.ID, "the second\nof them", ada)
	r.until("q1 of run r1: already answered by telegram:7/ada7: no")
	r.until("q2 of run r1: already answered by telegram:7/ada7: the second of them")
	r.s.PressButton(m, "yes", ada)
	r.told(3, "no longer waits")
	if d := cmp.Diff([]string{"q1 by telegram:7/ada7: no", "q2 by telegram:7/ada7: the second\nof them"}, r.j.Answers()); d != "" {
		t.Error(d)
	}
	for _, m := range r.s.Messages() {
		if len(m.Buttons) > 0 {
			t.Errorf("it still has buttons: %+v", m)
		}
	}
}

// TestTakesOver does not ask again after its process died; a button that was
// there before counts, and what was answered elsewhere is said.
func TestTakesOver(t *testing.T) {
	r := enter(t)
	r.j.AskQuestion("q2", humaninput.SecurityTrigger, "and that?")
	r.serve()
	one, _ := r.until("may it run"), r.until("and that?")
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) { // until that is remembered
		book, err := sentmessages.OpenSentLog(r.book)
		if err != nil {
			t.Fatal(err)
		}
		sent := 0
		for _, name := range book.Names() {
			if was, _ := book.Lookup(name); parseSentQuestion(was).message != 0 {
				sent++
			}
		}
		if sent == 2 {
			break
		}
	}
	r.stop()
	r.j.Answer("q2", "yes", "web")
	r.s.PressButton(one, "yes", ada)
	r.serve()
	r.told(1, "taken")
	r.until("q2 of run r1: already answered by web: yes")
	r.until("q1 of run r1: already answered by telegram:7/ada7: yes")
	if n := len(r.s.Messages()); n != 2 {
		t.Errorf("%d messages", n)
	}
}

// TestFaults continues when the server is in trouble, each time it is told once,
// and never says the token.
func TestFaults(t *testing.T) {
	r := enter(t)
	garbage := []telegramtest.TelegramServerFault{
		{Status: 500},
		{Status: 502, Body: "<html>bad gateway"},
		{Status: 200, Body: "{\"ok\":true,\"result\":7"},
		{Status: 200, Body: "[]"},
		{Status: 429},
		{Cut: true},
		{Status: 200, Body: `{"ok":true,"result":"x"}`},
		{Status: 409},
		{Status: 200, Body: strings.Repeat(" ", telegramapi.MaxBody+2)},
	}
	r.s.FailNextCalls("getUpdates", garbage...)
	r.s.FailNextCalls("sendMessage", garbage...)
	r.serve()
	m := r.until("may it run")
	r.s.FailNextCalls("answerCallbackQuery", telegramtest.TelegramServerFault{Status: 500})
	r.s.FailNextCalls("editMessageText", telegramtest.TelegramServerFault{Cut: true}, telegramtest.TelegramServerFault{Status: 500})
	r.s.PressButton(m, "no", ada)
	r.until("already answered by telegram:7/ada7: no")
	if n := len(r.s.Messages()); n != 1 {
		t.Errorf("%d messages", n)
	}
	r.j.AskQuestion("q2", humaninput.SecurityTrigger, "which the server does not want")
	r.s.FailNextCalls("sendMessage", telegramtest.TelegramServerFault{Status: 400})
	r.j.AskQuestion("q3", humaninput.SecurityTrigger, "that it wants")
	r.until("that it wants")
	r.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range r.said {
		if strings.Contains(text, "TEST-token") {
			t.Errorf("the token is said: %s", text)
		}
	}
	if all := strings.Join(r.said, "\n"); !strings.Contains(all, "is not sent: sendMessage: 400 Bad Request") {
		t.Errorf("said:\n%s", all)
	}
}

// TestBackoff waits from one to thirty of its unit, and as long as the server
// wants.
func TestBackoff(t *testing.T) {
	b := webhookpost.Backoff{Unit: time.Second}
	var got []string
	for range 8 {
		got = append(got, b.NextWait(telegramapi.RetryDelay(errors.New("x"))).String())
	}
	got = append(got, b.NextWait(telegramapi.RetryDelay(&telegramapi.Error{Code: 429, After: 47 * time.Second})).String())
	b.N = 0
	got = append(got, b.NextWait(telegramapi.RetryDelay(&telegramapi.Error{Code: 429, After: 3 * time.Second})).String(), b.NextWait(0).String())
	if d := cmp.Diff("1s 2s 4s 8s 16s 30s 30s 30s 47s 3s 2s", strings.Join(got, " ")); d != "" {
		t.Error(d)
	}
	_, err := telegramapi.ParseResult(429, []byte(`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 5","parameters":{"retry_after":5}}`))
	if e, ok := errors.AsType[*telegramapi.Error](err); !ok || e.After != 5*time.Second || telegramapi.IsFinal(err) {
		t.Errorf("%v", err)
	}
	if _, err := telegramapi.ParseResult(http.StatusUnauthorized, []byte(`{"ok":false,"error_code":401,"description":"Unauthorized"}`)); !telegramapi.IsFinal(err) {
		t.Errorf("%v", err)
	}
}

// TestWrongToken ends, and says why without the token.
func TestWrongToken(t *testing.T) {
	r := enter(t)
	d, err := questionchannel.OpenInbox(t.Context(), r.j, r.j.IsConducted, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	book, err := sentmessages.OpenSentLog(r.book)
	if err != nil {
		t.Fatal(err)
	}
	err = ServeChannel(t.Context(), d.Subscribe(0), book, Options{Base: r.s.URL(), Token: "1:wrong", Chat: 7, Complain: func(error) {}})
	if err == nil || !strings.Contains(err.Error(), "401 Unauthorized") || strings.Contains(err.Error(), "wrong") {
		t.Error(err)
	}
}

// TestLong shows no part of a question with buttons that agree to all of it.
func TestLong(t *testing.T) {
	r := enter(t)
	r.j.AskQuestion("q2", humaninput.SecurityTrigger, "may it run "+strings.Repeat("x", maxText)+"; rm -rf /?")
	r.serve()
	m := r.until("too long for a message")
	if len(m.Buttons) > 0 {
		t.Errorf("%+v", m)
	}
	r.s.SendText(-100, m.ID, "yes", ada)
	r.until("answer it with nexus answer")
	if got := r.j.Answers(); got != nil {
		t.Errorf("taken: %q", got)
	}
}

// slow is a server that keeps to itself for a second which number a message has
// that everybody reads already, and all that was said to it.
type slow []string

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	*s = append(*s, string(body))
	time.Sleep(time.Second)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"ok":true,"result":{"message_id":9}}`))}, nil
}

// TestRepliesAtOnce takes a reply to a question whose sending has not come back.
func TestRepliesAtOnce(t *testing.T) {
	c := httpless(t)
	if err := c.book.Forget(asked.UniqueKey()); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var said slow
		c.api.HTTP.Transport, c.asking = &said, make(chan struct{}, 1)
		sent := make(chan error)
		go func() { sent <- c.sendQuestion(t.Context(), asked) }()
		synctest.Wait()
		reply := &telegramapi.BotMessage{ID: 10, From: &telegramapi.BotUser{ID: ada}, Text: "yes", ReplyTo: &telegramapi.BotMessage{ID: 9}}
		reply.Chat.ID = c.Chat
		go c.handleUpdate(t.Context(), telegramapi.BotUpdate{Message: reply})
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(said) != 2 || !strings.Contains(said[1], "taken") {
			t.Errorf("said: %q", said)
		}
	})
}

// TestCheck refuses what would let strangers read or answer.
func TestCheck(t *testing.T) {
	good := Options{Token: telegramtest.Token, Chat: 7}
	for want, change := range map[string]func(*Options){
		"":                                 func(*Options) {},
		"there is no bot token":            func(o *Options) { o.Token = "" },
		"does not hold the token of a bot": func(o *Options) { o.Token = "a/../b" },
		"there is no chat":                 func(o *Options) { o.Chat = 0 },
		"everybody in it could answer":     func(o *Options) { o.Chat = -7 },
		"without encryption, so others":    func(o *Options) { o.Base = "http://example.com" },
	} {
		o := good
		change(&o)
		err := CheckChannel(o)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// FuzzUpdate takes whatever the server or a stranger sends, and answers
// nothing for anybody else than those who may.
func FuzzUpdate(f *testing.F) {
	f.Add([]byte(`{"ok":true,"result":[{"update_id":1,"callback_query":{"id":"a","from":{"id":7},"message":{"message_id":1,"chat":{"id":-100}},"data":"x:0"}}]}`))
	f.Add([]byte(`{"ok":true,"result":[{"update_id":1,"message":{"message_id":2,"chat":{"id":-100},"from":{"id":666},"text":"yes","reply_to_message":{"message_id":1}}}]}`))
	f.Add([]byte(`{"ok":false,"error_code":429,"parameters":{"retry_after":-5}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		result, err := telegramapi.ParseResult(200, data)
		if err != nil {
			if wait := (&webhookpost.Backoff{Unit: time.Second}).NextWait(telegramapi.RetryDelay(err)); wait < time.Second || wait > 5*time.Minute {
				t.Errorf("it waits %s", wait)
			}
			return
		}
		s := httpless(t)
		var all []telegramapi.BotUpdate
		if decode(result, &all) != nil {
			return
		}
		for _, u := range all {
			s.handleUpdate(t.Context(), u)
		}
	})
}

func decode(data []byte, into any) error { return json.Unmarshal(data, into) }

// nobody is a inbox where no answer may come in.
type nobody struct{ t *testing.T }

func (nobody) Next(context.Context) ([]humaninput.WaitingItem, error) { return nil, nil }

func (nobody) Find(nexus.RunID, string) (humaninput.WaitingItem, error) {
	return humaninput.WaitingItem{}, nil
}

func (n nobody) Answer(_ context.Context, _ nexus.RunID, id, answer, by string) (string, error) {
	if !strings.HasPrefix(by, "telegram:7") {
		n.t.Errorf("%s: %q by %s", id, answer, by)
	}
	return "taken", nil
}

// asked is what waits in a chat without a server.
var asked = humaninput.WaitingItem{Run: "r1", ID: "q1", Choices: []string{"yes", "no"}, Text: "?"}

// httpless is a chat whose server is not there.
func httpless(t *testing.T) *telegramChannel {
	t.Helper()
	book, err := sentmessages.OpenSentLog(filepath.Join(t.TempDir(), "book"))
	if err != nil {
		t.Fatal(err)
	}
	if err := book.Record(asked.UniqueKey(), sentQuestion{"x", 1}.String()); err != nil {
		t.Fatal(err)
	}
	return &telegramChannel{
		Options: Options{Chat: -100, Users: []int64{ada}, Complain: func(error) {}}, inbox: nobody{t}, book: book, items: []humaninput.WaitingItem{asked}, asking: make(chan struct{}, 1),
		api: &telegramapi.Client{Base: "http://127.0.0.1:0", Token: "1:x", HTTP: &http.Client{}},
	}
}
