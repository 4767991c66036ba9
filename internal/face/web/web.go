// Package web serves the web dashboard and its API: the waiting items and the activity in all
// runs of a repository, and all actions on them.
//
// It listens on loopback and requires a token. A browser logs in through the printed address,
// which sets a cookie; a program sends the token with each call. All addresses are in one table
// of routes ([Server.AllRoutes]), and every guard is in front of each of them: no page of another
// site can make a browser do anything, and no foreign name that resolves to this machine passes
// the host check.
package web

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/face/web/api"
	"github.com/nexus-ai-builder/nexus/internal/face/web/gatererun"
	"github.com/nexus-ai-builder/nexus/internal/face/web/page"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// OpenQuestionInbox is the source of the open items and accepts their answers.
type OpenQuestionInbox interface {
	Items() []humaninput.WaitingItem
	Find(run nexus.RunID, id string) (humaninput.WaitingItem, error)
	Answer(ctx context.Context, run nexus.RunID, id, answer, by string) (string, error)
}

// Options configure the server. The zero Options mean loopback, a free port, and a generated
// token.
type Options struct {
	Listen string   // empty: "127.0.0.1:0"
	Public bool     // allows addresses other than loopback; requires a Token
	Hosts  []string // further valid names besides the address itself
	Token  string   // empty: generated
	Now    func() time.Time
	Book   access.TokenStore // persons besides the owner; the zero Book: none

	TLSCert, TLSKey string // PEM files; empty: no TLS
	BehindProxy     bool   // a proxy in front terminates TLS
	Forwarded       bool   // the proxy sends the called name in X-Forwarded-Host

	// Shown is the content of the pages and the API besides answers to questions. The zero Shown:
	// nothing.
	ServedRepository

	// Health returns the health of the runs, and the HTTP status for it. Everybody who reaches
	// the port can read it. Nil: there is no such page.
	Health func(ctx context.Context) (any, int)
	// Metrics returns the metrics of the runs for Prometheus, and their content type. Nil: there
	// is no such page.
	Metrics func(ctx context.Context) (text, kind string, err error)
}

// ServedRepository is a repository in its form for pages and API.
type ServedRepository struct {
	Site access.WebBackend
	Feed *api.EventFeed
	Say  func(format string, args ...any) // prints for the person who runs the server; nil: dropped
}

// minToken is the minimum length of a token that the user chose.
const minToken = 16

// Server serves the pages. Create one with [Listen].
type Server struct {
	Options
	inbox    OpenQuestionInbox
	pages    *page.PageHandlers // nil if nothing is shown
	gates    gatererun.GateReruns
	listener net.Listener
	owner    access.TokenEntry
	table    []access.ServerRoute
	calls    *rate.Limiter   // of calls that need no token
	wrong    *rate.Limiter   // of calls with a wrong token
	closing  context.Context //nolint:containedctx // it ends the calls that last, which know no other
	close    context.CancelCauseFunc

	mu        sync.Mutex // guards the fields below
	paces     map[string]*rate.Limiter
	streams   map[string]int // listening clients, by the person's name
	streaming int            // total number of listening clients
}

// Listen opens the port. Nothing is served before [Server.Serve].
func Listen(ctx context.Context, inbox OpenQuestionInbox, o Options) (*Server, error) {
	o.Listen = cmp.Or(o.Listen, "127.0.0.1:0")
	if err := CheckOptions(o); err != nil {
		return nil, err
	}
	if o.TLSCert != "" {
		if _, err := tls.LoadX509KeyPair(o.TLSCert, o.TLSKey); err != nil {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidConfig, Message: "the certificate cannot be used", Cause: err,
				Hint: "Give a certificate and the key that belongs to it, both in PEM.",
			}
		}
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: "listen at " + o.Listen, Cause: err,
			Hint: "Another program uses the port, or you may not use it. Choose another port, or port 0 for a free one.",
		}
	}
	o.Token = cmp.Or(o.Token, rand.Text())
	s := &Server{
		Options: o, inbox: inbox, listener: l,
		owner: access.EntryOf(access.TokenOwner{Name: access.Owner, Role: access.Admin}, o.Token, o.Now()),
		calls: rate.NewLimiter(10, 40), wrong: rate.NewLimiter(0.2, 10), paces: map[string]*rate.Limiter{}, streams: map[string]int{},
	}
	s.closing, s.close = context.WithCancelCause(context.WithoutCancel(ctx))
	if o.Site.Hub != nil {
		s.pages = page.NewPages(o.Site, &s.gates)
	}
	s.table = s.AllRoutes()
	if err := checkRoutes(s.table); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return s, nil
}

