package main

import (
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"

	"github.com/rogpeppe/go-internal/testscript"
)

// serve serves a file at $LIST_URL, as it is now, with an ETag.
func serve(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: serve FILE")
	}
	text := ts.ReadFile(args[0])
	tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256([]byte(text))))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte(text)) // who is gone reads nothing
	}))
	ts.Defer(s.Close)
	ts.Setenv("LIST_URL", s.URL+"/api.json")
}

// site serves hello at $SITE, which is on this machine's loopback but none of
// the addresses that every tool goes to without a proxy.
func site(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.2:0")
	ts.Check(err)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("hello " + r.URL.Path)) // who is gone reads nothing
	})}
	go func() { _ = s.Serve(l) }()
	ts.Defer(func() { _ = s.Close() })
	ts.Setenv("SITE", l.Addr().String())
}
