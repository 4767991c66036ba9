package conform

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
)

// NewHandlerClient returns a client of a handler in this process without a network, so that time can be
// simulated. The returned function waits for the handler's last answer.
func NewHandlerClient(h http.Handler) (*http.Client, func()) {
	t := &handlerTransport{handler: h}
	return &http.Client{Transport: t}, t.answers.Wait
}

type handlerTransport struct {
	handler http.Handler
	answers sync.WaitGroup
}

// RoundTrip runs the handler while the response is read.
func (t *handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, pipe := io.Pipe()
	w := &pipeResponseWriter{header: http.Header{}, pipe: pipe, begun: make(chan struct{})}
	stop := make(chan struct{})
	go func() { // ends with the answer or the call
		select {
		case <-r.Context().Done():
			_ = pipe.CloseWithError(r.Context().Err())
		case <-stop:
		}
	}()
	t.answers.Go(func() {
		defer close(stop)
		t.handler.ServeHTTP(w, r)
		w.WriteHeader(http.StatusOK)
		_ = pipe.Close()
	})
	select {
	case <-w.begun:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if w.status == 0 {
		return nil, errors.New("EOF")
	}
	return &http.Response{
		StatusCode: w.status, Status: http.StatusText(w.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: body, Request: r, ContentLength: -1,
	}, nil
}

// pipeResponseWriter writes a response to a pipe.
type pipeResponseWriter struct {
	header, sent http.Header
	pipe         *io.PipeWriter
	once         sync.Once
	begun        chan struct{}
	status       int // 0: the connection was closed before the header
}

// Header implements [http.ResponseWriter].
func (w *pipeResponseWriter) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *pipeResponseWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.begun)
	})
}

// Write implements [http.ResponseWriter].
func (w *pipeResponseWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pipe.Write(p)
}

// Flush implements [http.Flusher].
func (w *pipeResponseWriter) Flush() { w.WriteHeader(http.StatusOK) }

// Hijack closes the connection, which is the only use of it in handlers here.
func (w *pipeResponseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.once.Do(func() { close(w.begun) })
	_ = w.pipe.CloseWithError(io.ErrUnexpectedEOF)
	return nil, nil, errors.New("there is no connection")
}
