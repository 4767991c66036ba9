package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// limitedConn is a connection to a host. It counts the bytes, and ends at a byte limit or after idle
// time.
type limitedConn struct {
	net.Conn
	idle      time.Duration
	up, down  int64 // limits
	sent, got atomic.Int64
}

var errMuch = errors.New("more bytes than a connection may transfer")

func (f *limitedConn) Read(b []byte) (int, error) {
	if f.got.Load() >= f.down {
		return 0, errMuch
	}
	_ = f.SetDeadline(deadlineIn(f.idle))
	n, err := f.Conn.Read(b)
	f.got.Add(int64(n))
	return n, err
}

func (f *limitedConn) Write(b []byte) (int, error) {
	if f.sent.Load() >= f.up {
		return 0, errMuch
	}
	_ = f.SetDeadline(deadlineIn(f.idle)) // for both directions: each keeps the other alive
	n, err := f.Conn.Write(b)
	f.sent.Add(int64(n))
	return n, err
}

// CloseWrite closes the sending direction.
func (f *limitedConn) CloseWrite() error {
	if c, ok := f.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return f.Close()
}

// answerConnectAndCopy copies bytes in both directions until both have ended.
func answerConnectAndCopy(c net.Conn, r *bufio.Reader, out *limitedConn) error {
	head, err := peekRequestHead(r)
	if err == nil {
		_, err = r.Discard(len(head))
	}
	if err == nil {
		_, err = io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
	}
	if err != nil {
		return err
	}
	return copyBothWays(c, r, out)
}

// copyBothWays copies bytes in both directions until both have ended; the client's bytes are read from
// r.
func copyBothWays(c net.Conn, r io.Reader, out *limitedConn) error {
	done := make(chan struct{})
	go func() { // ends when the client's connection closes, at the latest below
		defer close(done)
		if _, err := io.Copy(out, r); err != nil {
			_ = out.Close()
			return
		}
		_ = out.CloseWrite()
	}()
	_, err := io.Copy(c, out)
	if t, ok := c.(interface{ CloseWrite() error }); ok && err == nil {
		_ = t.CloseWrite()
		select {
		case <-done:
		case <-time.After(out.idle):
		}
	}
	_ = c.Close()
	_ = out.Close()
	<-done
	return err
}

// forwardRequest forwards a request, and its response back.
func (p *Proxy) forwardRequest(ctx context.Context, c net.Conn, r *bufio.Reader, h proxyRequestHead, out *limitedConn) error {
	req, err := http.ReadRequest(r)
	if err != nil {
		writeRefusal(c, newRefusal(http.StatusBadRequest, "not a request that is accepted: %s", cleanError(err)))
		return err
	}
	if req.Header.Get("Expect") != "" {
		if _, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return err
		}
	}
	for _, name := range hopByHopHeaders(req.Header.Values("Connection")) {
		req.Header.Del(name)
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header["User-Agent"] = nil // prevents a default one
	}
	req.URL, req.Host, req.RequestURI, req.Close = h.URL, h.URL.Host, "", true
	one := http.Transport{
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHead, ResponseHeaderTimeout: p.Limits.Idle,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return out, nil },
	}
	defer one.CloseIdleConnections()
	resp, err := one.RoundTrip(req.WithContext(ctx))
	if err != nil {
		writeRefusal(c, newRefusal(http.StatusBadGateway, "allowed, but there was no answer: %s", cleanError(err)))
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		err = errors.New("it answers with another protocol")
		writeRefusal(c, newRefusal(http.StatusBadGateway, "%v", err))
		return err
	}
	for _, name := range hopByHopHeaders(resp.Header.Values("Connection")) {
		resp.Header.Del(name)
	}
	resp.Close, resp.Proto, resp.ProtoMajor, resp.ProtoMinor = true, "HTTP/1.1", 1, 1
	if h.Old {
		resp.TransferEncoding = nil // its length is defined by the end of the connection
	}
	if err := resp.Write(c); err != nil {
		return fmt.Errorf("hand the answer back: %w", err)
	}
	return nil
}
