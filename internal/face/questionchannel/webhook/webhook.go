// Package webhook sends open items to a program of the user, and accepts the answers that it
// sends back. Both sides sign with a shared secret; without one, nothing is sent and no port is
// opened.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
)

// OpenQuestionInbox is the source of the open items and accepts their answers.
type OpenQuestionInbox interface {
	Next(ctx context.Context) ([]humaninput.WaitingItem, error)
	Find(run nexus.RunID, id string) (humaninput.WaitingItem, error)
	Answer(ctx context.Context, run nexus.RunID, id, answer, by string) (string, error)
}

// SentQuestionStore remembers the questions that were sent, across restarts of the process.
type SentQuestionStore interface {
	Lookup(name string) (string, bool)
	Names() []string
	Record(name, what string) error
	Forget(name string) error
}

// Options configure where questions are sent and answers are received.
type Options struct {
	URL      string
	Secret   string
	Listen   string // address:port for the answers
	Answers  string // address for answers as sent to the receiver; empty: Listen
	Now      func() time.Time
	Complain func(error)
	Say      func(format string, args ...any)
	Wait     time.Duration // before a second try; 0: a second. It doubles up to 30 times the value
}

// maxBody limits an answer, in bytes.
const maxBody = 1 << 20

// questionDeliveryState is the delivery state of one question.
type questionDeliveryState struct {
	webhookpost.Backoff

	at   time.Time // time of the next try
	over bool      // the receiver refused it
}

// webhookChannel is the running channel.
type webhookChannel struct {
	Options
	inbox  OpenQuestionInbox
	client *http.Client

	mu   sync.Mutex // guards the fields below
	book SentQuestionStore
	seen map[string]time.Time // signatures received within the time window

	calls, wrong *rate.Limiter
	items        []humaninput.WaitingItem         // the open items; owned by deliver
	tries        map[string]questionDeliveryState // by mark; owned by deliver
}

// CheckChannel returns an error if the channel cannot be used.
func CheckChannel(o Options) error {
	bad := func(what, hint string) error {
		return &nexus.Error{Code: nexus.CodeInvalidConfig, Message: "channel webhook: " + what, Hint: hint}
	}
	u, err := url.Parse(o.URL)
	host, _, split := net.SplitHostPort(o.Listen)
	switch {
	case o.URL == "":
		return bad("there is no address to send questions to", "Set channels.webhook.url in your own configuration.")
	case err != nil || u.Host == "":
		return bad("channels.webhook.url is not an address", "Write it as https://host/path.")
	case u.Scheme != "https" && !webhookpost.IsLoopback(u.Hostname()):
		return bad("questions would go to "+u.Host+" without encryption, so others could read them", "Use an https address.")
	case o.Secret == "":
		return bad("there is no secret to sign with",
			"Set channels.webhook.secret_env to the name of a variable with a secret, for example from openssl rand -hex 32.")
	case len(o.Secret) < webhookpost.MinSecret:
		return bad(fmt.Sprintf("the secret is shorter than %d bytes", webhookpost.MinSecret),
			"Use a long random one, such as openssl rand -hex 32 prints.")
	case split != nil:
		return bad("channels.webhook.listen is not address:port", "Such as 127.0.0.1:8765.")
	case !webhookpost.IsLoopback(host) && o.Answers == "":
		return bad(o.Listen+" can be reached from other machines",
			"Listen at 127.0.0.1 behind a proxy that does TLS, or set channels.webhook.answers to the address at which the receiver reaches it.")
	}
	return nil
}

// ServeChannel sends questions and receives answers until the context ends.
func ServeChannel(ctx context.Context, inbox OpenQuestionInbox, book SentQuestionStore, o Options) error {
	if err := CheckChannel(o); err != nil {
		return err
	}
	h := newHook(inbox, book, o)
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: "channel webhook: listen at " + o.Listen, Cause: err,
			Hint: "Set channels.webhook.listen to another port.",
		}
	}
	h.Answers = cmp.Or(o.Answers, "http://"+l.Addr().String()+"/answer")
	server := &http.Server{
		Handler: h.newHandler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	var all sync.WaitGroup
	all.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			h.Complain(fmt.Errorf("channel webhook: %w", err))
		}
	})
	if o.Say != nil {
		o.Say("questions go to %s, answers come in at %s", o.URL, h.Answers)
	}
	h.deliverQuestions(ctx)
	grace, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), 2*time.Second, errors.New("time to close is over"))
	defer cancel()
	if server.Shutdown(grace) != nil {
		_ = server.Close() // cuts off connections that are still open
	}
	all.Wait()
	return nil
}

