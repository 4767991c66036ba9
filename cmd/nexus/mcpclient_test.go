package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpClient is the program mcpclient of stories: it starts nexus mcp, or goes to
// one over HTTP, and makes calls with the client of the official SDK.
//
//	mcpclient [flags] CALL...
//
// A call is TOOL, TOOL=JSON or TOOL=@FILE, read=URI, tools, or resources. Each prints a line
// of JSON; of a tool, text, data and failed. Progress goes to standard error. An
// interrupt cancels the call.
func mcpClient() {
	ask := flag.String("ask", "", "yes or no, to every question; otherwise it cannot be asked")
	address := flag.String("http", "", "`URL` of the server")
	token := flag.String("token", "", "`TOKEN` for that")
	pid := flag.String("pid", "", "`FILE` for the server's process")
	revision := flag.String("revision", "", "of the protocol")
	flag.Parse()
	if err := mcpCalls(*ask, *address, *token, *pid, *revision, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mcpclient:", err)
		os.Exit(1)
	}
}

type withToken string

func (t withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(t))
	return http.DefaultTransport.RoundTrip(r)
}

func mcpCalls(ask, address, token, pid, revision string, calls []string) error {
	ctx := context.Background()
	o := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}, ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		fmt.Fprintln(os.Stderr, "progress:", r.Params.Message)
	}}
	if ask != "" {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			fmt.Fprintln(os.Stderr, "asked:", r.Params.Message)
			if ask == "yes" {
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"agree": true}}, nil
			}
			return &sdk.ElicitResult{Action: "decline"}, nil
		}
	}
	var t sdk.Transport = &sdk.StreamableClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: withToken(token)}}
	server := exec.Command("nexus", "mcp")
	if address == "" {
		said, err := os.OpenFile(os.Getenv("WORK")+"/mcp.err", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		server.Stderr = said
		t = &sdk.CommandTransport{Command: server, TerminateDuration: patience}
	}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "mcpclient", Version: "1"}, o).Connect(ctx, t, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // its server may be dead
	if pid != "" {
		if err := os.WriteFile(pid, []byte(strconv.Itoa(server.Process.Pid)+"\n"), 0o600); err != nil {
			return err
		}
	}
	for _, call := range calls {
		ctx, end := signal.NotifyContext(ctx, os.Interrupt)
		v, err := mcpCall(ctx, s, call)
		end()
		if errors.Is(err, context.Canceled) {
			if _, err := mcpCall(context.Background(), s, `policy={"command": "ls"}`); err != nil { // the server has read what came before
				return err
			}
			fmt.Fprintln(os.Stderr, "cancelled:", call)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", call, err)
		}
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
	return nil
}

func mcpCall(ctx context.Context, s *sdk.ClientSession, call string) (any, error) {
	name, rest, _ := strings.Cut(call, "=")
	switch name {
	case "tools":
		return s.ListTools(ctx, nil)
	case "resources":
		return s.ListResourceTemplates(ctx, nil)
	case "read":
		r, err := s.ReadResource(ctx, &sdk.ReadResourceParams{URI: rest})
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
	r, err := s.CallTool(ctx, p)
	if err != nil {
		return nil, err
	}
	text := ""
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			text += t.Text
		}
	}
	return map[string]any{"text": text, "data": r.StructuredContent, "failed": r.IsError}, nil
}
