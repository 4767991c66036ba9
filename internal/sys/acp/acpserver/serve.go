package acpserver

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/jsonline"
)

// Server serves one client.
type Server struct {
	// Version is the version of this program, for people; empty if unknown.
	Version string
	// Login tells a person how to make this agent ready, see [ServedAgent.Ready].
	Login string
	// Gone is called when the client has gone while prompts are running, with their number; they
	// end now. It may be nil.
	Gone func(prompts int)

	agent   ServedAgent
	link    *clientConnection
	working sync.WaitGroup

	mu       sync.Mutex              // guards the fields below
	client   *clientCapabilitiesInfo // nil before initialize
	sessions map[string]*serverSession
	asked    map[string]context.CancelCauseFunc // running requests by identifier
}

// serverSession is an open session.
type serverSession struct {
	ServedSession

	dir   string
	turns map[*runningPrompt]bool
}

// Serve serves a client until it has gone or ctx ends. It ends the running prompts, and waits for
// everything that it started.
func (s *Server) Serve(ctx context.Context, a ServedAgent, in io.Reader, out io.Writer) {
	life, end := context.WithCancelCause(ctx)
	defer end(nil)
	s.agent, s.sessions, s.asked = a, map[string]*serverSession{}, map[string]context.CancelCauseFunc{}
	s.link = newClientConnection(out, func(error) { end(ErrGone) })
	go s.link.writeQueuedMessages()
	lines := make(chan []byte)
	go func() { // a read cannot be interrupted
		defer end(ErrGone)
		readLines(life, jsonline.NewLineReader(in, maxMessage), lines)
	}()
	for life.Err() == nil {
		select {
		case line := <-lines:
			s.handleLine(ctx, line)
		case <-life.Done():
		}
	}
	if n := s.endAllPrompts(context.Cause(life)); n > 0 && s.Gone != nil && ctx.Err() == nil {
		s.Gone(n)
	}
	s.working.Wait()
	s.link.waitForLastMessage()
}

// readLines sends lines to the channel until the end of the input; nil stands for a line that is too
// long.
func readLines(ctx context.Context, r *jsonline.LineReader, lines chan<- []byte) {
	for {
		line, err := r.Next()
		if err != nil && !errors.Is(err, jsonline.ErrLong) {
			return
		}
		select {
		case lines <- line:
		case <-ctx.Done():
			return
		}
	}
}

// handleLine handles a line of the client.
func (s *Server) handleLine(ctx context.Context, line []byte) {
	var m protocolMessage
	switch {
	case line == nil:
		s.link.answerInvalid(codeInvalid, fmt.Sprintf("the message has more than %d bytes", maxMessage))
		return
	case !json.Valid(line):
		s.link.answerInvalid(codeParse, "the line is not JSON")
		return
	case json.Unmarshal(line, &m) != nil || line[0] != '{':
		s.link.answerInvalid(codeInvalid, "the line is not a message of JSON-RPC 2.0")
		return
	case m.Method == "": // a response is never answered, even a bad one: two such peers would answer forever
		s.link.deliverResponse(m)
		return
	case !isRequestID(m.ID):
		s.link.answerInvalid(codeInvalid, "the id of the message is no text and no number")
		return
	case m.ID == nil:
		s.handleNotification(m)
		return
	}
	s.handleRequest(ctx, m)
}

