package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel"
	"github.com/nexus-ai-builder/nexus/internal/face/questionchannel/questionruntest"
	"github.com/nexus-ai-builder/nexus/internal/sys/sentmessages"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
)

const secret = "a secret of both sides"

// receiver is the program that questions are sent to.
type receiver struct {
	web *httptest.Server

	mu     sync.Mutex // guards what follows
	faults []int      // statuses to answer with first
	tries  []string   // deliveries, failed ones too
	got    []string   // bodies
	bad    []string   // what was wrong with a call
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		err = webhookpost.VerifySignature(secret, webhookpost.DirectionQuestion, q.Header, body, time.Now())
	}
	if err != nil {
		r.bad = append(r.bad, err.Error())
	}
	r.tries = append(r.tries, q.Header.Get(webhookpost.DeliveryHeader))
	if len(r.faults) > 0 {
		status := r.faults[0]
		r.faults = r.faults[1:]
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Location", "http://127.0.0.1:1/")
		w.WriteHeader(status)
		return
	}
	r.got = append(r.got, string(body))
}

// line is a webhook at work.
type line struct {
	t    *testing.T
	j    *questionruntest.InMemoryRunJournal
	in   *receiver
	to   string // where answers go
	book string
	said []string
	mu   sync.Mutex // guards said
	stop func()
}

func open(t *testing.T, faults ...int) *line {
	t.Helper()
	j := questionruntest.NewJournal(time.Now)
	j.AskQuestion("q1", humaninput.SecurityTrigger, "may it run this?")
	l := &line{t: t, j: j, in: &receiver{faults: faults}, book: filepath.Join(t.TempDir(), "book.json")}
	l.in.web = httptest.NewServer(l.in)
	t.Cleanup(l.in.web.Close)
	l.serve()
	return l
}

func (l *line) serve() {
	l.t.Helper()
	book, err := sentmessages.OpenSentLog(l.book)
	if err != nil {
		l.t.Fatal(err)
	}
	d, err := questionchannel.OpenInbox(l.t.Context(), l.j, l.j.IsConducted, time.Now)
	if err != nil {
		l.t.Fatal(err)
	}
	l.stop = questionruntest.RunAll(l.t, d.Follow, func(ctx context.Context) error {
		return ServeChannel(ctx, d.Subscribe(0), book, Options{
			URL: l.in.web.URL + "/in", Secret: secret, Listen: "127.0.0.1:0", Now: time.Now, Wait: time.Millisecond,
			Complain: func(err error) {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.said = append(l.said, err.Error())
			},
		})
	})
}

// until waits for as many questions, and returns the last.
func (l *line) until(n int) string {
	l.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		l.in.mu.Lock()
		got, bad := l.in.got, l.in.bad
		l.in.mu.Unlock()
		if len(bad) > 0 {
			l.t.Fatal(bad)
		}
		if len(got) >= n {
			l.to = gjson.Get(got[n-1], "answer_to").String()
			return got[n-1]
		}
	}
	l.t.Fatalf("there were never %d questions", n)
	return ""
}

// post sends an answer with whatever change to it.
func (l *line) post(a callbackAnswer, change func(h http.Header, body *[]byte)) (int, string) {
	l.t.Helper()
	body, err := json.Marshal(a)
	if err != nil {
		l.t.Fatal(err)
	}
	stamp, signature := webhookpost.SignBody(secret, webhookpost.DirectionAnswer, time.Now(), body)
	h := http.Header{"Content-Type": {"application/json"}, webhookpost.TimestampHeader: {stamp}, webhookpost.SignatureHeader: {signature}}
	if change != nil {
		change(h, &body)
	}
	r, err := http.NewRequestWithContext(l.t.Context(), http.MethodPost, l.to, bytes.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	r.Header = h
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data)
}

