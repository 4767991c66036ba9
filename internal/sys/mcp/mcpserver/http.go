package mcpserver

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const (
	minToken = 16 // bytes of a token that a person chose
	maxToken = 4 << 10

	// sessionTimeout is the time until a silent client is forgotten.
	sessionTimeout = time.Hour
	// modernRevision is the first revision without a handshake. It has no sessions, and closing the request
	// cancels the call.
	modernRevision = "2026-07-28"
)

// EndpointPath is the path of the server on its port.
const EndpointPath = "/mcp"

// HTTPServer serves clients over HTTP on this machine. Create it with [Server.Listen].
type HTTPServer struct {
	listener net.Listener
	token    string
	next     http.Handler
	now      func() time.Time
	wrong    *rate.Limiter // limits calls without the right token
}

// Listen opens a port on loopback; port 0 chooses a free one. Requests are served from [HTTPServer.Serve]
// on.
func (s *Server) Listen(ctx context.Context, address, token string, now func() time.Time) (*HTTPServer, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, invalidInputError("listen at "+address, err, "Write address:port, such as 127.0.0.1:7331.")
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		const hint = "Use 127.0.0.1, and connect from elsewhere through a tunnel (ssh -L)."
		return nil, invalidInputError(address+" is not an address of this machine alone", nil, hint)
	}
	if len(token) < minToken {
		const hint = "Use a long random token, for example from openssl rand -hex 24."
		return nil, invalidInputError(fmt.Sprintf("the token is shorter than %d bytes", minToken), nil, hint)
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, invalidInputError("listen at "+address, err, "Name another port, or port 0 for one that is free.")
	}
	return &HTTPServer{listener: l, token: token, next: s.httpHandler(), now: now, wrong: rate.NewLimiter(0.2, 10)}, nil
}

func invalidInputError(message string, cause error, hint string) error {
	return &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Cause: cause, Hint: hint}
}

// httpHandler answers authorized calls. Clients of revisions with a handshake have a session, so that
// the server can ask them and they can cancel.
func (s *Server) httpHandler() http.Handler {
	here := func(*http.Request) *sdk.Server { return s.sdk }
	sessions := sdk.NewStreamableHTTPHandler(here, &sdk.StreamableHTTPOptions{SessionTimeout: sessionTimeout, MaxRequestBodyBytes: maxMessage})
	calls := sdk.NewStreamableHTTPHandler(here, &sdk.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= modernRevision {
			calls.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
}

// URL returns the URL of the server.
func (w *HTTPServer) URL() string { return "http://" + w.listener.Addr().String() + EndpointPath }

// Serve serves until the context ends, and disconnects the remaining clients a moment later.
func (w *HTTPServer) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler: w, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(w.listener) }() // ends with Close below
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), time.Second, errors.New("time to close is over"))
	defer cancel()
	if server.Shutdown(grace) != nil { // a listening client never ends by itself
		_ = server.Close()
	}
	if end := <-served; !errors.Is(end, http.ErrServerClosed) {
		return end
	}
	return nil
}

// ServeHTTP accepts requests that use the server's own address, come from no page of another site,
// and have the token.
func (w *HTTPServer) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	h := out.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	switch {
	case !w.isOwnHost(r.Host):
		http.Error(out, "this is not a name of this server", http.StatusMisdirectedRequest)
	case !w.isOwnOrigin(r.Header.Values("Origin")):
		http.Error(out, "pages of other sites may not call this server", http.StatusForbidden)
	case !w.hasToken(r.Header.Values("Authorization")):
		w.refuseUnauthorized(out)
	case r.URL.Path != EndpointPath:
		http.Error(out, "the server is at "+EndpointPath, http.StatusNotFound)
	default:
		w.next.ServeHTTP(out, r)
	}
}

// isOwnHost reports whether a host is the listening address, or localhost with its port. A
// stranger's page whose name resolves to this machine uses that name instead.
func (w *HTTPServer) isOwnHost(host string) bool {
	own := w.listener.Addr().String()
	_, port, err := net.SplitHostPort(own)
	return host == own || err == nil && host == "localhost:"+port
}

// isOwnOrigin reports whether a request comes from no page, or from a page of this server.
func (w *HTTPServer) isOwnOrigin(origins []string) bool {
	for _, origin := range origins {
		if host, ok := strings.CutPrefix(origin, "http://"); !ok || !w.isOwnHost(host) {
			return false
		}
	}
	return len(origins) < 2
}

// hasToken reports whether a request has the token, in a time that does not depend on the number
// of correct characters.
func (w *HTTPServer) hasToken(values []string) bool {
	if len(values) != 1 {
		return false
	}
	kind, sent, _ := strings.Cut(values[0], " ")
	x, y := sha256.Sum256([]byte(sent)), sha256.Sum256([]byte(w.token))
	return strings.EqualFold(kind, "Bearer") && hmac.Equal(x[:], y[:])
}

// refuseUnauthorized refuses a request without the token.
func (w *HTTPServer) refuseUnauthorized(out http.ResponseWriter) {
	if !w.wrong.AllowN(w.now(), 1) {
		out.Header().Set("Retry-After", "5")
		http.Error(out, "too many calls with a wrong token", http.StatusTooManyRequests)
		return
	}
	out.Header().Set("WWW-Authenticate", "Bearer")
	http.Error(out, "the token is missing or wrong: send the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
}

// LoadOrCreateToken reads the token from a file that only its owner can read, and creates the file with a
// random token if it is missing. Without a file name it returns a random token.
func LoadOrCreateToken(path string) (string, error) {
	if path == "" {
		return rand.Text(), nil
	}
	wrong := func(message string, cause error) error {
		const hint = "Only you may read it, and it holds one line. Remove it, and a new one is made."
		return invalidInputError("the token file "+path+" "+message, cause, hint)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		token := rand.Text()
		if _, err := f.WriteString(token + "\n"); err != nil {
			return "", errors.Join(wrong("cannot be written", err), f.Close(), os.Remove(path))
		}
		return token, f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return "", wrong("cannot be made", err)
	}
	f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", wrong("cannot be read", err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", wrong("cannot be read", err)
	case !info.Mode().IsRegular():
		return "", wrong("is not a file", nil)
	case info.Mode().Perm()&0o077 != 0:
		return "", wrong(fmt.Sprintf("can be read by others (mode %04o)", info.Mode().Perm()), nil)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		return "", wrong("belongs to somebody else", nil)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	if err != nil {
		return "", wrong("cannot be read", err)
	}
	token, ok := parseToken(data)
	if !ok {
		return "", wrong(fmt.Sprintf("holds no token of %d bytes or more", minToken), nil)
	}
	return token, nil
}

// parseToken returns the token in the content of a file: one line of visible ASCII, which is valid in
// a header.
func parseToken(data []byte) (string, bool) {
	token := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	odd := strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
	return token, !odd && len(token) >= minToken && len(token) <= maxToken
}