// isRequestID reports whether a value can be the identifier of a request. Nil is no identifier.
func isRequestID(id json.RawMessage) bool {
	return id == nil || len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

// handleNotification handles a notification. Unknown ones are ignored.
func (s *Server) handleNotification(m protocolMessage) {
	var p struct {
		Session string          `json:"sessionId"`
		Request json.RawMessage `json:"requestId"`
	}
	if len(m.Params) > 0 && json.Unmarshal(m.Params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m.Method {
	case "session/cancel":
		if one := s.sessions[p.Session]; one != nil {
			for t := range one.turns {
				t.end(ErrCancelled)
			}
		}
	case "$/cancel_request":
		if end := s.asked[string(p.Request)]; end != nil {
			end(ErrCancelled)
		}
	}
}

// requestHandlerFunc answers a request. Quick work is done before the next line is read, so that the
// order of requests counts; slow work is returned as the function later.
type requestHandlerFunc func(ctx context.Context, params json.RawMessage) (result any, later func(context.Context) (any, error), err error)

// handleRequest answers a request; slow work runs concurrently with the next requests.
func (s *Server) handleRequest(ctx context.Context, m protocolMessage) {
	known := map[string]requestHandlerFunc{
		"initialize": s.handleInitialize, "authenticate": s.handleAuthenticate,
		"session/new": s.sessionOpenHandler("new"), "session/load": s.sessionOpenHandler("load"), "session/resume": s.sessionOpenHandler("resume"),
		"session/list": s.listSessions, "session/close": s.closeSession, "session/prompt": s.promptSession,
		"session/set_mode": s.setSessionMode, "session/set_config_option": s.setSessionOption,
	}
	do := known[m.Method]
	if do == nil {
		s.link.sendAnswer(m.ID, nil, &rpcRequestError{Code: codeUnknown, Message: "unknown method " + quoteName(m.Method)})
		return
	}
	params := m.Params
	if len(bytes.TrimSpace(params)) == 0 {
		params = json.RawMessage("{}")
	}
	one, end := context.WithCancelCause(ctx)
	id := string(m.ID)
	if err := s.beginRequest(id, m.Method, end); err != nil {
		end(nil)
		s.link.sendAnswer(m.ID, nil, err)
		return
	}
	result, later, err := do(one, params)
	if later == nil || err != nil {
		s.finishRequest(id, end)
		s.link.sendAnswer(m.ID, result, err)
		return
	}
	s.working.Go(func() {
		result, err := later(one)
		s.finishRequest(id, end)
		o, opened := result.(openedSessionResult)
		if opened {
			result = o.result
		}
		s.link.sendAnswer(m.ID, result, err)
		if opened && err == nil {
			o.session.Opened()
		}
	})
}

// openedSessionResult is the result of a request that opened a session, with the messages that the session may
// send then.
type openedSessionResult struct {
	result  any
	session ServedSession
}

// beginRequest registers a running request, or refuses it.
func (s *Server) beginRequest(id, method string, end context.CancelCauseFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.client == nil && method != "initialize":
		return &rpcRequestError{Code: codeInvalid, Message: "the first request has to be initialize"}
	case s.asked[id] != nil:
		return &rpcRequestError{Code: codeInvalid, Message: "a request with this id is being worked on"}
	case len(s.asked) >= maxAsked:
		return &rpcRequestError{Code: codeInvalid, Message: fmt.Sprintf("%d requests are being worked on; wait for one of them", maxAsked)}
	}
	s.asked[id] = end
	return nil
}

func (s *Server) finishRequest(id string, end context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asked, id)
	end(nil)
}

func decodeParams(params json.RawMessage, into any) error {
	if err := json.Unmarshal(params, into); err != nil {
		return &rpcRequestError{Code: codeParams, Message: "the params are wrong: " + err.Error()}
	}
	return nil
}

func (s *Server) handleInitialize(_ context.Context, params json.RawMessage) (any, func(context.Context) (any, error), error) {
	var c clientCapabilitiesInfo
	if err := decodeParams(params, &c); err != nil {
		return nil, nil, err
	}
	if n, err := strconv.ParseUint(c.Version.String(), 10, 16); err != nil || n == 0 {
		return nil, nil, &rpcRequestError{Code: codeParams, Message: "protocolVersion has to be a whole number, such as 1"}
	}
	s.mu.Lock()
	s.client = &c
	s.mu.Unlock()
	can := struct{}{}
	return map[string]any{
		"protocolVersion": protocolVersion,
		"agentInfo":       map[string]any{"name": "nexus", "title": "Nexus", "version": cmp.Or(s.Version, "1")},
		"agentCapabilities": map[string]any{
			"loadSession":         true,
			"promptCapabilities":  map[string]any{"embeddedContext": true, "image": false, "audio": false},
			"mcpCapabilities":     map[string]any{"http": false, "sse": false},
			"sessionCapabilities": map[string]any{"list": can, "resume": can, "close": can},
		},
		"authMethods": []any{map[string]any{"id": "nexus", "name": "Nexus", "description": s.Login}},
	}, nil, nil
}

