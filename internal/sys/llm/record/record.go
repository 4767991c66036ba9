// Package record keeps what goes over the wire to providers, and plays it
// again without any.
//
// A directory holds one file a call, readable and with its keys masked; see
// docs/undo-and-recover.md for the format. What is played for a request is found by
// what the request is, its provider and its normalised body, and never by
// order, so that sessions may run side by side: no two calls of a run are
// alike but tries of the same one, which are played in the order of their
// tries.
package record

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

// Recorder writes calls down. It may be used by many goroutines.
type Recorder struct {
	dir  string
	mask func([]byte) []byte

	mu    sync.Mutex // guards what follows
	tries map[string]int
	err   error // the first call that could not be kept
}

// Create makes the directory, or continues with one that holds recordings. Mask
// takes keys out of all that is kept.
func Create(dir string, mask func([]byte) []byte) (*Recorder, error) {
	r := &Recorder{dir: dir, mask: mask, tries: map[string]int{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "make the directory of the recording", Cause: err,
			Hint: "Name a directory that can be created.",
		}
	}
	calls, err := load(dir)
	if err != nil {
		return nil, err
	}
	for _, c := range calls {
		k := c.key()
		r.tries[k] = max(r.tries[k], c.Try)
	}
	return r, nil
}

// Close returns what could not be kept; no call failed for that.
func (r *Recorder) Close() error {
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

// Transport returns next with everything that goes through it recorded as a
// provider's. A nil next is the usual transport.
func (r *Recorder) Transport(provider string, next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return recording{r, provider, next}
}

type recording struct {
	*Recorder
	provider string
	next     http.RoundTripper
}

// RoundTrip implements [http.RoundTripper]. The answer streams through; it is
// kept when it has ended.
func (r recording) RoundTrip(q *http.Request) (*http.Response, error) {
	body, err := slurp(q)
	if err != nil {
		return nil, err
	}
	q = q.Clone(q.Context())
	if q.Body != nil {
		q.Body = io.NopCloser(bytes.NewReader(body))
	}
	c := newCall(r.provider, q, r.masked(body))
	c.Try = r.try(c.key())
	resp, err := r.next.RoundTrip(q)
	if err != nil {
		if q.Context().Err() == nil {
			c.Response.Failed = string(r.masked([]byte(err.Error())))
			r.keep(c)
		}
		return nil, err
	}
	c.Response.Status, c.Response.Header = resp.StatusCode, r.headers(resp.Header)
	resp.Body = &tape{ReadCloser: resp.Body, ctx: q.Context(), done: func(said []byte, cut error) {
		c.Response.setBody(r.masked(unsplit(said, r.mask)))
		if cut != nil {
			c.Response.Failed = string(r.masked([]byte(cut.Error())))
		}
		r.keep(c)
	}}
	return resp, nil
}

// slurp reads a request's body, which may be absent.
func slurp(q *http.Request) ([]byte, error) {
	if q.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(q.Body)
	return body, errors.Join(err, q.Body.Close())
}

func (r *Recorder) masked(data []byte) []byte {
	if r.mask == nil {
		return data
	}
	return r.mask(data)
}

// headers keeps those that say something about the answer: none that could
// carry a key or a cookie.
func (r *Recorder) headers(h http.Header) map[string]string {
	kept := map[string]string{}
	for _, name := range []string{"Content-Type", "Request-Id", "X-Request-Id", "Retry-After", "Retry-After-Ms"} {
		if v := h.Get(name); v != "" {
			kept[name] = string(r.masked([]byte(v)))
		}
	}
	return kept
}

func (r *Recorder) try(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries[key]++
	return r.tries[key]
}

// keep writes a call down. Its file gets its name when it is whole.
func (r *Recorder) keep(c call) {
	if err := c.write(r.dir); err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = cmp.Or(r.err, err)
	}
}

func (c call) write(dir string) error {
	data, err := c.encode()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, c.name()))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// tape keeps what is read from an answer.
type tape struct {
	io.ReadCloser
	ctx  context.Context //nolint:containedctx // it is the request's, and asked only why reading ended
	said bytes.Buffer
	over bool
	done func(said []byte, cut error)
}

// Read implements [io.Reader].
func (t *tape) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.said.Write(p[:n])
	if err != nil {
		t.end(err)
	}
	return n, err
}

// Close implements [io.Closer]. Who closes early has heard enough.
func (t *tape) Close() error {
	t.end(io.EOF)
	return t.ReadCloser.Close()
}

// end hands over what was said, once. An answer that was cut off because
// nobody wanted it any more is none, unless its end was there already.
func (t *tape) end(err error) {
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
	case ended(said):
		t.done(said, nil)
	}
}

// ended reports whether a stream has come to the end of its message.
func ended(said []byte) bool {
	for _, mark := range []string{`"message_stop"`, "[DONE]", `"finish_reason":"`, `"finishReason"`, `"response.completed"`} {
		if bytes.Contains(said, []byte(mark)) {
			return true
		}
	}
	return false
}

// load reads all calls of a directory, which is looked at without following
// any link out of it.
func load(dir string) ([]call, error) {
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
	var calls []call
	for _, name := range names {
		c, err := read(root, name)
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

// maxFile bounds the size of one call.
const maxFile = 256 << 20

func read(root *os.Root, name string) (call, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return call{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return call{}, errors.New("it is not a plain file, or is too large")
	}
	data, err := root.ReadFile(name)
	if err != nil {
		return call{}, err
	}
	return parse(data)
}