// CheckOptions refuses options that would give access to people other than the user.
func CheckOptions(o Options) error {
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
			Hint: "Use a long random token, for example from openssl rand -hex 24.",
		}
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: "TLS needs a certificate and its key", Hint: "Give both --tls-cert and --tls-key.",
		}
	case o.TLSCert != "" && o.BehindProxy:
		return &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: "TLS is done here or by a proxy, not by both",
			Hint: "Give --tls-cert and --tls-key, or --behind-proxy.",
		}
	case o.BehindProxy && len(o.Hosts) == 0:
		return &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: "the name that browsers call the proxy by is missing",
			Hint: "Give it with --host, such as --host nexus.example.org.",
		}
	case o.Forwarded && !o.BehindProxy:
		return &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: "X-Forwarded-Host counts only behind a proxy",
			Hint: "Add --behind-proxy, or leave out --forwarded-host.",
		}
	case isLoopback(host):
		return nil
	case !o.Public:
		return &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: o.Listen + " can be reached from other machines",
			Hint: "Listen at 127.0.0.1 and connect through a tunnel (ssh -L), or use --public with your own token and TLS.",
		}
	case o.Token == "":
		return &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: o.Listen + " can be reached from other machines, but there is no token",
			Hint: "Set the variable that channels.web.secret_env names to a long random token.",
		}
	case o.TLSCert == "" && !o.BehindProxy:
		return &nexus.Error{
			Code: nexus.CodeInvalidConfig, Message: o.Listen + " can be reached from other machines, but there is no TLS",
			Hint: "Give --tls-cert and --tls-key, or --behind-proxy if a proxy in front does TLS.",
		}
	}
	return nil
}

// isLoopback reports whether a host is only reachable from this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// URL returns the address, with the token that logs a browser in.
func (s *Server) URL() string { return s.Address() + "/?token=" + s.Token }

// Address returns the address without the token.
func (s *Server) Address() string {
	if s.TLSCert != "" {
		return "https://" + s.listener.Addr().String()
	}
	return "http://" + s.listener.Addr().String()
}

// AllRoutes returns all routes: the server has no other addresses.
func (s *Server) AllRoutes() []access.ServerRoute {
	all := []access.ServerRoute{
		{Method: http.MethodGet, Pattern: "/api/v1/pending", Role: access.Read, Handler: http.HandlerFunc(s.serveInbox)},
		{Method: http.MethodPost, Pattern: "/api/v1/answer", Role: access.Answer, Changes: true, Handler: http.HandlerFunc(s.receiveAnswer)},
	}
	if s.Health != nil {
		all = append(all, access.ServerRoute{Method: http.MethodGet, Pattern: "/healthz", Role: access.Everybody, Handler: http.HandlerFunc(s.serveHealth)})
	}
	if s.Metrics != nil {
		all = append(all, access.ServerRoute{Method: http.MethodGet, Pattern: "/metrics", Role: access.Read, Handler: http.HandlerFunc(s.serveMetrics)})
	}
	if s.pages == nil {
		return all
	}
	return slices.Concat(all, (&api.API{WebBackend: s.Site, Feed: s.Feed, Gates: &s.gates}).Routes(), s.pages.Routes())
}

// Serve serves until the context ends, or until the shown data cannot be followed any more. Work
// that its pages began ends with it.
func (s *Server) Serve(ctx context.Context) error {
	if s.pages == nil {
		return s.serveUntilDone(ctx)
	}
	work, stop := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	for _, follow := range []func(context.Context) error{s.Feed.Follow, s.Site.Hub.Follow, s.endGateReruns} {
		all.Go(func() { stop(follow(work)) })
	}
	err := s.serveUntilDone(work)
	if err == nil && ctx.Err() == nil {
		err = context.Cause(work)
	}
	stop(nil)
	all.Wait()
	return err
}

// endGateReruns ends the work that the pages began, and prints that.
func (s *Server) endGateReruns(ctx context.Context) error {
	for _, text := range s.gates.StopOnDone(ctx) {
		if s.Say != nil {
			s.Say("%s", text)
		}
	}
	return nil
}

// newHTTPServer returns a server for a handler that tolerates slow clients, within limits.
func newHTTPServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
}

func (s *Server) serveUntilDone(ctx context.Context) error {
	server := newHTTPServer(s.newHandler())
	server.BaseContext = func(net.Listener) context.Context { return context.WithoutCancel(ctx) }
	served := make(chan error, 1)
	go func() { // ends with Close below
		if s.TLSCert != "" {
			served <- server.ServeTLS(s.listener, s.TLSCert, s.TLSKey)
			return
		}
		served <- server.Serve(s.listener)
	}()
	defer s.close(nil)
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	s.close(errors.New("the server ends"))
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

// cookieName returns the name of the cookie, which contains the port because cookies do not
// distinguish ports.
func (s *Server) cookieName() string {
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	return "nexus_" + port
}

// equalSecrets compares a received text with a secret in constant time, so that the duration does not
// reveal correct characters.
func equalSecrets(sent, secret string) bool {
	x, y := sha256.Sum256([]byte(sent)), sha256.Sum256([]byte(secret))
	return hmac.Equal(x[:], y[:])
}