func (s *Server) handleAuthenticate(_ context.Context, params json.RawMessage) (any, func(context.Context) (any, error), error) {
	var p struct {
		Method string `json:"methodId"`
	}
	if err := decodeParams(params, &p); err != nil {
		return nil, nil, err
	}
	if p.Method != "nexus" {
		return nil, nil, &rpcRequestError{Code: codeParams, Message: "unknown methodId " + quoteName(p.Method)}
	}
	return nil, func(ctx context.Context) (any, error) { return struct{}{}, s.agent.Ready(ctx) }, nil
}

// sessionOpenHandler returns the handler that opens a session.
func (s *Server) sessionOpenHandler(how string) requestHandlerFunc {
	return func(_ context.Context, params json.RawMessage) (any, func(context.Context) (any, error), error) {
		var p struct {
			ID  string `json:"sessionId"`
			Dir string `json:"cwd"`
		}
		if err := decodeParams(params, &p); err != nil {
			return nil, nil, err
		}
		o := SessionOpenParams{Dir: filepath.Clean(p.Dir), Fresh: how == "new", Silent: how == "resume"}
		switch {
		case !filepath.IsAbs(p.Dir):
			return nil, nil, &rpcRequestError{Code: codeParams, Message: "cwd has to be an absolute path"}
		case o.Fresh:
			p.ID = "acp-" + strings.ToLower(rand.Text())
		case p.ID == "":
			return nil, nil, &rpcRequestError{Code: codeParams, Message: "sessionId is missing"}
		}
		return nil, func(ctx context.Context) (any, error) { return s.openSession(ctx, p.ID, o) }, nil
	}
}

func (s *Server) openSession(ctx context.Context, id string, o SessionOpenParams) (any, error) {
	s.mu.Lock()
	known, full := s.sessions[id], len(s.sessions) >= maxSessions
	c := &Client{ID: id, Name: s.client.displayName(), link: s.link, forms: s.client.supportsForms()}
	busy := known != nil && len(known.turns) > 0
	s.mu.Unlock()
	switch {
	case busy:
		return nil, &rpcRequestError{Code: codeInvalid, Message: "a prompt is being worked on in this session; cancel it first"}
	case full && known == nil:
		return nil, &rpcRequestError{Code: codeInvalid, Message: fmt.Sprintf("%d sessions are open; close one of them", maxSessions)}
	}
	one, err := s.agent.Open(ctx, c, o)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.sessions[id]; now != nil && len(now.turns) > 0 {
		return nil, &rpcRequestError{Code: codeInvalid, Message: "a prompt is being worked on in this session; cancel it first"}
	}
	s.sessions[id] = &serverSession{ServedSession: one, dir: o.Dir, turns: map[*runningPrompt]bool{}}
	r := sessionOptionValues(one)
	if o.Fresh {
		r["sessionId"] = id
	}
	return openedSessionResult{r, one}, nil
}

func (c *clientCapabilitiesInfo) supportsForms() bool {
	return c.Capabilities.Elicitation != nil && c.Capabilities.Elicitation.Form != nil
}

func (s *Server) listSessions(_ context.Context, params json.RawMessage) (any, func(context.Context) (any, error), error) {
	var p struct {
		Dir    string `json:"cwd"`
		Cursor string `json:"cursor"`
	}
	if err := decodeParams(params, &p); err != nil {
		return nil, nil, err
	}
	from, err := strconv.Atoi(cmp.Or(p.Cursor, "0"))
	if err != nil || from < 0 {
		return nil, nil, &rpcRequestError{Code: codeParams, Message: "there is no such cursor"}
	}
	if p.Dir != "" && !filepath.IsAbs(p.Dir) {
		return nil, nil, &rpcRequestError{Code: codeParams, Message: "cwd has to be an absolute path"}
	}
	return nil, func(ctx context.Context) (any, error) {
		all, err := s.agent.Sessions(ctx, p.Dir)
		if err != nil {
			return nil, err
		}
		from := min(from, len(all))
		to := min(from+sessionsPerPage, len(all))
		r := map[string]any{"sessions": append([]SessionListEntry{}, all[from:to]...)}
		if to < len(all) {
			r["nextCursor"] = strconv.Itoa(to)
		}
		return r, nil
	}, nil
}

// findSession returns an open session. The caller must hold the lock.
func (s *Server) findSession(id string) (*serverSession, error) {
	one := s.sessions[id]
	if one == nil {
		return nil, &rpcRequestError{Code: codeNotFound, Message: "there is no open session " + quoteName(id) + "; session/load opens one that was closed"}
	}
	return one, nil
}
