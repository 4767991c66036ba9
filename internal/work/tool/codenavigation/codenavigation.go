// Package codenavigation gives agents a tool that understands source code: it finds the declaration and
// the uses of a name, reports the problems of a file, and renames.
//
// The answers come from language servers, which run in the sandbox of the attempt, with a
// read-only tree. Each starts on its first use, and is stopped by the end of the session.
// Their changes are written like the agent's own edits. The tool is offered only if a server
// knows a language of the tree.
package codenavigation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// toolName is the name of the tool.
const toolName = "code"

// AgentLanguageServers are the servers for the agents of a run. The zero value has the
// built-in ones.
type AgentLanguageServers struct {
	Servers []LanguageServerProgram // nil: the built-in ones
}

// codeToolInput is the input of the tool.
type codeToolInput struct {
	Op, Path string
	Line     int
	Name, To string
}

// codeToolSession is the tool in one session.
type codeToolSession struct {
	env   tool.AgentToolEnvironment
	set   *tool.ToolSet
	links []*lspSession
}

// AddTool adds the tool to a set whose environment is e, if there is a server for the languages
// of the tree, and returns a function that ends the servers.
func (k *AgentLanguageServers) AddTool(ctx context.Context, set *tool.ToolSet, e tool.AgentToolEnvironment) (done func()) {
	if k == nil || e.Box == nil || !set.HasTool("read_file") {
		return func() {}
	}
	if e.Vars == nil {
		e.Vars = sandbox.AgentCommandEnv()
	}
	servers := k.Servers
	if servers == nil {
		servers = builtinServers()
	}
	d := &codeToolSession{env: e, set: set}
	ends := CountExtensions(set.AgentTree().Root, set.AgentTree().Hidden)
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	for _, s := range servers {
		if !slices.ContainsFunc(s.Ends, func(end string) bool { return ends[end] > 0 }) {
			continue
		}
		if command := s.CommandLine(e.Vars); command != nil {
			d.links = append(d.links, &lspSession{server: s, command: command, lookup: d, life: ctx})
		}
	}
	slices.SortStableFunc(d.links, func(a, b *lspSession) int { return countServedFiles(b.server, ends) - countServedFiles(a.server, ends) })
	if len(d.links) > 0 {
		set.Add(d.newTool())
	}
	return func() { //nolint:contextcheck // the session is over, and its servers end in their own time
		stop(errOver)
		for _, l := range d.links {
			l.endServer()
		}
	}
}

func countServedFiles(s LanguageServerProgram, ends map[string]int) int {
	n := 0
	for _, end := range s.Ends {
		n += ends[end]
	}
	return n
}

var errOver = errors.New("the session is over")

// allowedOperations returns the possible operations: read-only roles change nothing.
func (d *codeToolSession) allowedOperations() []string {
	ops := []string{"symbols", "definition", "references", "diagnostics"}
	if d.env.Writes {
		ops = append(ops, "rename", "actions")
	}
	return ops
}

func (d *codeToolSession) newTool() tool.Tool {
	about := "Code by meaning. op symbols: what path declares, or everything called name. definition: the code of name with its comment, up to 200 lines. references: uses of name. " +
		"path and line say which name is meant. diagnostics: what is wrong in path."
	if d.env.Writes {
		about += " rename: name becomes to. actions: fixes at path and line; to applies one."
	}
	about += ` Example: {"op":"definition","name":"Parse","path":"a.go","line":7}.`
	words, err := json.Marshal(d.allowedOperations())
	if err != nil {
		words = []byte(`[]`) // our own words can be encoded
	}
	return tool.Tool{
		Name: toolName, Description: about,
		Schema: json.RawMessage(`{"type":"object","properties":{"op":{"enum":` + string(words) + `},"path":{"type":"string"},"line":{"type":"integer"},` +
			`"name":{"type":"string"},"to":{"type":"string"}},"required":["op"],"additionalProperties":false}`),
		Run: func(ctx context.Context, input json.RawMessage) (tool.CallOutput, error) {
			var o codeToolInput
			if err := json.Unmarshal(input, &o); err != nil { // the set checked it
				return tool.CallOutput{}, err
			}
			return d.handleRequest(ctx, o)
		},
	}
}

// handleRequest performs a request.
func (d *codeToolSession) handleRequest(ctx context.Context, o codeToolInput) (tool.CallOutput, error) {
	if o.Path != "" {
		name, err := d.set.AgentTree().CleanPath(o.Path, o.Op == "rename" || o.Op == "actions" && o.To != "")
		if err != nil {
			return tool.CallOutput{}, err
		}
		o.Path = name
	}
	if o.Path == "" && o.Name == "" {
		return tool.CallOutput{}, errors.New("give a path, or a name")
	}
	l, err := d.sessionForFile(o.Path)
	if err != nil {
		return tool.CallOutput{}, err
	}
	return l.handleRequest(ctx, o)
}

// sessionForFile returns the server for a file, or without a file the server that knows most files.
func (d *codeToolSession) sessionForFile(name string) (*lspSession, error) {
	var ends []string
	for _, l := range d.links {
		if name == "" || l.server.readsFile(name) {
			return l, nil
		}
		ends = append(ends, l.server.Ends...)
	}
	return nil, fmt.Errorf("no language server here knows the language of %s; there is one for files that end in %s", name, strings.Join(ends, " "))
}
