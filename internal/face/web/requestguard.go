package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
)

const (
	// maxStreams limits the clients that may listen at a time, and maxTheirs those of one person,
	// so that one person cannot lock out the others.
	maxStreams, maxTheirs = 200, 100
	// maxBodyEver limits the body of every route.
	maxBodyEver = 4 << 20
)

// policy limits the resources of a page to those of this server, without inline scripts or
// styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// newHandler returns the server's handler, with every guard in front of every route.
func (s *Server) newHandler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.table {
		mux.Handle(r.Method+" "+r.Pattern, s.guardRoute(r))
	}
	lost := access.ServerRoute{Method: http.MethodGet, Role: access.Read, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.answerNotFound(w, r, mux)
	})}
	nowhere := s.guardRoute(lost)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header())
		defer drainBody(r.Body)
		if !s.refuseForeignOrigin(w, r) {
			return
		}
		if _, pattern := mux.Handler(r); pattern == "" {
			nowhere.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// drainBody reads and discards the unread rest of a body, up to a limit: a client that is refused
// while it still writes would otherwise see a broken connection instead of the response.
func drainBody(body io.Reader) {
	_, _ = io.CopyN(io.Discard, body, maxBodyEver) // the response is the same if the client stops
}

func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
}

// answerNotFound answers a call to an unknown address, or with a wrong method.
func (s *Server) answerNotFound(w http.ResponseWriter, r *http.Request, mux *http.ServeMux) {
	var others []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		try := r.Clone(r.Context())
		try.Method = method
		if _, pattern := mux.Handler(try); pattern != "" {
			others = append(others, method)
		}
	}
	if len(others) > 0 {
		w.Header().Set("Allow", strings.Join(others, ", "))
		access.RefuseRequest(w, r, http.StatusMethodNotAllowed, access.ProblemError{
			Code: access.CodeMethod, Message: "this address takes " + strings.Join(others, ", "),
		})
		return
	}
	if s.pages != nil && r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/api/") {
		s.pages.ServeNotFound(w, r)
		return
	}
	access.RefuseRequest(w, r, http.StatusNotFound, access.ProblemError{
		Code: "not_found", Message: "there is nothing at this address", Hint: "See / for the pages, and /api/v1/openapi.json for the API.",
	})
}

// refuseForeignOrigin refuses calls with a host name that is not the server's, and calls from pages of other
// sites. It reports whether the call may continue.
func (s *Server) refuseForeignOrigin(w http.ResponseWriter, r *http.Request) bool {
	host := r.Host
	if s.Forwarded && r.Header.Get("X-Forwarded-Host") != "" {
		host = r.Header.Get("X-Forwarded-Host")
	}
	if !s.isOwnHost(host) {
		access.RefuseRequest(w, r, http.StatusMisdirectedRequest, access.ProblemError{
			Code: access.CodeHost, Message: "this is not a name of this server",
			Hint: "Use the printed address, or add the name with nexus serve --host NAME.",
		})
		return false
	}
	origins, own := r.Header.Values("Origin"), s.urlScheme()+"://"+host
	site := r.Header.Get("Sec-Fetch-Site")
	visit := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate"
	switch {
	case len(origins) > 1 || len(origins) == 1 && origins[0] != own:
	case site != "" && site != "same-origin" && site != "none" && !visit:
	default:
		return true
	}
	access.RefuseRequest(w, r, http.StatusForbidden, access.ProblemError{
		Code: access.CodeOrigin, Message: "pages of other sites may not call this server",
		Hint: "Behind a proxy that does TLS, start it with nexus serve --behind-proxy --host NAME.",
	})
	return false
}

// guardRoute lets a call through to a route if it satisfies the route's rules.
func (s *Server) guardRoute(route access.ServerRoute) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if route.Role == access.Everybody {
			if s.refuseTooFast(w, r, s.calls) {
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, access.DefaultBody)
			route.Handler.ServeHTTP(w, r)
			return
		}
		c, ok := s.authenticate(w, r)
		if !ok || !route.File && s.refuseTooFast(w, r, s.rateLimiter(c.person)) {
			return
		}
		if !c.person.HasRole(route.Role) {
			access.RefuseRequest(w, r, http.StatusForbidden, access.ProblemError{
				Code:    access.CodeRole,
				Message: fmt.Sprintf("this needs the role %s, and %s has the role %s", route.Role, c.person.Name, c.person.Role),
				Hint:    "Ask the person who runs the server for another token (nexus serve token add).",
			})
			return
		}
		ctx := access.WithPerson(r.Context(), c.person, c.secret)
		if route.Changes && !s.checkChangeRequest(w, r, route, c, access.CSRFToken(ctx)) {
			return
		}
		if !route.Changes {
			r.Body = http.MaxBytesReader(w, r.Body, access.DefaultBody)
		}
		if route.Stream {
			s.serveStream(c.person, &revocableStreamWriter{w, func() bool { return s.isStillAllowed(r, route.Role) }}, r.WithContext(ctx), route.Handler)
			return
		}
		route.Handler.ServeHTTP(w, r.WithContext(ctx))
	})
}

