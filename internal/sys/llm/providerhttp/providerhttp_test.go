package providerhttp_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// slow gives a byte after each pause, until its call ends.
type slow struct {
	done  <-chan struct{}
	pause time.Duration
}

func (s slow) Read(p []byte) (int, error) {
	select {
	case <-time.After(s.pause):
		return copy(p, "x"), nil
	case <-s.done:
		return 0, context.Canceled
	}
}

func TestWatch(t *testing.T) {
	for name, c := range map[string]struct {
		limits llm.CallLimits
		pause  time.Duration
		piece  llm.AnswerDelta // what each byte is taken for
		bytes  int
		says   string
		after  time.Duration
	}{
		"signs of life": {llm.CallLimits{Idle: time.Second}, 900 * time.Millisecond, llm.AnswerDelta{Input: 1}, 100, "", 90 * time.Second},
		"silence":       {llm.CallLimits{Idle: time.Second}, 1100 * time.Millisecond, llm.AnswerDelta{Input: 1}, 100, "stopped answering", time.Second},
		"too long":      {llm.CallLimits{Idle: time.Second, Answer: 5500 * time.Millisecond}, 900 * time.Millisecond, llm.AnswerDelta{Input: 1}, 100, "too long", 5500 * time.Millisecond},
		"too large":     {llm.CallLimits{Bytes: 10}, time.Second, llm.AnswerDelta{Input: 1}, 100, "too large", 11 * time.Second},
		"no content":    {llm.CallLimits{Idle: time.Second}, 400 * time.Millisecond, llm.AnswerDelta{}, 100, "stopped answering", time.Second},
		"no limits":     {llm.CallLimits{}, time.Hour, llm.AnswerDelta{Input: 1}, 100, "", 100 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				ctx, w := providerhttp.StartCallLimitWatch(t.Context(), c.limits)
				heard := w.WatchDeltas(nil)
				body := w.WatchBody(io.NopCloser(slow{ctx.Done(), c.pause}))
				var err error
				for n := 0; n < c.bytes && err == nil; n++ {
					if _, err = io.ReadFull(body, make([]byte, 1)); err == nil {
						heard(c.piece)
					}
				}
				if took := time.Since(start); (err != nil) != (c.says != "") || took != c.after {
					t.Errorf("%v after %s", err, took)
				}
				if err != nil {
					e := providerhttp.NewCallError(ctx, err, nil, "")
					if e.Class != llm.Transient || !strings.Contains(e.Error(), c.says) {
						t.Errorf("%v", e)
					}
				}
				w.Stop()
			})
		})
	}
}

// TestDrain holds that what comes after a damaged answer does not change what is
// wrong with it, and that nobody waits for a server that says no end.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, w := providerhttp.StartCallLimitWatch(t.Context(), llm.CallLimits{Idle: time.Minute})
		w.DrainBody(w.WatchBody(io.NopCloser(slow{ctx.Done(), time.Hour})))
		if took := time.Since(start); took != 50*time.Millisecond || ctx.Err() == nil {
			t.Errorf("%s, %v", took, ctx.Err())
		}
		if e := providerhttp.NewCallError(ctx, providerhttp.NewMalformedError(errors.New("no object")), nil, ""); e.Class != llm.Transient || e.Code != "malformed" {
			t.Errorf("%+v", e)
		}
		w.Stop()
	})
	ctx, w := providerhttp.StartCallLimitWatch(t.Context(), llm.CallLimits{})
	w.DrainBody(strings.NewReader("data: [DONE]\n\n"))
	if ctx.Err() != nil {
		t.Error("a body that ends at once was broken off")
	}
	w.Stop()
}

func TestFailure(t *testing.T) {
	const key = "sk-secret" // and nothing else that is called one
	for name, c := range map[string]struct {
		err  error
		want llm.CallFailureClass
	}{
		"address":     {&url.Error{Op: "Post", URL: "http://h/?token=another-secret", Err: io.ErrUnexpectedEOF}, llm.Transient},
		"echo":        {errors.New("header " + key), llm.Transient},
		"certificate": {&url.Error{Op: "Post", URL: "x", Err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}, llm.Fatal},
		"ours":        {fmt.Errorf("x: %w", providerhttp.NewCutError()), llm.Transient},
	} {
		e := providerhttp.NewCallError(t.Context(), c.err, nil, key)
		if e.Class != c.want || strings.Contains(fmt.Sprintf("%v %+v %+v", e, *e, e.Cause), "secret") {
			t.Errorf("%s: %v", name, e)
		}
	}
	e := providerhttp.NewResponseError(401, http.Header{}, []byte(`{"error":{"code":"`+key+`","message":"bad `+key+`"}}`), key)
	if e.Class != llm.Auth || strings.Contains(fmt.Sprintf("%+v", *e), key) {
		t.Errorf("%+v", e)
	}
}
