// Package web asks people on a page, and programs by a small interface of
// JSON: what waits in all runs of a repository, and what is answered.
//
// It listens on loopback and lets nobody in who does not hold its token. A
// browser gets in by the address that is printed, which leaves a cookie; a
// program sends the token with each call. No page of another site can make a
// browser answer, and no name that leads to this machine gets past the check of
// the host.
package web

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	_ "embed" // the style of the page
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/nexus-ai-builder/nexus/internal/decide/people"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Inbox is where it is heard what waits for people, and answered.
type Inbox interface {
	Items() []people.Item
	Answer(ctx context.Context, run nexus.RunID, id, answer, by string) (string, error)
}

// Options say how it is served. The zero Options are on loopback, at a port
// that is free, with a token that is drawn.
type Options struct {
	Listen string   // "127.0.0.1:0" where empty
	Public bool     // other addresses than loopback may be listened at; takes a Token
	Hosts  []string // names besides the address itself that it may be called by
	Token  string   // empty: drawn
	Place  string   // what it is about, for people
	Now    func() time.Time
	// Health says how the runs are doing, and the status of HTTP that this is;
	// what it tells is for everybody who reaches the port. Nil: there is no such
	// page.
	Health func(ctx context.Context) (any, int)
}

// minToken is the least length of a token that somebody chose.
const minToken = 16

// maxBody is the largest request, in bytes.
const maxBody = 64 << 10

//go:embed style.css
var style []byte

// Server serves the page. Make one with [Listen].
type Server struct {
	Options
	inbox    Inbox
	listener net.Listener
	session  string // what the cookie of whoever holds the token has
	calls    *rate.Limiter
	wrong    *rate.Limiter // those that did not know the token
}

// Listen opens the port. Nothing is served before [Server.Serve].
func Listen(ctx context.Context, inbox Inbox, o Options) (*Server, error) {
	o.Listen = cmp.Or(o.Listen, "127.0.0.1:0")
	if err := Check(o); err != nil {
		return nil, err
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: "listen at " + o.Listen, Cause: err,
			Hint: "Name another port, or :0 for one that is free.",
		}
	}
	o.Token = cmp.Or(o.Token, rand.Text())
	return &Server{
		Options: o, inbox: inbox, listener: l, session: rand.Text(),
		calls: rate.NewLimiter(10, 40), wrong: rate.NewLimiter(0.2, 10),
	}, nil
}

// Check refuses what would let in others than its user.
func Check(o Options) error {
	host, _, err := net.SplitHostPort(cmp.Or(o.Listen, "127.0.0.1:0"))
	switch {
	case err != nil:
		return &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: "listen at " + o.Listen, Cause: err,
			Hint: "Write address:port, such as 127.0.0.1:8080.",
		}
	case o.Token != "" && len(o.Token) < minToken:
		return &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("the token is shorter than %d bytes", minToken),
			Hint: "Use a long random one, such as openssl rand -hex 24 prints.",
		}
	case isLoopback(host):
		return nil
	case !o.Public:
		return &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: o.Listen + " can be reached from other machines",
			Hint: "Listen at 127.0.0.1 and connect through a tunnel (ssh -L), or use --public with your own token and a proxy that does TLS.",
		}
	case o.Token == "":
		return &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: o.Listen + " can be reached from other machines, and there is no token",
			Hint: "Set the variable that channels.web.token_env names to a long random token.",
		}
	}
	return nil
}

// isLoopback reports whether a host is this machine and nobody else can reach it.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// URL returns the address, with the token that lets a browser in.
func (s *Server) URL() string { return s.Address() + "/?token=" + s.Token }

// Address returns the address alone.
func (s *Server) Address() string { return "http://" + s.listener.Addr().String() }

// Serve serves until the context ends.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(s.listener) }() // ends with Close below
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), 2*time.Second, errors.New("time to close is over"))
	defer cancel()
	err := server.Shutdown(grace)
	if err != nil {
		err = server.Close()
	}
	if end := <-served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}

