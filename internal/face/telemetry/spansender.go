package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/webhookpost"
)

const (
	// batch limits the spans of one request.
	batch = 256
	// pause is how long spans wait for others.
	pause = 2 * time.Second
	// patience limits how long a collector may take to answer.
	patience = 10 * time.Second
	// first and last are the shortest and longest waits before another try.
	first, last = time.Second, time.Minute
	// Grace limits the time for sending the last spans after a run has ended.
	Grace = 5 * time.Second
)

// Exporter sends the spans of runs to a collector.
type Exporter struct {
	Endpoint string            // address of the collector; without a path, the path for traces is added
	Headers  map[string]string // sent with each request
	Contents bool              // texts of people and agents are also sent
	Version  string            // of Nexus
	Cursor   string            // file that records how far a run was sent
	Mask     func(string) string
	Say      func(error)   // receives, once, why the collector refused the spans
	Client   *http.Client  // nil: its own client
	Wait     time.Duration // before another try; it doubles each time; 0: a second
}

type spanEvents = iter.Seq2[nexus.Event, error]

// Follow sends the spans of a run while it is in progress, until the returned function is called.
// That function reads the remaining events and sends them within [Grace]. The process that
// continues the run sends what could not be sent. Nothing waits for the collector: unsent spans
// can be rebuilt from the journal.
func (x Exporter) Follow(ctx context.Context, run nexus.RunID, live, left func(ctx context.Context, after int64) spanEvents) (end func()) {
	if x.Client == nil {
		x.Client = &http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	ctx, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	reading, stop := context.WithCancelCause(ctx)
	s := &spanSender{Exporter: x, tracer: New(run, x.Contents), sent: x.readCursor()}
	read := make(chan nexus.Event)
	var all sync.WaitGroup
	all.Go(func() {
		defer close(read)
		for e, err := range live(reading, 0) {
			if err != nil {
				return // the conductor reports it
			}
			select {
			case read <- e:
			case <-reading.Done():
				return
			}
		}
	})
	all.Go(func() { s.sendPeriodically(ctx, reading, read) })
	return func() {
		stop(errors.New("the run is over"))
		timer := time.AfterFunc(Grace, func() { kill(errors.New("the collector took too long")) })
		all.Wait()
		for e, err := range left(ctx, s.seq) {
			if err != nil {
				break
			}
			s.takeEvent(e)
			if len(s.spans) >= batch && s.sendSpans(ctx) != nil {
				break
			}
		}
		_ = s.sendSpans(ctx) // the process that continues the run tries again
		timer.Stop()
		kill(nil)
	}
}

// spanSender is used by one goroutine at a time.
type spanSender struct {
	Exporter
	tracer  *Tracer
	seq     int64 // last event that was applied
	sent    int64 // event up to which all spans were sent, now or earlier
	spans   []TraceSpan
	refused string // the last reported problem
}

// takeEvent applies an event.
func (s *spanSender) takeEvent(e nexus.Event) {
	if e.Seq <= s.seq {
		return
	}
	s.seq = e.Seq
	if ended := s.tracer.Apply(e); e.Seq > s.sent {
		s.spans = append(s.spans, ended...)
	}
}

// sendPeriodically applies events, and sends spans when there are enough, or when they waited long enough.
// While a collector is slow, no more events are read.
func (s *spanSender) sendPeriodically(ctx, reading context.Context, read <-chan nexus.Event) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	first := cmp.Or(s.Wait, first)
	wait := first
	for {
		full := false
		select {
		case e, ok := <-read:
			if !ok {
				return
			}
			s.takeEvent(e)
			full = len(s.spans) >= batch
		case <-tick.C:
			full = true
		case <-reading.Done():
			return
		}
		for full && len(s.spans) > 0 {
			again := s.sendSpans(ctx)
			if again == nil {
				wait = first
				break
			}
			pause := max(wait, again.after)
			wait = min(2*wait, last)
			select {
			case <-time.After(pause):
			case <-reading.Done():
				return
			}
		}
	}
}

