// Package trafficrecord records the traffic with providers, and plays it back without them.
//
// A directory has one file for each call, in readable form and with its keys masked; see
// docs/undo-and-recover.md for the format. The answer to a request is found by the provider and
// the normalized body of the request, never by order, so that sessions may run in parallel: calls
// of a run are distinct, except for repeated attempts, which are played in their order.
package trafficrecord

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TrafficRecorder writes calls to files. It may be used by many goroutines.
type TrafficRecorder struct {
	dir  string
	mask func([]byte) []byte

	mu    sync.Mutex // guards the fields below
	tries map[string]int
	err   error // error of the first call that could not be written
}

// CreateRecording creates the directory, or continues with one that has recordings; mask removes keys from
// all stored texts.
func CreateRecording(dir string, mask func([]byte) []byte) (*TrafficRecorder, error) {
	r := &TrafficRecorder{dir: dir, mask: mask, tries: map[string]int{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "make the directory of the recording", Cause: err,
			Hint: "Name a directory that can be created.",
		}
	}
	calls, err := loadRecordedCalls(dir)
	if err != nil {
		return nil, err
	}
	for _, c := range calls {
		k := c.callKey()
		r.tries[k] = max(r.tries[k], c.Try)
	}
	return r, nil
}

// Close returns the first error of writing; it did not affect the call.
func (r *TrafficRecorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeStorage, Message: "the recording is incomplete", Cause: r.err,
		Hint: "Check the disk that holds " + r.dir + " and record again.",
	}
}

// Transport returns next with all its traffic recorded under a provider's name. A nil next is the
// default transport.
func (r *TrafficRecorder) Transport(provider string, next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return trafficRecordingTransport{r, provider, next}
}

type trafficRecordingTransport struct {
	*TrafficRecorder
	provider string
	next     http.RoundTripper
}

// RoundTrip implements [http.RoundTripper]. The answer is streamed to the caller, and stored after
// its end.
func (r trafficRecordingTransport) RoundTrip(q *http.Request) (*http.Response, error) {
	body, err := readBody(q)
	if err != nil {
		return nil, err
	}
	q = q.Clone(q.Context())
	if q.Body != nil {
		q.Body = io.NopCloser(bytes.NewReader(body))
	}
	c := newRecordedCall(r.provider, q, r.maskBytes(body))
	c.Try = r.nextAttemptNumber(c.callKey())
	resp, err := r.next.RoundTrip(q)
	if err != nil {
		if q.Context().Err() == nil {
			c.Response.Failed = string(r.maskBytes([]byte(err.Error())))
			r.saveCall(c)
		}
		return nil, err
	}
	c.Response.Status, c.Response.Header = resp.StatusCode, r.keptHeaders(resp.Header)
	resp.Body = &responseBodyRecorder{ReadCloser: resp.Body, ctx: q.Context(), done: func(said []byte, cut error) {
		c.Response.setBody(r.maskBytes(maskSplitKeys(said, r.mask)))
		if cut != nil {
			c.Response.Failed = string(r.maskBytes([]byte(cut.Error())))
		}
		r.saveCall(c)
	}}
	return resp, nil
}

// readBody reads a request's body, which may be nil.
func readBody(q *http.Request) ([]byte, error) {
	if q.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(q.Body)
	return body, errors.Join(err, q.Body.Close())
}

func (r *TrafficRecorder) maskBytes(data []byte) []byte {
	if r.mask == nil {
		return data
	}
	return r.mask(data)
}

// keptHeaders returns the headers that describe the answer, without any that could contain a key or a
// cookie.
func (r *TrafficRecorder) keptHeaders(h http.Header) map[string]string {
	kept := map[string]string{}
	for _, name := range []string{"Content-Type", "Request-Id", "X-Request-Id", "Retry-After", "Retry-After-Ms"} {
		if v := h.Get(name); v != "" {
			kept[name] = string(r.maskBytes([]byte(v)))
		}
	}
	return kept
}

func (r *TrafficRecorder) nextAttemptNumber(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries[key]++
	return r.tries[key]
}

// saveCall writes a call. Its file gets its name when it is complete.
func (r *TrafficRecorder) saveCall(c recordedProviderCall) {
	if err := c.writeFile(r.dir); err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = cmp.Or(r.err, err)
	}
}

func (c recordedProviderCall) writeFile(dir string) error {
	data, err := c.encodeFile()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, c.fileName()))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// responseBodyRecorder stores the bytes that are read from an answer.
type responseBodyRecorder struct {
	io.ReadCloser
	ctx  context.Context //nolint:containedctx // it is the request's, and asked only why reading ended
	said bytes.Buffer
	over bool
	done func(said []byte, cut error)
}

// Read implements [io.Reader].
func (t *responseBodyRecorder) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.said.Write(p[:n])
	if err != nil {
		t.finishBody(err)
	}
	return n, err
}

// Close implements [io.Closer]. Closing early is no error.
func (t *responseBodyRecorder) Close() error {
	t.finishBody(io.EOF)
	return t.ReadCloser.Close()
}

// finishBody passes on the stored answer, once. An answer that was abandoned by the caller is dropped,
// unless its end had already arrived.
func (t *responseBodyRecorder) finishBody(err error) {
	if t.over {
		return
	}
	t.over = true
	said := t.said.Bytes()
	switch {
	case errors.Is(err, io.EOF):
		t.done(said, nil)
	case t.ctx.Err() == nil:
		t.done(said, err)
	case isStreamEnd(said):
		t.done(said, nil)
	}
}

// isStreamEnd reports whether a stream has reached the end of its message.
func isStreamEnd(said []byte) bool {
	for _, mark := range []string{`"message_stop"`, "[DONE]", `"finish_reason":"`, `"finishReason"`, `"response.completed"`} {
		if bytes.Contains(said, []byte(mark)) {
			return true
		}
	}
	return false
}

// loadRecordedCalls reads all calls of a directory, without following links out of it.
func loadRecordedCalls(dir string) ([]recordedProviderCall, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &nexus.Error{
			Code: nexus.CodeNotFound, Message: "open the recording", Cause: err,
			Hint: "Name a directory that nexus wrote with --record.",
		}
	}
	defer func() { _ = root.Close() }() // only read
	names, err := fs.Glob(root.FS(), "*.json")
	if err != nil {
		return nil, fmt.Errorf("list the recording: %w", err)
	}
	var calls []recordedProviderCall
	for _, name := range names {
		c, err := readCall(root, name)
		if err != nil {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "read the recording " + filepath.Join(dir, name), Cause: err,
				Hint: "Record again, or remove the file; docs/undo-and-recover.md describes it.",
			}
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// maxFile limits the size of one call, in bytes.
const maxFile = 256 << 20

func readCall(root *os.Root, name string) (recordedProviderCall, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return recordedProviderCall{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return recordedProviderCall{}, errors.New("it is not a plain file, or is too large")
	}
	data, err := root.ReadFile(name)
	if err != nil {
		return recordedProviderCall{}, err
	}
	return parseCall(data)
}