// handler returns what answers calls, with every guard in front.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.show)
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write(style) // who is gone reads nothing
	})
	mux.HandleFunc("POST /answer", s.submit)
	mux.HandleFunc("GET /api/v1/pending", s.list)
	mux.HandleFunc("POST /api/v1/answer", s.take)
	if s.Health != nil {
		mux.HandleFunc("GET /healthz", s.health)
	}
	origin := http.NewCrossOriginProtection()
	return s.guard(origin.Handler(mux))
}

// guard holds every call to the rules that do not depend on what it asks.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		switch {
		case !s.named(r.Host):
			fail(w, r, http.StatusMisdirectedRequest, "this is not a name of this server")
		case !s.calls.AllowN(s.Now(), 1):
			h.Set("Retry-After", "1")
			fail(w, r, http.StatusTooManyRequests, "too many calls")
		default:
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			next.ServeHTTP(w, r)
		}
	})
}

// named reports whether a host is one that the server may be called by. A page
// of a stranger whose name leads here calls it by that name.
func (s *Server) named(host string) bool {
	if slices.Contains(s.Hosts, host) {
		return true
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return false
	}
	own, at, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil || port != at {
		return false
	}
	return name == own || isLoopback(name) && (isLoopback(own) || net.ParseIP(own).IsUnspecified()) || slices.Contains(s.Hosts, name)
}

// cookie is the name of the cookie: cookies do not tell ports apart.
func (s *Server) cookie() string {
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	return "nexus_" + port
}

// equal compares what somebody sent with a secret, in a time that does not
// tell how much of it was right.
func equal(sent, secret string) bool {
	x, y := sha256.Sum256([]byte(sent)), sha256.Sum256([]byte(secret))
	return hmac.Equal(x[:], y[:])
}

// csrf returns what only a page of this server knows.
func (s *Server) csrf() string {
	m := hmac.New(sha256.New, []byte(s.session))
	_, _ = m.Write([]byte("answer"))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// entered reports whether a browser may see the page, and says no if not.
func (s *Server) entered(w http.ResponseWriter, r *http.Request) bool {
	if c, err := r.Cookie(s.cookie()); err == nil && equal(c.Value, s.session) {
		return true
	}
	s.stranger(w, r)
	return false
}

// stranger turns away who does not know the token.
func (s *Server) stranger(w http.ResponseWriter, r *http.Request) {
	if !s.wrong.AllowN(s.Now(), 1) {
		w.Header().Set("Retry-After", "5")
		fail(w, r, http.StatusTooManyRequests, "too many calls with a wrong token")
		return
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	fail(w, r, http.StatusUnauthorized, "the token is missing or wrong: open the address that nexus printed")
}

// show shows the page, and lets in who comes with the token.
func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	if token := r.URL.Query().Get("token"); token != "" {
		if !equal(token, s.Token) {
			s.stranger(w, r)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: s.cookie(), Value: s.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	if s.entered(w, r) {
		s.draw(w, http.StatusOK, "", false)
	}
}

func (s *Server) draw(w http.ResponseWriter, code int, said string, bad bool) {
	var b strings.Builder
	page{&b}.draw(view{Place: s.Place, Said: said, Bad: bad, CSRF: s.csrf(), Items: s.inbox.Items()})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(b.String())) // who is gone reads nothing
}

// submit takes an answer from the page.
func (s *Server) submit(w http.ResponseWriter, r *http.Request) {
	if !s.entered(w, r) {
		return
	}
	if err := r.ParseForm(); err != nil {
		fail(w, r, tooLarge(err), "the form cannot be read")
		return
	}
	f := r.PostForm
	if !equal(f.Get("csrf"), s.csrf()) {
		fail(w, r, http.StatusForbidden, "the form is out of date: reload the page")
		return
	}
	said, err := s.inbox.Answer(r.Context(), nexus.RunID(f.Get("run")), f.Get("id"), f.Get("answer"), "web")
	if err != nil {
		s.draw(w, statusOf(err), err.Error(), true)
		return
	}
	s.draw(w, http.StatusOK, f.Get("id")+": "+said, false)
}