// retryLater means that the collector may accept the same spans later.
type retryLater struct{ after time.Duration }

// sendSpans sends the waiting spans. They are kept if the collector may accept them later, and dropped
// if it never will.
func (s *spanSender) sendSpans(ctx context.Context) *retryLater {
	if len(s.spans) > 0 {
		body, err := Encode(s.spans, s.Version, s.Mask)
		if err != nil {
			s.reportError(err)
			return nil
		}
		status, after, err := s.postBody(ctx, body)
		switch {
		case err != nil:
			if ctx.Err() == nil {
				s.reportError(err)
			}
			return &retryLater{}
		case isTemporaryStatus(status):
			s.reportError(fmt.Errorf("the collector at %s answers %d; it is tried again", s.collectorHost(), status))
			return &retryLater{after}
		case status >= 300:
			s.reportError(fmt.Errorf("the collector at %s refuses spans with %d: they are left out", s.collectorHost(), status))
		}
	}
	s.spans, s.sent = nil, s.seq
	s.writeCursor()
	return nil
}

// isTemporaryStatus reports whether a collector with this status may accept the same spans later, according
// to OTLP.
func isTemporaryStatus(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	default:
		return false
	}
}

func (s *spanSender) reportError(err error) {
	if s.Say == nil || s.refused == err.Error() {
		return
	}
	s.refused = err.Error()
	s.Say(fmt.Errorf("telemetry: %w", err))
}

// collectorHost returns the collector's address for messages, without parts that may be secret.
func (s *spanSender) collectorHost() string {
	u, err := url.Parse(s.Endpoint)
	if err != nil {
		return "telemetry.endpoint"
	}
	return u.Host
}

// postBody sends a body to the collector.
func (s *spanSender) postBody(ctx context.Context, body []byte) (status int, after time.Duration, err error) {
	to := s.Endpoint
	if u, err := url.Parse(to); err == nil && strings.Trim(u.Path, "/") == "" {
		to = strings.TrimSuffix(to, "/") + "/v1/traces"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	if len(s.Headers) > 0 && !webhookpost.IsSecure(r.URL) {
		const why = "the headers for the collector at %s would be sent without encryption, so others could read them: use https"
		return 0, 0, fmt.Errorf(why, s.collectorHost())
	}
	r.Header.Set("Content-Type", "application/json")
	for k, v := range s.Headers {
		r.Header.Set(k, v)
	}
	answer, err := s.Client.Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the address, which may contain a key
		}
		return 0, 0, fmt.Errorf("the collector at %s cannot be reached: %w", s.collectorHost(), err)
	}
	defer answer.Body.Close() //nolint:errcheck // it is only drained
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	if n, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && n > 0 {
		after = min(time.Duration(n)*time.Second, last)
	}
	return answer.StatusCode, after, nil
}

// readCursor returns the event up to which the spans of the run were sent.
func (x Exporter) readCursor() int64 {
	data, err := os.ReadFile(x.Cursor)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil || n < 0 {
		return 0 // they are sent again, with the same IDs
	}
	return n
}

// writeCursor records how far the run was sent. If that fails, spans are sent again.
func (s *spanSender) writeCursor() {
	if s.Cursor == "" {
		return
	}
	part := s.Cursor + ".part"
	if os.MkdirAll(filepath.Dir(s.Cursor), 0o700) != nil || os.WriteFile(part, []byte(strconv.FormatInt(s.sent, 10)), 0o600) != nil {
		return
	}
	_ = os.Rename(part, s.Cursor)
}

// ParseHeaders parses headers in the format of OTEL_EXPORTER_OTLP_HEADERS: name=value, separated by
// commas.
func ParseHeaders(text string) map[string]string {
	all := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		k, v, ok := strings.Cut(part, "=")
		if !ok || strings.TrimSpace(k) == "" {
			continue
		}
		if plain, err := url.QueryUnescape(strings.TrimSpace(v)); err == nil {
			v = plain
		}
		all[strings.TrimSpace(k)] = v
	}
	return all
}
