package mcpcmd

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcpserver"
)

// base is the address of the resources.
const base = "nexus://runs"

// listResources returns the resources that clients can read without calling a tool: the output of
// `nexus runs` and `nexus status`, with keys masked as there.
func (s *toolServer) listResources() []mcpserver.ServedResource {
	const transcript = base + "/{run}/transcripts/{+session}"
	return []mcpserver.ServedResource{
		{URI: base, Name: "runs", About: "All runs of this repository, the latest last.", Read: s.readResource},
		{URI: base + "/{run}", Name: "run", About: "The report of a run.", Template: true, Read: s.readResource},
		{URI: transcript, Name: "transcript", About: "The transcript of a session, such as T1.1/coder.1.", Template: true, Read: s.readResource},
	}
}

// readResource returns the object at an address.
func (s *toolServer) readResource(ctx context.Context, uri string) ([]byte, error) {
	args, ok := resourceCommand(uri)
	if !ok {
		return nil, mcpserver.ErrNone
	}
	r := s.runCommand(ctx, host.Invocation{Args: args})
	if !r.Failed {
		return r.Data, nil
	}
	var told struct {
		Error console.Failure `json:"error"`
	}
	if json.Unmarshal(r.Data, &told) == nil && told.Error.Code == nexus.CodeNotFound {
		return nil, mcpserver.ErrNone
	}
	return nil, errors.New(r.Text)
}

// resourceCommand returns the command line that prints the object at an address.
func resourceCommand(uri string) (args []string, ok bool) {
	rest, ok := strings.CutPrefix(uri, base)
	if !ok {
		return nil, false
	}
	if rest == "" {
		return []string{"runs", "--json"}, true
	}
	rest, ok = strings.CutPrefix(rest, "/")
	run, session, within := strings.Cut(rest, "/transcripts/")
	run, err := url.PathUnescape(run)
	if !ok || err != nil || run == "" || strings.Contains(run, "/") {
		return nil, false
	}
	if !within {
		return []string{"status", "--result", "--json", "--run=" + run}, true
	}
	session, err = url.PathUnescape(session)
	if err != nil || !strings.Contains(session, "/") {
		return nil, false
	}
	return []string{"status", "--json", "--run=" + run, "--", session}, true
}