// TestAnswer sends a question, signed, and takes the answer of whoever signs
// it, once.
func TestAnswer(t *testing.T) {
	l := open(t)
	q := l.until(1)
	for path, want := range map[string]string{
		"version": "1", "pending.run": "r1", "pending.id": "q1", "pending.trigger": "security", "pending.severity": "red",
		"pending.text": "may it run this?", "pending.choices": `["yes","no"]`, "pending.fallback": "it waits for a person",
	} {
		if got := gjson.Get(q, path).String(); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	good := callbackAnswer{Run: "r1", ID: "q1", Answer: "yes", Token: gjson.Get(q, "token").String(), By: "ada"}
	with := func(change func(*callbackAnswer)) callbackAnswer { a := good; change(&a); return a }
	sign := func(d webhookpost.SignedDirection, key string, at time.Time) func(http.Header, *[]byte) {
		return func(h http.Header, body *[]byte) {
			stamp, signature := webhookpost.SignBody(key, d, at, *body)
			h.Set(webhookpost.TimestampHeader, stamp)
			h.Set(webhookpost.SignatureHeader, signature)
		}
	}
	for name, c := range map[string]struct {
		a      callbackAnswer
		change func(http.Header, *[]byte)
		want   int
		text   string
	}{
		"no signature":     {good, func(h http.Header, _ *[]byte) { h.Del(webhookpost.SignatureHeader) }, 401, "the signature is missing or wrong"},
		"empty signature":  {good, func(h http.Header, _ *[]byte) { h.Set(webhookpost.SignatureHeader, "v1=") }, 401, "the signature is missing or wrong"},
		"another secret":   {good, sign(webhookpost.DirectionAnswer, secret+".", time.Now()), 401, "the signature is missing or wrong"},
		"no secret":        {good, sign(webhookpost.DirectionAnswer, "", time.Now()), 401, "the signature is missing or wrong"},
		"another body":     {good, func(_ http.Header, body *[]byte) { *body = bytes.Replace(*body, []byte("yes"), []byte("no "), 1) }, 401, "the signature is missing or wrong"},
		"another time":     {good, func(h http.Header, _ *[]byte) { h.Set(webhookpost.TimestampHeader, fmt.Sprint(time.Now().Unix()+1)) }, 401, "the signature is missing or wrong"},
		"a question's":     {good, sign(webhookpost.DirectionQuestion, secret, time.Now()), 401, "the signature is missing or wrong"},
		"long ago":         {good, sign(webhookpost.DirectionAnswer, secret, time.Now().Add(-6*time.Minute)), 401, "more than five minutes off"},
		"in the future":    {good, sign(webhookpost.DirectionAnswer, secret, time.Now().Add(6*time.Minute)), 401, "more than five minutes off"},
		"not JSON":         {good, func(h http.Header, _ *[]byte) { h.Set("Content-Type", "text/plain") }, 415, "application/json"},
		"too large":        {with(func(a *callbackAnswer) { a.Answer = strings.Repeat("y", maxBody) }), nil, 413, "larger than 1 MiB"},
		"no choice":        {with(func(a *callbackAnswer) { a.Answer = "whatever" }), nil, 422, "is not one of the choices"},
		"another question": {with(func(a *callbackAnswer) { a.ID = "q2" }), nil, 404, "no open question has that name"},
		"another token":    {with(func(a *callbackAnswer) { a.Token = "x" }), nil, 403, "the token is not the one"},
		"no token":         {with(func(a *callbackAnswer) { a.Token = "" }), nil, 403, "the token is not the one"},
		"a long name":      {with(func(a *callbackAnswer) { a.By = strings.Repeat("a", 65) }), nil, 400, "longer than 64 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			status, text := l.post(c.a, c.change)
			if status != c.want || !strings.Contains(text, c.text) {
				t.Errorf("%d %s, want %d %s", status, text, c.want, c.text)
			}
		})
	}
	if got := l.j.Answers(); got != nil {
		t.Fatalf("taken: %q", got)
	}
	at := time.Now()
	if status, text := l.post(good, sign(webhookpost.DirectionAnswer, secret, at)); status != 200 || !strings.Contains(text, "taken") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := l.post(good, sign(webhookpost.DirectionAnswer, secret, at)); status != 409 || !strings.Contains(text, "made before") {
		t.Errorf("a replay: %d %s", status, text)
	}
	if status, text := l.post(with(func(a *callbackAnswer) { a.Answer = "no" }), nil); status != 409 || !strings.Contains(text, "already answered by webhook:ada: yes") {
		t.Errorf("late: %d %s", status, text)
	}
	if d := cmp.Diff([]string{"q1 by webhook:ada: yes"}, l.j.Answers()); d != "" {
		t.Error(d)
	}
}

// TestTakesOver does not send again what the process before it has sent, and
// takes the answer to it; what it could not send, it sends.
func TestTakesOver(t *testing.T) {
	l := open(t)
	token := gjson.Get(l.until(1), "token").String()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) { // until that is remembered
		if book, err := sentmessages.OpenSentLog(l.book); err == nil {
			if names := book.Names(); len(names) == 1 {
				if what, _ := book.Lookup(names[0]); strings.HasSuffix(what, sentSuffix) {
					break
				}
			}
		}
	}
	l.stop()
	l.j.AskQuestion("q2", humaninput.AmbiguityTrigger, "which?")
	l.serve()
	if id := gjson.Get(l.until(2), "pending.id").String(); id != "q2" {
		t.Errorf("%s came again", id)
	}
	if status, text := l.post(callbackAnswer{Run: "r1", ID: "q1", Answer: "no", Token: token}, nil); status != 200 {
		t.Errorf("%d %s", status, text)
	}
}

