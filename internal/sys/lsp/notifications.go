package lsp

import (
	"context"
	"encoding/json"

	"github.com/sourcegraph/jsonrpc2"
)

// Limits of unrequested messages.
const (
	maxFiles = 500 // files with stored diagnostics
	maxFound = 500 // diagnostics per file
	maxBusy  = 100
)

// Handle handles the server's notifications, and answers its requests: with the known settings, or
// with an error. It implements [jsonrpc2.Handler].
func (c *LanguageServerSession) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	var params json.RawMessage
	if r.Params != nil {
		params = *r.Params
	}
	if r.Notif {
		c.recordNotification(r.Method, params)
		return
	}
	switch r.Method {
	case "workspace/configuration":
		var p struct {
			Items []json.RawMessage `json:"items"`
		}
		_ = json.Unmarshal(params, &p) // without items there is no question
		all := make([]json.RawMessage, min(len(p.Items), maxBusy))
		for i := range all {
			if all[i] = c.server.Options; all[i] == nil {
				all[i] = json.RawMessage("null")
			}
		}
		_ = conn.Reply(ctx, r.ID, all) // a failed write also ends the pending call
	case "workspace/workspaceFolders":
		_ = conn.Reply(ctx, r.ID, []workspaceFolder{{fileURI(c.server.Root), "worktree"}})
	case "workspace/applyEdit":
		_ = conn.Reply(ctx, r.ID, map[string]any{"applied": false, "failureReason": "edits are sent as answers here"})
	case "window/workDoneProgress/create", "client/registerCapability", "client/unregisterCapability", "window/showMessageRequest",
		"workspace/diagnostic/refresh", "workspace/semanticTokens/refresh", "workspace/inlayHint/refresh", "workspace/codeLens/refresh":
		_ = conn.Reply(ctx, r.ID, nil)
	default:
		_ = conn.ReplyWithError(ctx, r.ID, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "this is not supported"})
	}
}

// recordNotification stores a server's reports about files and about its work.
func (c *LanguageServerSession) recordNotification(method string, params json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch method {
	case "textDocument/publishDiagnostics":
		var p struct {
			URI         string       `json:"uri"`
			Version     int          `json:"version"`
			Diagnostics []Diagnostic `json:"diagnostics"`
		}
		if json.Unmarshal(params, &p) != nil {
			return
		}
		name := c.nameOf(p.URI)
		old, known := c.told[name]
		if !known && len(c.told) == maxFiles {
			return
		}
		c.told[name] = fileDiagnosticReport{p.Diagnostics[:min(len(p.Diagnostics), maxFound)], p.Version, old.times + 1}
	case "$/progress":
		var p struct {
			Token any `json:"token"`
			Value struct {
				Kind string `json:"kind"`
			} `json:"value"`
		}
		if json.Unmarshal(params, &p) != nil {
			return
		}
		token, err := json.Marshal(p.Token)
		if err != nil {
			return
		}
		if p.Value.Kind == "end" {
			delete(c.busy, string(token))
			c.done++
		} else if len(c.busy) < maxBusy && len(token) < maxHead {
			c.busy[string(token)] = true
		}
	default:
		return
	}
	close(c.heard)
	c.heard = make(chan struct{})
}

// waitForNotifiedCondition waits until the server's notifications make the condition true.
func (c *LanguageServerSession) waitForNotifiedCondition(ctx context.Context, so func() bool) error {
	for {
		c.mu.Lock()
		yes, heard := so(), c.heard
		c.mu.Unlock()
		if yes {
			return nil
		}
		select {
		case <-heard:
		case <-c.conn.DisconnectNotify():
			return c.explainFailure(ErrGone)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