func newHook(inbox OpenQuestionInbox, book SentQuestionStore, o Options) *webhookChannel {
	o.Wait = cmp.Or(o.Wait, time.Second)
	return &webhookChannel{
		Options: o, inbox: inbox, book: book, seen: map[string]time.Time{}, tries: map[string]questionDeliveryState{},
		calls: rate.NewLimiter(10, 40), wrong: rate.NewLimiter(1, 10),
		client: webhookpost.NewClient(10 * time.Second),
	}
}

// deliverQuestions sends open items until the context ends.
func (h *webhookChannel) deliverQuestions(ctx context.Context) {
	feed := make(chan []humaninput.WaitingItem)
	var hears sync.WaitGroup
	defer hears.Wait()
	hears.Go(func() {
		for {
			items, err := h.inbox.Next(ctx)
			if err != nil {
				return
			}
			select {
			case feed <- items:
			case <-ctx.Done():
				return
			}
		}
	})
	for h.waitForNews(ctx, feed, h.deliverDueQuestions(ctx)) {
	}
}

// waitForNews waits for new items or until the due time, and reports whether to continue.
func (h *webhookChannel) waitForNews(ctx context.Context, feed <-chan []humaninput.WaitingItem, due time.Time) bool {
	var again <-chan time.Time
	if !due.IsZero() {
		t := time.NewTimer(max(due.Sub(h.Now()), time.Millisecond))
		defer t.Stop()
		again = t.C
	}
	select {
	case h.items = <-feed:
		h.forgetClosedItems()
	case <-again:
	case <-ctx.Done():
		return false
	}
	return true
}

// forgetClosedItems forgets items that are no longer open.
func (h *webhookChannel) forgetClosedItems() {
	waits := map[string]bool{}
	for _, i := range h.items {
		waits[i.UniqueKey()] = true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range h.book.Names() {
		if !waits[name] {
			h.reportError(h.book.Forget(name))
			delete(h.tries, name)
		}
	}
}

// sentSuffix follows the token of a question that was delivered.
const sentSuffix = " sent"

// questionToken returns the token of a question, and whether it was delivered. A question without
// a token gets one before anything is sent.
func (h *webhookChannel) questionToken(i humaninput.WaitingItem) (token string, done bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if was, ok := h.book.Lookup(i.UniqueKey()); ok {
		token, done = strings.CutSuffix(was, sentSuffix)
		return token, done, nil
	}
	token = rand.Text()
	return token, false, h.book.Record(i.UniqueKey(), token)
}

// deliverDueQuestions delivers the due questions, and returns the time of the next try.
func (h *webhookChannel) deliverDueQuestions(ctx context.Context) time.Time {
	var next time.Time
	for _, i := range h.items {
		token, done, err := h.questionToken(i)
		t := h.tries[i.UniqueKey()]
		if h.reportError(err); err != nil || done || t.over {
			continue
		}
		if !t.at.After(h.Now()) {
			t = h.deliverQuestion(ctx, i, token, t)
		}
		if !t.over && (next.IsZero() || t.at.Before(next)) {
			next = t.at
		}
	}
	return next
}

// deliverQuestion delivers one question, and returns its new delivery state.
func (h *webhookChannel) deliverQuestion(ctx context.Context, i humaninput.WaitingItem, token string, t questionDeliveryState) questionDeliveryState {
	err := h.postQuestion(ctx, i, token)
	if err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.reportError(h.book.Record(i.UniqueKey(), token+sentSuffix))
		return questionDeliveryState{over: true}
	}
	failed, _ := errors.AsType[*webhookpost.PostError](err)
	switch {
	case ctx.Err() != nil:
	case failed.Final:
		h.reportError(fmt.Errorf("channel webhook: question %s: %w; not trying again", i.ID, err))
	case t.N == 0:
		h.reportError(fmt.Errorf("channel webhook: question %s: %w; trying again", i.ID, err))
	}
	t.Unit = h.Wait
	t.over, t.at = failed.Final, h.Now().Add(t.NextWait(failed.Wait))
	h.tries[i.UniqueKey()] = t
	return t
}

// postQuestion sends one question.
func (h *webhookChannel) postQuestion(ctx context.Context, i humaninput.WaitingItem, token string) error {
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(questionMessage{Version: 1, Pending: i, Token: token, AnswerTo: h.Answers}); err != nil {
		return &webhookpost.PostError{Text: err.Error(), Final: true}
	}
	id := sha256.Sum256([]byte(i.UniqueKey()))
	header := webhookpost.SignedHeaders(h.Secret, webhookpost.DirectionQuestion, h.Now(), body.Bytes(), hex.EncodeToString(id[:12]))
	return webhookpost.PostJSON(ctx, h.client, h.URL, body.Bytes(), header)
}

func (h *webhookChannel) reportError(err error) {
	if err != nil && h.Complain != nil {
		h.Complain(err)
	}
}