// TestFaults tries again while the receiver is in trouble, each time the same
// delivery, and not where it says no. It follows nobody elsewhere.
func TestFaults(t *testing.T) {
	l := open(t, 500, 0, 429, 503)
	l.until(1)
	l.in.mu.Lock()
	tries := l.in.tries
	l.in.mu.Unlock()
	if len(tries) != 5 {
		t.Errorf("%d tries", len(tries))
	}
	for _, d := range tries {
		if d == "" || d != tries[0] {
			t.Errorf("another delivery: %q, %q", d, tries[0])
		}
	}
	l.in.mu.Lock()
	l.in.faults = []int{http.StatusFound}
	l.in.mu.Unlock()
	l.j.AskQuestion("q2", humaninput.AmbiguityTrigger, "which?")
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		l.mu.Lock()
		said := strings.Join(l.said, "\n")
		l.mu.Unlock()
		if strings.Contains(said, "302 Found; not trying again") {
			break
		}
	}
	l.j.AskQuestion("q3", humaninput.AmbiguityTrigger, "which else?")
	if id := gjson.Get(l.until(2), "pending.id").String(); id != "q3" {
		t.Errorf("%s was sent", id)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.said) != 2 {
		t.Errorf("said: %q", l.said)
	}
}

// TestRate bounds calls of whoever has no secret.
func TestRate(t *testing.T) {
	l := open(t)
	token := gjson.Get(l.until(1), "token").String()
	codes := map[int]int{}
	for range 25 {
		status, _ := l.post(callbackAnswer{Run: "r1", ID: "q1", Answer: "yes", Token: token}, func(h http.Header, _ *[]byte) { h.Del(webhookpost.SignatureHeader) })
		codes[status]++
	}
	if codes[401] < 10 || codes[429] == 0 {
		t.Errorf("%v", codes)
	}
	if status, text := l.post(callbackAnswer{Run: "r1", ID: "q1", Answer: "yes", Token: token}, nil); status != 200 {
		t.Errorf("who has it: %d %s", status, text)
	}
}

// TestCheck refuses to be without a secret, and what would be read by others.
func TestCheck(t *testing.T) {
	good := Options{URL: "https://example.com/in", Secret: secret, Listen: "127.0.0.1:1"}
	for want, change := range map[string]func(*Options){
		"":                                     func(*Options) {},
		"there is no secret to sign with":      func(o *Options) { o.Secret = "" },
		"shorter than 16 bytes":                func(o *Options) { o.Secret = "short" },
		"there is no address":                  func(o *Options) { o.URL = "" },
		"without encryption, so others":        func(o *Options) { o.URL = "http://example.com/in" },
		"can be reached from other":            func(o *Options) { o.Listen = "0.0.0.0:1" },
		"is not address:port":                  func(o *Options) { o.Listen = "x" },
		"channels.webhook.url is not an addre": func(o *Options) { o.URL = "https://" },
	} {
		o := good
		change(&o)
		err := CheckChannel(o)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
		if want != "" && ServeChannel(t.Context(), nil, nil, o) == nil {
			t.Errorf("%s: it starts", want)
		}
	}
	good.Listen, good.Answers = "0.0.0.0:1", "https://answers.example.org/answer"
	if err := CheckChannel(good); err != nil {
		t.Error(err)
	}
}

// FuzzAnswer takes whatever is sent, and nothing of it for an answer: nobody
// who cannot sign answers anything.
func FuzzAnswer(f *testing.F) {
	f.Add("1764000000", "v1=00", `{"run":"r1","id":"q1","answer":"yes","token":"x"}`)
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, stamp, signature, body string) {
		h := http.Header{webhookpost.TimestampHeader: {stamp}, webhookpost.SignatureHeader: {signature}}
		if err := webhookpost.VerifySignature(secret, webhookpost.DirectionAnswer, h, []byte(body), time.Unix(1764000000, 0)); err == nil {
			t.Errorf("%q %q %q is taken", stamp, signature, body)
		}
		a, err := parseAnswer([]byte(body))
		if err != nil && a != (callbackAnswer{}) || err == nil && (a.Run == "" || a.ID == "" || a.Answer == "" || len(a.By) > 64) {
			t.Errorf("%q: %+v, %v", body, a, err)
		}
	})
}