// refuseTooFast refuses a caller who calls too often.
func (s *Server) refuseTooFast(w http.ResponseWriter, r *http.Request, pace *rate.Limiter) bool {
	if pace.AllowN(s.Now(), 1) {
		return false
	}
	w.Header().Set("Retry-After", "1")
	access.RefuseRequest(w, r, http.StatusTooManyRequests, access.ProblemError{
		Code: access.CodeRate, Message: "too many calls", Hint: "Wait a second, then try again.",
	})
	return true
}

// rateLimiter returns the rate limiter of a person. A page that follows a run makes three calls a
// second, and a restarted browser opens many pages at once.
func (s *Server) rateLimiter(p access.TokenOwner) *rate.Limiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paces[p.Name] == nil {
		s.paces[p.Name] = rate.NewLimiter(50, 200)
	}
	return s.paces[p.Name]
}

// authenticatedCaller is the caller, and how they were identified.
type authenticatedCaller struct {
	person  access.TokenOwner
	secret  string // secret of the caller's session
	browser bool   // identified by a cookie, which browsers send automatically
}

// authenticate identifies the caller, and refuses callers without a token. A browser with the token gets
// a cookie for it.
func (s *Server) authenticate(w http.ResponseWriter, r *http.Request) (authenticatedCaller, bool) {
	all, err := s.tokenEntries()
	if err != nil {
		access.RefuseError(w, r, err)
		return authenticatedCaller{}, false
	}
	q := r.URL.Query()
	bearer := strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer && q.Has("token") && r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/api/") {
		s.setLoginCookie(w, r, all, q)
		return authenticatedCaller{}, false
	}
	c, known := s.identifyCaller(r, all)
	if !known {
		s.refuseUnknownToken(w, r)
	}
	return c, known
}

// identifyCaller returns the caller identified by the call itself.
func (s *Server) identifyCaller(r *http.Request, all []access.TokenEntry) (authenticatedCaller, bool) {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		p, known := access.OwnerOfToken(all, token)
		return authenticatedCaller{p, token, false}, known
	}
	c, err := r.Cookie(s.cookieName())
	if err != nil {
		return authenticatedCaller{}, false
	}
	p, known := access.OwnerOfCookie(all, c.Value)
	return authenticatedCaller{p, c.Value, true}, known
}

// isStillAllowed reports whether an admitted caller would be admitted now.
func (s *Server) isStillAllowed(r *http.Request, role access.Role) bool {
	all, err := s.tokenEntries()
	if err != nil {
		return false
	}
	c, known := s.identifyCaller(r, all)
	return known && c.person.HasRole(role)
}

// revocableStreamWriter is a streaming response. It ends if the caller's token is removed.
type revocableStreamWriter struct {
	http.ResponseWriter

	let func() bool
}

var errRemoved = errors.New("the token was removed")

