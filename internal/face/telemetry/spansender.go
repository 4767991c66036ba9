package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

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
	// maxResponse limits the bytes that are read of a response.
	maxResponse = 1 << 20
	// firstWait and longestWait are the shortest and longest waits before another try.
	firstWait, longestWait = time.Second, time.Minute
	// Grace limits the time for sending the last spans after a run has ended.
	Grace = 5 * time.Second
)

// SpanExporter sends the spans of runs to a collector.
type SpanExporter struct {
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

type spanEventSeq = iter.Seq2[nexus.Event, error]

// Follow sends the spans of a run while it is in progress, until the returned function is called.
// That function reads the remaining events and sends them within [Grace]. The process that
// continues the run sends what could not be sent. Nothing waits for the collector: unsent spans
// can be rebuilt from the journal.
func (x SpanExporter) Follow(ctx context.Context, run nexus.RunID, live, left func(ctx context.Context, after int64) spanEventSeq) (end func()) {
	ctx, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	reading, stop := context.WithCancelCause(ctx)
	s := newSpanSender(x, run)
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
	SpanExporter
	tracer  *RunTracer
	client  *otlptrace.Exporter
	last    *collectorResponse
	seq     int64 // last event that was applied
	sent    int64 // event up to which all spans were sent, now or earlier
	spans   []sdktrace.ReadOnlySpan
	refused string // the last reported problem
}

func newSpanSender(x SpanExporter, run nexus.RunID) *spanSender {
	client := http.Client{Timeout: patience}
	if x.Client != nil {
		client = *x.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	endpoint, _ := url.Parse(x.Endpoint) // without a host, each try says so
	if endpoint == nil {
		endpoint = &url.URL{}
	}
	if strings.Trim(endpoint.Path, "/") == "" {
		endpoint.Path = "/v1/traces"
	}
	last := &collectorResponse{next: cmp.Or[http.RoundTripper](client.Transport, http.DefaultTransport), query: endpoint.RawQuery}
	client.Transport = last
	// Each option is given, so that no variable of the environment decides where spans and keys are sent.
	// The library's retries would lose the spans of a batch that fails for longer.
	return &spanSender{
		SpanExporter: x, tracer: NewTracer(run, x.Version, x.Contents, x.Mask), sent: x.readCursor(), last: last,
		client: otlptrace.NewUnstarted(otlptracehttp.NewClient(
			otlptracehttp.WithEndpointURL(endpoint.String()), otlptracehttp.WithHeaders(x.Headers), otlptracehttp.WithHTTPClient(&client),
			otlptracehttp.WithEncoding(otlptracehttp.EncodingJSON), otlptracehttp.WithCompression(otlptracehttp.NoCompression),
			otlptracehttp.WithTimeout(patience), otlptracehttp.WithMaxResponseSize(maxResponse), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}),
		)),
	}
}

// collectorResponse remembers the last response of the collector, because the library's error has no status.
type collectorResponse struct {
	next   http.RoundTripper
	query  string // of the endpoint, which the library leaves out
	status int    // 0: there was no response
	after  time.Duration
}

// RoundTrip implements [http.RoundTripper].
func (l *collectorResponse) RoundTrip(r *http.Request) (*http.Response, error) {
	l.status, l.after = 0, 0
	r = r.Clone(r.Context())
	r.URL.RawQuery = l.query
	r.Header.Set("User-Agent", "nexus")
	answer, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	l.status = answer.StatusCode
	if n, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && n > 0 {
		l.after = min(time.Duration(n)*time.Second, longestWait)
	}
	return answer, nil
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
	first := cmp.Or(s.Wait, firstWait)
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
			wait = min(2*wait, longestWait)
			select {
			case <-time.After(pause):
			case <-reading.Done():
				return
			}
		}
	}
}

// retryLaterError means that the collector may accept the same spans later.
type retryLaterError struct{ after time.Duration }

// sendSpans sends the waiting spans. They are kept if the collector may accept them later, and dropped
// if it never will.
func (s *spanSender) sendSpans(ctx context.Context) *retryLaterError {
	if len(s.spans) > 0 {
		err := s.exportSpans(ctx)
		switch {
		case err == nil:
		case s.last.status == 0:
			if ctx.Err() == nil {
				s.reportError(err)
			}
			return &retryLaterError{}
		case isTemporaryStatus(s.last.status):
			s.reportError(fmt.Errorf("the collector at %s answers %d; it is tried again", s.collectorHost(), s.last.status))
			return &retryLaterError{s.last.after}
		case s.last.status >= 300:
			s.reportError(fmt.Errorf("the collector at %s refuses spans with %d: they are left out", s.collectorHost(), s.last.status))
		default:
			s.reportError(fmt.Errorf("the collector at %s did not take all spans: %s", s.collectorHost(), s.tracer.cleanText(err.Error())))
		}
	}
	s.spans, s.sent = nil, s.seq
	s.writeCursor()
	return nil
}

// exportSpans sends the waiting spans to the collector, once.
func (s *spanSender) exportSpans(ctx context.Context) error {
	s.last.status = 0
	to, err := url.Parse(s.Endpoint)
	if err != nil || to.Host == "" {
		return errors.New("telemetry.endpoint is not an address")
	}
	if len(s.Headers) > 0 && !webhookpost.IsSecure(to) {
		const why = "the headers for the collector at %s would be sent without encryption, so others could read them: use https"
		return fmt.Errorf(why, s.collectorHost())
	}
	err = s.client.ExportSpans(ctx, s.spans)
	if err != nil && s.last.status == 0 {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // without the address, which may contain a key
		}
		return fmt.Errorf("the collector at %s cannot be reached: %w", s.collectorHost(), err)
	}
	return err
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

// readCursor returns the event up to which the spans of the run were sent.
func (x SpanExporter) readCursor() int64 {
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
