package mcptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Client calls a server with the client of the SDK.
type Client struct {
	Ask      string // yes or no, the answer to every question, or @PIPE to read it from there; empty: no questions
	Out, Err io.Writer

	session *sdk.ClientSession
}

// ConnectPipes connects the client to a program.
func (c *Client) ConnectPipes(ctx context.Context, from io.ReadCloser, to io.WriteCloser) error {
	return c.connect(ctx, &sdk.IOTransport{Reader: from, Writer: to})
}

// ConnectHTTP connects the client to a URL.
func (c *Client) ConnectHTTP(ctx context.Context, address, token string) error {
	return c.connect(ctx, &sdk.StreamableClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: BearerTransport(token)}})
}

func (c *Client) connect(ctx context.Context, t sdk.Transport) (err error) {
	o := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			_, _ = fmt.Fprintln(c.Err, "progress:", r.Params.Message)
		},
	}
	if c.Ask != "" {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			_, _ = fmt.Fprintln(c.Err, "asked:", r.Params.Message)
			answer := c.Ask
			if pipe, ok := strings.CutPrefix(c.Ask, "@"); ok {
				data, err := os.ReadFile(pipe) // blocks until somebody has written to it
				if err != nil {
					return nil, err
				}
				answer = strings.TrimSpace(string(data))
			}
			if answer == "yes" {
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"agree": true}}, nil
			}
			return &sdk.ElicitResult{Action: "decline"}, nil
		}
	}
	c.session, err = sdk.NewClient(&sdk.Implementation{Name: "mcpclient", Version: "1"}, o).Connect(ctx, t, nil)
	return err
}

// Close disconnects.
func (c *Client) Close() { _ = c.session.Close() } // the server may be dead

// MakeCalls makes calls, one after the other, and prints a line of JSON for each. An interrupt cancels
// the call. A call is TOOL, TOOL=JSON or TOOL=@FILE, read=URI, tools, or resources; for a tool,
// text, data and failed are printed.
func (c *Client) MakeCalls(ctx context.Context, calls []string) error {
	for _, call := range calls {
		one, end := signal.NotifyContext(ctx, os.Interrupt)
		v, err := c.makeCall(one, call)
		end()
		if errors.Is(err, context.Canceled) {
			if _, err := c.session.ListTools(ctx, nil); err != nil { // afterwards the server has read all earlier messages
				return err
			}
			_, _ = fmt.Fprintln(c.Err, "cancelled:", call)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", call, err)
		}
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintln(c.Out, string(line))
	}
	return nil
}

func (c *Client) makeCall(ctx context.Context, call string) (any, error) {
	name, rest, _ := strings.Cut(call, "=")
	switch name {
	case "tools":
		return c.session.ListTools(ctx, nil)
	case "resources":
		return c.session.ListResourceTemplates(ctx, nil)
	case "read":
		r, err := c.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: rest})
		if err != nil {
			return nil, err
		}
		return json.RawMessage(r.Contents[0].Text), nil
	}
	p := &sdk.CallToolParams{Name: name}
	if file, ok := strings.CutPrefix(rest, "@"); ok {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		rest = string(data)
	}
	if rest != "" {
		p.Arguments = json.RawMessage(rest)
	}
	p.SetProgressToken("call")
	r, err := c.session.CallTool(ctx, p)
	if err != nil {
		return nil, err
	}
	text := ""
	for _, part := range r.Content {
		if t, ok := part.(*sdk.TextContent); ok {
			text += t.Text
		}
	}
	return map[string]any{"text": text, "data": r.StructuredContent, "failed": r.IsError}, nil
}

// BearerTransport sends a token with each request.
type BearerTransport string

// RoundTrip implements [http.RoundTripper].
func (b BearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