// Write writes, unless the caller has lost access.
func (l *revocableStreamWriter) Write(p []byte) (int, error) {
	if !l.let() {
		return 0, errRemoved
	}
	return l.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (l *revocableStreamWriter) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// setLoginCookie gives a browser a cookie for the token in its address, and redirects it to the address
// without the token.
func (s *Server) setLoginCookie(w http.ResponseWriter, r *http.Request, all []access.TokenEntry, q url.Values) {
	token := q.Get("token")
	if _, known := access.OwnerOfToken(all, token); !known {
		s.refuseUnknownToken(w, r)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(), Value: access.CookieForToken(token), Path: "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.urlScheme() == "https",
	})
	q.Del("token")
	to := url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/\\"), RawQuery: q.Encode()}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

// tokenEntries returns the persons with a token: the owner and the persons that they added.
func (s *Server) tokenEntries() ([]access.TokenEntry, error) {
	all := []access.TokenEntry{s.owner}
	if s.Book.Path == "" {
		return all, nil
	}
	more, err := s.Book.Entries()
	return append(all, more...), err
}

// refuseUnknownToken refuses a caller without a valid token.
func (s *Server) refuseUnknownToken(w http.ResponseWriter, r *http.Request) {
	if !s.wrong.AllowN(s.Now(), 1) {
		w.Header().Set("Retry-After", "5")
		access.RefuseRequest(w, r, http.StatusTooManyRequests, access.ProblemError{
			Code: access.CodeRate, Message: "too many calls with a wrong token", Hint: "Wait a while, then use the right token.",
		})
		return
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	access.RefuseRequest(w, r, http.StatusUnauthorized, access.ProblemError{
		Code: access.CodeUnauthorized, Message: "the token is missing or wrong: open the address that nexus printed",
		Hint: "Programs send it with each call: Authorization: Bearer TOKEN.",
	})
}

// checkChangeRequest checks the rules for changes: the body is not too large, and a browser sends it from a
// page of this server.
func (s *Server) checkChangeRequest(w http.ResponseWriter, r *http.Request, route access.ServerRoute, c authenticatedCaller, csrf string) bool {
	most := int64(access.DefaultBody)
	if route.Body > 0 {
		most = route.Body
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if !c.browser {
		return true
	}
	if r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") != "same-origin" {
		access.RefuseRequest(w, r, http.StatusForbidden, access.ProblemError{
			Code: access.CodeOrigin, Message: "it does not say which site it comes from", Hint: "Programs send the token in place of a cookie.",
		})
		return false
	}
	sent := r.Header.Get(access.CSRFHeader)
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if sent == "" && err == nil && kind == "application/x-www-form-urlencoded" {
		if err := r.ParseForm(); err != nil {
			refuseBody(w, r, err)
			return false
		}
		sent = r.PostForm.Get(access.CSRFField)
	}
	if !equalSecrets(sent, csrf) {
		access.RefuseRequest(w, r, http.StatusForbidden, access.ProblemError{
			Code: access.CodeCSRF, Message: "the form is out of date", Hint: "Reload the page, then send it again.",
		})
		return false
	}
	return true
}

// refuseBody refuses a body that cannot be read.
func refuseBody(w http.ResponseWriter, r *http.Request, err error) {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		access.RefuseRequest(w, r, http.StatusRequestEntityTooLarge, access.ProblemError{
			Code: access.CodeTooLarge, Message: fmt.Sprintf("the body is larger than %d bytes", large.Limit), Hint: "Send less at a time.",
		})
		return
	}
	access.RefuseRequest(w, r, http.StatusBadRequest, access.ProblemError{Code: "invalid_input", Message: "the body cannot be read: " + err.Error()})
}

// changeStreamCount changes the number of listening clients by more, and reports whether it is within the
// limits.
func (s *Server) changeStreamCount(p access.TokenOwner, more int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if more > 0 && (s.streams[p.Name] >= maxTheirs || s.streaming >= maxStreams) {
		return false
	}
	s.streaming += more
	if s.streams[p.Name] += more; s.streams[p.Name] == 0 {
		delete(s.streams, p.Name)
	}
	return true
}

// serveStream serves a response for as long as the client stays and the server runs.
func (s *Server) serveStream(p access.TokenOwner, w http.ResponseWriter, r *http.Request, next http.Handler) {
	if !s.changeStreamCount(p, 1) {
		w.Header().Set("Retry-After", "5")
		access.RefuseRequest(w, r, http.StatusServiceUnavailable, access.ProblemError{
			Code: access.CodeRate, Message: "too many clients listen already", Hint: "Close some of them, then try again.",
		})
		return
	}
	defer s.changeStreamCount(p, -1)
	rc := http.NewResponseController(w)
	if err := errors.Join(rc.SetReadDeadline(time.Time{}), rc.SetWriteDeadline(time.Time{})); err != nil {
		access.RefuseError(w, r, err)
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.closing, func() { //nolint:contextcheck // the server's end, which no call knows
		cancel(context.Cause(s.closing))
	})()
	next.ServeHTTP(w, r.WithContext(ctx))
}

// urlScheme returns the URL scheme of the server for browsers.
func (s *Server) urlScheme() string {
	if s.TLSCert != "" || s.BehindProxy {
		return "https"
	}
	return "http"
}

// isOwnHost reports whether a host is a valid name of the server. A hostile page whose domain
// resolves to this machine uses its own name.
func (s *Server) isOwnHost(host string) bool {
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

// checkRoutes refuses a route whose rules the guards cannot enforce.
func checkRoutes(table []access.ServerRoute) error {
	for _, r := range table {
		reads := r.Method == http.MethodGet
		switch {
		case r.Role != access.Everybody && !slices.Contains(access.Roles, r.Role):
			return fmt.Errorf("route %s %s has no role", r.Method, r.Pattern)
		case reads == r.Changes:
			return fmt.Errorf("route %s %s changes something by GET, or nothing by another method", r.Method, r.Pattern)
		case r.Changes && (r.Role == access.Everybody || r.Role == access.Read):
			return fmt.Errorf("route %s %s changes something, and everybody who reads may do it", r.Method, r.Pattern)
		case r.Body < 0 || r.Body > maxBodyEver:
			return fmt.Errorf("route %s %s takes a body of %d bytes", r.Method, r.Pattern, r.Body)
		case r.Handler == nil || !strings.HasPrefix(r.Pattern, "/"):
			return fmt.Errorf("route %s %s does nothing", r.Method, r.Pattern)
		}
	}
	return nil
}
