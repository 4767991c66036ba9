// Package mcpserver serves the Model Context Protocol: it offers tools and resources to other
// agents and editors, on standard input and output or over HTTP on this machine.
//
// A client is untrusted. Its input is checked against the schema of the tool; calls that cost
// money or replace a person's decision need a person's consent; and a client that disconnects or
// does not read blocks nothing.
package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// maxMessage is the largest message of a client, in bytes.
const maxMessage = 8 << 20

// jsonContentType is the media type of resources.
const jsonContentType = "application/json"

// maxClient limits the stored name of a client, in bytes.
const maxClient = 40

var (
	// ErrCancelled is the cause if the client cancelled the call.
	ErrCancelled = errors.New("cancelled by the client")
	// ErrGone is the cause if the client disconnected without cancelling.
	ErrGone = errors.New("the client has gone")
)

// ServedToolsAndResources has the tools and resources of a server.
type ServedToolsAndResources struct {
	Version   string
	About     string // for the client's model: a description with the first steps
	Tools     []ServedTool
	Resources []ServedResource
}

// ServedTool is a tool that a client can call.
type ServedTool struct {
	Name, About string
	Input       *jsonschema.Schema
	Reads       bool // it changes nothing
	Ends        bool // it may end or replace something

	// Asks returns the question that a person must agree to before this call, or "", and the result
	// if the person refuses or cannot be asked. A failed result without a question refuses at once.
	// Nil: no question.
	Asks func(context.Context, ClientToolCall) (question string, otherwise Result)
	// Do executes a call. Its context ends with [ErrCancelled] or [ErrGone].
	Do func(context.Context, ClientToolCall) Result
}

// ClientToolCall is a call of a tool.
type ClientToolCall struct {
	Input  map[string]any // fits the tool's schema
	Client string         // the client's name, sanitized; never empty
	Agreed bool           // a person agreed to exactly this call
	Told   func(string)   // sends progress without waiting for the client
}

// Result is the result of a call.
type Result struct {
	Text   string          // for a model
	Data   json.RawMessage // an object for programs; nil: none
	Failed bool
}

// ServedResource is a resource that a client can read: at one URI, or at those of an RFC 6570 template.
type ServedResource struct {
	URI, Name, About string
	Template         bool
	// Read returns a JSON object, or [ErrNone] for an unknown URI.
	Read func(ctx context.Context, uri string) ([]byte, error)
}

// ErrNone is returned for a URI without a resource.
var ErrNone = errors.New("there is nothing at this address")

// Server serves an [ServedToolsAndResources]. Create it with [NewServer].
type Server struct {
	sdk  *sdk.Server
	open askedCallStore
}

// NewServer returns a server of an offer.
func NewServer(o ServedToolsAndResources) (*Server, error) {
	s := &Server{sdk: sdk.NewServer(
		&sdk.Implementation{Name: "nexus", Title: "Nexus", Version: cmp.Or(o.Version, "1")},
		&sdk.ServerOptions{
			Instructions: o.About,
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}},
			SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
		},
	)}
	for _, t := range o.Tools {
		if err := s.addTool(t); err != nil {
			return nil, fmt.Errorf("tool %s: %w", t.Name, err)
		}
	}
	for _, r := range o.Resources {
		read := resourceHandler(r)
		if r.Template {
			s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: r.URI, Name: r.Name, Description: r.About, MIMEType: jsonContentType}, read)
		} else {
			s.sdk.AddResource(&sdk.Resource{URI: r.URI, Name: r.Name, Description: r.About, MIMEType: jsonContentType}, read)
		}
	}
	return s, nil
}

func resourceHandler(r ServedResource) sdk.ResourceHandler {
	return func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		data, err := r.Read(ctx, req.Params.URI)
		switch {
		case errors.Is(err, ErrNone):
			return nil, sdk.ResourceNotFoundError(req.Params.URI)
		case err != nil:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: sanitize.RevealHidden(err.Error())}
		}
		content := &sdk.ResourceContents{URI: req.Params.URI, MIMEType: jsonContentType, Text: string(sanitize.EscapeJSON(data))}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{content}}, nil
	}
}

