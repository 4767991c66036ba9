package web

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose clients are in this process.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// TestSlowClients ends a connection whose client sends its header or its body a little at a
// time, takes no answer, or says nothing more; one that takes some time is served.
func TestSlowClients(t *testing.T) {
	const call = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n"
	for name, one := range map[string]struct {
		begin string
		every time.Duration // between two bytes of the rest
		rest  string
		lasts time.Duration // at most
		want  string        // begins the answer; empty: the connection ends without one
	}{
		"quick":              {call, time.Millisecond, "\r\n" + strings.Repeat("y", 40), time.Second, "HTTP/1.1 200"},
		"some time":          {call, 200 * time.Millisecond, "\r\n" + strings.Repeat("y", 40), 10 * time.Second, "HTTP/1.1 200"},
		"a slow header":      {call, time.Second, "X-Y: " + strings.Repeat("y", 100), 6 * time.Second, ""},
		"a slow body":        {call + "\r\n", time.Second, strings.Repeat("y", 40), 16 * time.Second, "HTTP/1.1 400"},
		"nothing":            {"", time.Hour, "", 6 * time.Second, ""},
		"nothing after that": {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", time.Hour, "", 62 * time.Second, "HTTP/1.1 200"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if _, err := io.ReadAll(r.Body); err != nil {
						w.WriteHeader(http.StatusBadRequest)
					}
				}))
				l := make(pipes)
				ended := make(chan error)
				go func() { ended <- s.Serve(l) }()
				client, server := net.Pipe()
				l <- server
				go func() { // ends with the connection
					for _, part := range append([]string{one.begin}, strings.Split(one.rest, "")...) {
						if _, err := io.WriteString(client, part); err != nil {
							return
						}
						time.Sleep(one.every)
					}
				}()
				began := time.Now()
				in := bufio.NewReader(client)
				line, err := in.ReadString('\n')
				if !strings.HasPrefix(line, one.want) || (one.want == "") != (err != nil) {
					t.Errorf("%q, %v, want %q", line, err, one.want)
				}
				if name == "nothing after that" {
					_, err = io.Copy(io.Discard, in)
					if err != nil && !errors.Is(err, io.EOF) {
						t.Error(err)
					}
				}
				if took := time.Since(began); took > one.lasts {
					t.Errorf("it lasted %s, want %s at most", took, one.lasts)
				}
				_ = client.Close()
				close(l)
				<-ended
				_ = s.Close()
				time.Sleep(2 * time.Hour) // whoever waits for a client has ended
			})
		})
	}
}

// TestDeafClients ends a connection whose client takes no answer.
func TestDeafClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed error
		done := make(chan bool)
		s := newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, failed = w.Write(make([]byte, 1<<20))
			close(done)
		}))
		l := make(pipes)
		ended := make(chan error)
		go func() { ended <- s.Serve(l) }()
		client, server := net.Pipe()
		l <- server
		if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		<-done
		if took := time.Since(began); failed == nil || took > 31*time.Second {
			t.Errorf("%v after %s", failed, took)
		}
		_ = client.Close()
		close(l)
		<-ended
		_ = s.Close()
	})
}