// addTool registers a tool.
func (s *Server) addTool(t ServedTool) error {
	schema, err := t.Input.Resolve(nil)
	if err != nil {
		return err
	}
	local := false
	about := &sdk.ToolAnnotations{ReadOnlyHint: t.Reads, DestructiveHint: &t.Ends, OpenWorldHint: &local}
	answer := func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		input, err := readArguments(r.Params.Arguments, schema)
		if err != nil {
			return failedResult("the arguments of " + t.Name + " are wrong: " + err.Error()), nil //nolint:nilerr // the client's model can correct them
		}
		return s.answerCall(ctx, t, r, ClientToolCall{Input: input, Client: clientName(r.Session)}), nil
	}
	s.sdk.AddTool(&sdk.Tool{Name: t.Name, Description: t.About, InputSchema: t.Input, Annotations: about}, answer)
	return nil
}

// readArguments parses the arguments of a call. Duplicate names are refused, because readers interpret them
// differently.
func readArguments(data json.RawMessage, schema *jsonschema.Resolved) (map[string]any, error) {
	input := map[string]any{}
	if len(bytes.TrimSpace(data)) > 0 {
		if err := json.Unmarshal(data, &input); err != nil {
			return nil, errors.New("they are not a JSON object")
		}
	}
	if input == nil { // null
		input = map[string]any{}
	}
	if name, ok := duplicateName(data); ok {
		return nil, fmt.Errorf("%q is given twice", name)
	}
	if err := schema.Validate(input); err != nil {
		return nil, errors.New(sanitize.TruncateText(sanitize.StripTerminalControls(err.Error()), 600))
	}
	return input, nil
}

// duplicateName returns a name that occurs more than once at the top level of an object.
func duplicateName(data []byte) (string, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return "", false
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		if err != nil || !ok {
			return "", false
		}
		if seen[name] {
			return name, true
		}
		seen[name] = true
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return "", false
		}
	}
	return "", false
}

// answerCall executes a call that fits the schema, after a person has agreed to it if that is required.
func (s *Server) answerCall(ctx context.Context, t ServedTool, r *sdk.CallToolRequest, c ClientToolCall) *sdk.CallToolResult {
	if t.Asks != nil {
		question, otherwise := t.Asks(ctx, c)
		switch {
		case question != "":
			if wait := s.open.checkConsent(t.Name, question, otherwise, r); wait != nil {
				return wait
			}
			c.Agreed = true
		case otherwise.Failed:
			return toSDKResult(otherwise)
		}
	}
	work, stop := withCancelCause(ctx)
	defer stop()
	told, done := progressSender(work, r)
	defer done()
	c.Told = told
	return toSDKResult(t.Do(work, c))
}

// withCancelCause returns a context that ends with a call's context, and has the cause: the SDK has no
// name for it, but cancels a call with a cause if the connection broke, and without one if the
// client cancelled.
func withCancelCause(ctx context.Context) (context.Context, func()) {
	work, end := context.WithCancelCause(context.WithoutCancel(ctx))
	loose := context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
			end(ErrCancelled)
		} else {
			end(ErrGone)
		}
	})
	return work, func() { loose(); end(nil) }
}

// toSDKResult converts a result for the client. Its model reads the text, in which nothing is hidden; a
// program reads the object, which is unchanged.
func toSDKResult(r Result) *sdk.CallToolResult {
	out := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: sanitize.RevealHidden(r.Text)}}, IsError: r.Failed}
	if len(r.Data) > 0 {
		out.StructuredContent = json.RawMessage(sanitize.EscapeJSON(r.Data))
	}
	return out
}

func failedResult(text string) *sdk.CallToolResult {
	return toSDKResult(Result{Text: text, Failed: true})
}

// clientName returns the client's name, restricted to letters, digits, and the usual characters
// between them.
func clientName(s *sdk.ServerSession) string {
	name := ""
	if p := s.InitializeParams(); p != nil && p.ClientInfo != nil {
		name = p.ClientInfo.Name
	}
	return sanitizeName(name)
}

// sanitizeName makes a client's name safe for the journal and for terminals.
func sanitizeName(name string) string {
	keep := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		case r == ' ' || r == '/' || r == ':':
			return '-'
		}
		return -1
	}
	name = strings.Map(keep, name)
	return cmp.Or(strings.Trim(name[:min(len(name), maxClient)], "-"), "unnamed")
}
